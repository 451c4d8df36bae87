//! What came of a create whose outcome is unknown.

use ucp_model::{ProvisioningState, UnknownCreate};

use super::*;

const LONG: Duration = Duration::from_secs(2 * 3600);
const IN_TIME: Timestamp = Timestamp::from_millis(1_000_000 + 2 * 3_600_000);

/// A resolve that was accepted at [`START`]; AWS may show what it makes until [`IN_TIME`].
fn resolve(identifier: Option<&str>) -> Operation {
    Operation {
        identifier: identifier.map(name),
        was_referenced: identifier.is_some(),
        state_before: Some(ProvisioningState::Unknown),
        sightings: Sightings::since(Some(START)),
        marked: true,
        resolves: Some(UnknownCreate {
            may_show_until: IN_TIME,
            marked: true,
            named: false,
            creation: None,
        }),
        ..operation(Kind::Resolve)
    }
}

fn named(named: bool) -> Operation {
    let mut operation = resolve(Some("vpc-1"));
    operation.resolves.as_mut().unwrap().named = named;
    operation
}

fn seen(ownership: Ownership) -> Observation {
    Observation::Read(Presence::Present {
        identifier: name("vpc-1"),
        live: json!({"VpcId": "vpc-1"}),
        digest: "d".to_owned(),
        ownership,
    })
}

fn finish(operation: &Operation, observation: Observation, now: Timestamp) -> resource::Finish {
    match decide(operation, observation, now, chance(9)).next {
        Next::Finish(finish) => *finish,
        other => panic!("it does not end: {other:?}"),
    }
}

/// An import decides the alias. What bears its mark was made for it, also if the caller does not say so.
#[test]
fn an_import_takes_what_the_create_has_made() {
    let unknown = Some(ProvisioningState::Unknown);
    for (state_before, bears_mark, owned) in [
        (unknown, true, true),
        (unknown, false, false),
        (None, true, false),
    ] {
        let import = Operation {
            identifier: Some(name("vpc-1")),
            state_before,
            bears_mark,
            ..operation(Kind::Import)
        };
        let ownership = if bears_mark {
            Ownership::Ours
        } else {
            Ownership::Unmarked
        };
        let found = marked(ownership, PlanOutcome::Nothing);
        let Next::Finish(finish) = decide(&import, found, START, chance(9)).next else {
            panic!("it does not end");
        };
        assert_eq!(finish.reference, ReferenceChange::Applied { owned });
    }
}

/// Whose it is decides.
#[test]
fn what_is_there_is_ours_by_proof_only() {
    let others = || Ownership::Others;
    // Another create under the alias has made it, so it is not what this one has declared.
    let ours = ReferenceChange::Kept { owned: true };
    for (is_named, ownership, expected) in [
        (false, Ownership::Made, ReferenceChange::Made),
        (true, Ownership::Made, ReferenceChange::Made),
        (false, Ownership::Ours, ours),
        (true, Ownership::Ours, ours),
        (true, Ownership::Unmarked, ReferenceChange::Made),
        (false, Ownership::Unmarked, ReferenceChange::Unknown),
        (false, others(), ReferenceChange::Removed),
        (true, others(), ReferenceChange::Removed),
    ] {
        let end = finish(&named(is_named), seen(ownership.clone()), START);
        assert_eq!(end.reference, expected, "{is_named} {ownership:?}");
        let is_decided = expected != ReferenceChange::Unknown;
        assert_eq!(end.ended == Ended::Succeeded, is_decided);
        assert_eq!(end.told.is_some(), is_decided);
        let is_ours = expected == ours || expected == ReferenceChange::Made;
        assert_eq!(end.live.is_some(), is_ours);
        assert_eq!(end.leftover, None);
    }
}

#[test]
fn what_cannot_be_read_stays_unknown() {
    let fault = || Fault::new(FaultClass::Throttled, "ThrottlingException", "slow down");
    for observation in [
        Observation::Read(Presence::Unreadable(name("vpc-1"))),
        Observation::Read(Presence::Unknown(fault())),
        Observation::Listed(Listing::Unknown(fault())),
        Observation::Searched(Search::Unknown(fault())),
        Observation::Searched(Search::Unsearchable),
        Observation::Taken(Taken {
            identifier: name("vpc-1"),
            by: Holder::Operation(OperationId(Uuid::from_u128(1))),
        }),
    ] {
        let end = finish(&resolve(Some("vpc-1")), observation.clone(), IN_TIME);
        assert_eq!(end.reference, ReferenceChange::Unknown, "{observation:?}");
        let failure = end.ended.failure().unwrap();
        assert_eq!(failure.code, "OutcomeUnknown");
        assert!(failure.message.contains(":import"), "{failure:?}");
    }
}

