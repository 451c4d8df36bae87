//! The transaction that moves what a refactor moves.
//!
//! All rows are set aside, and then get their new keys, so that swaps, cycles and chains of ids meet nobody. What is sealed in
//! them is bound to the lineage, which stays: it is neither read nor written.

use serde::Serialize;
use ucp_model::{
    GroupId, OperationId, Refactor, RefactorId, RefactorStatus, Reference, ResourceGroup,
};
use ucp_store::rules::{self, BeforeRefactor, Claimant, Relocated};
use ucp_store::{ApplyRefactor, Error, NewWork};

use crate::accept::accept;
use crate::database::{Abort, Transaction, Value, statements, values};
use crate::json::{count, to_json};
use crate::reference_row::plain_columns;
use crate::{
    audit_events, busy, events, groups, held_groups, leftover_row, operation_row, operations,
    refactor_row, reference_row, role_assignments, service_row,
};

/// How many rows a statement moves.
const BATCH: usize = 500;

statements! {
    /// The references with these keys, a JSON array, without what is sealed, in the order in which everybody locks them.
    LOCK = ["SELECT ", plain_columns!(), ", NULL AS baseline, NULL AS observed FROM resource_references WHERE key "]
        postgres "= ANY(ARRAY(SELECT json_array_elements_text($1::json)))"
        sqlite "IN (SELECT value FROM json_each($1))" [" ORDER BY key"] lock " FOR UPDATE";
    /// The first live operation on one of these AWS resources.
    BUSY_TARGETS = ["SELECT id FROM operations WHERE held_target_key "]
        postgres "= ANY(ARRAY(SELECT json_array_elements_text($1::json)))"
        sqlite "IN (SELECT value FROM json_each($1))" [" ORDER BY id || '' LIMIT 1"];
    /// The first live operation on one of these groups as a whole. Its id is no column here, or Postgres may read all operations
    /// in the order of their ids.
    BUSY_GROUPS = ["SELECT id FROM operations WHERE held_group_key "]
        postgres "= ANY(ARRAY(SELECT json_array_elements_text($1::json)))"
        sqlite "IN (SELECT value FROM json_each($1))"
        [" AND id <> $2 AND kind IN ('deleteGroup', 'importGroup', 'applyGroup', 'applyOrder') ORDER BY id || '' LIMIT 1"];
    /// No key of a reference begins so.
    SET_ASIDE = ["UPDATE resource_references SET lineage = COALESCE(lineage, key), key = '~' || key WHERE key "]
        postgres "= ANY(ARRAY(SELECT json_array_elements_text($1::json)))"
        sqlite "IN (SELECT value FROM json_each($1))";
    /// The rows are a JSON array. SQLite looks each of them up. Told the keys as well, it would look up all of the array for each
    /// key, and Postgres could read all references without them.
    BRING = ["UPDATE resource_references SET key = moved.arrives, id = moved.new_id, group_key = moved.new_group,
            revision = moved.new_revision, moves = resource_references.moves + 1, updated_at = moved.moved_at FROM "]
        postgres "(SELECT '~' || (row->>'from') AS aside, row->>'key' AS arrives, row->>'id' AS new_id,
                row->>'group' AS new_group, (row->>'revision')::bigint AS new_revision, (row->>'at')::bigint AS moved_at
            FROM json_array_elements($1::json) AS given(row))"
        sqlite "(SELECT '~' || (value->>'from') AS aside, value->>'key' AS arrives, value->>'id' AS new_id,
                value->>'group' AS new_group, value->>'revision' AS new_revision, value->>'at' AS moved_at
            FROM json_each($1))"
        [" AS moved WHERE resource_references.key = moved.aside"]
        postgres " AND resource_references.key
            = ANY(ARRAY(SELECT '~' || (row->>'from') FROM json_array_elements($1::json) AS given(row)))"
        sqlite "";
}

