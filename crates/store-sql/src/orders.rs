//! The transaction that places the order of a platform.

use ucp_model::{ResourceGroup, ServiceInstance};
use ucp_store::PlaceOrder;
use ucp_store::rules::{self, Claimant};

use crate::accept::accept;
use crate::database::{Abort, Transaction};
use crate::{groups, moves, operations, reference_row, service_row};

/// Places an order. What it cancels is locked first, as everywhere: an operation before its group, and that before what is in it.
pub(crate) async fn place(
    transaction: &mut Transaction,
    new: &PlaceOrder,
) -> Result<ServiceInstance, Abort> {
    if let Some(cancelled) = new.cancels {
        operations::request_cancel(transaction, cancelled, new.placed_at).await?;
    }
    let group = group(transaction, new).await?;
    let current = service_row::lock(transaction, &new.instance.id).await?;
    let (instance, bindings) = rules::placed(new, &group, current.as_ref())?;
    let mut gone = Vec::new();
    if instance.is_gone() {
        let standing = service_row::bindings(transaction, &instance.id).await?;
        gone = rules::gone_with_instance(standing, new.placed_at);
    } else if !bindings.is_empty() {
        let standing = service_row::binding_keys(transaction, &instance.id).await?;
        rules::refuse_many_bindings(&bindings, standing)?;
    }
    service_row::put(transaction, &instance).await?;
    for binding in gone.iter().chain(&bindings) {
        service_row::put_binding(transaction, binding).await?;
    }
    tag(transaction, new, &group).await?;
    if let Some(operation) = &new.operation {
        accept(transaction, operation, Claimant::Anyone).await?;
    }
    Ok(instance)
}

/// Returns the group of an order, which nobody changes until the transaction ends. Of two transactions that make it, the second
/// fails, and its retry finds the group.
async fn group(transaction: &mut Transaction, new: &PlaceOrder) -> Result<ResourceGroup, Abort> {
    let recorded = groups::share(transaction, &new.instance.group).await?;
    match (recorded, &new.group) {
        (None, Some(made)) => {
            groups::create(transaction, made).await?;
            Ok(made.clone())
        }
        (recorded, _) => Ok(groups::open(recorded)?),
    }
}

/// Gives the references of the instance their tags.
async fn tag(
    transaction: &mut Transaction,
    new: &PlaceOrder,
    group: &ResourceGroup,
) -> Result<(), Abort> {
    if new.tags.is_empty() {
        return Ok(());
    }
    let instance = &new.instance.id;
    let ids = reference_row::ids_of_instance(transaction, &group.id, instance).await?;
    let keys: Vec<String> = ids.iter().map(|id| id.key()).collect();
    for reference in moves::lock_references(transaction, &keys).await? {
        let tags = new.tags.iter().map(|(key, value)| (key, value));
        if let Some(tagged) = rules::tagged(&reference, instance, tags, new.placed_at)? {
            reference_row::tag(transaction, &tagged).await?;
        }
    }
    Ok(())
}
