//! AWS resources that several references stand for.

use std::collections::{BTreeMap, BTreeSet};

use ucp_look::{PlannedMember, PlannedStep, compared_with, contradicted};
use ucp_model::operation::{ResourceWork, shared_elsewhere};
use ucp_model::{Detail, Reference, ReferenceId, Target, Warning};
use ucp_schema::{Declaration, ResourceSchema};
use ucp_store::rules::takes_away;

use crate::changes::{ChangeKind, ResourceChange};
use crate::{Caller, Ground, Rejection};

/// How many references to what a request is about are looked at.
const REFERENCES_MAX: usize = 10_000;
/// How many of them a warning names.
const NAMED_MAX: usize = 5;

/// An AWS resource that a member of a set takes away, unless others stand for it: it deletes it, or replaces it.
pub(crate) struct Taken {
    /// The name of the member in the set.
    pub(crate) name: String,
    /// The references that it has now, and when the set is applied.
    pub(crate) own: Vec<ReferenceId>,
    /// The key of the resource.
    pub(crate) target: String,
    /// Whether the member is deleted: other references that the set deletes go with it then.
    pub(crate) deletes: bool,
}

impl Taken {
    /// Returns what a member of a plan takes away.
    pub(crate) fn by(member: &PlannedMember) -> Option<Self> {
        let takes = match (member.step, member.put) {
            (PlannedStep::Delete, _) => member.on_shared.refuses(),
            (PlannedStep::Replace, Some(put)) => {
                let mapping = member.basis.mapping.as_ref();
                put.on_shared.refuses() && mapping.is_some_and(|mapping| mapping.owned)
            }
            (PlannedStep::Replace, None)
            | (PlannedStep::Nothing | PlannedStep::Create | PlannedStep::Update, _) => false,
        };
        let own = [member.reference.clone(), member.moved_from.clone()];
        let target = member.changed().filter(|_| takes)?;
        Some(Self {
            name: member.reference.as_ref()?.alias.clone(),
            own: own.into_iter().flatten().collect(),
            target: target.key(),
            deletes: member.put.is_none(),
        })
    }
}

impl Ground {
    /// Refuses a put that would replace what other references stand for, too. Who comes to stand for it later is judged by the worker.
    pub(crate) async fn refuse_taking(&self, work: Option<&ResourceWork>) -> Result<(), Rejection> {
        let takes = |work: &&ResourceWork| takes_away(work) && work.options.on_shared.refuses();
        let Some(work) = work.filter(takes) else {
            return Ok(());
        };
        let targets: Vec<String> = work.referenced().iter().map(Target::key).collect();
        let own = work.reference.as_ref().map(ReferenceId::key);
        let others = self.references_to(&targets).await?.into_iter();
        let mut others: Vec<ReferenceId> = others.map(|other| other.id).collect();
        others.retain(|other| Some(other.key()) != own);
        if others.is_empty() {
            Ok(())
        } else {
            Err(Rejection::Shared(others))
        }
    }

    /// Refuses a set that takes resources away from other references, which stay: it deletes those with the keys `going`. Who comes to
    /// stand for one later is judged with the member.
    pub(crate) async fn refuse_taken(
        &self,
        taken: Vec<Taken>,
        going: &BTreeSet<String>,
        caller: &Caller,
    ) -> Result<(), Rejection> {
        if taken.is_empty() {
            return Ok(());
        }
        let targets: Vec<String> = taken.iter().map(|it| it.target.clone()).collect();
        let mut others = self.others_of(&targets).await?;
        let may_be_named = |other: &ReferenceId| caller.reads_group(&other.group);
        let mut details = Vec::new();
        for taken in taken {
            let Taken { name, own, .. } = &taken;
            let own: Vec<String> = own.iter().map(ReferenceId::key).collect();
            let mut others = others.remove(&taken.target).unwrap_or_default();
            let goes = |key: &String| taken.deletes && going.contains(key);
            others.retain(|other| !own.contains(&other.key()) && !goes(&other.key()));
            let shared = shared_elsewhere(&others, may_be_named).details;
            details.extend(shared.into_iter().map(|detail| Detail {
                message: format!("{} (that of '{name}')", detail.message),
                ..detail
            }));
        }
        if details.is_empty() {
            Ok(())
        } else {
            let failure = shared_elsewhere(&[], may_be_named);
            Err(Rejection::Conflict(failure.with_details(details)))
        }
    }

