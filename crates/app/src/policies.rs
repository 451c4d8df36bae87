//! The policies of other groups, before a change is accepted. They are judged again with the change itself.

use ucp_model::operation::policy_elsewhere;
use ucp_model::{Failure, GroupId, Target};
use ucp_store::{Error, rules};

use crate::{App, Rejection};

impl App {
    /// Returns why the policy of another group than `own` does not take a change of an AWS resource, if that is so.
    pub(crate) async fn refused_elsewhere(
        &self,
        target: &Target<'_>,
        own: Option<&GroupId>,
        is_planned: bool,
    ) -> Result<Option<Failure>, Rejection> {
        let policy = self.parts.store.policy_elsewhere(target, own).await?;
        match rules::judge_policy_elsewhere(policy, is_planned) {
            Ok(()) => Ok(None),
            Err(Error::PolicyElsewhere(policy)) => Ok(Some(policy_elsewhere(policy))),
            Err(other) => Err(other.into()),
        }
    }
}
