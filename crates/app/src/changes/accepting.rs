//! The operation that makes a change.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Map, Value};
use ucp_model::operation::group::{Application, ApplyMember, Deployment, MemberGoal, Task};
use ucp_model::{GroupId, Order, ResourceGroup, Scope};
use ucp_seal::AssociatedData;
use ucp_set::{Declarations, DeclaredMember};
use ucp_store::{NewOperation, NewWork, Sealed};
use zeroize::Zeroizing;

use super::member::{ChangeGoal, ChangeMember};
use crate::{Caller, ChangeCases, PutResource, Rejection};

/// What an operation on a group is to do: what is stored of it, and what is sealed, since it may have secrets.
#[derive(Clone)]
pub(crate) struct GroupChange {
    pub(crate) application: Application,
    pub(crate) declarations: Declarations,
}

/// Why members change, if not since a set says so.
#[derive(Default)]
pub(crate) struct ChangeReason {
    /// The refactor that is deployed.
    pub(crate) deployment: Option<Box<Deployment>>,
    /// The order of a service broker.
    pub(crate) order: Option<Box<Order>>,
}

impl ChangeCases {
    /// Refuses members in accounts that the credentials do not reach, and more references than the quotas allow: so many come into
    /// each group.
    pub(crate) async fn admit_members<'a>(
        &self,
        scopes: impl Iterator<Item = &'a Scope>,
        more: impl IntoIterator<Item = (&'a GroupId, usize)>,
        caller: &Caller,
    ) -> Result<(), Rejection> {
        let scopes: BTreeSet<&Scope> = scopes.collect();
        for scope in scopes {
            self.ground.accounts.verify(scope).await?;
        }
        for (group, more) in more {
            self.allowances.admit_set(group, &caller.name, more).await?;
        }
        Ok(())
    }

    /// Returns what is declared of a member, with the tags of its group.
    pub(crate) fn declared_member(
        &self,
        member: &ChangeMember,
        group: &ResourceGroup,
    ) -> Option<DeclaredMember> {
        match &member.goal {
            ChangeGoal::Put(put) => Some(self.declared_put(put, group)),
            ChangeGoal::Delete(_) | ChangeGoal::DeleteOwned(..) => None,
        }
    }

    /// Returns what a put declares, with the tags of its group.
    pub(crate) fn declared_put(&self, put: &PutResource, group: &ResourceGroup) -> DeclaredMember {
        DeclaredMember {
            default_tags: self.types.default_tags(put, Some(group)),
            properties: put.properties.clone(),
        }
    }

    /// Returns the operation that makes a change.
    pub(crate) fn new_change(
        &self,
        group: &GroupId,
        change: GroupChange,
        caller: &Caller,
    ) -> Result<NewOperation, Rejection> {
        let GroupChange {
            application,
            declarations,
        } = change;
        let mut new = self
            .operations
            .new_group_operation(group, Task::Apply(application), caller);
        let text = serde_json::to_vec(&declarations);
        let text = Zeroizing::new(text.map_err(|error| Rejection::Internal(error.into()))?);
        let place = AssociatedData::Desired(new.id);
        let entropy = self.ground.entropy.as_ref();
        let sealed = self.ground.keys.sealing.seal(place, &text, entropy);
        if let NewWork::Group { declared, .. } = &mut new.work {
            *declared = Some(Sealed(sealed));
        }
        Ok(new)
    }
}

impl GroupChange {
    /// Returns the change that makes these members, each of which declares something or nothing, and is to tell the outputs at its end.
    pub(crate) fn of(
        members: Vec<ApplyMember>,
        declared: Vec<Option<DeclaredMember>>,
        outputs: Map<String, Value>,
        reason: ChangeReason,
    ) -> Self {
        let ChangeReason { deployment, order } = reason;
        Self {
            application: Application {
                members,
                has_outputs: !outputs.is_empty(),
                plan: None,
                deployment,
                order,
            },
            declarations: Declarations {
                members: declared,
                outputs,
                pinned: BTreeMap::new(),
            },
        }
    }
}

/// Returns a member as it is stored.
pub(crate) fn applied(member: &ChangeMember, is_unchanged: bool) -> ApplyMember {
    ApplyMember {
        symbolic_name: member.symbolic_name.clone(),
        reference: member.reference.clone(),
        moved_from: member.moved_from.clone(),
        scope: member.scope.clone(),
        goal: match &member.goal {
            ChangeGoal::Put(put) => MemberGoal::Put(put.options),
            ChangeGoal::Delete(_) => MemberGoal::Delete,
            ChangeGoal::DeleteOwned(created_at, _) => MemberGoal::DeleteOwned(*created_at),
        },
        on_shared: member.on_shared(),
        depends_on: member.depends_on.clone(),
        is_unchanged,
        is_compared: false,
        is_declared: member.is_declared,
    }
}
