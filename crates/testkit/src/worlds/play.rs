//! Carries out stories: several processes over one store and one AWS, whose steps and requests go on at the same time.

use std::cell::Cell;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::sync::atomic::AtomicUsize;
use std::time::Duration;

use serde_json::{Value, json};
use tokio::task::JoinSet;
use ucp_engine::{Abandoned, Sweeper, Watcher};
use ucp_model::{
    Clock, GroupId, Identifier, ProvisioningState, RateKey, Reference, Target, Timestamp,
};
use ucp_simulator::faults::{Change, Effect};
use ucp_simulator::{Action, ResourceSnapshot};
use ucp_store::Error;

use super::alias::{
    ALIASES, ASIDE, Alias, DATABASE, ENDPOINT, FOREIGN, INTRUDING, KEPT_ROLE, LOG_GROUP, MOVED,
    MOVING_GROUP, OTHER_GROUP, PARAMETER, RENAMED, RENAMING_GROUP, REPLACED, ROLE, ROLES_GROUP,
    SHARED, SPACE_GROUP, SUBNET, VPC, below, group, id_of, role, scope,
};
use super::calls::Calls;
use super::coverage::Coverage;
use super::fate::{Fate, Forgotten, STATE};
use super::offered::{Offered, is_ordered, signed_in};
use super::plant::{BelievedAbsences, ForgottenLeases, OPERATION, Plant};
use super::story::{Story, Wish};
use crate::builder::Builder;
use crate::world::{API_VERSION, GROUP, path_of, request};
use crate::{Reply, StoreKind, World};

/// How often all that is due is stepped until a world settles, at most. A type may have days for a create that AWS never ends,
/// and each poll takes some turns.
const TURNS_MAX: usize = 2_000_000;
/// How often time passes until a request is answered, at most. That is hours.
pub(super) const TICKS_MAX: usize = 5_000;
/// How many operations a process claims at a time.
const CLAIMS: usize = 3;
/// Where so many operations wait, they are watched. Worlds have few.
const WATCHED_FROM: usize = 2;
/// The time after which what is watched is looked at, at first and at most.
const WATCHED_AFTER: Duration = Duration::from_secs(2);
const WATCHED_AFTER_MAX: Duration = Duration::from_secs(60);
/// The time after which more is looked for, at first.
pub(super) const FIRST_PAUSE: Duration = Duration::from_millis(50);
/// How long what has ended is kept: for ever.
const KEPT: Duration = Duration::from_secs(10 * 365 * 24 * 3600);

/// What references stood for when nothing was in the way.
#[derive(Default)]
pub(super) struct Standing {
    pub(super) references: Vec<Reference>,
    /// How many calls AWS had had.
    pub(super) calls: usize,
}

/// A world in which a story happens.
pub(super) struct Play<'a> {
    story: &'a Story,
    pub(super) processes: Vec<Running>,
    /// The processes that have died. Their store may be the one of all.
    dead: Vec<World>,
    groups: Vec<GroupId>,
    coverage: Coverage,
    forgotten: Option<Forgotten>,
    believed: Option<Arc<BelievedAbsences>>,
    pub(super) plant: Option<Plant>,
    /// Requests that are not answered yet.
    asking: JoinSet<(usize, Reply)>,
    pub(super) asked: Vec<Asked>,
    /// The number of the next process.
    next_process: u64,
    is_telling: bool,
    /// How many calls to AWS were told.
    told_calls: Cell<usize>,
    /// What was declared last, and accepted.
    pub(super) declared: BTreeMap<Alias, Value>,
    /// What references stood for after the last act.
    pub(super) standing: Standing,
}

/// A process.
pub(super) struct Running {
    pub(super) world: World,
    pub(super) fate: Arc<Fate>,
    watcher: Watcher,
    steps: JoinSet<Result<(), Abandoned>>,
}

/// A request.
pub(super) struct Asked {
    pub(super) what: Wish,
    /// How many processes have been started by then.
    process: u64,
    /// The resource that it deletes, if AWS assigned its identifier, which no other one gets.
    pub(super) deletes: Option<String>,
    /// How many replies were lost by then.
    lost: usize,
    pub(super) reply: Option<Reply>,
}

