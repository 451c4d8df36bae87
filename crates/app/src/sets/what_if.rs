//! What an apply of a set would do.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use futures_util::StreamExt as _;
use futures_util::stream::FuturesUnordered;
use serde_json::{Map, Value};
use tokio::time::Instant;
use ucp_look::{LiveBasis, PLAN_MAX_BYTES, PlanBasis, PlannedMember, PlannedStep};
use ucp_model::{
    Detail, ErrorCode, Failure, FaultClass, GroupId, Identifier, Reference, Warning, json,
};
use ucp_plan::{Delta, settled};
use ucp_schema::is_unknown;
use ucp_schema::{ResourceSchema, make_declared_unknown, make_unknown, unknown_pointers};
use ucp_set::{Declarations, Link, Referred, Unresolved, left_open, links, resolve};

use super::judged::JudgedSet;
use super::obstacle::{Obstacle, placed};
use super::unchanged::size_of;
use crate::changes::{ChangeGoal, ChangeMember, ChangeReason, GroupChange, applied};
use crate::declaring::Purpose;
use crate::looks::looking::{LOOKING_TIME, members};
use crate::looks::values::LOOKS_AT_ONCE;
use crate::plans::kept_plans::{Prepared, READ_COPIES, tell_not_kept};
use crate::plans::plan_to_apply::DeclaredPlan;
use crate::plans::withholding::concerns;
use crate::resources::what_if::{Foresight, seems_gone, unreadable};
use crate::{
    BeyondRate, Caller, ChangeKind, DeclaredSet, PutResource, Rejection, ResourceChange, SetCases,
    WhatIf,
};

/// How much a what-if shows of properties. What comes after that is shown without them.
pub(crate) const SHOWN_MAX_BYTES: usize = 16 << 20;

/// A resource as it is planned, for those that refer to it.
struct Planned {
    /// Its identifier, if it is certain.
    identifier: Option<Identifier>,
    properties: Option<Value>,
    /// The same, with what AWS may assign anew unknown, if it is put or may be.
    open: Option<Value>,
    /// Whether nothing changes there, and it was read.
    is_settled: bool,
}

impl Planned {
    /// Returns its properties. What AWS may assign anew is as it is.
    fn now(&self) -> Option<&Value> {
        self.properties.as_ref()
    }

    /// Returns the same, with what AWS may assign anew unknown.
    fn opened(&self) -> Option<&Value> {
        self.open.as_ref().or_else(|| self.now())
    }
}

/// Where a declaration leaves values open.
struct Withheld {
    /// The places.
    places: Vec<String>,
    /// Whether a part of the identifier is there.
    has_identifier: bool,
}

/// What is foreseen of the members so far.
struct Foreseen<'a> {
    members: &'a [ChangeMember],
    changes: Vec<Option<ResourceChange>>,
    /// What is wrong with them, by index.
    details: BTreeMap<usize, Vec<Detail>>,
    /// What is planned, by the keys of references.
    planned: BTreeMap<String, Planned>,
    /// What is kept of the plan, as far as it is known, and as long as a plan has room for it.
    kept: Vec<Option<PlannedMember>>,
    /// What that has as JSON.
    kept_bytes: usize,
    /// The properties of the members that refer to others, with the planned values, by index.
    resolved: BTreeMap<usize, Map<String, Value>>,
    /// The keys of what is referred to.
    referred: BTreeSet<String>,
    /// The keys of what is outside of the set, and could not be read.
    unread: BTreeSet<String>,
    /// The keys of what is outside of the set, and stands for no AWS resource.
    missing: BTreeSet<String>,
    /// Where the members leave values open, by the keys of their references.
    withheld: BTreeMap<String, Withheld>,
    /// How many bytes of properties may still be shown.
    room: usize,
}

