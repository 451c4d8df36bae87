//! The letters that a name must not have, in ids and in what is logged of them.

use std::borrow::Cow;

/// Returns whether a letter changes how the text around it is shown: control characters, bidirectional controls, and
/// separators of lines and paragraphs.
pub fn is_misleading(letter: char) -> bool {
    letter.is_control()
        || matches!(
            letter,
            '\u{61c}' | '\u{200e}' | '\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2066}'..='\u{2069}'
        )
}

/// Escapes the letters that control a terminal or change how the text around them is shown.
pub fn readable(text: &str) -> Cow<'_, str> {
    if !text.contains(is_misleading) {
        return Cow::Borrowed(text);
    }
    let mut readable = String::with_capacity(text.len());
    for letter in text.chars() {
        if is_misleading(letter) {
            readable.extend(letter.escape_unicode())
        } else {
            readable.push(letter)
        }
    }
    Cow::Owned(readable)
}
