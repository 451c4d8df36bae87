//! Changes to resources outside Cloud Control, as made in a console.

use serde::Serialize;
use serde_json::Value;
use ucp_model::{Entropy, Timestamp};

use super::resource::{Resource, ResourceKey};
use super::state::World;
use crate::global;
use crate::request::Caller;

/// The current state of a resource, without write-only properties.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct ResourceSnapshot {
    /// The account.
    pub account: String,
    /// The region.
    pub region: String,
    /// The resource type.
    pub type_name: String,
    /// The primary identifier.
    pub identifier: String,
    /// The properties.
    pub properties: Value,
}

/// Why a resource cannot be changed out of band.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum NotInWorld {
    /// The resource does not exist.
    Absent,
    /// Several resources match, in different accounts or regions.
    Ambiguous,
    /// The patch cannot be applied.
    Unpatchable(String),
}

impl World {
    /// Returns all resources.
    pub fn resources(&mut self, now: Timestamp, entropy: &dyn Entropy) -> Vec<ResourceSnapshot> {
        self.settle(now, entropy);
        let regions = self.regions.iter();
        let resources = regions.flat_map(|(caller, region)| {
            let resources = region.resources.existing().iter();
            resources.map(move |(key, resource)| {
                let visible = region.resources.visible(key, resource, None, now);
                snapshot(caller, key, resource, visible)
            })
        });
        resources.collect()
    }

    /// Deletes a resource. Account and region may be omitted when only one resource matches.
    pub fn delete_out_of_band(
        &mut self,
        account: Option<&str>,
        region: Option<&str>,
        (type_name, identifier): (&str, &str),
        now: Timestamp,
        entropy: &dyn Entropy,
    ) -> Result<(), NotInWorld> {
        self.settle(now, entropy);
        let key = self.resource_key(type_name, identifier);
        let caller = self.whereabouts(account, region, &key)?;
        let region = self.regions.get_mut(&caller);
        let removed = region.is_some_and(|region| region.resources.remove(&key, now, entropy));
        removed.then_some(()).ok_or(NotInWorld::Absent)
    }

    /// Changes a resource, with a JSON Patch if `patch` is an array, otherwise with a merge. The schema is not
    /// enforced.
    pub fn patch_out_of_band(
        &mut self,
        account: Option<&str>,
        region: Option<&str>,
        (type_name, identifier): (&str, &str),
        patch: &Value,
        now: Timestamp,
        entropy: &dyn Entropy,
    ) -> Result<ResourceSnapshot, NotInWorld> {
        self.settle(now, entropy);
        let key = self.resource_key(type_name, identifier);
        let caller = self.whereabouts(account, region, &key)?;
        let region = self.regions.get_mut(&caller).ok_or(NotInWorld::Absent)?;
        let resource = region.resources.existing().get(&key);
        let mut resource = resource.cloned().ok_or(NotInWorld::Absent)?;
        match patch {
            Value::Array(_) => {
                let unpatchable = |error: String| NotInWorld::Unpatchable(error);
                let patch: json_patch::Patch = serde_json::from_value(patch.clone())
                    .map_err(|error| unpatchable(error.to_string()))?;
                json_patch::patch(&mut resource.model, &patch)
                    .map_err(|error| unpatchable(error.to_string()))?;
            }
            Value::Object(_) => json_patch::merge(&mut resource.model, patch),
            _ => {
                let expected = "neither a JSON Patch nor an object to merge".to_owned();
                return Err(NotInWorld::Unpatchable(expected));
            }
        }
        resource.changed_at = now;
        let visible = region.resources.visible(&key, &resource, None, now);
        let patched = snapshot(&caller, &key, &resource, visible);
        region.resources.insert(key, resource, now, entropy);
        Ok(patched)
    }

    /// Does everything that is due in all accounts and regions.
    fn settle(&mut self, now: Timestamp, entropy: &dyn Entropy) {
        let lags = self.faults.lags();
        for (caller, region) in &mut self.regions {
            region.settle(caller, now, lags, entropy);
        }
    }

    fn resource_key(&mut self, type_name: &str, identifier: &str) -> ResourceKey {
        let resource_type = self.types.get(type_name);
        let key = resource_type.map(|resource_type| resource_type.key(identifier));
        let key = key.unwrap_or_else(|_| identifier.to_owned());
        (type_name.to_owned(), key)
    }

    fn whereabouts(
        &self,
        account: Option<&str>,
        region: Option<&str>,
        key: &ResourceKey,
    ) -> Result<Caller, NotInWorld> {
        let mut places = self.regions.iter().filter(|(caller, holdings)| {
            account.is_none_or(|account| account == caller.account)
                && region.is_none_or(|region| region == caller.region || global::is_global(&key.0))
                && holdings.resources.existing().contains_key(key)
        });
        match (places.next(), places.next()) {
            (None, _) => Err(NotInWorld::Absent),
            (Some((caller, _)), None) => Ok(caller.clone()),
            (Some(_), Some(_)) => Err(NotInWorld::Ambiguous),
        }
    }
}

fn snapshot(
    caller: &Caller,
    key: &ResourceKey,
    resource: &Resource,
    properties: Value,
) -> ResourceSnapshot {
    ResourceSnapshot {
        account: caller.account.clone(),
        region: caller.region.clone(),
        type_name: key.0.clone(),
        identifier: resource.resource_type.answered(&key.1),
        properties,
    }
}
