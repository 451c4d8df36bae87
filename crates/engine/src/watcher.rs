use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use tokio::sync::watch;
use tokio::task::{Id, JoinError, JoinSet};
use tracing::{debug, error, info, warn};
use ucp_cloud::{CloudControl, Fault, FaultClass};
use ucp_model::operation::Watched;
use ucp_model::{OperationId, Progress, Scope, Timestamp};
use ucp_store::{Error, Store, WaitingOperation};

use crate::forecasts::BULK;
use crate::watching::{Findings, Watching};
use crate::{Engine, Nudges};

/// The longest pause between looks for what is to be watched.
const PAUSE: Duration = Duration::from_secs(1);
/// How long others may believe in a watch that has ended: they look as often as this process does.
const BELIEVED: Duration = Duration::from_secs(2);
/// The number of operations that are read, or made due, in one statement.
const BATCH: usize = 500;
/// The number of operations that are watched in an account and region. The others ask by themselves.
const WAITING_MAX: usize = 20_000;
/// The number of pages of a list.
const PAGES_MAX: u32 = 240;

/// Watches the requests in flight of each AWS account and region in which many operations wait: it lists them, and makes those
/// operations due whose requests have ended. So these need not ask one by one. One process watches an account and region; another
/// takes over when its lease runs out. An operation that nobody makes due asks by itself, if late.
pub struct Watcher {
    engine: Arc<Engine>,
    nudges: Nudges,
    owner: String,
    /// Where so many operations wait, it watches.
    least: usize,
    kept: BTreeMap<String, Kept>,
    /// The scopes whose watches this process has ended, and until when others may believe in them.
    left: BTreeMap<String, Timestamp>,
    rounds: JoinSet<(String, Watching)>,
}

/// A watch that this process keeps.
struct Kept {
    expires_at: Timestamp,
    course: Course,
}

enum Course {
    Resting(Watching),
    /// In this task.
    Listing(Id),
}

impl Kept {
    /// Whether the watch may end. One that is of no use for now is kept, so that nobody tries it again at once.
    fn may_be_left(&self, now: Timestamp) -> bool {
        match &self.course {
            Course::Resting(watching) => watching.works || watching.next_at <= now,
            Course::Listing(_) => false,
        }
    }
}

impl Watcher {
    /// Creates the watcher of a process.
    pub fn new(engine: Arc<Engine>, nudges: Nudges) -> Self {
        let owner = engine.settings.owner.clone();
        Self {
            engine,
            nudges,
            owner,
            least: BULK,
            kept: BTreeMap::new(),
            left: BTreeMap::new(),
            rounds: JoinSet::new(),
        }
    }

    /// The same under another name, as of another process.
    #[must_use]
    pub fn named(self, owner: &str) -> Self {
        let owner = owner.to_owned();
        Self { owner, ..self }
    }

    /// The same, which watches wherever at least so many operations wait.
    #[must_use]
    pub fn watching_from(self, least: usize) -> Self {
        Self { least, ..self }
    }

    /// Watches until `shutdown` turns true. Then another process may watch at once.
    pub async fn run(mut self, mut shutdown: watch::Receiver<bool>) {
        while !*shutdown.borrow() {
            let pause = match self.begin_rounds().await {
                Ok(next_at) => next_at.since(self.engine.now()).min(PAUSE),
                Err(error) => {
                    let error = ucp_model::chain(&error);
                    warn!(error, "could not look for requests to watch");
                    PAUSE
                }
            };
            tokio::select! {
                () = tokio::time::sleep(pause) => {}
                Some(ended) = self.rounds.join_next_with_id() => self.ended(ended),
                _ = shutdown.changed() => {}
            }
        }
        for scope in self.kept.keys() {
            if let Err(error) = self.engine.store().end_watch(scope, &self.owner).await {
                debug!(error = %ucp_model::chain(&error), "could not end a watch; it will expire");
            }
        }
    }

    /// Lists where a list is due, and returns when to look again.
    pub async fn watch(&mut self) -> Result<Timestamp, Error> {
        self.begin_rounds().await?;
        while let Some(ended) = self.rounds.join_next_with_id().await {
            self.ended(ended);
        }
        Ok(self.next_at())
    }

    fn next_at(&self) -> Timestamp {
        let resting = self.kept.values().filter_map(|kept| match &kept.course {
            Course::Resting(watching) => Some(watching.next_at),
            Course::Listing(_) => None,
        });
        let latest = self.engine.now().after(PAUSE);
        let left = self.left.values().copied();
        resting
            .chain(left)
            .min()
            .map_or(latest, |at| at.min(latest))
    }

