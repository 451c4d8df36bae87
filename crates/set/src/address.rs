//! Addresses as users write them.

use ucp_model::{GroupId, ReferenceId, TypeName};

/// Reads the address of a resource, as users write it: `{group}/{type}/{alias}`, with a group also `{type}/{alias}`, or a tracking id. A
/// type is `AWS.S3/Bucket` or `AWS::S3::Bucket`. Fails with what is wrong with it.
pub fn address(text: &str, plane: &str, group: Option<&GroupId>) -> Result<ReferenceId, String> {
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
