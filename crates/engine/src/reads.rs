//! Reads of AWS, which are paced once AWS has refused one of them for coming too early.
//!
//! Most accounts never see that, and then a read costs nothing here. A process whose read is refused takes the calls of its reads
//! from a bucket in the store, which all processes share, until AWS has refused none for a while. The bucket keeps some for
//! reads that a person waits for, and for the lists that tell of many operations at once. Those that no one waits for come
//! after them, but they come. A ceiling that the operator sets holds for all of them, also while the store is slow.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use async_trait::async_trait;
use tokio::sync::watch;
use tokio::time::{Instant, sleep, sleep_until, timeout, timeout_at};
use tracing::{debug, warn};
use ucp_cloud::{CloudControl, Fault, FaultClass};
use ucp_model::{
    CallClass, CallReport, ClientToken, Clock, ErrorCode, Identifier, Progress, RateKey,
    RequestPage, RequestToken, ResourceDescription, ResourcePage, Scope, Timestamp, TypeName,
};
use ucp_store::{Ask, Pace, Rates};

use crate::governor::{Governor, Pacing};

/// How long reads are paced after a refusal.
const PACED_FOR: Duration = Duration::from_secs(60);
/// How long a read waits for its turn, and is made again if AWS refuses it, that a person waits for. Then its last reply
/// counts, or it is made all the same, if there was no such read a moment ago.
const PATIENCE: Duration = Duration::from_millis(1_800);
/// How long one waits for its turn that nobody waits for. Then it is not made: its operation comes back later.
const LONG_PATIENCE: Duration = Duration::from_secs(10);
/// How long a bucket may take to answer. Then a read is made without it, unless it has a ceiling.
const ANSWERED_WITHIN: Duration = Duration::from_millis(500);
/// How long a bucket counts as one that does not answer.
const UNANSWERED_FOR: Duration = Duration::from_secs(5);
/// The pauses between two reads that are made without their turn, and when AWS has refused one of them.
const LATE_EVERY: Duration = Duration::from_millis(100);
const LATE_AGAIN: Duration = Duration::from_secs(1);
/// The pauses between two looks at what buckets have not been told.
const TOLD_EVERY: Duration = Duration::from_millis(500);
/// The pauses between two questions to a bucket.
const SHORTEST_PAUSE: Duration = Duration::from_millis(10);
const LONGEST_PAUSE: Duration = Duration::from_millis(250);
/// The time in which reads are counted.
const COUNTED: Duration = Duration::from_secs(1);
/// The accounts and regions that are remembered.
const SCOPES_MAX: usize = 10_000;

/// Who waits for a read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Urgency {
    /// A person, or the client of a request.
    Awaited,
    /// Many operations.
    Shared,
    /// One operation.
    Background,
}

/// What has become of a read that waits for its turn.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Outcome {
    /// The bucket has given a call.
    Given,
    /// The bucket does not answer in time.
    Unknown,
    /// It has waited for as long as it may.
    TooLate,
}

/// The reads of a process.
pub struct Reads {
    store: Arc<dyn Rates>,
    clock: Arc<dyn Clock>,
    governor: Governor,
    scopes: Mutex<BTreeMap<String, Arc<OfScope>>>,
}

/// The reads of an account and region.
#[derive(Default)]
struct OfScope {
    count: Mutex<Count>,
    /// Whoever asks the bucket holds it, so that one of each kind asks at a time.
    awaited: tokio::sync::Mutex<()>,
    shared: tokio::sync::Mutex<()>,
    background: tokio::sync::Mutex<()>,
}

#[derive(Default)]
struct Count {
    /// Until when they are paced.
    paced_until: Option<Instant>,
    /// How many AWS has taken in this interval, and in the one before.
    taken: u32,
    before: u32,
    since: Timestamp,
    /// Until when their bucket counts as one that does not answer. Nobody asks it, unless it has a ceiling.
    unanswered_until: Option<Instant>,
    /// From when on another read may be made without its turn.
    late_from: Option<Instant>,
}

impl OfScope {
    fn count(&self) -> MutexGuard<'_, Count> {
        self.count.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn line(&self, urgency: Urgency) -> &tokio::sync::Mutex<()> {
        match urgency {
            Urgency::Awaited => &self.awaited,
            Urgency::Shared => &self.shared,
            Urgency::Background => &self.background,
        }
    }
}

