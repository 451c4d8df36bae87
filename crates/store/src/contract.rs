//! The contract of a store.

use std::collections::BTreeMap;
use std::fmt;
use std::time::Duration;

use async_trait::async_trait;
use serde_json::{Map, Value};
use ucp_model::operation::{Change, Kind, MappingChange, Options};
use ucp_model::{
    Baseline, CorrelationId, Credential, CredentialId, CredentialKind, GroupId, GroupOperation,
    Identifier, Operation, OperationId, Plane, PlaneId, Reference, ReferenceId, ResourceGroup,
    Scope, Target, Timestamp, TypeName,
};

use crate::{
    GroupDeletion, Job, ListedOperation, NewGroupOperation, OperationPage, Precondition,
    ReferenceUpdate,
};

/// What a caller would do differently when the store says no.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The resource group does not exist.
    #[error("the resource group does not exist")]
    NoSuchGroup,
    /// This operation is deleting the resource group.
    #[error("operation {0} is deleting the resource group")]
    GroupDeleting(OperationId),
    /// The alias maps nothing.
    #[error("the alias maps nothing")]
    NotMapped,
    /// The alias maps a resource already.
    #[error("the alias maps a resource already")]
    AlreadyMapped,
    /// The alias, the AWS resource it leads to, or the group has a live operation.
    #[error("operation {0} is under way")]
    Busy(OperationId),
    /// The alias maps a resource in another scope.
    #[error("the alias maps a resource in {0}")]
    MappedElsewhere(Scope),
    /// Another reference owns the AWS resource.
    #[error("{0} owns the resource")]
    OwnedElsewhere(ReferenceId),
    /// What is there is not what the [`Precondition`](crate::Precondition) asks for; nothing was written.
    #[error("the precondition failed")]
    PreconditionFailed,
    /// The lease has passed to another worker, was handed back, or ended with the operation; nothing was written.
    #[error("the lease was lost")]
    LeaseLost,
    /// The store cannot be reached or asks to try again; nothing was written, or the caller cannot know.
    #[error("the store is unavailable")]
    Unavailable(#[source] Box<dyn std::error::Error + Send + Sync>),
    /// A row cannot be what this program wrote.
    #[error("stored data is corrupt: {0}")]
    Corrupt(String),
}

/// Bytes that only the holder of the encryption key can read.
#[derive(Clone, PartialEq, Eq)]
pub struct Sealed(pub Vec<u8>);

impl fmt::Debug for Sealed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Sealed({} bytes)", self.0.len())
    }
}

/// A digest key, sealed under the encryption key.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SealedKey {
    /// Its public id, stored beside every digest it makes.
    pub id: String,
    /// The key.
    pub key: Sealed,
}

/// Where a sealed value stands.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SealedPlace {
    /// The secret of a credential.
    Credential(CredentialId),
    /// The declared properties of a live operation.
    Desired(OperationId),
    /// The current digest key, by its id.
    DigestKey(String),
    /// The bytes of the recorded intent of a live operation.
    Document(OperationId),
}

/// The documents of an operation that wait to be sent. They are erased when it ends.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Documents {
    /// The declared properties of a put.
    pub desired: Option<Sealed>,
    /// The exact bytes of the recorded intent.
    pub document: Option<Sealed>,
}

/// A plane as it is to be.
#[derive(Clone, Debug, PartialEq)]
pub struct PutPlane {
    /// Its id.
    pub id: PlaneId,
    /// Its location.
    pub location: String,
    /// Its tags.
    pub tags: BTreeMap<String, String>,
    /// Its settings.
    pub properties: Map<String, Value>,
}

/// A resource group as it is to be.
#[derive(Clone, Debug, PartialEq)]
pub struct PutGroup {
    /// Its id.
    pub id: GroupId,
    /// Its location.
    pub location: String,
    /// Its own tags.
    pub tags: BTreeMap<String, String>,
    /// The tags of what is put into it.
    pub default_tags: BTreeMap<String, String>,
}

