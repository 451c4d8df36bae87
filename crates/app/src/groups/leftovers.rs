use ucp_model::{ErrorCode, Failure, Leftover, LeftoverId, OperationId, Register};

use crate::ground::refusal::group_not_found;
use crate::{Caller, GroupCases, Listed, Rejection};

impl GroupCases {
    /// Returns up to `top` leftovers of a register, after `after`.
    pub async fn list_leftovers(
        &self,
        register: &Register,
        after: Option<OperationId>,
        top: usize,
    ) -> Result<Listed<Leftover>, Rejection> {
        let leftovers = self.ground.store.list_leftovers(register, after, top + 1);
        match (leftovers.await, register) {
            (Err(ucp_store::Error::NoSuchGroup), Register::Group(group)) => {
                Err(group_not_found(group))
            }
            (listed, _) => Ok(Listed::of(listed?, top)),
        }
    }

    /// Returns a leftover.
    pub async fn get_leftover(&self, id: &LeftoverId) -> Result<Leftover, Rejection> {
        let leftover = self.ground.store.get_leftover(id).await?;
        leftover.ok_or_else(|| no_such_leftover(id))
    }

    /// Forgets a leftover. The AWS resource is left alone. Returns whether it was there.
    pub async fn forget_leftover(
        &self,
        id: &LeftoverId,
        caller: &Caller,
    ) -> Result<bool, Rejection> {
        let store = &self.ground.store;
        let (name, correlation_id) = (&caller.name, &caller.correlation_id);
        let forgotten = store.forget_leftover(id, name, correlation_id, self.ground.now());
        let forgotten = forgotten.await?;
        if forgotten {
            tracing::info!(leftover.id = %id, "leftover forgotten");
        }
        Ok(forgotten)
    }
}

fn no_such_leftover(id: &LeftoverId) -> Rejection {
    let message = format!(
        "There is no leftover '{}'. It may have been deleted or forgotten.",
        id.name
    );
    Rejection::Missing(Failure::new(ErrorCode::NotFound, message).with_target(id.to_string()))
}
