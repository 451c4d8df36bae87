use std::fs;
use std::path::PathBuf;

use anyhow::Context;
use clap::Args;

use crate::outcome::Outcome;

/// The arguments of `ucp man`.
#[derive(Debug, Args)]
pub struct Man {
    /// The directory, which is made if it is missing. `ucp.1` is the first page, and each command has one.
    #[arg(value_name = "DIR")]
    directory: PathBuf,
}

impl Man {
    pub(super) fn run(self, ucp: clap::Command) -> anyhow::Result<Outcome> {
        let directory = &self.directory;
        let written =
            fs::create_dir_all(directory).and_then(|()| clap_mangen::generate_to(ucp, directory));
        written.with_context(|| format!("cannot write to {}", directory.display()))?;
        Ok(Outcome::Done)
    }
}