impl Count {
    fn is_paced(&self) -> bool {
        self.paced_until.is_some_and(|until| until > Instant::now())
    }

    fn is_unanswered(&self) -> bool {
        self.unanswered_until
            .is_some_and(|until| until > Instant::now())
    }

    /// Returns whether a read may be made without its turn now. AWS may take more than the bucket knows.
    fn may_be_late(&mut self) -> bool {
        let now = Instant::now();
        let may = self.late_from.is_none_or(|from| from <= now);
        if may {
            self.late_from = Some(now + LATE_EVERY);
        }
        may
    }

    fn taken(&mut self, now: Timestamp) {
        let passed = now.since(self.since);
        if passed >= COUNTED || now < self.since {
            self.before = if passed < COUNTED * 2 { self.taken } else { 0 };
            (self.taken, self.since) = (0, now);
        }
        self.taken = self.taken.saturating_add(1);
    }

    /// The reads per second of late.
    fn rate(&self) -> f64 {
        f64::from(self.taken.max(self.before))
    }
}

/// What a bucket has to be told. Whatever becomes of whoever tells it, it is told in the end.
struct Untold<'a> {
    governor: &'a Governor,
    key: &'a RateKey,
    report: CallReport,
}

impl Drop for Untold<'_> {
    fn drop(&mut self) {
        self.governor.note(self.key, self.report);
    }
}

impl Reads {
    /// Paces the reads of a process.
    pub fn new(store: Arc<dyn Rates>, clock: Arc<dyn Clock>, pacing: Pacing) -> Arc<Self> {
        Arc::new(Self {
            store,
            clock,
            governor: Governor::new(pacing),
            scopes: Mutex::default(),
        })
    }

    /// Returns calls to AWS whose reads are paced. Its changes are not: they have a bucket of their own.
    pub fn of(
        self: &Arc<Self>,
        cloud: Arc<dyn CloudControl>,
        urgency: Urgency,
    ) -> Arc<dyn CloudControl> {
        Arc::new(Paced {
            cloud,
            reads: Arc::clone(self),
            urgency,
        })
    }

    /// Tells the buckets what came of reads until `shutdown` turns true. Each process has one that does.
    pub async fn run(self: Arc<Self>, mut shutdown: watch::Receiver<bool>) {
        while !*shutdown.borrow() {
            self.tell().await;
            tokio::select! {
                () = sleep(TOLD_EVERY) => {}
                _ = shutdown.changed() => {}
            }
        }
    }

    /// Tells the buckets what came of reads, and forgets those that nobody asks.
    pub async fn tell(&self) {
        let (now, mut unanswered) = (self.clock.now(), 0);
        for key in self.governor.due(now) {
            if let Some(ask) = self.governor.ask(&key, 0, now) {
                let rate = || self.of_scope(&key.scope).count().rate();
                let begins_at = Some(ask.ceiling.unwrap_or_else(rate));
                let ask = Ask { begins_at, ..ask };
                let pace = self.pace(&key, ask, now, ANSWERED_WITHIN).await;
                unanswered += u32::from(pace.is_none());
                // One row may be locked. If the store is slow, all are told later.
                if unanswered == 2 {
                    return;
                }
            }
        }
    }

    /// The reads per second that the operator allows.
    fn ceiling(&self, key: &RateKey) -> Option<f64> {
        self.governor.pacing.ceilings.get(key).copied()
    }

    fn of_scope(&self, scope: &str) -> Arc<OfScope> {
        let mut scopes = self.scopes.lock().unwrap_or_else(PoisonError::into_inner);
        if !scopes.contains_key(scope) && scopes.len() >= SCOPES_MAX {
            scopes.retain(|_, of_scope| of_scope.count().is_paced());
            if scopes.len() >= SCOPES_MAX {
                scopes.pop_first();
            }
        }
        Arc::clone(scopes.entry(scope.to_owned()).or_default())
    }

