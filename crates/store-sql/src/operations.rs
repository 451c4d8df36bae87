//! The operations, each of which is also the job: accepting, stepping and ending them.

use async_trait::async_trait;
use ucp_model::operation::{Kind, ReplacementPolicy, Replacing};
use ucp_model::{
    CorrelationId, GroupId, GroupOperation, Identifier, Operation, OperationId, Reference,
    ReferenceId, Scope, Target, Timestamp, TypeName,
};
use ucp_store::rules::{self, Alias, Claimant};
use ucp_store::{
    Accepted, Error, FinishOperation, Lease, LeaseTerm, ListedOperation, NewGroupOperation,
    NewOperation, OperationPage, Operations, Sealed,
};

use crate::database::{
    Abort, Database, Row, Statement, Transaction, Value, statements, transaction, values,
};
use crate::json::{corrupt, from_json, parsed, to_json};
use crate::leases::generation;
use crate::state::StateColumns;
use crate::{Sql, events, group_operations, groups, references};

/// All that an [`Operation`] is made of.
macro_rules! columns {
    () => {
        "id, kind, plane, account, region, type_name, reference, identifier, was_mapped, was_owned, created, replacing, \
         options, cancel_requested_at, \
         state, action, client_token, token_issued_at, base_digest, unanswered_sends, request_token, failure, state_since, \
         attempt, due_at, changes, result, schema_fingerprint, parent, correlation_id, caller, \
         accepted_at, ended_at, group_name, items_total, items_done"
    };
}
pub(crate) use columns;

