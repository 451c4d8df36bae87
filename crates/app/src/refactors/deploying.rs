//! The puts of what changes, once everything has moved.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::Arc;

use serde_json::{Map, Value};
use ucp_access::Right;
use ucp_model::operation::group::{ApplyMember, Deployment, OnFailure};
use ucp_model::{
    Detail, ErrorCode, Failure, GroupId, RefactorContent, RefactorId, ReferenceId, ResourceGroup,
};
use ucp_schema::ResourceSchema;
use ucp_set::{DeclaredMember, MEMBERS_MAX, REFERENCES_MAX, objection, visit};
use ucp_store::NewOperation;

use super::found::{FoundGroup, FoundPut, Tracked, as_made};
use crate::changes::{ChangeGoal, ChangeMember, ChangeReason, GroupChange, Left, applied};
use crate::declaring::LastApplied;
use crate::moves::in_words;
use crate::sets::{placed, refused_elsewhere};
use crate::{Caller, RefactorCases, Rejection};

const INVALID: &str = "What changes cannot be put. Nothing has moved, and nothing was sent. Correct what the details name.";
/// So many puts are quick to judge if each of them is.
const QUICK_PUTS: usize = 8;
/// How many references a message names.
const SHOWN: usize = 10;

/// The puts of a refactor with which nothing is wrong, as far as that can be told without AWS.
pub(super) struct JudgedPuts {
    members: Vec<ApplyMember>,
    declared: Vec<Option<DeclaredMember>>,
    /// What they refer to that nothing will be at.
    unmet: Vec<(String, ReferenceId)>,
    /// What each updates, by its new address, with its place.
    updates: HashMap<String, (String, Tracked)>,
    /// How many of them create something, by the key of the group.
    creates: HashMap<String, usize>,
}

impl RefactorCases {
    /// Judges the puts as each would be judged by itself, without a look at AWS.
    pub(super) async fn judged_puts(
        &self,
        puts: Vec<FoundPut>,
        groups: &[FoundGroup],
        is_plane: bool,
        caller: &Caller,
    ) -> Result<JudgedPuts, Rejection> {
        if puts.len() > MEMBERS_MAX {
            let place = if is_plane { "/groups" } else { "/resources" };
            let message = format!(
                "{} resources change or refer to what changes, and a deployment puts at most {MEMBERS_MAX}. Move first, without deploy, and then apply sets.",
                puts.len()
            );
            return Err(invalid(vec![Detail::at("TooMany", message, place)]));
        }
        let groups: HashMap<String, ResourceGroup> = groups
            .iter()
            .map(|group| match &group.recorded {
                Some(recorded) => (recorded.id.key(), recorded.clone()),
                None => (group.new.id.key(), as_made(&group.new)),
            })
            .collect();
        let schemas: HashMap<String, Arc<ResourceSchema>> = puts
            .iter()
            .map(|it| (it.reference.key(), Arc::clone(&it.schema)))
            .collect();
        let is_quick = puts.len() <= QUICK_PUTS && puts.iter().all(FoundPut::is_quick);
        let judge = || self.judged_in_turn(puts, &groups, &schemas, caller);
        self.ground.pool.run_here(is_quick, judge).await?
    }