impl SetCases {
    /// Returns what an apply of a set would do, and keeps the plan for so long. What it refuses at once is refused alike. `admit` is asked whether so many
    /// reads may be made besides one for each resource that the set lists.
    pub async fn what_if_set(
        &self,
        group: &GroupId,
        set: DeclaredSet,
        lifetime: Duration,
        caller: &Caller,
        admit: impl FnOnce(usize) -> Result<(), BeyondRate>,
    ) -> Result<WhatIf, Rejection> {
        let deadline = Instant::now() + LOOKING_TIME;
        let judged = self
            .judged_set(group, set, caller, Purpose::Preview)
            .await?;
        let pool = &self.ground.pool;
        let JudgedSet {
            group,
            members,
            is_quick,
            ..
        } = &judged;
        let is_quick = *is_quick;
        self.admit_set_members(&group.id, members, caller).await?;
        let begin = || Foreseen::new(members);
        let mut foreseen = pool.run_here(is_quick, begin).await?;
        let unlisted = members.iter().filter(|member| member.place.is_empty());
        admit(unlisted.count() + foreseen.outside().count()).map_err(Rejection::BeyondRate)?;
        // Nothing is told of the outputs.
        let outside = self
            .outside(&judged, &Map::new(), deadline, &caller.room)
            .await?;
        let missing = foreseen.outside().filter(|key| !outside.contains_key(*key));
        foreseen.missing = missing.cloned().collect();
        for (key, seen) in outside {
            if seen.live.is_none() {
                foreseen.unread.insert(key.clone());
            }
            let planned = Planned {
                identifier: Some(seen.identifier),
                is_settled: seen.live.is_some(),
                properties: seen.live,
                open: None,
            };
            foreseen.planned.insert(key, planned);
        }
        let looks = self.foresee_members(&mut foreseen, &judged.recorded, caller, deadline);
        Box::pin(looks).await?;
        let end = || {
            self.tell_composites(&mut foreseen);
            if group.body.policy().needs_approval() {
                foreseen.refuse_withheld();
            }
            foreseen.pinned()
        };
        let pinned = pool.run_here(is_quick, end).await?;
        let Foreseen {
            changes,
            details,
            kept,
            kept_bytes,
            resolved,
            ..
        } = foreseen;
        let JudgedSet {
            group,
            members,
            outputs,
            mut recorded,
            reads,
            is_quick: _,
        } = judged;
        for member in &members {
            recorded.remove(&member.reference.key());
        }
        let ignored = recorded
            .values()
            .map(|reference| ResourceChange::of_reference(reference, ChangeKind::Ignore));
        let mut changes: Vec<ResourceChange> =
            changes.into_iter().flatten().chain(ignored).collect();
        self.plans.tell_track_records(&mut changes).await?;
        self.ground.tell_shared(&mut changes, caller).await?;
        if kept_bytes > PLAN_MAX_BYTES {
            tell_not_kept(&mut changes);
        }
        let mut what_if = WhatIf {
            changes,
            error: (!details.is_empty())
                .then(|| failure(details.into_values().flatten().collect())),
            plan: None,
        };
        self.ground.veil_what_if(&mut what_if).await?;
        let kept: Option<Vec<PlannedMember>> = kept.into_iter().collect();
        let prepare = |planned| {
            let stored = members.iter().map(|member| applied(member, false));
            let declared = members
                .iter()
                .map(|member| self.changes.declared_member(member, &group));
            let (stored, declared) = (stored.collect(), declared.collect());
            let change = GroupChange::of(stored, declared, outputs, ChangeReason::default());
            Prepared {
                declared: DeclaredPlan {
                    application: Some(change.application),
                    declarations: Declarations {
                        pinned,
                        ..change.declarations
                    },
                    resolved,
                },
                members: planned,
                group: Some(group.id.clone()),
                reads,
            }
        };
        let prepare = || kept.map(prepare);
        let prepared = pool.run_here(is_quick, prepare).await?;
        self.plans.keep(what_if, prepared, lifetime, caller).await
    }

