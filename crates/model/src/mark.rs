use std::fmt;

use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};

use crate::{Lineage, OperationId};

/// The mark of a reference on the AWS resource that was created for it: the value of the tag [`Mark::KEY`].
///
/// It depends on nothing but the lineage of the reference, so it is the same on every replica, and stays as it is when the
/// reference is moved. It is `{plane}/{group}/{digest}`. The names, of the place where the reference was first claimed, are
/// for people; where AWS does not accept a character, there is a `_` in its place. The digest, of the whole lineage, is what
/// tells two references apart.
///
/// What a create puts on is followed by `/{creation}`: it tells what this create has made from what an earlier one did.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Mark(String);

/// The longest names within a mark. The whole is then at most 128 characters: AWS accepts 256, some services less.
const PLANE_MAX: usize = 24;
const GROUP_MAX: usize = 52;
/// How many bytes of the digest there are.
const DIGEST_BYTES: usize = 16;

/// The operation that creates a resource, in a form short enough for a tag.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Creation(u64);

impl Creation {
    /// Returns that of an operation. Of its random bits, sixty-two are enough to tell the creates of one reference apart.
    pub fn by(operation: OperationId) -> Self {
        Self(operation.0.as_u64_pair().1)
    }
}

impl Mark {
    /// The key of the tag.
    pub const KEY: &str = "ucp:reference";

    /// Returns the mark of a reference of this lineage.
    pub fn of(lineage: &Lineage) -> Self {
        let digest = Sha256::digest(lineage.as_str());
        let digest: String = digest[..DIGEST_BYTES]
            .iter()
            .map(|byte| format!("{byte:02x}"))
            .collect();
        let (plane, group) = lineage.birthplace();
        let plane = accepted(plane, PLANE_MAX);
        let group = accepted(group, GROUP_MAX);
        Self(format!("{plane}/{group}/{digest}"))
    }

    /// Returns the mark that a create puts on what it makes for a reference.
    pub fn of_create(lineage: &Lineage, Creation(operation): Creation) -> Self {
        Self(format!("{}/{operation:016x}", Self::of(lineage)))
    }

    /// Returns whether `found` is this mark of a reference, whichever create has put it on.
    fn is_in(&self, found: &str) -> bool {
        let rest = found.strip_prefix(self.as_str());
        rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
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
    /// That of the operation's reference: it was created for it, by another operation or by one that is not known.
    Ours,
    /// What this operation's create puts on: it has made it.
    Made,
    /// Another one. It names the resource group of its reference, so no message repeats it.
    Others,
}

impl Ownership {
    /// Returns whose mark `found` is, for an operation on a reference of the lineage `own`, whose creates have `creation` in
    /// their mark.
    pub fn of(found: Option<&str>, own: Option<&Lineage>, creation: Option<Creation>) -> Self {
        match (found, own) {
            (None, _) => Self::Unmarked,
            (Some(found), Some(own)) if Mark::of(own).is_in(found) => {
                let made = creation.map(|creation| Mark::of_create(own, creation));
                if made.is_some_and(|made| made.as_str() == found) {
                    Self::Made
                } else {
                    Self::Ours
                }
            }
            (Some(_), _) => Self::Others,
        }
    }

    /// Returns whether it is the mark of the operation's reference, whichever create has put it on.
    pub fn is_ours(&self) -> bool {
        match self {
            Self::Ours | Self::Made => true,
            Self::Unmarked | Self::Others => false,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{GroupId, ReferenceId, TypeName};

    fn mark(group: &str, alias: &str) -> String {
        let reference = ReferenceId {
            group: GroupId::new("Local", group).unwrap(),
            type_name: TypeName::from_cloudformation("AWS::EC2::VPC").unwrap(),
            alias: alias.to_owned(),
        };
        Mark::of(&Lineage::of(&reference)).to_string()
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
            assert!(mark.len() + "/0123456789abcdef".len() <= 128, "{mark}");
        }
        // The names look alike, but the marks differ.
        assert_ne!(mark("(a)", "main"), mark("_a_", "main"));
    }

    #[test]
    fn a_mark_is_ours_only_for_our_own_reference() {
        let own = "/planes/radius/local/resourceGroups/shop/providers/AWS.EC2/VPC:reference/main";
        let own: ReferenceId = own.parse().unwrap();
        let own = Lineage::of(&own);
        let mark = Mark::of(&own);
        let this = Some(Creation(7));
        let of = |found: &str, own| Ownership::of(Some(found), own, this);
        assert_eq!(of(mark.as_str(), Some(&own)), Ownership::Ours);
        let created = Mark::of_create(&own, Creation(7)).to_string();
        assert_eq!(created, format!("{mark}/0000000000000007"));
        assert_eq!(of(&created, Some(&own)), Ownership::Made);
        assert_eq!(of(&format!("{mark}0"), Some(&own)), Ownership::Others);
        assert_eq!(of(mark.as_str(), None), Ownership::Others);
        assert_eq!(Ownership::of(None, Some(&own), this), Ownership::Unmarked);
        // What another operation's create has made, and what an operation sees that does not know its own.
        let other = Mark::of_create(&own, Creation(8)).to_string();
        assert_eq!(of(&other, Some(&own)), Ownership::Ours);
        let unknown = Ownership::of(Some(&created), Some(&own), None);
        assert_eq!(unknown, Ownership::Ours);
        assert!(unknown.is_ours() && Ownership::Made.is_ours());
        assert!(!Ownership::Others.is_ours() && !Ownership::Unmarked.is_ours());
    }

    #[test]
    fn a_reference_that_is_claimed_where_another_began_has_another_mark() {
        let id = "/planes/radius/local/resourceGroups/shop/providers/AWS.EC2/VPC:reference/main";
        let id: ReferenceId = id.parse().unwrap();
        let first = Lineage::of(&id);
        let second = Lineage::drawn(&id, OperationId(uuid::Uuid::from_u128(7)));
        let mark = Mark::of(&second);
        assert!(mark.as_str().starts_with("local/shop/"), "{mark}");
        assert_eq!(
            Ownership::of(Some(mark.as_str()), Some(&first), None),
            Ownership::Others
        );
        let of_first = Mark::of(&first).to_string();
        assert_eq!(
            Ownership::of(Some(&of_first), Some(&second), None),
            Ownership::Others
        );
    }
}
