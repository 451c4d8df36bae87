//! The letters that a name must not have, in ids and in what is logged of them.

/// Returns whether a letter changes how the text around it is shown: control characters, bidirectional controls, and
/// separators of lines and paragraphs.
pub fn is_misleading(letter: char) -> bool {
    letter.is_control()
        || matches!(
            letter,
            '\u{61c}' | '\u{200e}' | '\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2066}'..='\u{2069}'
        )
}
