//! [Addresses](ucp_set::address) in the body of a refactor.

use ucp_model::{ReferenceId, TypeName};
use ucp_set::address;

use crate::body::Base;

/// What is excluded by one word.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Excluded {
    /// Every resource of a type.
    Type(TypeName),
    /// The resources at an old or a new address.
    Address(ReferenceId),
}

impl Base {
    /// Reads an address in `moves`, `exclude` or `history`.
    pub(crate) fn address(&self, text: &str) -> Result<ReferenceId, String> {
        match self {
            Base::Plane(plane) => address(text, plane, None),
            Base::Group(group) => address(text, &group.plane, Some(group)),
        }
    }

    /// Returns the radius plane.
    pub(crate) fn plane(&self) -> &str {
        match self {
            Base::Plane(plane) => plane,
            Base::Group(group) => &group.plane,
        }
    }

    /// Reads a word of `exclude`.
    pub(crate) fn excluded(&self, text: &str) -> Result<Excluded, String> {
        let slashes = usize::from(!text.contains("::"));
        let is_type = text.matches('/').count() == slashes;
        if is_type {
            let type_name = TypeName::parse(text).map_err(|error| format!("{error}."))?;
            Ok(Excluded::Type(type_name))
        } else {
            self.address(text).map(Excluded::Address)
        }
    }
}

/// Returns an address as users write it.
pub(crate) fn in_words(id: &ReferenceId) -> String {
    format!("{}/{}/{}", id.group.name, id.type_name.arm(), id.alias)
}

#[cfg(test)]
mod tests {
    use ucp_model::GroupId;

    use super::*;

    #[test]
    fn addresses_are_of_the_plane_the_group_or_whole() {
        let group = GroupId::new("local", "web").unwrap();
        let plane = Base::Plane("local".to_owned());
        let of_group = Base::Group(group);
        let whole =
            "/planes/radius/local/resourcegroups/web/providers/AWS.S3/Bucket:reference/logs";
        let address: ReferenceId = whole.parse().unwrap();
        for base in [&plane, &of_group] {
            assert_eq!(base.address(whole), Ok(address.clone()));
            assert_eq!(base.address("web/AWS.S3/Bucket/logs"), Ok(address.clone()));
            let colons = base.address("web/AWS::S3::Bucket/logs");
            assert_eq!(colons, Ok(address.clone()));
        }
        for short in ["AWS.S3/Bucket/logs", "AWS::S3::Bucket/logs"] {
            assert_eq!(of_group.address(short), Ok(address.clone()));
        }
        for wrong in [
            "",
            "logs",
            "AWS.S3/Bucket",
            "AWS.S3/Bucket/logs",
            "AWS::S3::Bucket/logs",
            "AWS::S3::Bucket",
            "a/AWS::S3/logs",
            "a/b/c/d",
            "a/AWS.S3/Bucket/x/y",
            "/planes/x",
        ] {
            assert!(plane.address(wrong).is_err(), "{wrong}");
        }
        assert!(of_group.address("Bucket/logs").is_err());
    }

    #[test]
    fn a_type_or_an_address_is_excluded() {
        let plane = Base::Plane("local".to_owned());
        let version = TypeName::parse("AWS::Lambda::Version").unwrap();
        assert_eq!(
            plane.excluded("AWS.Lambda/Version"),
            Ok(Excluded::Type(version.clone()))
        );
        assert_eq!(
            plane.excluded("AWS::Lambda::Version"),
            Ok(Excluded::Type(version))
        );
        let address = plane.address("web/AWS.S3/Bucket/logs").unwrap();
        assert_eq!(
            plane.excluded("web/AWS.S3/Bucket/logs"),
            Ok(Excluded::Address(address.clone()))
        );
        assert_eq!(
            plane.excluded("web/AWS::S3::Bucket/logs"),
            Ok(Excluded::Address(address))
        );
        assert!(plane.excluded("Lambda/Version").is_err());
    }
}
