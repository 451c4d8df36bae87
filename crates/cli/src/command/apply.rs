use anstyle::Style;
use clap::Args;
use hyper::StatusCode;
use hyper::header::{HeaderValue, IF_NONE_MATCH};
use serde_json::{Value, json};

use super::declared::Declared;
use super::preview::{Preview, located};
use crate::client::{API_VERSION, Client, Failure, Method, Polling, Refusal, Server};
use crate::confirm::Consent;
use crate::id::Group;
use crate::outcome::Outcome;
use crate::output::{self, Output};
use crate::progress::{Phases, Progress};
use crate::render::{Line, Mark, diff};
use crate::set::Set;

/// The code of the error that a plan does not fit any more.
const STALE: &str = "StalePlan";

/// The arguments of `ucp apply`.
#[derive(Debug, Args)]
pub struct Apply {
    #[command(flatten)]
    declared: Declared,
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
        let set = self.declared.set()?;
        self.consent.can_be_asked()?;
        let (group, output) = (&self.declared.group, self.output);
        make_if_missing(group, &client, output).await?;
        let preview = Preview::of(&set, group, &client).await?;
        preview.show(output)?;
        let summary = preview.summary();
        let plan = preview.plan_id().map(str::to_owned);
        if let Some(refusal) = preview.error {
            return Err(refusal.into());
        }
        let is_change = summary.changes() + summary.unknown > 0;
        if plan.is_none() && (is_change || summary.unknown > 0) {
            let words = "No plan was kept, since it is not known what all of this would become, or the plan is too large. What is declared is applied, whatever that changes.";
            output::show(output, |paper| {
                paper.words(&[(Style::new(), words)])?;
                paper.blank()
            })?;
        }
        if is_change && !self.consent.asked("Apply these changes?")? {
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
        match status["status"].as_str() {
            Some("Succeeded") => {
                show_outputs(&status["properties"]["outputs"], output)?;
                Ok(Outcome::Done)
            }
            _ => Err(advised(client.refusal(&status["error"])).into()),
        }
    }
}

/// Makes a group, unless it exists.
async fn make_if_missing(group: &Group, client: &Client, output: Output) -> anyhow::Result<()> {
    let path = format!("{group}?{API_VERSION}");
    match client.get(&format!("{path}&top=1")).await {
        Ok(_) => return Ok(()),
        Err(failure) if failure.refusal(StatusCode::NOT_FOUND).is_some() => {}
        Err(failure) => return Err(failure.into()),
    }
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
    if let Some(plan) = plan {
        body.insert("planId".to_owned(), Value::from(plan));
    }
    let path = format!("{group}/:apply");
    let reply = client.post(&path, &Value::Object(body)).await;
    let reply = reply.map_err(|failure| match located(failure, set) {
        Failure::Refused(refusal) => Failure::Refused(Box::new(advised(*refusal))),
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
    client.follow(&polling, reply.retry_after(), told).await
}

/// Says what to do about a plan that does not fit any more.
fn advised(mut refusal: Refusal) -> Refusal {
    if refusal.code == STALE {
        refusal.advise(
            "Something has changed since the changes were shown, so nothing is applied. Run the command again to see them anew.",
        );
    }
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
