use ucp_model::{
    Detail, ErrorCode, Failure, Leftover, LeftoverId, OperationId, ReferenceId, Register,
};

use crate::references::group_not_found;
use crate::{App, Caller, Listed, Rejection};

impl App {
    /// Returns up to `top` leftovers of a register, after `after`.
    pub async fn list_leftovers(
        &self,
        register: &Register,
        after: Option<OperationId>,
        top: usize,
    ) -> Result<Listed<Leftover>, Rejection> {
        let leftovers = self.parts.store.list_leftovers(register, after, top + 1);
        match (leftovers.await, register) {
            (Err(ucp_store::Error::NoSuchGroup), Register::Group(group)) => {
                Err(group_not_found(group))
            }
            (listed, _) => Ok(Listed::of(listed?, top)),
        }
    }

    /// Returns a leftover.
    pub async fn get_leftover(&self, id: &LeftoverId) -> Result<Leftover, Rejection> {
        let leftover = self.parts.store.get_leftover(id).await?;
        leftover.ok_or_else(|| no_such_leftover(id))
    }

    /// Forgets a leftover. The AWS resource is left alone. Returns whether it was there.
    pub async fn forget_leftover(
        &self,
        id: &LeftoverId,
        caller: &Caller,
    ) -> Result<bool, Rejection> {
        let store = &self.parts.store;
        let (name, correlation_id) = (&caller.name, &caller.correlation_id);
        let forgotten = store.forget_leftover(id, name, correlation_id, self.now());
        let forgotten = forgotten.await?;
        if forgotten {
            tracing::info!(leftover.id = %id, "leftover forgotten");
        }
        Ok(forgotten)
    }
}

/// The number of leftovers among which the one of an undecided reference is looked for.
const LOOKED_AT: usize = 1_000;

impl App {
    /// Refuses a put, since the outcome of the create before it is unknown.
    pub(crate) async fn undecided(&self, reference: &ReferenceId) -> Rejection {
        let register = Register::Group(reference.group.clone());
        let leftovers = self.parts.store.list_leftovers(&register, None, LOOKED_AT);
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

fn no_such_leftover(id: &LeftoverId) -> Rejection {
    let message = format!(
        "There is no leftover '{}'. It may have been deleted or forgotten.",
        id.name
    );
    Rejection::Missing(Failure::new(ErrorCode::NotFound, message).with_target(id.to_string()))
}
