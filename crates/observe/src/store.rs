//! The decorator of the store: every method is passed on, and observed if it is a [`Moment`].

use std::collections::BTreeSet;

use async_trait::async_trait;
use ucp_model::operation::{State, Work};
use ucp_model::{
    BindingId, CorrelationId, Credential, CredentialId, GroupId, Identifier, InstanceId, Leftover,
    LeftoverId, NewCredential, NewPlane, NewResourceGroup, Operation, OperationId, Outline, PlanId,
    PlanPolicy, Plane, PlaneId, PlaneKind, RateKey, Refactor, RefactorId, Reference, ReferenceId,
    Register, RequestToken, ResourceGroup, Review, RoleAssignmentId, Scope, ServiceBinding,
    ServiceInstance, Target, Timestamp, TrackRecord, TypeName,
};
use ucp_store::{
    Accepted, Adoption, ApplyRefactor, Ask, AuditEvent, AuditEvents, AuditPlace, Basis, Brought,
    Claimed, Credentials, Error, Event, FinishOperation, Forgotten, GroupDeletion, GroupUpdate,
    Groups, KeptPlans, Lease, LeaseTerm, Leases, Leftovers, Limit, LiveOperations, NewOperation,
    NewRoleAssignment, OperationPage, Operations, OwnedPlace, Pace, Page, PlaceOrder, Planes,
    PlansOf, Precondition, Rates, Reachable, RecordedAlias, RecordedTarget, Refactors,
    ReferenceUpdate, References, Release, Retried, Reviewed, RoleAssignment, RoleAssignments,
    Sealed, SealedKey, SealedPlace, SealedValues, ServiceBroker, Store, Stored, StoredAuditEvent,
    StoredCredential, StoredPlan, Token, Tokens, TrackRecords, TypeSchema, TypeSchemas,
    WaitingOperation, WaitingScope, Watches, Written,
};

use crate::process::Observed;
use crate::{CrashPoint, Moment};

impl Observed<dyn Store> {
    /// Makes the call. The reply is lost if the process crashes after it. An error counts as an event that did not
    /// happen.
    async fn at<R>(
        &self,
        method: &'static str,
        moment: Moment,
        call: impl Future<Output = Result<R, Error>>,
    ) -> Result<R, Error> {
        self.process.reached(CrashPoint::before(moment)).await?;
        self.process.observer.asked_store(method);
        let reply = call.await?;
        self.process.reached(CrashPoint::after(moment)).await?;
        Ok(reply)
    }

    /// Makes a call that writes a step, and tells of it.
    async fn step<R>(
        &self,
        operation: Operation,
        call: impl Future<Output = Result<R, Error>>,
    ) -> Result<R, Error> {
        let reply = call.await?;
        self.process.observer.stepped(&operation);
        Ok(reply)
    }

    /// Makes a call that is not a moment of an operation's life.
    async fn unnoticed<R>(
        &self,
        method: &'static str,
        call: impl Future<Output = Result<R, Error>>,
    ) -> Result<R, Error> {
        self.process.living()?;
        self.process.observer.asked_store(method);
        call.await
    }
}

/// Returns the moment of a step after which `operation` is still live.
fn recorded(operation: &Operation) -> Moment {
    let work = match &operation.work {
        Work::Resource(work) => work,
        Work::Group(_) => return Moment::RecordProgress,
    };
    match &work.state {
        // A new intent has never been sent and is due at once. A repeated one is due later or has been sent before.
        State::Submitting(intent)
            if intent.unanswered == 1 && intent.issued_at == operation.header.due_at =>
        {
            Moment::RecordIntent
        }
        State::Observing(_) | State::Salvaging(..) | State::Adopting(_) => Moment::RecordVerdict,
        State::Accepted
        | State::Missing(_)
        | State::Submitting(_)
        | State::Waiting(..)
        | State::Ended(_) => Moment::RecordProgress,
    }
}

