//! Every writer against every other.

use super::{Act, Database, Engine, Race};

/// What the writers find: `a` owns `x`, and `c` stands for it too; a put of `b` and a deletion of `d` are under way, the
/// latter as the child of an import; a put of a resource without an alias is due.
const BEFORE: &[Act] = &[
    Act::PutGroup,
    Act::PutCredential("one"),
    Act::Put(1, "a"),
    Act::Put(2, "c"),
    Act::Put(3, "d"),
    Act::Claim,
    Act::Apply(1, "x"),
    Act::Apply(2, "x"),
    Act::Apply(3, "y"),
    Act::Put(4, "b"),
    Act::Import(5),
    Act::Claim,
    Act::DeleteAsChild(6, 5, "d"),
    Act::Claim,
    Act::Read("a"),
    Act::ReadTarget("x"),
    Act::DeleteByName(8, "due"),
];

/// The writers. A new one is in every pair by a line here.
const WRITERS: &[Act] = &[
    Act::Put(7, "a"),
    Act::PutLooked(7, "a", "x"),
    Act::Delete(7, "a"),
    Act::DeleteByName(7, "x"),
    Act::DeleteAsChild(7, 5, "c"),
    Act::DeleteGroup(7),
    Act::Reveal(4, "x"),
    Act::Await(5, 0),
    Act::Apply(4, "x"),
    Act::Fail(4),
    Act::Leave(4, "x", "left"),
    Act::FinishDelete(6),
    Act::FinishOnGroup(5),
    Act::Claim,
    Act::ClaimElsewhere,
    Act::Renew(4),
    Act::Release(4),
    Act::HandBack(4),
    Act::Cancel(4),
    Act::Cancel(5),
    Act::PutGroup,
    Act::UpdateGroup,
    Act::Forget("c"),
    Act::Own("c"),
    Act::Remember("a"),
    Act::Adopt("c", "x", false),
    Act::Reseal(4),
    Act::ResealCredential("one"),
    Act::PutCredential("two"),
    Act::DeleteCredential,
    Act::RemoveEnded,
];

/// Each is held before each of its statements, against each. That takes minutes in Postgres, so a normal run has every
/// 15th pair, and one with `UCP_PAIRS=all` has all of them.
pub async fn every_pair_of_writers(store: Engine, database: &dyn Database) {
    const SHARE: usize = 15;
    let all = std::env::var("UCP_PAIRS").is_ok_and(|pairs| pairs == "all");
    let mut race = Race::new(store, database);
    race.after(BEFORE);
    for (row, one) in WRITERS.iter().enumerate() {
        for (column, other) in WRITERS.iter().enumerate() {
            if all || (row * 4 + column) % SHARE == 0 {
                race.run(*one, &[*other]).await;
            }
        }
    }
}
