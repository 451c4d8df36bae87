use ucp_model::Operation;

/// Learns what the engine of this process has done.
pub trait ProgressListener: Send + Sync {
    /// Called after a step of the operation, or its end, has been committed.
    fn progressed(&self, operation: &Operation);
}
