//! The rows of service instances and of their bindings.
//!
//! Whoever writes a binding has the row of its instance locked.

use std::collections::BTreeSet;

use ucp_model::{BindingId, GroupId, InstanceId, ServiceBinding, ServiceInstance, Timestamp};
use ucp_store::{Error, SealedPlace};

use crate::database::{Abort, Database, Row, Transaction, statements, values};
use crate::json::{count, from_json};
use crate::sealed_json::seal;

statements! {
    /// A row that does not exist cannot be locked. Of two concurrent first orders of an instance the second waits here, and
    /// inserts nothing.
    INSERT = ["INSERT INTO broker_instances (key, group_key, revision, gone_at, record) VALUES ($1, $2, $3, $4, $5)
        ON CONFLICT (key) DO NOTHING"];
    UPDATE = ["UPDATE broker_instances SET group_key = $2, revision = $3, gone_at = $4, record = $5
        WHERE key = $1 AND revision = $3 - 1"];
    GET = ["SELECT key, record FROM broker_instances WHERE key = $1"];
    LOCK = ["SELECT key, record FROM broker_instances WHERE key = $1"] lock " FOR UPDATE";
    STANDING = ["SELECT key FROM broker_instances WHERE group_key = $1 AND gone_at IS NULL LIMIT 1"];
    PUT_BINDING = ["INSERT INTO broker_bindings (key, instance_key, gone_at, record) VALUES ($1, $2, $3, $4)
        ON CONFLICT (key) DO UPDATE SET gone_at = excluded.gone_at, record = excluded.record"];
    GET_BINDING = ["SELECT key, record FROM broker_bindings WHERE key = $1"];
    BINDINGS = ["SELECT key, record FROM broker_bindings WHERE instance_key = $1 AND gone_at IS NULL ORDER BY key"];
    BINDING_KEYS = ["SELECT key FROM broker_bindings WHERE instance_key = $1 AND gone_at IS NULL"];
    REMOVE_BINDINGS = ["WITH old AS (
            SELECT key AS old_key FROM broker_bindings WHERE gone_at < $1
            ORDER BY gone_at, key LIMIT $2"] lock " FOR UPDATE SKIP LOCKED" [")
        DELETE FROM broker_bindings WHERE key "]
        postgres "= ANY(ARRAY(SELECT old_key FROM old))" sqlite "IN (SELECT old_key FROM old)";
    REMOVE_INSTANCES = ["WITH old AS (
            SELECT key AS old_key FROM broker_instances WHERE gone_at < $1
            ORDER BY gone_at, key LIMIT $2"] lock " FOR UPDATE SKIP LOCKED" [")
        DELETE FROM broker_instances WHERE key "]
        postgres "= ANY(ARRAY(SELECT old_key FROM old))" sqlite "IN (SELECT old_key FROM old)";
}

/// Returns the instance, outside a transaction.
pub(crate) async fn get_instance(
    database: &Database,
    id: &InstanceId,
) -> Result<Option<ServiceInstance>, Error> {
    let rows = database.read(GET, values![id.key()]).await?;
    rows.first().map(read_instance).transpose()
}

/// Returns the binding, outside a transaction.
pub(crate) async fn get_binding(
    database: &Database,
    id: &BindingId,
) -> Result<Option<ServiceBinding>, Error> {
    let rows = database.read(GET_BINDING, values![id.key()]).await?;
    rows.first().map(read_binding).transpose()
}

/// Returns the bindings of an instance that are not gone, outside a transaction.
pub(crate) async fn list_bindings(
    database: &Database,
    instance: &InstanceId,
) -> Result<Vec<ServiceBinding>, Error> {
    let rows = database.read(BINDINGS, values![instance.key()]).await?;
    rows.iter().map(read_binding).collect()
}

/// Returns the instance and locks it until the transaction ends.
pub(crate) async fn lock(
    transaction: &mut Transaction,
    id: &InstanceId,
) -> Result<Option<ServiceInstance>, Abort> {
    let row = transaction.fetch_optional(LOCK, values![id.key()]).await?;
    Ok(row.as_ref().map(read_instance).transpose()?)
}

/// Returns the binding, within a transaction that has its instance locked.
pub(crate) async fn binding(
    transaction: &mut Transaction,
    id: &BindingId,
) -> Result<Option<ServiceBinding>, Abort> {
    let row = transaction
        .fetch_optional(GET_BINDING, values![id.key()])
        .await?;
    Ok(row.as_ref().map(read_binding).transpose()?)
}

/// Returns the bindings of an instance that are not gone, within a transaction that has the instance locked.
pub(crate) async fn bindings(
    transaction: &mut Transaction,
    instance: &InstanceId,
) -> Result<Vec<ServiceBinding>, Abort> {
    let rows = transaction.fetch(BINDINGS, values![instance.key()]).await?;
    let bindings: Result<Vec<ServiceBinding>, Error> = rows.iter().map(read_binding).collect();
    Ok(bindings?)
}

/// Returns the keys of these.
pub(crate) async fn binding_keys(
    transaction: &mut Transaction,
    instance: &InstanceId,
) -> Result<BTreeSet<String>, Abort> {
    let rows = transaction
        .fetch(BINDING_KEYS, values![instance.key()])
        .await?;
    let keys: Result<BTreeSet<String>, Error> = rows.iter().map(|row| row.get("key")).collect();
    Ok(keys?)
}

/// Writes the first revision of an instance, or a later one over that before it. If the row is not as the transaction has read
/// it, the transaction starts over.
pub(crate) async fn put(
    transaction: &mut Transaction,
    instance: &ServiceInstance,
) -> Result<(), Abort> {
    let key = instance.id.key();
    let place = SealedPlace::ServiceInstance(key.clone());
    let values = values![
        key.as_str(),
        instance.group.key(),
        count(instance.revision)?,
        instance.gone_at().map(Timestamp::as_millis),
        seal(transaction.cipher(), &place, instance)?,
    ];
    let statement = match instance.revision {
        1 => INSERT,
        _ => UPDATE,
    };
    match transaction.execute(statement, values).await? {
        0 => Err(Abort::changed(&key)),
        _ => Ok(()),
    }
}

/// Writes a binding.
pub(crate) async fn put_binding(
    transaction: &mut Transaction,
    binding: &ServiceBinding,
) -> Result<(), Abort> {
    let key = binding.id.key();
    let place = SealedPlace::ServiceBinding(key.clone());
    let values = values![
        key,
        binding.id.instance.key(),
        binding.gone_at().map(Timestamp::as_millis),
        seal(transaction.cipher(), &place, binding)?,
    ];
    transaction.execute(PUT_BINDING, values).await?;
    Ok(())
}

/// Returns whether an instance is in the group that is not gone.
pub(crate) async fn is_any_in(
    transaction: &mut Transaction,
    group: &GroupId,
) -> Result<bool, Abort> {
    let row = transaction
        .fetch_optional(STANDING, values![group.key()])
        .await?;
    Ok(row.is_some())
}

/// Removes up to `limit` bindings that are gone since before then, or if there are fewer, up to `limit` instances too. No binding
/// of an instance that is gone outlives it, so those of these instances have been removed before.
pub(crate) async fn remove_gone(
    transaction: &mut Transaction,
    before: Timestamp,
    limit: usize,
) -> Result<u64, Abort> {
    let most = i64::try_from(limit).unwrap_or(i64::MAX);
    let values = || values![before.as_millis(), most];
    let bindings = transaction.execute(REMOVE_BINDINGS, values()).await?;
    if usize::try_from(bindings).is_ok_and(|bindings| bindings >= limit) {
        return Ok(bindings);
    }
    let instances = transaction.execute(REMOVE_INSTANCES, values()).await?;
    Ok(bindings + instances)
}

fn read_instance(row: &Row) -> Result<ServiceInstance, Error> {
    let place = SealedPlace::ServiceInstance(row.get("key")?);
    from_json(&row.open("record", &place)?.unwrap_or_default())
}

fn read_binding(row: &Row) -> Result<ServiceBinding, Error> {
    let place = SealedPlace::ServiceBinding(row.get("key")?);
    from_json(&row.open("record", &place)?.unwrap_or_default())
}
