//! The values that declarations refer to, as they are now.

use std::collections::{BTreeMap, BTreeSet};

use futures_util::StreamExt as _;
use futures_util::stream::FuturesUnordered;
use serde_json::Value;
use tokio::time::Instant;
use ucp_model::{Detail, ReferenceId};
use ucp_set::{Link, RecordedReferent, Referent, links, links_of, visit};

use crate::in_flight::taken_by;
use crate::plans::kept_plans::of_earlier_version;
use crate::plans::plan_to_apply::{PlanToApply, is_same_declaration};
use crate::{Looks, Rejection, Room};

/// How many members a request looks at at once.
pub(crate) const LOOKS_AT_ONCE: usize = 16;

/// What is referred to, by the keys of references.
pub(crate) type AllReferents = BTreeMap<String, Referent>;

/// What is referred to outside of a set, by key: each with whether a property of it is meant, and not only its identifier.
pub(crate) struct Referents(BTreeMap<String, (ReferenceId, bool)>);

impl Referents {
    /// Returns what values refer to but for what has one of these keys.
    pub(crate) fn of<'v>(
        values: impl Iterator<Item = &'v Value>,
        of_set: &BTreeSet<String>,
    ) -> Self {
        let mut outside: BTreeMap<String, (ReferenceId, bool)> = BTreeMap::new();
        for link in values.flat_map(links) {
            let key = link.reference.key();
            if !of_set.contains(&key) {
                let (_, needs_live) = outside.entry(key).or_insert((link.reference, false));
                *needs_live |= link.pointer.is_some();
            }
        }
        Self(outside)
    }
}

/// Returns the value of a reference.
pub(crate) fn value_of(seen: &AllReferents, link: &Link) -> Option<Value> {
    seen.get(&link.reference.key())?.value(link)
}

impl Looks {
    /// Reads what a value refers to.
    pub(crate) async fn referred(
        &self,
        value: &Value,
        deadline: Instant,
        room: &Room,
    ) -> Result<AllReferents, Rejection> {
        let outside = Referents::of([value].into_iter(), &BTreeSet::new());
        self.seen_outside(outside, deadline, room).await
    }

    /// Reads what is outside of a set.
    pub(crate) async fn seen_outside(
        &self,
        Referents(outside): Referents,
        deadline: Instant,
        room: &Room,
    ) -> Result<AllReferents, Rejection> {
        let mut seen = AllReferents::new();
        let mut left = outside.into_iter();
        let mut reads = FuturesUnordered::new();
        loop {
            while reads.len() < LOOKS_AT_ONCE
                && let Some((key, (id, needs_live))) = left.next()
            {
                let read = async move { self.read_outside(&id, needs_live, deadline).await };
                reads.push(async move { (key, read.await) });
            }
            match reads.next().await {
                None => return Ok(seen),
                Some((key, read)) => {
                    if let Some(found) = read? {
                        room.take(found.live.as_ref().map_or(0, taken_by))?;
                        seen.insert(key, found);
                    }
                }
            }
        }
    }

    async fn read_outside(
        &self,
        id: &ReferenceId,
        needs_live: bool,
        deadline: Instant,
    ) -> Result<Option<Referent>, Rejection> {
        let reference = self.ground.store.get_reference(id).await?;
        let unread = match RecordedReferent::of(reference, |_, _| !needs_live) {
            RecordedReferent::Nothing => return Ok(None),
            // Its identifier is meant.
            RecordedReferent::Known(known) => {
                return Ok(Some(Referent {
                    live: None,
                    ..known
                }));
            }
            RecordedReferent::Unread(unread) => *unread,
        };
        if Instant::now() >= deadline {
            return Ok(Some(unread.without_read(None)));
        }
        let schema = self.types.recorded_schema(&unread.scope, &unread.type_name);
        let Ok(schema) = schema.await else {
            return Ok(Some(unread.without_read(None)));
        };
        if !schema.handlers().read {
            return Ok(Some(unread.without_read(Some(&schema))));
        }
        let read = self
            .live
            .read(&unread.scope, schema.type_name(), &unread.identifier);
        Ok(Some(match tokio::time::timeout_at(deadline, read).await {
            Ok(Ok(description)) => unread.with(&description.properties, &schema),
            // A worker reads it again.
            Ok(Err(_)) | Err(_) => unread.without_read(None),
        }))
    }
}

impl PlanToApply {
    /// Returns the first place of a declaration that refers to a value outside of the plan which is another one now than was
    /// planned. What was not read in time is not judged.
    pub(crate) fn first_changed(
        &self,
        properties: &Value,
        seen: &AllReferents,
    ) -> Result<Option<String>, Rejection> {
        let declarations = &self.declared()?.declarations;
        let own = self.members.iter().filter_map(|it| it.reference.as_ref());
        let own: BTreeSet<String> = own.map(ReferenceId::key).collect();
        let mut first = None;
        let mut are_all_pinned = true;
        visit(properties, |place, read| {
            let links = read.iter().flat_map(links_of);
            for link in links.filter(|link| !own.contains(&link.reference.key())) {
                let Some(planned) = declarations.pinned(&link) else {
                    are_all_pinned = false;
                    continue;
                };
                let is_other = match seen.get(&link.reference.key()) {
                    Some(found) if found.live.is_none() && link.pointer.is_some() => false,
                    Some(_) | None => {
                        value_of(seen, &link).is_none_or(|now| !is_same_declaration(planned, &now))
                    }
                };
                if is_other && first.is_none() {
                    first = Some(place.to_string());
                }
            }
        });
        if are_all_pinned {
            Ok(first)
        } else {
            Err(of_earlier_version())
        }
    }
}

/// The detail of a value at a place of a declaration that is referred to, and is another one than was planned.
pub(crate) fn referred_changed(place: &str) -> Detail {
    let message = "It refers to a value that is another one than when it was planned.";
    Detail::at("LiveStateChanged", message, format!("/properties{place}"))
}
