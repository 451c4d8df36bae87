//! What a request sees of the members of a set: those with nothing to do.

use std::collections::BTreeMap;

use futures_util::stream::{self, FuturesUnordered};
use futures_util::{StreamExt as _, TryStreamExt as _};
use serde_json::{Map, Value};
use tokio::time::Instant;
use ucp_model::operation::{OnShared, ResourceWork};
use ucp_model::{Failure, GroupId, Reference, Target, json, pointer};
use ucp_set::{Link, Referent, Referred, resolve};
use ucp_store::rules::takes_away;

use super::judged::JudgedSet;
use super::obstacle::{Obstacle, placed, refused_elsewhere};
use crate::changes::{ChangeGoal, ChangeMember};
use crate::declaring::Purpose;
use crate::ground::sharing::Taken;
use crate::looks::looking::Outlook;
use crate::looks::settling::Nothing;
use crate::looks::values::{AllReferents, LOOKS_AT_ONCE, Referents, value_of};
use crate::resources::put::Prospect;
use crate::{Caller, PutResource, Rejection, Room, SetCases};

/// How often values that are referred to are in memory while a set is planned, each time where it is put in.
const REFERRED_COPIES: usize = 4;

/// What a look at a member has shown.
enum Shown {
    /// It is as declared.
    Unchanged(Referent, Box<Nothing>),
    /// It would be changed, which the policy of another group does not take.
    Refused(Failure),
    /// Its AWS resource, which has this key, would be deleted or replaced, unless others stand for it.
    Taken(String),
    /// None of these, or it is not known.
    Open,
}

impl SetCases {
    /// Looks at the members, as long as there is time, each after those that it depends on. Returns the indexes of those
    /// with nothing to do, and what was seen. What depends on a change is not looked at: it is judged after that. Refuses
    /// changes that the policies of other groups do not take, and those that other references would lose a resource by. If there are none, what the references of the members with
    /// nothing to do remember is written.
    pub(super) async fn unchanged(
        &self,
        judged: &JudgedSet,
        caller: &Caller,
        deadline: Instant,
    ) -> Result<(Vec<bool>, AllReferents), Rejection> {
        let JudgedSet {
            members, recorded, ..
        } = judged;
        let mut unchanged = vec![false; members.len()];
        let mut begun = vec![false; members.len()];
        let mut seen = self
            .outside(judged, &judged.outputs, deadline, &caller.room)
            .await?;
        let mut referred = Referred::default();
        let mut refused = BTreeMap::new();
        let mut taken = BTreeMap::new();
        let mut nothings = Vec::new();
        let mut looks = FuturesUnordered::new();
        loop {
            for (index, member) in members.iter().enumerate() {
                let is_ready = match &member.goal {
                    ChangeGoal::Put(_) => member.depends_on.iter().all(|need| unchanged[*need]),
                    ChangeGoal::Delete(_) | ChangeGoal::DeleteOwned(..) => true,
                };
                if begun[index] || !is_ready || looks.len() >= LOOKS_AT_ONCE {
                    continue;
                }
                begun[index] = true;
                member.take_referred(&mut referred, |link| size_of(value_of(&seen, link)))?;
                let put = match &member.goal {
                    ChangeGoal::Put(put) => match resolved(put, &seen) {
                        Some(put) if Instant::now() < deadline => Some(member.found(put)),
                        Some(_) | None => continue,
                    },
                    ChangeGoal::Delete(_) | ChangeGoal::DeleteOwned(..) => None,
                };
                let reference = recorded.get(&member.reference.key());
                unchanged[index] = put.is_none() && reference.is_none();
                looks.push(async move {
                    let look = match put {
                        Some(put) => self.seen_put(put, reference, caller, deadline).await,
                        None => self.seen_delete(reference, member.on_shared()).await,
                    };
                    (index, look)
                });
            }
            let Some((index, look)) = looks.next().await else {
                break;
            };
            match look? {
                Shown::Unchanged(found, nothing) => {
                    unchanged[index] = true;
                    seen.insert(members[index].reference.key(), found);
                    nothings.push((index, nothing));
                }
                Shown::Refused(failure) => {
                    refused.insert(index, placed(&members[index].target(), failure));
                }
                Shown::Taken(target) => {
                    let member = &members[index];
                    let from = member.moved_from.as_ref().map(|from| &from.reference);
                    let own = [Some(&member.reference), from].into_iter().flatten();
                    let own = own.cloned().collect();
                    let taken_by = Taken {
                        name: member.symbolic_name.clone(),
                        own,
                        target,
                        deletes: !matches!(member.goal, ChangeGoal::Put(_)),
                    };
                    taken.insert(index, taken_by);
                }
                Shown::Open => {}
            }
        }
        drop(looks);
        refused_elsewhere(refused.into_values().flatten().collect())?;
        let deleted = members.iter();
        let deleted = deleted.filter(|member| !matches!(member.goal, ChangeGoal::Put(_)));
        let going = deleted.map(|member| member.reference.key()).collect();
        self.ground
            .refuse_taken(taken.into_values().collect(), &going, caller)
            .await?;
        // Members come in the order in which they were found to be as declared, so after those that they depend on.
        let settled: Vec<(usize, bool)> = stream::iter(nothings)
            .map(|(index, nothing)| async move {
                let settled = self.looks.settle(&nothing, caller).await;
                match settled.map(|settled| settled.is_some()) {
                    Ok(is_settled) => Ok((index, is_settled)),
                    Err(refused) => left_to_worker(refused).map(|()| (index, false)),
                }
            })
            .buffered(LOOKS_AT_ONCE)
            .try_collect()
            .await?;
        for (index, is_settled) in settled {
            let member = &members[index];
            if !is_settled || !member.depends_on.iter().all(|need| unchanged[*need]) {
                unchanged[index] = false;
                seen.remove(&member.reference.key());
            }
        }
        Ok((unchanged, seen))
    }

