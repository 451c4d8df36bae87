//! Writers against each other. One is held before one of its statements, while the other runs to its end or until it waits
//! for the first. What both reply, and what they leave behind, must be what some order of their acts gives in [`Memory`].

mod deciding;
mod leases;
mod outcome;
mod pairs;
mod unknown;

use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use tokio::task::JoinError;
use ucp_access::Role;
use ucp_model::{PlanPolicy, ReviewVerdict};
use ucp_store::Memory;
use ucp_store::holding::Hold;

pub use self::deciding::{adoptions, looks, others_on_a_resource, what_a_put_has_learned};
pub use self::leases::leases_that_have_run_out;
use self::outcome::Outcome;
pub use self::pairs::{
    first_quarter_of_all_pairs, fourth_quarter_of_all_pairs, second_quarter_of_all_pairs,
    third_quarter_of_all_pairs,
};
pub use self::unknown::{unknown_outcomes, what_a_search_has_found, what_is_abandoned};
use super::act::Act;
use super::fixture::Engine;
use super::stage::Stage;
pub use super::track_records::ends_of_one_type;

/// The database of an engine, in the eyes of a test that holds a transaction.
#[async_trait]
pub trait Database: Send + Sync {
    /// Returns whether a transaction waits for another one. An engine that runs one transaction at a time may always
    /// say so.
    async fn is_anyone_waiting(&self) -> bool;
}

/// For engines whose transactions are never held.
#[async_trait]
impl Database for () {
    async fn is_anyone_waiting(&self) -> bool {
        true
    }
}

/// The variable that names the pairs of writers to race.
const PAIRS: &str = "UCP_PAIRS";
/// The pause between two looks at whether a writer waits.
const PAUSE: Duration = Duration::from_millis(1);

/// A race between two writers.
struct Race<'a> {
    store: Engine,
    database: &'a dyn Database,
    before: &'a [Act],
    stages: u64,
}

impl<'a> Race<'a> {
    fn new(store: Engine, database: &'a dyn Database) -> Self {
        Self {
            store,
            database,
            before: &[],
            stages: 0,
        }
    }

    /// What has been done before the next races.
    fn after(&mut self, before: &'a [Act]) {
        self.before = before;
    }

    /// Holds each of the two against the other.
    async fn both(&mut self, one: Act, other: Act) {
        self.run(one, &[other]).await;
        self.run(other, &[one]).await;
    }

    /// Holds `one` before its statements, against all acts of `other`: before every fourth one, from one that the commit draws,
    /// or before each if a run leaves out nothing.
    async fn run(&mut self, one: Act, other: &[Act]) {
        const PATIENCE: Duration = Duration::from_secs(60);
        const TRIES: usize = 10;
        let orders = self.orders(one, other).await;
        let before = self.before;
        let (first, every) = match std::env::var_os(PAIRS) {
            // Who asks for pairs gets all of them.
            Some(_) => (0, 1),
            None => {
                let test = ucp_choice::test();
                ucp_choice::share(4, format!("{test} {before:?} {one:?} {other:?}"))
            }
        };
        let mut statement = first;
        loop {
            let mut tries = 0;
            let (passed, outcome) = loop {
                self.stages += 1;
                let race = tokio::time::timeout(PATIENCE, self.hold(statement, one, other));
                let held = race.await.unwrap_or_else(|_| {
                    panic!(
                        "after {before:?}, {one:?} held before statement {statement}, against {other:?} does not end"
                    )
                });
                tries += 1;
                // A database on a busy machine may be late.
                match held {
                    Some((passed, outcome)) if outcome.is_answered || tries == TRIES => {
                        break (passed, outcome);
                    }
                    _ => assert!(tries < TRIES, "the store does not answer"),
                }
            };
            assert!(
                orders.contains(&outcome),
                "after {before:?}, {one:?} held before statement {statement}, against {other:?} comes to what no order \
                 comes to:\n{}",
                outcome.differences(&orders)
            );
            statement = match passed {
                // It has fewer statements than the one that was drawn.
                1.. if passed <= statement && statement == first && every > 1 => first % passed,
                _ if passed <= statement + every => return,
                _ => statement + every,
            };
        }
    }

