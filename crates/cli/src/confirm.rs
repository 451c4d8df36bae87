//! Questions before something changes.

use std::io::{self, IsTerminal};

use anyhow::ensure;
use clap::Args;
use dialoguer::Confirm;

/// The flag that answers questions.
#[derive(Clone, Copy, Debug, Args)]
pub(crate) struct Consent {
    /// Do not ask.
    #[arg(short = 'y', long)]
    yes: bool,
}

impl Consent {
    /// Refuses to begin what could not be asked about: there is no `--yes`, and no terminal.
    pub(crate) fn can_be_asked(self) -> anyhow::Result<()> {
        let is_terminal = io::stdin().is_terminal() && io::stderr().is_terminal();
        ensure!(
            self.yes || is_terminal,
            "there is no terminal to ask on, so nothing is done; --yes does it without asking"
        );
        Ok(())
    }

    /// Asks, unless the answer is given.
    pub(crate) fn asked(self, question: &str) -> anyhow::Result<bool> {
        if self.yes {
            return Ok(true);
        }
        let question = Confirm::new().with_prompt(question).default(false);
        Ok(question.interact_opt()?.unwrap_or_default())
    }
}
