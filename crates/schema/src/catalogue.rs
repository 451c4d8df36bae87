use std::collections::BTreeMap;
use std::sync::{Arc, LazyLock, Mutex, PoisonError, Weak};

use ucp_model::TypeName;

use crate::{RecentSchemas, ResourceSchema, SchemaError, embedded, spelling};

/// The known resource types. Cheap to clone: clones share the schemas and their compiled forms.
#[derive(Clone)]
pub struct Catalogue {
    /// The entries by lower-case type name.
    entries: Arc<BTreeMap<String, Arc<Entry>>>,
    recent: Arc<RecentSchemas>,
}

struct Entry {
    name: TypeName,
    schema: Known,
}

/// The schema of a type.
enum Known {
    /// It was added.
    Added(Arc<ResourceSchema>),
    /// It is parsed from an embedded text when it is used, unless it was lately.
    Embedded(&'static str, Mutex<Weak<ResourceSchema>>),
}

static EMBEDDED: LazyLock<Catalogue> = LazyLock::new(|| {
    let entry = |(name, text)| {
        let name = TypeName::from_cloudformation(name).ok()?;
        let entry = Entry {
            schema: Known::Embedded(text, Mutex::default()),
            name,
        };
        Some((key(&entry.name), Arc::new(entry)))
    };
    Catalogue {
        entries: Arc::new(embedded::schemas().filter_map(entry).collect()),
        recent: Arc::default(),
    }
});

impl Catalogue {
    /// Returns the public types of us-east-1. The first call in a process unpacks them.
    pub fn embedded() -> Self {
        EMBEDDED.clone()
    }

    /// Adds the type of a CloudFormation schema file, or replaces the type of that name. Existing clones are not
    /// affected.
    pub fn with_schema(&mut self, text: &str) -> Result<TypeName, SchemaError> {
        let schema = Arc::new(ResourceSchema::parse(text)?);
        let name = schema.type_name().clone();
        let entry = Entry {
            name: name.clone(),
            schema: Known::Added(schema),
        };
        Arc::make_mut(&mut self.entries).insert(key(&name), Arc::new(entry));
        Ok(name)
    }

    /// Returns the schema of a type, in any casing. [`ResourceSchema::type_name`] has the canonical one.
    pub fn get(&self, name: &TypeName) -> Option<Arc<ResourceSchema>> {
        let key = key(name);
        let (text, used) = match &self.entries.get(&key)?.schema {
            Known::Added(schema) => return Some(Arc::clone(schema)),
            Known::Embedded(text, used) => (text, used),
        };
        // Others that ask for it meanwhile wait for it.
        let mut used = used.lock().unwrap_or_else(PoisonError::into_inner);
        let schema = match used.upgrade() {
            Some(schema) => schema,
            None => {
                let schema = ResourceSchema::parse(text).ok()?;
                let is_provisioned = embedded::is_provisioned(schema.type_name().as_str());
                let schema = Arc::new(schema.provisioned(is_provisioned));
                *used = Arc::downgrade(&schema);
                schema
            }
        };
        drop(used);
        self.recent.used(&key, &schema);
        Some(schema)
    }

    /// Returns the schema of a type, in any casing, if it is compiled. Otherwise [`Self::get`] and compiling it take some
    /// milliseconds.
    pub fn at_hand(&self, name: &TypeName) -> Option<Arc<ResourceSchema>> {
        let key = key(name);
        let schema = match &self.entries.get(&key)?.schema {
            Known::Added(schema) => Some(Arc::clone(schema)),
            Known::Embedded(_, used) => {
                // Somebody else may be reading it. That is not waited for.
                let used = used.try_lock().ok()?;
                used.upgrade()
            }
        };
        let schema = schema.filter(|schema| schema.is_compiled())?;
        self.recent.used(&key, &schema);
        Some(schema)
    }

    /// Returns whether there is such a type, in any casing.
    pub fn has(&self, name: &TypeName) -> bool {
        self.entries.contains_key(&key(name))
    }

    /// Returns the schemas that were used last, for those that are not in the catalogue.
    pub fn recent(&self) -> &RecentSchemas {
        &self.recent
    }

    /// Returns the schema of a type that was [added](Self::with_schema), in any casing.
    pub fn added(&self, name: &TypeName) -> Option<Arc<ResourceSchema>> {
        match &self.entries.get(&key(name))?.schema {
            Known::Added(schema) => Some(Arc::clone(schema)),
            Known::Embedded(..) => None,
        }
    }

    /// Returns the canonical spelling of a type's name. A name that is not in the catalogue is returned as it is.
    pub fn canonical<'n>(&'n self, name: &'n TypeName) -> &'n TypeName {
        let entry = self.entries.get(&key(name));
        entry.map_or(name, |entry| &entry.name)
    }

    /// Returns the names of all types in alphabetical order, ignoring case.
    pub fn type_names(&self) -> impl Iterator<Item = &TypeName> {
        self.entries.values().map(|entry| &entry.name)
    }

    /// Suggests the type that was probably meant by an unknown name.
    pub fn suggest(&self, name: &TypeName) -> Option<TypeName> {
        let names = self.type_names().map(TypeName::as_str);
        let nearest = spelling::nearest(name.as_str(), names)?;
        TypeName::from_cloudformation(nearest).ok()
    }
}

fn key(name: &TypeName) -> String {
    name.as_str().to_ascii_lowercase()
}
