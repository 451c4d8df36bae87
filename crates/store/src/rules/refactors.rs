//! What a refactor moves, and what keeps it from that.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use ucp_model::operation::group::{Application, Deployment, Task};
use ucp_model::operation::{GroupWork, Work};
use ucp_model::{
    GroupId, NewResourceGroup, Operation, ProvisioningState, Refactor, RefactorGroup, RefactorMove,
    RefactorStatus, Reference, ReferenceId, ResourceGroup, Timestamp,
};

use super::history::moved;
use super::{judge_forgetting, judge_policy, refuse_busy};
use crate::{
    ApplyRefactor, AuditEvent, AuditOutcome, Brought, Error, Event, NewOperation, NewWork,
};

/// Returns why the recorded status of a refactor does not permit that it is `applied`, or undone.
pub fn refuse_status(recorded: &Refactor, permitted: RefactorStatus) -> Result<(), Error> {
    if recorded.status == permitted {
        Ok(())
    } else {
        Err(Error::RefactorStatus(recorded.status))
    }
}

/// Returns the groups that a refactor concerns, in the order of their keys. They are locked in that order.
pub fn groups_of(new: &ApplyRefactor) -> BTreeMap<String, GroupId> {
    let content = &new.record.content;
    let moves = content.moves.iter();
    let of_moves = moves.flat_map(|it| [&it.from.group, &it.to.group]);
    let changed = content.groups.create.iter().chain(&content.groups.remove);
    let of_changes = changed.map(|group| &group.id);
    // So that no other refactor brings them an event meanwhile.
    let named = new.history.iter().flat_map(|_| &content.named);
    of_moves
        .chain(of_changes)
        .chain(named)
        .map(|group| (group.key(), group.clone()))
        .collect()
}

/// Returns the groups that no deployment may hold: those that it concerns, and all that it names, by their keys. One that does not
/// exist may be held too.
pub fn held_by(new: &ApplyRefactor) -> BTreeMap<String, GroupId> {
    let named = new.record.content.named.iter();
    let named = named.map(|group| (group.key(), group.clone()));
    groups_of(new).into_iter().chain(named).collect()
}

/// Returns the keys of the old and the new ids of what moves, and of the ids of what is put then.
pub fn addresses_of(new: &ApplyRefactor) -> BTreeSet<String> {
    let content = &new.record.content;
    let moves = content.moves.iter();
    let moves = moves.flat_map(|it| [it.from.key(), it.to.key()]);
    let created = content.changes.create.iter();
    let created = created.filter(|_| new.deploy.is_some());
    let application = deployment(new).map(|(application, _)| application);
    let members = application.iter().flat_map(|it| &it.members);
    let puts = created.chain(members.map(|member| &member.reference));
    moves.chain(puts.map(ReferenceId::key)).collect()
}

/// Refuses a refactor whose groups have had other events than it was judged with. Returns when it is applied: after what has
/// brought these events, each with its time, whatever the clock says.
pub fn after_history(
    new: &ApplyRefactor,
    brought: &[(Timestamp, Brought)],
) -> Result<Timestamp, Error> {
    let Some(history) = &new.history else {
        return Ok(new.record.changed_at);
    };
    let had = brought.iter().flat_map(|(_, brought)| &brought.events);
    if !had.map(|event| &event.id).eq(history) {
        return Err(Error::PreconditionFailed);
    }
    let last = brought
        .last()
        .map(|(at, _)| at.after(Duration::from_millis(1)));
    Ok(last.map_or(new.record.changed_at, |last| {
        last.max(new.record.changed_at)
    }))
}

/// What is recorded of what a refactor concerns.
#[derive(Clone, Debug, Default)]
pub struct BeforeRefactor {
    /// Its groups that exist, by key.
    pub groups: BTreeMap<String, ResourceGroup>,
    /// The references at the old and the new ids, by key.
    pub references: BTreeMap<String, Reference>,
}

/// What a refactor writes, except for its record and the groups that it removes.
#[derive(Clone, Debug, Default)]
pub struct Relocated {
    /// The groups that it creates.
    pub created: Vec<ResourceGroup>,
    /// What moves, by its old id, as it is at its new id.
    pub references: Vec<(ReferenceId, Reference)>,
    /// An event under both ids of each.
    pub events: Vec<(ReferenceId, Event)>,
}

