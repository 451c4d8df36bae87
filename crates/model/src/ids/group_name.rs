//! Names of resource groups.

use unicase::UniCase;
use unicode_normalization::UnicodeNormalization;
use unicode_properties::{GeneralCategory, GeneralCategoryGroup, UnicodeGeneralCategory};

use super::invalid::{InvalidId, invalid};
use crate::excerpt::excerpt;

/// The maximum length of the name of a resource group, in characters. It is ARM's.
pub const GROUP_NAME_MAX_CHARS: usize = 90;

/// Checks the name of a resource group by ARM's rules and returns it in NFC. Control characters, bidirectional
/// controls, and marks that NFC does not join to a letter are neither letters nor digits.
pub(super) fn group_name(name: &str) -> Result<String, InvalidId> {
    let composed: String = name.nfc().take(GROUP_NAME_MAX_CHARS + 1).collect();
    let fits = (1..=GROUP_NAME_MAX_CHARS).contains(&composed.chars().count())
        && composed.chars().all(is_allowed)
        && !composed.ends_with('.');
    if fits {
        return Ok(composed);
    }
    invalid(format!(
        "'{}' is not a resource group name: 1 to {GROUP_NAME_MAX_CHARS} letters and digits of any script, \
         underscores, periods, parentheses and hyphens, not ending with a period",
        excerpt(name)
    ))
}

fn is_allowed(character: char) -> bool {
    matches!(character, '_' | '.' | '(' | ')' | '-')
        || character.general_category_group() == GeneralCategoryGroup::Letter
        || character.general_category() == GeneralCategory::DecimalNumber
}

/// Folds the letter case of a name. Unicode guarantees that the result does not change with its later versions, so it
/// may be stored.
pub(super) fn folded(name: &str) -> String {
    UniCase::new(name).to_folded_case().nfc().collect()
}
