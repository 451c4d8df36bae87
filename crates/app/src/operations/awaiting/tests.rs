use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use async_trait::async_trait;
use tokio::task::JoinSet;
use ucp_model::operation::resource::Finish;
use ucp_model::operation::{Kind, ReferenceChange, Work};
use ucp_model::{CorrelationId, Ended, Identifier, Scope, Timestamp, TypeName};
use ucp_observe::{CrashPoint, Crashed, Edge, Moment, Observer, Process};
use ucp_store::{
    Claimed, FinishOperation, LeaseTerm, Memory, NewOperation, NewResourceWork, NewWork, Store,
};

use super::*;

const NOW: Timestamp = Timestamp::from_millis(1_767_225_600_000);
/// The default of `--verdict-wait`.
const WAIT: Duration = Duration::from_secs(2);

/// Notes when operations were read.
struct Reads {
    began: Instant,
    at: Mutex<Vec<Duration>>,
    /// Whether the next one panics.
    panics: AtomicBool,
}

#[async_trait]
impl Observer for Reads {
    /// The process loses its store when it claims.
    async fn reached(&self, point: CrashPoint) -> Result<(), Crashed> {
        match point {
            CrashPoint {
                edge: Edge::Before,
                moment: Moment::Claim,
            } => Err(Crashed),
            _ => Ok(()),
        }
    }

    fn asked_store(&self, method: &'static str) {
        if matches!(method, "get_operation" | "get_operations") {
            self.at.lock().unwrap().push(self.began.elapsed());
            assert!(!self.panics.swap(false, Ordering::SeqCst), "as it was told");
        }
    }
}

/// The requests of one process, and the store that it shares with another one. Time is that of the test.
struct Setting {
    awaiting: Awaiting,
    reads: Arc<Reads>,
    /// As this process sees it.
    store: Arc<dyn Store>,
    /// As the other process sees it.
    memory: Arc<dyn Store>,
}

fn setting() -> Setting {
    let reads = Arc::new(Reads {
        began: Instant::now(),
        at: Mutex::default(),
        panics: AtomicBool::new(false),
    });
    let memory: Arc<dyn Store> = Arc::new(Memory::new());
    let store = Process::observed_by(reads.clone()).store(memory.clone());
    Setting {
        awaiting: Awaiting::new(store.clone()),
        reads,
        store,
        memory,
    }
}

fn id(number: usize) -> OperationId {
    format!("{number:032x}").parse().unwrap()
}

/// Who waits does not leave.
fn never() -> impl Future<Output = ()> {
    std::future::pending()
}

/// A put by name.
fn put(number: usize) -> NewOperation {
    NewOperation {
        id: id(number),
        parent: None,
        correlation_id: CorrelationId::new("deployment"),
        caller: "caller".to_owned(),
        keeps_plan_policy: false,
        accepted_at: NOW,
        work: NewWork::Resource(Box::new(NewResourceWork {
            identifier: Some(Identifier::new(number.to_string())),
            ..NewResourceWork::new(
                Kind::Put,
                Scope::new("aws", "123456789012", "us-west-2").unwrap(),
                TypeName::from_cloudformation("AWS::Logs::LogGroup").unwrap(),
            )
        })),
    }
}

/// The end of a claimed operation.
fn end(claimed: &Claimed) -> FinishOperation {
    let Operation { header, work } = &claimed.operation;
    let finish = Finish {
        ended: Ended::Succeeded,
        identifier: None,
        reference: ReferenceChange::Untouched,
        live: None,
        leftover: None,
        told: None,
    };
    let mut header = header.clone();
    header.ended_at = Some(NOW);
    FinishOperation {
        operation: Operation {
            header,
            work: Work::Resource(Box::new(finish.of(work.resource().unwrap(), NOW))),
        },
        reference: Some(ReferenceChange::Untouched),
        baseline: None,
        leftover: None,
    }
}

impl Setting {
    async fn accept(&self, number: usize) -> Pending {
        let waiter = self.awaiting.announce(id(number));
        let accepted = self.store.accept_operation(put(number)).await.unwrap();
        Pending {
            operation: accepted.operation,
            waiter,
        }
    }

    /// The other process claims all that is due.
    async fn claim(&self) -> Vec<Claimed> {
        let term = LeaseTerm(Duration::from_secs(60));
        let claimed = self
            .memory
            .claim_due_operations("other", NOW, term, usize::MAX);
        claimed.await.unwrap()
    }