/// Returns what [`Refactors::apply_refactor`](crate::Refactors::apply_refactor) writes. The engine checks that no operation is
/// live on the groups, and on the AWS resources of what moves.
pub fn relocate(new: &ApplyRefactor, before: &BeforeRefactor) -> Result<Relocated, Error> {
    let now = new.record.changed_at;
    for group in before.groups.values() {
        if let Some(deletion) = group.body.deletion {
            return Err(Error::GroupDeleting(deletion));
        }
    }
    let mut groups = before.groups.clone();
    let mut created = Vec::new();
    for group in &new.record.content.groups.create {
        let made = NewResourceGroup {
            id: group.id.clone(),
            location: group.location.clone(),
            tags: group.tags.clone(),
            body: group.body.clone(),
        };
        let made = ResourceGroup::put(None, made, now);
        let is_there = groups.contains_key(&group.id.key());
        match new.record.content.undoes {
            // Somebody has made it again.
            Some(_) if is_there => continue,
            None if is_there => return Err(Error::PreconditionFailed),
            Some(_) | None => {}
        }
        groups.insert(group.id.key(), made.clone());
        created.push(made);
    }
    let mut relocated = Relocated {
        created,
        ..Relocated::default()
    };
    let moves = new.record.content.moves.iter();
    let moves: Vec<&RefactorMove> = moves.filter(|it| is_there(it, new, before)).collect();
    let leave: BTreeSet<String> = moves.iter().map(|it| it.from.key()).collect();
    let arrive: BTreeSet<String> = moves.iter().map(|it| it.to.key()).collect();
    if leave.len() < moves.len() || arrive.len() < moves.len() {
        let message = "a refactor moves two references to one id, or one to two";
        return Err(Error::Corrupt(message.to_owned()));
    }
    before.references.values().try_for_each(refuse_busy)?;
    for it in moves {
        let reference = before.references.get(&it.from.key());
        let reference = reference.ok_or(Error::PreconditionFailed)?;
        let group = groups.get(&it.to.group.key()).ok_or(Error::NoSuchGroup)?;
        let is_as_planned = new.taken_back_by.is_some() || is_as_planned(it, reference, new);
        let is_occupied =
            !leave.contains(&it.to.key()) && before.references.contains_key(&it.to.key());
        if !is_as_planned || is_occupied || it.from.type_name.arm() != it.to.type_name.arm() {
            return Err(Error::PreconditionFailed);
        }
        // The register of leftovers knows it by its id until it is decided.
        if reference.provisioning_state == ProvisioningState::Unknown {
            return Err(Error::OutcomeUnknown);
        }
        let policy = |group: Option<&ResourceGroup>| {
            group.map(|group| group.body.policy()).unwrap_or_default()
        };
        let lowers = policy(Some(group)) < policy(groups.get(&it.from.group.key()));
        if new.keeps_plan_policy && lowers {
            return Err(Error::PolicyLowered);
        }
        let after = Reference {
            id: ReferenceId {
                group: group.id.clone(),
                type_name: reference.id.type_name.clone(),
                alias: it.to.alias.clone(),
            },
            updated_at: now,
            revision: reference.revision + 1,
            moves: reference.moves + 1,
            ..reference.clone()
        };
        for id in [&reference.id, &after.id] {
            let event = moved(id, reference, &after, new);
            relocated.events.push((id.clone(), event));
        }
        relocated.references.push((reference.id.clone(), after));
    }
    if let Some((application, _)) = deployment(new) {
        let is_occupied = |id: &ReferenceId| {
            let key = id.key();
            arrive.contains(&key) || before.references.contains_key(&key) && !leave.contains(&key)
        };
        let created = new.record.content.changes.create.iter();
        let created: BTreeSet<String> = created.map(ReferenceId::key).collect();
        for member in &application.members {
            let key = member.reference.key();
            // What is put since it refers to what changes is there too.
            if is_occupied(&member.reference) == created.contains(&key) {
                return Err(Error::PreconditionFailed);
            }
            // It changes too if what it refers to is replaced, so its group is asked as well.
            let group = groups.get(&member.reference.group.key());
            let group = group.ok_or(Error::NoSuchGroup)?;
            judge_policy(group.body.policy(), None)?;
        }
    }
    Ok(relocated)
}

/// Whether a move has something to move. Of what is taken back, somebody may have deleted a reference, and put another one at
/// its id.
fn is_there(it: &RefactorMove, new: &ApplyRefactor, before: &BeforeRefactor) -> bool {
    let reference = before.references.get(&it.from.key());
    let is_same = |reference: &Reference| {
        let lineage = it.lineage.as_ref();
        lineage.is_none_or(|lineage| *lineage == reference.lineage)
    };
    new.taken_back_by.is_none() || reference.is_some_and(is_same)
}

/// Whether what moves is what was planned. What is taken back may have moved since, and back again; records of earlier versions
/// do not tell that.
fn is_as_planned(it: &RefactorMove, reference: &Reference, new: &ApplyRefactor) -> bool {
    let written = it.written.as_deref();
    match written.filter(|_| new.record.content.undoes.is_some()) {
        Some(written) => reference.written().as_str() == written,
        None => it.etag.as_deref() == Some(reference.etag().as_str()),
    }
}