/// A credential to write.
#[derive(Clone, Debug, PartialEq)]
pub struct NewCredential {
    /// Its id.
    pub id: CredentialId,
    /// The location the caller gave.
    pub location: String,
    /// ARM tags.
    pub tags: BTreeMap<String, String>,
    /// Who it is to AWS.
    pub kind: CredentialKind,
    /// The secret of an access key.
    pub secret: Option<Sealed>,
}

/// A credential with what it takes to sign.
#[derive(Clone, Debug, PartialEq)]
pub struct StoredCredential {
    /// The credential.
    pub credential: Credential,
    /// The secret of an access key.
    pub secret: Option<Sealed>,
}

/// The schema of a resource type as the CloudFormation registry told it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TypeSchema {
    /// The schema, as JSON text.
    pub text: String,
    /// Tells it from every other one.
    pub fingerprint: String,
    /// Whether Cloud Control manages resources of the type.
    pub is_provisioned: bool,
    /// When the registry told it.
    pub fetched_at: Timestamp,
}

/// An operation to accept. What it works on is settled in the accepting transaction: the mapping's identifier wins over
/// `identifier`.
#[derive(Clone, Debug, PartialEq)]
pub struct NewOperation {
    /// Its id, fresh.
    pub id: OperationId,
    /// What it is to achieve.
    pub kind: Kind,
    /// Where.
    pub scope: Scope,
    /// On a resource of which type.
    pub type_name: TypeName,
    /// Under which alias; none when untracked.
    pub reference: Option<ReferenceId>,
    /// The identifier that the request determines.
    pub identifier: Option<Identifier>,
    /// What the caller chose.
    pub options: Options,
    /// The declared properties, sealed.
    pub desired: Option<Sealed>,
    /// The schema the declaration was validated with.
    pub schema_fingerprint: String,
    /// What ties it to the caller's deployment.
    pub correlation_id: CorrelationId,
    /// Who asked for it.
    pub caller: String,
    /// The operation this one is a part of.
    pub parent: Option<OperationId>,
    /// Now.
    pub accepted_at: Timestamp,
}

/// What accepting an operation came to.
#[derive(Clone, Debug, PartialEq)]
pub struct Accepted {
    /// The operation as recorded.
    pub operation: Operation,
    /// The reference it works on, as recorded.
    pub reference: Option<Reference>,
}

/// The right to step one operation: a write under it happens only while the operation's lease has this owner and this
/// generation. A lease that has run out is good until somebody takes it; one that was handed back is not.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Lease {
    /// The operation.
    pub operation: OperationId,
    /// Who holds it.
    pub owner: String,
    /// Rises by one with each claim.
    pub generation: u64,
    /// When others may take it.
    pub expires_at: Timestamp,
}

/// How long a lease lasts from the moment it is taken or renewed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LeaseTerm(pub Duration);

/// An operation under a lease, with what stepping it needs.
#[derive(Clone, Debug, PartialEq)]
pub struct Claimed {
    /// The right to write.
    pub lease: Lease,
    /// The operation.
    pub operation: Operation,
    /// Its documents.
    pub documents: Documents,
    /// What the last successful put of its alias declared.
    pub baseline: Option<Baseline>,
}

/// The end of an operation.
#[derive(Clone, Debug, PartialEq)]
pub struct FinishOperation {
    /// The operation, in a terminal state.
    pub operation: Operation,
    /// What becomes of the mapping.
    pub mapping: MappingChange,
    /// What was declared, for [`MappingChange::Applied`] of a put.
    pub baseline: Option<Baseline>,
}

/// What forgetting a reference came to.
#[derive(Clone, Debug, PartialEq)]
pub enum Forgotten {
    /// The mapping is gone; the AWS resource was left alone.
    Forgotten,
    /// The reference owns its resource, which has to be deleted first.
    Owned(Box<Reference>),
}

