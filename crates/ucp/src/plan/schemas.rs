use std::collections::HashMap;
use std::sync::Arc;

use ucp_model::TypeName;
use ucp_schema::{Catalogue, ResourceSchema};

use super::problem::Problem;

/// The maximum number of kept schemas. Beyond it, all are parsed anew.
const MOST_GIVEN: usize = 256;
/// The maximum length of the kept schemas together, in bytes.
const MOST_GIVEN_BYTES: usize = 32 * 1024 * 1024;

/// The known schemas, and a cache of those given in lines, since many lines may give the same one.
pub(super) struct Schemas {
    catalogue: Catalogue,
    given: HashMap<Box<str>, Arc<ResourceSchema>>,
    given_bytes: usize,
}

impl Schemas {
    pub(super) fn new(catalogue: Catalogue) -> Self {
        Self {
            catalogue,
            given: HashMap::new(),
            given_bytes: 0,
        }
    }

    /// Returns the known schema of a type, whose name may be in any letter case.
    pub(super) fn known(&self, type_name: &TypeName) -> Result<Arc<ResourceSchema>, Problem> {
        self.catalogue.get(type_name).ok_or_else(|| {
            let mut message = format!("{type_name} is not a resource type that ucp knows");
            if let Some(meant) = self.catalogue.suggest(type_name) {
                message.push_str(&format!("; did you mean {meant}?"));
            }
            Problem::UnknownType(message)
        })
    }

    /// Parses a given schema, or returns it from the cache.
    pub(super) fn given(&mut self, text: &str) -> Result<Arc<ResourceSchema>, Problem> {
        if let Some(schema) = self.given.get(text) {
            return Ok(Arc::clone(schema));
        }
        let schema = ResourceSchema::parse(text)
            .map_err(|error| Problem::InvalidSchema(ucp_model::chain(&error)))?;
        let schema = Arc::new(schema);
        if self.given.len() >= MOST_GIVEN || self.given_bytes + text.len() > MOST_GIVEN_BYTES {
            self.given.clear();
            self.given_bytes = 0;
        }
        self.given.insert(text.into(), Arc::clone(&schema));
        self.given_bytes += text.len();
        Ok(schema)
    }
}