    /// Returns how many statements `one` has arrived at, and the outcome; `None` if the store did not answer.
    async fn hold(&self, statement: usize, one: Act, other: &[Act]) -> Option<(usize, Outcome)> {
        let stage = Arc::new(Stage::new(self.store.clone(), self.stages));
        let held = self.held(&stage, statement, one, other).await;
        if held.is_none() {
            // Later stages claim nothing of this one.
            stage.state().await;
        }
        stage.clear().await;
        held
    }

    async fn held(
        &self,
        stage: &Arc<Stage>,
        statement: usize,
        one: Act,
        other: &[Act],
    ) -> Option<(usize, Outcome)> {
        let perform_all = |acts: &[Act]| {
            let (stage, acts) = (Arc::clone(stage), acts.to_vec());
            tokio::spawn(async move { stage.perform_all(&acts).await })
        };
        let before = answers(perform_all(self.before)).await?;
        let hold = Hold::before(statement);
        let mut held = tokio::spawn({
            let (hold, stage) = (hold.clone(), stage.clone());
            hold.over(async move { stage.perform(one).await })
        });
        let early = tokio::select! {
            () = hold.reached() => None,
            reply = answers(&mut held) => Some(reply),
        };
        let other = perform_all(other);
        let one = match early {
            Some(reply) => reply,
            None => {
                while !other.is_finished() && !self.database.is_anyone_waiting().await {
                    tokio::time::sleep(PAUSE).await;
                }
                hold.release();
                answers(held).await
            }
        };
        let other = answers(other).await;
        let mut outcome = Outcome::of(stage, vec![one?], other?).await;
        outcome.is_answered &= outcome::are_answers(&before);
        stage.check().await;
        Some((hold.passed(), outcome))
    }

    /// Returns what each order of the acts gives.
    async fn orders(&self, one: Act, other: &[Act]) -> Vec<Outcome> {
        let mut orders = self.orders_of(one, other).await;
        if let [other] = other
            && let Some(other) = other.passing_over(one)
        {
            let passing_over_all = self.orders_of(one, &[other]).await;
            // It passes over the plan that is locked, and over nothing else.
            let partly = orders.iter().zip(&passing_over_all);
            let partly: Vec<_> = partly.flat_map(|(all, none)| all.mixes(none)).collect();
            orders.extend(passing_over_all);
            orders.extend(partly);
        }
        orders
    }

    async fn orders_of(&self, one: Act, other: &[Act]) -> Vec<Outcome> {
        let mut orders = Vec::new();
        for place in 0..=other.len() {
            let stage = Stage::new(Arc::new(Memory::new()), 0);
            stage.perform_all(self.before).await;
            let (first, rest) = other.split_at(place);
            let mut replies = stage.perform_all(first).await;
            let one = vec![stage.perform(one).await];
            replies.extend(stage.perform_all(rest).await);
            orders.push(Outcome::of(&stage, one, replies).await);
        }
        orders
    }
}

/// Returns what a writer replies; `None` if the store did not answer where an act needs an answer.
async fn answers<T>(writer: impl Future<Output = Result<T, JoinError>>) -> Option<T> {
    match writer.await {
        Ok(replies) => Some(replies),
        Err(error) => {
            let panic = error.into_panic();
            let text = panic.downcast_ref::<String>();
            if text.is_some_and(|text| text.contains("Err` value: Unavailable(")) {
                None
            } else {
                std::panic::resume_unwind(panic)
            }
        }
    }
}

/// Two first puts of an alias come to one resource, even if the second runs to its end in between.
pub async fn first_puts_of_an_alias(store: Engine, database: &dyn Database) {
    let mut race = Race::new(store, database);
    race.after(&[Act::PutGroup]);
    let whole_put = [Act::Put(2, "a"), Act::CarryOut(2, "x")];
    race.run(Act::Put(1, "a"), &whole_put).await;
    race.run(Act::PutNamed(1, "a", "y"), &whole_put).await;
    race.both(Act::PutNamed(1, "a", "x"), Act::PutNamed(2, "b", "x"))
        .await;
    race.both(Act::PutNamed(1, "a", "x"), Act::DeleteByName(2, "x"))
        .await;
    let short_lived = [
        Act::Put(2, "a"),
        Act::CarryOut(2, "x"),
        Act::Delete(3, "a"),
        Act::Claim,
        Act::FinishDelete(3),
    ];
    race.run(Act::Put(1, "a"), &short_lived).await;
}

