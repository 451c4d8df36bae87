use std::path::PathBuf;

use anyhow::ensure;
use clap::{Args, ValueEnum};
use serde_json::Value;

use super::place::Place;
use crate::document;
use crate::id::Group;
use crate::set::Set;

/// What is declared, and in which group.
#[derive(Debug, Args)]
pub(crate) struct Declared {
    /// The resource group: a name, or an id.
    #[arg(short, long, env = "UCP_GROUP")]
    pub(crate) group: Group,
    /// A file that declares resources, in JSON or YAML: a set, a list of resources, or a resource; `-` is standard input.
    /// Several make one set.
    #[arg(short = 'f', long = "file", value_name = "FILE", num_args = 1.., required = true)]
    files: Vec<PathBuf>,
    /// What becomes of resources that are not declared. By default what the files say, or else `incremental`.
    #[arg(long, value_enum)]
    mode: Option<Mode>,
    /// Where resources are for which the files name no `scope`.
    #[command(flatten)]
    place: Place,
}

/// What becomes of resources of the group that are not declared.
#[derive(Clone, Copy, Debug, ValueEnum)]
enum Mode {
    /// They stay as they are.
    Incremental,
    /// Those that the group owns are deleted.
    Complete,
}

impl Declared {
    /// Reads the files.
    pub(crate) fn set(&self) -> anyhow::Result<Set> {
        let from_stdin = self.files.iter().filter(|path| document::is_stdin(path));
        ensure!(
            from_stdin.count() <= 1,
            "standard input can be only one of the files"
        );
        let mut set = Set::read(self.files.iter().map(PathBuf::as_path))?;
        if let Some(mode) = self.mode {
            let mode = match mode {
                Mode::Incremental => "Incremental",
                Mode::Complete => "Complete",
            };
            set.body.insert("mode".to_owned(), Value::from(mode));
        }
        if let Some(scope) = self.place.scope()
            && !set.body.contains_key("scope")
        {
            set.body.insert("scope".to_owned(), Value::from(scope));
        }
        Ok(set)
    }
}
