//! References that are given up: what they stand for is left alone.

use std::collections::{BTreeMap, BTreeSet};

use ucp_access::Right;
use ucp_model::{Reference, ReferenceId, Target};
use ucp_store::rules::instance_of;
use ucp_store::{Error, Release};

use crate::references::not_referenced;
use crate::resource_groups::policy_lowered;
use crate::settling::{TRIES, changes_too_fast};
use crate::{App, Caller, Rejection};

/// How many references to a resource are looked at for one that may own it.
const HEIRS_MAX: usize = 100;

/// A reference that was given up.
#[derive(Debug)]
pub struct Released {
    /// The reference as it was.
    pub reference: Reference,
    /// The reference that owns the resource from now on, if it was owned and one does.
    pub heir: Option<ReferenceId>,
}

impl App {
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
            let heir = match reference.target().filter(|_| reference.owned) {
                Some(target) => self.heir(&reference.id, &target, caller).await?,
                None => None,
            };
            let release = Release {
                reference: reference.clone(),
                keeps_plan_policy: !caller.may_lower_policy(&reference.id.group),
                heir: heir.clone(),
                caller: caller.name.clone(),
                correlation_id: caller.correlation_id.clone(),
                at: self.now(),
            };
            match self.parts.store.release_reference(release).await {
                Ok(()) => {
                    return Ok(Released {
                        reference,
                        heir: heir.map(|heir| heir.id),
                    });
                }
                Err(Error::PreconditionFailed) => {}
                Err(Error::NoSuchReference) => return Err(not_referenced(id)),
                Err(Error::PolicyLowered) => return Err(policy_lowered(&id.group, caller)),
                Err(error) => return Err(self.refusal(error, Some(id)).await.shown_to(caller)),
            }
        }
        Err(changes_too_fast())
    }

    /// Returns the reference that may own a resource once `own` does not: the first that is idle and was put.
    async fn heir(
        &self,
        own: &ReferenceId,
        target: &Target<'_>,
        caller: &Caller,
    ) -> Result<Option<Reference>, Rejection> {
        let targets = [target.key()];
        let others = self.parts.store.references_to(&targets, HEIRS_MAX).await?;
        let may_own = |other: &Reference| may_own(other, caller) && other.id.key() != own.key();
        for other in others.into_iter().filter(may_own) {
            match self.parts.store.get_resource_group(&other.id.group).await {
                Ok(group) if group.body.deletion.is_none() => return Ok(Some(other)),
                // A deletion that is under way would take along what is owned.
                Ok(_) | Err(Error::NoSuchGroup) => {}
                Err(error) => return Err(error.into()),
            }
        }
        Ok(None)
    }

    /// Returns which references may own what the references `given_up` stand for once these do not, by the keys of these. None of
    /// `going` is among them.
    pub(crate) async fn heirs(
        &self,
        given_up: impl Iterator<Item = &Reference>,
        going: &BTreeSet<String>,
        caller: &Caller,
    ) -> Result<BTreeMap<String, ReferenceId>, Rejection> {
        let owned = given_up.filter(|reference| reference.owned);
        let owned = owned.filter_map(|reference| Some((reference.target()?.key(), reference)));
        let owned: BTreeMap<String, &Reference> = owned.collect();
        let targets: Vec<String> = owned.keys().cloned().collect();
        let limit = HEIRS_MAX.saturating_mul(targets.len());
        let mut heirs = BTreeMap::new();
        for other in self.parts.store.references_to(&targets, limit).await? {
            let target = other.target().map(|target| target.key());
            let own = target.and_then(|target| owned.get(&target));
            if let Some(own) = own.filter(|_| may_own(&other, caller))
                && !going.contains(&other.id.key())
            {
                heirs.entry(own.id.key()).or_insert(other.id);
            }
        }
        Ok(heirs)
    }
}

/// Returns whether a reference may come to own its resource because the caller gives up another one to that: it is idle, was put, and
/// is in a group that they may change.
fn may_own(other: &Reference, caller: &Caller) -> bool {
    let action = "System.Resources/resourceGroups/write";
    let is_put = other.baseline.is_some() && other.operation.is_none();
    let may_write = caller.judge_group(Right::Write, &other.id.group, action);
    // Its orders take away what they have made.
    let is_of_instance = instance_of(&other.id, &other.tags).is_some();
    is_put && !is_of_instance && may_write.is_ok()
}
