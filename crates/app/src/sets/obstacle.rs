//! What is wrong with one member of a set.

use ucp_model::operation::shared_elsewhere;
use ucp_model::{Detail, ErrorCode, Failure, Fault, Operation};

use crate::Rejection;

/// What is in the way of one member. The others are judged nevertheless.
pub(super) enum Obstacle {
    /// It is refused.
    Refused(Failure),
    /// Another operation works on it.
    Busy(Box<Operation>),
    /// AWS cannot be asked for it.
    Aws(Fault),
}

impl Obstacle {
    /// Returns what is in the way of the member that was refused, or what refuses the whole set.
    pub(super) fn of(refused: Rejection) -> Result<Self, Rejection> {
        match refused {
            Rejection::Invalid(failure)
            | Rejection::Missing(failure)
            | Rejection::Conflict(failure)
            | Rejection::PreconditionFailed(failure)
            | Rejection::Refused(failure)
            | Rejection::TooLarge(failure) => Ok(Self::Refused(failure)),
            Rejection::OwnedElsewhere(owner) => {
                let message = format!(
                    "The resource is owned by {owner}, and only one reference can own it. Leave ownedResource out."
                );
                Ok(Self::Refused(Failure::new(ErrorCode::Conflict, message)))
            }
            Rejection::Shared(others) => Ok(Self::Refused(shared_elsewhere(&others, |_| false))),
            Rejection::Busy(operation) => Ok(Self::Busy(operation)),
            Rejection::Aws(fault) => Ok(Self::Aws(fault)),
            Rejection::Hidden(_)
            | Rejection::Forbidden(_)
            | Rejection::NotNow(_)
            | Rejection::QuotaExceeded(_)
            | Rejection::TooMany(_)
            | Rejection::BeyondRate(_)
            | Rejection::Unavailable(_)
            | Rejection::Internal(_) => Err(refused),
        }
    }
}

/// Refuses a set with changes that the policies of other groups do not take.
pub(crate) fn refused_elsewhere(details: Vec<Detail>) -> Result<(), Rejection> {
    let required = ErrorCode::PlanRequired.as_str();
    let code = match details.iter().all(|detail| detail.code == required) {
        _ if details.is_empty() => return Ok(()),
        true => ErrorCode::PlanRequired,
        false => ErrorCode::ApprovalRequired,
    };
    let message = "Other resource groups protect what the details name. Nothing was stored or sent. Leave these resources out, or do what the details say.";
    Err(Rejection::Conflict(
        Failure::new(code, message).with_details(details),
    ))
}

/// Returns what is wrong with a member as details at its place in the body.
pub(crate) fn placed(place: &str, failure: Failure) -> Vec<Detail> {
    let at = |target: Option<&str>| {
        let is_below = |target: &&str| target.starts_with('/') && !target.starts_with("/planes/");
        format!("{place}{}", target.filter(is_below).unwrap_or_default())
    };
    if failure.details.is_empty() {
        let target = at(failure.target.as_deref());
        return vec![Detail::at(failure.code, failure.message, target)];
    }
    let details = failure.details.into_iter();
    details
        .map(|detail| Detail {
            target: Some(at(detail.target.as_deref())),
            ..detail
        })
        .collect()
}
