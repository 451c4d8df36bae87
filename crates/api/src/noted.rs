//! What the audit learns of a request on its way.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use ucp_model::OperationId;

use crate::action::{Action, Effect};

/// The id of a request, in its extensions.
#[derive(Clone, Debug)]
pub(crate) struct RequestId(pub(crate) String);

/// In the extensions of a reply: what came of the request, as far as the status does not say it.
#[derive(Clone, Copy, Debug)]
pub(crate) enum CameOf {
    /// The operation goes on.
    Accepted(OperationId),
    /// There was nothing to do.
    Unchanged,
}

/// In the extensions of a reply: there are too many like it, so that the audit only counts it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct OneOfMany;

/// What a request turns out to be on its way in. It outlives a request that is given up.
#[derive(Clone, Debug, Default)]
pub(crate) struct Noted(Arc<Mutex<Notes>>);

#[derive(Debug, Default)]
pub(crate) struct Notes {
    /// The name of the caller, once it is known.
    pub(crate) caller: Option<String>,
    /// What is asked for, if a route serves it.
    pub(crate) action: Option<Action>,
    /// What the body says that it is about.
    pub(crate) id: Option<String>,
    /// Whether what it shows of the caller is not valid. Its reply waits.
    pub(crate) login_failed: bool,
}

impl Noted {
    /// Notes what the request is about, if that is not what its path names.
    pub(crate) fn about(&self, id: impl ToString) {
        self.notes().id = Some(id.to_string());
    }

    /// Returns what the action does, if a route serves it.
    pub(crate) fn effect(&self) -> Option<Effect> {
        self.notes().action.as_ref().map(|action| action.effect)
    }

    pub(crate) fn notes(&self) -> MutexGuard<'_, Notes> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
