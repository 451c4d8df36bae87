use anyhow::ensure;
use clap::Args;
use serde_json::json;
use ucp_client::Client;

use super::delete::{FORGOTTEN, of_each};
use crate::confirm::Consent;
use crate::id::ResourceId;
use crate::outcome::Outcome;
use crate::render::readable;
use crate::server::Server;

/// The arguments of `ucp release`.
#[derive(Debug, Args)]
pub struct Release {
    /// The ids of the references.
    #[arg(required = true, value_name = "ID")]
    ids: Vec<ResourceId>,
    #[command(flatten)]
    consent: Consent,
    #[command(flatten)]
    server: Server,
}

impl Release {
    pub(super) async fn run(self) -> anyhow::Result<Outcome> {
        let client = self.server.client()?;
        for id in &self.ids {
            ensure!(
                id.is_reference(),
                "{id} is not the id of a reference, so nothing is released"
            );
        }
        let release = async |id: &ResourceId| release(id, &client).await;
        of_each(&self.ids, self.consent, ["Release", "released"], release).await
    }
}

/// Releases a reference, and says who owns from now on what it stood for.
async fn release(id: &ResourceId, client: &Client) -> anyhow::Result<String> {
    let reply = client.post(&format!("{id}/:release"), &json!({})).await?;
    let owner = reply.body["message"].as_str().unwrap_or_default();
    Ok(format!("{FORGOTTEN}. {}", readable(owner)))
}