    /// Takes and leaves watches, and begins the rounds that are due. Returns when to look again.
    async fn begin_rounds(&mut self) -> Result<Timestamp, Error> {
        let engine = Arc::clone(&self.engine);
        let (store, term, now) = (engine.store(), engine.settings.lease, engine.now());
        let scopes = store.list_waiting_scopes(self.least).await?;
        let watches = scopes.iter().filter_map(|it| {
            let live = it.watch.as_ref().filter(|watch| watch.expires_at > now)?;
            Some((it.scope.clone(), live.works_until))
        });
        engine.forecasts.watched(watches.collect(), now);
        let believed = self.left.iter().filter(|(_, until)| **until <= now);
        for scope in believed.map(|(scope, _)| scope.clone()).collect::<Vec<_>>() {
            if engine.forecasts.who_watches(&scope, now) != Watched::InBulk {
                self.ask_alone(&scope, now).await?;
            }
            self.left.remove(&scope);
        }
        for waiting in scopes {
            let (scope, watch) = (waiting.scope, waiting.watch);
            if watch.is_some_and(|it| it.owner != self.owner && it.expires_at > now) {
                self.kept.remove(&scope);
                continue;
            }
            let kept = self.kept.get(&scope);
            if !waiting.is_crowded && kept.is_none_or(|kept| kept.may_be_left(now)) {
                self.leave(&scope, now).await?;
                continue;
            }
            if kept.is_none_or(|kept| kept.expires_at <= now.after(term.0 / 2)) {
                let keep = store.keep_watch(&scope, &self.owner, None, now, term);
                match (keep.await?, self.kept.get_mut(&scope)) {
                    (false, _) => _ = self.kept.remove(&scope),
                    (true, Some(kept)) => kept.expires_at = now.after(term.0),
                    (true, None) => {
                        let kept = Kept {
                            expires_at: now.after(term.0),
                            course: Course::Resting(Watching::default()),
                        };
                        self.kept.insert(scope, kept);
                    }
                }
            }
        }
        for (scope, kept) in &mut self.kept {
            if let Course::Resting(watching) = &mut kept.course
                && watching.next_at <= now
            {
                let round = Round {
                    engine: Arc::clone(&engine),
                    nudges: self.nudges.clone(),
                    owner: self.owner.clone(),
                    scope: scope.clone(),
                };
                let watching = std::mem::take(watching);
                let round = self.rounds.spawn(round.run(watching));
                kept.course = Course::Listing(round.id());
            }
        }
        Ok(self.next_at())
    }

    /// Ends the watch over a scope where few operations wait, whoever has kept it. These ask by themselves from now on.
    async fn leave(&mut self, scope: &str, now: Timestamp) -> Result<(), Error> {
        let (store, term) = (self.engine.store(), self.engine.settings.lease);
        if store
            .keep_watch(scope, &self.owner, None, now, term)
            .await?
        {
            self.engine.forecasts.works_until(scope, None);
            self.ask_alone(scope, now).await?;
            store.end_watch(scope, &self.owner).await?;
            self.left.insert(scope.to_owned(), now.after(BELIEVED));
        }
        self.kept.remove(scope);
        Ok(())
    }

    /// Makes the few operations due that wait in a scope.
    async fn ask_alone(&self, scope: &str, now: Timestamp) -> Result<(), Error> {
        let store = self.engine.store();
        let few = store.list_waiting_operations(scope, None, BATCH).await?;
        let few: Vec<OperationId> = few.into_iter().map(|it| it.id).collect();
        if !few.is_empty() && store.reschedule_waiting(&few, now, now).await? > 0 {
            self.nudges.due();
        }
        Ok(())
    }

    fn ended(&mut self, ended: Result<(Id, (String, Watching)), JoinError>) {
        match ended {
            Ok((id, (scope, watching))) => {
                // The watch may have been lost meanwhile.
                if let Some(kept) = self.kept.get_mut(&scope)
                    && matches!(kept.course, Course::Listing(its) if its == id)
                {
                    kept.course = Course::Resting(watching);
                }
            }
            Err(join_error) => {
                let id = join_error.id();
                error!(error = %ucp_model::chain(&join_error), "a watch panicked; it begins anew");
                self.kept
                    .retain(|_, kept| !matches!(kept.course, Course::Listing(its) if its == id));
            }
        }
    }
}

