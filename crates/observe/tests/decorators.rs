//! Tests what an observer receives, and how a crashed process behaves.

#![expect(
    clippy::unwrap_used,
    reason = "failures in a test panic, in its fixture too"
)]

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use async_trait::async_trait;
use serde_json::json;
use ucp_cloud::{CloudControl, Fault};
use ucp_model::operation::resource::Finish;
use ucp_model::operation::{Call, Intent, Kind, ReferenceChange, State, Work};
use ucp_model::{
    Action, ClientToken, CorrelationId, Ended, FaultClass, GroupBody, GroupId, Identifier,
    NewResourceGroup, Operation, OperationId, Progress, ProgressStatus, ReferenceId, RequestPage,
    RequestToken, ResourceDescription, ResourcePage, Scope, Timestamp, TypeName,
};
use ucp_observe::{CrashPoint, CrashTurn, Crashed, Moment, Observer, Process};
use ucp_store::{
    Claimed, Error, FinishOperation, LeaseTerm, Memory, NewOperation, NewResourceWork, NewWork,
    Precondition, Store,
};

const TERM: LeaseTerm = LeaseTerm(Duration::from_secs(60));
const NOW: Timestamp = Timestamp::from_millis(1_767_225_600_000);

#[tokio::test]
async fn the_commits_of_an_operation_are_told_in_order() {
    let world = World::new(None).await;
    world.store.accept_operation(put(1)).await.unwrap();
    let later = NOW.after(Duration::from_secs(1));
    let busy = world.store.accept_operation(put(2)).await;
    assert!(matches!(busy, Err(Error::Busy(_))), "{busy:?}");
    let claimed = world.claim().await.unwrap().remove(0);
    assert_eq!(world.claim().await.unwrap(), [], "it is held");
    world.commit(&claimed, submitting(1), NOW).await.unwrap();
    world.commit(&claimed, submitting(1), later).await.unwrap();
    world.commit(&claimed, submitting(2), NOW).await.unwrap();
    let observing = State::Observing(Action::Create);
    world.commit(&claimed, observing, NOW).await.unwrap();
    world.finish(&claimed).await.unwrap();

    let expected = "before-accept after-accept before-accept before-claim after-claim before-claim \
         before-record-intent after-record-intent \
         before-record-progress after-record-progress before-record-progress after-record-progress \
         before-record-verdict after-record-verdict before-finish after-finish";
    assert_eq!(world.told(), expected);
}

#[tokio::test]
async fn the_calls_to_aws_are_told_but_lists() {
    let world = World::new(None).await;
    let (scope, name, id) = (scope(), type_name(), Identifier::new("a"));
    let cloud = &world.cloud;
    let (token, request) = (ClientToken(Default::default()), request());
    cloud.get_resource(&scope, &name, &id).await.unwrap();
    cloud.list_resources(&scope, &name, None).await.unwrap();
    let create = cloud.create_resource(&scope, &name, "{}", token);
    create.await.unwrap();
    let update = cloud.update_resource(&scope, &name, &id, "[]", token);
    update.await.unwrap();
    let delete = cloud.delete_resource(&scope, &name, &id, token);
    delete.await.unwrap();
    let poll = cloud.get_resource_request_status(&scope, &request);
    poll.await.unwrap();
    let cancel = cloud.cancel_resource_request(&scope, &request);
    cancel.await.unwrap();

    let expected = "before-look after-look before-create after-create before-update after-update \
         before-delete after-delete before-poll after-poll before-cancel after-cancel";
    assert_eq!(world.told(), expected);
    assert_eq!(world.aws.calls(), 7);
}

#[tokio::test]
async fn each_call_to_the_store_is_told_by_name() {
    let world = World::new(None).await;
    world.store.accept_operation(put(1)).await.unwrap();
    world.claim().await.unwrap();
    world.store.get_operations(&[id(1)]).await.unwrap();
    world.store.next_claimable_at().await.unwrap();
    let asked = world.observer.asked.lock().unwrap().clone();
    let expected = [
        "accept_operation",
        "claim_due_operations",
        "get_operations",
        "next_claimable_at",
    ];
    assert_eq!(asked[asked.len() - 4..], expected);
}

#[tokio::test]
async fn a_crash_in_front_of_a_commit_leaves_nothing_and_behind_it_everything() {
    for (point, is_live) in [
        (CrashPoint::before(Moment::Accept), false),
        (CrashPoint::after(Moment::Accept), true),
    ] {
        let world = World::new(Some(point)).await;
        let accepted = world.store.accept_operation(put(1)).await;
        assert_crashed(accepted);
        let next = world.memory.next_claimable_at().await.unwrap();
        assert_eq!(next.is_some(), is_live, "{point}");
    }
}

