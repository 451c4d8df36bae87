//! The record of moves.

use ucp_model::{
    EventMove, Refactor, RefactorContent, RefactorEvent, RefactorId, RefactorMove, RefactorStatus,
};

use super::in_words;
use crate::{Caller, MoveCases};

impl MoveCases {
    /// Returns a record that is planned now.
    pub(crate) fn record(
        &self,
        id: RefactorId,
        plane: &str,
        content: RefactorContent,
        caller: &Caller,
    ) -> Refactor {
        let now = self.ground.now();
        Refactor {
            id,
            plane: plane.to_owned(),
            created_by: caller.name.clone(),
            created_at: now,
            status: RefactorStatus::Planned,
            changed_at: now,
            fingerprint: self.ground.keys.digest.fingerprint(&content.essence()),
            content,
        }
    }
}

/// Returns the event that a refactor without a history brings.
pub(crate) fn itself(id: RefactorId, moves: &[RefactorMove]) -> RefactorEvent {
    let moved = moves.iter().map(|it| EventMove {
        from: in_words(&it.from),
        to: in_words(&it.to),
    });
    RefactorEvent {
        id: id.to_string(),
        moves: moved.collect(),
        revoked: false,
    }
}
