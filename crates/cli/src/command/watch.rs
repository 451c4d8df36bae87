use anyhow::bail;
use clap::Args;
use ucp_client::Polling;

use super::apply::{show_outputs, warn_of_given_up};
use crate::id;
use crate::outcome::Outcome;
use crate::output::{self, Output};
use crate::progress::{Phases, Progress};
use crate::server::Server;

/// Where the operations on references and groups of the plane `local` are, by their UUIDs.
const OPERATIONS: &str =
    "/planes/radius/local/providers/System.Resources/locations/global/operationStatuses";

/// The arguments of `ucp watch`.
#[derive(Debug, Args)]
pub struct Watch {
    /// The URL or the path of the status of an operation, or the UUID of an operation on a reference or a group of the
    /// plane local.
    operation: String,
    #[command(flatten)]
    output: Output,
    #[command(flatten)]
    server: Server,
}

impl Watch {
    pub(super) async fn run(self) -> anyhow::Result<Outcome> {
        let client = self.server.client()?;
        let path = if self.operation.contains('/') {
            self.operation.clone()
        } else {
            format!("{OPERATIONS}/{}", self.operation)
        };
        if !path.contains("/operationStatuses/") {
            bail!("{path} is not the status of an operation, which has /operationStatuses/ in it");
        }
        let polling = Polling::Status(path);
        let mut progress = Progress::new(self.output, Phases::Told);
        let status = client.follow(&polling, None, |status| progress.observe(status));
        let status = status.await?;
        drop(progress);
        if self.output.is_json() {
            output::print_json(&status)?;
        }
        let ended = status["status"].as_str().unwrap_or_default();
        if !self.output.is_json() {
            let kind = status["kind"].as_str().unwrap_or("operation");
            output::print(&format!("{kind}: {ended}\n"))?;
        }
        let resource = status["resourceId"].as_str().unwrap_or_default();
        output::warn(&id::short(resource), &status["properties"]["warnings"]);
        warn_of_given_up(&status["properties"]);
        match ended {
            "Succeeded" => {
                show_outputs(&status["properties"]["outputs"], self.output)?;
                Ok(Outcome::Done)
            }
            _ => Err(client.refusal(&status["error"]).into()),
        }
    }
}
