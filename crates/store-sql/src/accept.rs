//! The acceptance of operations.

use ucp_model::operation::group::Task;
use ucp_model::operation::{GroupWork, Work};
use ucp_model::{Lineage, Operation, ReferenceId};
use ucp_store::rules::{self, Alias, Claimant};
use ucp_store::{Accepted, Error, NewOperation, NewResourceWork, NewWork};

use crate::database::{Abort, Transaction};
use crate::json::corrupt;
use crate::operation_row::insert;
use crate::{busy, groups, kept_plans, reference_row};

/// Accepts an operation. Of two concurrent ones on the same alias or AWS resource, both of which found it idle, a
/// unique index lets one through; the retry of the other finds it busy.
pub(crate) async fn accept(
    transaction: &mut Transaction,
    new: &NewOperation,
    by: Claimant,
) -> Result<Accepted, Abort> {
    match &new.work {
        NewWork::Resource(work) => accept_on_resource(transaction, new, work, by).await,
        NewWork::Group {
            task: Task::Delete | Task::DeleteUnshared,
            ..
        } => Ok(corrupt(
            "the deletion of a group is accepted by delete_resource_group only",
        )?),
        NewWork::Group {
            group,
            task,
            declared,
            heirs,
        } => {
            let group = groups::hold(transaction, group).await?;
            // Of two concurrent ones, a unique index lets one through.
            let is_apply = matches!(task, Task::Apply(_));
            let running = match rules::order_of(task) {
                Some(_) => busy::deployment_of(transaction, &group.id).await?,
                None if is_apply => busy::apply_to(transaction, &group.id).await?,
                None => None,
            };
            if let Some(running) = running {
                return Err(Error::Busy(running).into());
            }
            let policy = by.policy(&group);
            let work = GroupWork {
                heirs: heirs.clone(),
                ..GroupWork::new(group.id, task.clone(), 0)
            };
            let operation = Operation {
                header: new.header(),
                work: Work::Group(Box::new(work)),
            };
            let plan = kept_plans::use_plan(transaction, &operation, by).await?;
            if is_apply {
                rules::judge_operation(policy, plan.as_ref(), new.lowers_protection())?;
            }
            let keeps_look = insert(transaction, &operation, None, declared.as_ref(), None).await?;
            Ok(Accepted {
                operation,
                reference: None,
                keeps_look,
            })
        }
    }
}

async fn accept_on_resource(
    transaction: &mut Transaction,
    new: &NewOperation,
    work: &NewResourceWork,
    by: Claimant,
) -> Result<Accepted, Abort> {
    let alias = match &work.reference {
        Some(id) => Some(alias(transaction, id, by).await?),
        None => None,
    };
    let desired = work.desired.as_ref();
    let before = alias.as_ref().and_then(|alias| alias.reference.as_ref());
    let look = work.look.as_ref();
    let look = look.filter(|look| look.basis.is_of(before));
    let policy = alias.as_ref().map(|alias| alias.policy).unwrap_or_default();
    let made = rules::Made::by(work, before);
    let (work, reference) = rules::accept(new.id, work.clone(), alias, new.accepted_at)?;
    let target = work.target().map(|target| target.key());
    if let Some(target) = &target
        && let Some(busy) = busy::lock(transaction, target).await?
    {
        return Err(Error::Busy(busy).into());
    }
    if let Some(reference) = &reference {
        if work.options.take_ownership
            && let Some(target) = &target
            && let Some(owner) =
                reference_row::other_owner(transaction, target, &reference.id).await?
        {
            return Err(Error::OwnedElsewhere(owner).into());
        }
        reference_row::put(transaction, reference).await?;
    }
    let is_change = rules::is_change(&work);
    let mut operation = Operation {
        header: new.header(),
        work: Work::Resource(Box::new(work)),
    };
    let plan = kept_plans::use_plan(transaction, &operation, by).await?;
    if is_change {
        rules::judge_operation(policy, plan.as_ref(), new.lowers_protection())?;
        if let Some(target) = &target {
            let others = reference_row::others(transaction, target, &operation).await?;
            rules::judge_second(&made, &others)?;
            rules::share(&mut operation, &others);
            rules::judge_others(&operation, &others)?;
        }
    }
    let keeps_look = insert(transaction, &operation, target, desired, look).await?;
    Ok(Accepted {
        operation,
        reference,
        keeps_look,
    })
}

/// Returns the state of an alias, and locks its reference, if any, until the transaction ends.
pub(crate) async fn alias(
    transaction: &mut Transaction,
    id: &ReferenceId,
    by: Claimant,
) -> Result<Alias, Abort> {
    let group = match by {
        Claimant::Anyone => groups::hold(transaction, &id.group).await?,
        Claimant::Child => groups::hold_even_deleting(transaction, &id.group).await?,
    };
    let reference = reference_row::lock(transaction, id).await?;
    let is_lineage_taken = match &reference {
        Some(_) => false,
        None => reference_row::is_lineage_taken(transaction, &Lineage::of(id), id).await?,
    };
    Ok(Alias {
        policy: by.policy(&group),
        group: group.id,
        reference,
        is_lineage_taken,
    })
}
