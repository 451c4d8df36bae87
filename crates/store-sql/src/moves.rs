//! The transaction that moves what a refactor moves.
//!
//! The rows leave the table and come back under their new keys, so that swaps, cycles and chains of ids meet nobody. What is
//! sealed in them is bound to the lineage, which stays, and is carried over as it is.

use std::collections::BTreeMap;

use serde::Serialize;
use ucp_model::{OperationId, Refactor, RefactorId, RefactorStatus, Reference, ResourceGroup};
use ucp_store::rules::{self, BeforeRefactor, Relocated};
use ucp_store::{ApplyRefactor, Error};

use crate::database::{Abort, Row, Transaction, statements, values};
use crate::json::{count, to_json};
use crate::reference_row::columns;
use crate::{busy, events, groups, leftover_row, refactor_row, reference_row};

/// How many rows a statement moves.
const BATCH: usize = 500;

statements! {
    /// The references with these keys, a JSON array, in the order in which everybody locks them.
    LOCK = ["SELECT ", columns!(), " FROM resource_references WHERE key "]
        postgres "= ANY(ARRAY(SELECT json_array_elements_text($1::json)))"
        sqlite "IN (SELECT value FROM json_each($1))" [" ORDER BY key"] lock " FOR UPDATE";
    /// Locks AWS resources, as [`busy::lock`] does with one.
    LOCK_TARGETS = [""]
        postgres "SELECT pg_advisory_xact_lock(hashtextextended(target_key, 0)) AS locked FROM (
                SELECT json_array_elements_text($1::json) AS target_key
            ) AS asked ORDER BY target_key"
        sqlite "SELECT value FROM json_each($1) LIMIT 0";
    BUSY_TARGETS = ["SELECT id FROM operations WHERE held_target_key "]
        postgres "= ANY(ARRAY(SELECT json_array_elements_text($1::json)))"
        sqlite "IN (SELECT value FROM json_each($1))" [" LIMIT 1"];
    /// A live operation on one of these groups as a whole.
    BUSY_GROUPS = ["SELECT id FROM operations WHERE held_group_key "]
        postgres "= ANY(ARRAY(SELECT json_array_elements_text($1::json)))"
        sqlite "IN (SELECT value FROM json_each($1))"
        [" AND kind IN ('deleteGroup', 'importGroup', 'applyGroup') LIMIT 1"];
    TAKE = ["DELETE FROM resource_references WHERE key "]
        postgres "= ANY(ARRAY(SELECT json_array_elements_text($1::json)))"
        sqlite "IN (SELECT value FROM json_each($1))";
    /// The rows are a JSON array.
    PUT = ["INSERT INTO resource_references (key, id, lineage, group_key, plane, account, region, identifier, target_key, owned,
            provisioning_state, baseline, observed, observed_at, created_at, updated_at, revision, tags, told_to_own, marked) "]
        postgres "SELECT moved->>'key', moved->>'id', moved->>'lineage', moved->>'group_key', moved->>'plane', moved->>'account',
                moved->>'region', moved->>'identifier', moved->>'target_key', (moved->>'owned')::bigint, moved->>'provisioning_state',
                moved->>'baseline', moved->>'observed', (moved->>'observed_at')::bigint, (moved->>'created_at')::bigint,
                (moved->>'updated_at')::bigint, (moved->>'revision')::bigint, moved->>'tags', (moved->>'told_to_own')::bigint,
                (moved->>'marked')::bigint
            FROM json_array_elements($1::json) AS given(moved)"
        sqlite "SELECT value->>'key', value->>'id', value->>'lineage', value->>'group_key', value->>'plane', value->>'account',
                value->>'region', value->>'identifier', value->>'target_key', value->>'owned', value->>'provisioning_state',
                value->>'baseline', value->>'observed', value->>'observed_at', value->>'created_at', value->>'updated_at',
                value->>'revision', value->>'tags', value->>'told_to_own', value->>'marked'
            FROM json_each($1)";
}

