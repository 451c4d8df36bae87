//! Random commands: an engine replies to every sequence as [`Memory`] does.

use std::collections::BTreeMap;
use std::time::Duration;

use serde_json::json;
use ucp_model::operation::group::{ImportItem, ImportOutcome, Task};
use ucp_model::operation::resource::Finish;
use ucp_model::operation::{
    Action, Call, GroupWork, Intent, Kind, ReferenceChange, ResourceWork, State, Work,
};
use ucp_model::{
    Access, Change, ChangeKind, Ended, Failure, GroupId, Identifier, InstanceId, LeftoverId,
    LeftoverReason, NewLeftover, Operation, PlaneKind, Register, ResourceGroup, Scope, Timestamp,
};
use ucp_store::{
    Claimed, FinishOperation, LeaseTerm, Limit, Memory, NewOperation, OperationPage, PlaceOrder,
    Precondition, ReferenceUpdate, ServiceBroker as _, Status, Store,
};

use super::broker::{binding, deleted, instance, instance_id, ordering};
use super::fixture::*;

/// Seeds that are always run.
const SEEDS: std::ops::Range<u64> = 1..5;
const COMMANDS: u32 = 250;

/// Runs commands on the engine and on [`Memory`] and compares every reply and the final state. The sequences run one
/// after the other on one store, with names of their own. The next sequence may claim what the last one left
/// unfinished.
pub async fn random_commands_get_the_replies_of_memory(store: Engine) {
    let memory = Memory::new();
    for seed in SEEDS {
        let mut player = Player::new(seed);
        for turn in 0..COMMANDS {
            let command = aimed(&memory, player.draw()).await;
            let expected = play(&memory, &command).await;
            let got = play(store.as_ref(), &command).await;
            assert_eq!(
                got.text, expected.text,
                "seed {seed}, turn {turn}: {command:?}"
            );
            player.held.extend(expected.claimed);
        }
        for command in player.questions() {
            let expected = play(&memory, &command).await;
            let got = play(store.as_ref(), &command).await;
            assert_eq!(
                got.text, expected.text,
                "seed {seed}, in the end: {command:?}"
            );
        }
    }
}

#[derive(Clone, Debug)]
enum Command {
    PutGroup(String, i64),
    DeleteGroup(NewOperation),
    Accept(NewOperation),
    AcceptChild(Box<Claimed>, NewOperation),
    Claim(Timestamp, usize),
    Step(Box<Claimed>, Operation, bool, Timestamp),
    Renew(Box<Claimed>, Timestamp),
    Release(Box<Claimed>),
    Finish(Box<Claimed>, Box<FinishOperation>),
    Forget(String, String, Timestamp),
    Update(String, String, ReferenceUpdate, Timestamp),
    RemoveEnded(Timestamp, usize),
    TakeOver,
    Plane(String, i64),
    GetOperation(u64),
    GetReference(String, String),
    ListReferences(String),
    ListOperations(String, OperationPage),
    ListEvents(String, String),
    ListPlanesAndGroups,
    ListLeftovers(Register),
    ClaimLeftovers(Timestamp, usize),
    ForgetLeftover(LeftoverId, Timestamp),
    RetryLeftover(LeftoverId, NewOperation),
    PlaceOrder(Box<PlaceOrder>),
    GetServices(GroupId, InstanceId),
    RemoveGone(Timestamp, usize),
    Next,
}

struct Reply {
    text: String,
    claimed: Vec<Claimed>,
}