/// Steps through a resolve that never finds anything, from `now` on. Returns its effects, how long it took, and its end.
fn never_found(
    mut operation: Operation,
    start: Timestamp,
) -> (Vec<&'static str>, Duration, resource::Finish) {
    let mut now = start;
    let mut effects = Vec::new();
    let mut observation = Observation::Claimed;
    operation.state_since = start;
    loop {
        let decision = decide(&operation, observation, now, chance(9));
        let mut due_at = now;
        match decision.next {
            Next::Finish(finish) => return (effects, now.since(start), *finish),
            Next::Move(moved) => {
                due_at = moved.due_at;
                operation = moved.of(&operation, now);
            }
            Next::Keep => {}
        }
        effects.extend(decision.effect.as_ref().map(Effect::name));
        assert!(effects.len() < 100, "it does not end: {effects:?}");
        observation = match decision.effect {
            Some(Effect::Read(_)) => Observation::Read(Presence::Absent),
            Some(Effect::List(_)) => Observation::Listed(Listing::Lacks),
            Some(Effect::Search) => Observation::Searched(Search::Lacks { began_at: now }),
            Some(other) => panic!("a resolve only reads: {other:?}"),
            None => {
                now = now.max(due_at);
                Observation::Claimed
            }
        };
    }
}

#[test]
fn absence_is_proven_as_everywhere_and_soon() {
    let (effects, lasted, end) = never_found(named(false), IN_TIME);
    assert_eq!(effects, ["Read", "Read", "Read", "Read", "List", "Read"]);
    assert!(lasted <= Duration::from_secs(20), "{lasted:?}");
    assert_eq!(
        (end.ended, end.reference),
        (Ended::Succeeded, ReferenceChange::Removed)
    );

    let (effects, lasted, end) = never_found(resolve(None), IN_TIME);
    assert_eq!(effects, ["Search", "Search"]);
    assert!(lasted >= Duration::from_secs(15), "{lasted:?}");
    assert!(lasted <= Duration::from_secs(20), "{lasted:?}");
    assert_eq!(
        (end.ended, end.reference),
        (Ended::Succeeded, ReferenceChange::Removed)
    );
}

/// AWS may still be making it, or nobody knows since when. Then one look is enough for now.
#[test]
fn absence_proves_nothing_too_early() {
    let unknown_since = |operation: Operation| Operation {
        resolves: None,
        ..operation
    };
    let early = START.after(LONG - Duration::from_secs(1));
    for (operation, now) in [
        (named(false), early),
        (resolve(None), early),
        (unknown_since(named(false)), IN_TIME.after(LONG)),
        (unknown_since(resolve(None)), IN_TIME.after(LONG)),
    ] {
        let (effects, _, end) = never_found(operation, now);
        assert_eq!(effects.len(), 1, "{effects:?}");
        assert_eq!(end.reference, ReferenceChange::Unknown);
    }
    // What was seen a moment ago is not believed to be gone.
    let mut seen = named(false);
    seen.sightings = Sightings::since(Some(IN_TIME));
    let (effects, _, end) = never_found(seen, IN_TIME);
    assert_eq!(
        (effects.len(), end.reference),
        (1, ReferenceChange::Unknown)
    );
}

/// A search that was interrupted goes on, but not for long.
#[test]
fn a_search_goes_on_from_where_it_stands() {
    let begun = Operation {
        searched: Some(Searched::since(IN_TIME)),
        state_since: IN_TIME,
        ..resolve(None)
    };
    let throttled = Fault::new(FaultClass::Throttled, "ThrottlingException", "slow down");
    let interrupted = Observation::Searched(Search::Unknown(throttled));
    let decision = decide(&begun, interrupted.clone(), IN_TIME, chance(9));
    assert_eq!(decision.to_string(), "accepted: the search goes on later");
    let more = decide(
        &begun,
        Observation::Searched(Search::More),
        IN_TIME,
        chance(9),
    );
    assert_eq!(
        more.to_string(),
        "accepted, then Search: the search is not over"
    );
    for decision in [decision, more] {
        let Next::Move(moved) = decision.next else {
            panic!("it goes on")
        };
        assert_eq!(moved.of(&begun, IN_TIME).searched, begun.searched);
    }
    let late = IN_TIME.after(Duration::from_secs(60));
    let end = finish(&begun, interrupted, late);
    assert_eq!(end.reference, ReferenceChange::Unknown);
}

/// A search that finds it is followed by a read.
#[test]
fn what_a_search_finds_is_read() {
    let searched = Observation::Searched(Search::Found(name("vpc-1")));
    let decision = decide(&resolve(None), searched, START, chance(9));
    let Next::Move(moved) = decision.next else {
        panic!("it is recorded first")
    };
    assert_eq!(decision.effect, Some(Effect::Read(Some(name("vpc-1")))));
    let moved = moved.of(&resolve(None), START);
    let end = finish(&moved, seen(Ownership::Ours), START);
    assert_eq!(end.identifier, Some(name("vpc-1")));
    assert_eq!(end.reference, ReferenceChange::Kept { owned: true });
}

/// Contradictions do not keep the alias busy.
#[test]
fn a_resolve_is_short_whatever_it_sees() {
    let mut operation = named(false);
    operation.sightings.missed = 1;
    let late = IN_TIME.after(Duration::from_secs(61));
    operation.state_since = IN_TIME;
    let end = finish(&operation, Observation::Read(Presence::Absent), late);
    assert_eq!(end.reference, ReferenceChange::Unknown);
}

#[test]
fn a_cancelled_resolve_decides_nothing() {
    let decision = resource::decide(&resolve(None), true, Observation::Claimed, START, chance(9));
    let Next::Finish(end) = decision.next else {
        panic!("it ends")
    };
    assert!(matches!(end.ended, Ended::Canceled(_)));
    assert_eq!(end.reference, ReferenceChange::Unknown);
}
