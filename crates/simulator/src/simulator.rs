use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use serde_json::Value;
use tokio::sync::watch;
use ucp_listen::AllowedHosts;
use ucp_model::{Clock, Entropy, Timestamp, TypeName};
use ucp_schema::{Catalogue, SchemaError};

use crate::exception::Exception;
use crate::faults::Fault;
use crate::log::LogEntry;
use crate::request::{Caller, Request};
use crate::settings::Settings;
use crate::world::{NotInWorld, Outcome, ResourceSnapshot, Trust, World};

/// A shared simulated AWS. Clones share the same state.
#[derive(Clone)]
pub struct Simulator {
    world: Arc<Mutex<World>>,
    clock: Arc<dyn Clock>,
    entropy: Arc<dyn Entropy>,
    release: Arc<watch::Sender<Release>>,
    allowed_hosts: AllowedHosts,
}

/// What lets calls go that are not answered.
#[derive(Debug, Default)]
struct Release {
    /// How often all faults have been removed.
    cleared: u64,
    /// Whether the server has stopped.
    stopped: bool,
}

impl Simulator {
    /// Creates an empty AWS with the types of `catalogue`.
    pub fn new(
        catalogue: Catalogue,
        settings: Settings,
        clock: Arc<dyn Clock>,
        entropy: Arc<dyn Entropy>,
    ) -> Self {
        let allowed_hosts = settings.allowed_hosts.clone();
        Self {
            world: Arc::new(Mutex::new(World::new(catalogue, settings))),
            clock,
            entropy,
            release: Arc::default(),
            allowed_hosts,
        }
    }

    /// Returns the accepted values of `Host` of the control API.
    pub(crate) fn allowed_hosts(&self) -> AllowedHosts {
        self.allowed_hosts.clone()
    }

    /// Carries out a call after the delay that a fault orders. A call that is not answered goes on until the faults are
    /// removed or the server stops. Then its reply is dropped.
    pub async fn answer(&self, caller: &Caller, request: &Request) -> Outcome {
        let received = self.clock.now();
        let delay = self.world().delay(caller, request, &*self.entropy);
        if let Some(delay) = delay {
            tokio::time::sleep(delay).await;
        }
        let mut release = self.release.subscribe();
        let cleared = release.borrow().cleared;
        match self.carry_out(caller, request, received) {
            Outcome::Hung => {
                let is_over = |release: &Release| release.stopped || release.cleared > cleared;
                // The sender is in `self`.
                let _ = release.wait_for(is_over).await;
                Outcome::Dropped
            }
            outcome @ (Outcome::Replied(_) | Outcome::Refused(_) | Outcome::Dropped) => outcome,
        }
    }

    /// Carries out a call at the current time, without any delay.
    pub fn call(&self, caller: &Caller, request: &Request) -> Outcome {
        self.carry_out(caller, request, self.clock.now())
    }

    /// Carries out a call that was received at that time.
    fn carry_out(&self, caller: &Caller, request: &Request, received: Timestamp) -> Outcome {
        let now = self.clock.now();
        self.world()
            .step(caller, request, received, now, &*self.entropy)
    }

    /// Returns the signer of a call at the current time; see [`World::caller`].
    pub fn caller(&self, access_key_id: &str, region: &str) -> Result<Caller, Exception> {
        self.world().caller(access_key_id, region, self.clock.now())
    }

    /// Sets who may assume a role; see [`World::trust`].
    pub fn trust(&self, trust: Trust) {
        self.world().trust(trust);
    }

    /// Returns the calls so far, oldest first.
    pub fn log(&self) -> Vec<LogEntry> {
        self.world().log().cloned().collect()
    }

    /// Counts the calls that `is_meant`.
    pub fn count(&self, is_meant: impl Fn(&LogEntry) -> bool) -> usize {
        self.world().log().filter(|entry| is_meant(entry)).count()
    }

    /// Returns the latest call that `is_meant`.
    pub fn latest(&self, is_meant: impl Fn(&LogEntry) -> bool) -> Option<LogEntry> {
        let world = self.world();
        world.log().rev().find(|entry| is_meant(entry)).cloned()
    }

    /// Returns the active faults.
    pub fn faults(&self) -> Vec<Fault> {
        self.world().faults().cloned().collect()
    }

    /// Adds a fault after the active ones.
    pub fn add_fault(&self, fault: Fault) {
        self.world().add_fault(fault);
    }

    /// Removes all faults. Calls that are not answered end.
    pub fn clear_faults(&self) {
        self.world().clear_faults();
        self.release.send_modify(|release| release.cleared += 1);
    }

    /// Ends calls that are not answered, now and later.
    pub(crate) fn stop(&self) {
        self.release.send_modify(|release| release.stopped = true);
    }

    /// Registers a type, or a new version of one, in every account and region.
    pub fn register_type(&self, schema: &str) -> Result<TypeName, SchemaError> {
        self.world().register_type(schema)
    }

    /// Returns all resources.
    pub fn resources(&self) -> Vec<ResourceSnapshot> {
        self.world().resources(self.clock.now(), &*self.entropy)
    }

    /// Deletes a resource out of band; see [`World::delete_out_of_band`].
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

    /// Patches a resource out of band; see [`World::patch_out_of_band`].
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