/// One line of the append-only history, written in the transaction that ended the operation or that forgot or updated the
/// reference.
#[derive(Clone, Debug, PartialEq)]
pub struct Event {
    /// When.
    pub at: Timestamp,
    /// Who.
    pub caller: String,
    /// `put`, `delete`, `import`, `deleteGroup`, `importGroup`, `forget` or `update`.
    pub kind: String,
    /// The operation; none for `update`, and for `forget` unless a group was deleted.
    pub operation: Option<OperationId>,
    /// What ties it to the caller's deployment.
    pub correlation_id: CorrelationId,
    /// The tracking id, where there is one.
    pub reference: Option<String>,
    /// The AWS resource's id, where it is known, or the group's.
    pub resource: Option<String>,
    /// What changed, by path.
    pub changes: Vec<Change>,
    /// `Succeeded`, `Failed` or `Canceled`.
    pub outcome: String,
    /// The failure's code.
    pub code: Option<String>,
}

/// What `ucp` remembers.
///
/// Every method is one atomic step: it happens wholly, or it fails and nothing happened. `now` is the caller's clock;
/// skew between callers costs liveness, never safety. Plane names, group names, credential names, aliases and types
/// compare case-insensitively (by `key()`) and keep the casing of their first write, which replies repeat whatever casing
/// was asked for; AWS identifiers compare byte for byte. Revisions rise by one with each change and with nothing else. A
/// precondition is judged in the step that writes.
#[async_trait]
pub trait Store: Send + Sync {
    /// Creates the plane, or replaces all but its id; or [`Error::PreconditionFailed`].
    async fn put_plane(
        &self,
        put: PutPlane,
        precondition: &Precondition,
        now: Timestamp,
    ) -> Result<Plane, Error>;

    /// The plane, if there is one.
    async fn get_plane(&self, id: &PlaneId) -> Result<Option<Plane>, Error>;

    /// All planes, in the order of their keys.
    async fn list_planes(&self) -> Result<Vec<Plane>, Error>;

    /// Deletes the plane, or [`Error::PreconditionFailed`]. Whether there was one: where there is none, there is no
    /// precondition either. What lies below it stays.
    async fn delete_plane(&self, id: &PlaneId, precondition: &Precondition) -> Result<bool, Error>;

    /// Creates the group, or replaces all but its id; or [`Error::PreconditionFailed`].
    /// [`Error::GroupDeleting`] while it is being deleted.
    async fn put_resource_group(
        &self,
        put: PutGroup,
        precondition: &Precondition,
        now: Timestamp,
    ) -> Result<ResourceGroup, Error>;

    /// The group, or [`Error::NoSuchGroup`].
    async fn get_resource_group(&self, id: &GroupId) -> Result<ResourceGroup, Error>;

    /// The groups of a radius plane, in the order of their keys.
    async fn list_resource_groups(&self, plane: &str) -> Result<Vec<ResourceGroup>, Error>;

    /// Creates the credential, or replaces all that it had, the secret included; the casing of the first write stays.
    /// [`Error::PreconditionFailed`] when `precondition` does not hold.
    async fn put_credential(
        &self,
        new: NewCredential,
        precondition: &Precondition,
        now: Timestamp,
    ) -> Result<Credential, Error>;

    /// The credential, if it is there.
    async fn get_credential(&self, id: &CredentialId) -> Result<Option<StoredCredential>, Error>;

    /// Up to `limit` credentials of an aws plane in the order of their keys, from the first one whose key is greater than
    /// that of `after`, which need not be there any more.
    async fn list_credentials(
        &self,
        plane: &str,
        after: Option<&CredentialId>,
        limit: usize,
    ) -> Result<Vec<Credential>, Error>;

    /// Removes the credential and its secret, and tells whether it was there. [`Error::PreconditionFailed`] when it is and
    /// `precondition` does not hold.
    async fn delete_credential(
        &self,
        id: &CredentialId,
        precondition: &Precondition,
    ) -> Result<bool, Error>;

