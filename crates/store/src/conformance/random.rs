//! Random commands: whatever the sequence, an engine answers as [`Memory`] does.

use std::collections::BTreeMap;
use std::time::Duration;

use serde_json::json;
use ucp_model::group_operation::{ImportItem, ImportOutcome, Progress, Task};
use ucp_model::operation::{Action, Call, Intent, Kind, MappingChange, Options};
use ucp_model::{
    Ended, Failure, GroupOperation, Identifier, Operation, PlaneKind, Scope, State, Timestamp,
};

use super::fixture::*;
use crate::{
    Claimed, ClaimedGroup, FinishOperation, Job, LeaseTerm, Memory, NewGroupOperation,
    NewOperation, OperationPage, Precondition, ReferenceUpdate, Status, Store,
};

/// Seeds that are always played.
const SEEDS: std::ops::Range<u64> = 1..5;
const COMMANDS: u32 = 250;

/// Plays commands on the engine and on [`Memory`], and compares every reply and what is remembered in the end. The
/// sequences play on one store, one after the other, with names of their own; what one leaves undone the next may claim.
pub async fn random_commands_get_the_replies_of_memory(store: Engine) {
    let memory = Memory::new();
    for seed in SEEDS {
        let mut player = Player::new(seed);
        for turn in 0..COMMANDS {
            let command = player.draw();
            let expected = play(&memory, &command).await;
            let got = play(store.as_ref(), &command).await;
            assert_eq!(
                got.text, expected.text,
                "seed {seed}, turn {turn}: {command:?}"
            );
            for job in expected.claimed {
                match job {
                    Job::Resource(claimed) => player.held.push(*claimed),
                    Job::Group(claimed) => player.held_groups.push(*claimed),
                }
            }
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
    DeleteGroup(NewGroupOperation),
    ImportGroup(NewGroupOperation),
    Accept(NewOperation),
    AcceptChild(Box<ClaimedGroup>, NewOperation),
    Claim(Timestamp, usize),
    Step(Box<Claimed>, Operation, bool, Timestamp),
    Renew(Box<Claimed>, Timestamp),
    Release(Box<Claimed>),
    Finish(Box<Claimed>, FinishOperation),
    GroupStep(Box<ClaimedGroup>, GroupOperation, usize, Timestamp),
    GroupFinish(Box<ClaimedGroup>, GroupOperation),
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
    Live,
}

struct Reply {
    text: String,
    claimed: Vec<Job>,
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
            let deletion = store.delete_resource_group(new, &Precondition::NONE);
            format!("{:?}", deletion.await)
        }
        Command::ImportGroup(new) => format!("{:?}", store.accept_group_import(new).await),
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
            format!("{:?}", store.finish_operation(&claimed.lease, finish).await)
        }
        Command::GroupStep(claimed, operation, ended, now) => {
            let step = store.commit_group_step(&claimed.lease, &operation, ended, now, TERM);
            format!("{:?}", step.await)
        }
        Command::GroupFinish(claimed, operation) => {
            let finish = store.finish_group_operation(&claimed.lease, &operation);
            format!("{:?}", finish.await)
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
            let forget = store.forget_reference(&id, "caller", &correlation, now);
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
            let (on_resource, on_group) = (
                store.get_operation(id).await,
                store.get_group_operation(id).await,
            );
            format!("{on_resource:?} {on_group:?} {children:?}")
        }
        Command::GetReference(group, name) => {
            format!("{:?}", store.get_reference(&alias_in(&group, &name)).await)
        }
        Command::ListReferences(name) => {
            format!("{:?}", store.list_references(&group(&name)).await)
        }
        Command::ListOperations(name, page) => {
            format!("{:?}", store.list_operations(&group(&name), page).await)
        }
        Command::ListEvents(group, name) => {
            format!("{:?}", store.list_events(&alias_in(&group, &name)).await)
        }
        Command::ListPlanesAndGroups => format!(
            "{:?} {:?}",
            store.list_planes().await,
            store.list_resource_groups("LOCAL").await
        ),
        Command::Live => format!("{:?}", store.live_operations().await),
    };
    Reply { text, claimed }
}

