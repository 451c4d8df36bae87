//! A create that failed without naming anything, and may have made a resource nevertheless.

use ucp_model::operation::Class;

use super::retries::{creating, moved};
use super::*;

/// A create of a type whose name AWS gives, with the mark on its document.
fn marked_create() -> Operation {
    Operation {
        marked: true,
        ..creating()
    }
}

fn searched(search: Search) -> Observation {
    Observation::Searched(search)
}

fn found() -> Observation {
    searched(Search::Found(name("vpc-2")))
}

/// Nothing was found by a search that began at `began_at`.
fn lacks(began_at: Timestamp) -> Observation {
    searched(Search::Lacks { began_at })
}

/// The operation after the create failed with `code`, while it searches.
#[track_caller]
fn searching(code: &str) -> Operation {
    let (searching, due_at) = moved(&marked_create(), polled(failed(code), None), START);
    assert_eq!(due_at, START);
    assert_eq!(searching.status(), "Provisioning", "it goes on");
    searching
}

/// Searches that find nothing, until one may be believed. Returns the operation before that one, and the times.
fn until_settled(mut operation: Operation) -> (Operation, Vec<u64>) {
    let (mut now, mut delays) = (START, Vec::new());
    while now.since(START) < SETTLING_WINDOW {
        assert_line_at(
            &operation,
            Observation::Claimed,
            now,
            "keep, then Search: does anything bear the mark?",
        );
        let (next, due_at) = moved(&operation, lacks(now), now);
        delays.push(due_at.since(now).as_secs());
        (operation, now) = (next, due_at);
    }
    (operation, delays)
}

#[test]
fn a_create_that_named_nothing_is_searched_for_until_the_window_has_passed() {
    let (settled, delays) = until_settled(searching("Throttling"));
    assert!(
        delays.windows(2).all(|pair| pair[0] <= pair[1]),
        "{delays:?}"
    );
    // Each can be many calls.
    assert_eq!(delays, [5, 55]);
    let late = START.after(SETTLING_WINDOW);
    let (again, _) = moved(&settled, lacks(late), late);
    assert!(matches!(&again.state, State::Submitting(intent) if intent.unanswered == 0));
    assert_eq!(again.searching, None);
    assert_eq!(again.retrying.unwrap().tries, 1);
}

/// What the codes of the handlers lead to: found, not found, and not to be told.
#[test]
fn each_class_goes_on_as_its_course_says() {
    let ends = "failed: the create failed and named nothing";
    let again = "submitting: it failed for a reason that passes: again under a new token";
    let goes_on = "accepted: it failed for a reason that passes: look, then go on";
    let keeps = "salvaging, then Read: the failed create has made a resource, which bears its mark";
    let unknown = "failed: nothing that bears the mark was found";
    let in_the_way = "failed: something else stands in the way";
    for (code, when_found, when_not, when_untold) in [
        ("Throttling", goes_on, again, again),
        ("ResourceConflict", goes_on, again, again),
        ("InvalidCredentials", goes_on, again, again),
        ("InternalFailure", goes_on, again, unknown),
        ("NetworkFailure", goes_on, again, unknown),
        ("ServiceInternalError", goes_on, again, unknown),
        ("NotStabilized", goes_on, ends, unknown),
        ("ServiceTimeout", goes_on, unknown, unknown),
        ("AlreadyExists", goes_on, in_the_way, in_the_way),
        ("GeneralServiceException", keeps, ends, ends),
        ("ServiceLimitExceeded", keeps, ends, ends),
        ("NotFound", keeps, ends, ends),
        ("Whatever", keeps, ends, ends),
    ] {
        let searching = searching(code);
        let decision = assert_line(&searching, found(), when_found);
        let Next::Move(moved) = decision.next else {
            panic!("{code}: it goes on")
        };
        assert_eq!(moved.identifier, Some(name("vpc-2")), "{code}");
        assert!(moved.named, "{code}");
        assert_line(&searching, searched(Search::Unsearchable), when_untold);
        // What would be sent again may be among those that were not seen.
        let when_too_many = if when_untold == again {
            "failed: there are too many to search"
        } else {
            when_untold
        };
        assert_line(&searching, searched(Search::TooMany), when_too_many);
        let (settled, _) = until_settled(searching);
        let late = START.after(SETTLING_WINDOW);
        assert_line_at(&settled, lacks(late), late, when_not);
    }
}