#[tokio::test]
async fn a_crash_in_front_of_a_call_does_not_send_it_and_behind_it_loses_the_reply() {
    for (point, calls) in [
        (CrashPoint::before(Moment::Look), 0),
        (CrashPoint::after(Moment::Look), 1),
    ] {
        let world = World::new(Some(point)).await;
        let reply = world.look().await;
        let fault = reply.expect_err("the process is dead");
        assert_eq!(fault.class, FaultClass::Transient, "{fault:?}");
        assert_eq!(world.aws.calls(), calls, "{point}");
    }
}

#[tokio::test]
async fn nothing_passes_a_dead_process_until_it_is_revived() {
    let world = World::new(Some(CrashPoint::after(Moment::Look))).await;
    world.store.accept_operation(put(1)).await.unwrap();
    let claimed = world.claim().await.unwrap().remove(0);
    assert!(world.look().await.is_err());
    let told = world.told();

    assert_crashed(world.commit(&claimed, submitting(1), NOW).await);
    assert_crashed(world.store.release_lease(&claimed.lease).await);
    assert_crashed(world.finish(&claimed).await);
    assert_crashed(world.store.get_operation(id(1)).await);
    assert_crashed(world.store.ping().await);
    assert!(world.look().await.is_err());
    assert_eq!(world.aws.calls(), 1);
    assert_eq!(world.told(), told, "a dead process reaches nothing");
    let left = world.memory.get_operation(id(1)).await.unwrap().unwrap();
    assert_eq!(left, claimed.operation);

    assert!(world.process.revive());
    assert!(!world.process.revive(), "it is alive");
    world.look().await.unwrap();
    world.commit(&claimed, submitting(1), NOW).await.unwrap();
}

#[test]
fn crash_points_and_their_occurrences_are_named() {
    for point in CrashPoint::all() {
        assert_eq!(point.to_string().parse(), Ok(point));
        let second = CrashTurn { point, turn: 2 };
        assert_eq!(second.to_string(), format!("{point}#2"));
        assert_eq!(second.to_string().parse(), Ok(second));
        assert_eq!(second.reached(point), Some(point.into()));
        assert_eq!(CrashTurn::from(point).reached(point), None);
    }
    assert!("after-lunch".parse::<CrashPoint>().is_err());
    let (look, poll) = (
        CrashPoint::after(Moment::Look),
        CrashPoint::after(Moment::Poll),
    );
    assert_eq!(CrashTurn::from(look).reached(poll), Some(look.into()));
}

/// An in-memory store and an AWS with one observer, and the group `rg`.
struct World {
    memory: Arc<dyn Store>,
    aws: Arc<Aws>,
    observer: Arc<Recorder>,
    process: Arc<Process>,
    store: Arc<dyn Store>,
    cloud: Arc<dyn CloudControl>,
}

impl World {
    async fn new(crash: Option<CrashPoint>) -> Self {
        let memory: Arc<dyn Store> = Arc::new(Memory::new());
        let aws = Arc::new(Aws::default());
        let observer = Arc::new(Recorder {
            told: Mutex::default(),
            asked: Mutex::default(),
            crash: Mutex::new(crash),
        });
        let process = Process::observed_by(observer.clone());
        let world = Self {
            store: process.store(memory.clone()),
            cloud: process.cloud(aws.clone()),
            memory,
            aws,
            observer,
            process,
        };
        let group = NewResourceGroup {
            id: GroupId::new("local", "rg").unwrap(),
            location: "global".to_owned(),
            tags: Default::default(),
            body: GroupBody {
                ..GroupBody::default()
            },
        };
        let written = world
            .store
            .put_resource_group(group, &Precondition::NONE, NOW);
        written.await.unwrap();
        world
    }

    fn told(&self) -> String {
        let told = self.observer.told.lock().unwrap();
        let words: Vec<String> = told.iter().map(CrashPoint::to_string).collect();
        words.join(" ")
    }

    async fn claim(&self) -> Result<Vec<Claimed>, Error> {
        self.store
            .claim_due_operations("worker", NOW, TERM, 9)
            .await
    }

    async fn commit(
        &self,
        claimed: &Claimed,
        state: State,
        due_at: Timestamp,
    ) -> Result<(), Error> {
        let mut operation = claimed.operation.clone();
        if let Work::Resource(work) = &mut operation.work {
            work.state = state;
        }
        operation.header.due_at = due_at;
        let lease = &claimed.lease;
        let lease = self.store.commit_step(lease, &operation, None, NOW, TERM);
        lease.await.map(drop)
    }

    async fn finish(&self, claimed: &Claimed) -> Result<(), Error> {
        let Operation { header, work } = &claimed.operation;
        let finish = Finish {
            ended: Ended::Succeeded,
            identifier: Some(Identifier::new("a")),
            reference: ReferenceChange::Applied { owned: true },
            live: Some(json!({})),
            leftover: None,
            told: None,
        };
        let mut header = header.clone();
        header.ended_at = Some(NOW);
        let end = FinishOperation {
            reference: Some(finish.reference),
            operation: Operation {
                header,
                work: Work::Resource(Box::new(finish.of(work.resource().unwrap(), NOW))),
            },
            baseline: None,
            leftover: None,
        };
        self.store.finish_operation(&claimed.lease, end).await
    }

