//! Claims against whatever else becomes of an operation whose lease has run out.

use super::{Act, Database, Engine, Race};

/// Whoever holds the lease may still write, until another worker has it. The operation is in a region of its own.
pub async fn leases_that_have_run_out(store: Engine, database: &dyn Database) {
    let mut race = Race::new(store, database);
    race.after(&[
        Act::PutGroup,
        Act::PutElsewhere(1, "a", "x"),
        Act::ClaimBriefly,
        Act::DeleteByName(2, "due"),
    ]);
    for claim in [Act::Claim, Act::ClaimElsewhere] {
        for act in [
            Act::Reveal(1, "x"),
            Act::Apply(1, "x"),
            Act::Fail(1),
            Act::Renew(1),
            Act::Arm(1),
            Act::Disarm(1),
            Act::Release(1),
            Act::HandBack(1),
            Act::Cancel(1),
            Act::ResealLook(1),
            Act::Claim,
            Act::ClaimElsewhere,
        ] {
            race.both(claim, act).await;
        }
    }
    race.both(Act::Renew(1), Act::Apply(1, "x")).await;
    race.both(Act::HandBack(1), Act::Apply(1, "x")).await;
    for act in [Act::Reveal(1, "x"), Act::Renew(1), Act::HandBack(1)] {
        race.both(Act::Arm(1), act).await;
    }
}