    /// Waits for the turn of a read until the deadline.
    async fn turn(
        &self,
        key: &RateKey,
        of_scope: &OfScope,
        urgency: Urgency,
        deadline: Instant,
    ) -> Outcome {
        let Ok(_first) = timeout_at(deadline, of_scope.line(urgency).lock()).await else {
            return Outcome::TooLate;
        };
        let is_first = urgency != Urgency::Background;
        let has_ceiling = self.ceiling(key).is_some();
        loop {
            let now = self.clock.now();
            if self.governor.allow(key, now) {
                return Outcome::Given;
            }
            let left = deadline.saturating_duration_since(Instant::now());
            let may_hope = has_ceiling && left >= LONGEST_PAUSE;
            if !may_hope && of_scope.count().is_unanswered() {
                return Outcome::Unknown;
            }
            let pause = match self.governor.ask(key, 1, now) {
                None => LONGEST_PAUSE,
                Some(ask) => {
                    let ask = Ask {
                        // Others would use up what is taken ahead.
                        wants: if is_first { 1 } else { ask.wants },
                        is_first,
                        begins_at: Some(ask.ceiling.unwrap_or_else(|| of_scope.count().rate())),
                        ..ask
                    };
                    let patience = if has_ceiling {
                        left.max(LONGEST_PAUSE)
                    } else {
                        ANSWERED_WITHIN
                    };
                    match self.pace(key, ask, now, patience).await {
                        Some(pace) => {
                            of_scope.count().unanswered_until = None;
                            if self.governor.given(key, &pace, 1, now) > 0 {
                                return Outcome::Given;
                            }
                            pace.next_at.since(now)
                        }
                        None => {
                            let until = Instant::now() + UNANSWERED_FOR;
                            of_scope.count().unanswered_until = Some(until);
                            return Outcome::Unknown;
                        }
                    }
                }
            };
            let again = Instant::now() + pause.clamp(SHORTEST_PAUSE, LONGEST_PAUSE);
            if again >= deadline {
                sleep_until(deadline).await;
                return Outcome::TooLate;
            }
            sleep_until(again).await;
        }
    }

    /// Asks a bucket; `None` if it does not answer.
    async fn pace(
        &self,
        key: &RateKey,
        ask: Ask,
        now: Timestamp,
        patience: Duration,
    ) -> Option<Pace> {
        let mut untold = Untold {
            governor: &self.governor,
            key,
            report: ask.report,
        };
        match timeout(patience, self.store.pace(key, &ask, now)).await {
            Ok(Ok(pace)) => {
                untold.report = CallReport::default();
                Some(pace)
            }
            Ok(Err(error)) => {
                warn!(error = %ucp_model::chain(&error), rate = %key, "the rate is not known");
                None
            }
            Err(_) => {
                warn!(rate = %key, "the rate is not known: the store does not answer in time");
                None
            }
        }
    }

    /// Notes what came of a read. Returns whether AWS has refused it for coming too early. That says nothing about the rate if
    /// it was late: the bucket had not given it.
    async fn called<T>(
        &self,
        key: &RateKey,
        of_scope: &OfScope,
        is_late: bool,
        reply: &Result<T, Fault>,
    ) -> bool {
        let now = self.clock.now();
        let class = reply.as_ref().map_err(|fault| fault.class).err();
        let is_refused = class == Some(FaultClass::Throttled);
        let is_taken = !is_refused && class != Some(FaultClass::Transient);
        let (is_paced, rate) = {
            let mut count = of_scope.count();
            if is_refused {
                count.paced_until = Some(Instant::now() + PACED_FOR);
            } else if is_taken {
                count.taken(now);
            }
            (count.is_paced(), count.rate())
        };
        if !is_paced && self.ceiling(key).is_none() {
            return false;
        }
        let report = CallReport {
            taken: u32::from(is_taken),
            refused: u32::from(is_refused && !is_late),
            unbudgeted: u32::from(is_taken && is_late),
            ..CallReport::default()
        };
        self.governor.note(key, report);
        if !is_refused {
            return false;
        }
        if is_late {
            of_scope.count().late_from = Some(Instant::now() + LATE_AGAIN);
            return true;
        }
        self.governor.drop_ahead(key);
        if of_scope.count().is_unanswered() {
            return true;
        }
        if let Some(ask) = self.governor.ask(key, 0, now) {
            let ask = Ask {
                begins_at: Some(rate),
                ..ask
            };
            if let Some(pace) = self.pace(key, ask, now, ANSWERED_WITHIN).await {
                self.governor.given(key, &pace, 0, now);
                debug!(rate = %key, per_second = pace.rate, "AWS refuses calls for coming too early");
            }
        }
        true
    }

