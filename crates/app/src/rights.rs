use std::sync::Arc;

use ucp_access::{DeniedType, Grant, Principal, Refusal, Rights};
use ucp_model::{ErrorCode, Failure};

use crate::{App, Rejection};

/// Who may do what by the configuration of the server.
#[derive(Clone, Debug, Default)]
pub struct Access {
    /// The grants that are not stored.
    pub grants: Vec<Grant>,
    /// The types of which nobody may change resources.
    pub denied: Arc<[DeniedType]>,
}

impl App {
    /// Returns what a principal may do.
    pub async fn rights(&self, principal: &Principal) -> Result<Rights, Rejection> {
        let Access { grants, denied } = &self.parts.access;
        Ok(Rights::of(principal, grants).except(Arc::clone(denied)))
    }

    /// Returns what everybody may do where nobody is asked who he is.
    pub fn rights_of_everybody(&self) -> Rights {
        Rights::unlimited().except(Arc::clone(&self.parts.access.denied))
    }
}

impl From<Box<Refusal>> for Rejection {
    fn from(refusal: Box<Refusal>) -> Self {
        let failure = Failure::new(ErrorCode::AuthorizationFailed, refusal.to_string());
        Rejection::Forbidden(failure.with_target(refusal.scope.to_string()))
    }
}
