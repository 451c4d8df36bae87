//! Whether an update was refused because of what another operation is doing.

use ucp_model::operation::group::are_related;
use ucp_model::operation::{Intent, Kind, State, Work};
use ucp_model::{Action, Operation, OperationId, Reference};
use ucp_store::{Error, Limit};

use crate::abandoned::Abandoned;
use crate::stepper::{Stepper, work};

/// How many references of the group are read. A refusal must not cost more than a page.
const READ_MAX: usize = 1_000;
/// How many operations on these are read, in one statement.
const LIVE_MAX: usize = 100;

impl Stepper<'_> {
    /// Looks for an operation under the same group that works on a resource which this one names, or which names it, or that makes
    /// one, since it is not known yet what that names; now, or since the update was recorded. One that AWS keeps refusing
    /// itself is in nobody's way.
    pub(crate) async fn note_what_is_in_the_way(&mut self) -> Result<(), Abandoned> {
        let now = self.engine.now();
        let of_put = work(&self.claimed.operation.work)?;
        let (Some(id), Some(update)) = (&of_put.reference, update_of(&of_put.state)) else {
            return Ok(());
        };
        let store = &self.engine.parts().store;
        let own = store.get_reference(id).await?;
        let Some(own) = own.filter(|_| of_put.kind == Kind::Put) else {
            return Ok(());
        };
        let references = match store
            .list_references(&id.group, None, None, Limit::items(READ_MAX))
            .await
        {
            Ok(references) => references.items,
            Err(Error::NoSuchGroup) => return Ok(()),
            Err(error) => return Err(error.into()),
        };
        let is_near = |other: &&Reference| {
            let is_global = own.id.type_name.is_global() || other.id.type_name.is_global();
            let is_here = if is_global {
                other.scope.account.eq_ignore_ascii_case(&own.scope.account)
            } else {
                other.scope.is_same_place(&own.scope)
            };
            let is_here = is_here && other.id.key() != own.id.key();
            let is_being_made = other.observed.is_none() && other.operation.is_some();
            is_here && (is_being_made || are_related(&own, other))
        };
        let near: Vec<&Reference> = references.iter().filter(is_near).collect();
        let has_ended =
            |other: &&Reference| other.operation.is_none() && other.updated_at >= update.issued_at;
        let live: Vec<OperationId> = near.iter().filter_map(|other| other.operation).collect();
        let live = live.get(..LIVE_MAX).unwrap_or(&live);
        let is_in_the_way = near.iter().any(has_ended)
            || !live.is_empty() && store.get_operations(live).await?.iter().any(goes_on);
        if let (true, Work::Resource(work)) = (is_in_the_way, &mut self.claimed.operation.work) {
            work.last_in_the_way_at = Some(now);
        }
        Ok(())
    }
}

fn update_of(state: &State) -> Option<&Intent> {
    match state {
        State::Submitting(intent) | State::Waiting(intent, _) => {
            Some(intent).filter(|intent| intent.action() == Action::Update)
        }
        State::Accepted
        | State::Missing(_)
        | State::Observing(_)
        | State::Salvaging(..)
        | State::Adopting(_)
        | State::Ended(_) => None,
    }
}

fn goes_on(other: &Operation) -> bool {
    let work = other.work.resource();
    !other.is_terminal() && work.is_some_and(|work| work.retrying.is_none())
}
