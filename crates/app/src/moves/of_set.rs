//! The moves of a complete set: it lists resources under other aliases than the group.

use std::collections::BTreeMap;

use ucp_access::Right;
use ucp_model::operation::group::Application;
use ucp_model::{
    ErrorCode, Failure, GroupId, OperationId, Outline, RefactorContent, RefactorEnvironment,
    RefactorHistory, RefactorId, RefactorMove, Scope,
};
use ucp_refactor::Reason;
use ucp_store::ApplyRefactor;

use super::recording::itself;
use crate::{Caller, MoveCases, Rejection};

impl MoveCases {
    /// Returns what moves the references that a set lists under other aliases, to be applied with the operation of the set;
    /// `None` if none does. It is recorded as every refactor is, and can be undone.
    pub(crate) async fn moves_of_set(
        &self,
        application: &Application,
        group: &GroupId,
        operation: OperationId,
        caller: &Caller,
    ) -> Result<Option<ApplyRefactor>, Rejection> {
        let members = application.members.iter();
        let moved = members.filter_map(|member| Some((member.moved_from.as_ref()?, member)));
        let moved: Vec<_> = moved.collect();
        if moved.is_empty() {
            return Ok(None);
        }
        let references = self.ground.store.list_outlines(group).await?.into_iter();
        let references: BTreeMap<String, Outline> =
            references.map(|it| (it.id.key(), it)).collect();
        let mut moves = Vec::with_capacity(moved.len());
        let mut scopes: BTreeMap<&Scope, usize> = BTreeMap::new();
        for (from, member) in moved {
            let reference = references.get(&from.reference.key());
            let is_as_judged =
                |it: &&Outline| it.lineage == from.lineage && it.identifier == from.identifier;
            let reference = reference
                .filter(is_as_judged)
                .ok_or_else(changed_meanwhile)?;
            let type_name = &reference.id.type_name;
            caller.judge_type(Right::Write, &reference.scope, type_name, "move/action")?;
            *scopes.entry(&reference.scope).or_default() += 1;
            moves.push(RefactorMove {
                from: reference.id.clone(),
                to: member.reference.clone(),
                scope: reference.scope.clone(),
                identifier: reference.identifier.clone(),
                reason: Reason::Identity.as_str().to_owned(),
                etag: Some(reference.etag().as_str().to_owned()),
                lineage: None,
                written: None,
            });
        }
        self.judge_instances(&moves).await?;
        let history = self.history(std::slice::from_ref(group)).await?;
        let environments = scopes.into_iter();
        let environments = environments.map(|(scope, moves)| RefactorEnvironment {
            scope: scope.clone(),
            moves,
            ambiguities: 0,
            refused: 0,
        });
        let id = RefactorId(self.ground.entropy.uuid("refactor"));
        let content = RefactorContent {
            named: vec![group.clone()],
            events: vec![itself(id, &moves)],
            environments: environments.collect(),
            history: RefactorHistory {
                environment: history.ids(),
                elsewhere: history.elsewhere,
                ..RefactorHistory::default()
            },
            deployment: Some(operation),
            moves,
            ..RefactorContent::default()
        };
        Ok(Some(ApplyRefactor {
            record: self.record(id, &group.plane, content, caller),
            is_planned: false,
            // Nothing leaves its group.
            keeps_plan_policy: false,
            history: Some(history.brought),
            deploy: None,
            taken_back_by: None,
            caller: caller.name.clone(),
            correlation_id: caller.correlation_id.clone(),
        }))
    }
}

/// Refuses a set because of what moves.
pub(crate) fn changed_meanwhile() -> Rejection {
    let message = "What gets another alias, or the history of the group, has changed meanwhile. Nothing was stored or sent. Apply the set again, or plan it anew.";
    Rejection::Conflict(Failure::new(ErrorCode::Conflict, message))
}
