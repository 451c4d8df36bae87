use std::collections::BTreeSet;

use async_trait::async_trait;
use ucp_model::{Scope, TypeName};

use super::Memory;
use crate::{Error, TypeSchema, TypeSchemas, rules};

#[async_trait]
impl TypeSchemas for Memory {
    async fn put_type_schema(
        &self,
        scope: &Scope,
        type_name: &TypeName,
        schema: TypeSchema,
    ) -> Result<(), Error> {
        let mut tables = self.tables();
        let key = rules::type_key(scope, type_name);
        let live = tables.live();
        let needed: BTreeSet<String> = live
            .filter_map(|row| Some(row.operation.work.resource()?.schema_fingerprint.clone()))
            .collect();
        let schemas = tables.type_schemas.entry(key).or_default();
        let fetched_at = schema.fetched_at;
        schemas.insert(schema.fingerprint.clone(), schema);
        schemas.retain(|fingerprint, schema| {
            schema.fetched_at >= fetched_at || needed.contains(fingerprint)
        });
        Ok(())
    }

    async fn get_type_schema(
        &self,
        scope: &Scope,
        type_name: &TypeName,
        fingerprint: Option<&str>,
    ) -> Result<Option<TypeSchema>, Error> {
        let tables = self.tables();
        let Some(schemas) = tables.type_schemas.get(&rules::type_key(scope, type_name)) else {
            return Ok(None);
        };
        let found = match fingerprint {
            Some(fingerprint) => schemas.get(fingerprint),
            // Of schemas fetched at the same time, the first one by fingerprint.
            None => schemas
                .values()
                .rev()
                .max_by_key(|schema| schema.fetched_at),
        };
        Ok(found.cloned())
    }
}
