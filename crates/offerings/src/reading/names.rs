//! Ids and names.

use ucp_model::excerpt;

use crate::limits::NAME_MAX_CHARS;
use crate::problem::Problems;

/// Returns an id, and tells if it is none.
pub(super) fn id(found: Option<(&str, usize)>, problems: &mut Problems) -> Option<(String, usize)> {
    let (text, line) = found?;
    let is_letter = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'.' | b'_' | b'-');
    let is_right = text.len() <= NAME_MAX_CHARS && text.bytes().all(is_letter);
    if !is_right {
        let message = format!(
            "`{}` is not an id: 1 to {NAME_MAX_CHARS} letters, digits, periods, _ and -",
            excerpt(text)
        );
        problems.add(line, message);
    }
    is_right.then(|| (text.to_owned(), line))
}

/// Returns a name that people type, and tells if it is none.
pub(super) fn name(
    found: Option<(&str, usize)>,
    problems: &mut Problems,
) -> Option<(String, usize)> {
    let (text, line) = found?;
    let is_letter = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'.' | b'-');
    let is_right = text.len() <= NAME_MAX_CHARS && text.bytes().all(is_letter);
    if !is_right {
        let message = format!(
            "`{}` is not a name: 1 to {NAME_MAX_CHARS} letters, digits, periods and -",
            excerpt(text)
        );
        problems.add(line, message);
    }
    is_right.then(|| (text.to_owned(), line))
}
