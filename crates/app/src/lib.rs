//! The use cases: one function for each kind of request.
//!
//! Handlers call these functions and nothing else. They validate the request and look at the resource. Only if something
//! is to be done, or the look does not show what, do they claim the alias and record an operation. They see AWS only
//! through [`LiveReader`]: every change is an operation that the engine carries out.

mod accounts;
mod auditing;
mod awaiting;
mod changes;
mod cipher;
mod counting;
mod credentials;
mod declared;
mod declaring;
mod default_tags;
mod delete;
mod estimates;
mod group_operations;
mod identifier;
mod import;
mod in_flight;
mod intake;
mod inventory;
mod kept_plans;
mod known_assignments;
mod leftovers;
mod limits;
mod listed;
mod live;
mod looking;
mod operations;
mod plan_in_hand;
mod planes;
mod planned_delete;
mod planned_put;
mod policies;
mod put;
mod quotas;
mod read;
mod recipient;
mod refactors;
mod references;
mod refusal;
mod regions;
mod rejection;
mod releasing;
pub mod resealing;
mod resource_groups;
mod resource_types;
mod rights;
mod role_assignments;
mod roles;
mod services;
mod sets;
mod settling;
mod sharing;
mod track_records;
mod values;
mod veiling;
mod what_if;
mod wildcard;
mod withholding;

use std::sync::Arc;
use std::time::Duration;

use ucp_access::{Principal, Rights};
use ucp_cpu_pool::CpuPool;
use ucp_model::{
    Clock, CorrelationId, DefaultTags, Entropy, ErrorCode, Failure, MAX_SKEW, Timestamp,
};
use ucp_schema::ResourceTypes;
use ucp_seal::Keys;
use ucp_store::Store;

pub use accounts::Accounts;
pub use auditing::{AuditFilter, AuditPage};
pub use awaiting::Awaiting;
pub use changes::{ChangeKind, ResourceChange, WhatIf};
pub use cipher::RingCipher;
pub use credentials::{CredentialPut, PutCredential, way_back};
pub use declared::{ApplySet, DeclaredSet, Mode, PlannedPut, PutResource, SetGoal, SetMember};
pub use delete::{DeleteOutcome, DeleteResource};
use estimates::Estimates;
pub use estimates::Quotas;
pub use group_operations::{DeleteGroupOutcome, ImportGroupItem};
pub use identifier::{Selector, TrackedBy, UntrackedAlias};
pub use import::{ImportOutcome, ImportResource};
pub use in_flight::{
    ALL_BODIES_MAX_BYTES, ALL_MAX_BYTES, BEYOND_MAX_BYTES, CALLER_BODIES_MAX_BYTES,
    CALLER_MAX_BYTES, InFlight, Room, SET_COPIES, SMALL_MAX_BYTES, VALUE_BYTES, tree_bytes,
};
use inventory::Counted;
pub use inventory::Inventory;
pub use kept_plans::{PLAN_LIFETIME, PLAN_LIFETIMES, PlanReview, ShownPlan};
use known_assignments::KnownAssignments;
pub use limits::LIMITS;
pub use listed::Listed;
pub use live::LiveReader;
pub use operations::OperationQuery;
pub use put::PutOutcome;
pub use read::{LivePage, LiveResource, ReadResource};
pub use recipient::Recipient;
pub use refactors::{
    DeclaredRefactor, DeclaredResource, EmptiedGroups, NamedGroup, RefactorMode, RefactorQuery,
    Refactored,
};
pub use references::GroupView;
pub use regions::{InvalidRegion, Regions};
pub use rejection::{BeyondRate, Rejection};
pub use releasing::Released;
pub use resource_types::ResourceProvider;
pub use rights::Access;
pub use role_assignments::{PutRoleAssignment, RoleAssignmentPut};
pub use roles::Roles;
pub use services::{
    BindService, BoundService, LastOperation, Ordered, Platform, Progress, ProvisionService,
    ProvisionedService, ServiceRejection, ServiceRequest, UpdateService,
};
pub use sets::ApplyOutcome;
pub use ucp_plan::{Cause, Delta, Effect};
pub use ucp_refactor::{
    Base as RefactorBase, Deleted, Event as RefactorEvent, Mapping, OnAmbiguity,
};
pub use ucp_store::RoleAssignment;
pub use ucp_store::place;
pub use ucp_store::{AuditOutcome, StoredAuditEvent};
pub use ucp_store::{
    GroupUpdate, Precondition, ReferenceUpdate, Status, Tags, TagsUpdate, Written,
};

