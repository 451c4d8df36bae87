use std::fmt;

use sha2::{Digest as _, Sha256};

use crate::ReferenceId;

/// The mark of a reference on the AWS resource that was created for it: the value of the tag [`Mark::KEY`].
///
/// It depends on nothing but the id of the reference, so it is the same on every replica, and after the database was
/// lost. It is `{plane}/{group}/{digest}`. The names are for people; where AWS does not accept a character, there is a
/// `_` in its place. The digest, of the whole reference, is what tells two references apart.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Mark(String);

/// The longest names within a mark. The whole is then at most 128 characters: AWS accepts 256, some services less.
const PLANE_MAX: usize = 31;
const GROUP_MAX: usize = 63;
/// How many bytes of the digest there are.
const DIGEST_BYTES: usize = 16;

impl Mark {
    /// The key of the tag.
    pub const KEY: &str = "ucp:reference";

    /// Returns the mark of a reference.
    pub fn of(reference: &ReferenceId) -> Self {
        let key = reference.key();
        let digest = Sha256::digest(&key);
        let digest: String = digest[..DIGEST_BYTES]
            .iter()
            .map(|byte| format!("{byte:02x}"))
            .collect();
        let group = &reference.group;
        let plane = accepted(&group.plane, PLANE_MAX);
        let group = accepted(&group.folded_name(), GROUP_MAX);
        Self(format!("{plane}/{group}/{digest}"))
    }

    /// Returns whether `key` is the key of the tag. Some services do not distinguish the letter case of keys.
    pub fn is_key(key: &str) -> bool {
        key.eq_ignore_ascii_case(Self::KEY)
    }

    /// Returns the value of the tag.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for Mark {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// Returns `name` in the letters that the tags of every service accept, in lower case.
fn accepted(name: &str, length: usize) -> String {
    let letters = name.chars().take(length);
    letters
        .map(|letter| match letter {
            letter if letter.is_ascii_alphanumeric() => letter.to_ascii_lowercase(),
            '.' | '-' => letter,
            _ => '_',
        })
        .collect()
}

/// Whose mark a resource carries.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Ownership {
    /// None. It was not created for a reference, or its type has no tags.
    #[default]
    Unmarked,
    /// That of the operation's reference: it was created for it.
    Ours,
    /// This one, which is not that of the operation's reference.
    Others(String),
}

impl Ownership {
    /// Returns whose mark `found` is, for an operation on `reference`.
    pub fn of(found: Option<&str>, reference: Option<&ReferenceId>) -> Self {
        match found {
            None => Self::Unmarked,
            Some(found) if reference.is_some_and(|own| Mark::of(own).as_str() == found) => {
                Self::Ours
            }
            Some(found) => Self::Others(found.to_owned()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{GroupId, TypeName};

    fn mark(group: &str, alias: &str) -> String {
        let reference = ReferenceId {
            group: GroupId::new("Local", group).unwrap(),
            type_name: TypeName::from_cloudformation("AWS::EC2::VPC").unwrap(),
            alias: alias.to_owned(),
        };
        Mark::of(&reference).to_string()
    }

    /// A mark that changes would make every resource somebody else's.
    #[test]
    fn it_is_the_same_for_ever_and_in_every_letter_case() {
        let expected = "local/shop/c7c200ce024c3a842b16edb94329e0a9";
        assert_eq!(mark("shop", "main"), expected);
        assert_eq!(mark("SHOP", "Main"), expected);
        assert_ne!(mark("shop", "other"), expected);
    }

    #[test]
    fn a_group_of_any_script_gives_a_valid_tag_value() {
        let is_valid = |letter: char| letter.is_ascii_alphanumeric() || "_.:/=+@-".contains(letter);
        let long = "ж".repeat(90);
        for group in [
            "(a)",
            "группа",
            "资源组",
            "İstanbul",
            "a\u{308}b",
            long.as_str(),
        ] {
            let mark = mark(group, "main");
            assert!(mark.chars().all(is_valid), "{mark}");
            assert!(mark.len() <= 128, "{mark}");
        }
        // The names look alike, but the marks differ.
        assert_ne!(mark("(a)", "main"), mark("_a_", "main"));
    }

    #[test]
    fn a_mark_is_ours_only_for_our_own_reference() {
        let own = "/planes/radius/local/resourceGroups/shop/providers/AWS.EC2/VPC:reference/main";
        let own: ReferenceId = own.parse().unwrap();
        let mark = Mark::of(&own);
        assert_eq!(
            Ownership::of(Some(mark.as_str()), Some(&own)),
            Ownership::Ours
        );
        let others = Ownership::Others(mark.to_string());
        assert_eq!(Ownership::of(Some(mark.as_str()), None), others);
        assert_eq!(Ownership::of(None, Some(&own)), Ownership::Unmarked);
    }
}
