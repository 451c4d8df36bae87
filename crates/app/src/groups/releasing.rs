//! References that are given up: what they stand for is left alone.

use std::collections::BTreeSet;

use ucp_access::Right;
use ucp_model::{Reference, ReferenceId};
use ucp_store::{Error, Release};

use crate::ground::refusal::policy_lowered;
use crate::groups::references::not_referenced;
use crate::looks::settling::{TRIES, changes_too_fast};
use crate::{Caller, GroupCases, Rejection};

/// A reference that was given up.
#[derive(Debug)]
pub struct Released {
    /// The reference as it was.
    pub reference: Reference,
    /// The reference that owns the resource from now on, if it was owned and one does.
    pub heir: Option<ReferenceId>,
}

impl GroupCases {
    /// Removes a reference, and leaves its AWS resource alone, also one that it owns. Another reference that was put, and whose
    /// group the caller may change, comes to own that.
    pub async fn release_reference(
        &self,
        id: &ReferenceId,
        caller: &Caller,
    ) -> Result<Released, Rejection> {
        for _ in 0..TRIES {
            let reference = self.get_reference(id).await?;
            let type_name = &reference.id.type_name;
            caller.judge_type(Right::Write, &reference.scope, type_name, "release/action")?;
            let own = reference.id.key();
            let going = BTreeSet::from([own.clone()]);
            let given_up = std::iter::once(&reference);
            let heir = self
                .ground
                .heirs(given_up, &going, caller)
                .await?
                .remove(&own);
            let release = Release {
                reference: reference.clone(),
                keeps_plan_policy: !caller.may_lower_policy(&reference.id.group),
                heir: heir.clone(),
                caller: caller.name.clone(),
                correlation_id: caller.correlation_id.clone(),
                at: self.ground.now(),
            };
            match self.ground.store.release_reference(release).await {
                Ok(()) => {
                    return Ok(Released {
                        reference,
                        heir: heir.map(|heir| heir.id),
                    });
                }
                Err(Error::PreconditionFailed) => {}
                Err(Error::NoSuchReference) => return Err(not_referenced(id)),
                Err(Error::PolicyLowered) => return Err(policy_lowered(&id.group, caller)),
                Err(error) => {
                    return Err(self.ground.refusal(error, Some(id)).await.shown_to(caller));
                }
            }
        }
        Err(changes_too_fast())
    }
}
