//! The state that a failed change has left an instance in.

use std::collections::BTreeSet;

use ucp_model::operation::group::{ApplyMember, MemberGoal, MemberState};
use ucp_model::operation::{GroupWork, ResourceWork};
use ucp_model::{ChangeKind, Failure, Operation, Reference};

use super::ServiceRejection;
use crate::ServiceCases;

/// How many operations are read at once.
pub(super) const PAGE: usize = 100;
/// How many resources a description tells of.
pub(super) const TOLD_MAX: usize = 10;

impl ServiceCases {
    /// Tells what an order that deletes has left alone, because others stand for it.
    pub(super) async fn left_to_others(
        &self,
        operation: &Operation,
    ) -> Result<Option<String>, ServiceRejection> {
        let work = operation.work.group();
        let deletes = work
            .and_then(GroupWork::order)
            .is_some_and(|order| order.kind == ChangeKind::Delete);
        let Some(work) = work.filter(|_| deletes) else {
            return Ok(None);
        };
        let children: Vec<_> = work.members.iter().filter_map(|it| it.operation).collect();
        let mut left = Vec::new();
        for page in children.chunks(PAGE) {
            let page = self.ground.store.get_operations(page).await;
            let page = page.map_err(ServiceRejection::of_store)?;
            left.extend(page.iter().filter_map(given_up));
        }
        let resources = match left.len() {
            0 => return Ok(None),
            1 => "1 resource was".to_owned(),
            count => format!("{count} resources were"),
        };
        let more = match left.len().saturating_sub(TOLD_MAX) {
            0 => String::new(),
            more => format!(" And {more} more."),
        };
        left.truncate(TOLD_MAX);
        let left = left.join(" ");
        Ok(Some(format!("{resources} left alone. {left}{more}")))
    }

    /// Returns an error of AWS after which a resource of an order goes on, if there is one.
    pub(super) async fn setback_of(
        &self,
        operation: &Operation,
    ) -> Result<Option<Failure>, ServiceRejection> {
        let setbacks = self.operations.setbacks_of(operation).await?;
        Ok(setbacks.into_values().next())
    }

    /// Returns whether each resource that an operation on an instance concerns is there, as a read has shown.
    pub(super) async fn is_usable(
        &self,
        operation: &Operation,
    ) -> Result<Option<bool>, ServiceRejection> {
        let work = operation.work.group();
        let order = work.and_then(|work| Some((work, work.order()?)));
        let Some((work, order)) = order.filter(|(_, order)| order.binding.is_none()) else {
            return Ok(None);
        };
        let Some(application) = work.application() else {
            return Ok(None);
        };
        let recorded = self.references_of(&order.instance, &work.group).await?;
        let mut shown = BTreeSet::new();
        for reference in recorded {
            if self.is_shown(&reference).await {
                shown.insert(reference.id.key());
            }
        }
        let is_shown = |member: &ApplyMember| shown.contains(&member.reference.key());
        for (member, status) in application.members.iter().zip(&work.members) {
            let is_put = matches!(member.goal, MemberGoal::Put(_));
            let has_failed = is_put && matches!(status.state, MemberState::Failed(_));
            let Some(child) = status.operation.filter(|_| has_failed) else {
                continue;
            };
            let child = self.get_operation(child).await?;
            let work = child.as_ref().and_then(|child| child.work.resource());
            if work.is_some_and(ResourceWork::has_lost) {
                return Ok(Some(false));
            }
        }
        // What an update deletes is no part of the instance any more.
        let puts = puts(&application.members);
        let mut members = application.members.iter();
        Ok(Some(members.all(|member| match member.goal {
            MemberGoal::Put(_) => is_shown(member),
            MemberGoal::Delete | MemberGoal::DeleteOwned(_) => puts || is_shown(member),
        })))
    }

    /// Returns whether a read has shown what the reference stands for. What nobody can read is what AWS has said of it.
    async fn is_shown(&self, reference: &Reference) -> bool {
        match (&reference.identifier, reference.observed_at) {
            (None, _) => false,
            (Some(_), Some(_)) => true,
            (Some(_), None) => {
                let type_name = &reference.id.type_name;
                let schema = self
                    .types
                    .recorded_schema(&reference.scope, type_name)
                    .await;
                schema.is_ok_and(|schema| !schema.handlers().read)
            }
        }
    }
}

/// Tells who owns what a delete has given up, if it has.
pub(super) fn given_up(child: &Operation) -> Option<String> {
    let work = child.work.resource();
    let work = work.filter(|work| work.forgets && work.was_owned)?;
    let reference = work.reference.as_ref()?;
    let warning = work
        .warnings
        .iter()
        .find(|it| it.code == "SharedResource")?;
    Some(format!("{}: {}", reference.alias, warning.message))
}

/// Returns whether an apply puts something.
pub(super) fn puts(members: &[ApplyMember]) -> bool {
    let mut members = members.iter();
    members.any(|member| matches!(member.goal, MemberGoal::Put(_)))
}
