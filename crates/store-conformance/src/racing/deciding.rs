//! What is written on the basis of what was read, against whatever comes in between.

use super::{Act, Database, Engine, Race};

/// What needs no operation, against whatever changes the alias or its resource after it has been read, and before.
pub async fn what_a_put_has_learned(store: Engine, database: &dyn Database) {
    const REMEMBER: [Act; 2] = [Act::Read("a"), Act::Remember("a")];
    let mut race = Race::new(store, database);
    for before in [
        // A reference that owns its resource, and one that does not.
        &[
            Act::PutGroup,
            Act::Put(1, "a"),
            Act::CarryOut(1, "x"),
            Act::Read("a"),
        ][..],
        &[
            Act::PutGroup,
            Act::Put(1, "c"),
            Act::CarryOut(1, "x"),
            Act::Put(2, "a"),
            Act::CarryOut(2, "x"),
            Act::Read("a"),
        ],
    ] {
        race.after(before);
        for act in [
            Act::Put(3, "a"),
            Act::PutLooked(3, "a", "x"),
            Act::Delete(3, "a"),
            Act::DeleteByName(3, "x"),
            Act::PutNamed(3, "b", "x"),
            Act::DeleteGroup(3),
            Act::Own("a"),
            Act::Forget("a"),
            Act::Adopt("a", "x", true),
            Act::Remember("a"),
        ] {
            race.both(Act::Remember("a"), act).await;
            race.run(act, &REMEMBER).await;
        }
        for whole in [
            &[Act::Put(3, "a"), Act::CarryOut(3, "x")][..],
            &[Act::Delete(3, "a"), Act::Claim, Act::FinishDelete(3)],
            &[Act::DeleteByName(3, "x"), Act::Claim, Act::FinishDelete(3)],
            &[Act::PutNamed(3, "b", "x"), Act::CarryOut(3, "x")],
            // The alias is another one then.
            &[Act::Forget("a"), Act::Put(3, "a"), Act::CarryOut(3, "y")],
        ] {
            race.run(Act::Remember("a"), whole).await;
        }
    }
    race.after(&[
        Act::PutGroup,
        Act::Put(1, "a"),
        Act::CarryOut(1, "x"),
        Act::DeleteByName(2, "x"),
        Act::Read("a"),
        Act::Claim,
    ]);
    race.both(Act::Remember("a"), Act::FinishDelete(2)).await;
    race.run(Act::FinishDelete(2), &REMEMBER).await;
}

/// What a put has learned, against operations of another alias and by name. Some are under way or have ended when it is
/// written, and some only show then that they work on the resource.
pub async fn others_on_a_resource(store: Engine, database: &dyn Database) {
    const READ: [Act; 4] = [
        Act::PutGroup,
        Act::Put(1, "a"),
        Act::CarryOut(1, "x"),
        Act::Read("a"),
    ];
    let cases = [
        (
            [Act::PutNamed(3, "b", "x"), Act::Claim],
            &[Act::Reveal(3, "x"), Act::Apply(3, "x"), Act::Fail(3)][..],
        ),
        (
            [Act::DeleteByName(3, "x"), Act::Claim],
            &[Act::FinishDelete(3), Act::Cancel(3)],
        ),
        (
            [Act::Put(3, "b"), Act::Claim],
            &[Act::Reveal(3, "x"), Act::Apply(3, "x"), Act::Reveal(3, "y")],
        ),
        (
            [Act::PutNamed(3, "b", "x"), Act::CarryOut(3, "x")],
            &[
                Act::Put(4, "a"),
                Act::PutNamed(4, "b", "x"),
                Act::DeleteByName(4, "x"),
            ],
        ),
    ];
    let cases = cases.map(|(others, acts)| ([&READ[..], &others].concat(), acts));
    let mut race = Race::new(store, database);
    for (before, acts) in &cases {
        race.after(before);
        for act in *acts {
            race.both(Act::Remember("a"), *act).await;
            race.run(*act, &[Act::Read("a"), Act::Remember("a")]).await;
        }
    }
}

