//! Whether an update was refused because of what another operation is doing.

use ucp_model::operation::group::are_related;
use ucp_model::operation::{Kind, Work};
use ucp_model::{OperationId, Reference};
use ucp_store::Error;

use crate::abandoned::Abandoned;
use crate::engine::{Stepper, work};

/// How many references of the group are read. A refusal must not cost more than a page.
const READ_MAX: usize = 1_000;

impl Stepper<'_> {
    /// Finds an operation under the same group that is under way on a resource which this one names, or which names it. One that
    /// AWS keeps refusing itself is in nobody's way.
    pub(crate) async fn note_what_is_in_the_way(&mut self) -> Result<(), Abandoned> {
        let of_put = work(&self.claimed.operation.work)?;
        let Some(id) = of_put
            .reference
            .as_ref()
            .filter(|_| of_put.kind == Kind::Put)
        else {
            return Ok(());
        };
        let store = &self.engine.parts().store;
        let references = match store.list_references(&id.group, None, None, READ_MAX).await {
            Ok(references) => references,
            Err(Error::NoSuchGroup) => return Ok(()),
            Err(error) => return Err(error.into()),
        };
        let own = references.iter().find(|it| it.id.key() == id.key());
        let is_near = |other: &&Reference| own.is_some_and(|own| are_related(own, other));
        let others = references.iter().filter(|it| it.id.key() != id.key());
        let others = others.filter(|it| it.operation.is_some()).filter(is_near);
        let others: Vec<OperationId> = others.filter_map(|it| it.operation).collect();
        let mut in_the_way = None;
        for other in others {
            let other = store.get_operation(other).await?;
            let goes_on = other.as_ref().is_some_and(|other| {
                let work = other.work.resource();
                !other.is_terminal() && work.is_some_and(|work| work.retrying.is_none())
            });
            if goes_on {
                in_the_way = other.map(|other| other.header.id);
                break;
            }
        }
        if let Work::Resource(work) = &mut self.claimed.operation.work {
            work.in_the_way = in_the_way;
        }
        Ok(())
    }
}
