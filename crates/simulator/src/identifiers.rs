//! The styles of identifiers and ARNs that AWS assigns, from `data/identifiers.toml`, and the identifiers whose letter
//! case it does not keep, from `data/folded.toml`.

use std::collections::BTreeMap;
use std::sync::LazyLock;

use serde_json::Value;

/// The styles by type and property.
static STYLES: LazyLock<BTreeMap<String, BTreeMap<String, String>>> = LazyLock::new(|| {
    toml::from_str(include_str!("../data/identifiers.toml")).expect("a test parses the styles")
});

/// The style of a read-only property: a text with `{placeholders}`, as explained in `data/identifiers.toml`.
pub(crate) fn style(type_name: &str, property: &str) -> Option<&'static str> {
    STYLES.get(type_name)?.get(property).map(String::as_str)
}

/// The sources of the rules by type and property.
static FOLDED: LazyLock<BTreeMap<String, BTreeMap<String, String>>> = LazyLock::new(|| {
    toml::from_str(include_str!("../data/folded.toml")).expect("a test parses the rules")
});

/// Writes the parts of the identifier in `model` in lower case, if that is how AWS stores them.
pub(crate) fn fold(type_name: &str, model: &mut Value) {
    let properties = FOLDED.get(type_name).into_iter().flat_map(BTreeMap::keys);
    for property in properties {
        if let Some(Value::String(text)) = model.get_mut(property) {
            *text = text.to_lowercase();
        }
    }
}

#[cfg(test)]
mod tests {
    use ucp_schema::{Catalogue, Classes};

    use super::*;

    #[test]
    fn the_folded_identifiers_are_those_of_the_transforms_and_documented_ones() {
        let catalogue = Catalogue::embedded();
        let mut transformed = 0;
        for name in catalogue.type_names() {
            let schema = catalogue.get(name).unwrap();
            let transforms = schema.document().get("propertyTransform").cloned();
            for path in schema.primary_identifier() {
                let pointer = format!("/properties{}", path.pointer());
                let transform = transforms.as_ref().and_then(|all| all.get(&pointer));
                let is_lower = transform
                    .and_then(Value::as_str)
                    .is_some_and(|text| text.contains("$lowercase"));
                let is_declared = !schema.lists(Classes::READ_ONLY, &path.names());
                let rules = FOLDED.get(name.as_str());
                let rule = rules.and_then(|rules| rules.get(path.property()?));
                let is_from_transform = rule.is_some_and(|source| source == "propertyTransform");
                assert_eq!(
                    is_from_transform,
                    is_lower && is_declared,
                    "{name}{pointer}"
                );
                transformed += usize::from(is_from_transform);
            }
        }
        let rules = FOLDED.values().flat_map(BTreeMap::values);
        let documented = rules.filter(|source| source.contains(" API reference "));
        assert_eq!((transformed, documented.count()), (27, 5));
        assert_eq!(FOLDED.len(), 30, "types");
    }

    #[test]
    fn styles_are_found_by_type_and_property() {
        assert_eq!(style("AWS::EC2::VPC", "VpcId"), Some("vpc-{hex:17}"));
        assert_eq!(style("AWS::EC2::VPC", "CidrBlock"), None);
        assert_eq!(style("My::Own::Type", "VpcId"), None);
    }
}
