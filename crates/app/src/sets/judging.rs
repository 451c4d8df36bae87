//! The judgement of a set without AWS: all that is wrong with it, at once.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use serde_json::{Map, Value};
use ucp_access::Right;
use ucp_look::PlanRead;
use ucp_model::operation::OnShared;
use ucp_model::operation::group::MovedFrom;
use ucp_model::{
    Detail, ErrorCode, Failure, GroupId, Reference, ReferenceId, ResourceGroup, Scope, TypeName,
    json,
};
use ucp_schema::{Classes, ResourceSchema};
use ucp_set::{
    Draft, Goal, Linked, LinkedMember, MEMBERS_MAX, Member, OUTSIDE_MAX, Outside, Set, links,
};

use super::judged::JudgedSet;
use super::moving::moved;
use super::obstacle::placed;
use super::same_resource::{note_declared, one_for_each};
use crate::changes::{ChangeGoal, ChangeMember, CustomName, Left};
use crate::declared::Given;
use crate::declaring::{LastApplied, Purpose, unsupported};
use crate::ground::refusal::no_such_group;
use crate::groups::group_operations::TYPES_MAX;
use crate::{
    Caller, DeclaredSet, Mode, PutResource, Rejection, SetCases, SetGoal, SetMember, TrackedBy,
};

/// A set of so many members, in a group of so many references, is quick to judge if each of its declarations is.
const QUICK_MEMBERS: usize = 8;
const QUICK_REFERENCES: usize = 100;
/// What the members of such a set declare, in bytes.
const QUICK_SIZE: usize = 16 * 1024;
/// The maximum number of resources that a set deletes without listing them.
pub(crate) const UNLISTED_MAX: usize = 1_000;

const INVALID: &str =
    "The set cannot be applied. Nothing was stored or sent. Correct what the details name.";

impl SetCases {
    /// Judges a set without a call to AWS.
    pub async fn validate_set(
        &self,
        group: &GroupId,
        set: DeclaredSet,
        caller: &Caller,
    ) -> Result<(), Rejection> {
        self.judged_set(group, set, caller, Purpose::Validation)
            .await?;
        Ok(())
    }

    /// Judges a set for a purpose.
    pub(crate) async fn judged_set(
        &self,
        group: &GroupId,
        set: DeclaredSet,
        caller: &Caller,
        purpose: Purpose,
    ) -> Result<JudgedSet, Rejection> {
        judge_rights(&set, caller, purpose)?;
        let group = match self.ground.store.get_resource_group(group).await {
            // All of it is new.
            Err(ucp_store::Error::NoSuchGroup) if purpose == Purpose::Preview => {
                let group = self.looks.new_group(group);
                return self
                    .judged_set_in(group, set, Vec::new(), caller, purpose)
                    .await;
            }
            Err(ucp_store::Error::NoSuchGroup) => return Err(no_such_group(group)),
            other => other?,
        };
        if let Some(deletion) = group.body.deletion {
            return Err(self.ground.busy(deletion).await);
        }
        let recorded = self.references_for(&set, &group.id, &caller.room).await?;
        self.judged_set_in(group, set, recorded, caller, purpose)
            .await
    }

