//! Every writer against every other.

use std::sync::Arc;

use ucp_access::Role;
use ucp_model::ReviewVerdict;
use ucp_store::Memory;

use super::{Act, Database, Engine, PAIRS, Race, Stage};

/// What the writers find: `a` owns `x`, and `c` stands for it too; `g` owns `r` and is about to replace it, and `h` stands
/// for it; `o` is giving up `q`, which passes to `p`. A put of `b` and a deletion of `d` are under way, the latter as the
/// child of an import; those of `e` and `f` have yet to learn how AWS spells `mydb`. `old` is left over. What came of a create of `j` is
/// unknown, and of one of `k`, which may have made `x`, and which a put under way abandons. One plan is open, and a put of `n`
/// carries out a member of another. An order of a service
/// instance is under way, which `s:r` is of; one of its bindings is gone. The lease on a put elsewhere has run out, and a deletion of
/// a resource without an alias is due.
const BEFORE: &[Act] = &[
    Act::PutPlane,
    Act::PutGroup,
    Act::PutCredential("one"),
    Act::PutSchema("1", 1),
    Act::ReplaceKey("one"),
    Act::Assign(Role::Reader),
    Act::ReadAssignment,
    Act::KeepPlan(1),
    Act::KeepPlan(2),
    Act::Put(1, "a"),
    Act::Put(2, "c"),
    Act::Put(3, "d"),
    Act::Put(13, "g"),
    Act::Put(14, "h"),
    Act::Put(7, "s:r"),
    Act::Put(20, "o"),
    Act::Put(23, "p"),
    Act::Claim,
    Act::Apply(1, "x"),
    Act::Apply(2, "x"),
    Act::Leave(3, "y", "old"),
    Act::Apply(13, "r"),
    Act::Apply(14, "r"),
    Act::Apply(7, "sr"),
    Act::Apply(20, "q"),
    Act::Apply(23, "q"),
    Act::PassOn(24, "o", "p"),
    Act::Put(4, "b"),
    Act::Import(5),
    Act::PutNamed(9, "e", "MyDB"),
    Act::PutOwning(10, "f", "MYDB"),
    Act::PutReplacing(15, "g"),
    Act::Claim,
    Act::DeleteAsChild(6, 5, "d"),
    Act::Claim,
    Act::DeleteOld(15),
    Act::Record(6),
    Act::PutElsewhere(12, "late", "w"),
    Act::ClaimBriefly,
    Act::Read("a"),
    Act::Read("p"),
    Act::ReadTarget("x"),
    Act::Put(16, "j"),
    Act::Put(18, "k"),
    Act::PutPlanned(2, 19, "n", Some(0)),
    Act::Claim,
    Act::LoseTrack(16),
    Act::LoseTrackOf(18, "x"),
    Act::Abandon(17, "k"),
    Act::Order(11, None),
    Act::Claim,
    Act::DeleteByName(8, "due"),
];

/// A writer, given the number of the operation that it accepts, if any.
type Writer = fn(u64) -> Act;