/// The same for an alias that already has a reference, against whatever else changes it.
pub async fn changes_of_a_reference(store: Engine, database: &dyn Database) {
    let mut race = Race::new(store, database);
    race.after(&[Act::PutGroup, Act::Put(1, "a"), Act::CarryOut(1, "x")]);
    let whole_put = [Act::Put(3, "a"), Act::CarryOut(3, "x")];
    let acts = [Act::Put(2, "a"), Act::Delete(2, "a"), Act::Own("a")];
    for act in acts {
        race.run(act, &whole_put).await;
    }
    race.both(Act::Put(2, "a"), Act::Delete(3, "a")).await;
    race.both(Act::Put(2, "a"), Act::Own("a")).await;
    race.both(Act::Put(2, "a"), Act::DeleteByName(3, "x")).await;
    race.both(Act::Put(2, "a"), Act::PutNamed(3, "b", "x"))
        .await;

    // A reference that does not own its resource.
    race.after(&[
        Act::PutGroup,
        Act::Put(1, "a"),
        Act::Put(2, "b"),
        Act::Claim,
        Act::Apply(1, "x"),
        Act::Apply(2, "x"),
    ]);
    for act in [Act::Put(3, "b"), Act::Delete(3, "b"), Act::Own("b")] {
        race.both(Act::Forget("b"), act).await;
    }
    race.both(Act::Own("a"), Act::Own("b")).await;
}

/// Steps and ends of operations on one resource, and on one alias.
pub async fn ends_of_operations(store: Engine, database: &dyn Database) {
    let mut race = Race::new(store, database);
    race.after(&[
        Act::PutGroup,
        Act::Put(1, "a"),
        Act::Put(2, "b"),
        Act::Claim,
    ]);
    race.both(Act::Apply(1, "x"), Act::Apply(2, "x")).await;
    race.both(Act::Reveal(1, "x"), Act::Reveal(2, "x")).await;
    race.both(Act::Reveal(1, "x"), Act::DeleteByName(3, "x"))
        .await;
    race.both(Act::Apply(1, "x"), Act::Cancel(1)).await;
    race.both(Act::Reveal(1, "x"), Act::Cancel(1)).await;
    for end in [Act::Apply(1, "x"), Act::Fail(1)] {
        race.both(end, Act::Put(3, "a")).await;
        race.both(end, Act::Forget("a")).await;
        race.both(end, Act::RemoveEnded).await;
    }
    race.after(&[
        Act::PutGroup,
        Act::Put(1, "a"),
        Act::CarryOut(1, "x"),
        Act::Put(2, "b"),
        Act::CarryOut(2, "x"),
        Act::DeleteByName(3, "x"),
        Act::Claim,
    ]);
    for act in [Act::Put(4, "a"), Act::Forget("b"), Act::Put(4, "c")] {
        race.both(Act::FinishDelete(3), act).await;
    }
}

/// The end of an operation that gives its resource up, and passes the ownership on, while the heir changes.
pub async fn what_passes_to_an_heir(store: Engine, database: &dyn Database) {
    let mut race = Race::new(store, database);
    race.after(&[
        Act::PutGroup,
        Act::Put(1, "a"),
        Act::Put(2, "c"),
        Act::Claim,
        Act::Apply(1, "x"),
        Act::Apply(2, "x"),
        Act::PassOn(3, "a", "c"),
        Act::Claim,
        Act::Read("c"),
    ]);
    for change in [
        Act::Put(4, "c"),
        Act::Delete(4, "c"),
        Act::DeleteByName(4, "x"),
        Act::Forget("c"),
        Act::GiveUp("c"),
        Act::Own("c"),
        Act::Put(4, "a"),
        Act::PutNamed(4, "d", "x"),
    ] {
        race.both(Act::FinishDelete(3), change).await;
    }
    let whole_put = [Act::Put(4, "c"), Act::CarryOut(4, "x")];
    race.run(Act::FinishDelete(3), &whole_put).await;
}