impl<'a> Play<'a> {
    pub(super) async fn new(
        story: &'a Story,
        builder: Builder,
        plant: Option<Plant>,
        is_telling: bool,
    ) -> Self {
        let forgotten = (plant == Some(Plant::ForgottenLease)).then(|| Forgotten {
            leases: Arc::new(ForgottenLeases::default()),
            store: Arc::clone(builder.store()),
        });
        let believed = (plant == Some(Plant::BelievedAbsence)).then(Arc::default);
        let mut play = Self {
            story,
            processes: Vec::new(),
            dead: Vec::new(),
            groups: [
                "rg",
                OTHER_GROUP,
                RENAMING_GROUP,
                MOVING_GROUP,
                ROLES_GROUP,
                SPACE_GROUP,
            ]
            .map(id_of)
            .into(),
            coverage: Coverage::default(),
            forgotten,
            believed,
            plant,
            asking: JoinSet::new(),
            asked: Vec::new(),
            next_process: 0,
            is_telling,
            told_calls: Cell::new(0),
            declared: BTreeMap::new(),
            standing: Standing::default(),
        };
        let first = play.start(0, builder.seeded(story.seed)).await;
        first.world.put_group(OTHER_GROUP).await;
        first.world.put_group(RENAMING_GROUP).await;
        first.world.put_group(MOVING_GROUP).await;
        first.world.put_group(ROLES_GROUP).await;
        for fault in &story.faults {
            first.world.aws.add_fault(fault.clone());
        }
        play.processes.push(first);
        for of in 1..story.ahead_ms.len() {
            let running = play.start_beside(of).await;
            play.processes.push(running);
        }
        play
    }

    /// The world, as the first process sees it.
    pub(super) fn world(&self) -> &World {
        &self.processes[0].world
    }

    /// Ends all processes.
    pub(super) fn close(self) -> (World, Vec<World>) {
        let mut worlds = self.processes.into_iter().map(|running| running.world);
        let first = worlds.next().expect("there is a process");
        (first, self.dead)
    }

    /// Which faults have struck.
    pub(super) fn coverage(&self) -> &Coverage {
        &self.coverage
    }

    /// What happens.
    pub(super) fn story(&self) -> &Story {
        self.story
    }

    /// What the clients have asked for so far.
    pub(super) fn asked(&self) -> &[Asked] {
        &self.asked
    }

    /// Starts another process in this place.
    async fn start_beside(&mut self, of: usize) -> Running {
        // Its draws are its own.
        let seed = self.story.seed.wrapping_add((self.next_process + 1) << 40);
        let builder = World::builder().beside(self.world()).seeded(seed);
        self.start(of, builder).await
    }

    async fn start(&mut self, of: usize, builder: Builder) -> Running {
        self.next_process += 1;
        let fate = Fate::new(
            self.story.seed.wrapping_add(self.next_process << 40),
            self.story.weave,
            self.coverage.clone(),
            self.forgotten.clone(),
        );
        let (coverage, believed) = (self.coverage.clone(), self.believed.clone());
        let plant = self.plant;
        let name = format!("process {}", self.next_process);
        let builder = match self.story.pace.pacing() {
            None => builder,
            Some(mut pacing) => {
                let is_known =
                    |key: &RateKey| self.plant != Some(Plant::ForgottenCeiling(key.class));
                pacing.ceilings.retain(|key, _| is_known(key));
                builder.paced(pacing)
            }
        };
        let builder = builder
            .ahead_by(self.story.ahead_ms[of])
            .named(&name)
            .observed_by(Arc::clone(&fate) as _)
            .through(Arc::new(move |inner, aws| {
                Arc::new(Calls {
                    inner,
                    aws: aws.clone(),
                    coverage: coverage.clone(),
                    believed: believed.clone(),
                    plant,
                    looks: AtomicUsize::new(0),
                })
            }));
        let world = builder.build().await;
        world.tolerate_log("WARN ");
        let watcher = world.watcher(&name).watching_from(WATCHED_FROM);
        Running {
            world,
            fate,
            watcher,
            steps: JoinSet::new(),
        }
    }

    pub(super) fn tell(&self, line: impl FnOnce() -> String) {
        if self.is_telling {
            self.tell_calls();
            println!("{} {}", self.world().clock.now(), line());
        }
    }

    pub(super) async fn tell_references(&self) {
        if self.is_telling {
            self.tell_calls();
            for reference in self.references().await {
                let (id, state) = (&reference.id, reference.provisioning_state);
                let identifier = reference.identifier.as_ref();
                let identifier = identifier.map(Identifier::as_str).unwrap_or_default();
                let owned = if reference.owned {
                    "owned"
                } else {
                    "not owned"
                };
                println!("    {id} {state:?} {identifier}, {owned}");
            }
        }
    }

    fn tell_calls(&self) {
        let log = self.world().aws.log();
        for entry in log.iter().skip(self.told_calls.replace(log.len())) {
            let of = entry.identifier.as_ref().or(entry.type_name.as_ref());
            let of = of.map(String::as_str).unwrap_or_default();
            let (time, call, outcome) = (entry.time, entry.operation, entry.outcome);
            println!("{time}     {call:?} {of}: {outcome} {:?}", entry.faults);
        }
    }