    /// Refuses the put that makes a second reference to a resource and contradicts the others. Returns how many of these there are.
    pub(crate) async fn judge_second(
        &self,
        own: &ReferenceId,
        target: &Target<'_>,
        declaration: &Declaration,
        schema: &ResourceSchema,
        caller: &Caller,
    ) -> Result<usize, Rejection> {
        let others = self.references_to(&[target.key()]).await?;
        let refused = contradicted(own, declaration.properties(), &others, schema, |other| {
            caller.reads_group(&other.group)
        });
        match refused {
            Some(failure) => Err(Rejection::Conflict(failure)),
            None => Ok(compared_with(own, &others, REFERENCES_MAX)),
        }
    }

    /// Warns of changes of what other references stand for, too.
    pub(crate) async fn tell_shared(
        &self,
        changes: &mut [ResourceChange],
        caller: &Caller,
    ) -> Result<(), Rejection> {
        let keys: BTreeMap<String, Vec<usize>> =
            changes
                .iter()
                .enumerate()
                .fold(BTreeMap::new(), |mut keys, (index, change)| {
                    if let Some(key) = shared_key(change) {
                        keys.entry(key).or_default().push(index);
                    }
                    keys
                });
        if keys.is_empty() {
            return Ok(());
        }
        let asked: Vec<String> = keys.keys().cloned().collect();
        let mut others = self.others_of(&asked).await?;
        let going = changes.iter().filter(|it| it.kind == ChangeKind::Delete);
        let going: BTreeSet<String> = going
            .filter_map(|change| Some(change.tracked_by.as_ref()?.key()))
            .collect();
        for (key, indexes) in keys {
            let all = others.remove(&key).unwrap_or_default();
            for index in indexes {
                let change = &mut changes[index];
                let own = [change.tracked_by.as_ref(), change.moved_from.as_ref()];
                let own: Vec<String> = own.into_iter().flatten().map(ReferenceId::key).collect();
                let deletes = change.kind == ChangeKind::Delete;
                let goes = |key: &String| deletes && going.contains(key);
                let others = all.iter().map(|it| (it, it.key()));
                let others = others.filter(|(_, key)| !own.contains(key) && !goes(key));
                let others: Vec<&ReferenceId> = others.map(|(it, _)| it).collect();
                if !others.is_empty() {
                    change.warnings.push(shared(change, &others, caller));
                }
            }
        }
        Ok(())
    }

    /// Returns the references to AWS resources, by the keys of these.
    async fn others_of(
        &self,
        targets: &[String],
    ) -> Result<BTreeMap<String, Vec<ReferenceId>>, Rejection> {
        let mut others: BTreeMap<String, Vec<ReferenceId>> = BTreeMap::new();
        for reference in self.references_to(targets).await? {
            if let Some(target) = reference.target().map(|target| target.key()) {
                others.entry(target).or_default().push(reference.id);
            }
        }
        Ok(others)
    }

    async fn references_to(&self, targets: &[String]) -> Result<Vec<Reference>, Rejection> {
        let references = self.store.references_to(targets, REFERENCES_MAX);
        Ok(references.await?)
    }
}

/// Returns the key of the resource that a change is about, if others may stand for it.
fn shared_key(change: &ResourceChange) -> Option<String> {
    let identifier = match change.kind {
        ChangeKind::Ignore => None,
        ChangeKind::Create
        | ChangeKind::Delete
        | ChangeKind::Modify
        | ChangeKind::Move
        | ChangeKind::NoChange
        | ChangeKind::Unsupported(_) => change.identifier.as_ref(),
    }?;
    let target = Target {
        scope: &change.scope,
        type_name: &change.type_name,
        identifier,
    };
    Some(target.key())
}

fn shared(change: &ResourceChange, others: &[&ReferenceId], caller: &Caller) -> Warning {
    let named = others.iter().filter(|it| caller.reads_group(&it.group));
    let mut who: Vec<String> = named.take(NAMED_MAX).map(|it| format!("'{it}'")).collect();
    match others.len() - who.len() {
        0 => {}
        more if who.is_empty() => who.push(format!("{more} references of other groups")),
        more => who.push(format!("{more} more")),
    }
    let what = match (&change.kind, change.replacement) {
        (ChangeKind::Delete, _) => {
            "It is not deleted while they do: the delete is refused, or only forgets the reference with onShared 'release'."
        }
        (ChangeKind::Modify, Some(_)) => {
            "It is not replaced while they do, unless onShared is 'release', which leaves the old one alone."
        }
        _ => "Whatever one of them changes, changes for all.",
    };
    Warning {
        code: "SharedResource".to_owned(),
        target: String::new(),
        message: format!("{} stand for the resource too. {what}", who.join(", ")),
    }
}
