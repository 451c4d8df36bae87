use anyhow::Context;
use clap::Args;
use serde_json::json;
use ucp_client::Polling;
use ucp_model::TypeName;

use super::get::rendered;
use super::place::Place;
use crate::id::Group;
use crate::outcome::Outcome;
use crate::output::{self, Output};
use crate::progress::{Phases, Progress};
use crate::server::Server;

/// The arguments of `ucp import`.
#[derive(Debug, Args)]
pub struct Import {
    /// The resource type, AWS.EC2/VPC or AWS::EC2::VPC.
    #[arg(value_name = "TYPE", value_parser = TypeName::parse)]
    type_name: TypeName,
    /// The identifier by which AWS knows the resource. Several parts are joined by `|`.
    identifier: String,
    /// The alias that will stand for the resource.
    #[arg(long)]
    alias: String,
    /// The resource group: a name, or an id.
    #[arg(short, long, env = "UCP_GROUP")]
    group: Group,
    /// Own the resource: it is deleted with its reference, or with the group.
    #[arg(long)]
    owned: bool,
    #[command(flatten)]
    place: Place,
    #[command(flatten)]
    output: Output,
    #[command(flatten)]
    server: Server,
}

impl Import {
    pub(super) async fn run(self) -> anyhow::Result<Outcome> {
        let client = self.server.client()?;
        let scope = self.place.scope();
        let scope = scope.context("say where the resource is, with --account and --region")?;
        let path = format!("{scope}/providers/{}/:import", self.type_name.arm());
        let body = json!({
            "alias": self.alias,
            "trackedBy": self.group.to_string(),
            "primaryIdentifier": self.identifier,
            "ownedResource": self.owned,
        });
        let reply = client.post(&path, &body).await?;
        let imported = match Polling::of(&reply) {
            None => reply.body,
            Some(polling) => {
                let mut progress = Progress::new(self.output, Phases::Untold);
                let told = |status: &serde_json::Value| progress.observe(status);
                let status = client.follow(&polling, reply.retry_after(), told).await?;
                if status["status"] != "Succeeded" {
                    return Err(client.refusal(&status["error"]).into());
                }
                let name = format!("{}:reference/{}", self.type_name.arm(), self.alias);
                let reference = format!("{}/providers/{name}", self.group);
                client.get(&reference).await?.body
            }
        };
        if self.output.is_json() {
            output::print_json(&imported)?
        } else {
            output::print(&rendered(&imported))?
        }
        let warnings = imported["warnings"].as_array().into_iter().flatten();
        for warning in warnings.filter_map(|warning| warning["message"].as_str()) {
            let warning = crate::render::readable(warning);
            output::tell(format_args!("Warning: {warning}"));
        }
        Ok(Outcome::Done)
    }
}
