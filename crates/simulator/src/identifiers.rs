//! The styles of identifiers and ARNs that AWS assigns, from `data/identifiers.toml`.

use std::collections::BTreeMap;
use std::sync::LazyLock;

/// The styles by type and property.
static STYLES: LazyLock<BTreeMap<String, BTreeMap<String, String>>> = LazyLock::new(|| {
    toml::from_str(include_str!("../data/identifiers.toml")).expect("a test parses the styles")
});

/// The style of a read-only property: a text with `{placeholders}`, as explained in `data/identifiers.toml`.
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
