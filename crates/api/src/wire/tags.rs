use std::collections::BTreeMap;

use serde_json::Value;
use ucp_model::ids::is_misleading;
use ucp_model::{MAX_TAGS, TAG_VALUE_MAX_CHARS, excerpt};

use crate::validation::Violations;

/// The maximum length of the key of a tag of a plane, a group or a credential, in characters. It is ARM's.
pub(crate) const TAG_KEY_MAX_CHARS: usize = 512;

/// Reads the tags of a plane, a group or a credential.
pub(super) fn tags(
    path: &str,
    value: Option<&Value>,
    violations: &mut Violations,
) -> BTreeMap<String, String> {
    let tags = violations.texts(path, value);
    judge_tags(path, &tags, TAG_KEY_MAX_CHARS, violations);
    tags
}

/// Refuses more tags than are accepted, longer keys than `key_max`, and values that are too long.
pub(super) fn judge_tags(
    path: &str,
    tags: &BTreeMap<String, String>,
    key_max: usize,
    violations: &mut Violations,
) {
    let given = tags.len();
    if given > MAX_TAGS {
        violations.property(
            path,
            &format!(
                "has {given} tags, and at most {MAX_TAGS} are accepted, as on an AWS resource"
            ),
        );
    }
    let is_longer = |text: &str, most: usize| text.chars().nth(most).is_some();
    for (key, value) in tags {
        let path = format!("{path}['{}']", excerpt(key));
        if is_longer(key, key_max) {
            violations.property(
                &path,
                &format!("has a key of more than {key_max} characters"),
            );
        }
        if key.contains(is_misleading) || value.contains(is_misleading) {
            violations.property(
                &path,
                "has a control character, or one that changes the direction of text",
            );
        }
        if is_longer(value, TAG_VALUE_MAX_CHARS) {
            let what = format!("has more than {TAG_VALUE_MAX_CHARS} characters");
            violations.property(&path, &what);
        }
    }
}