/// Implements a trait of the store, given its methods without `&self` and with their success types, and the one that
/// waits for a nudge.
macro_rules! observed {
    ($trait:ident {
        $($(#[at($moment:expr)])? $(#[steps($operation:expr)])? fn $name:ident($($argument:ident: $type:ty),*) -> $reply:ty;)*
        $(nudge $nudge:ident;)?
    }) => {
        #[async_trait]
        impl $trait for Observed<dyn Store> {
            $(async fn $name(&self, $($argument: $type),*) -> Result<$reply, Error> {
                let call = observed!(@step self, self.inner.$name($($argument),*) $(, $operation)?);
                observed!(@call self, stringify!($name), call $(, $moment)?).await
            })*
            $(async fn $nudge(&self) {
                self.inner.$nudge().await;
            })?
        }
    };
    (@step $self:ident, $call:expr) => {
        $call
    };
    (@step $self:ident, $call:expr, $operation:expr) => {
        $self.step($operation.clone(), $call)
    };
    (@call $self:ident, $method:expr, $call:expr) => {
        $self.unnoticed($method, $call)
    };
    (@call $self:ident, $method:expr, $call:expr, $moment:expr) => {
        $self.at($method, $moment, $call)
    };
}

observed! {
    Planes {
        fn put_plane(plane: NewPlane, precondition: &Precondition, now: Timestamp) -> Written<Plane>;
        fn get_plane(id: &PlaneId) -> Option<Plane>;
        fn list_planes(
            kind: Option<PlaneKind>,
            after: Option<&PlaneId>,
            limit: usize
        ) -> Vec<Plane>;
        fn delete_plane(id: &PlaneId, precondition: &Precondition) -> bool;
    }
}

observed! {
    Groups {
        fn put_resource_group(
            group: NewResourceGroup,
            precondition: &Precondition,
            now: Timestamp
        ) -> Written<ResourceGroup>;
        fn update_resource_group(
            id: &GroupId,
            update: GroupUpdate,
            precondition: &Precondition,
            now: Timestamp
        ) -> Written<ResourceGroup>;
        fn get_resource_group(id: &GroupId) -> ResourceGroup;
        fn list_resource_groups(
            plane: &str,
            after: Option<&GroupId>,
            limit: usize
        ) -> Vec<ResourceGroup>;
        fn count_resource_groups(plane: &str, limit: usize) -> usize;
        fn policy_elsewhere(target: &Target<'_>, own: Option<&GroupId>) -> PlanPolicy;
        #[at(Moment::Accept)]
        fn delete_resource_group(
            deletion: NewOperation,
            precondition: &Precondition,
            deletable: Option<&BTreeSet<OwnedPlace>>
        ) -> GroupDeletion;
    }
}

observed! {
    Credentials {
        fn put_credential(
            new: NewCredential,
            secret: Option<Sealed>,
            precondition: &Precondition,
            now: Timestamp
        ) -> Written<StoredCredential>;
        fn get_credential(id: &CredentialId) -> Option<StoredCredential>;
        fn list_credentials(
            plane: &str,
            after: Option<&CredentialId>,
            limit: usize
        ) -> Vec<Credential>;
        fn delete_credential(id: &CredentialId, precondition: &Precondition) -> bool;
        nudge credentials_changed;
    }
}

observed! {
    References {
        fn get_reference(id: &ReferenceId) -> Option<Reference>;
        fn recorded_alias(id: &ReferenceId) -> RecordedAlias;
        fn list_references(
            group: &GroupId,
            type_name: Option<&TypeName>,
            after: Option<&ReferenceId>,
            limit: Limit
        ) -> Page<Reference>;
        fn list_outlines(group: &GroupId) -> Vec<Outline>;
        fn accounted_for(
            scope: &Scope,
            type_name: &TypeName,
            identifiers: &[Identifier]
        ) -> BTreeSet<Identifier>;
        fn update_reference(
            id: &ReferenceId,
            update: ReferenceUpdate,
            caller: &str,
            correlation_id: &CorrelationId,
            now: Timestamp
        ) -> Reference;
        #[at(Moment::Remember)]
        fn remember(reference: &Reference, basis: &Basis) -> bool;
        #[at(Moment::Adopt)]
        fn adopt(adoption: Adoption) -> bool;
        fn forget_reference(
            id: &ReferenceId,
            keeps_plan_policy: bool,
            caller: &str,
            correlation_id: &CorrelationId,
            now: Timestamp
        ) -> Forgotten;
        fn release_reference(release: Release) -> ();
        fn references_to(targets: &[String], limit: usize) -> Vec<Reference>;
        fn count_references(group: &GroupId, limit: usize) -> usize;
        fn list_events(reference: &ReferenceId) -> Vec<Event>;
        fn remove_events(before: Timestamp, limit: usize) -> u64;
    }
}

observed! {
    Operations {
        #[at(Moment::Accept)]
        fn accept_operation(new: NewOperation) -> Accepted;
        #[at(Moment::StartChild)]
        fn accept_child(lease: &Lease, new: NewOperation) -> Accepted;
        fn get_operation(id: OperationId) -> Option<Operation>;
        fn get_operations(ids: &[OperationId]) -> Vec<Operation>;
        fn list_operations(group: &GroupId, page: OperationPage) -> Vec<Operation>;
        fn list_children(parent: OperationId) -> Vec<Operation>;
        fn recorded_target(target: &Target<'_>) -> RecordedTarget;
        fn was_created(target: &Target<'_>, since: Timestamp) -> bool;
        #[at(recorded(operation))]
        #[steps(operation)]
        fn commit_step(
            lease: &Lease,
            operation: &Operation,
            document: Option<Sealed>,
            now: Timestamp,
            term: LeaseTerm
        ) -> Lease;
        #[at(Moment::Finish)]
        #[steps(finish.operation)]
        fn finish_operation(lease: &Lease, finish: FinishOperation) -> ();
        fn request_cancel(id: OperationId, now: Timestamp) -> Option<Operation>;
        fn count_live_operations(those: LiveOperations<'_>, limit: usize) -> usize;
        fn remove_ended_operations(before: Timestamp, limit: usize) -> u64;
    }
}

observed! {
    Leftovers {
        fn list_leftovers(
            register: &Register,
            after: Option<OperationId>,
            limit: usize
        ) -> Vec<Leftover>;
        fn count_leftovers(limit: usize) -> usize;
        fn get_leftover(id: &LeftoverId) -> Option<Leftover>;
        fn forget_leftover(
            id: &LeftoverId,
            caller: &str,
            correlation_id: &CorrelationId,
            now: Timestamp
        ) -> bool;
        fn claim_due_leftovers(
            now: Timestamp,
            until: Timestamp,
            limit: usize
        ) -> Vec<Leftover>;
        fn retry_leftover(id: &LeftoverId, new: NewOperation) -> Retried;
    }
}

observed! {
    Tokens {
        fn create_token(token: Token) -> bool;
        fn get_token(id: &str) -> Option<Token>;
        fn list_tokens(after: Option<&str>, limit: usize) -> Vec<Token>;
        fn revoke_token(id: &str, now: Timestamp) -> bool;
        fn note_token_use(id: &str, at: Timestamp) -> ();
    }
}

observed! {
    KeptPlans {
        fn keep_plan(plan: StoredPlan) -> ();
        fn get_plan(id: PlanId) -> Option<StoredPlan>;
        fn review_plan(id: PlanId, review: &Review) -> Reviewed;
        fn count_plans(of: PlansOf<'_>, limit: usize) -> usize;
        fn remove_plans_of(of: PlansOf<'_>, until: Timestamp, most: usize) -> u64;
        fn erase_expired_plans(now: Timestamp, limit: usize) -> u64;
        fn remove_plans(before: Timestamp, limit: usize) -> u64;
    }
}

observed! {
    Refactors {
        fn keep_refactor(refactor: Refactor, most: usize) -> ();
        #[at(Moment::Move)]
        fn apply_refactor(new: ApplyRefactor) -> Refactor;
        fn get_refactor(id: RefactorId) -> Option<Refactor>;
        fn list_refactors(
            plane: &str,
            group: Option<&GroupId>,
            after: Option<(Timestamp, RefactorId)>,
            limit: usize
        ) -> Vec<Refactor>;
        fn refactor_events(groups: &[GroupId], limit: usize) -> Vec<Brought>;
        fn remove_refactors(before: Timestamp, limit: usize) -> u64;
    }
}

observed! {
    ServiceBroker {
        fn get_service_instance(id: &InstanceId) -> Option<ServiceInstance>;
        fn get_service_binding(id: &BindingId) -> Option<ServiceBinding>;
        fn list_service_bindings(instance: &InstanceId) -> Vec<ServiceBinding>;
        fn list_service_references(group: &GroupId, instance: &InstanceId) -> Vec<Reference>;
        #[at(Moment::Accept)]
        fn place_order(order: PlaceOrder) -> ServiceInstance;
        fn remove_gone_services(before: Timestamp, limit: usize) -> u64;
    }
}

observed! {
    RoleAssignments {
        fn put_role_assignment(
            new: NewRoleAssignment,
            judged: Option<&RoleAssignment>,
            groups: &[ResourceGroup],
            now: Timestamp
        ) -> RoleAssignment;
        fn get_role_assignment(id: &RoleAssignmentId) -> Option<RoleAssignment>;
        fn list_role_assignments(
            plane: Option<&str>,
            after: Option<&RoleAssignmentId>,
            limit: usize
        ) -> Vec<RoleAssignment>;
        fn delete_role_assignment(judged: &RoleAssignment) -> bool;
    }
}

observed! {
    Rates {
        fn pace(key: &RateKey, ask: &Ask, now: Timestamp) -> Pace;
        fn wait_for_turn(leases: &[Lease], key: &RateKey, now: Timestamp) -> ();
        fn list_rates_waited_for() -> Vec<RateKey>;
        fn remove_idle_rates(before: Timestamp, limit: usize) -> u64;
    }
}

observed! {
    TrackRecords {
        fn list_track_records(
            plane: &str,
            after: Option<&TypeName>,
            limit: usize
        ) -> Vec<TrackRecord>;
        fn get_track_records(plane: &str, types: &[TypeName]) -> Vec<TrackRecord>;
        fn count_predictions(limit: usize) -> u64;
    }
}

observed! {
    Watches {
        fn list_waiting_scopes(least: usize) -> Vec<WaitingScope>;
        fn keep_watch(
            scope: &str,
            owner: &str,
            works_until: Option<Timestamp>,
            now: Timestamp,
            term: LeaseTerm
        ) -> bool;
        fn end_watch(scope: &str, owner: &str) -> ();
        fn list_waiting_operations(
            scope: &str,
            after: Option<&RequestToken>,
            limit: usize
        ) -> Vec<WaitingOperation>;
        fn reschedule_waiting(ids: &[OperationId], now: Timestamp, due_at: Timestamp) -> u64;
    }
}

observed! {
    TypeSchemas {
        fn put_type_schema(scope: &Scope, type_name: &TypeName, schema: TypeSchema) -> ();
        fn get_type_schema(
            scope: &Scope,
            type_name: &TypeName,
            fingerprint: Option<&str>
        ) -> Option<TypeSchema>;
    }
}

observed! {
    SealedValues {
        fn list_sealed(
            after: Option<&SealedPlace>,
            limit: usize
        ) -> Vec<(SealedPlace, Stored)>;
        fn reseal(place: &SealedPlace, old: &Stored, new: Sealed) -> bool;
        fn ensure_digest_key(candidate: SealedKey, now: Timestamp) -> SealedKey;
        fn replace_digest_key(new: SealedKey, now: Timestamp) -> ();
    }
}

observed! {
    AuditEvents {
        fn append_audit_events(events: &[AuditEvent]) -> ();
        fn list_audit_events(
            since: Timestamp,
            before: AuditPlace,
            limit: usize
        ) -> Vec<StoredAuditEvent>;
        fn remove_audit_events(before: Timestamp, limit: usize) -> u64;
    }
}

observed! {
    Reachable {
        fn ping() -> ();
        fn time() -> Option<Timestamp>;
    }
}

#[async_trait]
impl Leases for Observed<dyn Store> {
    /// A claim that returns nothing is not a moment.
    async fn claim_due_operations(
        &self,
        owner: &str,
        now: Timestamp,
        term: LeaseTerm,
        limit: usize,
    ) -> Result<Vec<Claimed>, Error> {
        self.process
            .reached(CrashPoint::before(Moment::Claim))
            .await?;
        self.process.observer.asked_store("claim_due_operations");
        let claimed = self
            .inner
            .claim_due_operations(owner, now, term, limit)
            .await?;
        let claimed = self.process.observer.handed_out(claimed).await;
        if !claimed.is_empty() {
            self.process
                .reached(CrashPoint::after(Moment::Claim))
                .await?;
        }
        Ok(claimed)
    }

    async fn claim_elsewhere(
        &self,
        owner: &str,
        now: Timestamp,
        term: LeaseTerm,
        limit: usize,
        crowded: &BTreeSet<String>,
    ) -> Result<Vec<Claimed>, Error> {
        self.process
            .reached(CrashPoint::before(Moment::Claim))
            .await?;
        self.process.observer.asked_store("claim_elsewhere");
        let claim = self.inner.claim_elsewhere(owner, now, term, limit, crowded);
        let claimed = self.process.observer.handed_out(claim.await?).await;
        if !claimed.is_empty() {
            self.process
                .reached(CrashPoint::after(Moment::Claim))
                .await?;
        }
        Ok(claimed)
    }

    async fn renew_lease(
        &self,
        lease: &Lease,
        now: Timestamp,
        term: LeaseTerm,
    ) -> Result<Lease, Error> {
        self.unnoticed("renew_lease", self.inner.renew_lease(lease, now, term))
            .await
    }

    async fn release_lease(&self, lease: &Lease) -> Result<(), Error> {
        self.unnoticed("release_lease", self.inner.release_lease(lease))
            .await
    }

    async fn hand_back(&self, lease: &Lease, not_before: Timestamp) -> Result<(), Error> {
        self.unnoticed("hand_back", self.inner.hand_back(lease, not_before))
            .await
    }

    async fn arm(&self, lease: &Lease, now: Timestamp, term: LeaseTerm) -> Result<Lease, Error> {
        self.unnoticed("arm", self.inner.arm(lease, now, term))
            .await
    }

    async fn disarm(&self, lease: &Lease, now: Timestamp, term: LeaseTerm) -> Result<Lease, Error> {
        self.unnoticed("disarm", self.inner.disarm(lease, now, term))
            .await
    }

    async fn take_over_leases(&self) -> Result<(), Error> {
        self.unnoticed("take_over_leases", self.inner.take_over_leases())
            .await
    }

    async fn next_claimable_at(&self) -> Result<Option<Timestamp>, Error> {
        self.unnoticed("next_claimable_at", self.inner.next_claimable_at())
            .await
    }

    async fn next_claimable_elsewhere(
        &self,
        crowded: &BTreeSet<String>,
    ) -> Result<Option<Timestamp>, Error> {
        let next = self.inner.next_claimable_elsewhere(crowded);
        self.unnoticed("next_claimable_elsewhere", next).await
    }

    async fn nudged(&self) {
        self.inner.nudged().await;
    }
}