/// A reference that comes to stand for a resource without an operation.
pub async fn adoptions(store: Engine, database: &dyn Database) {
    const ADOPT: [Act; 3] = [
        Act::Read("a"),
        Act::ReadTarget("x"),
        Act::Adopt("a", "x", true),
    ];
    let mut race = Race::new(store, database);
    for before in [
        // A new reference, and one that does not own its resource yet.
        &[Act::PutGroup, Act::ReadTarget("x")][..],
        &[
            Act::PutGroup,
            Act::Adopt("a", "x", false),
            Act::Read("a"),
            Act::ReadTarget("x"),
        ],
    ] {
        race.after(before);
        for act in [
            Act::Put(3, "a"),
            Act::PutNamed(3, "a", "x"),
            Act::PutNamed(3, "b", "x"),
            Act::PutLooked(3, "b", "x"),
            Act::Delete(3, "a"),
            Act::DeleteByName(3, "x"),
            Act::DeleteGroup(3),
            Act::Own("a"),
            Act::Forget("a"),
            Act::Adopt("a", "x", true),
            Act::Adopt("b", "x", true),
            Act::Adopt("b", "x", false),
        ] {
            race.run(Act::Adopt("a", "x", true), &[act]).await;
            race.run(act, &ADOPT).await;
        }
        for adopt in [Act::Adopt("a", "x", true), Act::Adopt("a", "x", false)] {
            for whole in [
                &[Act::Put(3, "a"), Act::CarryOut(3, "x")][..],
                &[Act::Put(3, "b"), Act::CarryOut(3, "x")],
                &[Act::PutNamed(3, "b", "x"), Act::CarryOut(3, "x")],
                &[Act::DeleteByName(3, "x"), Act::Claim, Act::FinishDelete(3)],
                &[Act::DeleteGroup(3), Act::Claim, Act::FinishOnGroup(3)],
                &[Act::Put(3, "a"), Act::Claim, Act::Fail(3)],
            ] {
                race.run(adopt, whole).await;
            }
        }
    }
    // What is already under way when the resource is read, and what has been accepted since.
    for before in [
        &[
            Act::PutGroup,
            Act::ReadTarget("x"),
            Act::Put(1, "b"),
            Act::DeleteByName(2, "x"),
            Act::Claim,
        ],
        &[
            Act::PutGroup,
            Act::Put(1, "b"),
            Act::DeleteByName(2, "x"),
            Act::Claim,
            Act::ReadTarget("x"),
        ],
    ] {
        race.after(before);
        for end in [
            Act::FinishDelete(2),
            Act::Reveal(1, "x"),
            Act::Apply(1, "x"),
        ] {
            race.run(Act::Adopt("a", "x", true), &[end]).await;
            race.run(end, &ADOPT).await;
        }
    }
    race.after(&[
        Act::PutGroup,
        Act::ReadTarget("x"),
        Act::Put(1, "b"),
        Act::Claim,
    ]);
    for step in [Act::Reveal(1, "x"), Act::Apply(1, "x")] {
        race.both(Act::Adopt("a", "x", true), step).await;
    }
}

/// A look is recorded with its operation unless something came in between.
pub async fn looks(store: Engine, database: &dyn Database) {
    let mut race = Race::new(store, database);
    race.after(&[Act::PutGroup, Act::ReadTarget("x")]);
    let deletion = [Act::DeleteByName(3, "x"), Act::Claim, Act::FinishDelete(3)];
    let other_put = [Act::PutNamed(3, "b", "x"), Act::CarryOut(3, "x")];
    // The end waits for a put with a look that has locked the resource, which may then have come after the claim.
    let unnamed_put = [Act::Put(3, "b"), Act::Claim, Act::Apply(3, "x")];
    for whole in [&deletion[..], &other_put, &unnamed_put] {
        race.run(Act::PutLooked(2, "a", "x"), whole).await;
    }
    for act in [
        Act::PutLooked(3, "a", "x"),
        Act::PutLooked(3, "b", "x"),
        Act::DeleteByName(3, "x"),
        Act::Adopt("b", "x", false),
    ] {
        race.both(Act::PutLooked(2, "a", "x"), act).await;
    }

    race.after(&[
        Act::PutGroup,
        Act::Put(1, "a"),
        Act::CarryOut(1, "x"),
        Act::Read("a"),
    ]);
    let own_put = [Act::Put(3, "a"), Act::CarryOut(3, "x")];
    for whole in [&deletion[..], &other_put, &own_put] {
        race.run(Act::PutLooked(2, "a", "x"), whole).await;
    }
    for act in [
        Act::PutLooked(3, "a", "x"),
        Act::Remember("a"),
        Act::Own("a"),
        Act::Delete(3, "a"),
        Act::DeleteByName(3, "x"),
    ] {
        race.both(Act::PutLooked(2, "a", "x"), act).await;
    }
}