    fn reads(&self) -> Vec<Duration> {
        self.reads.at.lock().unwrap().clone()
    }

    fn is_empty(&self) -> bool {
        self.awaiting.shared.awaited().operations.is_empty()
    }
}

fn millis<const N: usize>(millis: [u64; N]) -> [Duration; N] {
    millis.map(Duration::from_millis)
}

#[tokio::test(start_paused = true)]
async fn a_step_wakes_only_those_who_wait_for_it_without_a_read() {
    let setting = setting();
    let asked = Arc::new(AtomicUsize::new(0));
    let mut requests = JoinSet::new();
    for number in 0..100 {
        let (pending, asked) = (setting.accept(number).await, Arc::clone(&asked));
        requests.spawn(
            pending.until(Instant::now() + WAIT, never(), move |operation| {
                asked.fetch_add(1, Ordering::Relaxed);
                operation.is_terminal()
            }),
        );
    }
    tokio::task::yield_now().await;
    let claimed = setting.claim().await;
    let ended = end(&claimed[42]).operation;
    setting.awaiting.progressed(&ended);

    let woken = requests.join_next().await.unwrap().unwrap();
    assert_eq!(woken, ended);
    for _ in 0..1_000 {
        tokio::task::yield_now().await;
    }
    assert_eq!(asked.load(Ordering::Relaxed), 1);
    assert!(requests.try_join_next().is_none(), "the others still wait");
    assert_eq!(setting.reads(), millis([]));
}

#[tokio::test(start_paused = true)]
async fn what_is_told_before_the_wait_is_not_missed() {
    let setting = setting();
    let pending = setting.accept(1).await;
    let ended = end(&setting.claim().await[0]).operation;
    setting.awaiting.progressed(&ended);
    let began = Instant::now();
    let deadline = began + WAIT;
    assert_eq!(
        pending
            .until(deadline, never(), Operation::is_terminal)
            .await,
        ended
    );
    assert_eq!(Instant::now(), began);
    assert_eq!(setting.reads(), millis([]));
    assert!(setting.is_empty());
}

#[tokio::test(start_paused = true)]
async fn what_another_process_does_not_decide_costs_three_reads() {
    let setting = setting();
    let pending = setting.accept(1).await;
    let accepted = pending.operation.clone();
    let deadline = Instant::now() + WAIT;
    let told = pending
        .until(deadline, never(), Operation::is_terminal)
        .await;
    assert_eq!(told, accepted);
    assert_eq!(Instant::now(), deadline);
    assert_eq!(setting.reads(), millis([50, 250, 1_050]));
}

#[tokio::test(start_paused = true)]
async fn what_another_process_ends_is_found() {
    let setting = setting();
    let pending = setting.accept(1).await;
    let deadline = Instant::now() + WAIT;
    let waiting = tokio::spawn(pending.until(deadline, never(), Operation::is_terminal));
    tokio::time::sleep(Duration::from_millis(100)).await;
    let claimed = setting.claim().await.remove(0);
    let ended = end(&claimed);
    let finish = setting.memory.finish_operation(&claimed.lease, ended);
    finish.await.unwrap();
    assert!(waiting.await.unwrap().is_terminal());
    assert_eq!(setting.reads(), millis([50, 250]));
}

/// The second hundred comes a little later, and is looked at together with the first.
#[tokio::test(start_paused = true)]
async fn operations_are_looked_at_together() {
    let setting = setting();
    let mut requests = JoinSet::new();
    for number in 0..200 {
        if number == 100 {
            tokio::time::sleep(Duration::from_millis(15)).await;
        }
        let deadline = Instant::now() + WAIT;
        let pending = setting.accept(number).await;
        requests.spawn(pending.until(deadline, never(), Operation::is_terminal));
        tokio::task::yield_now().await;
    }
    requests.join_all().await;
    assert_eq!(
        setting.reads(),
        millis([50, 50, 250, 250, 1_050, 1_050]),
        "a statement for each hundred"
    );
}

/// An operation that comes while the task sleeps for another one is looked at in time.
#[tokio::test(start_paused = true)]
async fn a_newcomer_is_not_looked_at_late() {
    let setting = setting();
    let (old, new) = (setting.accept(1).await, setting.accept(2).await);
    let deadline = Instant::now() + WAIT;
    let old = tokio::spawn(old.until(deadline, never(), Operation::is_terminal));
    tokio::time::sleep(Duration::from_millis(300)).await;
    new.until(deadline, never(), Operation::is_terminal).await;
    old.await.unwrap();
    assert_eq!(
        setting.reads(),
        millis([50, 250, 350, 550, 1_050, 1_350]),
        "the newcomer at 350, 550 and 1,350"
    );
}