    /// Looks at all members, each after those that it depends on.
    async fn foresee_members(
        &self,
        foreseen: &mut Foreseen<'_>,
        recorded: &BTreeMap<String, Reference>,
        caller: &Caller,
        deadline: Instant,
    ) -> Result<(), Rejection> {
        let mut begun = vec![false; foreseen.members.len()];
        let mut referred = Referred::default();
        let mut looks = FuturesUnordered::new();
        loop {
            for (index, member) in foreseen.members.iter().enumerate() {
                let is_ready = || {
                    let needs = &member.depends_on;
                    needs.iter().all(|need| foreseen.changes[*need].is_some())
                };
                if begun[index] || looks.len() >= LOOKS_AT_ONCE || !is_ready() {
                    continue;
                }
                begun[index] = true;
                member.take_referred(&mut referred, |link| {
                    size_of(foreseen.value_of(link, Planned::now))
                })?;
                let look = match &member.goal {
                    ChangeGoal::Put(put) => Ok(foreseen.resolved(put).map(|put| member.found(put))),
                    ChangeGoal::Delete(_) | ChangeGoal::DeleteOwned(..) => Err(member),
                };
                looks.push(async move {
                    let look = match look {
                        Ok(Ok(put)) => self.resources.foresight(&put, caller, deadline).await,
                        Ok(Err(failure)) => Err(Rejection::Refused(failure)),
                        Err(deleted) => {
                            let reference = recorded.get(&deleted.reference.key());
                            self.foreseen_delete(deleted, reference, deadline).await
                        }
                    };
                    (index, look)
                });
            }
            match looks.next().await {
                None => return Ok(()),
                Some((index, look)) => foreseen.add(index, look, caller)?,
            }
        }
    }

    /// Warns of references to identifiers of several parts: hardly anything takes them as a whole.
    fn tell_composites(&self, foreseen: &mut Foreseen<'_>) {
        for (member, change) in foreseen.members.iter().zip(&mut foreseen.changes) {
            let (ChangeGoal::Put(put), Some(change)) = (&member.goal, change) else {
                continue;
            };
            let links = put.properties.values().flat_map(links);
            let whole = links.filter(|link| link.pointer.is_none());
            let whole: BTreeMap<String, Link> =
                whole.map(|link| (link.reference.key(), link)).collect();
            for link in whole.into_values() {
                let catalogue = self.types.source.catalogue();
                let schema = catalogue.get(&link.reference.type_name);
                let parts: Vec<String> = match &schema {
                    Some(schema) => {
                        let paths = schema.primary_identifier().iter();
                        paths.map(|path| path.pointer()).collect()
                    }
                    None => Vec::new(),
                };
                if parts.len() > 1 {
                    change.warnings.push(composite(&link, &parts));
                }
            }
        }
    }

    async fn foreseen_delete(
        &self,
        member: &ChangeMember,
        reference: Option<&Reference>,
        deadline: Instant,
    ) -> Result<Foresight, Rejection> {
        let type_name = &member.reference.type_name;
        let schema = self
            .types
            .recorded_schema(&member.scope, type_name)
            .await
            .ok();
        let fingerprint = schema.as_ref().map_or("", |schema| schema.fingerprint());
        let mut planned = PlannedMember {
            scope: member.scope.clone(),
            type_name: member.reference.type_name.clone(),
            reference: Some(member.reference.clone()),
            moved_from: None,
            name: None,
            identifier: None,
            put: None,
            on_shared: member.on_shared(),
            step: PlannedStep::Nothing,
            is_remembered: reference.is_none(),
            basis: PlanBasis::of(None, fingerprint, LiveBasis::Absent),
            planned: None,
        };
        let change = match reference {
            Some(reference) => self.deleted(reference, &mut planned, deadline).await,
            None => ResourceChange::new(
                planned.type_name.clone(),
                member.scope.clone(),
                planned.reference.clone(),
                ChangeKind::NoChange,
            ),
        };
        Ok(Foresight {
            identifier: change.identifier.clone(),
            change,
            error: self.resources.unapprovable(Some(&planned)).await?,
            // What was not seen is not planned.
            planned: (planned.basis.live != LiveBasis::Unread).then_some(planned),
            declared: None,
            schema: None,
        })
    }