    /// Judges a set for a group, which need not exist yet. `recorded` has all references of the group that the set may list or
    /// refer to.
    pub(crate) async fn judged_set_in(
        &self,
        group: ResourceGroup,
        set: DeclaredSet,
        recorded: Vec<Reference>,
        caller: &Caller,
        purpose: Purpose,
    ) -> Result<JudgedSet, Rejection> {
        let (right, _) = judge_rights(&set, caller, purpose)?;
        let listed = set.members.len();
        if listed > MEMBERS_MAX {
            let message = format!(
                "{listed} resources are given, and a set has at most {MEMBERS_MAX}. Use several sets."
            );
            return Err(invalid(vec![Detail::at("TooMany", message, "/resources")]));
        }
        let mut details = Vec::new();
        let given = self.given(set.members, &mut details).await?;
        let is_quick = recorded.len() <= QUICK_REFERENCES && is_quick(&given, &set.outputs);
        let pool = &self.ground.pool;
        let read = || {
            let (recorded, moved, leaving) = by_key(&group.id, &given, recorded, set.mode)?;
            let members = members(&group.id, &given, &recorded, &moved, &mut details);
            let unlisted = match set.mode {
                Mode::Incremental => Vec::new(),
                Mode::Complete => unlisted(&recorded, &members, &mut details),
            };
            for reference in &unlisted {
                caller.judge_type(right, &reference.scope, &reference.id.type_name, "delete")?;
            }
            let draft = Draft::of(Set {
                group: group.id.clone(),
                is_complete: details.is_empty(),
                may_be_unknown: purpose == Purpose::Preview,
                members,
                outputs: set.outputs,
            });
            let outside = draft.outside();
            Ok::<_, Rejection>(((recorded, moved, leaving), unlisted, draft, outside))
        };
        let (found, unlisted, draft, outside) = pool.run_here(is_quick, read).await??;
        let (recorded, mut moved, leaving) = found;
        self.moves.judge_moved(leaving.iter()).await?;
        if outside.len() > OUTSIDE_MAX {
            let message = format!(
                "{} resources outside of the set are referred to, and {OUTSIDE_MAX} may be. Use several sets.",
                outside.len()
            );
            details.push(Detail::at("TooMany", message, "/resources"));
            return Err(invalid(details));
        }
        let found = self.known(outside, &group.id, &recorded, caller).await?;
        let reads = found.values().flatten().map(|reference| PlanRead {
            reference: reference.id.clone(),
            scope: reference.scope.clone(),
        });
        let reads = reads.collect();
        let known = found.into_iter().map(|(name, found)| {
            let ids = found.into_iter().map(|reference| reference.id);
            (name, ids.collect())
        });
        let known: BTreeMap<Outside, Vec<ReferenceId>> = known.collect();
        let judge = || {
            let schemas = self.schemas_of(&given, &group.id, &known);
            let deleted = unlisted.iter().map(|reference| reference.id.key());
            let Linked {
                members: linked,
                outputs,
                order,
                problems,
            } = draft.link(&known, &schemas, &deleted.collect());
            details.extend(problems);
            let mut left = Left::of(&caller.room);
            let mut judged: Vec<Option<ChangeMember>> = Vec::with_capacity(linked.len());
            for member in linked {
                let index = index_of(&member);
                let given = given.get(&index);
                let given = given.ok_or_else(|| Rejection::Internal("a member was lost".into()))?;
                let reference = recorded.get(&member.reference.key());
                match self.judged_member(given, member, &group, reference, &mut left) {
                    Ok(member) => judged.push(Some(ChangeMember {
                        moved_from: moved.remove(&index),
                        ..member
                    })),
                    Err(Rejection::Invalid(failure) | Rejection::TooLarge(failure)) => {
                        details.extend(placed(&format!("/resources/{index}"), failure));
                        judged.push(None);
                    }
                    Err(refused) => return Err(refused),
                }
            }
            let types = &self.types.source;
            let schema_of = |type_name: &TypeName| types.catalogue().get(type_name);
            let unlisted = (unlisted, set.on_shared);
            let mut members = in_order(judged, &order, unlisted, schema_of);
            details.extend(one_for_each(&members));
            if !details.is_empty() {
                return Err(invalid(details));
            }
            note_declared(&mut members);
            Ok((members, outputs))
        };
        let (members, outputs) = pool.run_here(is_quick, judge).await??;
        Ok(JudgedSet {
            group,
            members,
            outputs,
            recorded,
            reads,
            is_quick,
        })
    }

