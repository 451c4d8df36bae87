//! Applies under the plan of a what-if. A plan that was made a moment before is not stale by the doing of its own apply.

use serde_json::{Value, json};
use ucp_model::ProvisioningState;
use ucp_simulator::faults::Effect;
use ucp_simulator::{Action, LogEntry};

use super::plant::{Plant, take_for_known};
use super::play::{Asks, Play};
use super::story::Wish;
use crate::Reply;

/// What a what-if has shown, whose plan is applied.
pub(super) struct Shown {
    changes: Value,
}

/// A moment at which nothing is in flight, and nothing is left that may change of itself.
#[derive(Clone, Copy)]
pub(super) struct Moment {
    /// How many calls AWS had had.
    calls: usize,
}

impl Play<'_> {
    /// Sends a request of a client that waits for the verdict, and returns the reply.
    pub(super) async fn answer(&mut self, what: &Wish) -> Reply {
        let (request, _) = self.prepared(what, 0).await.expect("a request");
        self.answer_to(what, 0, &request).await
    }

    /// The request for something, and what the plan shows under which it is carried out, if there is one.
    pub(super) async fn prepared(
        &mut self,
        what: &Wish,
        by: usize,
    ) -> Option<(Asks, Option<Shown>)> {
        let (method, path, body) = self.request(what)?;
        if !matches!(what, Wish::Apply { planned: true, .. }) {
            return Some(((method, path, body), None));
        }
        let what_if = (method, path.replace(":apply", ":whatIf"), body.clone());
        let reply = self.answer_to(what, by, &what_if).await;
        let shown = &reply.body["properties"];
        let Some(id) = shown["planId"].as_str() else {
            return Some(((method, path, body), None));
        };
        if self.plant == Some(Plant::TakenForKnown) {
            let id = id.parse().expect("the id of a plan");
            take_for_known(self.world().store.as_ref(), id).await;
        }
        let mut set: Value = serde_json::from_str(&body).expect("a set");
        set["planId"] = json!(id);
        let changes = shown["changes"].clone();
        Some(((method, path, set.to_string()), Some(Shown { changes })))
    }

    /// Whether this is a moment after which only what is asked for next changes anything.
    pub(super) async fn moment(&self) -> Option<Moment> {
        let log = self.world().aws.log();
        let may_come_late = |entry: &LogEntry| {
            let is_mutation = !matches!(
                entry.operation,
                Action::GetResource
                    | Action::ListResources
                    | Action::GetResourceRequestStatus
                    | Action::ListResourceRequests
            );
            is_mutation && !(entry.faults.iter()).all(|it| is_harmless(it) || is_refused(it))
        };
        let is_settled = self.is_quiet().await
            && !log.iter().any(may_come_late)
            && (self.references().await.iter())
                .all(|it| it.provisioning_state != ProvisioningState::Unknown);
        is_settled.then_some(Moment { calls: log.len() })
    }

    /// An apply is not refused because of its plan, if nothing has struck since a moment before the what-if.
    pub(super) async fn check_plan(&self, shown: &Shown, since: Moment, asked: usize) {
        let log = self.world().aws.log();
        let mut struck = log.iter().skip(since.calls).flat_map(|it| &it.faults);
        if !struck.all(is_harmless) || shown.may_become_another_action() {
            return;
        }
        let reply = self.asked()[asked].reply.as_ref().expect("it is answered");
        let refusal = match reply.status {
            202 => self.world().status(reply).await.to_string(),
            _ => reply.text.clone(),
        };
        let is_stale = ["StalePlan", "PlanMismatch"].map(|code| refusal.contains(code));
        assert!(!is_stale.contains(&true), "stale at once: {refusal}");
    }
}

impl Shown {
    /// Whether values that are not known yet may make another action of a change: a replacement in place of an update.
    fn may_become_another_action(&self) -> bool {
        let changes = self.changes.as_array().into_iter().flatten();
        let mut open = changes.filter(|change| !change["unknown"].is_null());
        open.any(|change| change["changeType"] != "Create")
    }
}

/// Whether an effect on a call makes nothing unexpected of it, and comes to no later call.
fn is_harmless(effect: &Effect) -> bool {
    matches!(
        effect,
        Effect::Latency { .. }
            | Effect::Delay { .. }
            | Effect::Throttle { .. }
            | Effect::Quota { .. }
            | Effect::NoRetryAfter {}
            | Effect::FillDefaults {}
            | Effect::Restate {}
            | Effect::RestateFixed {}
    )
}

/// Whether the call had no effect.
fn is_refused(effect: &Effect) -> bool {
    matches!(effect, Effect::Refuse(_))
}
