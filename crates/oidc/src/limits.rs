//! What is limited of tokens.

use ucp_model::{Beyond, ErrorCode, Limit, Most};

use crate::token::TOKEN_BYTES;

/// The limits that this crate enforces and a caller can meet.
pub const LIMITS: &[Limit] = &[Limit {
    name: "oidc-token",
    what: "A token of the issuer that `--oidc-issuer` names",
    most: Most::Bytes(TOKEN_BYTES),
    beyond: Beyond::refused(401, ErrorCode::AuthenticationFailed),
}];
