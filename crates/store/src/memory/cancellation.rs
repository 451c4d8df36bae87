//! Requests to cancel an operation.

use ucp_model::{Operation, OperationId, Timestamp};

use super::tables::{Row, Tables};

impl Tables {
    /// Records a cancel request for a live operation and its live children.
    pub(super) fn request_cancel(&mut self, id: OperationId, now: Timestamp) -> Option<Operation> {
        let row = self.operations.get_mut(&id)?;
        row.request_cancel(now);
        let operation = row.operation.clone();
        if !operation.is_terminal() {
            let rows = self.operations.values_mut();
            for child in rows.filter(|row| row.operation.header.parent == Some(id)) {
                child.request_cancel(now);
            }
        }
        Some(operation)
    }
}

impl Row {
    /// Records a cancel request for a live operation.
    pub(super) fn request_cancel(&mut self, now: Timestamp) {
        if !self.operation.is_terminal() {
            let header = &mut self.operation.header;
            header.cancel_requested_at.get_or_insert(now);
            header.due_at = header.due_at.min(now);
            header.waits_for = None;
            self.slot.waiting = None;
        }
    }
}