/// The writers: every method of the store that writes, except for the one that takes over all leases, which is for the
/// start of the only process, and those of watches, of which each is one statement and passes over what is being written. What a deployment takes back has races of its own, since it needs a group that nothing else is
/// on. A new one is in every pair by a line here.
const WRITERS: &[Writer] = &[
    |new| Act::Put(new, "a"),
    |new| Act::PutLooked(new, "a", "x"),
    |new| Act::PutNamed(new, "i", "mydb"),
    |new| Act::Put(new, "h"),
    |new| Act::Delete(new, "a"),
    |new| Act::DeleteByName(new, "x"),
    |new| Act::DeleteAsChild(new, 5, "c"),
    |new| Act::DeleteGroup(new),
    |new| Act::Import(new),
    |new| Act::ApplySet(new),
    |new| Act::Order(new, Some(1)),
    |new| Act::OrderDeletion(new, 1),
    |_| Act::FinishOrder(11),
    |_| Act::RemoveGoneServices,
    |new| Act::Retry(new, 3, "old"),
    |_| Act::ForgetLeftover(3),
    |_| Act::ClaimLeftovers,
    |_| Act::Reveal(4, "x"),
    |_| Act::Record(4),
    |_| Act::Respell(9),
    |_| Act::Respell(10),
    |_| Act::OldGone(15),
    |_| Act::Await(5, 0),
    |_| Act::Apply(4, "x"),
    |_| Act::Apply(4, "mydb"),
    |_| Act::ApplyRespelled(9),
    |new| Act::Resolve(new, 16, "j"),
    |new| Act::Abandon(new, "j"),
    |_| Act::Fail(4),
    |_| Act::Leave(4, "x", "left"),
    |_| Act::FinishDelete(6),
    |_| Act::FinishDelete(24),
    |new| Act::Put(new, "p"),
    |_| Act::GiveUp("p"),
    |_| Act::FinishOnGroup(5),
    |_| Act::Claim,
    |_| Act::ClaimElsewhere,
    |_| Act::Renew(12),
    |_| Act::Arm(12),
    |_| Act::Disarm(12),
    |_| Act::Release(12),
    |_| Act::HandBack(12),
    |_| Act::Reveal(12, "w"),
    |_| Act::Apply(12, "w"),
    |_| Act::Cancel(12),
    |_| Act::Cancel(4),
    |_| Act::Cancel(5),
    |_| Act::PutPlane,
    |_| Act::DeletePlane,
    |_| Act::PutGroup,
    |_| Act::UpdateGroup,
    |_| Act::Forget("c"),
    |_| Act::Own("c"),
    |_| Act::Remember("a"),
    |_| Act::Adopt("c", "x", false),
    |_| Act::Move(1, "a", "i"),
    |new| Act::Deploy(1, new, "a", "i"),
    |new| Act::KeepRefactor(new - 20),
    |_| Act::RemoveRefactors,
    |_| Act::PutSchema("2", 2),
    |_| Act::Reseal(4),
    |_| Act::ResealDocument(6),
    |_| Act::ResealLook(12),
    |_| Act::ResealCredential("one"),
    |_| Act::ResealKey("one"),
    |_| Act::EnsureKey("two"),
    |_| Act::ReplaceKey("two"),
    |_| Act::PutCredential("two"),
    |_| Act::DeleteCredential,
    |_| Act::Assign(Role::Owner),
    |_| Act::Unassign,
    |_| Act::KeepPlan(3),
    |_| Act::Review(1, ReviewVerdict::Approve),
    |_| Act::Review(1, ReviewVerdict::Reject),
    |new| Act::PutPlanned(1, new, "l", None),
    |new| Act::PutPlanned(1, new, "m", Some(0)),
    |new| Act::PutPlanned(2, new, "l", Some(1)),
    |_| Act::Apply(19, "z"),
    |_| Act::Fail(19),
    |_| Act::ErasePlans,
    |_| Act::RemovePlans,
    |_| Act::MakeRoom(1),
    |_| Act::RemoveEnded,
    |_| Act::RemoveEvents,
    |_| Act::Apply(17, "k"),
];

/// Each writer is held before each of its statements, against each. That takes minutes in Postgres, so a normal run has
/// every 79th pair, by which each writer comes in between and is held, before a quarter of its statements; one with
/// `UCP_PAIRS=all` has all of them.
/// `UCP_PAIRS=Assign,Cancel` has those pairs of which one writer has such a word in its name. Quarters are tests of their
/// own, since those run at the same time.
pub async fn first_quarter_of_all_pairs(store: Engine, database: &dyn Database) {
    every_act_can_be_performed().await;
    quarter(0, store, database).await;
}

/// The pairs of the next writers.
pub async fn second_quarter_of_all_pairs(store: Engine, database: &dyn Database) {
    quarter(1, store, database).await;
}

/// The pairs of the writers after those.
pub async fn third_quarter_of_all_pairs(store: Engine, database: &dyn Database) {
    quarter(2, store, database).await;
}

/// The pairs of the other writers.
pub async fn fourth_quarter_of_all_pairs(store: Engine, database: &dyn Database) {
    quarter(3, store, database).await;
}

async fn quarter(quarter: usize, store: Engine, database: &dyn Database) {
    const SHARE: usize = 79;
    // With fewer writers, some would not be held.
    const { assert!(SHARE <= WRITERS.len()) };
    let asked = std::env::var(PAIRS).ok();
    let mut race = Race::new(store, database);
    race.after(BEFORE);
    for (row, one) in WRITERS.iter().enumerate() {
        for (column, other) in WRITERS.iter().enumerate() {
            let (one, other) = (one(21), other(22));
            let is_chosen = match asked.as_deref() {
                None => (row * 4 + column) % SHARE == 0,
                Some("all") => true,
                Some(words) => {
                    let names = format!("{one:?} {other:?}");
                    words.split(',').any(|word| names.contains(word))
                }
            };
            if row % 4 == quarter && is_chosen {
                race.run(one, &[other]).await;
            }
        }
    }
}

/// A writer that finds nothing to write proves nothing.
async fn every_act_can_be_performed() {
    for writer in WRITERS {
        let stage = Stage::new(Arc::new(Memory::new()), 0);
        let replies = stage.perform_all(BEFORE).await;
        for (act, reply) in BEFORE.iter().zip(replies) {
            let is_done = !reply.starts_with("Err") && !reply.starts_with("not ");
            assert!(is_done, "{act:?}: {reply}");
        }
        let act = writer(21);
        let reply = stage.perform(act).await;
        assert!(!reply.starts_with("not "), "{act:?}: {reply}");
    }
}
