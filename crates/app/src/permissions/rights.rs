use std::str::FromStr;
use std::sync::Arc;

use ucp_access::{DeniedType, GrantIndex, Principal, Refusal, Right, Rights, Scope};
use ucp_model::operation::group::Task;
use ucp_model::operation::{Work, shared_elsewhere};
use ucp_model::{ErrorCode, Failure, GroupId, Operation, ReferenceId, TypeName};

use crate::permissions::known_assignments::Unread;
use crate::{Caller, Permissions, Rejection};

/// Who may do what by the configuration of the server.
#[derive(Clone, Debug, Default)]
pub struct Access {
    /// The grants that are not stored.
    pub grants: GrantIndex,
    /// The types of which nobody may change resources.
    pub denied: Arc<[DeniedType]>,
}

impl Permissions {
    /// Returns what a principal may do, as this process has read it in the last seconds.
    pub async fn rights(&self, principal: &Principal) -> Result<Rights, Rejection> {
        let stored = self.assignments.known().await.map_err(|Unread| unread())?;
        Ok(self.rights_by(&stored, principal))
    }

    /// Returns the caller with what they may do as it is stored now. What they give to others outlasts what a process
    /// remembers, and what was true when their request began.
    pub(crate) async fn as_stored(&self, caller: &Caller) -> Result<Caller, Rejection> {
        let Some(principal) = &caller.principal else {
            return Ok(caller.clone());
        };
        let stored = self.assignments.read().await.map_err(|Unread| unread())?;
        Ok(Caller {
            rights: self.rights_by(&stored, principal),
            ..caller.clone()
        })
    }

    fn rights_by(&self, stored: &GrantIndex, principal: &Principal) -> Rights {
        let Access { grants, denied } = &self.access;
        let grants = grants.naming(principal).chain(stored.naming(principal));
        Rights::of(principal, grants).except(Arc::clone(denied))
    }

    /// Returns what everybody may do where nobody is asked who they are.
    pub fn rights_of_everybody(&self) -> Rights {
        Rights::unlimited().except(Arc::clone(&self.access.denied))
    }
}

fn unread() -> Rejection {
    let message =
        "Who may do what cannot be read from the database now. Nothing was changed. Try again.";
    Rejection::NotNow(Failure::new(ErrorCode::ServiceUnavailable, message))
}

impl Caller {
    /// Refuses an action on a resource group.
    pub(crate) fn judge_group(
        &self,
        right: Right,
        group: &GroupId,
        action: &str,
    ) -> Result<(), Rejection> {
        Ok(self.rights.judge(right, action, &Scope::group(group))?)
    }

    /// Whether more changes of a group may be let by without a plan: whoever may not approve plans may not do that either.
    pub(crate) fn may_lower_policy(&self, group: &GroupId) -> bool {
        self.rights.permits(Right::Approve, &Scope::group(group))
    }

    /// Refuses an action, such as `write`, on resources of a type in an AWS account and region.
    pub(crate) fn judge_type(
        &self,
        right: Right,
        place: &ucp_model::Scope,
        type_name: &TypeName,
        verb: &str,
    ) -> Result<(), Rejection> {
        let action = format!("{}/{verb}", type_name.arm());
        let scope = Scope::resource_type(place, type_name);
        Ok(self.rights.judge(right, &action, &scope)?)
    }

    /// Returns the ids that grants name for reading, after a key, in the order of their keys.
    pub(crate) fn granted<Id: FromStr>(&self, after: Option<String>) -> impl Iterator<Item = Id> {
        let scopes = self.rights.readable().into_iter();
        let rest = scopes.filter(move |scope| after.as_deref().is_none_or(|key| scope.key() > key));
        rest.filter_map(|scope| scope.to_string().parse().ok())
    }

    /// Returns whether the caller may read a resource group.
    pub(crate) fn reads_group(&self, group: &GroupId) -> bool {
        self.rights.permits(Right::Read, &Scope::group(group))
    }

    /// Returns whether the caller may read an operation: its resource groups or, if it has none, the type of its AWS
    /// resource. An operation names its group, so reading the AWS resource is not enough.
    pub(crate) fn reads_operation(&self, operation: &Operation) -> bool {
        match (operation.work.group_id(), operation.work.resource()) {
            (Some(_), _) => operation.work.groups().all(|group| self.reads_group(group)),
            (None, Some(work)) => {
                let scope = Scope::resource_type(&work.scope, &work.type_name);
                self.rights.permits(Right::Read, &scope)
            }
            (None, None) => false,
        }
    }

    /// Refuses to change what an operation is about.
    pub(crate) fn judge_cancel(&self, operation: &Operation) -> Result<(), Rejection> {
        // What is denied to everybody is stopped by a cancel, not done.
        self.undenied().judge_change(operation)
    }

    /// Returns the caller without what is denied to everybody.
    pub(crate) fn undenied(&self) -> Self {
        Self {
            rights: self.rights.clone().except(Arc::default()),
            ..self.clone()
        }
    }

    fn judge_change(&self, operation: &Operation) -> Result<(), Rejection> {
        for group in operation.work.groups() {
            self.judge_group(
                Right::Write,
                group,
                "System.Resources/operations/cancel/action",
            )?;
        }
        match &operation.work {
            Work::Resource(work) => {
                self.judge_type(Right::Write, &work.scope, &work.type_name, "cancel/action")
            }
            Work::Group(work) => match &work.task {
                Task::Delete | Task::DeleteUnshared => Ok(()),
                Task::Import(items) => items.iter().try_for_each(|item| {
                    let type_name = &item.reference.type_name;
                    self.judge_type(Right::Write, &item.scope, type_name, "cancel/action")
                }),
                Task::Apply(application) => application.members.iter().try_for_each(|member| {
                    let type_name = &member.reference.type_name;
                    self.judge_type(Right::Write, &member.scope, type_name, "cancel/action")
                }),
            },
        }
    }
}

impl From<Box<Refusal>> for Rejection {
    fn from(refusal: Box<Refusal>) -> Self {
        let failure = Failure::new(ErrorCode::AuthorizationFailed, refusal.to_string());
        Rejection::Forbidden(failure.with_target(refusal.scope.to_string()))
    }
}

impl Rejection {
    /// Hides what is in the way of a request, if the caller may not read it.
    pub(crate) fn shown_to(self, caller: &Caller) -> Self {
        let hidden = |what: &str| {
            let name = &caller.name;
            let message = format!("{what} The client '{name}' may not read more about it.");
            Rejection::Conflict(Failure::new(ErrorCode::Conflict, message))
        };
        if let Rejection::Busy(operation) = &self
            && !caller.reads_operation(operation)
        {
            return hidden("Another operation on the resource is under way. Try again later.");
        }
        if let Rejection::Shared(others) = &self {
            let may_be_named = |other: &ReferenceId| caller.reads_group(&other.group);
            return Rejection::Conflict(shared_elsewhere(others, may_be_named));
        }
        if let Rejection::OwnedElsewhere(owner) = &self
            && !caller.reads_group(&owner.group)
        {
            return hidden(
                "Another reference owns the resource, and only one can own it. Leave ownedResource out.",
            );
        }
        self
    }
}
