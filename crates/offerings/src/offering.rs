use std::collections::BTreeSet;

use serde_json::Value;

use crate::binding::Binding;
use crate::plan::Plan;

/// What a service broker offers: a service, with its plans.
#[derive(Debug)]
pub struct Offering {
    pub(crate) id: String,
    pub(crate) name: String,
    pub(crate) description: String,
    pub(crate) tags: Vec<String>,
    pub(crate) metadata: Option<Value>,
    pub(crate) is_sync: bool,
    pub(crate) merges_into_bindings: bool,
    pub(crate) randoms: BTreeSet<String>,
    pub(crate) binding: Option<Binding>,
    pub(crate) plans: Vec<Plan>,
}

impl Offering {
    /// Returns the id of the service.
    pub fn id(&self) -> &str {
        &self.id
    }

    /// Returns the name.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Returns whether a request may wait until its operation ends.
    pub fn is_sync(&self) -> bool {
        self.is_sync
    }

    /// Returns whether an instance with bindings may be updated, and their credentials with it.
    pub fn merges_into_bindings(&self) -> bool {
        self.merges_into_bindings
    }

    /// Returns the plans, as they are written.
    pub fn plans(&self) -> &[Plan] {
        &self.plans
    }

    /// Returns a plan by its id.
    pub fn plan(&self, id: &str) -> Option<&Plan> {
        self.plans.iter().find(|plan| plan.id == id)
    }

    /// Returns what its bindings have in common. `None` if instances cannot be bound.
    pub fn binding(&self) -> Option<&Binding> {
        self.binding.as_ref()
    }

    /// Returns the names of the random texts of an instance, of whatever plan.
    pub fn instance_randoms(&self) -> &BTreeSet<String> {
        &self.randoms
    }
}