    /// A shortened story may have fewer processes.
    pub(super) fn process(&self, of: usize) -> usize {
        of % self.processes.len()
    }

    pub(super) async fn change(&self, place: usize) {
        let resources = self.world().aws.resources();
        let Some(resource) = resources.get(place % resources.len().max(1)) else {
            return;
        };
        let type_name = resource.type_name.as_str();
        // What a create that AWS calls failed has made is found by its mark alone.
        let is_known = self.references().await.iter().any(|reference| {
            let identifier = reference.identifier.as_ref().map(Identifier::as_str);
            identifier == Some(resource.identifier.as_str())
        });
        let patch = match type_name {
            "AWS::EC2::VPC" if is_known => json!({"EnableDnsSupport": false, "Tags": []}),
            "AWS::EC2::VPC" => json!({"EnableDnsSupport": false}),
            "AWS::RDS::DBInstance" => json!({"BackupRetentionPeriod": 3}),
            "AWS::EC2::Subnet" => json!({"MapPublicIpOnLaunch": true}),
            "AWS::Logs::LogGroup" => json!({"RetentionInDays": 30}),
            _ => json!({"Description": "changed outside"}),
        };
        let resource = (type_name, resource.identifier.as_str());
        let changed = (self.world().aws).patch_out_of_band(None, None, resource, &patch);
        changed.expect("it exists");
    }

    pub(super) fn vanish(&self, place: usize) {
        let resources = self.world().aws.resources();
        if let Some(resource) = resources.get(place % resources.len().max(1)) {
            self.world()
                .vanish(&resource.type_name, &resource.identifier);
        }
    }

    /// Whether a request would decide by force what came of a create. Then nobody looks any more.
    pub(super) async fn decides_by_force(&self, what: &Wish) -> bool {
        let references = self.references().await;
        let is_unknown =
            |reference: &Reference| reference.provisioning_state == ProvisioningState::Unknown;
        match what {
            Wish::Delete(alias) | Wish::Forget(alias) => references
                .iter()
                .any(|reference| is_unknown(reference) && is_of(reference, *alias)),
            Wish::DropRole { elsewhere } => references
                .iter()
                .any(|reference| is_unknown(reference) && is_of(reference, role(*elsewhere))),
            Wish::DeleteGroup => references
                .iter()
                .any(|reference| is_unknown(reference) && reference.id.group.name == OTHER_GROUP),
            Wish::Deprovision { of, .. } => references
                .iter()
                .any(|reference| is_unknown(reference) && of.has(reference)),
            _ => false,
        }
    }

    /// Sends a request. Returns its number.
    pub(super) async fn send(
        &mut self,
        what: &Wish,
        by: usize,
        asked: &Asks,
        is_async: bool,
    ) -> usize {
        let (method, path, body) = asked;
        let number = self.asked.len();
        self.asked.push(Asked {
            what: what.clone(),
            process: self.next_process,
            deletes: self.deleted_by(what, path).await,
            lost: self.lost_replies(),
            reply: None,
        });
        let mut request = signed_in(request(method, path, body));
        if is_async {
            let value = axum::http::HeaderValue::from_static("respond-async");
            request.headers_mut().insert("prefer", value);
        }
        let answer = self.processes[by].world.answer_to(request);
        self.asking.spawn(async move { (number, answer.await) });
        number
    }

    /// Lets workers step until requests are answered. The clock moves when that takes time.
    pub(super) async fn until_answered(&mut self, asked: &[usize]) {
        let mut pause = FIRST_PAUSE;
        for _ in 0..TICKS_MAX {
            let has_claimed = self.turn().await;
            let mut waiting = asked.iter().map(|number| &self.asked[*number]);
            if waiting.all(|asked| asked.reply.is_some()) {
                return;
            }
            if !has_claimed {
                self.tick(&mut pause).await;
            }
        }
        self.is_not_answered(asked);
    }

    pub(super) fn is_not_answered(&self, asked: &[usize]) -> ! {
        let waiting = asked.iter().map(|number| &self.asked[*number]);
        let waiting = waiting.filter(|asked| asked.reply.is_none());
        let waiting: Vec<_> = waiting.map(|asked| &asked.what).collect();
        panic!("not answered: {waiting:?}");
    }

    /// Lets a little time pass, and each time more.
    pub(super) async fn tick(&mut self, pause: &mut Duration) {
        // What waits for a database is not to wait for long.
        let slept = match self.world().kind {
            StoreKind::Memory => *pause,
            StoreKind::Sqlite | StoreKind::Postgres => Duration::from_millis(5),
        };
        tokio::time::sleep(slept).await;
        self.world().clock.advance(*pause);
        *pause = (*pause * 2).min(Duration::from_secs(5));
        self.go_on().await;
    }

