//! The use cases, a method for each kind of request, in rooms: [`App`] has those that fronts call as fields.
//!
//! Handlers call these methods and nothing else. They validate the request and look at the resource. Only if something
//! is to be done, or the look does not show what, do they claim the alias and record an operation. They see AWS only
//! through [`LiveReader`]: every change is an operation that the engine carries out.

mod accounts;
mod allowances;
mod changes;
mod cipher;
mod counting;
mod declared;
mod declaring;
mod ground;
mod groups;
mod identifier;
mod in_flight;
mod inventory;
mod limits;
mod listed;
mod live;
mod looks;
mod moves;
mod operations;
mod permissions;
mod planes;
mod plans;
mod recipient;
mod refactors;
mod rejection;
pub mod resealing;
mod resources;
mod services;
mod sets;
mod types;
mod wildcard;

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

use allowances::Estimates;
use permissions::KnownAssignments;

pub use accounts::Accounts;
pub use allowances::{Allowances, Quotas};
pub use changes::{ChangeCases, ChangeKind, ResourceChange, WhatIf};
pub use cipher::RingCipher;
pub use declared::{ApplySet, DeclaredSet, Mode, PlannedPut, PutResource, SetGoal, SetMember};
pub use ground::Ground;
pub use groups::{DeleteGroupOutcome, GroupCases, GroupView, ImportGroupItem, Released};
pub use identifier::{Selector, TrackedBy, UntrackedAlias};
pub use in_flight::{
    ALL_BODIES_MAX_BYTES, ALL_MAX_BYTES, BEYOND_MAX_BYTES, CALLER_BODIES_MAX_BYTES,
    CALLER_MAX_BYTES, InFlight, Room, SET_COPIES, SMALL_MAX_BYTES, VALUE_BYTES, tree_bytes,
};
use inventory::Counted;
pub use inventory::Inventory;
pub use limits::LIMITS;
pub use listed::Listed;
pub use live::LiveReader;
pub use looks::Looks;
pub use moves::MoveCases;
pub use operations::{Awaiting, OperationCases, OperationQuery};
pub use permissions::{Access, AuditFilter, AuditPage, Permissions};
pub use planes::{
    CredentialPut, PlaneCases, PutCredential, PutRoleAssignment, RoleAssignmentPut, Roles, way_back,
};
pub use plans::{PLAN_LIFETIME, PLAN_LIFETIMES, PlanCases, PlanReview, ShownPlan};
pub use recipient::Recipient;
pub use refactors::{
    DeclaredRefactor, DeclaredResource, EmptiedGroups, NamedGroup, RefactorCases, RefactorMode,
    RefactorQuery, Refactored,
};
pub use rejection::{BeyondRate, Rejection};
pub use resources::{
    DeleteOutcome, DeleteResource, ImportOutcome, ImportResource, LivePage, LiveResource,
    PutOutcome, ReadResource, ResourceCases,
};
pub use services::{
    BindService, BoundService, LastOperation, Ordered, Platform, Progress, ProvisionService,
    ProvisionedService, ServiceCases, ServiceRejection, ServiceRequest, UpdateService,
};
pub use sets::{ApplyOutcome, SetCases};
pub use types::{InvalidRegion, Regions, ResourceProvider, TypeCases};
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