    async fn deleted(
        &self,
        reference: &Reference,
        planned: &mut PlannedMember,
        deadline: Instant,
    ) -> ResourceChange {
        let mut change = ResourceChange::of_reference(reference, ChangeKind::Delete);
        planned.step = PlannedStep::Delete;
        planned.identifier = reference.identifier.clone();
        if let (false, Some(identifier)) = (reference.owned, &reference.identifier) {
            change.warnings.push(not_owned(identifier));
        }
        planned.basis = PlanBasis::of(Some(reference), "", LiveBasis::Unread);
        let type_name = &reference.id.type_name;
        let schema = self
            .types
            .recorded_schema(&reference.scope, type_name)
            .await;
        let Ok(schema) = schema else {
            return change;
        };
        planned.basis.schema = schema.fingerprint().to_owned();
        let Some(identifier) = &reference.identifier else {
            planned.basis.live = LiveBasis::Absent;
            return change;
        };
        if !schema.handlers().read {
            planned.basis.live = LiveBasis::Unreadable;
            return change;
        }
        let read = self
            .looks
            .live
            .read(&reference.scope, schema.type_name(), identifier);
        match tokio::time::timeout_at(deadline, read).await {
            Ok(Ok(live)) => {
                change.before = Some(members(schema.shown(&live.properties)));
                planned.basis.live = LiveBasis::Model(settled(&live.properties, &schema));
            }
            Ok(Err(fault)) if fault.class == FaultClass::Missing => {
                planned.basis.live = LiveBasis::Absent;
                change.warnings.push(seems_gone(reference));
            }
            Ok(Err(fault)) => change.warnings.push(unseen(unreadable(&fault))),
            Err(_) => change
                .warnings
                .push(unseen("AWS was not asked in time.".to_owned())),
        }
        change
    }
}

impl<'a> Foreseen<'a> {
    fn new(members: &'a [ChangeMember]) -> Self {
        let puts = members.iter().filter_map(|member| match &member.goal {
            ChangeGoal::Put(put) => Some(&put.properties),
            ChangeGoal::Delete(_) | ChangeGoal::DeleteOwned(..) => None,
        });
        let referred = puts.flat_map(|properties| properties.values().flat_map(links));
        Self {
            members,
            changes: members.iter().map(|_| None).collect(),
            kept: members.iter().map(|_| None).collect(),
            kept_bytes: 0,
            resolved: BTreeMap::new(),
            details: BTreeMap::new(),
            planned: BTreeMap::new(),
            referred: referred.map(|link| link.reference.key()).collect(),
            unread: BTreeSet::new(),
            missing: BTreeSet::new(),
            withheld: BTreeMap::new(),
            room: SHOWN_MAX_BYTES,
        }
    }

    /// Returns the put with the planned values that it refers to. Values that AWS may assign anew are as they are.
    fn resolved(&self, put: &PutResource) -> Result<PutResource, Failure> {
        match self.resolved_with(put, Planned::now) {
            Ok(properties) => Ok(PutResource {
                properties: members(properties),
                ..put.clone()
            }),
            Err(wrong) => Err(unresolved(&wrong)),
        }
    }

    fn resolved_with(
        &self,
        put: &PutResource,
        of: fn(&Planned) -> Option<&Value>,
    ) -> Result<Value, Unresolved> {
        resolve(&Value::Object(put.properties.clone()), |link| {
            self.value_of(link, of)
        })
    }

    fn value_of(&self, link: &Link, of: fn(&Planned) -> Option<&Value>) -> Option<Value> {
        let planned = self.planned.get(&link.reference.key());
        let identifier = planned.and_then(|planned| planned.identifier.as_ref());
        let is_settled = planned.is_some_and(|planned| planned.is_settled);
        link.value_planned(identifier, planned.and_then(of), is_settled)
    }

    /// Returns what the members refer to that the set does not change, as it is planned.
    fn pinned(&self) -> BTreeMap<String, Value> {
        let outside: BTreeSet<&String> = self.outside().collect();
        let stays = |key: &String| {
            let planned = self.planned.get(key);
            outside.contains(key) || planned.is_some_and(|planned| planned.is_settled)
        };
        let puts = self.members.iter().filter_map(|member| match &member.goal {
            ChangeGoal::Put(put) => Some(&put.properties),
            ChangeGoal::Delete(_) | ChangeGoal::DeleteOwned(..) => None,
        });
        let links = puts.flat_map(|properties| properties.values().flat_map(links));
        let links = links.filter(|link| stays(&link.reference.key()));
        let values =
            links.filter_map(|link| Some((link.key(), self.value_of(&link, Planned::now)?)));
        values.filter(|(_, value)| !is_unknown(value)).collect()
    }

