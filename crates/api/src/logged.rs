//! What is logged of a request's head. A client sends it, so it is bounded, and shown as what it is.

use axum::http::HeaderMap;

/// The maximum length of a logged method or path, in characters. Escapes count as one.
pub(crate) const CHARS_MAX: usize = 512;
/// The header of W3C Trace Context.
const TRACEPARENT: &str = "traceparent";
/// The length of a `traceparent` of version 00, in bytes. Later versions may be longer.
const TRACEPARENT_BYTES: usize = 55;

/// Shortens a text, and escapes what does not show as itself.
pub(crate) fn shown(text: &str) -> String {
    let mut letters = text.chars();
    let start = letters.by_ref().take(CHARS_MAX);
    let mut shown: String = start.flat_map(char::escape_debug).collect();
    if letters.next().is_some() {
        shown.push('…');
    }
    shown
}

/// Returns the caller's trace, if there is one header and it follows the grammar of W3C Trace Context. Of a later
/// version, it is what version 00 has too.
pub(crate) fn traceparent(headers: &HeaderMap) -> Option<&str> {
    let mut given = headers.get_all(TRACEPARENT).iter();
    let (only, None) = (given.next()?, given.next()) else {
        return None;
    };
    let text = only.to_str().ok()?;
    let (known, later) = text.split_at_checked(TRACEPARENT_BYTES)?;
    let mut fields = known.split('-');
    let (version, trace, parent, flags) = (
        fields.next()?,
        fields.next()?,
        fields.next()?,
        fields.next()?,
    );
    let is_hex = |field: &str, length: usize| {
        let is_digit = |byte: u8| byte.is_ascii_digit() || (b'a'..=b'f').contains(&byte);
        field.len() == length && field.bytes().all(is_digit)
    };
    let is_set = |field: &str| field.bytes().any(|byte| byte != b'0');
    let follows = is_hex(version, 2)
        && version != "ff"
        && (is_hex(trace, 32) && is_set(trace))
        && (is_hex(parent, 16) && is_set(parent))
        && is_hex(flags, 2)
        && (later.is_empty() || (version != "00" && later.starts_with('-')));
    follows.then_some(known)
}

#[cfg(test)]
mod tests {
    use axum::http::HeaderValue;

    use super::*;

    const GIVEN: &str = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";

    fn logged(given: &[&str]) -> Option<String> {
        let mut headers = HeaderMap::new();
        for given in given {
            headers.append(TRACEPARENT, HeaderValue::from_str(given).unwrap());
        }
        traceparent(&headers).map(str::to_owned)
    }

    #[test]
    fn a_trace_is_what_the_grammar_says() {
        assert_eq!(logged(&[GIVEN]).as_deref(), Some(GIVEN));
        let later = GIVEN.replacen("00", "cc", 1);
        assert_eq!(logged(&[&later]).as_ref(), Some(&later));
        let longer = format!("{later}-{}", "x".repeat(10_000));
        assert_eq!(logged(&[&longer]), Some(later), "only what is known of it");
        for wrong in [
            String::new(),
            "x".repeat(60_000),
            format!("{GIVEN}-00"),
            format!("{GIVEN}0"),
            GIVEN.replacen("00", "ff", 1),
            GIVEN.replacen("00", "0x", 1),
            GIVEN.to_uppercase(),
            GIVEN.replace("0af7651916cd43dd8448eb211c80319c", &"0".repeat(32)),
            GIVEN.replace("b7ad6b7169203331", &"0".repeat(16)),
            GIVEN.replace('-', "_"),
        ] {
            assert_eq!(logged(&[&wrong]), None, "{wrong}");
        }
        assert_eq!(logged(&[]), None);
        assert_eq!(logged(&[GIVEN, GIVEN]), None);
    }

    #[test]
    fn a_path_is_bounded_and_shows_what_it_has() {
        assert_eq!(shown("/planes/aws%20"), "/planes/aws%20");
        let long = "a".repeat(CHARS_MAX);
        assert_eq!(shown(&long), long);
        assert_eq!(shown(&format!("{long}a")), format!("{long}…"));
        assert_eq!(shown("/a\u{202e}b\u{85}"), "/a\\u{202e}b\\u{85}");
    }
}