    /// Lets every process claim, and all go on. Returns whether anything was claimed.
    async fn turn(&mut self) -> bool {
        let mut has_claimed = false;
        for of in 0..self.processes.len() {
            if let Some(reads) = &self.processes[of].world.node.reads {
                reads.tell().await;
            }
            has_claimed |= self.claim(of).await;
        }
        self.go_on().await;
        has_claimed
    }

    /// Lets a process claim some of what is due, and begin to step it.
    pub(super) async fn claim(&mut self, of: usize) -> bool {
        let running = &mut self.processes[of];
        let engine = &running.world.node.workers.engine;
        match engine.claim_some(CLAIMS).await {
            Ok(claimed) => {
                let has_claimed = !claimed.is_empty();
                for claimed in claimed {
                    let state = Cell::new(claimed.operation.state_name());
                    let id = claimed.operation.header.id;
                    let engine = Arc::clone(engine);
                    let step = async move { engine.step(claimed).await };
                    let step = OPERATION.scope(id, STATE.scope(state, step));
                    running.steps.spawn(step);
                }
                has_claimed
            }
            Err(Abandoned::Store(Error::Unavailable(_))) if running.world.has_died() => false,
            Err(error) => panic!("nothing can be claimed: {error:?}"),
        }
    }

    /// Lets everything go on that does not wait for a moment to come. Then starts processes in place of those that have
    /// died.
    pub(super) async fn go_on(&mut self) {
        // The runtime's time passes only when nothing else is to be done.
        tokio::time::sleep(Duration::from_millis(1)).await;
        for of in 0..self.processes.len() {
            while let Some(stepped) = self.processes[of].steps.try_join_next() {
                self.stepped(of, stepped);
            }
            if self.processes[of].world.has_died() {
                self.tell(|| format!("process {of} has died"));
                let started = self.start_beside(of).await;
                let died = std::mem::replace(&mut self.processes[of], started);
                self.dead.push(died.world);
            }
        }
        while let Some(answered) = self.asking.try_join_next() {
            let (number, reply) = answered.expect("the request does not panic");
            self.answered(number, reply);
        }
    }

    fn stepped(&self, of: usize, stepped: Result<Result<(), Abandoned>, tokio::task::JoinError>) {
        match stepped {
            Ok(Ok(())) => {}
            Ok(Err(_)) if self.processes[of].world.has_died() => {}
            // Another worker has carried the deletion through.
            Ok(Err(Abandoned::Store(Error::NoSuchGroup))) => {}
            // Workers report it and go on.
            Ok(Err(Abandoned::Keys(_) | Abandoned::Unplanned(_) | Abandoned::NoTurn)) => {}
            Ok(Err(error)) => panic!("the engine gave up: {error:?}"),
            Err(error) => match error.try_into_panic() {
                Ok(panic) => std::panic::resume_unwind(panic),
                Err(error) => panic!("a step was aborted: {error}"),
            },
        }
    }

    fn answered(&mut self, number: usize, reply: Reply) {
        let asked = &self.asked[number];
        let code = reply.body["error"]["code"].as_str().unwrap_or_default();
        self.tell(|| format!("  {} {code} to {:?}", reply.status, asked.what));
        let has_died = self.next_process > asked.process;
        let is_lost = self.lost_replies() > asked.lost || has_died;
        assert!(reply.status < 500 || is_lost, "unexplained: {}", reply.text);
        if reply.header("azure-asyncoperation").is_some() {
            assert!(matches!(reply.status, 201 | 202), "{reply:?}");
        }
        if let Wish::Put { .. } | Wish::PutByName { .. } = &asked.what {
            // AWS may refuse the look of the request.
            let is_refused = code.ends_with("Exception") || code == "TooManyRequests";
            let is_known = matches!(reply.status, 200 | 201 | 404 | 409) || is_refused || is_lost;
            assert!(is_known, "unexpected: {}", reply.text);
            for header in ["azure-asyncoperation", "location", "retry-after"] {
                let is_polled = reply.header(header).is_some();
                assert!(reply.status != 200 || !is_polled, "{reply:?}");
            }
        }
        if asked.what == Wish::Twins && !is_lost {
            let text = &reply.text;
            assert_eq!(reply.status, 400, "two aliases of one name: {text}");
        }
        if let (
            Wish::Put {
                alias, properties, ..
            },
            200 | 201,
        ) = (&asked.what, reply.status)
        {
            self.declared.insert(*alias, properties.clone());
        }
        self.asked[number].reply = Some(reply);
    }