    /// Returns the members whose types are known, by their index. Notes what is wrong with the others.
    async fn given(
        &self,
        members: Vec<Result<SetMember, Detail>>,
        details: &mut Vec<Detail>,
    ) -> Result<BTreeMap<usize, Given>, Rejection> {
        let mut schemas: BTreeMap<(Scope, TypeName), Result<Arc<ResourceSchema>, Failure>> =
            BTreeMap::new();
        let mut given = BTreeMap::new();
        for (index, member) in members.into_iter().enumerate() {
            let member = match member {
                Ok(member) => member,
                Err(detail) => {
                    details.push(detail);
                    continue;
                }
            };
            let key = (member.scope.clone(), member.type_name.clone());
            if !schemas.contains_key(&key) {
                let schema = if schemas.len() < TYPES_MAX {
                    match self.types.schema(&member.scope, &member.type_name).await {
                        Ok(schema) => Ok(schema),
                        Err(Rejection::Invalid(failure)) => Err(failure),
                        Err(rejection) => return Err(rejection),
                    }
                } else {
                    Err(Failure::new(
                        "TooMany",
                        format!(
                            "The resources before it are of {TYPES_MAX} types already, as counted for each account and region. Use another set."
                        ),
                    ))
                };
                schemas.insert(key.clone(), schema);
            }
            match &schemas[&key] {
                Ok(schema) => {
                    let schema = Arc::clone(schema);
                    given.insert(index, Given { schema, member });
                }
                Err(failure) => details.push(Detail::at(
                    failure.code.as_str(),
                    failure.message.as_str(),
                    format!("/resources/{index}/type"),
                )),
            }
        }
        Ok(given)
    }

    /// Returns the references that names stand for. What may not be read does not exist.
    async fn known(
        &self,
        outside: BTreeSet<Outside>,
        group: &GroupId,
        recorded: &BTreeMap<String, Reference>,
        caller: &Caller,
    ) -> Result<BTreeMap<Outside, Vec<Reference>>, Rejection> {
        let mut by_alias: BTreeMap<String, Vec<&Reference>> = BTreeMap::new();
        for reference in recorded.values() {
            let alias = reference.id.alias.to_lowercase();
            by_alias.entry(alias).or_default().push(reference);
        }
        // What is referred to is read from AWS.
        let may_read = |reference: &Reference| {
            let Reference { id, scope, .. } = reference;
            let judged = caller.judge_type(Right::Read, scope, &id.type_name, "read");
            judged.is_ok()
        };
        let mut known = BTreeMap::new();
        for name in outside {
            let found: Vec<Reference> = match &name {
                Outside::Alias(alias) => {
                    let found = by_alias.get(alias).into_iter().flatten();
                    let found = found.filter(|reference| may_read(reference));
                    found.map(|reference| (*reference).clone()).collect()
                }
                Outside::Reference(id) => {
                    let found = match recorded.get(&id.key()) {
                        Some(reference) => Some(reference.clone()),
                        None if id.group.key() != group.key() && caller.reads_group(&id.group) => {
                            self.ground.store.get_reference(id).await?
                        }
                        None => None,
                    };
                    let found = found.filter(|reference| may_read(reference));
                    found.into_iter().collect()
                }
            };
            known.insert(name, found);
        }
        Ok(known)
    }

    /// Returns the schemas of all that is referred to, as far as they are known, by the keys of the references.
    fn schemas_of(
        &self,
        given: &BTreeMap<usize, Given>,
        group: &GroupId,
        known: &BTreeMap<Outside, Vec<ReferenceId>>,
    ) -> BTreeMap<String, Arc<ResourceSchema>> {
        let mut schemas = BTreeMap::new();
        for Given { schema, member } in given.values() {
            let type_name = schema.type_name().clone();
            if let Ok(id) = ReferenceId::new(group.clone(), type_name, &member.alias) {
                schemas.insert(id.key(), Arc::clone(schema));
            }
        }
        for id in known.values().flatten() {
            // A private type is checked when it is read.
            if let Some(schema) = self.types.source.catalogue().get(&id.type_name) {
                schemas.insert(id.key(), schema);
            }
        }
        schemas
    }