    /// The fault of a read that was not sent, since it had no turn.
    fn not_sent(&self, key: &RateKey, is_unanswered: bool) -> Fault {
        let (message, pause) = match self.ceiling(key) {
            Some(ceiling) if is_unanswered => (
                format!(
                    "not sent: --aws-rate allows {ceiling} a second of {key}, and the database has not said in time whether they are used up"
                ),
                UNANSWERED_FOR,
            ),
            Some(ceiling) => (
                format!("not sent: --aws-rate allows {ceiling} a second of {key}"),
                Duration::from_secs_f64((1.0 / ceiling).clamp(1.0, 60.0)),
            ),
            None => (
                format!(
                    "not sent: AWS has refused calls of {key} for coming too early, and takes no more at the moment"
                ),
                Duration::from_secs(1),
            ),
        };
        let code = ErrorCode::TooManyRequests.as_str();
        Fault {
            retry_after: Some(pause),
            ..Fault::new(FaultClass::Throttled, code, message)
        }
    }
}

/// Calls to AWS whose reads are paced.
struct Paced {
    cloud: Arc<dyn CloudControl>,
    reads: Arc<Reads>,
    urgency: Urgency,
}

impl Paced {
    async fn read<T, F>(
        &self,
        scope: &Scope,
        urgency: Urgency,
        call: impl Fn() -> F,
    ) -> Result<T, Fault>
    where
        F: Future<Output = Result<T, Fault>>,
    {
        let key = RateKey {
            scope: scope.key(),
            class: CallClass::Reads,
        };
        let reads = &self.reads;
        let of_scope = reads.of_scope(&key.scope);
        let has_ceiling = reads.ceiling(&key).is_some();
        let is_awaited = urgency == Urgency::Awaited;
        let deadline = Instant::now() + if is_awaited { PATIENCE } else { LONG_PATIENCE };
        loop {
            let is_paced = has_ceiling || of_scope.count().is_paced();
            let outcome = if is_paced {
                reads.turn(&key, &of_scope, urgency, deadline).await
            } else {
                Outcome::Given
            };
            let is_sent = match outcome {
                Outcome::Given => true,
                Outcome::Unknown => !has_ceiling,
                Outcome::TooLate => is_awaited && !has_ceiling && of_scope.count().may_be_late(),
            };
            if !is_sent {
                let is_unanswered = outcome == Outcome::Unknown || of_scope.count().is_unanswered();
                return Err(reads.not_sent(&key, is_unanswered));
            }
            let reply = call().await;
            let is_budgeted = outcome == Outcome::Given;
            let is_late = outcome == Outcome::TooLate;
            let is_refused = reads.called(&key, &of_scope, is_late, &reply).await;
            if !is_refused || !is_awaited || Instant::now() + LONGEST_PAUSE >= deadline {
                return reply;
            }
            if !is_budgeted {
                sleep(LONGEST_PAUSE).await;
            }
        }
    }
}

#[async_trait]
impl CloudControl for Paced {
    async fn create_resource(
        &self,
        scope: &Scope,
        type_name: &TypeName,
        desired_state: &str,
        client_token: ClientToken,
    ) -> Result<Progress, Fault> {
        let cloud = &self.cloud;
        let call = cloud.create_resource(scope, type_name, desired_state, client_token);
        call.await
    }

    async fn update_resource(
        &self,
        scope: &Scope,
        type_name: &TypeName,
        identifier: &Identifier,
        patch_document: &str,
        client_token: ClientToken,
    ) -> Result<Progress, Fault> {
        let cloud = &self.cloud;
        let call =
            cloud.update_resource(scope, type_name, identifier, patch_document, client_token);
        call.await
    }

    async fn delete_resource(
        &self,
        scope: &Scope,
        type_name: &TypeName,
        identifier: &Identifier,
        client_token: ClientToken,
    ) -> Result<Progress, Fault> {
        let call = self
            .cloud
            .delete_resource(scope, type_name, identifier, client_token);
        call.await
    }