    pub(super) async fn keep(&mut self, of: usize) {
        let node = &self.processes[of].world.node;
        let kept = match node.keeper.keep().await {
            Ok(_) => patient(&node.sweeper).sweep().await.map(|_| ()),
            Err(error) => Err(error),
        };
        match kept {
            Ok(()) => {}
            Err(_) if self.processes[of].world.has_died() => {}
            Err(error) => panic!("the register is not kept: {error:?}"),
        }
        self.go_on().await;
    }

    /// The same by any process.
    pub(super) async fn keep_anywhere(&mut self) {
        self.keep(0).await;
    }

    /// Lets the watcher of a process look at the requests in flight, where it is time.
    pub(super) async fn watch(&mut self, of: usize) {
        let running = &mut self.processes[of];
        match running.watcher.watch().await {
            Ok(_) => {}
            Err(_) if running.world.has_died() => {}
            Err(error) => panic!("nothing can be watched: {error:?}"),
        }
    }

    /// Lets everything go on, and the clock move, until nothing is in flight.
    pub(super) async fn settle(&mut self) {
        let (mut pause, mut watched_after) = (FIRST_PAUSE, WATCHED_AFTER);
        for _ in 0..TURNS_MAX {
            if self.turn().await {
                pause = FIRST_PAUSE;
                continue;
            }
            if self.is_going_on() {
                self.tick(&mut pause).await;
                continue;
            }
            for of in 0..self.processes.len() {
                self.watch(of).await;
            }
            self.go_on().await;
            match self.next_at().await {
                Some(next) if self.is_watched().await => {
                    let soon = self.world().clock.now().after(watched_after);
                    watched_after = (watched_after * 2).min(WATCHED_AFTER_MAX);
                    self.world().clock.move_to(next.min(soon));
                }
                Some(next) => self.world().clock.move_to(next),
                None if self.stalled() > 0 => self.release(),
                None => return,
            }
        }
        let now = self.world().clock.now();
        let calls = self.world().aws.log().len();
        panic!("the world does not settle until {now}, with {calls} calls to AWS");
    }

    /// When the next operation can be claimed or released, in the time of the world.
    async fn next_at(&self) -> Option<Timestamp> {
        let next = self.world().store.next_claimable_at().await;
        let next = next.expect("the store answers")?;
        let ahead_ms = self.story.ahead_ms.iter().copied().max();
        let behind_ms = ahead_ms.unwrap_or_default().min(0).unsigned_abs();
        let next = next.after(Duration::from_millis(behind_ms));
        Some(self.next_turn_at().unwrap_or(next).min(next))
    }

    /// Whether there is anything to watch.
    async fn is_watched(&self) -> bool {
        let scopes = self.world().store.list_waiting_scopes(WATCHED_FROM).await;
        !scopes.expect("the store answers").is_empty()
    }

    /// When a process may release an operation that waits for its turn, in the time of the world.
    fn next_turn_at(&self) -> Option<Timestamp> {
        let processes = self.processes.iter().zip(&self.story.ahead_ms);
        let turns = processes.filter_map(|(running, ahead_ms)| {
            let turn = running.world.node.workers.engine.next_turn_at()?;
            let apart = Duration::from_millis(ahead_ms.unsigned_abs());
            Some(if *ahead_ms > 0 {
                turn.before(apart)
            } else {
                turn.after(apart)
            })
        });
        turns.min()
    }

    /// Whether nothing is in flight, and nothing is going to befall anybody.
    pub(super) async fn is_quiet(&self) -> bool {
        let is_spared = |running: &Running| running.fate.is_spared();
        !self.is_going_on()
            && self.stalled() == 0
            && self.processes.iter().all(is_spared)
            && self.next_at().await.is_none()
    }

    /// Whether a step or a request goes on that is not stalled.
    fn is_going_on(&self) -> bool {
        let steps: usize = self.processes.iter().map(|it| it.steps.len()).sum();
        steps > self.stalled() || !self.asking.is_empty()
    }

    fn stalled(&self) -> usize {
        self.processes.iter().map(|it| it.fate.stalled()).sum()
    }

    pub(super) fn release(&self) {
        for running in &self.processes {
            running.fate.release();
        }
    }

    /// Nothing befalls anybody any more.
    pub(super) async fn spare(&mut self) {
        self.tell(|| "the faults are lifted".to_owned());
        self.world().aws.clear_faults();
        for running in &self.processes {
            running.fate.spare();
        }
        self.release();
        self.go_on().await;
        self.world().clock.advance(Duration::from_secs(60));
        self.settle().await;
    }

