//! The regular expressions of schemas. They are written for several dialects and therefore matched leniently.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};

use fancy_regex::Regex;

/// The patterns of one schema, each compiled on first use.
#[derive(Debug, Default)]
pub struct Patterns(Mutex<BTreeMap<String, Option<Arc<Regex>>>>);

impl Patterns {
    /// Returns whether `text` matches. A pattern that our dialect cannot express matches everything.
    pub fn matches(&self, pattern: &str, text: &str) -> bool {
        let Some(regex) = self.compiled(pattern) else {
            return true;
        };
        // AWS uses Java, whose `$` also matches before a final line break.
        let without_line_break = text.strip_suffix('\n').unwrap_or(text);
        regex.is_match(text).unwrap_or(true) || regex.is_match(without_line_break).unwrap_or(true)
    }

    pub(crate) fn compiled(&self, pattern: &str) -> Option<Arc<Regex>> {
        let mut known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(regex) = known.get(pattern) {
            return regex.clone();
        }
        let regex = compile(pattern).map(Arc::new);
        known.insert(pattern.to_owned(), regex.clone());
        regex
    }
}

fn compile(pattern: &str) -> Option<Regex> {
    Regex::new(&in_our_dialect(pattern)).ok()
}

/// Translates a pattern to our dialect. `\d` and `\w` mean ASCII in the dialects that schemas are written for; in ours
/// they mean all of Unicode, which makes `\w{1,1024}` too large to compile. A `[` inside a class is literal. The end
/// of the text is `\z`.
pub fn in_our_dialect(pattern: &str) -> String {
    let mut translated = String::with_capacity(pattern.len());
    let mut in_class = false;
    let mut letters = pattern.chars();
    while let Some(letter) = letters.next() {
        match letter {
            '[' if in_class => translated.push('\\'),
            '[' => in_class = true,
            ']' => in_class = false,
            '\\' => {
                match (letters.next(), in_class) {
                    (Some('d'), true) => translated.push_str("0-9"),
                    (Some('d'), false) => translated.push_str("[0-9]"),
                    (Some('w'), true) => translated.push_str("A-Za-z0-9_"),
                    (Some('w'), false) => translated.push_str("[A-Za-z0-9_]"),
                    (Some('Z'), false) => translated.push_str(r"\z"),
                    (Some(escaped), _) => translated.extend(['\\', escaped]),
                    (None, _) => translated.push('\\'),
                }
                continue;
            }
            _ => {}
        }
        translated.push(letter);
    }
    translated
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn classes_are_ascii_and_the_end_is_the_end() {
        assert_eq!(
            in_our_dialect(r"^\w[\w-]\\d\[\d[[]\Z"),
            r"^[A-Za-z0-9_][A-Za-z0-9_-]\\d\[[0-9][\[]\z"
        );
    }

    #[test]
    fn matching_is_lenient_where_dialects_differ() {
        let patterns = Patterns::default();
        assert!(patterns.matches(r"^[\w-]{1,1024}$", "a-b"));
        assert!(!patterns.matches(r"^[\w-]{1,1024}$", "a b"));
        assert!(patterns.matches("^a$", "a\n"));
        assert!(patterns.matches("^(?!aws).*$", "a"));
        assert!(!patterns.matches("^(?!aws).*$", "aws:a"));
        assert!(patterns.matches("(unclosed", "anything"));
    }
}
