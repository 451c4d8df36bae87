//! The operation that applies a set.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Deref;

use ucp_model::operation::group::{Application, MemberGoal};
use ucp_model::{GroupId, PlanUse, Reference};
use ucp_store::ApplyRefactor;

use super::outcome::ApplyOutcome;
use crate::changes::{ChangeMember, GroupChange};
use crate::ground::refusal::{no_such_group, policy_lowered};
use crate::moves::of_set::changed_meanwhile;
use crate::{Caller, Rejection, SetCases};

impl SetCases {
    /// Refuses members in accounts that the credentials do not reach, and more than the quotas allow.
    pub(super) async fn admit_set_members(
        &self,
        group: &GroupId,
        members: &[ChangeMember],
        caller: &Caller,
    ) -> Result<(), Rejection> {
        let more = members
            .iter()
            .filter(|member| !member.has_reference && member.put().is_some());
        let scopes = members.iter().map(|member| &member.scope);
        self.changes
            .admit_members(scopes, [(group, more.count())], caller)
            .await
    }

    pub(crate) async fn accept_apply(
        &self,
        group: &GroupId,
        change: GroupChange,
        caller: &Caller,
    ) -> Result<ApplyOutcome, Rejection> {
        let application = change.application.clone();
        let plan = application.plan.map(PlanUse::whole);
        let mut new = self.changes.new_change(group, change, caller)?;
        if application.gives_up_shared() {
            let heirs = self.heirs_of_set(&application, group, caller).await?;
            new.set_heirs(heirs);
        }
        let id = new.id;
        let moves = self
            .moves
            .moves_of_set(&application, group, id, caller)
            .await?;
        let store = &self.ground.store;
        let accepted = match moves {
            None => store.accept_operation(new).await.map(|it| it.operation),
            Some(moves) => {
                let deploy = Some(new);
                let moved = store.apply_refactor(ApplyRefactor { deploy, ..moves });
                match moved.await {
                    Ok(_) => Ok(self.operations.operation(id).await?),
                    Err(error) => Err(error),
                }
            }
        };
        let operation = match accepted {
            Err(ucp_store::Error::NoSuchGroup) => return Err(no_such_group(group)),
            Err(ucp_store::Error::PolicyLowered) => return Err(policy_lowered(group, caller)),
            Err(ucp_store::Error::GroupDeleting(running) | ucp_store::Error::Busy(running)) => {
                let busy = self.ground.busy(running).await;
                let refused = match plan {
                    Some(used) => self.plans.refused_under(used, busy).await,
                    None => busy,
                };
                return Err(refused.shown_to(caller));
            }
            Err(ucp_store::Error::PreconditionFailed | ucp_store::Error::OutcomeUnknown) => {
                return Err(changed_meanwhile());
            }
            other => other?,
        };
        self.operations.group_operation_accepted(&operation, group);
        Ok(ApplyOutcome::Accepted(Box::new(operation)))
    }

    /// Returns who may own what a set gives up to others, by the keys of the references that do. What the set deletes is no heir.
    async fn heirs_of_set(
        &self,
        application: &Application,
        group: &GroupId,
        caller: &Caller,
    ) -> Result<BTreeMap<String, Reference>, Rejection> {
        let members = application.members.iter();
        let deleted = members.filter(|member| !matches!(member.goal, MemberGoal::Put(_)));
        let going: BTreeSet<String> = deleted.map(|member| member.reference.key()).collect();
        let members = application.members.iter();
        let giving = members.filter(|member| member.gives_up_shared());
        // What moves stands where it is until the operation is accepted.
        let giving = giving.map(|member| {
            let from = member.moved_from.as_ref().map(|from| from.reference.key());
            let to = member.reference.key();
            (from.unwrap_or_else(|| to.clone()), to)
        });
        let giving: BTreeMap<String, String> = giving.collect();
        if giving.is_empty() {
            return Ok(BTreeMap::new());
        }
        let references = match self.ground.store.list_outlines(group).await {
            Err(ucp_store::Error::NoSuchGroup) => return Err(no_such_group(group)),
            other => other?,
        };
        let references = references.iter().map(Deref::deref);
        let given_up = references.filter(|reference| giving.contains_key(&reference.id.key()));
        let heirs = self
            .ground
            .heirs(given_up, &going, caller)
            .await?
            .into_iter();
        let heirs = heirs.filter_map(|(from, heir)| Some((giving.get(&from)?.clone(), heir)));
        Ok(heirs.collect())
    }
}