/// One list of the requests in flight of an account and region.
struct Round {
    engine: Arc<Engine>,
    nudges: Nudges,
    owner: String,
    /// The key of the scope.
    scope: String,
}

impl Round {
    async fn run(self, mut watching: Watching) -> (String, Watching) {
        if let Err(error) = self.look(&mut watching).await {
            let error = ucp_model::chain(&error);
            warn!(error, "could not follow the requests in flight");
            watching.failed(None, self.engine.now());
        }
        (self.scope, watching)
    }

    async fn look(&self, watching: &mut Watching) -> Result<(), Error> {
        let store = self.engine.store();
        // Before the list: what begins to wait meanwhile may not be on it.
        let waiting = self.waiting().await?;
        if watching.scope.is_none() {
            watching.scope = self.place(&waiting).await?;
        }
        let Some(scope) = watching.scope.clone() else {
            watching.failed(None, self.engine.now());
            return Ok(());
        };
        let listed = in_flight(self.engine.parts.cloud.as_ref(), &scope).await;
        let now = self.engine.now();
        let forecasts = &self.engine.forecasts;
        let findings = match listed {
            Ok(Some((listed, pages))) => {
                let usual = |name: &_, action| forecasts.usual(name, action);
                watching.judge(&waiting, &listed, pages, now, usual)
            }
            Ok(None) => {
                watching.useless(now);
                None
            }
            Err(fault) => {
                match fault.class {
                    FaultClass::Denied => watching.useless(now),
                    FaultClass::Throttled
                    | FaultClass::Transient
                    | FaultClass::OutcomeUnknown
                    | FaultClass::Concurrent
                    | FaultClass::TokenConflict
                    | FaultClass::TokenUnknown
                    | FaultClass::AlreadyExists
                    | FaultClass::Missing
                    | FaultClass::Rejected => watching.failed(fault.retry_after, now),
                }
                let Scope {
                    account, region, ..
                } = &scope;
                info!(%fault, account, region, "cannot list the requests in flight; each is asked after");
                None
            }
        };
        let Some(findings) = findings else {
            return Ok(());
        };
        self.carry_out(store.as_ref(), &findings, now).await
    }

    async fn carry_out(
        &self,
        store: &dyn Store,
        findings: &Findings,
        now: Timestamp,
    ) -> Result<(), Error> {
        for gone in findings.gone.chunks(BATCH) {
            store.reschedule_waiting(gone, now, now).await?;
            self.nudges.due();
        }
        for waits in findings.put_off.chunks(BATCH) {
            let until = findings.put_off_until;
            store.reschedule_waiting(waits, now, until).await?;
        }
        let (until, term) = (findings.works_until, self.engine.settings.lease);
        let keep = store.keep_watch(&self.scope, &self.owner, Some(until), now, term);
        if keep.await? {
            self.engine.forecasts.works_until(&self.scope, Some(until));
        }
        Ok(())
    }

    /// Returns the operations that wait.
    async fn waiting(&self) -> Result<Vec<WaitingOperation>, Error> {
        let mut all: Vec<WaitingOperation> = Vec::new();
        while all.len() < WAITING_MAX {
            let after = all.last().map(|it| &it.request);
            let store = self.engine.store();
            let page = store.list_waiting_operations(&self.scope, after, BATCH);
            let page = page.await?;
            let is_last = page.len() < BATCH;
            all.extend(page);
            if is_last {
                break;
            }
        }
        Ok(all)
    }

    /// Returns where the operations wait, as one of them says.
    async fn place(&self, waiting: &[WaitingOperation]) -> Result<Option<Scope>, Error> {
        let Some(first) = waiting.first() else {
            return Ok(None);
        };
        let operation = self.engine.store().get_operation(first.id).await?;
        let work = operation.as_ref().and_then(|it| it.work.resource());
        Ok(work.map(|work| work.scope.clone()))
    }
}

/// Returns the requests in flight by their tokens, and the number of pages that they took. `None` if there are too many.
async fn in_flight(
    cloud: &dyn CloudControl,
    scope: &Scope,
) -> Result<Option<(BTreeMap<String, Progress>, u32)>, Fault> {
    let mut listed = BTreeMap::new();
    let mut next: Option<String> = None;
    for pages in 1..=PAGES_MAX {
        let page = cloud.list_resource_requests(scope, next.as_deref()).await?;
        let requests = page.requests.into_iter();
        listed.extend(requests.map(|it| (it.request_token.to_string(), it)));
        next = page.next_token;
        if next.is_none() {
            return Ok(Some((listed, pages)));
        }
    }
    Ok(None)
}
