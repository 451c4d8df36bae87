use std::fmt::Display;

use anyhow::ensure;
use clap::Args;
use serde_json::Value;
use ucp_client::{API_VERSION, Client, Failure, Polling, StatusCode};

use super::plan::PlanId;
use crate::confirm::Consent;
use crate::id::{self, ResourceId};
use crate::outcome::Outcome;
use crate::output::{self, Output};
use crate::progress::{Phases, Progress};
use crate::server::Server;

/// What has become of a reference whose resource stays.
pub(super) const FORGOTTEN: &str = "forgotten; what it stood for is kept in AWS";

/// The arguments of `ucp delete`.
#[derive(Debug, Args)]
pub struct Delete {
    /// The ids. That of a reference deletes it, and the AWS resource if it owns that. That of a resource deletes that. That
    /// of a group deletes it, with all that it owns.
    #[arg(required = true, value_name = "ID")]
    ids: Vec<ResourceId>,
    /// Delete them by this plan, which a what-if has kept and which shows it.
    #[arg(long, value_name = "PLANID")]
    plan: Option<PlanId>,
    #[command(flatten)]
    consent: Consent,
    #[command(flatten)]
    server: Server,
}

impl Delete {
    pub(super) async fn run(self) -> anyhow::Result<Outcome> {
        let client = self.server.client()?;
        let has_group = self.ids.iter().any(ResourceId::is_group);
        ensure!(
            self.plan.is_none() || !has_group,
            "no plan shows the deletion of a group, so nothing is deleted"
        );
        let delete = async |id: &ResourceId| delete(id, self.plan.as_ref(), &client).await;
        of_each(&self.ids, self.consent, ["Delete", "deleted"], delete).await
    }
}

/// Asks whether to do something to each of `ids`, and does it. `words` are what is asked, and what is done then.
pub(super) async fn of_each<T: Display>(
    ids: &[ResourceId],
    consent: Consent,
    [ask, done]: [&str; 2],
    act: impl AsyncFn(&ResourceId) -> anyhow::Result<T>,
) -> anyhow::Result<Outcome> {
    consent.can_be_asked()?;
    let question = match ids {
        [id] => format!("{ask} {id}?"),
        ids => {
            let list: Vec<String> = ids.iter().map(|id| format!("  {id}\n")).collect();
            output::print(&list.concat())?;
            format!("{ask} these {}?", ids.len())
        }
    };
    if !consent.asked(&question).await? {
        output::print(&format!("Nothing is {done}.\n"))?;
        return Ok(Outcome::Failed);
    }
    let mut outcome = Outcome::Done;
    for id in ids {
        let name = id::short(&id.to_string());
        match act(id).await {
            Ok(came) => output::print(&format!("{name}: {came}\n"))?,
            // It is done to the others nevertheless.
            Err(error) => {
                output::tell(format_args!("ucp: {name}: {error:#}"));
                outcome = Outcome::Failed;
            }
        }
    }
    Ok(outcome)
}

/// Deletes what an id stands for, and says what has become of it.
async fn delete(
    id: &ResourceId,
    plan: Option<&PlanId>,
    client: &Client,
) -> anyhow::Result<&'static str> {
    let path = match (id.is_group(), plan) {
        (true, _) => format!("{id}?{API_VERSION}"),
        (false, Some(plan)) => format!("{id}?planId={plan}"),
        (false, None) => id.to_string(),
    };
    let reply = client.delete(&path).await;
    let reply = if id.is_group() {
        // No plan deletes a group.
        reply?
    } else {
        reply.map_err(advised)?
    };
    let Some(polling) = Polling::of(&reply) else {
        return Ok(match reply.status {
            StatusCode::NO_CONTENT => "there is nothing to delete",
            _ if id.is_group() => "deleted",
            _ => FORGOTTEN,
        });
    };
    let mut progress = Progress::new(Output::default(), Phases::Untold);
    let told = |status: &Value| progress.observe(status);
    let status = client.follow(&polling, reply.retry_after(), told).await?;
    drop(progress);
    match status["status"].as_str() {
        Some("Succeeded") => {
            let warnings = &status["properties"]["warnings"];
            output::warn(&id::short(&id.to_string()), warnings);
            Ok(if is_given_up(warnings) && !id.is_group() {
                FORGOTTEN
            } else {
                "deleted"
            })
        }
        _ => Err(client.refusal(&status["error"]).into()),
    }
}

/// Whether warnings tell that a resource was left alone, since other references stand for it.
fn is_given_up(warnings: &Value) -> bool {
    let mut warnings = warnings.as_array().into_iter().flatten();
    warnings.any(|warning| warning["code"] == "SharedResource")
}

/// Says how to come to a plan, or to its approval.
fn advised(failure: Failure) -> Failure {
    let Failure::Refused(mut refusal) = failure else {
        return failure;
    };
    let advice = match refusal.code.as_str() {
        "PlanRequired" => {
            "Declare it with \"delete\": true in a file, show that with ucp what-if, and delete it with --plan and the id of the plan."
        }
        "ApprovalRequired" => {
            "Let somebody approve the plan, and run the command again. A plan of ucp what-if shows it, if none was named."
        }
        _ => return Failure::Refused(refusal),
    };
    refusal.advise(advice);
    Failure::Refused(refusal)
}
