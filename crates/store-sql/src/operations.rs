//! The operations. The row of an operation is also its job.

use async_trait::async_trait;
use ucp_model::operation::{GroupWork, Header, ReplacementPolicy, ResourceWork, Work};
use ucp_model::{GroupId, Operation, OperationId, Reference, ReferenceId, Target, Timestamp};
use ucp_store::rules::{self, Claimant};
use ucp_store::{
    Accepted, Error, FinishOperation, Lease, LeaseTerm, LiveOperations, NewOperation,
    OperationPage, Operations, RecordedTarget, Sealed,
};

use crate::accept::accept;
use crate::database::{Abort, Row, Transaction, statements, transaction, values};
use crate::json::to_json;
use crate::operation_row::{self, body, columns, find, generation, read};
use crate::watches::request_key;
use crate::{
    Sql, busy, ended_orders, events, groups, held_groups, kept_plans, leftover_row, reference_row,
    track_records,
};

statements! {
    /// The ids are a JSON array.
    SEVERAL = ["SELECT ", columns!(), " FROM operations WHERE id "]
        postgres "= ANY(ARRAY(SELECT json_array_elements_text($1::json)))"
        sqlite "IN (SELECT value FROM json_each($1))";
    CHILDREN = ["SELECT ", columns!(), " FROM operations WHERE parent = $1 ORDER BY accepted_at, id"];
    /// Prevents what is done under a lease that another worker takes in the meantime.
    HOLD = ["SELECT cancel_requested_at FROM operations WHERE id = $1 AND lease_owner = $2 AND generation = $3"] lock " FOR UPDATE";
    /// What the step does not know of limits when the operation is due: a cancel request (`$9`), and the end of a child
    /// (`$11`).
    STEP = ["UPDATE operations SET
            status = $4, held_target_key = $5, document = COALESCE($6, document), look = NULL, lease_expires_at = $7,
            takeovers = 0, has_permit = 0, waits_for = NULL,
            due_at = CASE
                WHEN $9 = 0 AND cancel_requested_at < $8 AND (ended_children <= $11 OR cancel_requested_at < $12)
                    THEN cancel_requested_at
                WHEN ended_children > $11 AND $12 < $8 THEN $12
                ELSE $8
            END,
            body = $10, request_key = $13, asks_by = $14
        WHERE id = $1 AND lease_owner = $2 AND generation = $3"];
    /// Counts the end of a child, and makes its parent due at `$2` at the latest. It always writes the row: a step of
    /// the parent that is committed before this is seen here, and one that is committed later sees this.
    END_CHILD = ["UPDATE operations SET
            ended_children = ended_children + 1,
            due_at = CASE WHEN ended_at IS NULL AND due_at > $2 THEN $2 ELSE due_at END
        WHERE id = $1"];
    FINISH = ["UPDATE operations SET
            status = $4, target_key = $5, due_at = $6, ended_at = $6, body = $7, desired = NULL, document = NULL, look = NULL,
            held_target_key = NULL, held_group_key = NULL, lease_owner = NULL, lease_expires_at = NULL, request_key = NULL,
            waits_for = NULL
        WHERE id = $1 AND lease_owner = $2 AND generation = $3"];
    /// In terms that no index of live operations matches, so that the id leads to the row.
    REQUEST_CANCEL = ["UPDATE operations SET
            cancel_requested_at = COALESCE(cancel_requested_at, $2),
            due_at = CASE WHEN due_at < $2 THEN due_at ELSE $2 END, waits_for = NULL
        WHERE id = $1 AND COALESCE(ended_at, 0) = 0"];
    REQUEST_CHILDREN_CANCEL = ["UPDATE operations SET
            cancel_requested_at = COALESCE(cancel_requested_at, $2),
            due_at = CASE WHEN due_at < $2 THEN due_at ELSE $2 END, waits_for = NULL
        WHERE parent = $1 AND COALESCE(ended_at, 0) = 0"];
    CREATED = ["SELECT ", columns!(), " FROM operations WHERE target_key = $1 AND ended_at > $2"];
    PAGE = ["SELECT ", columns!(), " FROM operations
        WHERE group_key = $1 AND (accepted_at, id) < ($2, $3)
        ORDER BY accepted_at DESC, id DESC LIMIT $4"];
    PAGE_BY_STATUS = ["SELECT ", columns!(), " FROM operations
        WHERE group_key = $1 AND (accepted_at, id) < ($2, $3) AND status = $5
        ORDER BY accepted_at DESC, id DESC LIMIT $4"];
    COUNT_LIVE = ["SELECT COUNT(*) AS counted FROM (
            SELECT id FROM operations WHERE held_group_key = $1 ORDER BY accepted_at, id LIMIT $2
        ) AS bounded"];
    /// In the order of an index that has live operations only.
    COUNT_ALL_LIVE = ["SELECT COUNT(*) AS counted FROM (
            SELECT id FROM operations WHERE ended_at IS NULL
            ORDER BY (CASE WHEN lease_expires_at > due_at THEN lease_expires_at ELSE due_at END), id LIMIT $1
        ) AS bounded"];
    COUNT_REQUESTED = ["SELECT COUNT(*) AS counted FROM (
            SELECT id FROM operations WHERE caller = $1 AND ended_at IS NULL ORDER BY id LIMIT $2
        ) AS bounded"];
    /// The parent is looked up for each row. A join could read all live operations.
    REMOVE_ENDED = ["WITH old AS (
            SELECT id AS old_id FROM operations
            WHERE ended_at < $1 AND 0 = COALESCE((
                SELECT CASE WHEN parents.ended_at IS NULL THEN 1 ELSE 0 END
                FROM operations AS parents WHERE parents.id = operations.parent
            ), 0)
            ORDER BY ended_at, id LIMIT $2"] lock " FOR UPDATE SKIP LOCKED" [")
        DELETE FROM operations WHERE id "]
        postgres "= ANY(ARRAY(SELECT old_id FROM old))" sqlite "IN (SELECT old_id FROM old)";
}

#[async_trait]
impl Operations for Sql {
    async fn accept_operation(&self, new: NewOperation) -> Result<Accepted, Error> {
        transaction!(self, |tx| accept(&mut tx, &new, Claimant::Anyone))
    }

    async fn accept_child(&self, lease: &Lease, new: NewOperation) -> Result<Accepted, Error> {
        transaction!(self, |tx| async {
            let parent = hold(&mut tx, lease).await?;
            let cancel_requested_at: Option<i64> = parent.get("cancel_requested_at")?;
            let mut accepted = accept(&mut tx, &new, Claimant::Child).await?;
            if let Some(at) = cancel_requested_at {
                let values = values![lease.operation.to_string(), at];
                tx.execute(REQUEST_CHILDREN_CANCEL, values).await?;
                let header = &mut accepted.operation.header;
                header.cancel_requested_at = Some(Timestamp::from_millis(at));
            }
            Ok(accepted)
        })
    }

    async fn get_operation(&self, id: OperationId) -> Result<Option<Operation>, Error> {
        operation_row::get(&self.database, id).await
    }

    async fn get_operations(&self, ids: &[OperationId]) -> Result<Vec<Operation>, Error> {
        let ids: Vec<String> = ids.iter().map(OperationId::to_string).collect();
        let rows = self.database.read(SEVERAL, values![to_json(&ids)?]).await?;
        Ok(self.those_readable(&rows))
    }

    async fn list_operations(
        &self,
        group: &GroupId,
        page: OperationPage,
    ) -> Result<Vec<Operation>, Error> {
        groups::get(&self.database, group).await?;
        let (before, id) = match page.after {
            Some((accepted_at, id)) => (accepted_at.as_millis(), id.to_string()),
            None => (i64::MAX, String::new()),
        };
        let limit = i64::try_from(page.limit).unwrap_or(i64::MAX);
        let mut values = values![group.key(), before, id, limit];
        let statement = match page.status {
            None => PAGE,
            Some(status) => {
                values.push(status.as_str().into());
                PAGE_BY_STATUS
            }
        };
        let rows = self.database.read(statement, values).await?;
        Ok(self.those_readable(&rows))
    }

    async fn list_children(&self, parent: OperationId) -> Result<Vec<Operation>, Error> {
        let values = values![parent.to_string()];
        let rows = self.database.read(CHILDREN, values).await?;
        rows.iter().map(read).collect()
    }

    async fn recorded_target(&self, target: &Target<'_>) -> Result<RecordedTarget, Error> {
        busy::get(&self.database, target.key()).await
    }

    async fn was_created(&self, target: &Target<'_>, since: Timestamp) -> Result<bool, Error> {
        let values = values![target.key(), since.as_millis()];
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
        let renewed = lease.stepped(now, term);
        let document = document.as_ref();
        transaction!(self, |tx| step(&mut tx, &renewed, operation, document, now))?;
        Ok(renewed)
    }

    async fn finish_operation(&self, lease: &Lease, end: FinishOperation) -> Result<(), Error> {
        let finished = transaction!(self, |tx| finish(&mut tx, lease, &end));
        // What a binding that is deleted has handed out is no longer kept.
        if end
            .operation
            .work
            .group()
            .and_then(GroupWork::order)
            .is_some()
        {
            self.erase_deleted().await;
        }
        finished
    }

    async fn request_cancel(
        &self,
        id: OperationId,
        now: Timestamp,
    ) -> Result<Option<Operation>, Error> {
        transaction!(self, |tx| async {
            request_cancel(&mut tx, id, now).await?;
            find(&mut tx, id).await
        })
    }

    async fn count_live_operations(
        &self,
        those: LiveOperations<'_>,
        limit: usize,
    ) -> Result<usize, Error> {
        let limit = i64::try_from(limit).unwrap_or(i64::MAX);
        let (statement, values) = match those {
            LiveOperations::All => (COUNT_ALL_LIVE, values![limit]),
            LiveOperations::InGroup(group) => (COUNT_LIVE, values![group.key(), limit]),
            LiveOperations::RequestedBy(caller) => (COUNT_REQUESTED, values![caller, limit]),
        };
        self.database.count(statement, values).await
    }

    async fn remove_ended_operations(&self, before: Timestamp, limit: usize) -> Result<u64, Error> {
        let limit = i64::try_from(limit).unwrap_or(i64::MAX);
        transaction!(self, |tx| tx
            .execute(REMOVE_ENDED, values![before.as_millis(), limit]))
    }
}

impl Sql {
    /// Returns the operations that can be read, so that one that cannot does not hide the others.
    fn those_readable(&self, rows: &[Row]) -> Vec<Operation> {
        let note = |row, error| self.unreadable.note(row, &error);
        let operations = rows
            .iter()
            .map(|row| read(row).map_err(|error| note(row, error)));
        operations.flatten().collect()
    }
}

/// Records a cancel request for a live operation and its live children.
pub(crate) async fn request_cancel(
    transaction: &mut Transaction,
    id: OperationId,
    now: Timestamp,
) -> Result<(), Abort> {
    let values = || values![id.to_string(), now.as_millis()];
    if transaction.execute(REQUEST_CANCEL, values()).await? > 0 {
        transaction
            .execute(REQUEST_CHILDREN_CANCEL, values())
            .await?;
        transaction.wake();
    }
    Ok(())
}

/// Keeps another worker from taking the lease until the transaction ends.
pub(crate) async fn hold(transaction: &mut Transaction, lease: &Lease) -> Result<Row, Abort> {
    let owner = lease.owner.as_str();
    let values = values![lease.operation.to_string(), owner, generation(lease)?];
    let row = transaction.fetch_optional(HOLD, values).await?;
    Ok(row.ok_or(Error::LeaseLost)?)
}

/// Writes a step that does not end the operation, under the renewed lease.
async fn step(
    transaction: &mut Transaction,
    lease: &Lease,
    operation: &Operation,
    document: Option<&Sealed>,
    now: Timestamp,
) -> Result<(), Abort> {
    let (replaced, held, ended_children) = match &operation.work {
        Work::Resource(work) => (
            replaced(transaction, lease.operation, work).await?,
            free(transaction, lease.operation, work).await?,
            i64::MAX,
        ),
        Work::Group(work) => {
            let ended = i64::try_from(work.ended_children).unwrap_or(i64::MAX);
            (None, None, ended)
        }
    };
    let values = values![
        lease.operation.to_string(),
        lease.owner.as_str(),
        generation(lease)?,
        operation.status(),
        held.as_deref(),
        document.map(|sealed| sealed.0.clone()),
        lease.expires_at.as_millis(),
        operation.header.due_at.as_millis(),
        i64::from(operation.header.cancel_requested_at.is_some()),
        body(transaction.cipher(), operation)?,
        ended_children,
        now.as_millis(),
        request_key(&operation.work),
        operation.work.asks_by().map(Timestamp::as_millis),
    ];
    if transaction.execute(STEP, values).await? == 0 {
        return Err(Error::LeaseLost.into());
    }
    match &operation.work {
        Work::Resource(work) => {
            let heir = share_heir(transaction, work).await?;
            let reference = reference_of(transaction, work).await?;
            if let Some(target) = &replaced {
                reference_row::lock_all(transaction, target).await?;
            }
            refuse_taken(transaction, operation).await?;
            if let Some(target) = rules::unchecked_target(operation)
                && held.is_none()
            {
                // Another operation had it before the lock, and has ended since.
                return Err(Abort::changed(&target.key()));
            }
            if let Some(reference) = reference {
                let elsewhere = owned_elsewhere(transaction, &reference, work.referenced()).await?;
                if let Some(stepped) = rules::step(&reference, work, elsewhere, now) {
                    reference_row::put(transaction, &stepped).await?;
                    let heir =
                        heir.filter(|_| rules::heir_of(work, &reference, Some(&stepped)).is_some());
                    pass_on(transaction, heir, &reference, &operation.header, now).await?;
                }
            }
            if let Some(target) = replaced {
                reference_row::delete_idle(transaction, &target).await?;
            }
        }
        Work::Group(_) => {}
    }
    Ok(())
}

/// Refuses a step to a resource that AWS has named or respelled, if the operation may not work on it. The references come
/// first, as everywhere: a put of one of them that waits for the resource would keep it locked.
async fn refuse_taken(transaction: &mut Transaction, operation: &Operation) -> Result<(), Abort> {
    let Some(target) = rules::unchecked_target(operation).map(|target| target.key()) else {
        return Ok(());
    };
    busy::lock(transaction, &target).await?;
    // Another step may have been written during the wait for the lock. The end of an operation writes no key that would
    // meet it.
    let holder = busy::holder(transaction, &target).await?;
    if let Some(busy) = holder.filter(|holder| *holder != operation.header.id) {
        return Err(Error::Busy(busy).into());
    }
    if rules::needs_ownership(operation)
        && let Some(own) = operation.work.reference()
        && let Some(owner) = reference_row::other_owner(transaction, &target, own).await?
    {
        return Err(Error::OwnedElsewhere(owner).into());
    }
    if operation.work.resource().is_some_and(rules::begins_change) {
        let others = reference_row::others(transaction, &target, operation).await?;
        rules::judge_others(operation, &others)?;
    }
    Ok(())
}

/// Returns the key of the AWS resource that the operation holds, unless another live operation works on it.
async fn free(
    transaction: &mut Transaction,
    id: OperationId,
    work: &ResourceWork,
) -> Result<Option<String>, Abort> {
    let Some(held) = work.held().map(|target| target.key()) else {
        return Ok(None);
    };
    let holder = busy::holder(transaction, &held).await?;
    Ok(Some(held).filter(|_| holder.is_none_or(|holder| holder == id)))
}

/// Returns the key of the resource that the step to `work` has replaced. Reads the row only if the options allow a
/// replacement, which is rare.
async fn replaced(
    transaction: &mut Transaction,
    id: OperationId,
    work: &ResourceWork,
) -> Result<Option<String>, Abort> {
    if work.options.replacement_policy == ReplacementPolicy::Refuse {
        return Ok(None);
    }
    let before = find(transaction, id).await?;
    let before = before.as_ref().and_then(|before| before.work.resource());
    Ok(before.and_then(|before| rules::replaced(before, work)))
}

/// Ends the operation.
async fn finish(
    transaction: &mut Transaction,
    lease: &Lease,
    finish: &FinishOperation,
) -> Result<(), Abort> {
    let operation = &finish.operation;
    let header = &operation.header;
    let ended_at = header.ended_at.unwrap_or(header.due_at);
    // The parent before the child, as everywhere: otherwise two transactions could wait for each other.
    if let Some(parent) = header.parent {
        let values = values![parent.to_string(), ended_at.as_millis()];
        transaction.execute(END_CHILD, values).await?;
        transaction.wake();
    }
    let work = operation.work.resource();
    let target = work.and_then(|work| Some(work.target()?.key()));
    let values = values![
        lease.operation.to_string(),
        lease.owner.as_str(),
        generation(lease)?,
        operation.status(),
        target.as_deref(),
        ended_at.as_millis(),
        body(transaction.cipher(), &rules::kept(operation))?,
    ];
    if transaction.execute(FINISH, values).await? == 0 {
        return Err(Error::LeaseLost.into());
    }
    match &operation.work {
        Work::Resource(work) => finish_on_resource(transaction, work, finish, target).await?,
        Work::Group(work) => finish_on_group(transaction, operation, work).await?,
    }
    kept_plans::end_plan(transaction, operation).await?;
    events::append(
        transaction,
        &rules::ended(operation),
        operation.work.reference(),
    )
    .await?;
    track_records::note(transaction, operation).await
}

async fn finish_on_resource(
    transaction: &mut Transaction,
    work: &ResourceWork,
    finish: &FinishOperation,
    target: Option<String>,
) -> Result<(), Abort> {
    let heir = share_heir(transaction, work).await?;
    let reference = reference_of(transaction, work).await?;
    let deleted = target.filter(|_| rules::removes_all_references(work));
    if let Some(target) = &deleted {
        reference_row::lock_all(transaction, target).await?;
    }
    refuse_taken(transaction, &finish.operation).await?;
    let mut left = None;
    if let Some(reference) = reference {
        let id = reference.id.clone();
        let elsewhere = if rules::supersedes(work, finish) {
            !supersede(transaction, &reference, work, &finish.operation.header).await?
        } else {
            owned_elsewhere(transaction, &reference, work.target()).await?
        };
        let before = heir.as_ref().map(|_| reference.clone());
        left = rules::end(reference, work, finish, elsewhere);
        match &left {
            Some(reference) => reference_row::put(transaction, reference).await?,
            None => reference_row::delete(transaction, &id).await?,
        }
        if let Some(before) = before {
            let heir = heir.filter(|_| rules::heir_of(work, &before, left.as_ref()).is_some());
            let header = &finish.operation.header;
            pass_on(transaction, heir, &before, header, rules::ended_at(header)).await?;
        }
    }
    if let Some(target) = &deleted {
        reference_row::delete_idle(transaction, target).await?;
    }
    leftover_row::at_end(transaction, work, finish, left.as_ref()).await
}

/// Returns the heir of what the work may give up, and lets nobody delete its group until the transaction ends: a deletion would take
/// along what is owned. `None` if there is none, or its group is being deleted.
async fn share_heir(
    transaction: &mut Transaction,
    work: &ResourceWork,
) -> Result<Option<ReferenceId>, Abort> {
    let heir = work.heir.as_ref();
    let Some(heir) = heir.filter(|_| work.forgets || work.gives_up_old) else {
        return Ok(None);
    };
    let group = groups::share(transaction, &heir.group).await?;
    Ok(groups::open(group).is_ok().then(|| heir.clone()))
}

/// Passes what the reference `before` has given up on to its heir.
async fn pass_on(
    transaction: &mut Transaction,
    heir: Option<ReferenceId>,
    before: &Reference,
    header: &Header,
    now: Timestamp,
) -> Result<(), Abort> {
    let Some(heir) = heir else {
        return Ok(());
    };
    let heir = reference_row::lock(transaction, &heir).await?;
    if let Some(heir) = heir.and_then(|heir| rules::inherited(heir, before, now)) {
        reference_row::own(transaction, &heir).await?;
        let event = rules::updated(&heir, &header.caller, &header.correlation_id, now);
        events::append(transaction, &event, Some(&heir.id)).await?;
    }
    Ok(())
}

/// Takes the resource from who owned one of its identifier before. Returns whether nobody else owns it then.
async fn supersede(
    transaction: &mut Transaction,
    reference: &Reference,
    work: &ResourceWork,
    header: &Header,
) -> Result<bool, Abort> {
    let Some(target) = work.target() else {
        return Ok(true);
    };
    let owner = reference_row::other_owner(transaction, &target.key(), &reference.id).await?;
    let Some(owner) = owner else {
        return Ok(true);
    };
    let now = rules::ended_at(header);
    let owner = reference_row::lock(transaction, &owner).await?;
    let Some(owner) = owner.and_then(|owner| rules::superseded(owner, work, now)) else {
        return Ok(false);
    };
    reference_row::put(transaction, &owner).await?;
    let event = rules::updated(&owner, &header.caller, &header.correlation_id, now);
    events::append(transaction, &event, Some(&owner.id)).await?;
    Ok(true)
}

async fn finish_on_group(
    transaction: &mut Transaction,
    operation: &Operation,
    work: &GroupWork,
) -> Result<(), Abort> {
    let header = &operation.header;
    let group = groups::lock(transaction, &work.group).await?;
    if let Some(order) = work.order() {
        ended_orders::end(transaction, operation, work, order).await?;
    }
    if work.deployment().is_some() {
        held_groups::release(transaction, header.id).await?;
    }
    if rules::removes_group(work) {
        for reference in reference_row::of_group(transaction, &work.group).await? {
            rules::refuse_busy(&reference)?;
            reference_row::delete(transaction, &reference.id).await?;
            let event = rules::forgot_with_group(&reference, header);
            events::append(transaction, &event, Some(&reference.id)).await?;
        }
        leftover_row::delete_register(transaction, &work.group.key()).await?;
        groups::delete(transaction, &work.group, header).await?;
    } else if group.is_some_and(|group| group.body.deletion == Some(header.id)) {
        groups::set_deletion(transaction, &work.group, None).await?;
    }
    Ok(())
}

async fn reference_of(
    transaction: &mut Transaction,
    work: &ResourceWork,
) -> Result<Option<Reference>, Abort> {
    match &work.reference {
        Some(id) => reference_row::lock(transaction, id).await,
        None => Ok(None),
    }
}

async fn owned_elsewhere(
    transaction: &mut Transaction,
    reference: &Reference,
    target: Option<Target<'_>>,
) -> Result<bool, Abort> {
    let Some(target) = target else {
        return Ok(false);
    };
    let owner = reference_row::other_owner(transaction, &target.key(), &reference.id).await?;
    Ok(owner.is_some())
}