    /// Sends this request of such a client, and returns the reply.
    pub(super) async fn answer_to(&mut self, what: &Wish, by: usize, request: &Asks) -> Reply {
        let asked = self.send(what, by, request, false).await;
        self.until_answered(&[asked]).await;
        self.asked[asked].reply.clone().expect("it is answered")
    }

    /// Returns the identifier that AWS assigned to what a request deletes.
    async fn deleted_by(&self, what: &Wish, path: &str) -> Option<String> {
        match what {
            Wish::DeleteVpc(_) => path.rsplit('/').next().map(str::to_owned),
            Wish::Delete(alias) | Wish::Forget(alias) if alias.resource_type != LOG_GROUP => {
                let references = self.references().await;
                let of = references.iter().find(|reference| is_of(reference, *alias));
                let target = of.and_then(Reference::target);
                target.map(|target| target.identifier.to_string())
            }
            _ => None,
        }
    }

    fn lost_replies(&self) -> usize {
        let aws = &self.world().aws;
        aws.count(|entry| matches!(entry.outcome, "dropped" | "hung"))
    }

    pub(super) async fn references(&self) -> Vec<Reference> {
        self.world().references_of(&self.groups).await
    }

    /// A resource has at most one owner, and an alias at most one resource that was created for it. What is always declared is
    /// never deleted, and what is never owned neither.
    pub(super) async fn check_references(&self) {
        for (name, why) in [
            (RENAMED, "declared"),
            (MOVED, "declared"),
            (KEPT_ROLE, "declared"),
            (FOREIGN.name, "not owned"),
        ] {
            let deleted = self.world().aws.count(|entry| {
                entry.operation == Action::DeleteResource
                    && (entry.identifier.as_deref()).is_some_and(|it| it.eq_ignore_ascii_case(name))
            });
            assert_eq!(deleted, 0, "what is {why} was deleted");
        }
        let mut owned = BTreeSet::new();
        for reference in self.references().await {
            if let Some(target) = reference.target().filter(|_| reference.owned) {
                let key = Target::key(&target);
                assert!(
                    owned.insert(key),
                    "a resource has two owners: {reference:?}"
                );
            }
        }
        let resources = self.world().aws.resources();
        for alias in ALIASES.iter().filter(|it| it.resource_type != LOG_GROUP) {
            let Some(mark) = alias.mark else { continue };
            let made = |resource: &&ResourceSnapshot| {
                resource.type_name == alias.type_name()
                    && (resource.properties[alias.marked()].as_str())
                        .is_some_and(|shown| shown.trim_end_matches('.') == mark)
            };
            let made: Vec<_> = resources.iter().filter(made).collect();
            assert!(
                made.len() <= 1 || self.runs_twice() || self.has_lost_a_mark(*alias),
                "doubled: {} has {made:?}",
                alias.key
            );
        }
    }

    /// Whether AWS has made something of the type that it calls failed, and dropped a part of it, such as its mark. Nothing leads to
    /// it then.
    fn has_lost_a_mark(&self, alias: Alias) -> bool {
        let log = self.world().aws.log();
        let mut of_type = log
            .iter()
            .filter(|entry| entry.type_name == Some(alias.type_name()));
        of_type.any(|entry| {
            let has = |of: fn(&Effect) -> bool| entry.faults.iter().any(of);
            has(|fault| matches!(fault, Effect::Fail(failure) if failure.change == Change::Made))
                && has(|fault| matches!(fault, Effect::DropPaths { .. }))
        })
    }

    /// Whether AWS may double what it creates.
    fn runs_twice(&self) -> bool {
        let mut faults = self.story.faults.iter();
        faults.any(|fault| matches!(fault.effect, Effect::RunTwice {}))
    }

