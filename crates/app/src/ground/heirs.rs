//! Who owns a resource that is given up.

use std::collections::{BTreeMap, BTreeSet};

use ucp_access::Right;
use ucp_model::{GroupId, Reference};
use ucp_store::Error;
use ucp_store::rules::instance_of;

use crate::{Caller, Ground, Rejection};

/// How many references to a resource are looked at for one that may own it.
const HEIRS_MAX: usize = 100;

impl Ground {
    /// Returns the references that may own what those `given_up` stand for once these do not, by the keys of these: of each the first
    /// other one that is idle, was put, and whose group is not being deleted. None of `going` is among them.
    pub(crate) async fn heirs(
        &self,
        given_up: impl Iterator<Item = &Reference>,
        going: &BTreeSet<String>,
        caller: &Caller,
    ) -> Result<BTreeMap<String, Reference>, Rejection> {
        let store = &self.store;
        let owned = given_up.filter(|reference| reference.owned);
        let owned = owned.filter_map(|reference| Some((reference.target()?.key(), reference)));
        let owned: BTreeMap<String, &Reference> = owned.collect();
        let targets: Vec<String> = owned.keys().cloned().collect();
        let limit = HEIRS_MAX.saturating_mul(targets.len());
        let (mut heirs, mut groups) = (BTreeMap::new(), BTreeMap::new());
        for other in store.references_to(&targets, limit).await? {
            let target = other.target().map(|target| target.key());
            let own = target.and_then(|target| owned.get(&target));
            let Some(own) = own.map(|own| own.id.key()) else {
                continue;
            };
            let key = other.id.key();
            let may_own = may_own(&other, caller) && key != own && !going.contains(&key);
            if !may_own || heirs.contains_key(&own) {
                continue;
            }
            let group = &other.id.group;
            let stays = match groups.get(&group.key()) {
                Some(stays) => *stays,
                None => {
                    let stays = self.stays(group).await?;
                    groups.insert(group.key(), stays);
                    stays
                }
            };
            if stays {
                heirs.insert(own, other);
            }
        }
        Ok(heirs)
    }

    /// Returns whether a group is there and is not being deleted, which would take along what it owns.
    async fn stays(&self, group: &GroupId) -> Result<bool, Rejection> {
        match self.store.get_resource_group(group).await {
            Ok(group) => Ok(group.body.deletion.is_none()),
            Err(Error::NoSuchGroup) => Ok(false),
            Err(error) => Err(error.into()),
        }
    }
}

/// Returns whether a reference may come to own its resource because the caller gives up another one to that: it is idle, was put, and
/// is in a group that they may change.
fn may_own(other: &Reference, caller: &Caller) -> bool {
    let action = "System.Resources/resourceGroups/write";
    let is_put = other.last_put().is_some() && other.operation.is_none();
    let may_write = caller.judge_group(Right::Write, &other.id.group, action);
    // Its orders take away what they have made.
    let is_of_instance = instance_of(&other.id, &other.tags).is_some();
    is_put && !is_of_instance && may_write.is_ok()
}
