//! Names of users and groups.

use ucp_model::ids::is_misleading;

use crate::invalid::Invalid;

/// The maximum length of the name of a user or a group, in characters.
pub const PRINCIPAL_NAME_MAX_CHARS: usize = 256;

/// Checks the name of a user or a group.
pub fn judge_name(name: &str) -> Result<(), Invalid> {
    if name.is_empty() || name.chars().count() > PRINCIPAL_NAME_MAX_CHARS {
        return Err(Invalid(format!(
            "The name of a user or a group has 1 to {PRINCIPAL_NAME_MAX_CHARS} characters."
        )));
    }
    if name.contains(is_misleading) {
        return Err(Invalid(
            "The name of a user or a group contains a control character or a bidirectional one."
                .to_owned(),
        ));
    }
    Ok(())
}
