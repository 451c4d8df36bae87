use serde_json::Value;
use ucp_schema::Classes;

use super::resource::{Resource, ResourceKey};

/// The values with which other resources refer to a resource.
pub(super) struct Names<'a> {
    /// Values that refer to it in any property: its ARNs, and its identifier if AWS assigns it.
    unique: Vec<&'a str>,
    /// A name that the user chose. It refers to the resource in properties whose names contain the noun.
    chosen: &'a str,
    /// What a resource of the type is called, in lower case: `cluster`.
    noun: String,
}

impl<'a> Names<'a> {
    /// Returns the names of a resource.
    pub(super) fn of((_, key): &'a ResourceKey, resource: &'a Resource) -> Self {
        let schema = &resource.resource_type.schema;
        let mut identifier = schema.primary_identifier().iter();
        let is_assigned = identifier.all(|path| schema.lists(Classes::READ_ONLY, &path.names()));
        let members = resource.model.as_object().into_iter().flatten();
        let arns = members
            .filter(|(name, _)| schema.lists(Classes::READ_ONLY, &[name]))
            .filter_map(|(_, value)| value.as_str())
            .filter(|text| text.starts_with("arn:"));
        Self {
            unique: arns.chain(is_assigned.then_some(key.as_str())).collect(),
            chosen: key,
            noun: schema.type_name().resource().to_ascii_lowercase(),
        }
    }

    /// Whether a value, which is that of `property`, refers to the resource.
    pub(super) fn are_in(&self, property: &str, value: &Value) -> bool {
        match value {
            Value::String(text) => {
                self.unique.contains(&text.as_str())
                    || (text == self.chosen && property.to_ascii_lowercase().contains(&self.noun))
            }
            Value::Array(items) => items.iter().any(|item| self.are_in(property, item)),
            Value::Object(members) => members
                .iter()
                .any(|(property, member)| self.are_in(property, member)),
            Value::Null | Value::Bool(_) | Value::Number(_) => false,
        }
    }
}