    /// The request for something, given what exists. `None` if there is nothing to ask for.
    pub(super) fn request(&self, what: &Wish) -> Option<Asks> {
        let vpc = |place: usize| {
            let mut vpcs = self.world().aws.resources();
            let is_ordered =
                |it: &ResourceSnapshot| it.properties["CidrBlock"].as_str().is_some_and(is_ordered);
            // An order forgets what others stand for, and then nobody may own it.
            vpcs.retain(|it| it.type_name == "AWS::EC2::VPC" && !is_ordered(it));
            let vpc = vpcs.get(place % vpcs.len().max(1));
            let vpc = vpc.map(|it| it.identifier.clone());
            vpc.unwrap_or_else(|| "vpc-none".to_owned())
        };
        let other = || format!("{}?{API_VERSION}", group(OTHER_GROUP));
        Some(match what {
            Wish::Put {
                alias,
                properties,
                owned,
            } => {
                let mut body = json!({ "properties": properties });
                if *owned {
                    body["ownedResource"] = json!(true);
                }
                on_alias(*alias, "put", body)
            }
            Wish::PutByName { name, properties } => {
                let body = json!({ "properties": properties });
                ("PUT", below(LOG_GROUP, name), body.to_string())
            }
            Wish::Delete(alias) => on_alias(*alias, "delete", json!({})),
            Wish::DeleteByName(name) => ("DELETE", below(LOG_GROUP, name), String::new()),
            Wish::DeleteVpc(place) => ("DELETE", below(VPC, &vpc(*place)), String::new()),
            Wish::Import {
                alias,
                place,
                owned,
            } => {
                let identifier = alias.mark.map_or_else(|| vpc(*place), str::to_owned);
                let body = json!({"primaryIdentifier": identifier, "ownedResource": owned});
                on_alias(*alias, "import", body)
            }
            Wish::Forget(alias) => ("DELETE", alias.id(), String::new()),
            Wish::Cancel => {
                let mut replies = self.asked.iter().rev().filter_map(|it| it.reply.as_ref());
                let accepted = replies.find_map(|reply| reply.header("azure-asyncoperation"))?;
                let path = path_of(accepted).split('?').next().unwrap_or_default();
                ("POST", format!("{path}/:cancel"), String::new())
            }
            Wish::Apply {
                tag,
                subnet,
                document,
                planned: _,
            } => {
                let mut resources = vec![json!({
                    "alias": "net", "type": VPC,
                    "properties": {"CidrBlock": "10.9.0.0/16", "Tags": [{"Key": "of", "Value": tag}]},
                })];
                if *subnet {
                    resources.push(json!({
                        "alias": "sub", "type": SUBNET,
                        "properties": {
                            "VpcId": {"$reference": "net#/VpcId"}, "CidrBlock": "10.9.1.0/24",
                            "Tags": [{"Key": "of", "Value": tag}],
                        },
                    }));
                }
                if *document {
                    let vpc = json!({"$reference": "net#/VpcId"});
                    resources.push(json!({
                        "alias": "endpoint", "type": ENDPOINT,
                        "properties": {
                            "VpcId": vpc, "ServiceName": "com.amazonaws.us-west-2.s3",
                            "PolicyDocument": {"Version": "2012-10-17", "Statement": [{
                                "Effect": "Allow", "Principal": "*", "Action": ["s3:GetObject"], "Resource": "*",
                                "Condition": {"StringEquals": {"aws:SourceVpc": vpc}},
                            }]},
                            "Tags": [{"Key": "of", "Value": tag}],
                        },
                    }));
                }
                let set = json!({"scope": scope(false), "resources": resources});
                ("POST", format!("{GROUP}/:apply"), set.to_string())
            }
            Wish::Rename {
                to,
                complete,
                release,
            } => renaming(&[to], *complete, *release),
            Wish::Twins if self.plant == Some(Plant::DoubleDeclaration) => {
                renaming(&["a"], false, false)
            }
            Wish::Twins => renaming(&["a", "b"], false, false),
            Wish::PutAside => {
                let body = json!({"properties": {"LogGroupName": ASIDE.mark}});
                on_alias(ASIDE, "put", body)
            }
            Wish::Replace { fifo, create_first } => {
                let policy = if *create_first {
                    "createBeforeDelete"
                } else {
                    "deleteBeforeCreate"
                };
                let properties = json!({"TopicName": REPLACED.mark, "FifoTopic": fifo});
                let body = json!({"properties": properties, "replacementPolicy": policy});
                on_alias(REPLACED, "put", body)
            }
            Wish::PutForeign => {
                let body = json!({"properties": {"RetentionInDays": 7}});
                ("PUT", below(LOG_GROUP, FOREIGN.name), body.to_string())
            }
            Wish::Adopt => {
                let body = json!({"primaryIdentifier": FOREIGN.name, "ownedResource": false});
                on_alias(FOREIGN, "import", body)
            }
            Wish::Release if self.plant == Some(Plant::DeletedThoughForeign) => {
                on_alias(FOREIGN, "delete", json!({}))
            }
            Wish::Release => ("DELETE", FOREIGN.id(), String::new()),
            Wish::Provision(of) => of.provision(),
            Wish::ChangePlan(of) => of.change_plan(),
            Wish::Retain(days) => Offered::retain(*days),
            Wish::Deprovision { of, changed } => of.deprovision(*changed),
            Wish::Intrude | Wish::Share => {
                let alias = if *what == Wish::Share {
                    SHARED
                } else {
                    INTRUDING
                };
                let body = json!({"primaryIdentifier": alias.mark, "ownedResource": false});
                on_alias(alias, "import", body)
            }
            Wish::Move {
                to,
                complete,
                capital,
                days,
                referred,
                release,
            } => {
                let name = if *capital { "Moved" } else { MOVED };
                let mut resources = vec![json!({
                    "alias": to, "type": DATABASE,
                    "properties": {
                        "DBInstanceIdentifier": name, "Engine": "postgres",
                        "DBInstanceClass": "db.t3.micro", "AllocatedStorage": "20",
                        "BackupRetentionPeriod": days,
                    },
                })];
                let mut name = json!(MOVED);
                if *referred {
                    resources.push(json!({
                        "alias": "name", "type": PARAMETER,
                        "properties": {"Name": "name", "Type": "String", "Value": name},
                    }));
                    name = json!({"$reference": "name#/Value"});
                }
                resources.push(json!({
                    "alias": to, "type": LOG_GROUP, "properties": {"LogGroupName": name},
                }));
                let set = json!({
                    "scope": scope(false), "mode": mode(*complete), "onShared": on_shared(*release),
                    "resources": resources,
                });
                (
                    "POST",
                    format!("{}/:apply", group(MOVING_GROUP)),
                    set.to_string(),
                )
            }
            Wish::PutRole { elsewhere } => {
                let alias = role(*elsewhere);
                let properties = role_called(alias.mark.unwrap_or_default());
                let body = json!({"trackedBy": alias.id(), "properties": properties});
                let path = format!("{}/providers/{ROLE}/:put", scope(*elsewhere));
                ("POST", path, body.to_string())
            }
            Wish::DropRole { elsewhere } => ("DELETE", role(*elsewhere).id(), String::new()),
            Wish::MoveRole {
                elsewhere,
                complete,
                release,
            } => {
                let set = json!({
                    "scope": scope(*elsewhere), "mode": mode(*complete), "onShared": on_shared(*release),
                    "resources": [{
                        "alias": role(*elsewhere).name, "type": ROLE,
                        "properties": role_called(KEPT_ROLE),
                    }],
                });
                let path = format!("{}/:apply", group(ROLES_GROUP));
                ("POST", path, set.to_string())
            }
            Wish::DeleteGroup => ("DELETE", other(), String::new()),
            Wish::PutGroup => ("PUT", other(), json!({"location": "global"}).to_string()),
        })
    }
}

