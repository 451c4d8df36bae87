/// Every reply has the same request id: nothing can be looked up by it.
pub(super) const REQUEST_ID: &str = "00000000-0000-4000-8000-000000000000";
