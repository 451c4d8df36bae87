use std::borrow::Cow;

use percent_encoding::{AsciiSet, CONTROLS, percent_decode_str, utf8_percent_encode};

/// Characters to escape in a segment of an id, besides controls and everything outside ASCII.
const SEGMENT: &AsciiSet = &CONTROLS
    .add(b' ')
    .add(b'"')
    .add(b'#')
    .add(b'%')
    .add(b'/')
    .add(b'<')
    .add(b'>')
    .add(b'?')
    .add(b'\\')
    .add(b'^')
    .add(b'`')
    .add(b'{')
    .add(b'}');

/// Percent-encodes one path segment of an id (`arn:aws:…/x` becomes `arn:aws:…%2Fx`).
pub fn encode_segment(segment: &str) -> String {
    utf8_percent_encode(segment, SEGMENT).to_string()
}

/// Decodes one path segment of an id, if it is UTF-8 without its escapes.
pub(super) fn decode_segment(segment: &str) -> Option<Cow<'_, str>> {
    percent_decode_str(segment).decode_utf8().ok()
}

/// Returns whether this is a dot segment, which clients remove from paths, escaped or not (RFC 3986, 5.2.4).
pub(super) fn is_dots(segment: &str) -> bool {
    matches!(segment, "." | "..")
}