    /// Deletes the group, or begins to.
    ///
    /// The first of these that holds is the answer:
    ///
    /// - [`GroupDeletion::Absent`] when there is no such group.
    /// - [`Error::PreconditionFailed`] when what is there is not what the precondition asks for.
    /// - [`GroupDeletion::Running`] when it is being deleted already.
    /// - [`Error::Busy`] when an operation on one of its references, or an import into it, is live.
    /// - [`GroupDeletion::Removed`] when it tracks nothing: it is gone.
    /// - [`GroupDeletion::Accepted`]: the operation is recorded, due at once, with the number of owned references as its
    ///   total, and from now on nobody but its children may change the group or what it tracks.
    async fn delete_resource_group(
        &self,
        new: NewGroupOperation,
        precondition: &Precondition,
    ) -> Result<GroupDeletion, Error>;

    /// Records an import into a group, due at once; [`Error::NoSuchGroup`], or [`Error::GroupDeleting`].
    async fn accept_group_import(&self, new: NewGroupOperation) -> Result<GroupOperation, Error>;

    /// Claims the alias and records the operation, or does neither.
    ///
    /// The first of these that holds is the answer:
    ///
    /// - [`Error::NoSuchGroup`] when the reference's group does not exist. It cannot vanish while this runs.
    /// - [`Error::GroupDeleting`] when it is being deleted.
    /// - [`Error::Busy`] when the alias has a live operation.
    /// - [`Error::AlreadyMapped`] for an import of a mapped alias.
    /// - [`Error::MappedElsewhere`] when the alias is mapped and the mapping's account or region is another.
    /// - [`Error::NotMapped`] for a delete of an alias that maps nothing.
    /// - [`Error::Busy`] when the AWS resource that the operation would work on has a live operation.
    /// - [`Error::OwnedElsewhere`] when the options take ownership of a resource that another reference owns.
    ///
    /// Otherwise a put or import of a new alias inserts the mapping without an identifier, in state `Provisioning`, not
    /// owned; a put
    /// or delete of a mapped alias takes over the mapping's identifier (`was_mapped`) and sets its state to
    /// `Provisioning` or `Deleting`. The operation is due at once.
    async fn accept_operation(&self, new: NewOperation) -> Result<Accepted, Error>;

    /// The same for a child of the operation on a group that `lease` is on, or [`Error::LeaseLost`]; `new.parent` names that
    /// operation. Being deleted does not keep it out of the group.
    async fn accept_child(&self, lease: &Lease, new: NewOperation) -> Result<Accepted, Error>;

    /// Takes leases on up to `limit` live operations that are due and whose lease nobody holds or has run out, earliest
    /// first. Their lease generation rises by one. No two callers ever hold the same generation.
    async fn claim_due_operations(
        &self,
        owner: &str,
        now: Timestamp,
        term: LeaseTerm,
        limit: usize,
    ) -> Result<Vec<Job>, Error>;

    /// Writes a step that does not end the operation, and renews the lease from `now`, or [`Error::LeaseLost`]. What the
    /// operation was accepted with never changes. `document` replaces the recorded bytes when given.
    ///
    /// In the same step the mapping takes over the identifier that the alias stands for ([`Operation::mapped`], also
    /// none); where that changes, what was observed is dropped. Once a replacement has deleted the old resource
    /// ([`rules::replaced`](crate::rules::replaced)), every mapping of that goes, except where a live operation holds it.
    /// Who owns it is settled when the operation ends, since a create may still turn out to have been refused; but where
    /// another reference owns the resource, this one no longer does. When another live operation works on the resource
    /// ([`Operation::held`]), the step is written all the same, and from then on does not keep others off that resource.
    /// Where a cancel has been asked for that `operation` does not know of, it is due then instead: its worker has not
    /// seen it.
    async fn commit_step(
        &self,
        lease: &Lease,
        operation: &Operation,
        document: Option<Sealed>,
        now: Timestamp,
        term: LeaseTerm,
    ) -> Result<Lease, Error>;

