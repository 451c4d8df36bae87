use serde_json::Value;

use crate::client::{Client, Failure, Refusal};
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

    pub(crate) fn summary(&self) -> Summary {
        Summary::of(self.changes())
    }

    /// Shows the changes to people.
    pub(crate) fn show(&self, output: Output) -> anyhow::Result<()> {
        Ok(output::show(output, |paper| {
            what_if::show(self.changes(), paper)
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
