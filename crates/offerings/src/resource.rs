//! What an instance or a binding declares.

use std::fmt;
use std::sync::Arc;

use serde_json::{Map, Value};
use ucp_model::TypeName;
use ucp_schema::ResourceSchema;
use ucp_set::Expression;

use crate::context::Context;

/// A resource that an instance or a binding declares: a member of a set.
#[derive(Clone, PartialEq)]
pub struct Resource {
    /// Its name in the file.
    pub name: String,
    /// Its alias.
    pub alias: String,
    /// Its type.
    pub type_name: TypeName,
    /// Its properties, with the expressions of sets.
    pub properties: Map<String, Value>,
}

impl Resource {
    /// Returns whether it has a name of its own, so that another one of that name can only stand after it. A name that is put
    /// together or referred to when the order is carried out is one too. `schema` is that of its type.
    pub fn is_named(&self, schema: &ResourceSchema) -> bool {
        let text_for = |(name, value): (&String, &Value)| match Expression::read(value) {
            Some(Ok(Expression::Concat(_) | Expression::Reference(_))) => {
                (name.clone(), Value::from("name"))
            }
            Some(Ok(Expression::Unknown) | Err(_)) | None => (name.clone(), value.clone()),
        };
        let properties = Value::Object(self.properties.iter().map(text_for).collect());
        schema.is_named_in(&properties)
    }
}

impl fmt::Debug for Resource {
    /// Formats it without the properties, which may contain secrets.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Resource({} {})", self.type_name, self.alias)
    }
}

/// Whose resource it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Owner {
    Instance,
    Binding,
}

/// A resource as a file names it.
#[derive(Clone, Debug)]
pub(crate) struct Head {
    pub(crate) name: String,
    pub(crate) line: usize,
    pub(crate) owner: Owner,
    /// The type, or `None` if something is wrong with it.
    pub(crate) schema: Option<Arc<ResourceSchema>>,
}

impl Head {
    pub(crate) fn alias(&self, context: &Context) -> String {
        let instance = &context.instance_id;
        match (self.owner, &context.binding_id) {
            (Owner::Binding, Some(binding)) => format!("{instance}:{binding}:{}", self.name),
            (Owner::Binding, None) | (Owner::Instance, _) => format!("{instance}:{}", self.name),
        }
    }
}