    /// Prolongs the lease from `now`, or [`Error::LeaseLost`].
    async fn renew_lease(
        &self,
        lease: &Lease,
        now: Timestamp,
        term: LeaseTerm,
    ) -> Result<Lease, Error>;

    /// Hands the lease back, so that anyone may claim the operation when it is due. Losing it before is no error.
    async fn release_lease(&self, lease: &Lease) -> Result<(), Error>;

    /// Ends the operation: terminal state, documents erased, mapping written or removed, event appended, lease gone, all
    /// in one step, or [`Error::LeaseLost`]. The operation's `state` is terminal and `ended_at` is set.
    ///
    /// - [`MappingChange::Applied`]: the mapping takes the identifier, the live form (`operation.result`, when some) and
    ///   the baseline; its state becomes `Succeeded`. It becomes owned if `owned` says so, and otherwise stays as it was,
    ///   but is not owned where another reference owns the resource.
    /// - [`MappingChange::Kept`]: as `Applied`, but the baseline stays and the state becomes `Failed` or `Canceled`, as the
    ///   operation's.
    /// - [`MappingChange::Removed`]: the operation's own mapping goes. When a delete ends `Succeeded`, every mapping of
    ///   the AWS resource goes with it, except where a live operation holds it.
    ///
    /// The operation that it is a part of, if any, becomes due at `ended_at`, unless it is earlier.
    async fn finish_operation(&self, lease: &Lease, finish: FinishOperation) -> Result<(), Error>;

    /// Notes that a live operation is to be cancelled and makes it due at once; whoever steps it next learns of it. The
    /// operation as it is then, which may have ended; none when there is no such operation.
    async fn request_cancel(
        &self,
        id: OperationId,
        now: Timestamp,
    ) -> Result<Option<Operation>, Error>;

    /// The same for an operation on a group and, in the same step, for its live children.
    async fn request_group_cancel(
        &self,
        id: OperationId,
        now: Timestamp,
    ) -> Result<Option<GroupOperation>, Error>;

    /// Writes how far an operation on a group is and when it goes on, and renews the lease from `now`, or
    /// [`Error::LeaseLost`]. Unless exactly `ended_children` of its children have ended by now, it is due at `now` instead:
    /// its worker has not seen the others.
    async fn commit_group_step(
        &self,
        lease: &Lease,
        operation: &GroupOperation,
        ended_children: usize,
        now: Timestamp,
        term: LeaseTerm,
    ) -> Result<Lease, Error>;

    /// Ends an operation on a group, with an event, or [`Error::LeaseLost`]. When a deletion ends well, every reference of
    /// the group is forgotten, with an event each, and the group is gone; otherwise the group is usable again.
    async fn finish_group_operation(
        &self,
        lease: &Lease,
        operation: &GroupOperation,
    ) -> Result<(), Error>;

    /// Removes the mapping of a reference that does not own its resource, with an event.
    /// [`Error::NotMapped`] when there is none, [`Error::GroupDeleting`] when its group is being deleted, [`Error::Busy`]
    /// when an operation is under way.
    async fn forget_reference(
        &self,
        id: &ReferenceId,
        caller: &str,
        correlation_id: &CorrelationId,
        now: Timestamp,
    ) -> Result<Forgotten, Error>;

    /// Changes who owns the resource of a mapped reference, or the reference's tags, with an event.
    ///
    /// The first of these that holds is the answer: [`Error::NotMapped`]; [`Error::GroupDeleting`]; [`Error::Busy`] when
    /// the alias or its resource has a live operation; [`Error::OwnedElsewhere`] when it is to own a resource that another
    /// reference owns.
    async fn update_reference(
        &self,
        id: &ReferenceId,
        update: ReferenceUpdate,
        caller: &str,
        correlation_id: &CorrelationId,
        now: Timestamp,
    ) -> Result<Reference, Error>;

    /// Drops every lease, whoever holds it: for an engine that knows no other process can be alive.
    async fn take_over_leases(&self) -> Result<(), Error>;

