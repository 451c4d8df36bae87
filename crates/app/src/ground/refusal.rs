//! What the store refuses, in a caller's words.

use ucp_access::Right;
use ucp_model::{
    Detail, ErrorCode, Failure, GroupId, Leftover, OperationId, ReferenceId, Register,
};

use crate::{Caller, Ground, Rejection};

/// The number of leftovers among which the one of an undecided reference is looked for.
const LOOKED_AT: usize = 1_000;

impl Ground {
    /// Translates the store's refusal of an operation on `reference`.
    pub(crate) async fn refusal(
        &self,
        error: ucp_store::Error,
        reference: Option<&ReferenceId>,
    ) -> Rejection {
        let alias = reference.map_or("The resource", |id| id.alias.as_str());
        match error {
            ucp_store::Error::NoSuchGroup => match reference {
                Some(reference) => no_such_group(&reference.group),
                None => error.into(),
            },
            ucp_store::Error::Busy(running) | ucp_store::Error::GroupDeleting(running) => {
                self.busy(running).await
            }
            ucp_store::Error::OutcomeUnknown => match reference {
                Some(reference) => Box::pin(self.undecided(reference)).await,
                None => error.into(),
            },
            ucp_store::Error::AlreadyReferenced => Rejection::Conflict(Failure::new(
                ErrorCode::Conflict,
                format!(
                    "'{alias}' already stands for a resource and was not changed. Use another alias, or delete the reference first."
                ),
            )),
            ucp_store::Error::ReferencedElsewhere(scope) => Rejection::Conflict(Failure::new(
                ErrorCode::Conflict,
                format!(
                    "'{alias}' already stands for a resource in {scope}. Use that account and region, or another alias."
                ),
            )),
            ucp_store::Error::OwnedElsewhere(owner) => Rejection::OwnedElsewhere(Box::new(owner)),
            ucp_store::Error::Shared(others) => Rejection::Shared(others),
            ucp_store::Error::NoSuchReference
            | ucp_store::Error::PreconditionFailed
            | ucp_store::Error::PolicyLowered
            | ucp_store::Error::NotOwned
            | ucp_store::Error::NotOfInstance
            | ucp_store::Error::TooManyTags
            | ucp_store::Error::TooManyBindings
            | ucp_store::Error::NoSuchPlan
            | ucp_store::Error::NoSuchRefactor
            | ucp_store::Error::RefactorStatus(_)
            | ucp_store::Error::PlanRefused(_)
            | ucp_store::Error::PlanRequired
            | ucp_store::Error::ApprovalRequired
            | ucp_store::Error::PolicyElsewhere(_)
            | ucp_store::Error::LeaseLost
            | ucp_store::Error::Unavailable(_)
            | ucp_store::Error::OtherKey { .. }
            | ucp_store::Error::Corrupt(_) => error.into(),
        }
    }

    /// Refuses a request because the operation `running` is under way.
    pub(crate) async fn busy(&self, running: OperationId) -> Rejection {
        match self.store.get_operation(running).await {
            Ok(Some(operation)) => Rejection::Busy(Box::new(operation)),
            Ok(None) => no_such_operation(running),
            Err(error) => error.into(),
        }
    }

    /// Refuses a put, since the outcome of the create before it is unknown.
    pub(crate) async fn undecided(&self, reference: &ReferenceId) -> Rejection {
        let register = Register::Group(reference.group.clone());
        let leftovers = self.store.list_leftovers(&register, None, LOOKED_AT);
        let leftovers = match leftovers.await {
            Ok(leftovers) => leftovers,
            Err(error) => return error.into(),
        };
        let key = reference.key();
        let is_of = |leftover: &&Leftover| leftover.undecided().is_some_and(|own| own.key() == key);
        let alias = &reference.alias;
        let entry = leftovers.iter().find(is_of);
        let looks = entry.map_or_else(String::new, |entry| {
            format!(" ucp looks what came of it, next at {}.", entry.next_try_at)
        });
        let message = format!(
            "What came of the create of '{alias}' is unknown, and another put could make a second resource. Nothing was sent.{looks} To decide now, :import what AWS has, or DELETE {reference} if there is nothing, or send \"resolve\": \"abandon\" to leave what there may be and go on."
        );
        let details = entry.map(|leftover| {
            let cause = leftover.last_error.as_ref();
            let cause = cause.map_or("", |failure| failure.message.as_str());
            let message = format!("since {}: {cause}", leftover.since);
            Detail::at("OutcomeUnknown", message, leftover.id.to_string())
        });
        let failure = Failure::new(ErrorCode::OutcomeUnknown, message)
            .with_target(reference.to_string())
            .with_details(details.into_iter().collect());
        Rejection::Conflict(failure)
    }
}

pub(crate) fn no_such_group(group: &GroupId) -> Rejection {
    Rejection::Missing(
        Failure::new(
            ErrorCode::ResourceGroupNotFound,
            format!(
                "The resource group '{}' does not exist. Create it with a PUT on {group}.",
                group.name
            ),
        )
        .with_target(group.to_string()),
    )
}

pub(crate) fn group_not_found(id: &GroupId) -> Rejection {
    let failure = Failure::new(
        ErrorCode::NotFound,
        format!("The resource group '{}' does not exist.", id.name),
    );
    Rejection::Missing(failure.with_target(id.to_string()))
}

/// Refuses what lets more changes by without a plan, or without an approval.
pub(crate) fn policy_lowered(group: &GroupId, caller: &Caller) -> Rejection {
    let action = "System.Resources/resourceGroups/planPolicy/write";
    match caller.judge_group(Right::Approve, group, action) {
        Err(refused) => refused,
        // The right was given meanwhile.
        Ok(()) => Rejection::precondition_failed(group),
    }
}

pub(crate) fn no_such_operation(id: OperationId) -> Rejection {
    Rejection::Missing(operation_not_found(id))
}

pub(crate) fn operation_not_found(id: OperationId) -> Failure {
    Failure::new(ErrorCode::NotFound, format!("There is no operation {id}."))
}