    /// Looks at one resource.
    async fn seen_put(
        &self,
        put: PutResource,
        reference: Option<&Reference>,
        caller: &Caller,
        deadline: Instant,
    ) -> Result<Shown, Rejection> {
        let foreseen = self
            .resources
            .foresee(&put, None, caller, deadline, Purpose::Change, None);
        let foreseen = Box::pin(foreseen).await;
        let nothing = match foreseen.map(|foreseen| foreseen.prospect) {
            Ok(Prospect::Seen(Outlook::Nothing(nothing))) => nothing,
            Ok(Prospect::Seen(Outlook::Change(change))) => {
                let work = change.work.resource();
                let replaces = work.is_some_and(takes_away) && put.options.on_shared.refuses();
                let target = if replaces {
                    reference.and_then(Reference::target)
                } else {
                    work.and_then(ResourceWork::target)
                };
                let own = change.work.group_id();
                return self.seen_change(target, own, replaces).await;
            }
            Ok(
                Prospect::Create(_)
                | Prospect::Seen(Outlook::Refused(_) | Outlook::Open | Outlook::Stale),
            ) => return Ok(Shown::Open),
            Err(refused) => return left_to_worker(refused).map(|()| Shown::Open),
        };
        let work = nothing.work().resource();
        let found = work.and_then(|work| {
            Some(Referent {
                identifier: work.identifier.clone()?,
                live: work.result.clone(),
            })
        });
        Ok(match found {
            Some(found) => Shown::Unchanged(found, nothing),
            None => Shown::Open,
        })
    }

    async fn seen_delete(
        &self,
        reference: Option<&Reference>,
        on_shared: OnShared,
    ) -> Result<Shown, Rejection> {
        let target = reference.and_then(Reference::target);
        let own = reference.map(|reference| &reference.id.group);
        self.seen_change(target, own, on_shared.refuses()).await
    }

