/// The request id of every reply. It cannot be looked up.
pub(super) const REQUEST_ID: &str = "00000000-0000-4000-8000-000000000000";