    /// Judges one member by its schema, with what it refers to as unknown values. Takes the checks that it needs from those that
    /// are `left` for the set.
    fn judged_member(
        &self,
        given: &Given,
        linked: LinkedMember,
        group: &ResourceGroup,
        recorded: Option<&Reference>,
        left: &mut Left,
    ) -> Result<ChangeMember, Rejection> {
        let Given { schema, member } = given;
        let has_reference = recorded.is_some();
        let mut declared = None;
        let mut custom_name = recorded.and_then(|reference| custom_name_of(reference, schema));
        let goal = match (&member.goal, linked.goal) {
            (SetGoal::Put(put), Goal::Put(properties)) => {
                let put = PutResource {
                    type_name: schema.type_name().clone(),
                    tracked_by: Some(TrackedBy {
                        id: linked.reference.to_string(),
                        alias: None,
                    }),
                    properties,
                    ..(**put).clone()
                };
                let last = recorded.map(|reference| LastApplied::of(reference, schema));
                declared = self
                    .changes
                    .judged_draft(&put, schema, group, last.as_ref(), left)?;
                let properties = Value::Object(put.properties.clone());
                custom_name = custom_name_in(&properties, schema);
                ChangeGoal::Put(Box::new(put))
            }
            (SetGoal::Delete(on_shared), _) => {
                if !schema.handlers().delete {
                    return Err(unsupported(schema, "deleted"));
                }
                ChangeGoal::Delete(*on_shared)
            }
            (SetGoal::Put(_), Goal::Delete) => {
                return Err(Rejection::Internal("a put was taken for a delete".into()));
            }
        };
        Ok(ChangeMember {
            place: linked.place,
            symbolic_name: linked.symbolic_name,
            reference: linked.reference,
            scope: member.scope.clone(),
            goal,
            depends_on: linked.depends_on,
            moved_from: None,
            has_reference,
            recorded: recorded.and_then(|reference| reference.identifier.clone()),
            declared,
            custom_name,
            is_declared: false,
        })
    }
}

/// Returns whether a set is judged in so little time that it needs no thread of its own.
fn is_quick(given: &BTreeMap<usize, Given>, outputs: &Map<String, Value>) -> bool {
    let mut left = QUICK_SIZE;
    let mut is_small = |values: &Map<String, Value>| {
        let mut values = values.values();
        values.all(|value| json::take_size(value, &mut left))
    };
    let are_small = is_small(outputs);
    let is_quick = |Given { schema, member }: &Given| match &member.goal {
        SetGoal::Put(put) => {
            is_small(&put.properties)
                && schema.is_quick_for([&Value::Object(put.properties.clone())])
        }
        SetGoal::Delete(_) => true,
    };
    given.len() <= QUICK_MEMBERS && are_small && given.values().all(is_quick)
}

/// What is recorded of a group, by key, what moves in it, by the indexes of the members, and what moves as it stands.
type Recorded = (
    BTreeMap<String, Reference>,
    BTreeMap<usize, MovedFrom>,
    Vec<Reference>,
);

/// Returns the references of a group as the set has them.
fn by_key(
    group: &GroupId,
    given: &BTreeMap<usize, Given>,
    recorded: Vec<Reference>,
    mode: Mode,
) -> Result<Recorded, Rejection> {
    let recorded = recorded.into_iter();
    let mut recorded: BTreeMap<String, Reference> = recorded
        .map(|reference| (reference.id.key(), reference))
        .collect();
    let moved = match mode {
        Mode::Incremental => BTreeMap::new(),
        Mode::Complete => moved(group, given, &mut recorded)?,
    };
    let lineages: BTreeMap<_, &MovedFrom> =
        moved.values().map(|from| (&from.lineage, from)).collect();
    let leaving = recorded.values().filter_map(|reference| {
        let from = lineages.get(&reference.lineage)?;
        Some(Reference {
            id: from.reference.clone(),
            ..reference.clone()
        })
    });
    let leaving = leaving.collect();
    Ok((recorded, moved, leaving))
}

