//! Addresses as users write them: `{group}/{type}/{alias}`, `{type}/{alias}`, or a tracking id. A type is `AWS.S3/Bucket` or
//! `AWS::S3::Bucket`.

use ucp_model::{GroupId, ReferenceId, TypeName};

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
            Base::Plane(plane) => read(text, plane, None),
            Base::Group(group) => read(text, &group.plane, Some(group)),
        }
    }

    /// Reads the name in a reference of a resource in `group`.
    pub(crate) fn name(&self, text: &str, group: &GroupId) -> Result<ReferenceId, String> {
        let plane = match self {
            Base::Plane(plane) => plane,
            Base::Group(group) => &group.plane,
        };
        read(text, plane, Some(group))
    }

    /// Reads a word of `exclude`.
    pub(crate) fn excluded(&self, text: &str) -> Result<Excluded, String> {
        let slashes = usize::from(!text.contains("::"));
        let is_type = text.matches('/').count() == slashes;
        match is_type {
            true => {
                let type_name = TypeName::parse(text).map_err(|error| format!("{error}."))?;
                Ok(Excluded::Type(type_name))
            }
            false => self.address(text).map(Excluded::Address),
        }
    }
}

fn read(text: &str, plane: &str, group: Option<&GroupId>) -> Result<ReferenceId, String> {
    if text.starts_with('/') {
        return text.parse().map_err(|error| format!("{error}."));
    }
    let segments: Vec<&str> = text.split('/').collect();
    let named = |name: &str| GroupId::new(plane, name).map_err(|error| format!("{error}."));
    let (group, type_name, alias) = match (&segments[..], group) {
        (&[name, type_name, alias], _) if type_name.contains("::") => (
            named(name)?,
            TypeName::from_cloudformation(type_name),
            alias,
        ),
        (&[type_name, alias], Some(group)) if type_name.contains("::") => (
            group.clone(),
            TypeName::from_cloudformation(type_name),
            alias,
        ),
        (&[name, namespace, resource, alias], _) => (
            named(name)?,
            TypeName::from_segments(namespace, resource),
            alias,
        ),
        (&[namespace, resource, alias], Some(group)) => (
            group.clone(),
            TypeName::from_segments(namespace, resource),
            alias,
        ),
        _ => {
            let short = group.map_or("", |_| ", or {type}/{alias} in the same group");
            return Err(format!(
                "'{}' is not an address. Write {{group}}/{{type}}/{{alias}}, as in web/AWS.S3/Bucket/logs, or a tracking id{short}.",
                ucp_model::excerpt(text)
            ));
        }
    };
    type_name
        .and_then(|type_name| ReferenceId::new(group, type_name, alias))
        .map_err(|error| format!("{error}."))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_are_of_the_plane_the_group_or_whole() {
        let group = GroupId::new("local", "web").unwrap();
        let plane = Base::Plane("local".to_owned());
        let of_group = Base::Group(group.clone());
        let whole =
            "/planes/radius/local/resourcegroups/web/providers/AWS.S3/Bucket:reference/logs";
        let address: ReferenceId = whole.parse().unwrap();
        for base in [&plane, &of_group] {
            assert_eq!(base.address(whole), Ok(address.clone()));
            assert_eq!(base.address("web/AWS.S3/Bucket/logs"), Ok(address.clone()));
            assert_eq!(base.name("AWS.S3/Bucket/logs", &group), Ok(address.clone()));
            let colons = base.address("web/AWS::S3::Bucket/logs");
            assert_eq!(colons, Ok(address.clone()));
            let colons = base.name("AWS::S3::Bucket/logs", &group);
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
