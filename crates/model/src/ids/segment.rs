use percent_encoding::{AsciiSet, CONTROLS, utf8_percent_encode};

/// Characters to escape in the last segment of an id, besides controls and everything outside ASCII.
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

/// Returns whether this is a dot segment, which clients remove from paths, escaped or not (RFC 3986, 5.2.4).
pub(super) fn is_dots(segment: &str) -> bool {
    matches!(segment, "." | "..")
}