    /// Notes that nobody can approve members that leave values open.
    fn refuse_withheld(&mut self) {
        for (index, (member, change)) in self.members.iter().zip(&self.changes).enumerate() {
            let failure = change.as_ref().and_then(ResourceChange::unapprovable);
            if let Some(failure) = failure {
                let details = placed(&member.target(), failure);
                self.details.entry(index).or_default().extend(details);
            }
        }
    }

    /// Returns the places of a put whose values are as they are, and may become others: AWS may assign them anew.
    fn open_places(&self, put: &PutResource) -> Vec<String> {
        let mut referred = put.properties.values().flat_map(links);
        let may_change = referred.any(|link| {
            let planned = self.planned.get(&link.reference.key());
            planned.is_some_and(|planned| planned.open.is_some())
        });
        if !may_change {
            return Vec::new();
        }
        let resolved = [Planned::now, Planned::opened].map(|of| self.resolved_with(put, of));
        let [Ok(known), Ok(open)] = resolved else {
            return Vec::new();
        };
        let known = unknown_pointers(&known);
        let open = unknown_pointers(&open).into_iter();
        open.filter(|place| !known.contains(place)).collect()
    }

    /// Returns the places of a put whose values its author leaves open, or that refer to where another member does.
    fn left_open(&self, put: &PutResource) -> Vec<String> {
        left_open(&Value::Object(put.properties.clone()), |link| {
            let withheld = self.withheld.get(&link.reference.key());
            withheld.is_some_and(|withheld| withheld.holds(link))
        })
    }

    /// Returns the keys of what the members refer to and the set does not list.
    fn outside(&self) -> impl Iterator<Item = &String> {
        let keys = self.members.iter().map(|member| member.reference.key());
        let listed: BTreeSet<String> = keys.collect();
        let referred = self.referred.iter();
        referred.filter(move |key| !listed.contains(*key))
    }

    /// Returns whether a member refers to a property of what could not be read, or to what is not there.
    fn uses_unread(&self, member: &ChangeMember) -> bool {
        let ChangeGoal::Put(put) = &member.goal else {
            return false;
        };
        if self.unread.is_empty() && self.missing.is_empty() {
            return false;
        }
        let mut links = put.properties.values().flat_map(links);
        links.any(|link| {
            let key = link.reference.key();
            link.pointer.is_some() && self.unread.contains(&key) || self.missing.contains(&key)
        })
    }

