use std::collections::BTreeMap;

use serde_json::Value;
use tokio::time::Instant;
use ucp_model::GroupId;
use ucp_model::operation::group::Application;
use ucp_set::{Declarations, resolve};

use super::accepting::applied;
use super::judged::JudgedSet;
use super::outcome::ApplyOutcome;
use crate::declaring::Purpose;
use crate::values::value_of;
use crate::{App, ApplySet, BeyondRate, Caller, Rejection};

impl App {
    /// Makes the resources of a group as a set declares them. Looks first; if nothing has to be done, there is no
    /// operation. `admit` is asked whether so many changes may be made besides the first, of a plan whose set is not declared.
    pub async fn apply_set(
        &self,
        group: &GroupId,
        apply: ApplySet,
        caller: &Caller,
        admit: impl FnOnce(usize) -> Result<(), BeyondRate> + Send,
    ) -> Result<ApplyOutcome, Rejection> {
        let set = match apply {
            ApplySet::Declared(set) => set,
            ApplySet::Planned(plan, set) => {
                return Box::pin(self.apply_plan(group, plan, set, caller, admit)).await;
            }
        };
        let deadline = Instant::now() + caller.verdict_wait;
        let judged = self.judged_set(group, set, caller, Purpose::Change).await?;
        self.admit_members(&judged.group.id, &judged.members, caller)
            .await?;
        let looks = Box::pin(self.unchanged(&judged, caller, deadline));
        let (unchanged, seen) = looks.await?;
        let JudgedSet {
            group,
            members,
            outputs,
            is_quick,
            ..
        } = judged;
        let outputs = Value::Object(outputs);
        let application = Application {
            has_outputs: outputs
                .as_object()
                .is_some_and(|outputs| !outputs.is_empty()),
            members: members
                .iter()
                .zip(&unchanged)
                .map(|(member, is_unchanged)| applied(member, *is_unchanged))
                .collect(),
            plan: None,
            deployment: None,
            order: None,
        };
        let told = resolve(&outputs, |link| value_of(&seen, link));
        if unchanged.iter().all(|is_unchanged| *is_unchanged)
            && members.iter().all(|member| member.moved_from.is_none())
            && let Ok(told) = told
        {
            return Ok(ApplyOutcome::unchanged(group.id, application, told));
        }
        let declared = || {
            let members = members.iter().zip(unchanged);
            let declared = members.map(|(member, is_unchanged)| match is_unchanged {
                true => None,
                false => self.declared_member(member, &group),
            });
            declared.collect()
        };
        let declarations = Declarations {
            members: self.parts.pool.run_here(is_quick, declared).await?,
            outputs: match outputs {
                Value::Object(outputs) => outputs,
                _ => serde_json::Map::new(),
            },
            pinned: BTreeMap::new(),
        };
        self.accept_apply(&group.id, application, &declarations, caller)
            .await
    }
}