/// The columns of a row that moves, as [`PUT`] takes it.
#[derive(Serialize)]
struct Given<'a> {
    key: String,
    id: String,
    lineage: &'a str,
    group_key: String,
    plane: &'a str,
    account: &'a str,
    region: &'a str,
    identifier: Option<&'a str>,
    target_key: Option<String>,
    owned: u8,
    provisioning_state: &'a str,
    baseline: Option<&'a str>,
    observed: Option<&'a str>,
    observed_at: Option<i64>,
    created_at: i64,
    updated_at: i64,
    revision: i64,
    tags: String,
    told_to_own: u8,
    marked: u8,
}

/// What is sealed in a row, as it is stored.
#[derive(Debug, Default)]
struct SealedColumns {
    baseline: Option<String>,
    observed: Option<String>,
}

/// Applies a refactor.
pub(crate) async fn apply(
    transaction: &mut Transaction,
    new: &ApplyRefactor,
) -> Result<Refactor, Abort> {
    if new.is_planned {
        let planned = recorded(transaction, new.record.id).await?;
        rules::refuse_status(&planned, RefactorStatus::Planned)?;
    }
    let undone = match new.record.content.undoes {
        Some(id) => {
            let applied = recorded(transaction, id).await?;
            rules::refuse_status(&applied, RefactorStatus::Applied)?;
            Some(rules::undone(&applied, &new.record))
        }
        None => None,
    };
    let (before, sealed) = lock(transaction, new).await?;
    let relocated = rules::relocate(new, &before)?;
    refuse_live(transaction, &before, &relocated).await?;

    for group in &relocated.created {
        groups::create(transaction, group).await?;
    }
    relocate(transaction, &relocated, &sealed).await?;
    for batch in relocated.events.chunks(BATCH) {
        events::append_all(transaction, batch).await?;
    }
    let mut removed = Vec::new();
    for group in &new.record.content.groups.remove {
        let key = group.id.key();
        if let Some(group) = before.groups.get(&key) {
            removed.extend(remove_emptied(transaction, group, new).await?);
        }
    }
    if let Some(undone) = &undone {
        refactor_row::write(transaction, undone).await?;
    }
    let record = rules::refactored(new, &relocated, removed);
    match new.is_planned {
        true => refactor_row::write(transaction, &record).await?,
        false => refactor_row::insert(transaction, &record).await?,
    }
    Ok(record)
}

async fn recorded(transaction: &mut Transaction, id: RefactorId) -> Result<Refactor, Abort> {
    let recorded = refactor_row::lock(transaction, id).await?;
    Ok(recorded.ok_or(Error::NoSuchRefactor)?)
}

/// Locks the groups and then the references, each in the order of their keys, and returns them.
async fn lock(
    transaction: &mut Transaction,
    new: &ApplyRefactor,
) -> Result<(BeforeRefactor, BTreeMap<String, SealedColumns>), Abort> {
    let mut before = BeforeRefactor::default();
    for (key, group) in rules::groups_of(new) {
        if let Some(group) = groups::lock(transaction, &group).await? {
            before.groups.insert(key, group);
        }
    }
    let mut sealed = BTreeMap::new();
    let addresses: Vec<String> = rules::addresses_of(new).into_iter().collect();
    for batch in addresses.chunks(BATCH) {
        for row in &transaction.fetch(LOCK, values![to_json(&batch)?]).await? {
            let reference = reference_row::read(row)?;
            let key = reference.id.key();
            sealed.insert(key.clone(), sealed_columns(row)?);
            before.references.insert(key, reference);
        }
    }
    Ok((before, sealed))
}

fn sealed_columns(row: &Row) -> Result<SealedColumns, Error> {
    Ok(SealedColumns {
        baseline: row.get("baseline")?,
        observed: row.get("observed")?,
    })
}

