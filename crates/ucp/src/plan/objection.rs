use ucp_model::{Detail, Failure};
use ucp_schema::Violation;

/// One reason why a declaration is refused.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Objection {
    pub(super) code: String,
    /// The place, as a JSON Pointer into the declared properties; empty if it is about all of them.
    pub(super) path: String,
    pub(super) message: String,
}

impl Objection {
    /// The reasons in a failure, or the failure itself if it has none.
    pub(super) fn of(failure: Failure) -> Vec<Self> {
        if failure.details.is_empty() {
            return vec![Self::whole(failure)];
        }
        failure.details.into_iter().map(Self::from).collect()
    }

    /// The failure as one reason.
    pub(super) fn whole(failure: Failure) -> Self {
        Self {
            code: failure.code,
            path: String::new(),
            message: failure.message,
        }
    }
}

impl From<Violation> for Objection {
    fn from(violation: Violation) -> Self {
        Self {
            code: violation.code.as_str().to_owned(),
            path: violation.pointer,
            message: violation.message,
        }
    }
}

impl From<Detail> for Objection {
    fn from(detail: Detail) -> Self {
        let target = detail.target.unwrap_or_default();
        let path = target.strip_prefix("/properties").unwrap_or(&target);
        Self {
            path: path.to_owned(),
            code: detail.code,
            message: detail.message,
        }
    }
}