/// Refuses a set of types whose resources the caller may not change, or read if nothing is changed. Returns the right that it
/// takes.
fn judge_rights(
    set: &DeclaredSet,
    caller: &Caller,
    purpose: Purpose,
) -> Result<(Right, &'static str), Rejection> {
    let (right, verb) = match purpose {
        Purpose::Preview | Purpose::Validation => (Right::Read, "read"),
        Purpose::Change => (Right::Write, "write"),
    };
    for member in set.members.iter().flatten() {
        caller.judge_type(right, &member.scope, &member.type_name, verb)?;
    }
    Ok((right, verb))
}

/// Returns the members as the set reads them. Notes aliases that cannot be.
fn members(
    group: &GroupId,
    given: &BTreeMap<usize, Given>,
    recorded: &BTreeMap<String, Reference>,
    moved: &BTreeMap<usize, MovedFrom>,
    details: &mut Vec<Detail>,
) -> Vec<Member> {
    let mut members = Vec::with_capacity(given.len());
    for (index, Given { schema, member }) in given {
        let place = format!("/resources/{index}");
        let type_name = schema.type_name().clone();
        if let Some(elsewhere) = elsewhere(group, &type_name, member, recorded) {
            // What the caller may do is judged where it says the resource is.
            let alias = match moved.get(index) {
                Some(from) => &from.reference.alias,
                None => &member.alias,
            };
            let advice = if type_name.is_global() {
                ", which is the same in every region. Give that scope, or give the alias up with :release first."
            } else {
                ". Give that scope, or use another alias."
            };
            let message =
                format!("The alias '{alias}' stands for a resource in {elsewhere}{advice}");
            details.push(Detail::at(
                ErrorCode::Conflict,
                message,
                format!("{place}/scope"),
            ));
        }
        match ReferenceId::new(group.clone(), type_name, &member.alias) {
            Ok(reference) => members.push(Member {
                place,
                reference,
                symbolic_name: member.symbolic_name.clone(),
                depends_on: member.depends_on.clone(),
                goal: match &member.goal {
                    SetGoal::Put(put) => Goal::Put(put.properties.clone()),
                    SetGoal::Delete(_) => Goal::Delete,
                },
            }),
            Err(error) => details.push(Detail::at(
                ErrorCode::BadRequest,
                format!("{error}."),
                format!("{place}/alias"),
            )),
        }
    }
    members
}

/// Returns where the resource is that the alias stands for, if it is not where the member says.
fn elsewhere<'a>(
    group: &GroupId,
    type_name: &TypeName,
    member: &SetMember,
    recorded: &'a BTreeMap<String, Reference>,
) -> Option<&'a Scope> {
    let id = ReferenceId::new(group.clone(), type_name.clone(), &member.alias).ok()?;
    let scope = &recorded.get(&id.key())?.scope;
    (!scope.is_same_place(&member.scope)).then_some(scope)
}

/// Returns the references that the group owns, and the set does not list.
fn unlisted(
    recorded: &BTreeMap<String, Reference>,
    members: &[Member],
    details: &mut Vec<Detail>,
) -> Vec<Reference> {
    let listed: BTreeSet<String> = members.iter().map(|it| it.reference.key()).collect();
    let unlisted = recorded.iter().filter(|(key, _)| !listed.contains(*key));
    let owned = unlisted.filter(|(_, reference)| reference.owned);
    let owned: Vec<Reference> = owned.map(|(_, reference)| reference.clone()).collect();
    if owned.len() > UNLISTED_MAX {
        let message = format!(
            "{} resources would be deleted, and a set deletes at most {UNLISTED_MAX} that it does not list. Delete some first.",
            owned.len()
        );
        details.push(Detail::at("TooMany", message, "/mode"));
    }
    owned
}

fn index_of(member: &LinkedMember) -> usize {
    let index = member.place.rsplit('/').next();
    index
        .and_then(|index| index.parse().ok())
        .unwrap_or(usize::MAX)
}

