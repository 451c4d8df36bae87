/// Why a text is not a valid id.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct InvalidId(pub(super) String);

pub(super) fn invalid<T>(message: impl Into<String>) -> Result<T, InvalidId> {
    Err(InvalidId(message.into()))
}

/// Shortens and escapes a caller's text for an error message.
pub(super) fn excerpt(text: &str) -> String {
    let short: String = text.chars().take(80).flat_map(char::escape_debug).collect();
    if text.chars().count() > 80 {
        format!("{short}…")
    } else {
        short
    }
}
