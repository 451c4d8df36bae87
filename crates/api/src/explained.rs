//! Links from errors to the pages about their codes.

use ucp_model::Failure;
use ucp_wire::{ErrorBody, ErrorDetail, ErrorResponse};

use crate::error_code::ErrorCode;
use crate::origin::BaseUrl;

/// Returns the error with a link to the page about its code among the details, unless the contract reserves them for a list of places
/// in the request or of resources (section 9, D14, D35, D36).
pub(crate) fn explained(mut error: ErrorBody, base_url: &BaseUrl) -> ErrorBody {
    let has_list = match error.code.as_str() {
        "BadRequest"
        | "HttpRequestPayloadAPISpecValidationFailed"
        | "InvalidRequest"
        | "RequiresReplacement"
        | "ResourceGroupDeletionBlocked" => !error.details.is_empty(),
        _ => false,
    };
    if !has_list && ErrorCode::find(&error.code).is_some() {
        error.details.push(ErrorDetail {
            code: "Help".to_owned(),
            message: "What the code means, and what to do.".to_owned(),
            target: Some(format!("{base_url}/docs/errors/{}", error.code)),
        });
    }
    error
}

/// Returns the envelope of a failure, with a link to the page about its code.
pub(crate) fn response(failure: Failure, base_url: &BaseUrl) -> ErrorResponse {
    ErrorResponse {
        error: explained(ErrorBody::from(failure), base_url),
    }
}
