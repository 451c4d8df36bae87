//! Every error code of replies, with its HTTP status and its documentation page.

use axum::http::StatusCode;

/// An error code with its status and page.
#[derive(Debug)]
pub(crate) struct ErrorCode {
    pub(crate) code: &'static str,
    /// The status of the result of an operation that failed with this code, and of a read that AWS refuses with it.
    pub(crate) status: StatusCode,
    /// The documentation page, in Markdown.
    pub(crate) page: &'static str,
}

/// The index of the pages.
pub(crate) const INDEX: &str = include_str!("../../../docs/errors/README.md");

/// How operations go on after each error of AWS.
pub(crate) const RETRY_CLASSES: &str = include_str!("../../../docs/errors/retry-classes.md");

macro_rules! codes {
    ($($status:ident: $($code:literal)+;)+) => {
        &[$($(ErrorCode {
            code: $code,
            status: StatusCode::$status,
            page: include_str!(concat!("../../../docs/errors/", $code, ".md")),
        },)+)+]
    };
}

/// AWS's codes keep their class: 400 for client errors, 500 for server errors. Codes that ARM clients distinguish by
/// status have that status (contract D20).
pub(crate) const CODES: &[ErrorCode] = codes! {
    BAD_REQUEST:
        "BadRequest" "CFNRegistryException" "ClientTokenConflictException" "GeneralServiceException"
        "HttpRequestPayloadAPISpecValidationFailed" "InvalidAction" "InvalidApiVersionParameter"
        "InvalidPlaneType" "InvalidRequest" "InvalidRequestException" "NotStabilizedException"
        "NotUpdatable" "NotUpdatableException" "PrivateTypeException" "RequestEntityTooLargeException"
        "RequestTokenNotFoundException" "SerializationException" "ServiceLimitExceeded"
        "ServiceLimitExceededException" "TypeNotFoundException" "UnknownOperationException"
        "UnsupportedActionException" "ValidationException";
    UNAUTHORIZED: "AuthenticationFailed";
    FORBIDDEN:
        "AccessDenied" "AccessDeniedException" "AccountMismatch" "AuthorizationFailed" "ExpiredToken"
        "ExpiredTokenException" "IncompleteSignature" "InvalidClientTokenId" "InvalidCredentials"
        "InvalidCredentialsException" "InvalidSignatureException" "MissingAuthenticationToken"
        "NotAuthorized" "OptInRequired" "QuotaExceeded" "RequestExpired" "RequestTimeTooSkewed" "SignatureDoesNotMatch"
        "UnauthorizedTaggingOperation" "UnrecognizedClientException";
    NOT_FOUND: "NotFound" "ResourceGroupNotFound" "ResourceNotFoundException";
    REQUEST_TIMEOUT: "RequestTimeout";
    CONFLICT:
        "AlreadyExists" "AlreadyExistsException" "ApplyFailed" "ApprovalRequired" "Canceled"
        "ConcurrentOperationException" "Conflict" "DependencyFailed"
        "IdentifierMismatch" "PartiallyApplied" "PlanMismatch" "PlanRequired" "RefactorAmbiguous" "RefactorFailed" "RefactorRefused" "RequiresReplacement" "ResourceConflict" "ResourceConflictException"
        "ResourceGroupDeletionBlocked";
    PRECONDITION_FAILED: "PreconditionFailed" "StalePlan";
    PAYLOAD_TOO_LARGE: "RequestEntityTooLarge";
    UNSUPPORTED_MEDIA_TYPE: "UnsupportedMediaType";
    TOO_MANY_REQUESTS:
        "RequestLimitExceeded" "Throttling" "ThrottlingException" "TooManyRequests"
        "TooManyRequestsException";
    INTERNAL_SERVER_ERROR:
        "ConcurrentModificationException" "HandlerFailureException" "HandlerInternalFailureException"
        "Abandoned" "Internal" "InternalFailure" "NetworkFailure" "NetworkFailureException" "NotStabilized"
        "OutcomeUnknown" "ServiceInternalError" "ServiceInternalErrorException" "ServiceTimeout"
        "ServiceUnavailableException";
    SERVICE_UNAVAILABLE: "ServiceUnavailable";
};

