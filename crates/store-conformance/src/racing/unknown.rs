//! Creates of unknown outcome: what decides them, what is found out, and what is abandoned.

use super::{Act, Database, Engine, Race};

/// What came of a create is found out, against whoever decides meanwhile.
pub async fn unknown_outcomes(store: Engine, database: &dyn Database) {
    let mut race = Race::new(store, database);
    let lost = [
        Act::PutGroup,
        Act::Put(1, "a"),
        Act::Claim,
        Act::LoseTrack(1),
        Act::Read("a"),
        Act::ReadTarget("x"),
    ];
    let deciding = [
        Act::Put(3, "a"),
        Act::Abandon(3, "a"),
        Act::PutNamed(3, "b", "x"),
        Act::Delete(3, "a"),
        Act::DeleteGroup(3),
        Act::Forget("a"),
        Act::Adopt("a", "x", true),
        Act::ForgetLeftover(1),
        Act::Resolve(3, 1, "a"),
    ];
    race.after(&lost);
    for act in deciding {
        race.both(Act::Resolve(2, 1, "a"), act).await;
    }
    // Somebody abandons it, and loses track again.
    let again = [Act::Abandon(3, "a"), Act::Claim, Act::LoseTrack(3)];
    race.run(Act::Resolve(2, 1, "a"), &again).await;

    let resolving = [&lost[..], &[Act::Resolve(2, 1, "a"), Act::Claim]].concat();
    race.after(&resolving);
    for end in [Act::FindOut(2, Some("x")), Act::FindOut(2, None)] {
        for act in deciding {
            race.both(end, act).await;
        }
        race.both(end, Act::Cancel(2)).await;
    }
}

/// What a search has found, against others that come to stand for it, or to own it.
pub async fn what_a_search_has_found(store: Engine, database: &dyn Database) {
    const IMPORT: [Act; 3] = [Act::PutOwning(3, "b", "x"), Act::Claim, Act::Apply(3, "x")];
    // A resolve that finds it, and a put that does.
    let resolve = [
        Act::PutGroup,
        Act::Put(1, "a"),
        Act::Claim,
        Act::LoseTrack(1),
        Act::Read("b"),
        Act::ReadTarget("x"),
        Act::Resolve(2, 1, "a"),
        Act::Claim,
    ];
    let put = [
        Act::PutGroup,
        Act::Read("b"),
        Act::ReadTarget("x"),
        Act::Put(2, "a"),
        Act::Claim,
    ];
    let ends = [Act::FindOut(2, Some("x")), Act::Apply(2, "x")];
    let stories = [&resolve[..], &put[..]].map(|found| {
        let imported = [found, &IMPORT[..2]].concat();
        let revealed = [found, &[Act::Reveal(2, "x")], &IMPORT[..2]].concat();
        (found, imported, revealed)
    });
    let mut race = Race::new(store, database);
    for ((found, imported, revealed), end) in stories.iter().zip(ends) {
        race.after(found);
        for step in [Act::Reveal(2, "x"), end] {
            race.both(step, IMPORT[0]).await;
            race.both(step, Act::Adopt("b", "x", true)).await;
            race.run(step, &IMPORT).await;
        }
        race.after(imported);
        for step in [Act::Reveal(2, "x"), end] {
            race.both(step, IMPORT[2]).await;
        }
        race.after(revealed);
        race.both(end, IMPORT[2]).await;
    }
}

/// The end of a put that has abandoned what there may be, against others that come to stand for it or delete it.
pub async fn what_is_abandoned(store: Engine, database: &dyn Database) {
    let mut race = Race::new(store, database);
    race.after(&[
        Act::PutGroup,
        Act::Put(1, "a"),
        Act::Claim,
        Act::LoseTrackOf(1, "x"),
        Act::Read("b"),
        Act::ReadTarget("x"),
        Act::Abandon(2, "a"),
        Act::Claim,
    ]);
    for end in [Act::Apply(2, "y"), Act::LoseTrack(2), Act::Fail(2)] {
        for act in [
            Act::Adopt("b", "x", false),
            Act::ForgetLeftover(1),
            Act::Resolve(3, 1, "a"),
        ] {
            race.both(end, act).await;
        }
        for whole in [
            [Act::PutNamed(3, "b", "x"), Act::Claim, Act::Apply(3, "x")],
            [Act::DeleteByName(3, "x"), Act::Claim, Act::FinishDelete(3)],
        ] {
            race.run(end, &whole).await;
        }
    }
}
