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

    /// Asks, unless the answer is given. Whoever answers takes their time: meanwhile the connections are looked after, which the
    /// server closes when they are idle.
    pub(crate) async fn asked(self, question: &str) -> anyhow::Result<bool> {
        if self.yes {
            return Ok(true);
        }
        let question = question.to_owned();
        let ask = || {
            let question = Confirm::new().with_prompt(question).default(false);
            question.interact_opt()
        };
        let answer = tokio::task::spawn_blocking(ask);
        Ok(answer.await??.unwrap_or_default())
    }
}
