//! What the end of an operation writes to the service instance or the binding that it is for.

use ucp_model::operation::GroupWork;
use ucp_model::{Operation, Order};
use ucp_store::rules::{self, Concerned};

use crate::database::{Abort, Transaction};
use crate::service_row;

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
    if let Some((instance, bindings)) = rules::ended_order(operation, instance, bindings) {
        service_row::put(transaction, &instance).await?;
        for binding in &bindings {
            service_row::put_binding(transaction, binding).await?;
        }
    }
    Ok(())
}