    fn judged_in_turn(
        &self,
        puts: Vec<FoundPut>,
        groups: &HashMap<String, ResourceGroup>,
        schemas: &HashMap<String, Arc<ResourceSchema>>,
        caller: &Caller,
    ) -> Result<JudgedPuts, Rejection> {
        let (mut left, mut details) = (Left::of(&caller.room), Vec::new());
        let mut judged = JudgedPuts {
            members: Vec::with_capacity(puts.len()),
            declared: Vec::with_capacity(puts.len()),
            unmet: Vec::new(),
            updates: HashMap::new(),
            creates: HashMap::new(),
        };
        for it in puts {
            // What is referred to is read from AWS.
            for Tracked { id, scope, .. } in &it.stays {
                caller.judge_type(Right::Read, scope, &id.type_name, "read")?;
            }
            self.judge_links(&it, schemas, &mut details);
            details.extend(judge_identifier(&it));
            let group = groups.get(&it.reference.group.key());
            let group =
                group.ok_or_else(|| Rejection::Internal("a named group was lost".into()))?;
            let has_reference = it.updates.is_some();
            let last = it.updates.as_ref().map(|updates| {
                LastApplied::new(it.last.as_ref(), updates.identifier.as_ref(), &it.schema)
            });
            match self
                .changes
                .judged_draft(&it.put, &it.schema, group, last.as_ref(), &mut left)
            {
                Ok(_) => {}
                Err(Rejection::Invalid(failure) | Rejection::TooLarge(failure)) => {
                    details.extend(placed(&it.place, failure));
                }
                Err(refused) => return Err(refused),
            }
            let key = it.reference.key();
            match it.updates {
                Some(reference) => {
                    judged.updates.insert(key, (it.place, reference));
                }
                None => *judged.creates.entry(it.reference.group.key()).or_default() += 1,
            }
            let declared = self.changes.declared_put(&it.put, group);
            judged.declared.push(Some(declared));
            let scope = it.put.scope.clone();
            let member = ChangeMember {
                symbolic_name: in_words(&it.reference),
                depends_on: it.needs,
                has_reference,
                ..ChangeMember::new(it.reference, scope, ChangeGoal::Put(it.put))
            };
            judged.members.push(applied(&member, false));
            judged.unmet.extend(it.unmet);
        }
        if details.is_empty() {
            Ok(judged)
        } else {
            Err(invalid(details))
        }
    }

    /// Notes references to properties that the type of their target has not, or that nobody can read.
    fn judge_links(
        &self,
        it: &FoundPut,
        schemas: &HashMap<String, Arc<ResourceSchema>>,
        details: &mut Vec<Detail>,
    ) {
        let mut count = 0;
        visit(&Value::Object(it.put.properties.clone()), |at, read| {
            for address in read.iter().flat_map(|expression| expression.addresses()) {
                count += 1;
                let id: Option<ReferenceId> = address.name.parse().ok();
                let (Some(id), Some(pointer)) = (id, &address.pointer) else {
                    continue;
                };
                let schema = schemas.get(&id.key()).cloned();
                let schema = schema.or_else(|| self.types.source.catalogue().get(&id.type_name));
                // A private type is checked when it is read.
                if let Some((code, message)) = schema.and_then(|it| objection(&it, pointer)) {
                    let place = format!("{}/properties{at}", it.place);
                    details.push(Detail::at(code.as_str(), message, place));
                }
            }
        });
        if count > REFERENCES_MAX {
            let message = format!(
                "{count} references are given, and a resource that is put may have {REFERENCES_MAX}. Declare values instead."
            );
            let place = format!("{}/properties", it.place);
            details.push(Detail::at("TooMany", message, place));
        }
    }

    /// Returns the operation that makes the puts of a refactor. Refuses it if the caller may not, or the quotas do not allow.
    pub(super) async fn new_deployment(
        &self,
        (refactor, content): (RefactorId, &RefactorContent),
        judged: JudgedPuts,
        existing: &BTreeSet<String>,
        on_failure: OnFailure,
        caller: &Caller,
    ) -> Result<Option<NewOperation>, Rejection> {
        let JudgedPuts {
            members,
            declared,
            unmet,
            updates,
            creates,
        } = judged;
        let Some(first) = members.first() else {
            return Ok(None);
        };
        let group = lasting(content, existing)
            .unwrap_or(&first.reference.group)
            .clone();
        refuse_unmet(&unmet)?;
        for member in &members {
            let type_name = &member.reference.type_name;
            caller.judge_type(Right::Write, &member.scope, type_name, "write")?;
        }
        let groups = members.iter().map(|member| &member.reference.group);
        let groups: BTreeMap<String, &GroupId> = groups.map(|it| (it.key(), it)).collect();
        let arrivals = arrivals(content);
        let more = groups.iter().map(|(key, group)| {
            let made = creates.get(key).copied().unwrap_or_default();
            let arrived = arrivals.get(key).copied().unwrap_or_default();
            (*group, made.saturating_add_signed(arrived))
        });
        let scopes = members.iter().map(|member| &member.scope);
        self.changes
            .admit_members(scopes, more.collect::<Vec<_>>(), caller)
            .await?;
        // Others are put since they refer to what changes, which is perhaps nothing.
        let changed = content.changes.update.iter();
        let changed = changed.filter_map(|id| updates.get(&id.key()));
        self.refuse_protected(&changed.collect::<Vec<_>>()).await?;
        let reason = ChangeReason {
            deployment: Some(Box::new(Deployment {
                refactor,
                groups: content.named.clone(),
                on_failure,
            })),
            ..ChangeReason::default()
        };
        let change = GroupChange::of(members, declared, Map::new(), reason);
        self.changes.new_change(&group, change, caller).map(Some)
    }
}

