//! The schemas that the CloudFormation registry returned.

use async_trait::async_trait;
use ucp_model::{Scope, Timestamp, TypeName};
use ucp_store::rules::type_key;
use ucp_store::{Error, TypeSchema, TypeSchemas};

use crate::Sql;
use crate::database::{Row, statements, transaction, values};

/// The columns of a [`TypeSchema`].
macro_rules! columns {
    () => {
        "text, fingerprint, is_provisioned, fetched_at"
    };
}

statements! {
    PUT = ["INSERT INTO type_schemas (key, fingerprint, text, is_provisioned, fetched_at)
        VALUES ($1, $2, $3, $4, $5)
        ON CONFLICT (key, fingerprint) DO UPDATE
            SET is_provisioned = excluded.is_provisioned, fetched_at = excluded.fetched_at"];
    DELETE_UNUSED = ["DELETE FROM type_schemas
        WHERE key = $1 AND fetched_at < $2 AND fingerprint NOT IN
            (SELECT schema_fingerprint FROM operations WHERE ended_at IS NULL)"];
    GET = ["SELECT ", columns!(), " FROM type_schemas WHERE key = $1 AND fingerprint = $2"];
    CURRENT = ["SELECT ", columns!(), " FROM type_schemas WHERE key = $1
        ORDER BY fetched_at DESC, fingerprint LIMIT 1"];
}

#[async_trait]
impl TypeSchemas for Sql {
    async fn put_type_schema(
        &self,
        scope: &Scope,
        type_name: &TypeName,
        schema: TypeSchema,
    ) -> Result<(), Error> {
        let key = type_key(scope, type_name);
        let fetched_at = schema.fetched_at.as_millis();
        transaction!(self, |tx| async {
            let values = values![
                key.as_str(),
                schema.fingerprint.as_str(),
                schema.text.as_str(),
                schema.is_provisioned,
                fetched_at,
            ];
            tx.execute(PUT, values).await?;
            tx.execute(DELETE_UNUSED, values![key.as_str(), fetched_at])
                .await?;
            Ok(())
        })
    }

    async fn get_type_schema(
        &self,
        scope: &Scope,
        type_name: &TypeName,
        fingerprint: Option<&str>,
    ) -> Result<Option<TypeSchema>, Error> {
        let key = type_key(scope, type_name);
        let rows = match fingerprint {
            Some(fingerprint) => self.database.read(GET, values![key, fingerprint]).await?,
            None => self.database.read(CURRENT, values![key]).await?,
        };
        rows.first().map(read).transpose()
    }
}

fn read(row: &Row) -> Result<TypeSchema, Error> {
    Ok(TypeSchema {
        text: row.get("text")?,
        fingerprint: row.get("fingerprint")?,
        is_provisioned: row.flag("is_provisioned")?,
        fetched_at: Timestamp::from_millis(row.get("fetched_at")?),
    })
}
