use serde_json::Value;
use tokio::time::Instant;
use ucp_model::GroupId;
use ucp_model::operation::group::ApplyMember;
use ucp_set::resolve;

use super::judged::JudgedSet;
use super::outcome::ApplyOutcome;
use crate::changes::{ChangeReason, GroupChange, applied};
use crate::declaring::Purpose;
use crate::looks::looking::members as members_of;
use crate::looks::values::value_of;
use crate::{ApplySet, BeyondRate, Caller, Rejection, SetCases};

impl SetCases {
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
        self.admit_set_members(&judged.group.id, &judged.members, caller)
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
        let told = resolve(&outputs, |link| value_of(&seen, link));
        let stored = members.iter().zip(&unchanged);
        let stored = stored.map(|(member, is_unchanged)| applied(member, *is_unchanged));
        let stored: Vec<ApplyMember> = stored.collect();
        let has_nothing_to_do = stored
            .iter()
            .all(|member| member.is_unchanged && member.moved_from.is_none());
        let outputs = members_of(outputs);
        let mut change = GroupChange::of(stored, Vec::new(), outputs, ChangeReason::default());
        if let (true, Ok(told)) = (has_nothing_to_do, told) {
            return Ok(ApplyOutcome::unchanged(group.id, change.application, told));
        }
        let declared = || {
            let members = members.iter().zip(unchanged);
            let declared = members.map(|(member, is_unchanged)| {
                if is_unchanged {
                    None
                } else {
                    self.changes.declared_member(member, &group)
                }
            });
            declared.collect()
        };
        change.declarations.members = self.ground.pool.run_here(is_quick, declared).await?;
        self.accept_apply(&group.id, change, caller).await
    }
}