impl ErrorCode {
    /// Looks up a code by its exact spelling. AWS may return codes that are not listed.
    pub(crate) fn find(code: &str) -> Option<&'static Self> {
        CODES.iter().find(|known| known.code == code)
    }
}

/// The status of an error code. Unknown codes are 400.
pub fn status_of(code: &str) -> StatusCode {
    ErrorCode::find(code).map_or(StatusCode::BAD_REQUEST, |known| known.status)
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn every_code_of_ours_has_a_status_and_a_page() {
        for code in ucp_model::ErrorCode::ALL {
            assert!(ErrorCode::find(code.as_str()).is_some(), "{code}");
        }
    }

    #[test]
    fn every_page_is_of_a_code() {
        let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/errors");
        let files = std::fs::read_dir(folder).unwrap();
        let names = files.map(|file| file.unwrap().file_name().into_string().unwrap());
        let pages: BTreeSet<String> = names
            .filter(|name| name != "README.md" && name != "retry-classes.md")
            .collect();
        let codes = CODES.iter().map(|known| format!("{}.md", known.code));
        assert_eq!(pages, codes.collect());
        assert_eq!(pages.len(), CODES.len(), "each code once");
    }

    #[test]
    fn every_page_says_its_code_its_status_and_what_to_do() {
        for ErrorCode { code, status, page } in CODES {
            let heading = format!("# {code}\n\nStatus {}", status.as_u16());
            assert!(page.starts_with(&heading), "{code}: {page}");
            for part in ["**What happened.**", "**What ucp did.**", "**What to do.**"] {
                assert!(page.contains(part), "{code} lacks {part}");
            }
        }
    }

    /// The table at the end of the index has one row for each status.
    #[test]
    fn the_index_lists_every_code_under_its_status() {
        let (_, table) = INDEX.split_once("## Every code").unwrap();
        let mut listed = BTreeSet::new();
        for row in table.lines().filter(|line| line.starts_with("| ")).skip(1) {
            let (status, codes) = row.trim_matches(['|', ' ']).split_once(" | ").unwrap();
            for link in codes.split(", ") {
                let (code, _) = link.trim_start_matches("[`").split_once('`').unwrap();
                assert_eq!(link, format!("[`{code}`]({code}.md)"));
                listed.insert((code.to_owned(), status.to_owned()));
            }
        }
        let known = CODES.iter();
        let known = known.map(|known| (known.code.to_owned(), known.status.as_u16().to_string()));
        assert_eq!(listed, known.collect());
    }

    #[test]
    fn links_between_the_pages_lead_somewhere() {
        let pages = CODES.iter().map(|known| (known.code, known.page));
        let others = [("README", INDEX), ("retry-classes", RETRY_CLASSES)];
        for (code, page) in pages.chain(others) {
            for rest in page.split("](").skip(1) {
                let (target, _) = rest.split_once(')').unwrap();
                let is_page = target.strip_suffix(".md").is_some_and(|name| {
                    let is_other = others.iter().any(|(other, _)| *other == name);
                    is_other || ErrorCode::find(name).is_some()
                });
                // The end-to-end tests follow those from there.
                let above = [
                    "../limits.md",
                    "../how-to/access.md",
                    "../how-to/adopt.md#give-up",
                    "../how-to/refactor.md",
                ];
                let is_above = above.contains(&target);
                assert!(is_page || is_above, "{code} links to {target}");
            }
        }
    }

    #[test]
    fn a_code_that_nobody_knows_is_the_callers_fault() {
        assert_eq!(status_of("SomethingNewException"), StatusCode::BAD_REQUEST);
    }
}