statements! {
    INSERT = ["INSERT INTO operations (id, kind, plane, account, region, type_name, reference, reference_key,
            identifier, target_key, was_mapped, created, options, state, state_since, attempt, due_at, changes,
            schema_fingerprint, parent, correlation_id, caller, accepted_at, desired, generation, was_owned, group_key)
        VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, 0, $12, $13, $14, 0, $14, $15, $16, $17, $18, $19,
            $14, $20, 0, $21, $22)"];
    GET = ["SELECT ", columns!(), " FROM operations WHERE id = $1"];
    CHILDREN = ["SELECT ", columns!(), " FROM operations WHERE parent = $1 ORDER BY accepted_at, id"];
    /// The operation that an ended one is a part of goes on.
    WAKE_PARENT = ["UPDATE operations SET due_at = $2 WHERE id = $1 AND ended_at IS NULL AND due_at > $2"];
    BUSY_ALIAS = ["SELECT id FROM operations WHERE reference_key = $1 AND ended_at IS NULL"];
    BUSY_TARGET = ["SELECT id FROM operations WHERE target_key = $1 AND ended_at IS NULL"];
    /// A cancel that the step does not know of (`$22`) is what it is due for.
    STEP = ["UPDATE operations SET
            identifier = $4, created = $5, state = $6, action = $7, client_token = $8, token_issued_at = $9,
            base_digest = $10, request_token = $11, failure = $12, state_since = $13, attempt = $14,
            due_at = CASE WHEN $22 = 0 AND cancel_requested_at < $15 THEN cancel_requested_at ELSE $15 END, changes = $16, unanswered_sends = $17, target_key = $18,
            document = COALESCE($19, document), lease_expires_at = $20, replacing = $21
        WHERE id = $1 AND lease_owner = $2 AND generation = $3"];
    FINISH = ["UPDATE operations SET
            identifier = $4, created = $5, state = $6, action = $7, client_token = $8, token_issued_at = $9,
            base_digest = $10, request_token = $11, failure = $12, state_since = $13, attempt = $14,
            due_at = $15, changes = $16, unanswered_sends = $17, result = $18, ended_at = $19, desired = NULL, document = NULL,
            lease_owner = NULL, lease_expires_at = NULL, replacing = NULL
        WHERE id = $1 AND lease_owner = $2 AND generation = $3"];
    REQUEST_CANCEL = ["UPDATE operations SET
            cancel_requested_at = COALESCE(cancel_requested_at, $2),
            due_at = CASE WHEN due_at < $2 THEN due_at ELSE $2 END
        WHERE id = $1 AND ended_at IS NULL AND group_name IS NULL"];
    CREATED = ["SELECT ", columns!(), " FROM operations
        WHERE ended_at > $1 AND created = 1 AND type_name = $2 AND identifier = $3"];
}

#[async_trait]
impl Operations for Sql {
    async fn accept_operation(&self, new: NewOperation) -> Result<Accepted, Error> {
        transaction!(self, |tx| accept(&mut tx, &new, Claimant::Anyone))
    }

    async fn accept_group_import(&self, new: NewGroupOperation) -> Result<GroupOperation, Error> {
        transaction!(self, |tx| group_operations::accept_import(&mut tx, &new))
    }

    async fn accept_child(&self, lease: &Lease, new: NewOperation) -> Result<Accepted, Error> {
        transaction!(self, |tx| async {
            group_operations::hold(&mut tx, lease).await?;
            accept(&mut tx, &new, Claimant::Child).await
        })
    }

    async fn get_operation(&self, id: OperationId) -> Result<Option<Operation>, Error> {
        match listed(&self.database, id).await? {
            Some(ListedOperation::Resource(operation)) => Ok(Some(*operation)),
            Some(ListedOperation::Group(_)) | None => Ok(None),
        }
    }

    async fn get_group_operation(&self, id: OperationId) -> Result<Option<GroupOperation>, Error> {
        match listed(&self.database, id).await? {
            Some(ListedOperation::Group(operation)) => Ok(Some(*operation)),
            Some(ListedOperation::Resource(_)) | None => Ok(None),
        }
    }

    async fn list_operations(
        &self,
        group: &GroupId,
        page: OperationPage,
    ) -> Result<Vec<ListedOperation>, Error> {
        groups::get(&self.database, group).await?;
        group_operations::list(&self.database, group, page).await
    }

    async fn list_children(&self, parent: OperationId) -> Result<Vec<Operation>, Error> {
        let values = values![parent.to_string()];
        let rows = self.database.read(CHILDREN, values).await?;
        rows.iter().map(read).collect()
    }

    async fn was_created(&self, target: &Target<'_>, since: Timestamp) -> Result<bool, Error> {
        let values = values![
            since.as_millis(),
            target.type_name.as_str(),
            target.identifier.as_str(),
        ];
        for row in &self.database.read(CREATED, values).await? {
            if rules::created(&read(row)?, target, since) {
                return Ok(true);
            }
        }
        Ok(false)
    }

    async fn commit_step(
        &self,
        lease: &Lease,
        operation: &Operation,
        document: Option<Sealed>,
        now: Timestamp,
        term: LeaseTerm,
    ) -> Result<Lease, Error> {
        let renewed = lease.renewed(now, term);
        let document = document.as_ref();
        transaction!(self, |tx| step(&mut tx, &renewed, operation, document, now))?;
        Ok(renewed)
    }

    async fn commit_group_step(
        &self,
        lease: &Lease,
        operation: &GroupOperation,
        ended_children: usize,
        now: Timestamp,
        term: LeaseTerm,
    ) -> Result<Lease, Error> {
        let renewed = lease.renewed(now, term);
        transaction!(self, |tx| group_operations::step(
            &mut tx,
            &renewed,
            operation,
            ended_children,
            now,
        ))?;
        Ok(renewed)
    }

    async fn finish_operation(
        &self,
        lease: &Lease,
        operation: FinishOperation,
    ) -> Result<(), Error> {
        transaction!(self, |tx| finish(&mut tx, lease, &operation))
    }

    async fn finish_group_operation(
        &self,
        lease: &Lease,
        operation: &GroupOperation,
    ) -> Result<(), Error> {
        transaction!(self, |tx| group_operations::finish(
            &mut tx, lease, operation
        ))
    }

    async fn request_cancel(
        &self,
        id: OperationId,
        now: Timestamp,
    ) -> Result<Option<Operation>, Error> {
        transaction!(self, |tx| async {
            let values = values![id.to_string(), now.as_millis()];
            tx.execute(REQUEST_CANCEL, values).await?;
            tx.wake();
            let row = tx.fetch_optional(GET, values![id.to_string()]).await?;
            Ok(match row.as_ref().map(read_listed).transpose()? {
                Some(ListedOperation::Resource(operation)) => Some(*operation),
                Some(ListedOperation::Group(_)) | None => None,
            })
        })
    }

    async fn request_group_cancel(
        &self,
        id: OperationId,
        now: Timestamp,
    ) -> Result<Option<GroupOperation>, Error> {
        transaction!(self, |tx| group_operations::request_cancel(
            &mut tx, id, now
        ))
    }

    async fn remove_ended_operations(&self, before: Timestamp, limit: usize) -> Result<u64, Error> {
        transaction!(self, |tx| group_operations::remove_ended(
            &mut tx, before, limit
        ))
    }
}

/// The operation, whatever it is on.
async fn listed(database: &Database, id: OperationId) -> Result<Option<ListedOperation>, Error> {
    let rows = database.read(GET, values![id.to_string()]).await?;
    rows.first().map(read_listed).transpose()
}

/// Two that accept for one alias or one AWS resource at once both find it idle; a unique index lets one of them through,
/// and the other, run anew, finds it busy.
async fn accept(
    transaction: &mut Transaction,
    new: &NewOperation,
    by: Claimant,
) -> Result<Accepted, Abort> {
    let alias = match &new.reference {
        Some(id) => Some(idle_alias(transaction, id, by).await?),
        None => None,
    };
    let accepted = rules::accept(new.clone(), alias)?;
    let operation = &accepted.operation;

    let target = operation.target().map(|target| target.key());
    if let Some(target) = &target
        && let Some(busy) = holder(transaction, target).await?
    {
        return Err(Error::Busy(busy).into());
    }
    if let Some(mapping) = &accepted.reference {
        if operation.options.take_ownership
            && let Some(target) = &target
            && let Some(owner) = references::other_owner(transaction, target, &mapping.id).await?
        {
            return Err(Error::OwnedElsewhere(owner).into());
        }
        references::put(transaction, mapping).await?;
    }
    insert(transaction, operation, target, new.desired.as_ref()).await?;
    Ok(accepted)
}

/// What stands under an alias that no live operation works on, and stays so until the transaction ends.
async fn idle_alias(
    transaction: &mut Transaction,
    id: &ReferenceId,
    by: Claimant,
) -> Result<Alias, Abort> {
    let group = match by {
        Claimant::Anyone => groups::hold(transaction, &id.group).await?,
        Claimant::Child => groups::hold_even_deleting(transaction, &id.group).await?,
    };
    let mapping = references::lock(transaction, id).await?;
    refuse_busy_alias(transaction, id).await?;
    Ok(Alias { group, mapping })
}

pub(crate) async fn refuse_busy_alias(
    transaction: &mut Transaction,
    id: &ReferenceId,
) -> Result<(), Abort> {
    let row = transaction
        .fetch_optional(BUSY_ALIAS, values![id.key()])
        .await?;
    match row {
        Some(row) => Err(Error::Busy(parsed(row.get("id")?)?).into()),
        None => Ok(()),
    }
}

/// The live operation that works on an AWS resource.
pub(crate) async fn holder(
    transaction: &mut Transaction,
    target: &str,
) -> Result<Option<OperationId>, Abort> {
    let row = transaction
        .fetch_optional(BUSY_TARGET, values![target])
        .await?;
    Ok(row.map(|row| parsed(row.get("id")?)).transpose()?)
}

async fn insert(
    transaction: &mut Transaction,
    operation: &Operation,
    target: Option<String>,
    desired: Option<&Sealed>,
) -> Result<(), Abort> {
    let reference = operation.reference.as_ref();
    let values = values![
        operation.id.to_string(),
        operation.kind.to_string(),
        operation.scope.plane.as_str(),
        operation.scope.account.as_str(),
        operation.scope.region.as_str(),
        operation.type_name.as_str(),
        reference.map(ToString::to_string),
        reference.map(ReferenceId::key),
        operation.identifier.as_ref().map(Identifier::as_str),
        target,
        operation.was_mapped,
        to_json(&operation.options)?,
        operation.state.name(),
        operation.accepted_at.as_millis(),
        to_json(&operation.changes)?,
        operation.schema_fingerprint.as_str(),
        operation.parent.map(|id| id.to_string()),
        operation.correlation_id.as_str(),
        operation.caller.as_str(),
        desired.map(|sealed| sealed.0.clone()),
        operation.was_owned,
        reference.map(|reference| reference.group.key()),
    ];
    transaction.execute(INSERT, values).await?;
    transaction.wake();
    Ok(())
}

/// Writes a step that does not end the operation, under the lease as renewed.
async fn step(
    transaction: &mut Transaction,
    lease: &Lease,
    operation: &Operation,
    document: Option<&Sealed>,
    now: Timestamp,
) -> Result<(), Abort> {
    let replaced = replaced(transaction, operation).await?;
    let held = operation.held().map(|target| target.key());
    let free = match &held {
        Some(held) => {
            let holder = holder(transaction, held).await?;
            holder.is_none_or(|holder| holder == operation.id)
        }
        None => true,
    };
    let mut values = moved(lease, operation)?;
    values.extend(values![
        held.filter(|_| free),
        document.map(|sealed| sealed.0.clone()),
        lease.expires_at.as_millis(),
        operation.replacing.as_ref().map(to_json).transpose()?,
        i64::from(operation.cancel_requested_at.is_some()),
    ]);
    write(transaction, STEP, values).await?;

    if let Some(mapping) = mapping_of(transaction, operation).await? {
        let mapped = operation.mapped().map(|target| target.key());
        let elsewhere = owned_elsewhere(transaction, &mapping, mapped.as_deref()).await?;
        if let Some(stepped) = rules::step(&mapping, operation, elsewhere, now) {
            references::put(transaction, &stepped).await?;
        }
    }
    if let Some(target) = replaced {
        references::delete_idle(transaction, &target).await?;
    }
    Ok(())
}

/// What the step to `operation` has replaced. Few operations may replace anything, so few rows are read for it.
async fn replaced(
    transaction: &mut Transaction,
    operation: &Operation,
) -> Result<Option<String>, Abort> {
    if operation.options.replacement_policy == ReplacementPolicy::Refuse {
        return Ok(None);
    }
    let row = transaction
        .fetch_optional(GET, values![operation.id.to_string()])
        .await?;
    let before = row.as_ref().map(read).transpose()?;
    Ok(before.and_then(|before| rules::replaced(&before, operation)))
}

/// Ends the operation.
async fn finish(
    transaction: &mut Transaction,
    lease: &Lease,
    finish: &FinishOperation,
) -> Result<(), Abort> {
    let operation = &finish.operation;
    let mut values = moved(lease, operation)?;
    values.extend(values![
        operation.result.as_ref().map(to_json).transpose()?,
        operation.ended_at.map(Timestamp::as_millis),
    ]);
    write(transaction, FINISH, values).await?;

    let target = operation.target().map(|target| target.key());
    if let Some(mapping) = mapping_of(transaction, operation).await? {
        let id = mapping.id.clone();
        let elsewhere = owned_elsewhere(transaction, &mapping, target.as_deref()).await?;
        match rules::end(mapping, finish, elsewhere) {
            Some(mapping) => references::put(transaction, &mapping).await?,
            None => references::delete(transaction, &id).await?,
        }
    }
    if rules::removes_all_mappings(operation)
        && let Some(target) = &target
    {
        references::delete_idle(transaction, target).await?;
    }
    let event = rules::ended(operation);
    events::append(transaction, &event, operation.reference.as_ref()).await?;
    if let (Some(parent), Some(ended_at)) = (operation.parent, operation.ended_at) {
        let values = values![parent.to_string(), ended_at.as_millis()];
        transaction.execute(WAKE_PARENT, values).await?;
        transaction.wake();
    }
    Ok(())
}

/// Writes what may change about an operation; no row means that the lease is lost.
pub(crate) async fn write(
    transaction: &mut Transaction,
    statement: Statement,
    values: Vec<Value>,
) -> Result<(), Abort> {
    match transaction.execute(statement, values).await? {
        0 => Err(Error::LeaseLost.into()),
        _ => Ok(()),
    }
}

/// The values that [`STEP`] and [`FINISH`] have in common, `$1` to `$17`.
fn moved(lease: &Lease, operation: &Operation) -> Result<Vec<Value>, Error> {
    let state = StateColumns::of(&operation.state)?;
    Ok(values![
        lease.operation.to_string(),
        lease.owner.as_str(),
        generation(lease)?,
        operation.identifier.as_ref().map(Identifier::as_str),
        operation.created,
        state.state,
        state.action,
        state.client_token,
        state.token_issued_at,
        state.base_digest,
        state.request_token,
        state.failure,
        operation.state_since.as_millis(),
        i64::from(operation.attempt),
        operation.due_at.as_millis(),
        to_json(&operation.changes)?,
        state.unanswered_sends,
    ])
}

async fn mapping_of(
    transaction: &mut Transaction,
    operation: &Operation,
) -> Result<Option<Reference>, Abort> {
    match &operation.reference {
        Some(id) => references::lock(transaction, id).await,
        None => Ok(None),
    }
}

async fn owned_elsewhere(
    transaction: &mut Transaction,
    mapping: &Reference,
    target: Option<&str>,
) -> Result<bool, Abort> {
    let Some(target) = target else {
        return Ok(false);
    };
    let owner = references::other_owner(transaction, target, &mapping.id).await?;
    Ok(owner.is_some())
}

/// The operation in a row of [`columns!`], whatever it is on.
pub(crate) fn read_listed(row: &Row) -> Result<ListedOperation, Error> {
    let group: Option<&str> = row.get("group_name")?;
    Ok(match group {
        Some(_) => ListedOperation::Group(Box::new(group_operations::read(row)?)),
        None => ListedOperation::Resource(Box::new(read(row)?)),
    })
}

/// The operation on a resource in a row of [`columns!`].
pub(crate) fn read(row: &Row) -> Result<Operation, Error> {
    let kind: &str = row.get("kind")?;
    let Some(kind) = Kind::ALL
        .into_iter()
        .find(|candidate| candidate.to_string() == kind)
    else {
        return corrupt(format!("there is no kind '{kind}'"));
    };
    let reference: Option<&str> = row.get("reference")?;
    let identifier: Option<String> = row.get("identifier")?;
    let identifier = identifier.map(Identifier::new);
    let replacing: Option<&str> = row.get("replacing")?;
    let replacing: Option<Replacing> = replacing.map(from_json).transpose()?;
    let subject = Replacing::subject(replacing.as_ref(), identifier.as_ref());
    let state = StateColumns::read(row)?.state(subject)?;
    let result: Option<&str> = row.get("result")?;
    let parent: Option<&str> = row.get("parent")?;
    let type_name = TypeName::from_cloudformation(row.get("type_name")?)
        .map_err(|error| Error::Corrupt(error.to_string()))?;
    Ok(Operation {
        id: parsed(row.get("id")?)?,
        kind,
        scope: Scope {
            plane: row.get("plane")?,
            account: row.get("account")?,
            region: row.get("region")?,
        },
        type_name,
        reference: reference.map(parsed).transpose()?,
        identifier,
        was_mapped: row.flag("was_mapped")?,
        was_owned: row.flag("was_owned")?,
        created: row.flag("created")?,
        replacing,
        options: from_json(row.get("options")?)?,
        cancel_requested_at: row
            .get::<Option<i64>>("cancel_requested_at")?
            .map(Timestamp::from_millis),
        state,
        state_since: Timestamp::from_millis(row.get("state_since")?),
        attempt: row.count("attempt")?,
        due_at: Timestamp::from_millis(row.get("due_at")?),
        changes: from_json(row.get("changes")?)?,
        result: result.map(from_json).transpose()?,
        schema_fingerprint: row.get("schema_fingerprint")?,
        parent: parent.map(parsed).transpose()?,
        correlation_id: CorrelationId::new(row.get::<String>("correlation_id")?),
        caller: row.get("caller")?,
        accepted_at: Timestamp::from_millis(row.get("accepted_at")?),
        ended_at: row
            .get::<Option<i64>>("ended_at")?
            .map(Timestamp::from_millis),
    })
}
