use percent_encoding::{AsciiSet, CONTROLS, utf8_percent_encode};

/// What must be escaped in the last segment of an id, besides controls and everything outside ASCII.
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

/// Percent-encodes one path segment the way ids carry it (`arn:aws:…/x` becomes `arn:aws:…%2Fx`).
pub fn encode_segment(segment: &str) -> String {
    utf8_percent_encode(segment, SEGMENT).to_string()
}

/// A segment that clients take out of paths before they send them, escaped or not (RFC 3986, 5.2.4).
pub(super) fn is_dots(segment: &str) -> bool {
    matches!(segment, "." | "..")
}
