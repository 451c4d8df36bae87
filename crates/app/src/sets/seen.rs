//! What a request sees of the members of a set: those with nothing to do.

use std::collections::BTreeMap;

use futures_util::StreamExt as _;
use futures_util::stream::FuturesUnordered;
use serde_json::Value;
use tokio::time::Instant;
use ucp_model::{Identifier, ReferenceId};
use ucp_set::{Link, links, resolve};

use super::judging::{JudgedGoal, JudgedMember};
use super::obstacle::Obstacle;
use crate::declaring::Purpose;
use crate::looking::Outlook;
use crate::put::Prospect;
use crate::{App, Caller, PutResource, Rejection};

/// How many members a request looks at at once.
pub(super) const LOOKS_AT_ONCE: usize = 16;

/// A resource that is as declared, or that is referred to.
#[derive(Clone, Debug)]
pub(crate) struct Seen {
    pub(super) identifier: Identifier,
    pub(super) live: Option<Value>,
}

/// What is seen, by the keys of references.
pub(crate) type AllSeen = BTreeMap<String, Seen>;

/// Returns the value of a reference.
pub(crate) fn value_of(seen: &AllSeen, link: &Link) -> Option<Value> {
    let Seen { identifier, live } = seen.get(&link.reference.key())?;
    link.value_in(identifier, live.as_ref())
}

impl App {
    /// Looks at the members, as long as there is time, each after those that it depends on. Returns the indexes of those
    /// with nothing to do, and what was seen. What depends on a change is not looked at: it is judged after that.
    pub(super) async fn unchanged(
        &self,
        members: &[JudgedMember],
        outputs: &Value,
        caller: &Caller,
        deadline: Instant,
    ) -> Result<(Vec<bool>, AllSeen), Rejection> {
        let mut unchanged = vec![false; members.len()];
        let mut begun = vec![false; members.len()];
        let mut seen = self.outside(members, outputs, deadline).await?;
        let mut looks = FuturesUnordered::new();
        loop {
            for (index, member) in members.iter().enumerate() {
                let is_ready = member.depends_on.iter().all(|need| unchanged[*need]);
                if begun[index] || !is_ready || looks.len() >= LOOKS_AT_ONCE {
                    continue;
                }
                begun[index] = true;
                match &member.goal {
                    JudgedGoal::Delete if !member.has_reference => unchanged[index] = true,
                    JudgedGoal::Put(put) => {
                        let Some(put) = resolved(put, &seen) else {
                            continue;
                        };
                        if Instant::now() < deadline {
                            let look = self.unchanged_put(put, caller, deadline);
                            looks.push(async move { (index, look.await) });
                        }
                    }
                    JudgedGoal::Delete | JudgedGoal::DeleteOwned(_) => {}
                }
            }
            let Some((index, look)) = looks.next().await else {
                return Ok((unchanged, seen));
            };
            if let Some(found) = look? {
                unchanged[index] = true;
                seen.insert(members[index].reference.key(), found);
            }
        }
    }

    /// Looks at one resource. Returns it if nothing is to be done; what its reference remembers is written then.
    async fn unchanged_put(
        &self,
        put: PutResource,
        caller: &Caller,
        deadline: Instant,
    ) -> Result<Option<Seen>, Rejection> {
        let foreseen = self.foresee(&put, None, caller, deadline, Purpose::Change, None);
        let foreseen = Box::pin(foreseen).await;
        let nothing = match foreseen.map(|foreseen| foreseen.prospect) {
            Ok(Prospect::Seen(Outlook::Nothing(nothing))) => nothing,
            Ok(
                Prospect::Create(_)
                | Prospect::Seen(
                    Outlook::Refused(_) | Outlook::Change(_) | Outlook::Open | Outlook::Stale,
                ),
            ) => return Ok(None),
            Err(refused) => return left_to_worker(refused),
        };
        match self.settle(&nothing, caller).await {
            Ok(Some(_)) => {}
            Ok(None) => return Ok(None),
            Err(refused) => return left_to_worker(refused),
        }
        let work = nothing.work().resource();
        Ok(work.and_then(|work| {
            Some(Seen {
                identifier: work.identifier.clone()?,
                live: work.result.clone(),
            })
        }))
    }

    /// Reads what a value refers to.
    pub(crate) async fn referred(
        &self,
        value: &Value,
        deadline: Instant,
    ) -> Result<AllSeen, Rejection> {
        self.outside(&[], value, deadline).await
    }

    /// Reads what is referred to outside of the set.
    pub(super) async fn outside(
        &self,
        members: &[JudgedMember],
        outputs: &Value,
        deadline: Instant,
    ) -> Result<AllSeen, Rejection> {
        // Each with whether a property of it is meant, and not only its identifier.
        let mut outside: BTreeMap<String, (ReferenceId, bool)> = BTreeMap::new();
        let puts = members.iter().filter_map(|member| match &member.goal {
            JudgedGoal::Put(put) => Some(Value::Object(put.properties.clone())),
            JudgedGoal::Delete | JudgedGoal::DeleteOwned(_) => None,
        });
        for value in puts.chain([outputs.clone()]) {
            for link in links(&value) {
                let found = outside.entry(link.reference.key());
                let (_, needs_live) = found.or_insert((link.reference, false));
                *needs_live |= link.pointer.is_some();
            }
        }
        for member in members {
            outside.remove(&member.reference.key());
        }
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
        let Some(reference) = self.parts.store.get_reference(id).await? else {
            return Ok(None);
        };
        let Some(identifier) = reference.identifier else {
            return Ok(None);
        };
        let unread = Seen {
            identifier: identifier.clone(),
            live: None,
        };
        if !needs_live || Instant::now() >= deadline {
            return Ok(Some(unread));
        }
        let schema = self.recorded_schema(&reference.scope, &id.type_name).await;
        let Ok(schema) = schema else {
            return Ok(Some(unread));
        };
        if !schema.handlers().read {
            let live = reference.observed;
            return Ok(Some(Seen { identifier, live }));
        }
        let read = self
            .parts
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

/// Returns the put with the values that it refers to, if all of them are known.
fn resolved(put: &PutResource, seen: &AllSeen) -> Option<PutResource> {
    let properties = Value::Object(put.properties.clone());
    match resolve(&properties, |link| value_of(seen, link)) {
        Ok(Value::Object(properties)) => Some(PutResource {
            properties,
            ..put.clone()
        }),
        Ok(_) | Err(_) => None,
    }
}

/// A worker waits for what is in the way, or ends the member with what is wrong. Anything else refuses the set.
fn left_to_worker<T>(refused: Rejection) -> Result<Option<T>, Rejection> {
    Obstacle::of(refused).map(|_| None)
}
