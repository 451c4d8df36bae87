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

/// Returns the pointer with `*` for each index of a list, since elements move. A member whose name is a number counts as an element.
pub fn without_indexes(pointer: &str) -> String {
    let is_index =
        |token: &str| !token.is_empty() && token.bytes().all(|byte| byte.is_ascii_digit());
    let tokens = pointer.split('/');
    let tokens = tokens.map(|token| if is_index(token) { "*" } else { token });
    tokens.collect::<Vec<&str>>().join("/")
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
    fn elements_have_no_indexes() {
        assert_eq!(without_indexes("/A/0/b1/12"), "/A/*/b1/*");
        assert_eq!(without_indexes(""), "");
        assert_eq!(without_indexes("//1"), "//*");
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
