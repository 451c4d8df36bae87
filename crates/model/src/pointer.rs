//! JSON Pointers (RFC 6901), on top of `jsonptr`.

use std::borrow::Cow;

pub use jsonptr::{Pointer, PointerBuf, Token};

/// Escapes `name` as one reference token: `a/b` becomes `a~1b`.
pub fn escape(name: &str) -> Cow<'_, str> {
    Token::new(name).into_encoded()
}

/// Unescapes a reference token: `a~1b` becomes `a/b`. An invalidly escaped token is returned unchanged.
pub fn unescape(token: &str) -> String {
    match Token::from_encoded(token) {
        Ok(token) => token.decoded().into_owned(),
        Err(_) => token.to_owned(),
    }
}

/// Returns the pointer to the member `name` of the value at `above`.
pub fn join(above: &str, name: &str) -> String {
    format!("{above}/{}", escape(name))
}

/// Returns whether `pointer` is `above` or a descendant of it.
pub fn is_within(pointer: &str, above: &str) -> bool {
    pointer
        .strip_prefix(above)
        .is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_escaped_and_read_back() {
        for (name, token) in [("a/b", "a~1b"), ("~1", "~01"), ("é", "é"), ("", "")] {
            assert_eq!(escape(name), token);
            assert_eq!(unescape(token), name);
            assert_eq!(join("/x", name), format!("/x/{token}"));
        }
        assert_eq!(unescape("a~2~"), "a~2~");
    }

    #[test]
    fn only_whole_tokens_are_above() {
        assert!(is_within("/A/B", "/A"));
        assert!(is_within("/A", "/A"));
        assert!(is_within("/A", ""));
        assert!(!is_within("/Ab", "/A"));
        assert!(!is_within("/A", "/A/B"));
    }
}