    /// Adds what is foreseen of a member, or refuses the set.
    fn add(
        &mut self,
        index: usize,
        look: Result<Foresight, Rejection>,
        caller: &Caller,
    ) -> Result<(), Rejection> {
        let member = &self.members[index];
        let Foresight {
            mut change,
            error,
            identifier,
            mut planned,
            mut declared,
            schema,
        } = match look {
            Ok(foresight) => foresight,
            Err(refused) => undecided(member, refused, caller)?,
        };
        if let Some(from) = &member.moved_from {
            let to = Some(member.reference.clone());
            change.tracked_by.clone_from(&to);
            change.moved_from = Some(from.reference.clone());
            if change.kind == ChangeKind::NoChange {
                change.kind = ChangeKind::Move;
            }
            if let Some(planned) = &mut planned {
                planned.reference = to;
                planned.moved_from = Some(from.reference.clone());
            }
        }
        let known_after = change.after.clone().map(Value::Object);
        let open = match &member.goal {
            ChangeGoal::Put(put) => self.open_places(put),
            ChangeGoal::Delete(_) | ChangeGoal::DeleteOwned(..) => Vec::new(),
        };
        let is_open = !open.is_empty();
        for place in &open {
            let planned = planned.as_mut().and_then(|it| it.planned.as_mut());
            if let Some(model) = planned {
                make_unknown(model, place);
            }
            if let Some(shown) = change.after.as_mut() {
                let mut opened = Value::Object(std::mem::take(shown));
                make_unknown(&mut opened, place);
                *shown = members(opened);
            }
            // Of a list, the other elements are compared before anything is sent.
            if let Some(declared) = declared.as_mut() {
                let mut opened = Value::Object(std::mem::take(&mut declared.properties));
                make_declared_unknown(&mut opened, place);
                declared.properties = members(opened);
            }
        }
        if let (true, Some(after)) = (is_open, &change.after) {
            change.unknown = unknown_pointers(&Value::Object(after.clone()));
        }
        // What it would become is not known, and AWS does not assign it.
        let planned = if self.uses_unread(member) {
            let message = "A value that it refers to could not be read, or there is none, so it is not known what it would become.";
            change.kind = ChangeKind::Unsupported(message.to_owned());
            None
        } else {
            planned
        };
        if let Some(error) = error {
            self.details.insert(index, placed(&member.target(), error));
        }
        let key = member.reference.key();
        if let ChangeGoal::Put(put) = &member.goal {
            let places = self.left_open(put);
            if self.referred.contains(&key) && !places.is_empty() {
                let withheld = Withheld::of(places.clone(), schema.as_deref());
                self.withheld.insert(key.clone(), withheld);
            }
            change.withhold(places);
        }
        if self.referred.contains(&key) {
            let is_put = change.kind == ChangeKind::Modify || is_open;
            let after = change.after.clone().map(Value::Object);
            let open = schema.filter(|_| is_put).zip(after);
            let planned = Planned {
                identifier,
                properties: known_after,
                open: open.map(|(schema, after)| schema.with_reassigned(&after)),
                is_settled: matches!(change.kind, ChangeKind::NoChange | ChangeKind::Move)
                    && !is_open,
            };
            self.planned.insert(key, planned);
        }
        let shown = [&change.before, &change.after].map(size);
        let shown =
            shown.iter().sum::<usize>() + change.deltas.iter().map(size_of_delta).sum::<usize>();
        let room = match self.room.checked_sub(shown) {
            None => None,
            Some(left) => match caller.room.take(shown * READ_COPIES) {
                Ok(()) => Some(left),
                // There is room in a while.
                Err(refused @ Rejection::BeyondRate(_)) => return Err(refused),
                Err(_) => None,
            },
        };
        match room {
            Some(room) => self.room = room,
            None => {
                change.before = None;
                change.after = None;
                change.deltas.clear();
                let message = "The reply has no room for its properties. Ask for fewer resources at once, or for this one alone.";
                change.warnings.push(unseen(message.to_owned()));
            }
        }
        if let (ChangeGoal::Put(put), Some(declared)) = (&member.goal, declared)
            && put
                .properties
                .values()
                .any(|value| !links(value).is_empty())
        {
            self.resolved.insert(index, declared.properties);
        }
        self.changes[index] = Some(change);
        self.kept_bytes += planned.as_ref().map_or(0, json::length);
        self.kept[index] = planned.filter(|_| self.kept_bytes <= PLAN_MAX_BYTES);
        Ok(())
    }
}

impl Withheld {
    /// Of a type that is not known, any part may be the identifier.
    fn of(places: Vec<String>, schema: Option<&ResourceSchema>) -> Self {
        let paths = schema.map(ResourceSchema::primary_identifier);
        let has_identifier = paths.is_none_or(|paths| {
            let mut paths = paths.iter().map(|path| path.pointer());
            paths.any(|path| places.iter().any(|place| concerns(place, &path)))
        });
        Self {
            places,
            has_identifier,
        }
    }

    /// Returns whether the value of a reference depends on them.
    fn holds(&self, link: &Link) -> bool {
        match &link.pointer {
            None => self.has_identifier,
            Some(pointer) => {
                let mut places = self.places.iter();
                places.any(|place| concerns(place, pointer.as_str()))
            }
        }
    }
}

fn size(properties: &Option<Map<String, Value>>) -> usize {
    properties.as_ref().map_or(0, json::length)
}

fn size_of_delta(delta: &Delta) -> usize {
    let values = [&delta.before, &delta.after, &delta.last_applied];
    values.into_iter().flatten().map(json::length).sum()
}

