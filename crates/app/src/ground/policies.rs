//! The policies of other groups, before a change is accepted. They are judged again with the change itself.

use ucp_model::operation::policy_elsewhere;
use ucp_model::{Failure, GroupId, PlanPolicy, Target};
use ucp_store::{Error, rules};

use crate::{Ground, Rejection};

impl Ground {
    /// Returns why the policy of another group than `own` does not take a change of an AWS resource, if that is so.
    pub(crate) async fn refused_elsewhere(
        &self,
        target: &Target<'_>,
        own: Option<&GroupId>,
        is_planned: bool,
    ) -> Result<Option<Failure>, Rejection> {
        let policy = self.store.policy_elsewhere(target, own).await?;
        match rules::judge_policy_elsewhere(policy, is_planned) {
            Ok(()) => Ok(None),
            Err(Error::PolicyElsewhere(policy)) => Ok(Some(policy_elsewhere(policy))),
            Err(other) => Err(other.into()),
        }
    }

    /// Returns the policy of a group, also of one that is not there yet.
    pub(crate) async fn policy_of(&self, group: &GroupId) -> Result<PlanPolicy, Rejection> {
        match self.store.get_resource_group(group).await {
            Ok(group) => Ok(group.body.policy()),
            Err(Error::NoSuchGroup) => Ok(PlanPolicy::default()),
            Err(error) => Err(error.into()),
        }
    }
}
