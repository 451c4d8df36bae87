//! Reads of AWS, which are paced once AWS has refused one of them for coming too early.
//!
//! Most accounts never see that, and then a read costs nothing here. From a refusal on, the reads of all processes take their
//! calls from a bucket in the store until AWS has refused none for a while. The bucket keeps some for reads that a person
//! waits for, and those that no one waits for come after them.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use async_trait::async_trait;
use tokio::time::{Instant, sleep, timeout_at};
use tracing::{debug, warn};
use ucp_cloud::{CloudControl, Fault, FaultClass};
use ucp_model::{
    CallClass, CallReport, ClientToken, Clock, Identifier, Progress, RateKey, RequestPage,
    RequestToken, ResourceDescription, ResourcePage, Scope, Timestamp, TypeName,
};
use ucp_store::{Ask, Store};

use crate::governor::{Governor, Pacing};

/// How long reads are paced after a refusal.
const PACED_FOR: Duration = Duration::from_secs(60);
/// How long a read waits for its turn, and is made again if AWS refuses it, that a person waits for. Then its last reply counts.
const PATIENCE: Duration = Duration::from_millis(1_800);
/// How long one waits for its turn that nobody waits for. Then it is not made: its operation comes back later.
const LONG_PATIENCE: Duration = Duration::from_secs(10);
/// The pauses between two questions to a bucket.
const SHORTEST_PAUSE: Duration = Duration::from_millis(10);
const LONGEST_PAUSE: Duration = Duration::from_millis(250);
/// The time in which reads are counted.
const COUNTED: Duration = Duration::from_secs(1);
/// The accounts and regions that are remembered.
const SCOPES_MAX: usize = 10_000;

/// Whether somebody waits for a read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Urgency {
    /// A person, or the client of a request.
    Awaited,
    /// Nobody: it is of an operation.
    Background,
}

/// The reads of a process.
pub struct Reads {
    store: Arc<dyn Store>,
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
    background: tokio::sync::Mutex<()>,
}

#[derive(Default)]
struct Count {
    /// Until when they are paced.
    paced_until: Timestamp,
    /// How many AWS has taken in this interval, and in the one before.
    taken: u32,
    before: u32,
    since: Timestamp,
}