/// What has no operations: planes, credentials and schemas.
pub async fn planes_credentials_and_schemas(store: Engine, database: &dyn Database) {
    let mut race = Race::new(store, database);
    for before in [
        &[][..],
        &[
            Act::PutPlane,
            Act::PutCredential("one"),
            Act::PutSchema("1", 1),
        ],
    ] {
        race.after(before);
        race.both(Act::PutPlane, Act::PutPlane).await;
        race.both(Act::PutPlane, Act::DeletePlane).await;
        race.both(Act::PutCredential("two"), Act::PutCredential("three"))
            .await;
        race.both(Act::PutCredential("two"), Act::DeleteCredential)
            .await;
        race.both(Act::PutSchema("2", 2), Act::PutSchema("3", 3))
            .await;
        race.both(Act::PutSchema("2", 2), Act::PutSchema("2", 3))
            .await;
    }
    // A schema is kept for the operation, or was gone before it.
    race.after(&[Act::PutGroup, Act::PutSchema("fingerprint", 1)]);
    race.both(Act::PutSchema("2", 2), Act::Put(1, "a")).await;
}

/// A role is given, changed and taken away while its group is deleted.
pub async fn roles_over_a_group(store: Engine, database: &dyn Database) {
    let mut race = Race::new(store, database);
    race.after(&[Act::PutGroup]);
    race.both(Act::Assign(Role::Reader), Act::Assign(Role::Owner))
        .await;
    race.both(Act::Assign(Role::Reader), Act::DeleteGroup(1))
        .await;
    // What was given over a group that was there afterwards goes with it.
    let given = |role| [Act::Assign(role), Act::ReadGroup];
    race.run(Act::DeleteGroup(1), &given(Role::Reader)).await;

    let assigned = [
        Act::PutGroup,
        Act::Assign(Role::Reader),
        Act::ReadAssignment,
    ];
    race.after(&assigned);
    race.both(Act::Assign(Role::Owner), Act::Assign(Role::Reader))
        .await;
    race.both(Act::Assign(Role::Owner), Act::Unassign).await;
    race.both(Act::Unassign, Act::Unassign).await;
    for act in [Act::Assign(Role::Owner), Act::Unassign] {
        race.both(Act::DeleteGroup(1), act).await;
    }

    let deleting = [
        Act::PutGroup,
        Act::Put(1, "a"),
        Act::CarryOut(1, "x"),
        Act::DeleteGroup(2),
        Act::Claim,
        Act::Assign(Role::Reader),
        Act::ReadAssignment,
    ];
    race.after(&deleting);
    for act in [Act::Assign(Role::Owner), Act::Unassign] {
        race.both(Act::FinishOnGroup(2), act).await;
    }
    race.run(Act::FinishOnGroup(2), &given(Role::Owner)).await;
}

/// A plan is carried out once, and as its reviews and the policy of its group say.
pub async fn uses_of_a_plan(store: Engine, database: &dyn Database) {
    let mut race = Race::new(store, database);
    race.after(&[Act::PutGroup, Act::KeepPlan(1)]);
    let whole = Act::PutPlanned(1, 1, "a", None);
    race.both(whole, Act::PutPlanned(1, 2, "b", None)).await;
    race.both(whole, Act::PutPlanned(1, 2, "a", None)).await;
    race.both(whole, Act::PutPlanned(1, 2, "b", Some(0))).await;
    let member = Act::PutPlanned(1, 1, "a", Some(0));
    race.both(member, Act::PutPlanned(1, 2, "b", Some(0))).await;
    race.both(member, Act::PutPlanned(1, 2, "b", Some(1))).await;
    for verdict in [ReviewVerdict::Approve, ReviewVerdict::Reject] {
        race.both(whole, Act::Review(1, verdict)).await;
        race.both(
            Act::Review(1, verdict),
            Act::Review(1, ReviewVerdict::Reject),
        )
        .await;
    }
    race.both(whole, Act::Require(PlanPolicy::Approved)).await;
    let giving_up = Act::GiveUpPlanned(1, 1, "a");
    race.both(giving_up, Act::Require(PlanPolicy::Required))
        .await;
    let approval = Act::Review(1, ReviewVerdict::Approve);
    race.both(giving_up, approval).await;
    race.both(whole, Act::RemovePlans).await;

    race.after(&[
        Act::PutGroup,
        Act::KeepPlan(1),
        Act::PutPlanned(1, 1, "a", Some(0)),
        Act::Claim,
    ]);
    let other = Act::PutPlanned(1, 2, "b", Some(1));
    race.both(Act::Apply(1, "x"), other).await;
    race.both(Act::Fail(1), other).await;
    race.both(Act::Apply(1, "x"), Act::RemovePlans).await;
}