async fn play(store: &dyn Store, command: &Command) -> Reply {
    const TERM: LeaseTerm = LeaseTerm(Duration::from_secs(5));
    let mut claimed = Vec::new();
    let text = match command.clone() {
        Command::PutGroup(name, second) => {
            let put = put_group(group(&name), "global", &second.to_string());
            let put = store.put_resource_group(put, &Precondition::NONE, at(second));
            format!("{:?}", put.await)
        }
        Command::DeleteGroup(new) => {
            let deletion = store.delete_resource_group(new, &Precondition::NONE, None);
            format!("{:?}", deletion.await)
        }
        Command::Accept(new) => format!("{:?}", store.accept_operation(new).await),
        Command::AcceptChild(parent, new) => {
            format!("{:?}", store.accept_child(&parent.lease, new).await)
        }
        Command::Claim(now, limit) => {
            let answer = store.claim_due_operations("worker", now, TERM, limit).await;
            claimed = answer.as_ref().cloned().unwrap_or_default();
            format!("{answer:?}")
        }
        Command::Step(claimed, operation, document, now) => {
            let document = document.then(|| sealed(&now.to_string()));
            let step = store.commit_step(&claimed.lease, &operation, document, now, TERM);
            format!("{:?}", step.await)
        }
        Command::Renew(claimed, now) => {
            format!("{:?}", store.renew_lease(&claimed.lease, now, TERM).await)
        }
        Command::Release(claimed) => format!("{:?}", store.release_lease(&claimed.lease).await),
        Command::Finish(claimed, finish) => {
            format!(
                "{:?}",
                store.finish_operation(&claimed.lease, *finish).await
            )
        }
        Command::Update(group, name, update, now) => {
            let (id, correlation) = (alias_in(&group, &name), correlation());
            let update = store.update_reference(&id, update, "caller", &correlation, now);
            format!("{:?}", update.await)
        }
        Command::RemoveEnded(before, limit) => {
            format!("{:?}", store.remove_ended_operations(before, limit).await)
        }
        Command::Forget(group, name, now) => {
            let (id, correlation) = (alias_in(&group, &name), correlation());
            let forget = store.forget_reference(&id, true, "caller", &correlation, now);
            format!("{:?}", forget.await)
        }
        Command::TakeOver => format!("{:?}", store.take_over_leases().await),
        Command::Plane(name, second) => {
            let id = plane(PlaneKind::Aws, &name);
            let when = match second % 3 {
                0 => Precondition::absent(),
                _ => Precondition::NONE,
            };
            if second % 5 == 0 {
                format!("{:?}", store.delete_plane(&id, &when).await)
            } else {
                let put = put_plane(id, "global", &second.to_string());
                format!("{:?}", store.put_plane(put, &when, at(second)).await)
            }
        }
        Command::GetOperation(number) => {
            let id = operation_id(number);
            let children = store.list_children(id).await;
            format!("{:?} {children:?}", store.get_operation(id).await)
        }
        Command::GetReference(group, name) => {
            format!("{:?}", store.get_reference(&alias_in(&group, &name)).await)
        }
        Command::ListReferences(name) => {
            format!(
                "{:?}",
                store
                    .list_references(&group(&name), None, None, Limit::items(usize::MAX))
                    .await
            )
        }
        Command::ListOperations(name, page) => {
            format!("{:?}", store.list_operations(&group(&name), page).await)
        }
        Command::ListEvents(group, name) => {
            format!("{:?}", store.list_events(&alias_in(&group, &name)).await)
        }
        Command::ListPlanesAndGroups => format!(
            "{:?} {:?}",
            store.list_planes(None, None, usize::MAX).await,
            store.list_resource_groups("LOCAL", None, usize::MAX).await
        ),
        Command::ListLeftovers(register) => {
            let leftovers = store.list_leftovers(&register, None, usize::MAX).await;
            format!("{leftovers:?}")
        }
        Command::ClaimLeftovers(now, limit) => {
            let until = now.after(Duration::from_secs(5));
            let claimed = store.claim_due_leftovers(now, until, limit).await;
            format!("{claimed:?}")
        }
        Command::ForgetLeftover(id, now) => {
            let correlation = correlation();
            let forgotten = store.forget_leftover(&id, "caller", &correlation, now);
            format!("{:?}", forgotten.await)
        }
        Command::RetryLeftover(id, new) => {
            let retried = store.retry_leftover(&id, new).await;
            format!("{:?} {retried:?}", store.get_leftover(&id).await)
        }
        Command::PlaceOrder(order) => format!("{:?}", store.place_order(*order).await),
        Command::GetServices(group, id) => {
            let instance = store.get_service_instance(&id).await;
            let bindings = store.list_service_bindings(&id).await;
            let references = store.list_service_references(&group, &id).await;
            // What is secret is not in their usual form.
            let instance = instance.map(|it| json!(it).to_string());
            let bindings = bindings.map(|it| json!(it).to_string());
            format!("{instance:?} {bindings:?} {references:?}")
        }
        Command::RemoveGone(before, limit) => {
            format!("{:?}", store.remove_gone_services(before, limit).await)
        }
        Command::Next => format!("{:?}", store.next_claimable_at().await),
    };
    Reply { text, claimed }
}

