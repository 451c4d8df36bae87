use ucp_model::{GroupId, InstanceId, OperationId, Register};

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

    /// Returns the range of the aliases in a group that begin with the prefix of an instance, each with the key of the group and a
    /// slash before it. Here the start is one of them.
    pub fn of_instance(group: &GroupId, instance: &InstanceId) -> Self {
        let prefix = instance.alias_prefix().to_lowercase();
        let start = format!("{}/{prefix}", group.key());
        // A semicolon is what follows a colon.
        let end = match start.strip_suffix(':') {
            Some(before) => format!("{before};"),
            None => format!("{start}\u{10ffff}"),
        };
        Self { start, end }
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

    #[test]
    fn an_instance_has_the_aliases_that_begin_with_its_id() {
        let instance = InstanceId {
            platform: "cf".to_owned(),
            instance: "One".to_owned(),
        };
        let range = KeyRange::of_instance(&GroupId::new("Local", "RG").unwrap(), &instance);
        let has = |alias: &str| {
            let key = format!("/planes/radius/local/resourcegroups/rg/{alias}");
            *key >= *range.start && *key < *range.end
        };
        assert!(has("one:") && has("one:a") && has("one:b:\u{10ffff}"));
        assert!(!has("one") && !has("one;") && !has("one9:a") && !has("two:a"));
    }
}
