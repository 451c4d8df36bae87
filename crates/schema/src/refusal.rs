use ucp_model::{Detail, ErrorCode, Failure};

use crate::{Violation, ViolationCode};

impl ViolationCode {
    /// Returns the `code` of an error detail.
    pub fn as_str(self) -> &'static str {
        match self {
            ViolationCode::WrongType => "WrongType",
            ViolationCode::UnknownProperty => "UnknownProperty",
            ViolationCode::MissingProperty => "MissingProperty",
            ViolationCode::InvalidValue => "InvalidValue",
            ViolationCode::InvalidCombination => "InvalidCombination",
            ViolationCode::ReadOnlyProperty => "ReadOnlyProperty",
        }
    }
}

impl Violation {
    /// Returns an `InvalidRequest` failure with `violations` as details, each with its location in the request body.
    pub fn refusal(message: &str, violations: Vec<Violation>) -> Failure {
        let detail = |violation: Violation| {
            let target = format!("/properties{}", violation.pointer);
            Detail::at(violation.code.as_str(), violation.message, target)
        };
        Failure::new(ErrorCode::InvalidRequest, message)
            .with_details(violations.into_iter().map(detail).collect())
    }
}