/// Has an order name the revision that is recorded, most of the time.
async fn aimed(memory: &Memory, command: Command) -> Command {
    let Command::PlaceOrder(mut order) = command else {
        return command;
    };
    if order.expected == Some(AS_RECORDED) {
        let recorded = memory.get_service_instance(&order.instance.id).await;
        order.expected = recorded.unwrap().map(|recorded| recorded.revision);
    }
    Command::PlaceOrder(order)
}

/// Stands for the revision that is recorded.
const AS_RECORDED: u64 = u64::MAX;

/// Draws the commands of one sequence.
struct Player {
    seed: u64,
    chance: u64,
    operations: u64,
    /// Seconds; mostly increasing.
    now: i64,
    /// All claims so far, whether or not their lease is still valid.
    held: Vec<Claimed>,
}

/// An `i` before a colon stands for an instance of the sequence.
const ALIASES: [&str; 7] = ["a", "A", "b", "c", "é d", "i:a", "I:b:x"];
const INSTANCES: [&str; 2] = ["i", "I"];
const BINDINGS: [&str; 3] = ["b", "B", "c"];
const NAMES: [&str; 3] = ["x", "X", "y|z"];

impl Player {
    fn new(seed: u64) -> Self {
        Self {
            seed,
            chance: seed,
            operations: 0,
            now: 10,
            held: Vec::new(),
        }
    }

    /// A number below `bound` (splitmix64).
    fn below(&mut self, bound: u64) -> u64 {
        self.chance = self.chance.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.chance;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        (mixed ^ (mixed >> 31)) % bound
    }

