//! JSON Pointers (RFC 6901), on top of `jsonptr`.

use std::borrow::Cow;

pub use jsonptr::{Pointer, PointerBuf, Token};

/// `name` as one reference token: `a/b` as `a~1b`.
pub fn escape(name: &str) -> Cow<'_, str> {
    Token::new(name).into_encoded()
}

/// The name that a reference token stands for: `a~1b` as `a/b`. A token that is not well escaped stands for itself.
pub fn unescape(token: &str) -> String {
    match Token::from_encoded(token) {
        Ok(token) => token.decoded().into_owned(),
        Err(_) => token.to_owned(),
    }
}

/// The pointer to the member `name` of what `above` points to.
pub fn join(above: &str, name: &str) -> String {
    format!("{above}/{}", escape(name))
}

/// Whether `pointer` leads to the same place as `above`, or below it.
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
