//! What the end of an operation writes to the service instance or the binding that it is for.

use std::collections::BTreeSet;

use ucp_model::operation::GroupWork;
use ucp_model::{Operation, Order};
use ucp_store::rules::{self, Concerned};

use crate::database::{Abort, Transaction};
use crate::{reference_row, service_row};

/// Ends the change that an operation carries out. The caller has its group locked.
pub(crate) async fn end(
    transaction: &mut Transaction,
    operation: &Operation,
    work: &GroupWork,
    order: &Order,
) -> Result<(), Abort> {
    let Some(instance) = service_row::lock(transaction, &order.instance).await? else {
        return Ok(());
    };
    let bindings = match rules::concerned(order, work) {
        Concerned::One(id) => {
            let binding = service_row::binding(transaction, &id).await?;
            binding.into_iter().collect()
        }
        Concerned::All => service_row::bindings(transaction, &order.instance).await?,
        Concerned::None => Vec::new(),
    };
    let left = if rules::may_leave_some(order, work) {
        let instance = &order.instance;
        let ids = reference_row::ids_of_instance(transaction, &work.group, instance).await?;
        ids.iter().map(|id| id.key()).collect()
    } else {
        BTreeSet::new()
    };
    let ended = rules::ended_order(operation, instance, bindings, &left);
    if let Some((instance, bindings)) = ended {
        service_row::put(transaction, &instance).await?;
        for binding in &bindings {
            service_row::put_binding(transaction, binding).await?;
        }
    }
    Ok(())
}