/// Returns the members in the order in which they are applied, and those that are deleted although they are not listed.
fn in_order(
    mut judged: Vec<Option<ChangeMember>>,
    order: &[usize],
    (unlisted, on_shared): (Vec<Reference>, OnShared),
    schema_of: impl Fn(&TypeName) -> Option<Arc<ResourceSchema>>,
) -> Vec<ChangeMember> {
    let mut places = vec![0; judged.len()];
    for (place, index) in order.iter().enumerate() {
        places[*index] = place;
    }
    let listed = order.iter().filter_map(|index| judged[*index].take());
    let listed = listed.map(|member| ChangeMember {
        depends_on: member.depends_on.iter().map(|need| places[*need]).collect(),
        ..member
    });
    let unlisted = unlisted.into_iter().map(|reference| ChangeMember {
        place: String::new(),
        symbolic_name: reference.id.alias.clone(),
        custom_name: (schema_of(&reference.id.type_name))
            .and_then(|schema| custom_name_of(&reference, &schema)),
        recorded: reference.identifier,
        declared: None,
        reference: reference.id,
        scope: reference.scope,
        goal: ChangeGoal::DeleteOwned(reference.created_at, on_shared),
        moved_from: None,
        depends_on: Vec::new(),
        has_reference: true,
        is_declared: false,
    });
    listed.chain(unlisted).collect()
}

/// Returns the custom name that a resource was declared with.
fn custom_name_of(reference: &Reference, schema: &ResourceSchema) -> Option<CustomName> {
    let last = reference.last_put()?;
    custom_name_in(&last.declared, schema)
}

/// Returns the custom name in properties. `None` if a part of what belongs to it is not known yet.
fn custom_name_in(properties: &Value, schema: &ResourceSchema) -> Option<CustomName> {
    let (_, name) = schema.custom_name(properties)?;
    let members = properties.as_object()?.iter();
    let fixed = members.filter(|(at, _)| schema.lists(Classes::CREATE_ONLY, &[at.as_str()]));
    let fixed = Value::Object(fixed.map(|(at, it)| (at.clone(), it.clone())).collect());
    links(&fixed).is_empty().then(|| CustomName {
        name: name.to_owned(),
        fixed: json::canonical(&fixed),
    })
}

/// Refuses a set for what the details say, in the order of its body.
fn invalid(mut details: Vec<Detail>) -> Rejection {
    details.sort_by_cached_key(|detail| {
        let target = detail.target.clone().unwrap_or_default();
        let index = target.split('/').nth(2);
        (index.and_then(|index| index.parse::<usize>().ok()), target)
    });
    Rejection::Invalid(Failure::new(ErrorCode::InvalidRequest, INVALID).with_details(details))
}

#[cfg(test)]
mod tests {
    use ucp_model::{Lineage, ProvisioningState, Timestamp};

    use super::*;

    fn owned(count: usize) -> BTreeMap<String, Reference> {
        let group = GroupId::new("local", "rg").unwrap();
        let type_name = TypeName::from_cloudformation("AWS::EC2::VPC").unwrap();
        let now = Timestamp::from_millis(0);
        let id = |index: usize| {
            ReferenceId::new(group.clone(), type_name.clone(), &index.to_string()).unwrap()
        };
        let reference = |index: usize| Reference {
            id: id(index),
            lineage: Lineage::of(&id(index)),
            scope: Scope::new("aws", "1", "us-west-2").unwrap(),
            identifier: None,
            owned: true,
            told_to_own: false,
            marked: false,
            tags: BTreeMap::new(),
            operation: None,
            provisioning_state: ProvisioningState::Succeeded,
            baseline: None,
            observed: None,
            observed_at: None,
            created_at: now,
            updated_at: now,
            revision: 1,
            moves: 0,
        };
        let references = (0..count).map(reference);
        references
            .map(|reference| (reference.id.key(), reference))
            .collect()
    }

    #[test]
    fn only_so_many_are_deleted_without_being_listed() {
        for (count, problems) in [(UNLISTED_MAX, 0), (UNLISTED_MAX + 1, 1)] {
            let mut details = Vec::new();
            unlisted(&owned(count), &[], &mut details);
            assert_eq!(details.len(), problems);
        }
    }
}