/// Orders of one service instance, against each other, the ends of their operations, and what is done to their group.
pub async fn orders_of_a_service(store: Engine, database: &dyn Database) {
    let mut race = Race::new(store, database);
    // The first ones make the group, or find it.
    for before in [&[][..], &[Act::PutGroup]] {
        race.after(before);
        let first = Act::Order(11, None);
        race.both(first, Act::Order(2, None)).await;
        race.both(first, Act::PutGroup).await;
        race.both(first, Act::DeleteGroup(3)).await;
        race.both(first, Act::ApplySet(4)).await;
        race.run(Act::Require(PlanPolicy::Approved), &[first]).await;
    }

    race.after(&[
        Act::PutGroup,
        Act::Put(1, "s:r"),
        Act::CarryOut(1, "x"),
        Act::Read("s:r"),
        Act::Order(11, None),
        Act::Claim,
    ]);
    for act in [Act::Order(2, Some(1)), Act::OrderDeletion(2, 1)] {
        race.both(act, Act::Order(3, Some(1))).await;
        race.both(act, Act::FinishOrder(11)).await;
        race.both(act, Act::Cancel(11)).await;
        race.both(act, Act::RemoveGoneServices).await;
        race.both(act, Act::Own("s:r")).await;
        race.both(act, Act::Put(4, "s:r")).await;
        race.both(act, Act::DeleteAsChild(4, 11, "s:r")).await;
        race.both(act, Act::Deploy(1, 4, "s:r", "i")).await;
    }

    // The instance is deleted, and ordered again.
    race.after(&[
        Act::Order(11, None),
        Act::Claim,
        Act::FinishOrder(11),
        Act::DeleteService(2),
    ]);
    let again = Act::Order(2, Some(3));
    race.both(again, Act::RemoveGoneServices).await;
    race.both(again, Act::DeleteGroup(3)).await;
    race.both(Act::RemoveGoneServices, Act::RemoveGoneServices)
        .await;
    race.both(Act::RemoveGoneServices, Act::DeleteGroup(3))
        .await;

    // Two ends in one group, one of which is that of the deletion.
    race.after(&[Act::Order(11, None), Act::OrderDeletion(2, 1), Act::Claim]);
    race.both(Act::FinishOrder(11), Act::FinishOrder(2)).await;
    race.both(Act::FinishOrder(2), Act::DeleteGroup(3)).await;
}

/// Operations that were accepted under different spellings of one resource.
pub async fn spellings_of_a_resource(store: Engine, database: &dyn Database) {
    let mut race = Race::new(store, database);
    race.after(&[
        Act::PutGroup,
        Act::PutNamed(1, "a", "MyDB"),
        Act::PutNamed(2, "b", "MYDB"),
        Act::Claim,
    ]);
    race.both(Act::Respell(1), Act::Respell(2)).await;
    race.both(Act::Respell(1), Act::ApplyRespelled(2)).await;
    race.both(Act::ApplyRespelled(1), Act::ApplyRespelled(2))
        .await;
    for one in [Act::Respell(1), Act::ApplyRespelled(1)] {
        race.both(one, Act::PutNamed(3, "c", "mydb")).await;
        race.both(one, Act::DeleteByName(3, "mydb")).await;
        race.both(one, Act::Cancel(1)).await;
    }

    // The one that has the resource ends.
    race.after(&[
        Act::PutGroup,
        Act::PutNamed(1, "a", "MyDB"),
        Act::DeleteByName(2, "mydb"),
        Act::Claim,
    ]);
    race.both(Act::Respell(1), Act::FinishDelete(2)).await;

    // One of them takes the ownership.
    race.after(&[
        Act::PutGroup,
        Act::PutOwning(1, "a", "MyDB"),
        Act::PutNamed(2, "b", "MYDB"),
        Act::Claim,
    ]);
    race.both(Act::Respell(1), Act::Respell(2)).await;
    race.both(Act::Respell(1), Act::ApplyRespelled(2)).await;
    race.both(Act::ApplyRespelled(1), Act::Respell(2)).await;
    race.both(Act::ApplyRespelled(1), Act::ApplyRespelled(2))
        .await;

    // The delete removes the reference, which the others lock before they lock the resource.
    race.after(&[
        Act::PutGroup,
        Act::Put(1, "a"),
        Act::CarryOut(1, "mydb"),
        Act::Read("a"),
        Act::DeleteByName(2, "MyDB"),
        Act::Claim,
        Act::Respell(2),
    ]);
    for act in [
        Act::Put(3, "a"),
        Act::Delete(3, "a"),
        Act::Adopt("a", "mydb", true),
    ] {
        race.both(Act::FinishDeleteRespelled(2), act).await;
    }
}

