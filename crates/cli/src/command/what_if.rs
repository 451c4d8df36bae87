use clap::Args;

use super::declared::Declared;
use super::preview::Preview;
use crate::outcome::Outcome;
use crate::output::{self, Output};
use crate::server::Server;

/// The arguments of `ucp what-if`.
#[derive(Debug, Args)]
pub struct WhatIf {
    #[command(flatten)]
    declared: Declared,
    /// Exit with 0 if nothing would change, 2 if something would, 3 if of something it cannot be told, and 1 on errors.
    #[arg(long)]
    detailed_exitcode: bool,
    #[command(flatten)]
    output: Output,
    #[command(flatten)]
    server: Server,
}

impl WhatIf {
    pub(super) async fn run(self) -> anyhow::Result<Outcome> {
        let client = self.server.client()?;
        let set = self.declared.set()?;
        let preview = Preview::of(&set, &self.declared.group, &client).await?;
        if self.output.is_json() {
            output::print_json(&preview.reply)?
        } else {
            preview.show(self.output)?
        }
        let summary = preview.summary();
        if let Some(refusal) = preview.error {
            return Err(refusal.into());
        }
        Ok(
            match (self.detailed_exitcode, summary.unknown, summary.changes()) {
                (false, ..) | (true, 0, 0) => Outcome::Done,
                (true, 0, _) => Outcome::Changes,
                (true, ..) => Outcome::Unknown,
            },
        )
    }
}