    async fn look(&self) -> Result<ResourceDescription, Fault> {
        let (scope, name, id) = (scope(), type_name(), Identifier::new("a"));
        self.cloud.get_resource(&scope, &name, &id).await
    }
}

#[track_caller]
fn assert_crashed<T: std::fmt::Debug>(reply: Result<T, Error>) {
    match reply {
        Err(Error::Unavailable(cause)) => assert!(cause.is::<Crashed>(), "{cause}"),
        other => panic!("it did not crash: {other:?}"),
    }
}

/// Records the crash points, and crashes the process once at one of them.
struct Recorder {
    told: Mutex<Vec<CrashPoint>>,
    asked: Mutex<Vec<&'static str>>,
    crash: Mutex<Option<CrashPoint>>,
}

#[async_trait]
impl Observer for Recorder {
    fn asked_store(&self, method: &'static str) {
        self.asked.lock().unwrap().push(method);
    }

    async fn reached(&self, point: CrashPoint) -> Result<(), Crashed> {
        self.told.lock().unwrap().push(point);
        match self.crash.lock().unwrap().take_if(|crash| *crash == point) {
            Some(_) => Err(Crashed),
            None => Ok(()),
        }
    }
}

/// Replies to every call, and counts the calls.
#[derive(Default)]
struct Aws(AtomicUsize);

impl Aws {
    fn calls(&self) -> usize {
        self.0.load(Ordering::SeqCst)
    }

    fn progress(&self) -> Result<Progress, Fault> {
        self.0.fetch_add(1, Ordering::SeqCst);
        Ok(Progress {
            request_token: request(),
            status: ProgressStatus::Running,
            type_name: None,
            action: None,
            identifier: None,
            retry_after: None,
        })
    }
}

#[async_trait]
impl CloudControl for Aws {
    async fn create_resource(
        &self,
        _: &Scope,
        _: &TypeName,
        _: &str,
        _: ClientToken,
    ) -> Result<Progress, Fault> {
        self.progress()
    }

    async fn update_resource(
        &self,
        _: &Scope,
        _: &TypeName,
        _: &Identifier,
        _: &str,
        _: ClientToken,
    ) -> Result<Progress, Fault> {
        self.progress()
    }

    async fn delete_resource(
        &self,
        _: &Scope,
        _: &TypeName,
        _: &Identifier,
        _: ClientToken,
    ) -> Result<Progress, Fault> {
        self.progress()
    }

    async fn get_resource(
        &self,
        _: &Scope,
        _: &TypeName,
        identifier: &Identifier,
    ) -> Result<ResourceDescription, Fault> {
        self.progress().map(|_| ResourceDescription {
            identifier: identifier.clone(),
            properties: json!({}),
        })
    }

    async fn list_resources(
        &self,
        _: &Scope,
        _: &TypeName,
        _: Option<&str>,
    ) -> Result<ResourcePage, Fault> {
        self.progress().map(|_| ResourcePage {
            resources: Vec::new(),
            next_token: None,
        })
    }

    async fn get_resource_request_status(
        &self,
        _: &Scope,
        _: &RequestToken,
    ) -> Result<Progress, Fault> {
        self.progress()
    }

    async fn list_resource_requests(
        &self,
        _: &Scope,
        _: Option<&str>,
    ) -> Result<RequestPage, Fault> {
        self.progress().map(|_| RequestPage::default())
    }

    async fn cancel_resource_request(
        &self,
        _: &Scope,
        _: &RequestToken,
    ) -> Result<Progress, Fault> {
        self.progress()
    }
}

fn submitting(unanswered: u32) -> State {
    State::Submitting(Intent {
        call: Call::Create,
        client_token: ClientToken(Default::default()),
        issued_at: NOW,
        base: None,
        unanswered,
    })
}

fn put(number: u32) -> NewOperation {
    let group = GroupId::new("local", "rg").unwrap();
    NewOperation {
        id: id(number),
        parent: None,
        correlation_id: CorrelationId::new("deployment"),
        caller: "caller".to_owned(),
        keeps_plan_policy: false,
        accepted_at: NOW,
        work: NewWork::Resource(Box::new(NewResourceWork {
            reference: Some(ReferenceId::new(group, type_name(), "main").unwrap()),
            compared_with: usize::MAX,
            ..NewResourceWork::new(Kind::Put, scope(), type_name())
        })),
    }
}

fn id(number: u32) -> OperationId {
    format!("{number:032x}").parse().unwrap()
}

fn scope() -> Scope {
    Scope::new("aws", "123456789012", "us-west-2").unwrap()
}

fn type_name() -> TypeName {
    TypeName::from_cloudformation("AWS::EC2::VPC").unwrap()
}

fn request() -> RequestToken {
    RequestToken::new("request")
}