/// What is left over, against whatever comes to stand for it or works on it.
pub async fn what_is_left_over(store: Engine, database: &dyn Database) {
    let mut race = Race::new(store, database);
    race.after(&[
        Act::PutGroup,
        Act::Put(1, "a"),
        Act::Claim,
        Act::Read("b"),
        Act::ReadTarget("old"),
    ]);
    for act in [
        Act::Adopt("b", "old", false),
        Act::PutNamed(2, "b", "old"),
        Act::DeleteByName(2, "old"),
    ] {
        race.both(Act::Leave(1, "x", "old"), act).await;
    }
    race.after(&[
        Act::PutGroup,
        Act::Put(1, "a"),
        Act::Put(2, "b"),
        Act::Claim,
    ]);
    race.both(Act::Leave(1, "x", "old"), Act::Leave(2, "y", "old"))
        .await;
    race.both(Act::Leave(1, "x", "old"), Act::Apply(2, "old"))
        .await;

    race.after(&[
        Act::PutGroup,
        Act::Put(1, "a"),
        Act::Claim,
        Act::Leave(1, "x", "old"),
        Act::Put(2, "b"),
        Act::Claim,
        Act::Read("c"),
        Act::ReadTarget("old"),
    ]);
    for act in [
        Act::Adopt("c", "old", false),
        Act::PutNamed(4, "c", "old"),
        Act::Reveal(2, "old"),
        Act::Apply(2, "old"),
        Act::ForgetLeftover(1),
        Act::Retry(4, 1, "old"),
        Act::DeleteByName(4, "old"),
    ] {
        race.both(Act::Retry(3, 1, "old"), act).await;
    }
    race.both(Act::ForgetLeftover(1), Act::Leave(2, "y", "old"))
        .await;

    race.after(&[
        Act::PutGroup,
        Act::Put(1, "a"),
        Act::Claim,
        Act::Leave(1, "x", "old"),
        Act::Put(2, "b"),
        Act::Retry(3, 1, "old"),
        Act::Claim,
    ]);
    for end in [Act::FinishDelete(3), Act::FailDelete(3)] {
        race.both(end, Act::ForgetLeftover(1)).await;
        race.both(end, Act::Leave(2, "y", "old")).await;
        race.both(end, Act::Apply(2, "old")).await;
    }

    race.after(&[
        Act::PutGroup,
        Act::Put(1, "a"),
        Act::Claim,
        Act::Leave(1, "x", "old"),
        Act::Delete(2, "a"),
        Act::Claim,
        Act::FinishDelete(2),
    ]);
    race.both(Act::DeleteGroup(3), Act::Retry(4, 1, "old"))
        .await;
    race.both(Act::DeleteGroup(3), Act::ForgetLeftover(1)).await;
}

/// A refactor, against whatever happens at the old alias, the new one, and in the group.
pub async fn moves_of_references(store: Engine, database: &dyn Database) {
    let mut race = Race::new(store, database);
    race.after(&[
        Act::PutGroup,
        Act::Put(1, "a"),
        Act::Put(2, "b"),
        Act::Claim,
        Act::Apply(1, "x"),
        Act::Apply(2, "y"),
        Act::Read("a"),
        Act::Read("b"),
    ]);
    for act in [
        Act::Put(4, "a"),
        Act::Put(4, "c"),
        Act::Delete(4, "a"),
        Act::DeleteByName(4, "x"),
        Act::Own("a"),
        Act::Remember("a"),
        Act::Adopt("c", "x", false),
        Act::ApplySet(4),
        Act::DeleteGroup(4),
        Act::Move(2, "b", "c"),
        Act::Swap(2, "b", "a"),
    ] {
        race.both(Act::Move(1, "a", "c"), act).await;
    }
    for act in [Act::Put(4, "b"), Act::Own("b"), Act::Swap(2, "a", "b")] {
        race.both(Act::Swap(1, "a", "b"), act).await;
    }
    for act in [
        Act::Put(4, "a"),
        Act::Put(4, "c"),
        Act::Move(2, "b", "d"),
        Act::Deploy(2, 4, "b", "d"),
        Act::ApplySet(4),
        Act::DeleteGroup(4),
        Act::UpdateGroup,
        Act::Require(PlanPolicy::Approved),
    ] {
        race.both(Act::Deploy(1, 5, "a", "c"), act).await;
    }

    // Two references to one resource. The end of the delete locks its own, and then both.
    race.after(&[
        Act::PutGroup,
        Act::Put(1, "a"),
        Act::Put(2, "b"),
        Act::Claim,
        Act::Apply(1, "x"),
        Act::Apply(2, "x"),
        Act::Read("a"),
        Act::Read("b"),
        Act::DeleteByName(3, "x"),
        Act::Claim,
    ]);
    for act in [Act::Move(1, "a", "c"), Act::Swap(1, "a", "b")] {
        race.both(act, Act::FinishDelete(3)).await;
        race.both(act, Act::FailDelete(3)).await;
    }
}