/// Returns the operation that a refactor is deployed by, and the groups that it holds.
pub fn deployed(new: &ApplyRefactor) -> Option<(Operation, Vec<GroupId>)> {
    let deploy = new.deploy.as_ref()?;
    let NewWork::Group { group, task, .. } = &deploy.work else {
        return None;
    };
    let operation = Operation {
        header: deploy.header(),
        work: Work::Group(Box::new(GroupWork::new(group.clone(), task.clone(), 0))),
    };
    let (_, deployment) = deployment(new)?;
    Some((operation, deployment.groups.clone()))
}

/// Returns the operation of a set that moves references: it is accepted as any other is.
pub fn set_of(new: &ApplyRefactor) -> Option<&NewOperation> {
    new.deploy.as_ref().filter(|_| deployment(new).is_none())
}

fn deployment(new: &ApplyRefactor) -> Option<(&Application, &Deployment)> {
    match &new.deploy.as_ref()?.work {
        NewWork::Group {
            task: Task::Apply(application),
            ..
        } => Some((application, application.deployment.as_deref()?)),
        NewWork::Group { .. } | NewWork::Resource(_) => None,
    }
}

/// Returns the record to write: with the ids and the ETags of what has moved as they were recorded and are from now on, the
/// groups that were made, and those that were removed as they were.
pub fn refactored(
    new: &ApplyRefactor,
    relocated: &Relocated,
    removed: Vec<ResourceGroup>,
) -> Refactor {
    let mut record = new.record.clone();
    record.status = RefactorStatus::Applied;
    let moved = relocated.references.iter();
    let moved: BTreeMap<String, _> = moved.map(|moved| (moved.0.key(), moved)).collect();
    let moves = record.content.moves.into_iter();
    let moves = moves.filter_map(|it| {
        let (before, after) = moved.get(&it.from.key())?;
        Some(RefactorMove {
            from: before.clone(),
            to: after.id.clone(),
            etag: Some(after.etag().as_str().to_owned()),
            lineage: Some(after.lineage.clone()),
            written: Some(after.written().as_str().to_owned()),
            ..it
        })
    });
    record.content.moves = moves.collect();
    let created = relocated.created.iter().map(|group| group.id.key());
    let created: BTreeSet<String> = created.collect();
    let groups = &mut record.content.groups;
    groups
        .create
        .retain(|group| created.contains(&group.id.key()));
    record.content.groups.remove = removed
        .into_iter()
        .map(|group| RefactorGroup {
            id: group.id,
            location: group.location,
            tags: group.tags,
            body: group.body,
        })
        .collect();
    record
}

/// Returns what the audit has of a refactor for the owners of its groups: the request is recorded under the refactor, which is
/// of the plane.
pub fn audited(record: &Refactor, by: &ApplyRefactor) -> Vec<AuditEvent> {
    let groups: BTreeMap<String, &GroupId> = record
        .content
        .named
        .iter()
        .map(|group| (group.key(), group))
        .collect();
    let event = |group: &GroupId| AuditEvent {
        at: record.changed_at,
        caller: by.caller.clone(),
        peer: None,
        action: "System.Resources/resourceGroups/refactor/action".to_owned(),
        id: group.to_string(),
        outcome: AuditOutcome::Allowed,
        status: None,
        code: None,
        correlation_id: by.correlation_id.clone(),
        request_id: record.id.to_string(),
        operation: record.content.deployment,
        change: None,
        paths: Vec::new(),
        suppressed: 0,
    };
    groups.into_values().map(event).collect()
}

/// Returns the groups that a refactor may remove, in the order of their keys: those that it names for that, if it moves
/// something out of them, or the refactor that it takes back has created them. A group whose policy the caller may not lower
/// stays, as it would not be deleted. The engine removes them unless something would be lost with them.
pub fn emptied<'a>(
    new: &ApplyRefactor,
    undone: Option<&Refactor>,
    before: &'a BeforeRefactor,
) -> Vec<&'a ResourceGroup> {
    let content = &new.record.content;
    let left = content.moves.iter().map(|it| &it.from.group);
    let created = undone.map(|undone| undone.content.groups.create.as_slice());
    let created = created.unwrap_or_default().iter().map(|group| &group.id);
    let concerned: BTreeSet<String> = left.chain(created).map(GroupId::key).collect();
    let named = content.groups.remove.iter().map(|group| group.id.key());
    let named: BTreeSet<String> = named.filter(|key| concerned.contains(key)).collect();
    let groups = named.iter().filter_map(|key| before.groups.get(key));
    groups
        .filter(|group| judge_forgetting(group.body.policy(), new.keeps_plan_policy).is_ok())
        .collect()
}

/// Returns a refactor that another one takes back.
pub fn undone(recorded: &Refactor, by: &Refactor) -> Refactor {
    Refactor {
        status: RefactorStatus::Undone,
        changed_at: by.changed_at,
        ..recorded.clone()
    }
}
