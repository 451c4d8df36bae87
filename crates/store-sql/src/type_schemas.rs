//! The schemas that the CloudFormation registry told of.

use ucp_model::{Scope, Timestamp, TypeName};
use ucp_store::rules::type_key;
use ucp_store::{Error, TypeSchema};

use crate::database::{Abort, Database, Row, Transaction, statements, values};

/// All that a [`TypeSchema`] is made of.
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

pub(crate) async fn put(
    transaction: &mut Transaction,
    scope: &Scope,
    type_name: &TypeName,
    schema: &TypeSchema,
) -> Result<(), Abort> {
    let key = type_key(scope, type_name);
    let fetched_at = schema.fetched_at.as_millis();
    let values = values![
        key.as_str(),
        schema.fingerprint.as_str(),
        schema.text.as_str(),
        schema.is_provisioned,
        fetched_at,
    ];
    transaction.execute(PUT, values).await?;
    transaction
        .execute(DELETE_UNUSED, values![key, fetched_at])
        .await?;
    Ok(())
}

pub(crate) async fn get(
    database: &Database,
    scope: &Scope,
    type_name: &TypeName,
    fingerprint: Option<&str>,
) -> Result<Option<TypeSchema>, Error> {
    let key = type_key(scope, type_name);
    let rows = match fingerprint {
        Some(fingerprint) => database.read(GET, values![key, fingerprint]).await?,
        None => database.read(CURRENT, values![key]).await?,
    };
    rows.first().map(read).transpose()
}

fn read(row: &Row) -> Result<TypeSchema, Error> {
    Ok(TypeSchema {
        text: row.get("text")?,
        fingerprint: row.get("fingerprint")?,
        is_provisioned: row.flag("is_provisioned")?,
        fetched_at: Timestamp::from_millis(row.get("fetched_at")?),
    })
}