/// Draws the commands of one sequence.
struct Player {
    seed: u64,
    chance: u64,
    operations: u64,
    /// Seconds; it mostly rises.
    now: i64,
    /// Whatever was claimed, whether or not the lease is still good.
    held: Vec<Claimed>,
    held_groups: Vec<ClaimedGroup>,
}

const ALIASES: [&str; 5] = ["a", "A", "b", "c", "é d"];
const NAMES: [&str; 3] = ["x", "X", "y|z"];

impl Player {
    fn new(seed: u64) -> Self {
        Self {
            seed,
            chance: seed,
            operations: 0,
            now: 10,
            held: Vec::new(),
            held_groups: Vec::new(),
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
        self.pick(&ALIASES).to_owned()
    }

    fn now(&mut self) -> Timestamp {
        self.now += i64::try_from(self.below(4)).unwrap() - 1;
        at(self.now)
    }

    fn draw(&mut self) -> Command {
        match self.below(30) {
            24 => match self.flip() {
                true => Command::DeleteGroup(self.new_group_operation(Task::Delete)),
                false => Command::ImportGroup(self.import()),
            },
            25..=27 => self.with_held_group(),
            28 => {
                let update = ReferenceUpdate {
                    owned: self.flip().then(|| self.flip()),
                    tags: self
                        .flip()
                        .then(|| BTreeMap::from([("now".to_owned(), self.now.to_string())])),
                };
                Command::Update(self.group(), self.alias(), update, self.now())
            }
            29 if self.below(8) == 0 => Command::RemoveEnded(at(self.now - 20), 3),
            29 => {
                let page = self.page();
                Command::ListOperations(self.group(), page)
            }
            0 => Command::PutGroup(self.group(), self.now),
            1..=6 => Command::Accept(self.new_operation()),
            7..=9 => Command::Claim(self.now(), usize::try_from(self.below(4)).unwrap()),
            10..=12 => self.with_held(Self::step),
            13..=17 => self.with_held(Self::finish),
            18 => self.with_held(|player, claimed| Command::Renew(claimed, player.now())),
            19 => self.with_held(|_, claimed| Command::Release(claimed)),
            20 => Command::Forget(self.group(), self.alias(), self.now()),
            21 if self.below(8) == 0 => Command::TakeOver,
            21 => Command::Plane(self.pick(&["b", "B", "a"]).to_owned(), self.now),
            22 => Command::ListReferences(self.group()),
            _ => Command::Live,
        }
    }

    fn new_operation(&mut self) -> NewOperation {
        self.operations += 1;
        let number = self.seed * 10_000 + self.operations;
        let kind = match self.below(6) {
            0 | 1 => Kind::Delete,
            2 => Kind::Import,
            _ => Kind::Put,
        };
        let region = if self.below(8) == 0 {
            "eu-west-1"
        } else {
            "us-west-2"
        };
        let tracked = self.below(4) != 0;
        let named = !tracked || self.flip();
        NewOperation {
            kind,
            scope: Scope::new("aws", &format!("{:012}", self.seed), region).unwrap(),
            reference: tracked.then(|| alias_in(&self.group(), &self.alias())),
            identifier: if named {
                identifier(self.pick(&NAMES))
            } else {
                None
            },
            options: Options {
                take_ownership: self.below(4) == 0,
                ..Options::default()
            },
            desired: (kind == Kind::Put).then(|| sealed("desired")),
            accepted_at: self.now(),
            ..put(number, "-")
        }
    }

    fn new_group_operation(&mut self, task: Task) -> NewGroupOperation {
        self.operations += 1;
        NewGroupOperation {
            id: operation_id(self.seed * 10_000 + self.operations),
            group: group(&self.group()),
            task,
            correlation_id: correlation(),
            caller: "caller".to_owned(),
            accepted_at: self.now(),
        }
    }

    fn import(&mut self) -> NewGroupOperation {
        let items = (0..self.below(3)).map(|_| ImportItem {
            reference: alias_in("g", self.pick(&ALIASES)),
            scope: scope(),
            identifier: Identifier::new(self.pick(&NAMES)),
            owned: self.flip(),
        });
        let items = items.collect();
        self.new_group_operation(Task::Import(items))
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

    /// A command under the lease of an operation on a group.
    fn with_held_group(&mut self) -> Command {
        let Some(claimed) = self.held_groups.last().cloned() else {
            return Command::Live;
        };
        let now = self.now();
        let operation = GroupOperation {
            done: 1,
            outcomes: BTreeMap::from([(0, ImportOutcome::Missing)]),
            ..claimed.operation.clone()
        };
        let claimed = Box::new(claimed);
        match self.below(4) {
            0 => {
                let due_at = self.now();
                let ended = usize::try_from(self.below(3)).unwrap();
                Command::GroupStep(
                    claimed,
                    GroupOperation {
                        due_at,
                        ..operation
                    },
                    ended,
                    now,
                )
            }
            1 => {
                let ended = match self.flip() {
                    true => Ended::Succeeded,
                    false => Ended::Failed(Failure::new("Blocked", "It stays.")),
                };
                let operation = GroupOperation {
                    progress: Progress::Ended(ended),
                    due_at: now,
                    ended_at: Some(now),
                    ..operation
                };
                Command::GroupFinish(claimed, operation)
            }
            _ => {
                let new = NewOperation {
                    parent: Some(claimed.operation.id),
                    ..self.new_operation()
                };
                Command::AcceptChild(claimed, new)
            }
        }
    }

    /// A command under one of the leases, most likely a recent one.
    fn with_held(&mut self, command: impl FnOnce(&mut Self, Box<Claimed>) -> Command) -> Command {
        let Some(last) = self.held.len().checked_sub(1) else {
            return Command::Live;
        };
        let back = usize::try_from(self.below(4)).unwrap();
        let claimed = self.held[last.saturating_sub(back)].clone();
        command(self, Box::new(claimed))
    }

    fn step(&mut self, claimed: Box<Claimed>) -> Command {
        let now = self.now();
        let state = match self.below(3) {
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
        let stepped = Operation {
            identifier: if self.below(5) == 0 {
                None
            } else {
                identifier(self.pick(&NAMES))
            },
            created: self.flip(),
            state,
            state_since: now,
            attempt: 1,
            due_at: self.now(),
            ..claimed.operation.clone()
        };
        let document = self.flip();
        Command::Step(claimed, stepped, document, now)
    }

    fn finish(&mut self, claimed: Box<Claimed>) -> Command {
        let owned = self.flip();
        let name = self.pick(&NAMES);
        let operation = &claimed.operation;
        let (ended, mapping) = match (operation.kind, self.below(4)) {
            (Kind::Put | Kind::Import, 0 | 1) => {
                (Ended::Succeeded, MappingChange::Applied { owned })
            }
            (Kind::Delete, 0 | 1) => (Ended::Succeeded, MappingChange::Removed),
            (_, 2) => (failed(), MappingChange::Kept { owned }),
            _ => (failed(), MappingChange::Removed),
        };
        let mut finish = end(operation, ended, mapping, Some(name));
        if operation.kind == Kind::Delete && self.below(4) != 0 {
            finish
                .operation
                .identifier
                .clone_from(&operation.identifier);
        }
        if self.flip() {
            finish.operation.result = Some(json!({ "At": self.now }));
        }
        finish.baseline = matches!(mapping, MappingChange::Applied { .. }).then(|| baseline(name));
        let now = self.now();
        finish.operation.ended_at = Some(now);
        finish.operation.state_since = now;
        Command::Finish(claimed, finish)
    }

    /// All that can be asked about the sequence.
    fn questions(&self) -> Vec<Command> {
        let groups = ["g", "h"].map(|first| format!("{first}{}", self.seed));
        let mut questions = vec![Command::ListPlanesAndGroups, Command::Live];
        for group in groups {
            questions.push(Command::ListReferences(group.clone()));
            let page = OperationPage {
                status: None,
                after: None,
                limit: 100,
            };
            questions.push(Command::ListOperations(group.clone(), page));
            for name in ALIASES {
                questions.push(Command::GetReference(group.clone(), name.to_owned()));
                questions.push(Command::ListEvents(group.clone(), name.to_owned()));
            }
        }
        let numbers = (1..=self.operations).map(|number| self.seed * 10_000 + number);
        questions.extend(numbers.map(Command::GetOperation));
        questions
    }
}
