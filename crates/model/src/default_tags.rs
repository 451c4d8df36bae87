use std::collections::BTreeMap;

use crate::Mark;
use crate::excerpt::excerpt;
use crate::ids::is_misleading;

/// The maximum number of tags, and of default tags, of a request or a group: what AWS accepts on one resource.
pub const MAX_TAGS: usize = 50;
/// The maximum length of the key of a tag of an AWS resource, in characters. It is AWS's.
pub const TAG_KEY_MAX_CHARS: usize = 128;
/// The maximum length of the value of a tag of an AWS resource, in characters. It is AWS's.
pub const TAG_VALUE_MAX_CHARS: usize = 256;
/// How much of a key an error repeats, in characters.
const SHOWN_CHARS: usize = 60;

/// Tags that resources get without declaring them, from the server's configuration.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct DefaultTags {
    /// Tags for every account.
    pub everywhere: BTreeMap<String, String>,
    /// Tags for one account, by its twelve digits.
    pub by_account: BTreeMap<String, BTreeMap<String, String>>,
}

impl DefaultTags {
    /// Returns the tags for an account. Its own tags override those for every account.
    pub fn in_account(&self, account: &str) -> BTreeMap<String, String> {
        let mut tags = self.everywhere.clone();
        tags.extend(
            self.by_account
                .get(account)
                .into_iter()
                .flatten()
                .map(|(key, value)| (key.clone(), value.clone())),
        );
        tags
    }
}

/// The part of a tag that AWS would refuse, and why.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum TagError {
    /// The key is not valid.
    #[error(
        "`{0}` is not a valid tag key: it must have 1 to {max} characters and must not begin with `aws:`",
        max = TAG_KEY_MAX_CHARS
    )]
    Key(String),
    /// The key is that of the [mark](Mark) of a reference.
    #[error("`{0}` is the tag with which ucp marks what it creates; leave it out")]
    Mark(String),
    /// The key or the value has a letter that changes how the text around it is shown.
    #[error("the tag `{0}` has a control character, or one that changes the direction of text")]
    Letters(String),
    /// The value of this key is too long.
    #[error("the value of the tag `{0}` is longer than {max} characters", max = TAG_VALUE_MAX_CHARS)]
    Value(String),
}

/// Checks a tag against the rules that AWS applies to every resource.
pub fn valid_tag(key: &str, value: &str) -> Result<(), TagError> {
    let is_reserved = key
        .get(..4)
        .is_some_and(|prefix| prefix.eq_ignore_ascii_case("aws:"));
    if is_reserved || !(1..=TAG_KEY_MAX_CHARS).contains(&key.chars().count()) {
        return Err(TagError::Key(key.chars().take(SHOWN_CHARS).collect()));
    }
    if Mark::is_key(key) {
        return Err(TagError::Mark(key.to_owned()));
    }
    if key.contains(is_misleading) || value.contains(is_misleading) {
        return Err(TagError::Letters(excerpt(key)));
    }
    if value.chars().count() > TAG_VALUE_MAX_CHARS {
        return Err(TagError::Value(key.to_owned()));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tags(pairs: &[(&str, &str)]) -> BTreeMap<String, String> {
        let pairs = pairs.iter();
        pairs
            .map(|(key, value)| ((*key).to_owned(), (*value).to_owned()))
            .collect()
    }

    #[test]
    fn an_accounts_tags_win_over_the_servers_by_key() {
        let defaults = DefaultTags {
            everywhere: tags(&[("team", "platform"), ("env", "dev")]),
            by_account: [("123456789012".to_owned(), tags(&[("env", "prod")]))].into(),
        };
        assert_eq!(
            defaults.in_account("123456789012"),
            tags(&[("env", "prod"), ("team", "platform")])
        );
        assert_eq!(defaults.in_account("1"), defaults.everywhere);
    }

    #[test]
    fn aws_and_ucp_keep_keys_for_themselves() {
        assert_eq!(valid_tag("team", ""), Ok(()));
        for key in ["", "aws:x", "AWS:x", &"k".repeat(TAG_KEY_MAX_CHARS + 1)] {
            assert!(matches!(valid_tag(key, ""), Err(TagError::Key(_))));
        }
        for key in ["ucp:reference", "UCP:Reference"] {
            assert!(matches!(valid_tag(key, ""), Err(TagError::Mark(_))));
        }
        for letter in ["\u{1b}", "\u{9b}", "\n", "\u{202e}", "\u{2066}"] {
            for (key, value) in [(letter, ""), ("k", letter)] {
                let refused = valid_tag(key, value);
                assert!(
                    matches!(refused, Err(TagError::Letters(_))),
                    "{key:?} {value:?}"
                );
            }
        }
        let long = "v".repeat(TAG_VALUE_MAX_CHARS + 1);
        assert_eq!(valid_tag("k", &long), Err(TagError::Value("k".to_owned())));
    }
}