/// A deployment that takes its moves back, against its end and whatever else happens to them.
pub async fn moves_that_are_taken_back(store: Engine, database: &dyn Database) {
    let mut race = Race::new(store, database);
    race.after(&[
        Act::PutGroup,
        Act::Put(1, "a"),
        Act::Put(2, "b"),
        Act::Claim,
        Act::Apply(1, "x"),
        Act::Apply(2, "y"),
        Act::Read("a"),
        Act::Read("b"),
        Act::Deploy(1, 3, "a", "c"),
        Act::Claim,
    ]);
    for act in [
        Act::FinishOnGroup(3),
        Act::Await(3, 0),
        Act::Put(4, "a"),
        Act::Put(4, "c"),
        Act::Own("c"),
        Act::Move(4, "b", "a"),
        Act::ApplySet(4),
        Act::DeleteGroup(4),
        Act::TakeBack(4, 1, 3),
    ] {
        race.both(Act::TakeBack(2, 1, 3), act).await;
    }
    for act in [
        Act::ApplySet(4),
        Act::DeleteGroup(4),
        Act::Move(4, "b", "d"),
    ] {
        race.both(Act::FinishOnGroup(3), act).await;
    }
}

/// The deletion of a group, against whatever happens in the group.
pub async fn the_deletion_of_a_group(store: Engine, database: &dyn Database) {
    let mut race = Race::new(store, database);
    race.both(Act::PutGroup, Act::PutGroup).await;
    race.after(&[Act::PutGroup]);
    for act in [Act::PutGroup, Act::Put(2, "a"), Act::Import(2)] {
        race.both(Act::DeleteGroup(1), act).await;
    }
    race.after(&[
        Act::PutGroup,
        Act::Put(1, "a"),
        Act::Put(2, "b"),
        Act::Claim,
        Act::Apply(1, "x"),
        Act::Apply(2, "x"),
    ]);
    for act in [
        Act::PutGroup,
        Act::Put(4, "a"),
        Act::Put(4, "c"),
        Act::Import(4),
        Act::Forget("b"),
        Act::Own("b"),
        Act::DeleteGroup(4),
    ] {
        race.both(Act::DeleteGroup(3), act).await;
    }
    race.after(&[
        Act::PutGroup,
        Act::Put(1, "a"),
        Act::CarryOut(1, "x"),
        Act::DeleteGroup(2),
        Act::Claim,
    ]);
    for act in [
        Act::PutGroup,
        Act::Put(3, "c"),
        Act::Forget("a"),
        Act::DeleteGroup(3),
    ] {
        race.both(Act::FinishOnGroup(2), act).await;
    }
}

/// A parent and its children. A child that ends while the parent steps makes the parent due.
pub async fn parent_and_children(store: Engine, database: &dyn Database) {
    let mut race = Race::new(store, database);
    race.after(&[
        Act::PutGroup,
        Act::Put(1, "a"),
        Act::Put(2, "b"),
        Act::Claim,
        Act::Apply(1, "x"),
        Act::Apply(2, "y"),
        Act::DeleteGroup(3),
        Act::Claim,
        Act::DeleteAsChild(4, 3, "a"),
        Act::Claim,
    ]);
    race.both(Act::Await(3, 0), Act::FinishDelete(4)).await;
    race.both(Act::Await(3, 0), Act::Cancel(3)).await;
    race.both(Act::FinishDelete(4), Act::Cancel(3)).await;
    race.both(Act::FinishDelete(4), Act::DeleteAsChild(5, 3, "b"))
        .await;
    race.both(Act::Cancel(3), Act::DeleteAsChild(5, 3, "b"))
        .await;
}
