//! A request that waits misses nothing, however early it comes.

#![expect(clippy::unwrap_used, reason = "failures in a test panic")]

use std::pin::pin;
use std::sync::Arc;
use std::task::{Context, Poll, Waker};
use std::time::Duration;

use async_trait::async_trait;
use tokio::time::Instant;
use ucp_access::Rights;
use ucp_app::{
    Accounts, App, Awaiting, Caller, DeleteOutcome, DeleteResource, LiveReader, Parts, Quotas,
    Recipient, Rejection, Room, Selector, UntrackedAlias, Wake,
};
use ucp_cpu_pool::CpuPool;
use ucp_model::operation::resource::Finish;
use ucp_model::operation::{ReferenceChange, Work};
use ucp_model::{
    Clock, CorrelationId, DefaultTags, Ended, Fault, FaultClass, Identifier, Operation,
    ResourceDescription, ResourcePage, Scope, SeededEntropy, Timestamp, TypeName,
};
use ucp_schema::{Catalogue, ResourceSchema, ResourceTypes, UnknownType};
use ucp_seal::{DigestKey, Keyring, Keys, SealingKey};
use ucp_store::{FinishOperation, LeaseTerm, Memory, Store};

const NOW: Timestamp = Timestamp::from_millis(1_767_225_600_000);

/// A worker that has ended an operation before its acceptance is answered.
struct AtOnce {
    store: Arc<dyn Store>,
    awaiting: Awaiting,
}

impl Wake for AtOnce {
    fn are_working(&self) -> bool {
        true
    }

    fn wake(&self) {
        let term = LeaseTerm(Duration::from_secs(60));
        let claimed = self.store.claim_due_operations("worker", NOW, term, 1);
        let claimed = answered(claimed).unwrap().remove(0);
        let Operation { mut header, work } = claimed.operation;
        header.ended_at = Some(NOW);
        let finish = Finish {
            ended: Ended::Succeeded,
            identifier: None,
            reference: ReferenceChange::Untouched,
            live: None,
            leftover: None,
            told: None,
        };
        let work = finish.of(work.resource().unwrap(), NOW);
        let operation = Operation {
            header,
            work: Work::Resource(Box::new(work)),
        };
        let finish = FinishOperation {
            operation: operation.clone(),
            reference: Some(ReferenceChange::Untouched),
            baseline: None,
            leftover: None,
        };
        answered(self.store.finish_operation(&claimed.lease, finish)).unwrap();
        self.awaiting.progressed(&operation);
    }
}

/// Returns the reply of the store in memory, which never waits.
fn answered<T>(call: impl Future<Output = T>) -> T {
    match pin!(call).poll(&mut Context::from_waker(Waker::noop())) {
        Poll::Ready(answer) => answer,
        Poll::Pending => panic!("the store waits"),
    }
}

#[tokio::test(start_paused = true)]
async fn an_operation_that_ends_before_its_acceptance_is_answered_is_not_missed() {
    let store: Arc<dyn Store> = Arc::new(Memory::new());
    let awaiting = Awaiting::new(store.clone());
    let entropy = Arc::new(SeededEntropy::new(1));
    let app = App::new(Parts {
        store: store.clone(),
        live: Arc::new(Silent),
        types: Arc::new(Embedded(Catalogue::embedded())),
        default_tags: DefaultTags::default(),
        untracked_alias: UntrackedAlias::default(),
        regions: ucp_app::Regions::default(),
        roles: ucp_app::Roles::default(),
        access: ucp_app::Access::default(),
        quotas: Quotas::default(),
        accounts: Arc::new(AnyAccount),
        keys: Arc::new(Keys {
            sealing: Keyring::from(SealingKey::new([7; 32])),
            digest: DigestKey::generate(entropy.as_ref()),
        }),
        clock: Arc::new(Stopped),
        entropy,
        pool: CpuPool::new(),
        workers: Arc::new(AtOnce {
            store,
            awaiting: awaiting.clone(),
        }),
        awaiting,
    });
    let delete = DeleteResource {
        scope: Scope::new("aws", "123456789012", "us-west-2").unwrap(),
        type_name: TypeName::from_cloudformation("AWS::Logs::LogGroup").unwrap(),
        resource: Selector::Name("logs".to_owned()),
        plan: None,
    };
    let caller = Caller {
        name: "caller".to_owned(),
        rights: Rights::unlimited(),
        principal: None,
        correlation_id: CorrelationId::new("deployment"),
        verdict_wait: Duration::from_secs(2),
        group_delete_wait: Duration::ZERO,
        recipient: Recipient::default(),
        room: Room::default(),
    };
    let began = Instant::now();
    let outcome = app
        .resources
        .delete_resource(delete, &caller)
        .await
        .unwrap();
    assert!(matches!(outcome, DeleteOutcome::AlreadyGone), "{outcome:?}");
    assert_eq!(Instant::now(), began, "without a look at the store");
}

struct Stopped;

impl Clock for Stopped {
    fn now(&self) -> Timestamp {
        NOW
    }
}

struct AnyAccount;

#[async_trait]
impl Accounts for AnyAccount {
    async fn verify(&self, _: &Scope) -> Result<(), Rejection> {
        Ok(())
    }
}

struct Embedded(Catalogue);

#[async_trait]
impl ResourceTypes for Embedded {
    fn catalogue(&self) -> &Catalogue {
        &self.0
    }

    async fn get(
        &self,
        _: &Scope,
        type_name: &TypeName,
    ) -> Result<Arc<ResourceSchema>, UnknownType> {
        let schema = self.0.get(type_name);
        schema.ok_or(UnknownType::Missing { nearest: None })
    }

    async fn get_version(
        &self,
        scope: &Scope,
        type_name: &TypeName,
        _: &str,
    ) -> Result<Arc<ResourceSchema>, UnknownType> {
        self.get(scope, type_name).await
    }
}

/// An AWS that cannot be read.
struct Silent;

#[async_trait]
impl LiveReader for Silent {
    async fn read(
        &self,
        _: &Scope,
        _: &TypeName,
        _: &Identifier,
    ) -> Result<ResourceDescription, Fault> {
        Err(unavailable())
    }

    async fn list(&self, _: &Scope, _: &TypeName, _: Option<&str>) -> Result<ResourcePage, Fault> {
        Err(unavailable())
    }
}

fn unavailable() -> Fault {
    Fault::new(FaultClass::Transient, "ServiceUnavailable", "not now")
}