    async fn get_resource(
        &self,
        scope: &Scope,
        type_name: &TypeName,
        identifier: &Identifier,
    ) -> Result<ResourceDescription, Fault> {
        self.read(scope, self.urgency, || {
            self.cloud.get_resource(scope, type_name, identifier)
        })
        .await
    }

    async fn list_resources(
        &self,
        scope: &Scope,
        type_name: &TypeName,
        next_token: Option<&str>,
    ) -> Result<ResourcePage, Fault> {
        self.read(scope, self.urgency, || {
            self.cloud.list_resources(scope, type_name, next_token)
        })
        .await
    }

    async fn get_resource_request_status(
        &self,
        scope: &Scope,
        request_token: &RequestToken,
    ) -> Result<Progress, Fault> {
        self.read(scope, self.urgency, || {
            self.cloud.get_resource_request_status(scope, request_token)
        })
        .await
    }

    async fn list_resource_requests(
        &self,
        scope: &Scope,
        next_token: Option<&str>,
    ) -> Result<RequestPage, Fault> {
        let urgency = match self.urgency {
            Urgency::Awaited => Urgency::Awaited,
            Urgency::Shared | Urgency::Background => Urgency::Shared,
        };
        self.read(scope, urgency, || {
            self.cloud.list_resource_requests(scope, next_token)
        })
        .await
    }

    async fn cancel_resource_request(
        &self,
        scope: &Scope,
        request_token: &RequestToken,
    ) -> Result<Progress, Fault> {
        self.cloud
            .cancel_resource_request(scope, request_token)
            .await
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicUsize, Ordering};

    use ucp_store::{Error, Lease, Memory};

    use super::*;

    /// The time of the runtime, which stands still while anything is to be done.
    struct RuntimeClock(Instant);

    impl Clock for RuntimeClock {
        fn now(&self) -> Timestamp {
            Timestamp::from_millis(1_000_000).after(self.0.elapsed())
        }
    }

    /// AWS, which takes so many reads a second.
    struct Aws {
        rate: f64,
        tokens: Mutex<(f64, Instant)>,
        taken: AtomicUsize,
        refused: AtomicUsize,
    }

    impl Aws {
        fn taking(rate: f64) -> Arc<Self> {
            Arc::new(Self {
                rate,
                tokens: Mutex::new((rate, Instant::now())),
                taken: AtomicUsize::new(0),
                refused: AtomicUsize::new(0),
            })
        }

        fn take(&self) -> bool {
            let mut bucket = self.tokens.lock().expect("nobody panicked");
            let (tokens, at) = *bucket;
            let tokens = (tokens + at.elapsed().as_secs_f64() * self.rate).min(self.rate);
            let takes = tokens >= 1.0;
            *bucket = (tokens - f64::from(u8::from(takes)), Instant::now());
            takes
        }

        /// What it has taken and refused since it was asked the last time.
        fn counts(&self) -> (usize, usize) {
            let count = |of: &AtomicUsize| of.swap(0, Ordering::Relaxed);
            (count(&self.taken), count(&self.refused))
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
            unreachable!("nothing is changed")
        }

        async fn update_resource(
            &self,
            _: &Scope,
            _: &TypeName,
            _: &Identifier,
            _: &str,
            _: ClientToken,
        ) -> Result<Progress, Fault> {
            unreachable!("nothing is changed")
        }

        async fn delete_resource(
            &self,
            _: &Scope,
            _: &TypeName,
            _: &Identifier,
            _: ClientToken,
        ) -> Result<Progress, Fault> {
            unreachable!("nothing is changed")
        }

        async fn get_resource(
            &self,
            _: &Scope,
            _: &TypeName,
            _: &Identifier,
        ) -> Result<ResourceDescription, Fault> {
            unreachable!("nothing is read but lists")
        }

        async fn list_resources(
            &self,
            _: &Scope,
            _: &TypeName,
            _: Option<&str>,
        ) -> Result<ResourcePage, Fault> {
            sleep(Duration::from_millis(50)).await;
            if self.take() {
                self.taken.fetch_add(1, Ordering::Relaxed);
                return Ok(ResourcePage::default());
            }
            self.refused.fetch_add(1, Ordering::Relaxed);
            let message = "Rate exceeded".to_owned();
            Err(Fault::new(
                FaultClass::Throttled,
                "ThrottlingException",
                message,
            ))
        }