    /// The operation on a resource, if it was ever accepted and not yet removed.
    async fn get_operation(&self, id: OperationId) -> Result<Option<Operation>, Error>;

    /// Whether an operation that ended `Succeeded` after `since` created the AWS resource, in any plane.
    async fn was_created(&self, target: &Target<'_>, since: Timestamp) -> Result<bool, Error>;

    /// The operation on a group, if it was ever accepted.
    async fn get_group_operation(&self, id: OperationId) -> Result<Option<GroupOperation>, Error>;

    /// The operations that are a part of `parent`, by when they were accepted, then by id.
    async fn list_children(&self, parent: OperationId) -> Result<Vec<Operation>, Error>;

    /// The operations on a group and on its references that the page asks for, the latest first, then by id downwards.
    /// [`Error::NoSuchGroup`] when there is no such group.
    async fn list_operations(
        &self,
        group: &GroupId,
        page: OperationPage,
    ) -> Result<Vec<ListedOperation>, Error>;

    /// Removes up to `limit` operations that ended before `before`, those that ended first. A child stays as long as the
    /// operation that it is a part of is live. How many there were.
    async fn remove_ended_operations(&self, before: Timestamp, limit: usize) -> Result<u64, Error>;

    /// How many operations are live, and when the next of them can be claimed: when it is due and its lease, if somebody
    /// holds it, has run out. With it a worker knows how long it may sleep, and a test that the world is at rest.
    async fn live_operations(&self) -> Result<(u64, Option<Timestamp>), Error>;

    /// The reference, if the alias maps anything or is being created.
    async fn get_reference(&self, id: &ReferenceId) -> Result<Option<Reference>, Error>;

    /// The references of a group, in the order of their keys; [`Error::NoSuchGroup`] when there is no such group.
    async fn list_references(&self, group: &GroupId) -> Result<Vec<Reference>, Error>;

    /// The events of an alias (by tracking id), oldest first.
    async fn list_events(&self, reference: &ReferenceId) -> Result<Vec<Event>, Error>;

    /// The current digest key: `candidate` becomes it when there is none yet.
    async fn ensure_digest_key(
        &self,
        candidate: SealedKey,
        now: Timestamp,
    ) -> Result<SealedKey, Error>;

    /// Makes `new` the current digest key in place of the one that was, which is gone with this, or the first.
    async fn replace_digest_key(&self, new: SealedKey, now: Timestamp) -> Result<(), Error>;

    /// Up to `limit` of all sealed values, in an order that stays the same: those behind `after`, which need not be there
    /// any more, or the first ones.
    async fn list_sealed(
        &self,
        after: Option<&SealedPlace>,
        limit: usize,
    ) -> Result<Vec<(SealedPlace, Sealed)>, Error>;

    /// Puts `new` in place of `old`, and tells whether it did: not when the value has changed or is gone. It is not a
    /// change of what was sealed: no revision rises and no lease is needed.
    async fn reseal(&self, place: &SealedPlace, old: &Sealed, new: Sealed) -> Result<bool, Error>;

    /// Remembers what the registry told of a type in an account and region, whichever plane leads there. Of the type's other
    /// schemas those that are older go, except where a live operation was accepted with their fingerprint.
    async fn put_type_schema(
        &self,
        scope: &Scope,
        type_name: &TypeName,
        schema: TypeSchema,
    ) -> Result<(), Error>;

    /// What is remembered of a type in an account and region: the schema of this fingerprint, or the one that was fetched
    /// last.
    async fn get_type_schema(
        &self,
        scope: &Scope,
        type_name: &TypeName,
        fingerprint: Option<&str>,
    ) -> Result<Option<TypeSchema>, Error>;

    /// Whether the store answers.
    async fn ping(&self) -> Result<(), Error>;

    /// Resolves when another process may have made an operation due since the last time it resolved. One waiter is woken
    /// each time. Engines without a way to know never resolve; polling is the fallback.
    async fn nudged(&self) {
        std::future::pending().await
    }
}
