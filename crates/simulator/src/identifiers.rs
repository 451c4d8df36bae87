//! How AWS writes the identifiers and ARNs that it assigns; `data/identifiers.toml` has the styles.

use std::collections::BTreeMap;
use std::sync::LazyLock;

/// Styles by property, by type.
static STYLES: LazyLock<BTreeMap<String, BTreeMap<String, String>>> = LazyLock::new(|| {
    toml::from_str(include_str!("../data/identifiers.toml")).expect("a test parses the styles")
});

/// The style of a property that AWS sets: a text with `{placeholders}`, which `data/identifiers.toml` explains.
pub(crate) fn style(type_name: &str, property: &str) -> Option<&'static str> {
    STYLES.get(type_name)?.get(property).map(String::as_str)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn styles_are_found_by_type_and_property() {
        assert_eq!(style("AWS::EC2::VPC", "VpcId"), Some("vpc-{hex:17}"));
        assert_eq!(style("AWS::EC2::VPC", "CidrBlock"), None);
        assert_eq!(style("My::Own::Type", "VpcId"), None);
    }
}