        async fn get_resource_request_status(
            &self,
            _: &Scope,
            _: &RequestToken,
        ) -> Result<Progress, Fault> {
            unreachable!("nothing is read but lists")
        }

        async fn list_resource_requests(
            &self,
            _: &Scope,
            _: Option<&str>,
        ) -> Result<RequestPage, Fault> {
            unreachable!("nothing is read but lists")
        }

        async fn cancel_resource_request(
            &self,
            _: &Scope,
            _: &RequestToken,
        ) -> Result<Progress, Fault> {
            unreachable!("nothing is changed")
        }
    }

    /// A store that needs a minute for everything.
    #[derive(Default)]
    struct Slow {
        asked: AtomicUsize,
    }

    #[async_trait]
    impl Rates for Slow {
        async fn pace(&self, _: &RateKey, _: &Ask, _: Timestamp) -> Result<Pace, Error> {
            self.asked.fetch_add(1, Ordering::Relaxed);
            sleep(Duration::from_secs(60)).await;
            unreachable!("nobody waits for so long")
        }

        async fn wait_for_turn(&self, _: &[Lease], _: &RateKey, _: Timestamp) -> Result<(), Error> {
            unreachable!("no operation waits")
        }

        async fn list_rates_waited_for(&self) -> Result<Vec<RateKey>, Error> {
            unreachable!("no operation waits")
        }

        async fn remove_idle_rates(&self, _: Timestamp, _: usize) -> Result<u64, Error> {
            unreachable!("nothing is removed")
        }
    }

    /// An operator's ceiling, in reads per second.
    fn ceiling(rate: f64) -> Pacing {
        let key = RateKey {
            scope: scope().key(),
            class: CallClass::Reads,
        };
        Pacing {
            ceilings: [(key, rate)].into(),
            ..Pacing::default()
        }
    }

    fn reads(pacing: Pacing) -> Arc<Reads> {
        let clock: Arc<dyn Clock> = Arc::new(RuntimeClock(Instant::now()));
        Reads::new(Arc::new(Memory::default()), clock, pacing)
    }

    fn scope() -> Scope {
        Scope::new("aws", "123456789012", "us-west-2").unwrap()
    }

    async fn list(cloud: &dyn CloudControl) -> Result<ResourcePage, Fault> {
        let type_name = TypeName::from_cloudformation("AWS::S3::Bucket").unwrap();
        cloud.list_resources(&scope(), &type_name, None).await
    }

    #[tokio::test(start_paused = true)]
    async fn reads_that_aws_takes_are_not_paced() {
        let (reads, aws) = (reads(Pacing::default()), Aws::taking(10_000.0));
        let cloud = reads.of(Arc::clone(&aws) as _, Urgency::Background);
        let began = Instant::now();
        for _ in 0..100 {
            list(cloud.as_ref()).await.unwrap();
        }
        assert_eq!(began.elapsed(), Duration::from_millis(50) * 100);
        assert_eq!(aws.counts(), (100, 0));
    }

    /// An operator allows one read in a thousand seconds.
    #[tokio::test(start_paused = true)]
    async fn a_read_beyond_the_ceiling_is_not_made() {
        let (reads, aws) = (reads(ceiling(0.001)), Aws::taking(10_000.0));
        let awaited = reads.of(Arc::clone(&aws) as _, Urgency::Awaited);
        for _ in 0..2 {
            list(awaited.as_ref()).await.unwrap();
        }
        assert_eq!(aws.counts(), (2, 0));
        for (urgency, patience) in [
            (Urgency::Background, LONG_PATIENCE),
            (Urgency::Shared, LONG_PATIENCE),
            (Urgency::Awaited, PATIENCE),
        ] {
            let cloud = reads.of(Arc::clone(&aws) as _, urgency);
            let began = Instant::now();
            let fault = list(cloud.as_ref()).await.unwrap_err();
            assert_eq!(began.elapsed(), patience);
            assert_eq!(fault.class, FaultClass::Throttled);
            assert_eq!(fault.code, "TooManyRequests");
            let message =
                "not sent: --aws-rate allows 0.001 a second of 123456789012/us-west-2/reads";
            assert_eq!(fault.message, message);
            assert_eq!(fault.retry_after, Some(Duration::from_secs(60)));
            assert_eq!(aws.counts(), (0, 0));
        }
    }