/// The dependencies of an [`App`].
pub struct Parts {
    /// The store.
    pub store: Arc<dyn Store>,
    /// Reads of live resources.
    pub live: Arc<dyn LiveReader>,
    /// The resource types.
    pub types: Arc<dyn ResourceTypes>,
    /// The default tags of the configuration.
    pub default_tags: DefaultTags,
    /// What to do with an alias without `trackedBy`.
    pub untracked_alias: UntrackedAlias,
    /// Verifies AWS accounts.
    pub accounts: Arc<dyn Accounts>,
    /// The keys that seal documents.
    pub keys: Arc<Keys>,
    /// The clock.
    pub clock: Arc<dyn Clock>,
    /// The source of randomness.
    pub entropy: Arc<dyn Entropy>,
    /// Where declarations are judged.
    pub pool: CpuPool,
    /// Woken after an operation has been accepted.
    pub workers: Arc<dyn Wake>,
    /// The regions that requests may name.
    pub regions: Regions,
    /// The roles that credentials may name.
    pub roles: Roles,
    /// Who may do what, as far as that is not stored.
    pub access: Access,
    /// How much there may be.
    pub quotas: Quotas,
    /// The operations that requests wait for. Told when one has progressed in this process.
    pub awaiting: Awaiting,
}

/// Wakes the workers.
pub trait Wake: Send + Sync {
    /// Tells the workers that an operation may be due.
    fn wake(&self);

    /// Returns whether the workers of this process, if it has any, still claim operations.
    fn are_working(&self) -> bool;
}

/// The application.
pub struct App {
    parts: Parts,
    estimates: Estimates,
    assignments: KnownAssignments,
    counted: Counted,
}

/// The sender of a request, and its limits.
#[derive(Clone, Debug)]
pub struct Caller {
    /// The name that events record.
    pub name: String,
    /// What the sender may do.
    pub rights: Rights,
    /// Who that is, unless nobody is asked.
    pub principal: Option<Arc<Principal>>,
    /// Correlates the calls of one deployment.
    pub correlation_id: CorrelationId,
    /// The time for the look at AWS and, if it shows nothing, for the verdict of the operation.
    pub verdict_wait: Duration,
    /// The time to wait for the deletion of a group.
    pub group_delete_wait: Duration,
    /// Who waits for the reply.
    pub recipient: Recipient,
    /// The memory that the request works with.
    pub room: Room,
}

/// Returns somebody who may do everything, and waits for nothing.
#[cfg(test)]
fn caller(name: &str) -> Caller {
    Caller {
        name: name.to_owned(),
        rights: Rights::unlimited(),
        principal: None,
        correlation_id: CorrelationId::new("deployment"),
        verdict_wait: Duration::ZERO,
        group_delete_wait: Duration::ZERO,
        recipient: Recipient::default(),
        room: Room::default(),
    }
}

impl App {
    /// Creates the application.
    pub fn new(parts: Parts) -> Self {
        Self {
            estimates: Estimates::default(),
            counted: Counted::default(),
            assignments: KnownAssignments::new(
                parts.store.clone(),
                parts.store.clone(),
                Arc::clone(&parts.clock),
            ),
            parts,
        }
    }

    /// Returns an error if the store cannot be reached, if the workers of this process do not work, or if the clock of
    /// this machine is wrong.
    pub async fn is_ready(&self) -> Result<(), Rejection> {
        self.parts.store.ping().await?;
        let skew = self.parts.clock.skew();
        let message = if !self.parts.workers.are_working() {
            "The workers of this process have not been able to claim operations lately.".to_owned()
        } else if skew > MAX_SKEW {
            format!(
                "The clock of this machine differs from that of the database by {} ms. Correct it.",
                skew.as_millis()
            )
        } else {
            return Ok(());
        };
        let code = ErrorCode::ServiceUnavailable;
        Err(Rejection::NotNow(Failure::new(code, message)))
    }

    /// Returns a new UUID for a request or a correlation id.
    pub fn fresh_id(&self) -> String {
        self.parts.entropy.uuid("request-id").to_string()
    }

    /// Returns the clock.
    pub fn clock(&self) -> Arc<dyn Clock> {
        Arc::clone(&self.parts.clock)
    }

    /// Does work that takes CPU time where declarations are judged, unless it is quick.
    pub async fn judge_aside<T: Send + 'static>(
        &self,
        is_quick: bool,
        work: impl FnOnce() -> T + Send + 'static,
    ) -> Result<T, Rejection> {
        Ok(self.parts.pool.run_unless_quick(is_quick, work).await?)
    }

    /// Returns the time.
    pub fn time(&self) -> Timestamp {
        self.now()
    }

    fn now(&self) -> Timestamp {
        self.parts.clock.now()
    }
}