    async fn seen_change(
        &self,
        target: Option<Target<'_>>,
        own: Option<&GroupId>,
        takes: bool,
    ) -> Result<Shown, Rejection> {
        let Some(target) = target else {
            return Ok(Shown::Open);
        };
        Ok(
            match self.ground.refused_elsewhere(&target, own, false).await? {
                Some(failure) => Shown::Refused(failure),
                None if takes => Shown::Taken(target.key()),
                None => Shown::Open,
            },
        )
    }

    /// Reads what is referred to outside of the set. Refuses one whose members would take too much of what they refer to.
    pub(super) async fn outside(
        &self,
        judged: &JudgedSet,
        outputs: &Map<String, Value>,
        deadline: Instant,
        room: &Room,
    ) -> Result<AllReferents, Rejection> {
        let pool = &self.ground.pool;
        let outside = || {
            let puts = judged.members.iter().filter_map(ChangeMember::put);
            let values = puts.flat_map(|put| put.properties.values());
            let of_set = judged.members.iter().map(|member| member.reference.key());
            Referents::of(values.chain(outputs.values()), &of_set.collect())
        };
        let outside = pool.run_here(judged.is_quick, outside).await?;
        let seen = self.looks.seen_outside(outside, deadline, room).await?;
        let judge = || judge_referred(&judged.members, &judged.recorded, &seen, room);
        pool.run_here(judged.is_quick, judge).await??;
        Ok(seen)
    }
}

/// Refuses a set whose members would take too much of what they refer to: of what is outside as it was seen, and of each other as
/// they are declared, or else as they are stored. Takes room for it.
fn judge_referred(
    members: &[ChangeMember],
    recorded: &BTreeMap<String, Reference>,
    seen: &AllReferents,
    room: &Room,
) -> Result<(), Rejection> {
    let puts = members
        .iter()
        .filter_map(|member| Some((member.reference.key(), &member.put()?.properties)));
    let declared: BTreeMap<String, &Map<String, Value>> = puts.collect();
    let value_of = |link: &Link| {
        let key = link.reference.key();
        let declared = || {
            let (top, rest) = link.pointer.as_ref()?.split_front()?;
            let value = declared.get(&key)?.get(top.decoded().as_ref())?;
            value.pointer(rest.as_str()).cloned()
        };
        let stored = || {
            let reference = recorded.get(&key)?;
            let identifier = reference.identifier.as_ref()?;
            link.value_in(identifier, reference.observed.as_ref())
        };
        value_of(seen, link).or_else(declared).or_else(stored)
    };
    // Many may refer to one.
    let mut sizes: BTreeMap<String, usize> = BTreeMap::new();
    let mut size_of = |link: &Link| {
        let size = sizes.entry(link.key());
        *size.or_insert_with(|| size_of(value_of(link)))
    };
    let mut referred = Referred::default();
    for member in members {
        member.take_referred(&mut referred, &mut size_of)?;
    }
    room.take(referred.bytes().saturating_mul(REFERRED_COPIES))
}

impl ChangeMember {
    /// Counts the values that its declaration refers to, or refuses the set.
    pub(super) fn take_referred(
        &self,
        referred: &mut Referred,
        mut size_of: impl FnMut(&Link) -> usize,
    ) -> Result<(), Rejection> {
        let Some(put) = self.put() else {
            return Ok(());
        };
        let above = format!("{}/properties", self.target());
        for (name, value) in &put.properties {
            let taken = referred.take(&pointer::join(&above, name), value, &mut size_of);
            taken.map_err(Rejection::Invalid)?;
        }
        Ok(())
    }
}

/// Returns how many bytes a value has as JSON, if it is known.
pub(super) fn size_of(value: Option<Value>) -> usize {
    value.map_or(0, |value| json::length(&value))
}

/// Returns the put with the values that it refers to, if all of them are known.
fn resolved(put: &PutResource, seen: &AllReferents) -> Option<PutResource> {
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
fn left_to_worker(refused: Rejection) -> Result<(), Rejection> {
    Obstacle::of(refused).map(drop)
}