    /// The database needs longer than reads wait for it.
    #[tokio::test(start_paused = true)]
    async fn a_slow_store_holds_up_reads_for_a_moment_unless_they_have_a_ceiling() {
        const COUNT: usize = 20;
        for (pacing, has_ceiling) in [(Pacing::default(), false), (ceiling(5.0), true)] {
            let (store, aws) = (Arc::new(Slow::default()), Aws::taking(10_000.0));
            let clock: Arc<dyn Clock> = Arc::new(RuntimeClock(Instant::now()));
            let reads = Reads::new(Arc::clone(&store) as _, clock, pacing);
            reads.of_scope(&scope().key()).count().paced_until = Some(Instant::now() + PACED_FOR);
            for (urgency, patience) in [
                (Urgency::Awaited, PATIENCE),
                (Urgency::Background, LONG_PATIENCE),
            ] {
                let cloud = reads.of(Arc::clone(&aws) as _, urgency);
                let began = Instant::now();
                let mut lists = tokio::task::JoinSet::new();
                for _ in 0..COUNT {
                    let cloud = Arc::clone(&cloud);
                    lists.spawn(async move { list(cloud.as_ref()).await });
                }
                let replies = lists.join_all().await;
                let sent = aws.counts().0;
                if !has_ceiling {
                    assert!(began.elapsed() <= ANSWERED_WITHIN + Duration::from_millis(100));
                    assert_eq!(sent, COUNT);
                    continue;
                }
                assert!(began.elapsed() <= patience + Duration::from_millis(100));
                assert_eq!(sent, 0);
                for reply in replies {
                    let fault = reply.unwrap_err();
                    assert!(
                        fault.message.ends_with("whether they are used up"),
                        "{fault}"
                    );
                }
            }
            let asked = store.asked.load(Ordering::Relaxed);
            // Each time-out may cost a connection.
            assert!(asked <= 2, "the store was asked {asked} times");
        }
    }

    /// More at once than AWS takes.
    #[tokio::test(start_paused = true)]
    async fn a_read_without_a_turn_is_made_only_for_a_person() {
        const COUNT: usize = 100;
        for (urgency, patience) in [
            (Urgency::Background, LONG_PATIENCE),
            (Urgency::Awaited, PATIENCE),
        ] {
            let (reads, aws) = (reads(Pacing::default()), Aws::taking(2.0));
            let cloud = reads.of(Arc::clone(&aws) as _, urgency);
            // AWS refuses one, and they are paced.
            while list(cloud.as_ref()).await.is_ok() && aws.refused.load(Ordering::Relaxed) == 0 {}
            aws.counts();
            let mut lists = tokio::task::JoinSet::new();
            let began = Instant::now();
            for _ in 0..COUNT {
                let cloud = Arc::clone(&cloud);
                lists.spawn(async move { (list(cloud.as_ref()).await, began.elapsed()) });
            }
            let replies = lists.join_all().await;
            assert!(began.elapsed() <= patience + Duration::from_millis(100));
            let is_unsent = |reply: &Result<_, Fault>| {
                let fault = reply.as_ref().err();
                fault.is_some_and(|it| it.message.starts_with("not sent: AWS"))
            };
            let unsent = replies.iter().filter(|(reply, _)| is_unsent(reply)).count();
            let is_late = |after: &Duration| *after > patience;
            let late = replies
                .iter()
                .filter(|(reply, after)| !is_unsent(reply) && is_late(after));
            let late = late.count();
            let (taken, refused) = aws.counts();
            assert!(unsent > 0);
            match urgency {
                Urgency::Awaited => assert!(late == 1 && unsent + taken + refused >= COUNT),
                Urgency::Shared | Urgency::Background => {
                    assert_eq!((late, unsent + taken + refused), (0, COUNT))
                }
            }
        }
    }