/// What is foreseen of a member that is refused: an apply would wait, or end with that. Anything else refuses the set.
fn undecided(
    member: &ChangeMember,
    refused: Rejection,
    caller: &Caller,
) -> Result<Foresight, Rejection> {
    let refused = match refused {
        // An apply waits, whoever asks.
        Rejection::Busy(_) => refused,
        other => other.shown_to(caller),
    };
    let (why, error) = match Obstacle::of(refused)? {
        Obstacle::Refused(failure) => (failure.message.clone(), Some(failure)),
        Obstacle::Busy(operation) => {
            let which = if caller.reads_operation(&operation) {
                format!("Operation {}", operation.header.id)
            } else {
                "Another operation".to_owned()
            };
            let why = format!("{which} works on it. Ask again when that has ended.");
            (why, None)
        }
        Obstacle::Aws(fault) => (unreadable(&fault), None),
    };
    Ok(Foresight {
        change: ResourceChange::new(
            member.reference.type_name.clone(),
            member.scope.clone(),
            Some(member.reference.clone()),
            ChangeKind::Unsupported(why),
        ),
        error,
        identifier: None,
        planned: None,
        declared: None,
        schema: None,
    })
}

fn failure(details: Vec<Detail>) -> Failure {
    let message = "The set cannot be applied as it is declared. Nothing was stored or sent. Correct what the details name.";
    Failure::new(ErrorCode::ApplyFailed, message).with_details(details)
}

fn unresolved(wrong: &Unresolved) -> Failure {
    let message = format!("Its properties cannot be told: {wrong}.");
    Failure::new(ErrorCode::InvalidRequest, message)
}

fn composite(link: &Link, parts: &[String]) -> Warning {
    let alias = &link.reference.alias;
    let one = parts.iter().map(|part| format!("{alias}#{part}"));
    let one: Vec<String> = one.collect();
    Warning {
        code: "CompositeIdentifier".to_owned(),
        target: String::new(),
        message: format!(
            "The identifier of '{alias}' has {} parts, joined by '|', which few properties take. Refer to one of them: {}.",
            parts.len(),
            one.join(", ")
        ),
    }
}

fn not_owned(identifier: &Identifier) -> Warning {
    Warning {
        code: "NotOwned".to_owned(),
        target: String::new(),
        message: format!(
            "The reference does not own '{identifier}', and the set deletes it in AWS all the same. To leave it alone, delete the reference instead."
        ),
    }
}

fn unseen(message: String) -> Warning {
    Warning {
        code: "NotShown".to_owned(),
        target: String::new(),
        message,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;
    use ucp_model::operation::OnShared;
    use ucp_model::{ReferenceId, Scope, TypeName};

    use super::*;
    use crate::caller;

    fn member() -> ChangeMember {
        let group = GroupId::new("local", "rg").unwrap();
        let type_name = TypeName::from_cloudformation("AWS::EC2::VPC").unwrap();
        ChangeMember {
            place: "/resources/0".to_owned(),
            symbolic_name: "a".to_owned(),
            reference: ReferenceId::new(group, type_name, "a").unwrap(),
            scope: Scope::new("aws", "1", "us-west-2").unwrap(),
            goal: ChangeGoal::Delete(OnShared::Refuse),
            depends_on: Vec::new(),
            moved_from: None,
            has_reference: true,
            recorded: None,
            declared: None,
            custom_name: None,
            is_declared: false,
        }
    }

    #[test]
    fn so_much_is_shown_and_no_more() {
        let members = [member()];
        let text = "x".repeat(SHOWN_MAX_BYTES - r#"{"A":""}"#.len());
        for (more, is_shown) in [("", true), ("x", false)] {
            let mut foreseen = Foreseen::new(&members);
            let shown = json!({ "A": format!("{text}{more}") });
            let change = ResourceChange {
                before: shown.as_object().cloned(),
                ..ResourceChange::new(
                    members[0].reference.type_name.clone(),
                    members[0].scope.clone(),
                    None,
                    ChangeKind::Delete,
                )
            };
            let foresight = Foresight {
                change,
                error: None,
                identifier: None,
                planned: None,
                declared: None,
                schema: None,
            };
            foreseen.add(0, Ok(foresight), &caller("ann")).unwrap();
            let change = foreseen.changes[0].as_ref().unwrap();
            assert_eq!(change.before.is_some(), is_shown);
            assert_eq!(change.warnings.is_empty(), is_shown);
        }
    }
}
