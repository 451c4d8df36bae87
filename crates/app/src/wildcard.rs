/// A text in which each `*` stands for any characters.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Wildcard(String);

impl Wildcard {
    pub(crate) fn new(text: impl Into<String>) -> Self {
        Self(text.into())
    }

    pub(crate) fn matches(&self, text: &str) -> bool {
        let Some((first, rest)) = self.0.split_once('*') else {
            return self.0 == text;
        };
        let (middle, last) = rest.rsplit_once('*').unwrap_or(("", rest));
        let inner = text.strip_prefix(first);
        let Some(mut inner) = inner.and_then(|inner| inner.strip_suffix(last)) else {
            return false;
        };
        // The earliest place of each part leaves the most for the others.
        for part in middle.split('*') {
            let Some((_, after)) = inner.split_once(part) else {
                return false;
            };
            inner = after;
        }
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_star_stands_for_any_characters() {
        for (wildcard, text, expected) in [
            ("a", "a", true),
            ("a", "ab", false),
            ("a*", "ab", true),
            ("a*", "a", true),
            ("*", "", true),
            ("*b", "ab", true),
            ("*b", "ba", false),
            ("a*a", "a", false),
            ("a*a", "aa", true),
            ("a*b*c", "a-b-c", true),
            ("a*b*c", "a-c", false),
            ("a*b*b", "ab", false),
            ("a**c", "abc", true),
            ("*a*b*", "xbxaxbx", true),
            ("*a*b*", "xbxa", false),
        ] {
            let matches = Wildcard::new(wildcard).matches(text);
            assert_eq!(matches, expected, "{wildcard} {text}");
        }
    }
}