/// What becomes of a row that moves, as [`BRING`] takes it.
#[derive(Serialize)]
struct Brought {
    from: String,
    key: String,
    id: String,
    group: String,
    revision: i64,
    at: i64,
}

/// Applies a refactor.
pub(crate) async fn apply(
    transaction: &mut Transaction,
    new: &ApplyRefactor,
) -> Result<Refactor, Abort> {
    let by = new.taken_back_by.as_ref().map(|lease| lease.operation);
    if let Some(lease) = &new.taken_back_by {
        operations::hold(transaction, lease).await?;
    }
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
    let before = lock(transaction, new).await?;
    let changed_at = match &new.history {
        Some(_) => {
            let named = &new.record.content.named;
            let brought = refactor_row::brought(transaction, named).await?;
            rules::after_history(new, &brought)?
        }
        None => new.record.changed_at,
    };
    let new = &ApplyRefactor {
        record: Refactor {
            changed_at,
            ..new.record.clone()
        },
        ..new.clone()
    };
    let relocated = rules::relocate(new, &before)?;
    refuse_live(transaction, new, &before, &relocated, by).await?;

    for group in &relocated.created {
        groups::create(transaction, group).await?;
    }
    relocate(transaction, &relocated).await?;
    for batch in relocated.events.chunks(BATCH) {
        events::append_all(transaction, batch).await?;
    }
    let emptied = rules::emptied(new, undone.as_ref(), &before);
    let removed = remove_emptied(transaction, emptied, by).await?;
    if let Some(undone) = &undone {
        refactor_row::write(transaction, undone).await?;
    }
    let record = rules::refactored(new, &relocated, removed);
    if new.is_planned {
        refactor_row::write(transaction, &record).await?
    } else {
        refactor_row::insert(transaction, &record).await?
    }
    audit_events::append(transaction, &rules::audited(&record, new)).await?;
    if let Some(set) = rules::set_of(new) {
        accept(transaction, set, Claimant::Anyone).await?;
    }
    if let Some((operation, groups)) = rules::deployed(new) {
        let declared = match new.deploy.as_ref().map(|deploy| &deploy.work) {
            Some(NewWork::Group { declared, .. }) => declared.as_ref(),
            Some(NewWork::Resource(_)) | None => None,
        };
        operation_row::insert(transaction, &operation, None, declared, None).await?;
        held_groups::hold(transaction, &groups, operation.header.id).await?;
    }
    Ok(record)
}

async fn recorded(transaction: &mut Transaction, id: RefactorId) -> Result<Refactor, Abort> {
    let recorded = refactor_row::lock(transaction, id).await?;
    Ok(recorded.ok_or(Error::NoSuchRefactor)?)
}

/// Locks the groups and then the references, each in the order of their keys, and returns them.
async fn lock(transaction: &mut Transaction, new: &ApplyRefactor) -> Result<BeforeRefactor, Abort> {
    let mut before = BeforeRefactor::default();
    for (key, group) in rules::groups_of(new) {
        if let Some(group) = groups::lock(transaction, &group).await? {
            before.groups.insert(key, group);
        }
    }
    let addresses: Vec<String> = rules::addresses_of(new).into_iter().collect();
    for reference in lock_references(transaction, &addresses).await? {
        before.references.insert(reference.id.key(), reference);
    }
    Ok(before)
}

/// Locks the references with these keys, which are in their order, and returns them without what is sealed.
pub(crate) async fn lock_references(
    transaction: &mut Transaction,
    keys: &[String],
) -> Result<Vec<Reference>, Abort> {
    let mut references = Vec::new();
    for batch in keys.chunks(BATCH) {
        for row in &transaction.fetch(LOCK, values![to_json(&batch)?]).await? {
            references.push(reference_row::read(row)?);
        }
    }
    Ok(references)
}