/// The application: its rooms, each of which sees those that it uses and no other one.
pub struct App {
    /// Planes, their credentials, and the roles over them.
    pub planes: Arc<PlaneCases>,
    /// Who may do what.
    pub permissions: Arc<Permissions>,
    /// Resource groups, and the references in them.
    pub groups: Arc<GroupCases>,
    /// The types that requests name.
    pub types: Arc<TypeCases>,
    /// Operations.
    pub operations: Arc<OperationCases>,
    /// Single resources.
    pub resources: Arc<ResourceCases>,
    /// Sets of declarations.
    pub sets: Arc<SetCases>,
    /// Plans that are kept.
    pub plans: Arc<PlanCases>,
    /// Refactors.
    pub refactors: RefactorCases,
    /// The service instances and bindings of platforms.
    pub services: ServiceCases,
    ground: Arc<Ground>,
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
        let Parts {
            store,
            live,
            types,
            default_tags,
            untracked_alias,
            accounts,
            keys,
            clock,
            entropy,
            pool,
            workers,
            regions,
            roles,
            access,
            quotas,
            awaiting,
        } = parts;
        let assignments = KnownAssignments::new(store.clone(), store.clone(), Arc::clone(&clock));
        let ground = Arc::new(Ground {
            store,
            clock,
            entropy,
            keys,
            pool,
            accounts,
        });
        let allowances = Arc::new(Allowances {
            ground: Arc::clone(&ground),
            quotas,
            estimates: Estimates::default(),
        });
        let permissions = Arc::new(Permissions {
            ground: Arc::clone(&ground),
            access,
            assignments,
        });
        let types = Arc::new(TypeCases {
            source: types,
            regions,
            default_tags,
            untracked_alias,
        });
        let operations = Arc::new(OperationCases {
            ground: Arc::clone(&ground),
            allowances: Arc::clone(&allowances),
            awaiting,
            workers,
        });
        let planes = Arc::new(PlaneCases {
            ground: Arc::clone(&ground),
            allowances: Arc::clone(&allowances),
            permissions: Arc::clone(&permissions),
            roles,
        });
        let groups = Arc::new(GroupCases {
            ground: Arc::clone(&ground),
            allowances: Arc::clone(&allowances),
            permissions: Arc::clone(&permissions),
            types: Arc::clone(&types),
            operations: Arc::clone(&operations),
        });
        let looks = Arc::new(Looks {
            ground: Arc::clone(&ground),
            allowances: Arc::clone(&allowances),
            types: Arc::clone(&types),
            live,
        });
        let plans = Arc::new(PlanCases {
            ground: Arc::clone(&ground),
            allowances: Arc::clone(&allowances),
        });
        let moves = Arc::new(MoveCases {
            ground: Arc::clone(&ground),
        });
        let changes = Arc::new(ChangeCases {
            ground: Arc::clone(&ground),
            allowances: Arc::clone(&allowances),
            types: Arc::clone(&types),
            operations: Arc::clone(&operations),
        });
        let resources = Arc::new(ResourceCases {
            ground: Arc::clone(&ground),
            types: Arc::clone(&types),
            groups: Arc::clone(&groups),
            operations: Arc::clone(&operations),
            looks: Arc::clone(&looks),
            plans: Arc::clone(&plans),
        });
        let sets = Arc::new(SetCases {
            ground: Arc::clone(&ground),
            types: Arc::clone(&types),
            operations: Arc::clone(&operations),
            looks: Arc::clone(&looks),
            plans: Arc::clone(&plans),
            changes: Arc::clone(&changes),
            moves: Arc::clone(&moves),
            resources: Arc::clone(&resources),
        });
        let refactors = RefactorCases {
            ground: Arc::clone(&ground),
            allowances: Arc::clone(&allowances),
            types: Arc::clone(&types),
            operations: Arc::clone(&operations),
            changes: Arc::clone(&changes),
            moves,
        };
        let services = ServiceCases {
            ground: Arc::clone(&ground),
            allowances,
            types: Arc::clone(&types),
            operations: Arc::clone(&operations),
            changes,
            sets: Arc::clone(&sets),
        };
        Self {
            planes,
            permissions,
            groups,
            types,
            operations,
            resources,
            sets,
            plans,
            refactors,
            services,
            ground,
            counted: Counted::default(),
        }
    }

    /// Returns an error if the store cannot be reached, if the workers of this process do not work, or if the clock of
    /// this machine is wrong.
    pub async fn is_ready(&self) -> Result<(), Rejection> {
        self.ground.store.ping().await?;
        let skew = self.ground.clock.skew();
        let message = if !self.operations.workers.are_working() {
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
        self.ground.entropy.uuid("request-id").to_string()
    }

    /// Returns the clock.
    pub fn clock(&self) -> Arc<dyn Clock> {
        Arc::clone(&self.ground.clock)
    }

    /// Does work that takes CPU time where declarations are judged, unless it is quick.
    pub async fn judge_aside<T: Send + 'static>(
        &self,
        is_quick: bool,
        work: impl FnOnce() -> T + Send + 'static,
    ) -> Result<T, Rejection> {
        self.ground.judge_aside(is_quick, work).await
    }

    /// Returns the time.
    pub fn time(&self) -> Timestamp {
        self.ground.now()
    }
}