#[tokio::test(start_paused = true)]
async fn a_request_that_is_given_up_leaves_nothing() {
    let setting = setting();
    let pending = setting.accept(1).await;
    let waiting = pending.until(Instant::now() + WAIT, never(), Operation::is_terminal);
    let given_up = tokio::time::timeout(Duration::from_millis(100), waiting).await;
    assert!(given_up.is_err());
    assert!(setting.is_empty());
    drop(setting.accept(2).await);
    assert!(setting.is_empty());

    tokio::time::sleep(WAIT).await;
    assert_eq!(setting.reads(), millis([50]));
    assert_eq!(setting.awaiting.shared.awaited().wakes_at, None);
}

#[tokio::test(start_paused = true)]
async fn nothing_is_waited_for_once_nobody_waits() {
    let setting = setting();
    let pending = setting.accept(1).await;
    let accepted = pending.operation.clone();
    let (began, left) = (Instant::now(), Duration::from_millis(100));
    let waiting = pending.until(
        began + WAIT,
        tokio::time::sleep(left),
        Operation::is_terminal,
    );
    assert_eq!(waiting.await, accepted);
    assert_eq!(began.elapsed(), left);
    assert!(setting.is_empty());
}

#[tokio::test(start_paused = true)]
async fn who_does_not_wait_looks_at_nothing() {
    let setting = setting();
    let pending = setting.accept(1).await;
    let accepted = pending.operation.clone();
    let now = Instant::now();
    assert_eq!(
        pending.until(now, never(), Operation::is_terminal).await,
        accepted
    );
    tokio::time::sleep(WAIT).await;
    assert_eq!(setting.reads(), millis([]));
}

/// Another request for the same operation waits on.
#[tokio::test(start_paused = true)]
async fn the_last_one_to_leave_removes_the_entry() {
    let setting = setting();
    let pending = setting.accept(1).await;
    drop(setting.awaiting.announce(id(1)));
    assert!(!setting.is_empty());
    let ended = end(&setting.claim().await[0]).operation;
    setting.awaiting.progressed(&ended);
    let deadline = Instant::now() + WAIT;
    assert_eq!(
        pending
            .until(deadline, never(), Operation::is_terminal)
            .await,
        ended
    );
    assert!(setting.is_empty());
}

/// A look that began before the step shows the operation as it was.
#[tokio::test(start_paused = true)]
async fn a_look_does_not_take_back_what_was_told() {
    let setting = setting();
    let pending = setting.accept(1).await;
    let shared = &setting.awaiting.shared;
    shared.look_later(id(1));
    tokio::time::advance(Duration::from_millis(50)).await;
    assert_eq!(shared.take_due(), [id(1)]);
    let ended = end(&setting.claim().await[0]).operation;
    setting.awaiting.progressed(&ended);
    shared.found(vec![pending.operation.clone()]);
    let deadline = Instant::now() + WAIT;
    assert_eq!(
        pending
            .until(deadline, never(), Operation::is_terminal)
            .await,
        ended
    );
}

/// The operation was accepted, and its reply says so.
#[tokio::test(start_paused = true)]
async fn a_store_that_cannot_be_read_does_not_refuse_what_was_accepted() {
    let setting = setting();
    let pending = setting.accept(1).await;
    let accepted = pending.operation.clone();
    let term = LeaseTerm(Duration::ZERO);
    let crash = setting.store.claim_due_operations("this", NOW, term, 1);
    assert!(crash.await.is_err());
    let deadline = Instant::now() + WAIT;
    let told = pending
        .until(deadline, never(), Operation::is_terminal)
        .await;
    assert_eq!(told, accepted);
    assert_eq!(Instant::now(), deadline);
}

#[tokio::test(start_paused = true)]
async fn after_a_panic_the_next_request_is_looked_for() {
    let setting = setting();
    setting.reads.panics.store(true, Ordering::SeqCst);
    for number in 1..=2 {
        let pending = setting.accept(number).await;
        let deadline = Instant::now() + Duration::from_millis(100);
        pending
            .until(deadline, never(), Operation::is_terminal)
            .await;
    }
    assert_eq!(setting.reads(), millis([50, 150]));
}