#[test]
fn a_refusal_before_anything_is_made_ends_at_once() {
    for code in ["InvalidRequest", "NotUpdatable"] {
        assert_line(
            &marked_create(),
            polled(failed(code), None),
            "failed: the create failed and named nothing",
        );
    }
}

/// A handler may be denied one of its calls after it has made the resource.
#[test]
fn what_was_denied_is_searched_for_once() {
    for code in ["AccessDenied", "UnauthorizedTaggingOperation"] {
        let searching = searching(code);
        let ends = "failed: the create failed and named nothing";
        assert_line(&searching, lacks(START), ends);
        assert_line(&searching, searched(Search::More), ends);
        assert_line(&searching, searched(Search::Unknown(throttled())), ends);
        assert_line(&searching, searched(Search::Unsearchable), ends);
        assert_line(
            &searching,
            found(),
            "salvaging, then Read: the failed create has made a resource, which bears its mark",
        );
        let after_a_role = Operation {
            permissions_changed_at: Some(START),
            ..searching
        };
        let yet = "salvaging: nothing that bears the mark is visible yet";
        assert_line(&after_a_role, lacks(START), yet);
    }
}

#[test]
fn nothing_is_searched_for_without_a_mark_or_with_a_name() {
    let declared = Operation {
        identifier: Some(name("vpc-2")),
        ..marked_create()
    };
    let unreferenced = Operation {
        reference: None,
        ..marked_create()
    };
    for operation in [creating(), declared, unreferenced] {
        let decision = decide(
            &operation,
            polled(failed("Throttling"), None),
            START,
            chance(9),
        );
        assert_ne!(decision.effect, Some(Effect::Search));
    }
}

#[test]
fn what_is_found_is_ours_and_told() {
    let (kept, _) = moved(&searching("ServiceLimitExceeded"), found(), START);
    let decision = assert_line(
        &kept,
        Observation::Read(present_as("vpc-2", "d")),
        "failed: the failed create left a resource",
    );
    let Next::Finish(finish) = decision.next else {
        panic!("it ends")
    };
    assert_eq!(finish.reference, ReferenceChange::Kept { owned: true });
    assert_eq!(finish.identifier, Some(name("vpc-2")));
    let failure = finish.ended.failure().unwrap();
    assert_eq!(failure.code, "ServiceLimitExceeded");
    assert!(failure.message.contains("'vpc-2'"), "{}", failure.message);
}

/// Neither a replacement's old resource nor what its create has half made is taken for the new one.
#[test]
fn a_replacement_gives_up_what_is_found() {
    let replacing = Operation {
        was_referenced: true,
        was_owned: true,
        replacing: Some(Replacing::NewFirst {
            old: name("vpc-1"),
            is_named: false,
        }),
        ..marked_create()
    };
    let (searching, _) = moved(&replacing, polled(failed("Throttling"), None), START);
    let (found, _) = moved(&searching, found(), START);
    assert_line(
        &found,
        Observation::Read(present_as("vpc-2", "d")),
        "submitting, then Submit: what the failed create left has to go",
    );
}

#[test]
fn a_search_that_fails_is_made_again_and_has_an_end() {
    let searching = searching("Throttling");
    let unknown = |fault| searched(Search::Unknown(fault));
    let yet = "salvaging: it cannot be searched for yet";
    assert_line(&searching, unknown(denied()), yet);
    assert_line(&searching, unknown(throttled()), yet);
    let tired = Operation {
        attempt: 20,
        ..searching
    };
    let again = "submitting: it failed for a reason that passes: again under a new token";
    let late = START.after(SETTLING_WINDOW);
    assert_line_at(&tired, unknown(denied()), late, again);
    assert_line_at(&tired, unknown(throttled()), late, yet);
    let too_late = START.after(PATIENCE + Duration::from_secs(1));
    assert_line_at(&tired, unknown(throttled()), too_late, again);
}

/// A search that takes long goes on where it was interrupted, and proves nothing of what was not visible when it began.
#[test]
fn a_search_goes_on_from_where_it_stands() {
    let searching = Operation {
        searched: Some(Searched::since(START)),
        attempt: 3,
        ..searching("Throttling")
    };
    let more = searched(Search::More);
    assert_line(
        &searching,
        more.clone(),
        "salvaging, then Search: the search is not over",
    );
    let interrupted = searched(Search::Unknown(throttled()));
    for observation in [more, interrupted, Observation::Unprepared(throttled())] {
        let (later, _) = moved(&searching, observation, START);
        assert_eq!(later.searched, searching.searched);
    }
    let (found, _) = moved(&searching, found(), START);
    assert_eq!(found.searched, None);

    let (settled, _) = until_settled(searching);
    let late = START.after(SETTLING_WINDOW);
    let too_early = START.after(SETTLING_WINDOW - Duration::from_millis(1));
    let yet = "salvaging: nothing that bears the mark is visible yet";
    assert_line_at(&settled, lacks(too_early), late, yet);
}

