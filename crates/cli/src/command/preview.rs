use anstyle::Style;
use serde_json::{Value, json};
use ucp_client::{Client, Failure, Refusal};

use super::plan::{PlanId, plan_path};
use crate::id::Group;
use crate::output::{self, Output};
use crate::render::what_if::{self, Summary};
use crate::set::Set;

/// What an apply would do.
pub(crate) struct Preview {
    /// What the server has answered.
    pub(crate) reply: Value,
    /// Why the apply would fail.
    pub(crate) error: Option<Refusal>,
}

impl Preview {
    /// Asks the server. Nothing is changed.
    pub(crate) async fn of(set: &Set, group: &Group, client: &Client) -> anyhow::Result<Self> {
        let body = Value::Object(set.body.clone());
        let reply = client.post(&format!("{group}/:whatIf"), &body).await;
        let reply = reply.map_err(|failure| located(failure, set))?.body;
        let error = match reply["status"].as_str() {
            Some("Failed") => {
                let mut refusal = client.refusal(&reply["error"]);
                set.locate(&mut refusal);
                Some(refusal)
            }
            _ => None,
        };
        Ok(Self { reply, error })
    }

    /// Asks the server for a plan that it has kept.
    pub(crate) async fn of_plan(
        plan: PlanId,
        group: &Group,
        client: &Client,
    ) -> anyhow::Result<Self> {
        let kept = client.get(&plan_path(&plan.to_string(), group)).await?;
        let mut properties = kept.body["properties"].clone();
        properties["planId"] = Value::from(plan.to_string());
        Ok(Self {
            reply: json!({ "properties": properties }),
            error: None,
        })
    }

    pub(crate) fn summary(&self) -> Summary {
        Summary::of(self.changes())
    }

    /// Shows the changes to people, and the plan of them, if there is one.
    pub(crate) fn show(&self, output: Output) -> anyhow::Result<()> {
        let expires_at = self.reply["properties"]["expiresAt"].as_str();
        let plan = self.plan_id().filter(|_| self.summary().changes() > 0);
        Ok(output::show(output, |paper| {
            what_if::show(self.changes(), paper)?;
            match plan.zip(expires_at) {
                Some((plan, until)) => {
                    let words = format!("Plan {plan}, to be applied before {until}");
                    paper.words(&[(Style::new().dimmed(), &words)])
                }
                None => Ok(()),
            }
        })?)
    }

    /// The plan of the changes, if the server has kept one.
    pub(crate) fn plan_id(&self) -> Option<&str> {
        self.reply["properties"]["planId"].as_str()
    }

    fn changes(&self) -> &[Value] {
        let changes = self.reply["properties"]["changes"].as_array();
        changes.map(Vec::as_slice).unwrap_or_default()
    }
}

/// Says where in the documents the server has found errors.
pub(crate) fn located(mut failure: Failure, set: &Set) -> Failure {
    if let Failure::Refused(refusal) = &mut failure {
        set.locate(refusal);
    }
    failure
}