impl Asked {
    /// The operation that was accepted, by the URL of its status.
    pub(super) fn accepted(&self) -> Option<&str> {
        self.reply.as_ref()?.header("azure-asyncoperation")
    }
}

/// A request: method, path and body.
pub(super) type Asks = (&'static str, String, String);

/// The apply of a set that lists one log group under each of some aliases.
fn renaming(aliases: &[&str], is_complete: bool, releases: bool) -> Asks {
    let listed = |alias: &&str| {
        json!({
            "alias": alias, "type": LOG_GROUP,
            "properties": {"LogGroupName": RENAMED, "RetentionInDays": 7},
        })
    };
    let set = json!({
        "scope": scope(false),
        "mode": mode(is_complete),
        "onShared": on_shared(releases),
        "resources": aliases.iter().map(listed).collect::<Vec<_>>(),
    });
    let path = format!("{}/:apply", group(RENAMING_GROUP));
    ("POST", path, set.to_string())
}

fn mode(is_complete: bool) -> &'static str {
    if is_complete {
        "Complete"
    } else {
        "Incremental"
    }
}

fn on_shared(releases: bool) -> &'static str {
    if releases { "release" } else { "refuse" }
}

/// The declaration of a role.
fn role_called(name: &str) -> Value {
    json!({
        "RoleName": name,
        "AssumeRolePolicyDocument": {"Version": "2012-10-17", "Statement": [{
            "Effect": "Allow", "Action": "sts:AssumeRole",
            "Principal": {"Service": "ec2.amazonaws.com"},
        }]},
    })
}

fn on_alias(alias: Alias, action: &str, mut body: Value) -> Asks {
    body["trackedBy"] = json!(alias.id());
    let path = below(alias.resource_type, &format!(":{action}"));
    ("POST", path, body.to_string())
}

/// The sweeper of a process, which leaves what a world looks at in the end.
fn patient(sweeper: &Sweeper) -> Sweeper {
    Sweeper {
        store: Arc::clone(&sweeper.store),
        clock: Arc::clone(&sweeper.clock),
        operation_retention: KEPT,
        history_retention: KEPT,
        audit_retention: KEPT,
        interval: KEPT,
    }
}

/// Whether a reference is that of an alias.
pub(super) fn is_of(reference: &Reference, alias: Alias) -> bool {
    let id = &reference.id;
    id.group.name == alias.group
        && id.alias == alias.name
        && id.type_name.as_str() == alias.type_name()
}