    fn pick<'a>(&mut self, choices: &[&'a str]) -> &'a str {
        let index = self.below(choices.len().try_into().unwrap());
        choices[usize::try_from(index).unwrap()]
    }

    fn flip(&mut self) -> bool {
        self.below(2) == 0
    }

    fn group(&mut self) -> String {
        let first = self.pick(&["g", "G", "h"]);
        format!("{first}{}", self.seed)
    }

    fn alias(&mut self) -> String {
        let alias = self.pick(&ALIASES);
        self.of_sequence(alias)
    }

    /// Returns an alias with the name of an instance of the sequence, if it is of one.
    fn of_sequence(&self, alias: &str) -> String {
        match alias.split_once(':') {
            Some((instance, rest)) => format!("{instance}{}:{rest}", self.seed),
            None => alias.to_owned(),
        }
    }

    fn instance(&mut self) -> InstanceId {
        let name = self.pick(&INSTANCES);
        instance_id(&format!("{name}{}", self.seed))
    }

    fn now(&mut self) -> Timestamp {
        self.now += i64::try_from(self.below(4)).unwrap() - 1;
        at(self.now)
    }

    fn draw(&mut self) -> Command {
        match self.below(36) {
            32..=34 => self.order(),
            35 if self.below(4) == 0 => Command::RemoveGone(at(self.now - 5), 2),
            35 => Command::GetServices(group(&self.group()), self.instance()),
            30 | 31 => self.on_leftover(),
            24 => {
                if self.flip() {
                    Command::DeleteGroup(self.new_on_group(Task::Delete))
                } else {
                    Command::Accept(self.import())
                }
            }
            25 | 26 => self.with_held_group(),
            27 => self.with_held(Self::child),
            28 => {
                let update = ReferenceUpdate {
                    owned: self.flip().then(|| self.flip()),
                    tags: self
                        .flip()
                        .then(|| BTreeMap::from([("now".to_owned(), self.now.to_string())])),
                    place: None,
                };
                Command::Update(self.group(), self.alias(), update, self.now())
            }
            29 if self.below(8) == 0 => Command::RemoveEnded(at(self.now - 20), 3),
            29 => {
                let page = self.page();
                Command::ListOperations(self.group(), page)
            }
            0 => Command::PutGroup(self.group(), self.now),
            1..=4 => Command::Accept(self.new_operation()),
            5..=9 => Command::Claim(self.now(), usize::try_from(self.below(4)).unwrap()),
            10..=12 => self.with_held(Self::step),
            13..=17 => self.with_held(Self::finish),
            18 => self.with_held(|player, claimed| Command::Renew(claimed, player.now())),
            19 => self.with_held(|_, claimed| Command::Release(claimed)),
            20 => Command::Forget(self.group(), self.alias(), self.now()),
            21 if self.below(8) == 0 => Command::TakeOver,
            21 => Command::Plane(self.pick(&["b", "B", "a"]).to_owned(), self.now),
            22 => Command::ListReferences(self.group()),
            _ => Command::Next,
        }
    }

    fn new_operation(&mut self) -> NewOperation {
        self.operations += 1;
        let number = self.seed * 10_000 + self.operations;
        let kind = match self.below(7) {
            0 | 1 => Kind::Delete,
            2 => Kind::Import,
            3 => Kind::Resolve,
            _ => Kind::Put,
        };
        let region = if self.below(8) == 0 {
            "eu-west-1"
        } else {
            "us-west-2"
        };
        let tracked = self.below(4) != 0;
        let named = !tracked || self.flip();
        let new = NewOperation {
            accepted_at: self.now(),
            ..put(number, "-")
        };
        with(new, |new| {
            new.kind = kind;
            new.scope = Scope::new("aws", &format!("{:012}", self.seed), region).unwrap();
            new.reference = tracked.then(|| alias_in(&self.group(), &self.alias()));
            new.identifier = named.then(|| Identifier::new(self.pick(&NAMES)));
            new.options.take_ownership = self.below(4) == 0;
            new.desired = (kind == Kind::Put).then(|| sealed("desired"));
        })
    }

    fn new_on_group(&mut self, task: Task) -> NewOperation {
        self.operations += 1;
        NewOperation {
            accepted_at: self.now(),
            ..on_group(self.seed * 10_000 + self.operations, &self.group(), task)
        }
    }

    fn import(&mut self) -> NewOperation {
        let items = (0..self.below(3)).map(|_| ImportItem {
            reference: alias_in("g", &self.alias()),
            scope: scope(),
            identifier: Identifier::new(self.pick(&NAMES)),
            owned: self.flip(),
        });
        let items = items.collect();
        self.new_on_group(Task::Import(items))
    }

    /// An order of an instance or a binding, which an operation carries out or which is done at once.
    fn order(&mut self) -> Command {
        let (id, name) = (self.instance(), self.group());
        let kind = match self.below(3) {
            0 => ChangeKind::Create,
            1 => ChangeKind::Update,
            _ => ChangeKind::Delete,
        };
        let of = self.flip().then(|| self.pick(&BINDINGS).to_owned());
        let mut application = ordering(id.clone(), of.as_deref());
        if let Some(order) = &mut application.order {
            order.kind = kind;
        }
        if kind == ChangeKind::Delete {
            let aliases = ALIASES.iter().filter(|alias| alias.contains(':'));
            let members = aliases.map(|alias| deleted(alias_in(&name, &self.of_sequence(alias))));
            application.members = members.collect();
        }
        let now = self.now();
        let operation = (self.below(4) != 0).then(|| {
            self.operations += 1;
            let number = self.seed * 10_000 + self.operations;
            NewOperation {
                accepted_at: now,
                ..on_group(number, &name, Task::Apply(application))
            }
        });
        let change = match &operation {
            Some(operation) => Change::begun(kind, operation.id, now),
            None => Change::done(kind, now),
        };
        let standing = Change::done(ChangeKind::Update, now);
        let (of_instance, of_binding) = match of {
            None => (change, None),
            Some(name) => (standing, Some((name, change))),
        };
        let mut instance = instance(&id.instance, of_instance);
        instance.group = group(&name);
        instance.name = self.flip().then(|| format!("named at {}", self.now));
        let bindings = of_binding.into_iter().map(|(name, change)| {
            let mut binding = binding(&id.instance, &name, change);
            binding.access = self.flip().then(Access::default);
            binding
        });
        let bindings = bindings.collect();
        let made = put_group(group(&name), "global", "");
        Command::PlaceOrder(Box::new(PlaceOrder {
            bindings,
            expected: match self.below(8) {
                0 => None,
                1 => Some(self.below(4)),
                _ => Some(AS_RECORDED),
            },
            group: (self.below(4) != 0).then(|| ResourceGroup::put(None, made, now)),
            tags: if self.flip() {
                vec![("osb".to_owned(), self.now.to_string())]
            } else {
                Vec::new()
            },
            cancels: (self.below(4) == 0).then(|| {
                let number = self.seed * 10_000 + 1 + self.below(self.operations + 1);
                operation_id(number)
            }),
            operation,
            placed_at: now,
            instance,
        }))
    }

    fn page(&mut self) -> OperationPage {
        let status = usize::try_from(self.below(8)).unwrap();
        OperationPage {
            status: Status::ALL.get(status).copied(),
            after: self.flip().then(|| {
                let number = self.seed * 10_000 + self.below(self.operations + 1);
                (at(self.now - 5), operation_id(number))
            }),
            limit: 4,
        }
    }

    /// A command under one of the leases, most likely a recent one.
    fn with_held(&mut self, command: impl FnOnce(&mut Self, Box<Claimed>) -> Command) -> Command {
        let Some(last) = self.held.len().checked_sub(1) else {
            return Command::Next;
        };
        let back = usize::try_from(self.below(4)).unwrap();
        let claimed = self.held[last.saturating_sub(back)].clone();
        command(self, Box::new(claimed))
    }

    /// A command under the last lease of an operation on a group, since there are few.
    fn with_held_group(&mut self) -> Command {
        let is_on_group = |claimed: &&Claimed| claimed.operation.work.group().is_some();
        let Some(claimed) = self.held.iter().rfind(is_on_group).cloned() else {
            return Command::Next;
        };
        let claimed = Box::new(claimed);
        match self.below(4) {
            0 => self.step(claimed),
            1 => self.finish(claimed),
            _ => self.child(claimed),
        }
    }

    fn child(&mut self, claimed: Box<Claimed>) -> Command {
        let new = NewOperation {
            parent: Some(claimed.operation.header.id),
            ..self.new_operation()
        };
        Command::AcceptChild(claimed, new)
    }

    fn step(&mut self, claimed: Box<Claimed>) -> Command {
        let now = self.now();
        let operation = match &claimed.operation.work {
            Work::Resource(_) => stepped(&claimed.operation, |work| self.move_resource(work, now)),
            Work::Group(_) => stepped_on_group(&claimed.operation, |work| self.move_group(work)),
        };
        let operation = due(&operation, self.now());
        let document = self.flip();
        Command::Step(claimed, operation, document, now)
    }

    fn move_resource(&mut self, work: &mut ResourceWork, now: Timestamp) {
        work.state = match self.below(3) {
            0 => State::Accepted,
            1 => State::Observing(Action::Create),
            _ => State::Submitting(Intent {
                call: Call::Create,
                client_token: format!("{:032x}", self.below(9)).parse().unwrap(),
                issued_at: now,
                unanswered: 1,
                base: None,
            }),
        };
        work.identifier = match self.below(5) {
            0 => None,
            _ => identifier(self.pick(&NAMES)),
        };
        work.created = self.flip();
        work.state_since = now;
        work.attempt = 1;
    }

    fn move_group(&mut self, work: &mut GroupWork) {
        work.done = 1;
        work.outcomes = BTreeMap::from([(0, ImportOutcome::Missing)]);
        work.ended_children = usize::try_from(self.below(3)).unwrap();
        work.outputs = (work.order().is_some() && self.flip()).then(|| {
            let name = self.pick(&BINDINGS);
            json!({ name: { "credentials": { "at": self.now } } })
        });
    }

    fn finish(&mut self, claimed: Box<Claimed>) -> Command {
        let operation = &claimed.operation;
        let finish = match &operation.work {
            Work::Resource(work) => self.end_of(operation, work),
            Work::Group(_) => {
                let ended = if self.flip() {
                    Ended::Succeeded
                } else {
                    failed()
                };
                let last = stepped_on_group(operation, |work| self.move_group(work));
                end_on_group(&last, ended, self.now())
            }
        };
        // Sometimes an ended operation is tried again.
        if self.below(4) != 0 {
            self.held.retain(|held| held.lease != claimed.lease);
        }
        Command::Finish(claimed, Box::new(finish))
    }

    fn end_of(&mut self, operation: &Operation, work: &ResourceWork) -> FinishOperation {
        let owned = self.flip();
        let name = self.pick(&NAMES);
        let (ended, reference) = match (work.kind, self.below(6)) {
            (Kind::Put | Kind::Import, 0 | 1) => {
                (Ended::Succeeded, ReferenceChange::Applied { owned })
            }
            (Kind::Delete, 0 | 1) => (Ended::Succeeded, ReferenceChange::Removed),
            (_, 2) => (failed(), ReferenceChange::Kept { owned }),
            (_, 3) => (failed(), ReferenceChange::Untouched),
            (Kind::Put | Kind::Resolve, 4) => (failed(), ReferenceChange::Unknown),
            (Kind::Resolve, 0) => (Ended::Succeeded, ReferenceChange::Kept { owned }),
            (Kind::Resolve, 1) => (Ended::Succeeded, ReferenceChange::Made),
            _ => (failed(), ReferenceChange::Removed),
        };
        let finish = Finish {
            ended,
            identifier: if work.kind == Kind::Delete && self.below(4) != 0 {
                work.identifier.clone()
            } else {
                identifier(name)
            },
            reference,
            live: Some(if self.flip() {
                json!({ "At": self.now })
            } else {
                json!({ "Name": name })
            }),
            leftover: None,
            told: None,
        };
        let now = self.now();
        let work = Work::Resource(Box::new(finish.of(work, now)));
        FinishOperation {
            operation: ended_at(operation, work, now),
            reference: Some(reference),
            baseline: matches!(reference, ReferenceChange::Applied { .. }).then(|| baseline(name)),
            leftover: self.leftover(),
        }
    }

    fn leftover(&mut self) -> Option<NewLeftover> {
        let reason = LeftoverReason::ALL[usize::try_from(self.below(4)).unwrap()];
        let name = self.pick(&NAMES);
        (self.below(3) == 0).then(|| NewLeftover {
            identifier: self.flip().then(|| Identifier::new(name)),
            reason,
            error: self.flip().then(|| Failure::new("Code", "Text.")),
            create: None,
        })
    }

    fn register(&mut self) -> Register {
        match self.below(3) {
            0 => Register::Place(self.scope()),
            _ => Register::Group(group(&self.group())),
        }
    }

    fn scope(&self) -> Scope {
        Scope::new("aws", &format!("{:012}", self.seed), "us-west-2").unwrap()
    }

    /// A leftover that there may be: an operation may have left it.
    fn leftover_id(&mut self) -> LeftoverId {
        LeftoverId {
            register: self.register(),
            name: operation_id(self.seed * 10_000 + 1 + self.below(self.operations + 1)),
        }
    }

    fn on_leftover(&mut self) -> Command {
        match self.below(4) {
            0 => Command::ClaimLeftovers(self.now(), usize::try_from(self.below(4)).unwrap()),
            1 => Command::ForgetLeftover(self.leftover_id(), self.now()),
            _ => {
                let new = self.new_operation();
                let id = self.leftover_id();
                Command::RetryLeftover(
                    id,
                    with(new, |new| {
                        new.kind = Kind::Delete;
                        new.reference = None;
                    }),
                )
            }
        }
    }

    /// All queries about the sequence.
    fn questions(&self) -> Vec<Command> {
        let groups = ["g", "h"].map(|first| format!("{first}{}", self.seed));
        let mut questions = vec![Command::ListPlanesAndGroups, Command::Next];
        questions.push(Command::ListLeftovers(Register::Place(self.scope())));
        for group in groups {
            let register = Register::Group(super::fixture::group(&group));
            questions.push(Command::ListLeftovers(register));
            questions.push(Command::ListReferences(group.clone()));
            let page = OperationPage {
                status: None,
                after: None,
                limit: 100,
            };
            questions.push(Command::ListOperations(group.clone(), page));
            for name in ALIASES.map(|alias| self.of_sequence(alias)) {
                questions.push(Command::GetReference(group.clone(), name.clone()));
                questions.push(Command::ListEvents(group.clone(), name));
            }
            let instance = instance_id(&format!("i{}", self.seed));
            questions.push(Command::GetServices(
                super::fixture::group(&group),
                instance,
            ));
        }
        let numbers = (1..=self.operations).map(|number| self.seed * 10_000 + number);
        questions.extend(numbers.map(Command::GetOperation));
        questions
    }
}