impl OfScope {
    fn count(&self) -> MutexGuard<'_, Count> {
        self.count.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Count {
    fn taken(&mut self, now: Timestamp) {
        let passed = now.since(self.since);
        if passed >= COUNTED || now < self.since {
            self.before = match passed < COUNTED * 2 {
                true => self.taken,
                false => 0,
            };
            (self.taken, self.since) = (0, now);
        }
        self.taken = self.taken.saturating_add(1);
    }

    /// The reads per second of late.
    fn rate(&self) -> f64 {
        f64::from(self.taken.max(self.before))
    }
}

impl Reads {
    /// Paces the reads of a process.
    pub fn new(store: Arc<dyn Store>, clock: Arc<dyn Clock>, pacing: Pacing) -> Arc<Self> {
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

    fn of_scope(&self, scope: &str) -> Arc<OfScope> {
        let mut scopes = self.scopes.lock().unwrap_or_else(PoisonError::into_inner);
        if !scopes.contains_key(scope) && scopes.len() >= SCOPES_MAX {
            scopes.clear();
        }
        Arc::clone(scopes.entry(scope.to_owned()).or_default())
    }

    /// Waits for the turn of a read until the deadline. Returns whether it has come.
    async fn turn(
        &self,
        key: &RateKey,
        of_scope: &OfScope,
        urgency: Urgency,
        deadline: Instant,
    ) -> bool {
        let line = match urgency {
            Urgency::Awaited => &of_scope.awaited,
            Urgency::Background => &of_scope.background,
        };
        let Ok(_first) = timeout_at(deadline, line.lock()).await else {
            return false;
        };
        while Instant::now() < deadline {
            let now = self.clock.now();
            if self.governor.allow(key, now) {
                return true;
            }
            let until = match self.governor.ask(key, 1, now) {
                None => LONGEST_PAUSE,
                Some(ask) => {
                    let ask = Ask {
                        is_first: urgency == Urgency::Awaited,
                        refused_at: Some(ask.ceiling.unwrap_or_else(|| of_scope.count().rate())),
                        ..ask
                    };
                    match self.store.pace(key, &ask, now).await {
                        Ok(pace) if self.governor.given(key, &pace, 1, now) > 0 => return true,
                        Ok(pace) => pace.next_at.since(now),
                        Err(error) => {
                            self.governor.note(key, ask.report);
                            warn!(error = %ucp_model::chain(&error), rate = %key, "the rate is not known");
                            return true;
                        }
                    }
                }
            };
            sleep(until.clamp(SHORTEST_PAUSE, LONGEST_PAUSE)).await;
        }
        false
    }

    /// Notes what came of a read. Returns whether AWS has refused it for coming too early.
    async fn called<T>(&self, key: &RateKey, of_scope: &OfScope, reply: &Result<T, Fault>) -> bool {
        let now = self.clock.now();
        let class = reply.as_ref().map_err(|fault| fault.class).err();
        let is_paced = {
            let mut count = of_scope.count();
            match class {
                Some(FaultClass::Throttled) => count.paced_until = now.after(PACED_FOR),
                Some(FaultClass::Transient) => {}
                _ => count.taken(now),
            }
            count.paced_until > now || self.governor.pacing.ceilings.contains_key(key)
        };
        let report = match class {
            Some(FaultClass::Throttled) => CallReport {
                refused: 1,
                ..CallReport::default()
            },
            Some(FaultClass::Transient) => return false,
            _ => CallReport {
                taken: 1,
                ..CallReport::default()
            },
        };
        if !is_paced {
            return false;
        }
        self.governor.note(key, report);
        if report.refused == 0 {
            return false;
        }
        self.governor.drop_ahead(key);
        if let Some(ask) = self.governor.ask(key, 0, now) {
            let ask = Ask {
                refused_at: Some(of_scope.count().rate()),
                ..ask
            };
            match self.store.pace(key, &ask, now).await {
                Ok(pace) => {
                    self.governor.given(key, &pace, 0, now);
                    debug!(rate = %key, per_second = pace.rate, "AWS refuses calls for coming too early");
                }
                Err(error) => {
                    self.governor.note(key, ask.report);
                    warn!(error = %ucp_model::chain(&error), rate = %key, "the rate is not told");
                }
            }
        }
        true
    }
}

/// Calls to AWS whose reads are paced.
struct Paced {
    cloud: Arc<dyn CloudControl>,
    reads: Arc<Reads>,
    urgency: Urgency,
}

impl Paced {
    async fn read<T, F>(&self, scope: &Scope, call: impl Fn() -> F) -> Result<T, Fault>
    where
        F: Future<Output = Result<T, Fault>>,
    {
        let key = RateKey {
            scope: scope.key(),
            class: CallClass::Reads,
        };
        let reads = &self.reads;
        let of_scope = reads.of_scope(&key.scope);
        let has_ceiling = reads.governor.pacing.ceilings.contains_key(&key);
        let is_awaited = self.urgency == Urgency::Awaited;
        let deadline = Instant::now()
            + match is_awaited {
                true => PATIENCE,
                false => LONG_PATIENCE,
            };
        loop {
            let paced_until = of_scope.count().paced_until;
            if has_ceiling || paced_until > reads.clock.now() {
                let turn = reads.turn(&key, &of_scope, self.urgency, deadline);
                if !turn.await && !is_awaited {
                    let message = "not sent: AWS takes no more reads at the moment".to_owned();
                    let code = "ThrottlingException";
                    return Err(Fault::new(FaultClass::Throttled, code, message));
                }
            }
            let reply = call().await;
            let is_refused = reads.called(&key, &of_scope, &reply).await;
            if !is_refused || !is_awaited || Instant::now() >= deadline {
                return reply;
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
        self.read(scope, || {
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
        self.read(scope, || {
            self.cloud.list_resources(scope, type_name, next_token)
        })
        .await
    }

    async fn get_resource_request_status(
        &self,
        scope: &Scope,
        request_token: &RequestToken,
    ) -> Result<Progress, Fault> {
        self.read(scope, || {
            self.cloud.get_resource_request_status(scope, request_token)
        })
        .await
    }

    async fn list_resource_requests(
        &self,
        scope: &Scope,
        next_token: Option<&str>,
    ) -> Result<RequestPage, Fault> {
        self.read(scope, || {
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

    use ucp_store::Memory;

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

    fn reads() -> Arc<Reads> {
        let clock: Arc<dyn Clock> = Arc::new(RuntimeClock(Instant::now()));
        Reads::new(Arc::new(Memory::default()), clock, Pacing::default())
    }

    async fn list(cloud: &dyn CloudControl) -> Result<ResourcePage, Fault> {
        let scope = Scope::new("aws", "123456789012", "us-west-2").unwrap();
        let type_name = TypeName::from_cloudformation("AWS::S3::Bucket").unwrap();
        cloud.list_resources(&scope, &type_name, None).await
    }

    #[tokio::test(start_paused = true)]
    async fn reads_that_aws_takes_are_not_paced() {
        let (reads, aws) = (reads(), Aws::taking(10_000.0));
        let cloud = reads.of(Arc::clone(&aws) as _, Urgency::Background);
        let began = Instant::now();
        for _ in 0..100 {
            list(cloud.as_ref()).await.unwrap();
        }
        assert_eq!(began.elapsed(), Duration::from_millis(50) * 100);
        assert_eq!(aws.counts(), (100, 0));
    }

    /// Twenty workers read as fast as they can, in two processes, and somebody waits for one read after the other.
    #[tokio::test(start_paused = true)]
    async fn what_a_person_waits_for_comes_first() {
        const RATE: f64 = 10.0;
        let clock: Arc<dyn Clock> = Arc::new(RuntimeClock(Instant::now()));
        let store: Arc<dyn Store> = Arc::new(Memory::default());
        let aws = Aws::taking(RATE);
        let mut workers = tokio::task::JoinSet::new();
        let mut awaited = Vec::new();
        for _ in 0..2 {
            let reads = Reads::new(Arc::clone(&store), Arc::clone(&clock), Pacing::default());
            awaited.push(reads.of(Arc::clone(&aws) as _, Urgency::Awaited));
            for _ in 0..10 {
                let cloud = reads.of(Arc::clone(&aws) as _, Urgency::Background);
                workers.spawn(async move {
                    loop {
                        // A worker whose read is refused comes back later.
                        if list(cloud.as_ref()).await.is_err() {
                            sleep(Duration::from_secs(1)).await;
                        }
                    }
                });
            }
        }
        // It learns for a while.
        sleep(Duration::from_secs(60)).await;
        aws.counts();
        let (mut slowest, began) = (Duration::ZERO, Instant::now());
        for number in 0..60 {
            let asked = Instant::now();
            list(awaited[number % 2].as_ref()).await.unwrap();
            slowest = slowest.max(asked.elapsed());
            sleep(Duration::from_secs(1)).await;
        }
        let (taken, refused) = aws.counts();
        #[expect(clippy::cast_precision_loss, reason = "small counts")]
        let (taken, refused) = (taken as f64, refused as f64);
        let could = RATE * began.elapsed().as_secs_f64();
        println!("slowest {slowest:?}, {taken} taken of {could:.0}, {refused} refused");
        assert!(slowest <= Duration::from_secs(2), "{slowest:?}");
        assert!(taken >= 0.8 * could, "{taken} of {could}");
        assert!(refused <= 0.1 * taken, "{refused} of {taken}");
    }
}