    /// More is read than AWS takes, for a minute, and then less.
    #[tokio::test(start_paused = true)]
    async fn it_gets_over_a_rush() {
        const RATE: f64 = 10.0;
        const SECOND: Duration = Duration::from_secs(1);
        let (reads, aws) = (reads(Pacing::default()), Aws::taking(RATE));
        for wanted in [12_u32, 30] {
            let (rush, calm) = (60 * wanted, 60 * 6);
            let mut lists = tokio::task::JoinSet::new();
            aws.counts();
            for _ in 0..rush {
                let cloud = reads.of(Arc::clone(&aws) as _, Urgency::Awaited);
                lists.spawn(async move { list(cloud.as_ref()).await });
                sleep(SECOND / wanted).await;
            }
            let answered = lists.join_all().await;
            let answered = answered.iter().filter(|reply| reply.is_ok()).count();
            let (taken, refused) = aws.counts();
            println!("{wanted}/s: {answered} of {rush}; {taken} taken, {refused} refused");
            assert_eq!(answered, taken);
            assert!(taken >= 480, "{wanted}/s: {taken} of 600");
            assert!(refused <= taken / 5, "{wanted}/s: {refused} refused");
            let mut slow = 0;
            for _ in 0..calm {
                let cloud = reads.of(Arc::clone(&aws) as _, Urgency::Awaited);
                let began = Instant::now();
                list(cloud.as_ref()).await.unwrap();
                let took = began.elapsed();
                slow += u32::from(took > SECOND / 4);
                sleep((SECOND / 6).saturating_sub(took)).await;
            }
            println!("{wanted}/s: {slow} of {calm} were slow");
            assert!(slow <= 60, "{wanted}/s: {slow} were slow");
        }
    }

    /// Twenty workers read as fast as they can, in two processes, and somebody waits for one read after the other.
    #[tokio::test(start_paused = true)]
    async fn what_a_person_waits_for_comes_first() {
        const RATE: f64 = 10.0;
        let clock: Arc<dyn Clock> = Arc::new(RuntimeClock(Instant::now()));
        let store: Arc<dyn Rates> = Arc::new(Memory::default());
        let aws = Aws::taking(RATE);
        let mut workers = tokio::task::JoinSet::new();
        let worked = Arc::new(AtomicUsize::new(0));
        let mut awaited = Vec::new();
        for _ in 0..2 {
            let reads = Reads::new(Arc::clone(&store), Arc::clone(&clock), Pacing::default());
            awaited.push(reads.of(Arc::clone(&aws) as _, Urgency::Awaited));
            for _ in 0..10 {
                let cloud = reads.of(Arc::clone(&aws) as _, Urgency::Background);
                let worked = Arc::clone(&worked);
                workers.spawn(async move {
                    loop {
                        // A worker whose read is refused comes back later.
                        match list(cloud.as_ref()).await {
                            Ok(_) => _ = worked.fetch_add(1, Ordering::Relaxed),
                            Err(_) => sleep(Duration::from_secs(1)).await,
                        }
                    }
                });
            }
        }
        // It learns for a while.
        sleep(Duration::from_secs(60)).await;
        aws.counts();
        worked.store(0, Ordering::Relaxed);
        let (mut slowest, began) = (Duration::ZERO, Instant::now());
        for number in 0..60 {
            let asked = Instant::now();
            list(awaited[number % 2].as_ref()).await.unwrap();
            slowest = slowest.max(asked.elapsed());
            sleep(Duration::from_secs(1)).await;
        }
        let (taken, refused) = aws.counts();
        let worked = worked.load(Ordering::Relaxed);
        #[expect(clippy::cast_precision_loss, reason = "small counts")]
        let (taken, refused) = (taken as f64, refused as f64);
        let could = RATE * began.elapsed().as_secs_f64();
        println!("slowest {slowest:?}, {taken} taken of {could:.0}, {refused} refused");
        // One that has no turn is made after a longer time.
        assert!(slowest <= Duration::from_secs(1), "{slowest:?}");
        assert!(worked >= 200, "operations have made {worked} reads");
        assert!(taken >= 0.8 * could, "{taken} of {could}");
        assert!(refused <= 0.1 * taken, "{refused} of {taken}");
    }
}
