use clap::Args;
use clap_complete::{Shell, generate};

use crate::outcome::Outcome;
use crate::output;

/// The arguments of `ucp completions`.
#[derive(Debug, Args)]
pub struct Completions {
    /// The shell.
    shell: Shell,
}

impl Completions {
    pub(super) fn run(self, mut ucp: clap::Command) -> anyhow::Result<Outcome> {
        let mut script = Vec::new();
        generate(self.shell, &mut ucp, "ucp", &mut script);
        output::print(&String::from_utf8(script)?)?;
        Ok(Outcome::Done)
    }
}