impl RefactorCases {
    /// Refuses changes that the policies of other groups do not take.
    async fn refuse_protected(&self, updates: &[&(String, Tracked)]) -> Result<(), Rejection> {
        let mut details = Vec::new();
        for (place, reference) in updates {
            let Some(target) = reference.target() else {
                continue;
            };
            let own = Some(&reference.id.group);
            if let Some(failure) = self.ground.refused_elsewhere(&target, own, false).await? {
                details.extend(placed(place, failure));
            }
        }
        refused_elsewhere(details)
    }
}

/// Refuses an identifier that the put does not come to: it would make a double of that resource, or change another one.
fn judge_identifier(it: &FoundPut) -> Option<Detail> {
    let given = it.given.as_ref()?;
    let updated = it.updates.as_ref().and_then(|it| it.identifier.as_ref());
    if updated == Some(given) {
        return None;
    }
    let message = format!(
        "Nothing in the named groups has the identifier '{given}', so the put would not concern that resource. Import it first, name its group too, or leave the identifier out."
    );
    let place = format!("{}/primaryIdentifier", it.place);
    Some(Detail::at(ErrorCode::BadRequest, message, place))
}

/// Returns a group that is there before and afterwards, also if everything moves back: the operation is listed there. `existing`
/// are the keys of those that are there before.
fn lasting<'a>(content: &'a RefactorContent, existing: &BTreeSet<String>) -> Option<&'a GroupId> {
    let removed = content.groups.remove.iter();
    let removed: BTreeSet<String> = removed.map(|group| group.id.key()).collect();
    let mut named = content.named.iter();
    named.find(|group| existing.contains(&group.key()) && !removed.contains(&group.key()))
}

/// Returns how many more references each group has once everything has moved.
fn arrivals(content: &RefactorContent) -> HashMap<String, isize> {
    let mut arrivals: HashMap<String, isize> = HashMap::new();
    for it in &content.moves {
        *arrivals.entry(it.to.group.key()).or_default() += 1;
        *arrivals.entry(it.from.group.key()).or_default() -= 1;
    }
    arrivals
}

/// Refuses puts that refer to what will not be there.
fn refuse_unmet(unmet: &[(String, ReferenceId)]) -> Result<(), Rejection> {
    if unmet.is_empty() {
        return Ok(());
    }
    let details = unmet.iter().take(SHOWN).map(|(place, id)| {
        let message = format!(
            "Nothing tells which resource will be at {}, and a declaration that changes refers to it.",
            in_words(id)
        );
        Detail::at(ErrorCode::RefactorAmbiguous, message, place)
    });
    let message = "Some declarations refer to resources of which nothing tells where they move. Nothing has moved. Say it in `moves`, or do not deploy.";
    let failure = Failure::new(ErrorCode::RefactorAmbiguous, message);
    Err(Rejection::Conflict(failure.with_details(details.collect())))
}

fn invalid(details: Vec<Detail>) -> Rejection {
    Rejection::Invalid(Failure::new(ErrorCode::BadRequest, INVALID).with_details(details))
}
