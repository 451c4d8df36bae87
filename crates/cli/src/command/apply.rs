use anstyle::Style;
use anyhow::ensure;
use clap::Args;
use serde_json::{Value, json};
use ucp_client::header::{HeaderValue, IF_NONE_MATCH};
use ucp_client::{API_VERSION, Client, Failure, Method, Polling, Refusal, StatusCode};

use super::declared::Declared;
use super::plan::{PlanId, plan_path};
use super::preview::{Preview, located};
use crate::confirm::Consent;
use crate::id::{self, Group};
use crate::outcome::Outcome;
use crate::output::{self, Output};
use crate::progress::{Phases, Progress};
use crate::render::{Line, Mark, diff};
use crate::server::Server;
use crate::set::Set;

/// The code of the error that a plan does not fit any more.
const STALE: &str = "StalePlan";
/// That of the error that there is no such group.
const NO_GROUP: &str = "ResourceGroupNotFound";

/// The arguments of `ucp apply`.
#[derive(Debug, Args)]
#[command(mut_arg("files", |files| files.required(false).required_unless_present("plan")))]
pub struct Apply {
    #[command(flatten)]
    declared: Declared,
    /// Apply this plan, which a what-if has kept, as it was shown.
    #[arg(long, value_name = "PLANID", conflicts_with_all = ["files", "mode", "unplanned"])]
    plan: Option<PlanId>,
    /// Apply what is declared also if no plan is kept, whatever that changes.
    #[arg(long)]
    unplanned: bool,
    /// Exit with 0 if nothing is changed, 2 if something is, and 1 on errors.
    #[arg(long)]
    detailed_exitcode: bool,
    #[command(flatten)]
    consent: Consent,
    #[command(flatten)]
    output: Output,
    #[command(flatten)]
    server: Server,
}

impl Apply {
    pub(super) async fn run(self) -> anyhow::Result<Outcome> {
        let client = self.server.client()?;
        let set = match &self.plan {
            None => self.declared.set()?,
            // What was declared is kept with it.
            Some(_) => Set::default(),
        };
        self.consent.can_be_asked()?;
        let (group, output) = (&self.declared.group, self.output);
        let preview = match self.plan {
            None => Preview::of(&set, group, &client).await?,
            Some(plan) => Preview::of_plan(plan, group, &client).await?,
        };
        preview.show(output)?;
        let summary = preview.summary();
        let plan = preview.plan_id().map(str::to_owned);
        if let Some(refusal) = preview.error {
            return Err(refusal.into());
        }
        let is_change = summary.changes() + summary.unknown > 0;
        ensure!(
            plan.is_some() || self.unplanned || !is_change,
            "no plan was kept, since it is not known what all of this would become, or the plan is too large; nothing is applied; --unplanned applies what is declared, whatever that changes"
        );
        if is_change && !self.consent.asked("Apply these changes?").await? {
            output::show(output, |paper| {
                paper.words(&[(Style::new(), "Nothing is applied.")])
            })?;
            return Ok(Outcome::Failed);
        }
        // Also without changes: an alias may be new, and the outputs are asked for.
        let status = apply(&set, plan, group, &client, output).await?;
        if output.is_json() {
            output::print_json(&status)?;
        }
        warn_of_given_up(&status["properties"]);
        match status["status"].as_str() {
            Some("Succeeded") => {
                show_outputs(&status["properties"]["outputs"], output)?;
                Ok(if self.detailed_exitcode && has_changed(&status) {
                    Outcome::Changes
                } else {
                    Outcome::Done
                })
            }
            _ => Err(advised(client.refusal(&status["error"]), None).into()),
        }
    }
}

/// Whether anything was changed, as the last status of an apply says.
fn has_changed(status: &Value) -> bool {
    let resources = status["properties"]["resources"].as_array();
    let mut resources = resources.into_iter().flatten();
    resources.any(|resource| resource["status"] == "Succeeded" || resource["movedFrom"].is_string())
}

/// Warns of what the resources of a set have given up to other references.
pub(super) fn warn_of_given_up(properties: &Value) {
    let resources = properties["resources"].as_array();
    for resource in resources.into_iter().flatten() {
        let name = resource["trackedBy"].as_str().unwrap_or_default();
        output::warn(&id::short(name), &resource["warnings"]);
    }
}

