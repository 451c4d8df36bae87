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
}