/// Refuses a refactor if an operation is live on one of its groups as a whole, or on the AWS resource of what moves. Resources
/// are not locked, since a database has few locks of that kind: an operation that is accepted meanwhile names the resource,
/// and what it does to references it does by their resource.
async fn refuse_live(
    transaction: &mut Transaction,
    new: &ApplyRefactor,
    before: &BeforeRefactor,
    relocated: &Relocated,
    but: Option<OperationId>,
) -> Result<(), Abort> {
    let groups: Vec<&String> = before.groups.keys().collect();
    let excepted = but.map(|operation| operation.to_string());
    let groups = values![to_json(&groups)?, excepted.unwrap_or_default()];
    refuse_any(transaction, BUSY_GROUPS, groups).await?;
    let groups: Vec<GroupId> = rules::held_by(new).into_values().collect();
    if let Some(holder) = held_groups::holder(transaction, &groups, but).await? {
        return Err(Error::Busy(holder).into());
    }
    let moving = relocated.references.iter();
    let targets: Vec<String> = moving
        .filter_map(|(_, reference)| Some(reference.target()?.key()))
        .collect();
    for batch in targets.chunks(BATCH) {
        refuse_any(transaction, BUSY_TARGETS, values![to_json(&batch)?]).await?;
    }
    Ok(())
}

async fn refuse_any(
    transaction: &mut Transaction,
    statement: crate::database::Statement,
    values: Vec<Value>,
) -> Result<(), Abort> {
    let row = transaction.fetch_optional(statement, values).await?;
    let busy: Option<OperationId> = match &row {
        Some(row) => busy::id(row, "id")?,
        None => None,
    };
    match busy {
        Some(busy) => Err(Error::Busy(busy).into()),
        None => Ok(()),
    }
}

/// Sets all rows aside, and then brings each under its new key.
async fn relocate(transaction: &mut Transaction, relocated: &Relocated) -> Result<(), Abort> {
    for batch in relocated.references.chunks(BATCH) {
        let keys: Vec<String> = batch.iter().map(|(id, _)| id.key()).collect();
        let keys = values![to_json(&keys)?];
        transaction.execute(SET_ASIDE, keys).await?;
    }
    for batch in relocated.references.chunks(BATCH) {
        let rows = batch.iter().map(|(from, reference)| {
            Ok(Brought {
                from: from.key(),
                key: reference.id.key(),
                id: reference.id.to_string(),
                group: reference.id.group.key(),
                revision: count(reference.revision)?,
                at: reference.updated_at.as_millis(),
            })
        });
        let rows: Result<Vec<Brought>, Error> = rows.collect();
        let rows = values![to_json(&rows?)?];
        transaction.execute(BRING, rows).await?;
    }
    Ok(())
}

/// Removes those of these groups with which nothing is lost, and returns them. The caller has locked them.
async fn remove_emptied(
    transaction: &mut Transaction,
    groups: Vec<&ResourceGroup>,
    but: Option<OperationId>,
) -> Result<Vec<ResourceGroup>, Abort> {
    let mut empty = Vec::new();
    for group in groups {
        if is_empty(transaction, &group.id, but).await? {
            empty.push(group);
        }
    }
    let removed = role_assignments::unassigned(transaction, empty).await?;
    for group in &removed {
        groups::delete_unassigned(transaction, &group.id).await?;
    }
    Ok(removed.into_iter().cloned().collect())
}

/// Returns whether nothing is in a group: no reference, no live operation but this one, and nothing in its register of
/// leftovers, and no service instance.
async fn is_empty(
    transaction: &mut Transaction,
    group: &GroupId,
    but: Option<OperationId>,
) -> Result<bool, Abort> {
    let members = reference_row::count_of_group(transaction, group).await?;
    Ok(members.all == 0
        && busy::live_in(transaction, group, but).await?.is_none()
        && !leftover_row::has_any(transaction, &group.key()).await?
        && !service_row::is_any_in(transaction, group).await?)
}