/// Makes a group that the server does not have.
async fn make(group: &Group, client: &Client, output: Output) -> anyhow::Result<()> {
    let path = format!("{group}?{API_VERSION}");
    // What somebody else has made meanwhile keeps its settings.
    let body = json!({"location": "global"});
    let none = Some((IF_NONE_MATCH, HeaderValue::from_static("*")));
    let made = client.call_if(Method::PUT, &path, Some(&body), none).await;
    match made {
        Ok(_) => {
            let words = format!("Made the resource group {group}.");
            output::show(output, |paper| {
                paper.words(&[(Style::new(), &words)])?;
                paper.blank()
            })?;
            Ok(())
        }
        Err(failure) if failure.refusal(StatusCode::PRECONDITION_FAILED).is_some() => Ok(()),
        Err(failure) => Err(failure.into()),
    }
}

/// Applies a set, shows the progress, and returns the last status. Under a plan, what it shows is done or nothing.
async fn apply(
    set: &Set,
    plan: Option<String>,
    group: &Group,
    client: &Client,
    output: Output,
) -> anyhow::Result<Value> {
    let mut body = set.body.clone();
    let next = plan.as_ref().map(|plan| {
        let path = plan_path(plan, group);
        format!(
            "Nothing is applied. Let somebody look at {path} and approve it, with a POST of its fingerprint to {path}/:approve. Then run: ucp apply --group {group} --plan {plan}"
        )
    });
    if let Some(plan) = plan {
        body.insert("planId".to_owned(), Value::from(plan));
    }
    let path = format!("{group}/:apply");
    let body = Value::Object(body);
    let mut reply = client.post(&path, &body).await;
    let lacks_group = |failure: &Failure| {
        let refusal = failure.refusal(StatusCode::NOT_FOUND);
        refusal.is_some_and(|refusal| refusal.code == NO_GROUP)
    };
    if reply.as_ref().is_err_and(lacks_group) {
        make(group, client, output).await?;
        reply = client.post(&path, &body).await;
    }
    let reply = reply.map_err(|failure| match located(failure, set) {
        Failure::Refused(refusal) => Failure::Refused(Box::new(advised(*refusal, next.as_deref()))),
        other => other,
    })?;
    let Some(polling) = Polling::of(&reply) else {
        return Ok(reply.body);
    };
    let words = format!("Operation {}", polling.operation());
    output::show(output, |paper| {
        paper.words(&[(Style::new().dimmed(), &words)])
    })?;
    let mut progress = Progress::new(output, Phases::Untold);
    let told = |status: &Value| progress.observe(status);
    Ok(client.follow(&polling, reply.retry_after(), told).await?)
}

/// Says what to do about a plan that cannot be applied, or not yet. `approval` says it of one that waits for an approval.
fn advised(mut refusal: Refusal, approval: Option<&str>) -> Refusal {
    let advice = match (refusal.code.as_str(), approval) {
        (STALE, _) if refusal.details.iter().any(|it| it.code == "AlreadyApplied") => {
            return refusal;
        }
        (STALE, _) => {
            "Something has changed since the changes were shown, so nothing is applied. Run the command again, with the files, to see them anew."
        }
        ("ApprovalRequired", Some(approval)) => approval,
        _ => return refusal,
    };
    refusal.advise(advice);
    refusal
}

/// Shows the outputs of a set, if it has any.
pub(super) fn show_outputs(outputs: &Value, output: Output) -> anyhow::Result<()> {
    let outputs = outputs.as_object().filter(|outputs| !outputs.is_empty());
    let Some(outputs) = outputs.filter(|_| !output.is_json()) else {
        return Ok(());
    };
    output::show(output, |paper| {
        paper.blank()?;
        paper.words(&[(Style::new().bold(), "Outputs:")])?;
        for (name, value) in outputs {
            let label = format!("{name}: ");
            let line = Line {
                depth: 0,
                label: &label,
                note: "",
            };
            diff::whole(paper, line, Mark::Keep, value)?;
        }
        Ok(())
    })?;
    Ok(())
}
