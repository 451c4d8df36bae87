//! The row of a reference.

use std::collections::BTreeSet;

use ucp_model::{
    GroupId, Identifier, InstanceId, Lineage, Operation, Outline, ProvisioningState, Reference,
    ReferenceId, Scope, Timestamp,
};
use ucp_store::rules::Others;
use ucp_store::{Basis, Cipher, Error, KeyRange, Limit, OwnedPlace, Page, SealedPlace};

use crate::aside::read_aside;
use crate::busy::{ended_last_on, live_on};
use crate::database::{Abort, Database, Row, Transaction, Value, page, statements, values};
use crate::json::{corrupt, count, from_json, parsed, to_json};
use crate::sealed_json::seal;

/// The columns of a [`Reference`].
macro_rules! columns {
    () => {
        concat!(
            $crate::reference_row::plain_columns!(),
            ", baseline, observed"
        )
    };
}

/// Those that are not sealed.
macro_rules! plain_columns {
    () => {
        "id, COALESCE(lineage, key) AS lineage, plane, account, region, identifier, owned, operation, provisioning_state, \
         observed_at, created_at, updated_at, revision, moves, tags, told_to_own, marked"
    };
}
pub(crate) use {columns, plain_columns};

statements! {
    /// A row that does not exist cannot be locked. Of two concurrent first puts of an alias the second waits here, and
    /// inserts nothing.
    INSERT = ["INSERT INTO resource_references (key, revision, identifier, target_key, owned, operation,
            provisioning_state, baseline, observed, observed_at, updated_at, tags, told_to_own,
            marked, id, lineage, group_key, plane, account, region, created_at)
        VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17, $18, $19, $20, $21)
        ON CONFLICT (key) DO NOTHING"];
    UPDATE = ["UPDATE resource_references SET
            revision = $2, identifier = $3, target_key = $4, owned = $5, operation = $6,
            provisioning_state = $7, baseline = $8, observed = $9, observed_at = $10, updated_at = $11, tags = $12,
            told_to_own = $13, marked = $14
        WHERE key = $1 AND revision = $2 - 1"];
    REMEMBER = ["UPDATE resource_references SET
            revision = $2, provisioning_state = $5, baseline = $6, observed = $7, observed_at = $8, updated_at = $9,
            marked = $11
        WHERE key = $1 AND COALESCE(lineage, key) = $12 AND revision = $2 - 1 AND created_at = $3
            AND identifier IS NOT DISTINCT FROM $4
            AND ", live_on!("resource_references.target_key"), " IS NULL
            AND $10 IS NOT DISTINCT FROM ", ended_last_on!("resource_references.target_key")];
    GET = ["SELECT ", columns!(), " FROM resource_references WHERE key = $1"];
    LOCK = ["SELECT ", columns!(), " FROM resource_references WHERE key = $1"] lock " FOR UPDATE";
    /// Rows of earlier versions have the lineage of their key.
    HAS_LINEAGE = ["SELECT key FROM resource_references WHERE COALESCE(lineage, key) = $1 AND key <> $2"];
    /// `bytes_until` has the bytes of what is sealed in the rows until this one. They are counted without being read, and of no more
    /// rows than the limit has: Postgres looks at one more where the limit is above the window, and SQLite sorts where it is below.
    LIST = ["SELECT * FROM (SELECT "]
        postgres "bounded.*, CAST(SUM(own_bytes) OVER (ORDER BY key ROWS UNBOUNDED PRECEDING) AS BIGINT) AS bytes_until FROM (SELECT "
        sqlite "SUM(COALESCE(OCTET_LENGTH(baseline), 0) + COALESCE(OCTET_LENGTH(observed), 0))
            OVER (ORDER BY key ROWS UNBOUNDED PRECEDING) AS bytes_until, "
        ["key, ", columns!(), ", COALESCE(OCTET_LENGTH(baseline), 0) + COALESCE(OCTET_LENGTH(observed), 0) AS own_bytes
            FROM resource_references WHERE key > $1 AND key < $2 ORDER BY key LIMIT $3)"]
        postgres " AS bounded)" sqlite "" [" AS counted WHERE bytes_until - own_bytes < $4"];
    OF_GROUP = ["SELECT ", plain_columns!(), ", NULL AS baseline, NULL AS observed
        FROM resource_references WHERE group_key = $1 ORDER BY key"];
    /// What comes after the last slash of a key is the alias. In the order in which everybody locks them.
    OF_INSTANCE = ["SELECT ", columns!(), " FROM resource_references WHERE "]
        postgres "strpos(split_part(key, '/', 10), ':') > 0
            AND group_key || '/' || split_part(key, '/', 10) >= $1
            AND group_key || '/' || split_part(key, '/', 10) < $2"
        sqlite "instr(substr(key, length(rtrim(key, replace(key, '/', ''))) + 1), ':') > 0
            AND group_key || '/' || substr(key, length(rtrim(key, replace(key, '/', ''))) + 1) >= $1
            AND group_key || '/' || substr(key, length(rtrim(key, replace(key, '/', ''))) + 1) < $2"
        [" ORDER BY key"];
    TAG = ["UPDATE resource_references SET tags = $2, revision = $3, updated_at = $4
        WHERE key = $1 AND revision = $3 - 1"];
    COUNT = ["SELECT COUNT(*) AS members, COUNT(CASE WHEN owned = 1 THEN 1 END) AS owned
        FROM resource_references WHERE group_key = $1"];
    /// Each place once, with an id of its type. What comes before `:reference/` in an id is the same for all of a type.
    OWNED_PLACES = ["SELECT MIN(id) AS id, plane, account, region FROM resource_references
        WHERE group_key = $1 AND owned = 1 GROUP BY plane, account, region, "]
        postgres "split_part(id, ':reference/', 1)" sqlite "substr(id, 1, instr(id, ':reference/'))" [" LIMIT $2"];
    DELETE = ["DELETE FROM resource_references WHERE key = $1"];
    /// The owner of an AWS resource, except one given reference.
    OTHER_OWNER = ["SELECT id FROM resource_references WHERE target_key = $1 AND owned = 1 AND key <> $2"];
    /// The references to an AWS resource, except one given reference, with the policies of groups except one given group.
    OTHERS = ["SELECT id, CASE WHEN group_key <> $2 THEN (SELECT "]
        postgres "(body::json -> 'planPolicy')::text" sqlite "body -> 'planPolicy'"
        [" FROM resource_groups WHERE resource_groups.key = resource_references.group_key) END AS policy
        FROM resource_references WHERE target_key = $1 AND key <> $3"];
    /// The references to these AWS resources, whose keys are a JSON array. Their key is no column here, or Postgres may read all
    /// references in the order of their keys.
    LIST_TO = ["SELECT ", columns!(), " FROM resource_references WHERE target_key "]
        postgres "= ANY(ARRAY(SELECT json_array_elements_text($1::json)))"
        sqlite "IN (SELECT value FROM json_each($1))" [" ORDER BY key || '' LIMIT $2"];
    /// The reference is idle, and as it was read.
    OWN = ["UPDATE resource_references SET owned = 1, told_to_own = 1, revision = $2, updated_at = $3
        WHERE key = $1 AND revision = $2 - 1 AND COALESCE(lineage, key) = $4 AND target_key = $5 AND operation IS NULL"];
    /// The references of other groups to what a group owns.
    SHARED = ["SELECT others.id AS id FROM resource_references AS owned
        JOIN resource_references AS others ON others.target_key = owned.target_key
        WHERE owned.group_key = $1 AND owned.owned = 1 AND others.group_key <> $1 LIMIT $2"];
    /// Prevents operations from being accepted on the references to an AWS resource.
    LOCK_ALL = ["SELECT key FROM resource_references WHERE target_key = $1 ORDER BY key"] lock " FOR UPDATE";
    DELETE_IDLE = ["DELETE FROM resource_references WHERE target_key = $1 AND operation IS NULL"];
}

/// Returns the reference, outside a transaction.
pub(crate) async fn get(database: &Database, id: &ReferenceId) -> Result<Option<Reference>, Error> {
    let rows = database.read(GET, values![id.key()]).await?;
    rows.first().map(read).transpose()
}

/// Returns references with these keys up to a limit, outside a transaction.
pub(crate) async fn list(
    database: &Database,
    keys: KeyRange,
    limit: Limit,
) -> Result<Page<Reference>, Error> {
    let most = i64::try_from(limit.bytes.max(1)).unwrap_or(i64::MAX);
    let mut values = page(keys, limit.items);
    values.extend(values![most]);
    let rows = database.read(LIST, values).await?;
    let bytes = rows.iter().map(|row| row.get::<i64>("bytes_until"));
    let bytes: Result<Vec<i64>, Error> = bytes.collect();
    let bytes = bytes?.into_iter().max().unwrap_or_default();
    let mut items = read_all(rows).await?;
    // No order is promised of what is chosen from an ordered list.
    items.sort_by_cached_key(|reference| reference.id.key());
    Ok(Page {
        is_limited: items.len() == limit.items || bytes >= most,
        items,
    })
}

/// Returns the outlines of the references of a group, outside a transaction.
pub(crate) async fn outlines(database: &Database, group: &GroupId) -> Result<Vec<Outline>, Error> {
    let rows = database.read(OF_GROUP, values![group.key()]).await?;
    rows.iter().map(outline).collect()
}

/// The same, within a transaction that has the group locked.
pub(crate) async fn of_group(
    transaction: &mut Transaction,
    group: &GroupId,
) -> Result<Vec<Outline>, Abort> {
    let rows = transaction.fetch(OF_GROUP, values![group.key()]).await?;
    let outlines: Result<Vec<Outline>, Error> = rows.iter().map(outline).collect();
    Ok(outlines?)
}

fn outline(row: &Row) -> Result<Outline, Error> {
    read(row).map(Outline::of)
}

/// Returns the references of a service instance and of its bindings, outside a transaction.
pub(crate) async fn list_of_instance(
    database: &Database,
    group: &GroupId,
    instance: &InstanceId,
) -> Result<Vec<Reference>, Error> {
    let KeyRange { start, end } = KeyRange::of_instance(group, instance);
    let rows = database.read(OF_INSTANCE, values![start, end]).await?;
    read_all(rows).await
}

/// Returns the ids of the references of a service instance and of its bindings, within a transaction.
pub(crate) async fn ids_of_instance(
    transaction: &mut Transaction,
    group: &GroupId,
    instance: &InstanceId,
) -> Result<Vec<ReferenceId>, Abort> {
    let KeyRange { start, end } = KeyRange::of_instance(group, instance);
    let rows = transaction.fetch(OF_INSTANCE, values![start, end]).await?;
    let ids: Result<Vec<ReferenceId>, Error> =
        rows.iter().map(|row| parsed(row.get("id")?)).collect();
    Ok(ids?)
}

/// Writes the tags of a reference that the transaction has locked, over the revision before.
pub(crate) async fn tag(transaction: &mut Transaction, reference: &Reference) -> Result<(), Abort> {
    let key = reference.id.key();
    let values = values![
        key.as_str(),
        to_json(&reference.tags)?,
        count(reference.revision)?,
        reference.updated_at.as_millis(),
    ];
    match transaction.execute(TAG, values).await? {
        0 => Err(Abort::changed(&key)),
        _ => Ok(()),
    }
}

/// How many references a group has.
#[derive(Debug, Default)]
pub(crate) struct Members {
    pub(crate) all: usize,
    pub(crate) owned: usize,
}

/// Counts the references of a group, within a transaction that has the group locked.
pub(crate) async fn count_of_group(
    transaction: &mut Transaction,
    group: &GroupId,
) -> Result<Members, Abort> {
    let row = transaction
        .fetch_optional(COUNT, values![group.key()])
        .await?;
    let members = row.map(|row| {
        Ok::<_, Error>(Members {
            all: row.count("members")?,
            owned: row.count("owned")?,
        })
    });
    Ok(members.transpose()?.unwrap_or_default())
}

/// Returns up to `limit` places where the resources are that a group owns, and of which types, within a transaction that has
/// the group locked.
pub(crate) async fn owned_places(
    transaction: &mut Transaction,
    group: &GroupId,
    limit: usize,
) -> Result<BTreeSet<OwnedPlace>, Abort> {
    let limit = i64::try_from(limit).unwrap_or(i64::MAX);
    let values = values![group.key(), limit];
    let rows = transaction.fetch(OWNED_PLACES, values).await?;
    let place = |row: &Row| {
        let id: ReferenceId = parsed(row.get("id")?)?;
        Ok((place(row)?, id.type_name))
    };
    let places: Result<BTreeSet<OwnedPlace>, Error> = rows.iter().map(place).collect();
    Ok(places?)
}

fn place(row: &Row) -> Result<Scope, Error> {
    Ok(Scope {
        plane: row.get("plane")?,
        account: row.get("account")?,
        region: row.get("region")?,
    })
}

/// Returns the reference and locks it until the transaction ends.
pub(crate) async fn lock(
    transaction: &mut Transaction,
    id: &ReferenceId,
) -> Result<Option<Reference>, Abort> {
    let row = transaction.fetch_optional(LOCK, values![id.key()]).await?;
    Ok(row.as_ref().map(read).transpose()?)
}

/// Returns whether another reference than the one at `id` has the lineage. The caller has locked the group of the alias that
/// the lineage is named after, so that none gets it meanwhile.
pub(crate) async fn is_lineage_taken(
    transaction: &mut Transaction,
    lineage: &Lineage,
    id: &ReferenceId,
) -> Result<bool, Abort> {
    let values = values![lineage.as_str(), id.key()];
    let row = transaction.fetch_optional(HAS_LINEAGE, values).await?;
    Ok(row.is_some())
}

/// Inserts the first revision of a reference; a later one replaces the revision before it. If the row is not as the
/// transaction has read it, the transaction starts over.
pub(crate) async fn put(transaction: &mut Transaction, reference: &Reference) -> Result<(), Abort> {
    let key = reference.id.key();
    let mut values: Vec<Value> = values![
        key.as_str(),
        count(reference.revision)?,
        reference.identifier.as_ref().map(Identifier::as_str),
        reference.target().map(|target| target.key()),
        reference.owned,
        reference.operation.map(|id| id.to_string()),
        reference.provisioning_state.as_str(),
        baseline(transaction.cipher(), reference)?,
        observed(transaction.cipher(), reference)?,
        reference.observed_at.map(Timestamp::as_millis),
        reference.updated_at.as_millis(),
        to_json(&reference.tags)?,
        reference.told_to_own,
        reference.marked,
    ];
    let statement = if reference.revision == 1 {
        values.extend(values![
            reference.id.to_string(),
            reference.lineage.as_str(),
            reference.id.group.key(),
            reference.scope.plane.as_str(),
            reference.scope.account.as_str(),
            reference.scope.region.as_str(),
            reference.created_at.as_millis(),
        ]);
        INSERT
    } else {
        UPDATE
    };
    match transaction.execute(statement, values).await? {
        0 => Err(Abort::changed(&key)),
        _ => Ok(()),
    }
}

/// Writes what a put that changed nothing has learned, outside a transaction. Returns whether the row is the one that
/// the put has read, and the resource is as in the basis.
pub(crate) async fn remember(
    database: &Database,
    learned: &Reference,
    basis: &Basis,
) -> Result<bool, Error> {
    let cipher = database.cipher().as_ref();
    let values = values![
        learned.id.key(),
        count(learned.revision)?,
        learned.created_at.as_millis(),
        learned.identifier.as_ref().map(Identifier::as_str),
        learned.provisioning_state.as_str(),
        baseline(cipher, learned)?,
        observed(cipher, learned)?,
        learned.observed_at.map(Timestamp::as_millis),
        learned.updated_at.as_millis(),
        basis.last_ended.map(|id| id.to_string()),
        learned.marked,
        learned.lineage.as_str(),
    ];
    Ok(database.write(REMEMBER, values).await? > 0)
}

pub(crate) async fn delete(transaction: &mut Transaction, id: &ReferenceId) -> Result<(), Abort> {
    transaction.execute(DELETE, values![id.key()]).await?;
    Ok(())
}

/// Returns the reference that owns the AWS resource, unless it is `own`.
pub(crate) async fn other_owner(
    transaction: &mut Transaction,
    target: &str,
    own: &ReferenceId,
) -> Result<Option<ReferenceId>, Abort> {
    let row = transaction
        .fetch_optional(OTHER_OWNER, values![target, own.key()])
        .await?;
    let id = row.map(|row| parsed(row.get("id")?));
    Ok(id.transpose()?)
}

/// Returns what is recorded of the references to the AWS resource besides that of the operation.
pub(crate) async fn others(
    transaction: &mut Transaction,
    target: &str,
    operation: &Operation,
) -> Result<Others, Abort> {
    let group = operation.work.group_id().map(GroupId::key);
    let own = operation.work.reference().map(ReferenceId::key);
    let values = values![target, group.unwrap_or_default(), own.unwrap_or_default()];
    let mut others = Others::default();
    for row in &transaction.fetch(OTHERS, values).await? {
        others.references.push(parsed(row.get("id")?)?);
        if let Some(policy) = row.get::<Option<&str>>("policy")? {
            others.policy = others.policy.max(from_json(policy)?);
        }
    }
    Ok(others)
}

/// Returns up to `limit` references to these AWS resources, outside a transaction.
pub(crate) async fn list_to(
    database: &Database,
    targets: &[String],
    limit: usize,
) -> Result<Vec<Reference>, Error> {
    if targets.is_empty() {
        return Ok(Vec::new());
    }
    let limit = i64::try_from(limit).unwrap_or(i64::MAX);
    let values = values![to_json(&targets)?, limit];
    let rows = database.read(LIST_TO, values).await?;
    read_all(rows).await
}

/// Makes a reference the owner of its resource, over the revision before. [`Error::PreconditionFailed`] if it is another one, or
/// an operation works on it.
pub(crate) async fn own(transaction: &mut Transaction, heir: &Reference) -> Result<(), Abort> {
    let values = values![
        heir.id.key(),
        count(heir.revision)?,
        heir.updated_at.as_millis(),
        heir.lineage.as_str(),
        heir.target().map(|target| target.key()),
    ];
    match transaction.execute(OWN, values).await? {
        0 => Err(Error::PreconditionFailed.into()),
        _ => Ok(()),
    }
}

/// Returns references of other groups to what a group owns, up to `limit`.
pub(crate) async fn shared(
    transaction: &mut Transaction,
    group: &GroupId,
    limit: usize,
) -> Result<Vec<ReferenceId>, Abort> {
    let limit = i64::try_from(limit).unwrap_or(i64::MAX);
    let rows = transaction
        .fetch(SHARED, values![group.key(), limit])
        .await?;
    let ids = rows.iter().map(|row| parsed(row.get("id")?));
    Ok(ids.collect::<Result<_, Error>>()?)
}

/// Locks the references to an AWS resource, in the order of the keys, so that two of these do not wait for each other.
pub(crate) async fn lock_all(transaction: &mut Transaction, target: &str) -> Result<(), Abort> {
    transaction.fetch(LOCK_ALL, values![target]).await?;
    Ok(())
}

/// Removes the references to an AWS resource that no live operation works on. The caller has [locked](lock_all) them.
pub(crate) async fn delete_idle(transaction: &mut Transaction, target: &str) -> Result<(), Abort> {
    transaction.execute(DELETE_IDLE, values![target]).await?;
    Ok(())
}

/// Returns the sealed baseline.
fn baseline(cipher: &dyn Cipher, reference: &Reference) -> Result<Option<String>, Error> {
    let place = SealedPlace::Baseline(reference.lineage.clone());
    let baseline = reference.baseline.as_ref();
    baseline
        .map(|baseline| seal(cipher, &place, baseline))
        .transpose()
}

/// Returns the sealed properties as last observed.
fn observed(cipher: &dyn Cipher, reference: &Reference) -> Result<Option<String>, Error> {
    let place = SealedPlace::Observed(reference.lineage.clone());
    let observed = reference.observed.as_ref();
    observed
        .map(|observed| seal(cipher, &place, observed))
        .transpose()
}

async fn read_all(rows: Vec<Row>) -> Result<Vec<Reference>, Error> {
    read_aside(rows, &["baseline", "observed"], read).await
}

pub(crate) fn read(row: &Row) -> Result<Reference, Error> {
    let id: ReferenceId = parsed(row.get("id")?)?;
    let lineage = Lineage::stored(row.get("lineage")?);
    let baseline = row.open("baseline", &SealedPlace::Baseline(lineage.clone()))?;
    let observed = row.open("observed", &SealedPlace::Observed(lineage.clone()))?;
    let identifier: Option<String> = row.get("identifier")?;
    let operation: Option<&str> = row.get("operation")?;
    let word: &str = row.get("provisioning_state")?;
    let Some(provisioning_state) = ProvisioningState::parse(word) else {
        return corrupt(format!("unknown provisioning state '{word}'"));
    };
    Ok(Reference {
        baseline: baseline.as_deref().map(from_json).transpose()?,
        observed: observed.as_deref().map(from_json).transpose()?,
        id,
        lineage,
        scope: place(row)?,
        identifier: identifier.map(Identifier::new),
        owned: row.flag("owned")?,
        told_to_own: row.flag("told_to_own")?,
        marked: row.flag("marked")?,
        tags: from_json(row.get("tags")?)?,
        operation: operation.map(parsed).transpose()?,
        provisioning_state,
        observed_at: row
            .get::<Option<i64>>("observed_at")?
            .map(Timestamp::from_millis),
        created_at: Timestamp::from_millis(row.get("created_at")?),
        updated_at: Timestamp::from_millis(row.get("updated_at")?),
        revision: row.count("revision")?,
        moves: row.count("moves")?,
    })
}
