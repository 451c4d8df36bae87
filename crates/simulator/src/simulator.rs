use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use serde_json::Value;
use ucp_model::{Clock, Entropy, TypeName};
use ucp_schema::{Catalogue, SchemaError};

use crate::exception::Exception;
use crate::faults::Fault;
use crate::log::LogEntry;
use crate::request::{Caller, Request};
use crate::settings::Settings;
use crate::world::{NotInWorld, Outcome, ResourceSnapshot, Trust, World};

/// A simulated AWS that callers share. Clones are the same AWS.
#[derive(Clone)]
pub struct Simulator {
    world: Arc<Mutex<World>>,
    clock: Arc<dyn Clock>,
    entropy: Arc<dyn Entropy>,
}

impl Simulator {
    /// An AWS with the types of `catalogue` and nothing in it.
    pub fn new(
        catalogue: Catalogue,
        settings: Settings,
        clock: Arc<dyn Clock>,
        entropy: Arc<dyn Entropy>,
    ) -> Self {
        Self {
            world: Arc::new(Mutex::new(World::new(catalogue, settings))),
            clock,
            entropy,
        }
    }

    /// Carries out a call, now.
    pub fn call(&self, caller: &Caller, request: &Request) -> Outcome {
        self.world()
            .step(caller, request, self.clock.now(), &*self.entropy)
    }

    /// Who signed a call, now; see [`World::caller`].
    pub fn caller(&self, access_key_id: &str, region: &str) -> Result<Caller, Exception> {
        self.world().caller(access_key_id, region, self.clock.now())
    }

    /// Says who may assume a role; see [`World::trust`].
    pub fn trust(&self, trust: Trust) {
        self.world().trust(trust);
    }

    /// The calls so far, the oldest first.
    pub fn log(&self) -> Vec<LogEntry> {
        self.world().log().cloned().collect()
    }

    /// The faults in force.
    pub fn faults(&self) -> Vec<Fault> {
        self.world().faults().cloned().collect()
    }

    /// Puts a fault in force, after those that are.
    pub fn add_fault(&self, fault: Fault) {
        self.world().add_fault(fault);
    }

    /// Ends all faults.
    pub fn clear_faults(&self) {
        self.world().clear_faults();
    }

    /// Registers a type in every account and region, or a new version of one.
    pub fn register_type(&self, schema: &str) -> Result<TypeName, SchemaError> {
        self.world().register_type(schema)
    }

    /// Every resource there is.
    pub fn resources(&self) -> Vec<ResourceSnapshot> {
        self.world().resources(self.clock.now(), &*self.entropy)
    }

    /// Removes a resource out of band; see [`World::delete_out_of_band`].
    pub fn delete_out_of_band(
        &self,
        account: Option<&str>,
        region: Option<&str>,
        resource: (&str, &str),
    ) -> Result<(), NotInWorld> {
        let now = self.clock.now();
        self.world()
            .delete_out_of_band(account, region, resource, now, &*self.entropy)
    }

    /// Changes a resource out of band; see [`World::patch_out_of_band`].
    pub fn patch_out_of_band(
        &self,
        account: Option<&str>,
        region: Option<&str>,
        resource: (&str, &str),
        patch: &Value,
    ) -> Result<ResourceSnapshot, NotInWorld> {
        let now = self.clock.now();
        self.world()
            .patch_out_of_band(account, region, resource, patch, now, &*self.entropy)
    }

    fn world(&self) -> MutexGuard<'_, World> {
        self.world.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