#[test]
fn a_cancel_ends_a_search_only_with_what_it_finds() {
    let cancelled = |operation: &Operation, observation, now| {
        resource::decide(operation, true, observation, now, chance(9))
    };
    let searching = searching("Throttling");
    let still = cancelled(&searching, Observation::Claimed, START);
    assert_eq!(still.effect, Some(Effect::Search));
    let later = cancelled(&searching, lacks(START), START);
    assert!(later.to_string().starts_with("salvaging: "), "{later}");

    let Next::Move(kept) = cancelled(&searching, found(), START).next else {
        panic!("it is read first")
    };
    let kept = kept.of(&searching, START);
    let read = Observation::Read(present_as("vpc-2", "d"));
    let Next::Finish(finish) = cancelled(&kept, read, START).next else {
        panic!("it ends")
    };
    assert_eq!(finish.reference, ReferenceChange::Kept { owned: true });
    let Ended::Canceled(failure) = &finish.ended else {
        panic!("{:?}", finish.ended)
    };
    assert!(failure.message.contains("'vpc-2'"), "{}", failure.message);
    assert!(
        failure.message.contains("Throttling"),
        "{}",
        failure.message
    );

    let (settled, _) = until_settled(searching);
    let late = START.after(SETTLING_WINDOW);
    let Next::Move(ending) = cancelled(&settled, lacks(late), late).next else {
        panic!("it is read first")
    };
    let ending = ending.of(&settled, late);
    let nothing = Observation::Read(Presence::Absent);
    let Next::Finish(finish) = cancelled(&ending, nothing, late).next else {
        panic!("it ends")
    };
    assert_eq!(finish.reference, ReferenceChange::Removed);
    assert!(matches!(finish.ended, Ended::Canceled(_)));
}

/// What AWS cancelled may have been made too.
#[test]
fn a_create_that_aws_cancelled_is_searched_for() {
    let (searching, _) = moved(
        &marked_create(),
        polled(ProgressStatus::Canceled, None),
        START,
    );
    let (kept, _) = moved(&searching, found(), START);
    assert_line(
        &kept,
        Observation::Read(present_as("vpc-2", "d")),
        "canceled: the failed create left a resource",
    );
    assert_line(
        &searching,
        searched(Search::Unsearchable),
        "canceled: the create failed and named nothing",
    );
}

#[test]
fn a_create_with_an_unknown_outcome_is_searched_for() {
    let expired = Operation {
        marked: true,
        ..in_state(
            Operation {
                created: true,
                ..operation(Kind::Put)
            },
            State::Submitting(intent(Action::Create, None)),
        )
    };
    let late = START.after(CLIENT_TOKEN_LIFE);
    let (searching, _) = moved(&expired, Observation::Claimed, late);
    assert_eq!(searching.searching, Some(Class::Unknown));
    assert_line_at(
        &searching,
        found(),
        late,
        "accepted: it failed for a reason that passes: look, then go on",
    );
    let decision = assert_line_at(
        &searching,
        searched(Search::Unsearchable),
        late,
        "failed: nothing that bears the mark was found",
    );
    let Next::Finish(finish) = decision.next else {
        panic!("it ends")
    };
    assert_eq!(finish.reference, ReferenceChange::Unknown);
    let message = &finish.ended.failure().unwrap().message;
    assert!(message.contains("Client token"), "{message}");
}

/// A release before this one wrote such rows.
#[test]
fn a_salvage_without_a_search_ends_as_it_did() {
    let setback = Setback::Canceled(Failure::new("Canceled", "Cancelled."));
    let old = in_state(creating(), State::Salvaging(Action::Create, setback));
    assert_line(
        &old,
        Observation::Claimed,
        "keep, then Read: the outcome is to be read",
    );
    assert_line(
        &old,
        Observation::Read(Presence::Absent),
        "canceled: the create failed and named nothing",
    );
    assert_line(&old, found(), "keep: not an observation for this state");
}
