use ucp_model::{OperationId, Register};

/// The keys of a page of a list: those between `start` and `end`, both excluded.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KeyRange {
    /// The key before the first one.
    pub start: String,
    /// The key after the last one.
    pub end: String,
}

impl KeyRange {
    /// Returns the range of the keys that begin with `parent` and a slash, and come after the key `after`.
    pub fn below(parent: &str, after: Option<String>) -> Self {
        let start = format!("{parent}/");
        Self {
            // A zero is what follows a slash.
            end: format!("{parent}0"),
            start: after.filter(|after| *after > start).unwrap_or(start),
        }
    }

    /// Returns the range of the leftovers of a register that come after the one named `after`.
    pub fn below_register(register: &Register, after: Option<OperationId>) -> Self {
        let parent = register.keys();
        let after = after.map(|name| format!("{parent}/{name}"));
        Self::below(&parent, after)
    }

    /// Returns whether it can have keys. A page after a key of another list may not.
    pub fn is_possible(&self) -> bool {
        self.start < self.end
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_has_the_children_and_nothing_beside_them() {
        let range = KeyRange::below("/a/b", None);
        let has = |key: &str| *key > *range.start && *key < *range.end;
        assert!(has("/a/b/c") && has("/a/b/\u{10ffff}") && has("/a/b/c/d"));
        assert!(!has("/a/b") && !has("/a/b/") && !has("/a/b-c/d") && !has("/a/b0") && !has("/a/c"));
        let rest = KeyRange::below("/a/b", Some("/a/b/c".to_owned()));
        assert_eq!(rest.start, "/a/b/c");
        let all = KeyRange::below("/a/b", Some("/a".to_owned()));
        assert_eq!(all, range);
        assert!(!KeyRange::below("/a/b", Some("/z".to_owned())).is_possible());
    }
}
