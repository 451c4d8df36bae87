//! The puts of what changes, once everything has moved.

use std::collections::{BTreeSet, HashMap};
use std::sync::Arc;

use serde_json::{Map, Value};
use ucp_access::Right;
use ucp_model::operation::group::{
    Application, ApplyMember, Deployment, MemberGoal, OnFailure, Task,
};
use ucp_model::{
    Detail, ErrorCode, Failure, GroupId, RefactorContent, RefactorId, ReferenceId, ResourceGroup,
    Scope,
};
use ucp_schema::ResourceSchema;
use ucp_set::{Declarations, DeclaredMember, MEMBERS_MAX, REFERENCES_MAX, objection, visit};
use ucp_store::NewOperation;

use super::found::{FoundGroup, FoundPut, as_made};
use super::in_words;
use crate::declaring::judge_for_type;
use crate::sets::placed;
use crate::{App, Caller, Rejection};

const INVALID: &str = "What changes cannot be put. Nothing has moved, and nothing was sent. Correct what the details name.";
/// How many references a message names.
const SHOWN: usize = 10;

/// The puts of a refactor with which nothing is wrong, as far as that can be told without AWS.
pub(super) struct JudgedPuts {
    members: Vec<ApplyMember>,
    declarations: Vec<Option<DeclaredMember>>,
    /// What they refer to that nothing will be at.
    unmet: Vec<(String, ReferenceId)>,
}

impl App {
    /// Judges the puts as each would be judged by itself. `created` are the keys of the references that they make.
    pub(super) async fn judged_puts(
        &self,
        puts: Vec<FoundPut>,
        groups: &[FoundGroup],
        created: &BTreeSet<String>,
        is_plane: bool,
    ) -> Result<JudgedPuts, Rejection> {
        if puts.len() > MEMBERS_MAX {
            let place = if is_plane { "/groups" } else { "/resources" };
            let message = format!(
                "{} resources change, and a deployment puts at most {MEMBERS_MAX}. Move first, without deploy, and then apply sets.",
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
        let mut details = Vec::new();
        let mut judged = JudgedPuts {
            members: Vec::with_capacity(puts.len()),
            declarations: Vec::with_capacity(puts.len()),
            unmet: Vec::new(),
        };
        for it in puts {
            self.judge_links(&it, &schemas, &mut details);
            let group = groups.get(&it.reference.group.key());
            let group =
                group.ok_or_else(|| Rejection::Internal("a named group was lost".into()))?;
            let has_reference = !created.contains(&it.reference.key());
            match self.judge_put(&it, group, has_reference).await {
                Ok(()) => {}
                Err(Rejection::Invalid(failure) | Rejection::TooLarge(failure)) => {
                    details.extend(placed(&it.place, failure));
                }
                Err(refused) => return Err(refused),
            }
            let FoundPut { put, unmet, .. } = it;
            judged.members.push(ApplyMember {
                symbolic_name: in_words(&it.reference),
                reference: it.reference,
                scope: put.scope.clone(),
                goal: MemberGoal::Put(put.options),
                depends_on: it.needs,
                is_unchanged: false,
                is_compared: false,
            });
            judged.declarations.push(Some(DeclaredMember {
                default_tags: self.default_tags(&put, Some(group)),
                properties: put.properties,
            }));
            judged.unmet.extend(unmet);
        }
        match details.is_empty() {
            true => Ok(judged),
            false => Err(invalid(details)),
        }
    }

    async fn judge_put(
        &self,
        it: &FoundPut,
        group: &ResourceGroup,
        has_reference: bool,
    ) -> Result<(), Rejection> {
        let FoundPut { put, schema, .. } = it;
        judge_for_type(&put.properties, &put.tags, schema)?;
        self.judge_draft(put, schema, group, has_reference).await
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
                let schema = schema.or_else(|| self.parts.types.catalogue().get(&id.type_name));
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
        created: &BTreeSet<String>,
        on_failure: OnFailure,
        caller: &Caller,
    ) -> Result<Option<NewOperation>, Rejection> {
        let JudgedPuts {
            members,
            declarations,
            unmet,
        } = judged;
        let Some(first) = members.first() else {
            return Ok(None);
        };
        let group = first.reference.group.clone();
        refuse_unmet(&unmet)?;
        for member in &members {
            let type_name = &member.reference.type_name;
            caller.judge_type(Right::Write, &member.scope, type_name, "write")?;
        }
        let scopes: BTreeSet<&Scope> = members.iter().map(|member| &member.scope).collect();
        for scope in scopes {
            self.parts.accounts.verify(scope).await?;
        }
        let mut more: HashMap<String, (&GroupId, usize)> = HashMap::new();
        for member in &members {
            let group = &member.reference.group;
            let (_, count) = more.entry(group.key()).or_insert((group, 0));
            *count += usize::from(created.contains(&member.reference.key()));
        }
        for (group, count) in more.into_values() {
            self.admit_set(group, &caller.name, count).await?;
        }
        let application = Application {
            members,
            has_outputs: false,
            plan: None,
            deployment: Some(Box::new(Deployment {
                refactor,
                groups: content.named.clone(),
                on_failure,
            })),
        };
        let declarations = Declarations {
            members: declarations,
            outputs: Map::new(),
        };
        let mut new = self.new_group_operation(&group, Task::Apply(application), caller);
        self.declare(&mut new, &declarations)?;
        Ok(Some(new))
    }
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