/// Refuses a refactor if an operation is live on one of its groups as a whole, or on the AWS resource of what moves, which
/// is locked.
async fn refuse_live(
    transaction: &mut Transaction,
    before: &BeforeRefactor,
    relocated: &Relocated,
) -> Result<(), Abort> {
    let groups: Vec<&String> = before.groups.keys().collect();
    refuse_any(transaction, BUSY_GROUPS, to_json(&groups)?).await?;
    let moving = relocated.references.iter();
    let mut targets: Vec<String> = moving
        .filter_map(|(_, reference)| Some(reference.target()?.key()))
        .collect();
    targets.sort_unstable();
    for batch in targets.chunks(BATCH) {
        transaction
            .fetch(LOCK_TARGETS, values![to_json(&batch)?])
            .await?;
        refuse_any(transaction, BUSY_TARGETS, to_json(&batch)?).await?;
    }
    Ok(())
}

async fn refuse_any(
    transaction: &mut Transaction,
    statement: crate::database::Statement,
    keys: String,
) -> Result<(), Abort> {
    let row = transaction.fetch_optional(statement, values![keys]).await?;
    let busy: Option<OperationId> = match &row {
        Some(row) => busy::id(row, "id")?,
        None => None,
    };
    match busy {
        Some(busy) => Err(Error::Busy(busy).into()),
        None => Ok(()),
    }
}

/// Takes all rows out, and then puts them under their new keys.
async fn relocate(
    transaction: &mut Transaction,
    relocated: &Relocated,
    sealed: &BTreeMap<String, SealedColumns>,
) -> Result<(), Abort> {
    for batch in relocated.references.chunks(BATCH) {
        let keys: Vec<&String> = batch.iter().map(|(key, _)| key).collect();
        transaction.execute(TAKE, values![to_json(&keys)?]).await?;
    }
    let nothing = SealedColumns::default();
    for batch in relocated.references.chunks(BATCH) {
        let rows = batch.iter().map(|(key, reference)| {
            let sealed = sealed.get(key).unwrap_or(&nothing);
            given(reference, sealed)
        });
        let rows: Result<Vec<Given<'_>>, Error> = rows.collect();
        transaction.execute(PUT, values![to_json(&rows?)?]).await?;
    }
    Ok(())
}

fn given<'a>(reference: &'a Reference, sealed: &'a SealedColumns) -> Result<Given<'a>, Error> {
    Ok(Given {
        key: reference.id.key(),
        id: reference.id.to_string(),
        lineage: reference.lineage.as_str(),
        group_key: reference.id.group.key(),
        plane: &reference.scope.plane,
        account: &reference.scope.account,
        region: &reference.scope.region,
        identifier: reference.identifier.as_ref().map(|it| it.as_str()),
        target_key: reference.target().map(|target| target.key()),
        owned: reference.owned.into(),
        provisioning_state: reference.provisioning_state.as_str(),
        baseline: sealed.baseline.as_deref(),
        observed: sealed.observed.as_deref(),
        observed_at: reference.observed_at.map(|at| at.as_millis()),
        created_at: reference.created_at.as_millis(),
        updated_at: reference.updated_at.as_millis(),
        revision: count(reference.revision)?,
        tags: to_json(&reference.tags)?,
        told_to_own: reference.told_to_own.into(),
        marked: reference.marked.into(),
    })
}

/// Removes a group in which nothing is left, and returns it. The caller has locked it.
async fn remove_emptied(
    transaction: &mut Transaction,
    group: &ResourceGroup,
    new: &ApplyRefactor,
) -> Result<Option<ResourceGroup>, Abort> {
    let key = group.id.key();
    let members = reference_row::count_of_group(transaction, &group.id).await?;
    let is_empty = members.all == 0
        && busy::live_in(transaction, &group.id).await?.is_none()
        && !leftover_row::has_ours(transaction, &key).await?;
    if !is_empty {
        return Ok(None);
    }
    leftover_row::delete_register(transaction, &key).await?;
    groups::delete(transaction, &group.id, &rules::removal(new)).await?;
    Ok(Some(group.clone()))
}
