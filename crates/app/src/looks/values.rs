//! The values that declarations refer to, as they are now.

use std::collections::{BTreeMap, BTreeSet};

use futures_util::StreamExt as _;
use futures_util::stream::FuturesUnordered;
use serde_json::Value;
use tokio::time::Instant;
use ucp_model::{Detail, Identifier, ReferenceId};
use ucp_set::{Link, links, links_of, visit};

use crate::in_flight::taken_by;
use crate::plans::kept_plans::of_earlier_version;
use crate::plans::plan_to_apply::{PlanToApply, is_same_declaration};
use crate::{Looks, Rejection, Room};

/// How many members a request looks at at once.
pub(crate) const LOOKS_AT_ONCE: usize = 16;

/// A resource that is as declared, or that is referred to.
#[derive(Clone, Debug)]
pub(crate) struct Seen {
    pub(crate) identifier: Identifier,
    pub(crate) live: Option<Value>,
}

/// What is seen, by the keys of references.
pub(crate) type AllSeen = BTreeMap<String, Seen>;

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
pub(crate) fn value_of(seen: &AllSeen, link: &Link) -> Option<Value> {
    let Seen { identifier, live } = seen.get(&link.reference.key())?;
    link.value_in(identifier, live.as_ref())
}

impl Looks {
    /// Reads what a value refers to.
    pub(crate) async fn referred(
        &self,
        value: &Value,
        deadline: Instant,
        room: &Room,
    ) -> Result<AllSeen, Rejection> {
        let outside = Referents::of([value].into_iter(), &BTreeSet::new());
        self.seen_outside(outside, deadline, room).await
    }

    /// Reads what is outside of a set.
    pub(crate) async fn seen_outside(
        &self,
        Referents(outside): Referents,
        deadline: Instant,
        room: &Room,
    ) -> Result<AllSeen, Rejection> {
        let mut seen = AllSeen::new();
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
    ) -> Result<Option<Seen>, Rejection> {
        let Some(reference) = self.ground.store.get_reference(id).await? else {
            return Ok(None);
        };
        let Some(identifier) = reference.identifier.clone() else {
            return Ok(None);
        };
        let unread = Seen {
            identifier: identifier.clone(),
            live: None,
        };
        if !needs_live || Instant::now() >= deadline {
            return Ok(Some(unread));
        }
        let schema = self
            .types
            .recorded_schema(&reference.scope, &id.type_name)
            .await;
        let Ok(schema) = schema else {
            return Ok(Some(unread));
        };
        if !schema.handlers().read {
            let live = reference.unread_model().cloned();
            return Ok(Some(Seen { identifier, live }));
        }
        let read = self
            .live
            .read(&reference.scope, schema.type_name(), &identifier);
        Ok(match tokio::time::timeout_at(deadline, read).await {
            Ok(Ok(description)) => Some(Seen {
                identifier,
                live: Some(schema.shown(&description.properties)),
            }),
            // A worker reads it again.
            Ok(Err(_)) | Err(_) => Some(unread),
        })
    }
}

impl PlanToApply {
    /// Returns the first place of a declaration that refers to a value outside of the plan which is another one now than was
    /// planned. What was not read in time is not judged.
    pub(crate) fn first_changed(
        &self,
        properties: &Value,
        seen: &AllSeen,
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
