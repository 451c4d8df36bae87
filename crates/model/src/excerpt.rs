/// How much a message repeats of a text that a client sent, in characters.
const EXCERPT_MAX_CHARS: usize = 80;

/// Shortens and escapes a text that a client sent, for a message.
pub fn excerpt(text: &str) -> String {
    let mut chars = text.chars();
    let start = chars.by_ref().take(EXCERPT_MAX_CHARS);
    let start: String = start.flat_map(char::escape_debug).collect();
    match chars.next() {
        Some(_) => format!("{start}…"),
        None => start,
    }
}
