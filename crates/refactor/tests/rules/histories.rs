//! Histories: which of their moves are made.

use serde_json::json;
use ucp_refactor::{Body, Deployed, Event, State};

use crate::world::*;

fn at(alias: &str) -> String {
    format!("s/AWS.SQS/Queue/{alias}")
}

fn moved(id: &str, moves: &[(&str, &str)]) -> Event {
    let moves: Vec<_> = moves.iter().map(|(from, to)| (at(from), at(to))).collect();
    let moves: Vec<_> = moves
        .iter()
        .map(|(from, to)| (from.as_str(), to.as_str()))
        .collect();
    event(id, &moves)
}

/// Queues whose contents differ from all that is declared, so that only maps tell what they are.
fn had(aliases: &[&str], events: &[Event]) -> State {
    let resources = aliases.iter().map(|alias| -> Deployed {
        deployed(
            &at(alias),
            &format!("id-{alias}"),
            json!({ "old": alias }),
            json!({}),
        )
    });
    State {
        resources: resources.collect(),
        events: events.to_vec(),
    }
}

fn shall_have(aliases: &[&str], history: &[Event]) -> Body {
    let resources = aliases
        .iter()
        .map(|alias| declared(&at(alias), json!({ "new": alias })));
    Body {
        history: Some(history.to_vec()),
        ..body(resources.collect(), &[])
    }
}

#[test]
fn what_is_pending_is_composed_and_precedes_the_moves() {
    let events = [moved("e1", &[("a", "b")]), moved("e2", &[("b", "c")])];
    let mut body = shall_have(&["d"], &events);
    body.moves = mappings(&[(&at("c"), &at("d"))]);
    let all = judged(&had(&["a"], &[]), &body);
    assert_moves(&all, &["s/AWS.SQS/Queue/a → s/AWS.SQS/Queue/d: Mapping"]);
    assert_eq!(all.history.pending, ["e1", "e2"]);
    let rest = judged(&had(&["b"], &events[..1]), &body);
    assert_moves(&rest, &["s/AWS.SQS/Queue/b → s/AWS.SQS/Queue/d: Mapping"]);
    assert_eq!(rest.history.environment, ["e1"]);
    assert_eq!(rest.history.common.as_deref(), Some("e1"));
    assert_eq!(rest.history.pending, ["e2"]);
    let none = judged(&had(&["c"], &events), &body);
    assert_moves(&none, &["s/AWS.SQS/Queue/c → s/AWS.SQS/Queue/d: Mapping"]);
}

#[test]
fn events_make_their_moves_at_once() {
    let swap = [
        moved("e1", &[("a", "b"), ("b", "a")]),
        moved("e2", &[("a", "c")]),
    ];
    let refactor = judged(&had(&["a", "b"], &[]), &shall_have(&["b", "c"], &swap));
    assert_moves(
        &refactor,
        &[
            "s/AWS.SQS/Queue/a → s/AWS.SQS/Queue/b: Mapping",
            "s/AWS.SQS/Queue/b → s/AWS.SQS/Queue/c: Mapping",
        ],
    );
}

#[test]
fn groups_that_never_had_a_resource_make_no_move_of_it() {
    let events = [moved("e1", &[("a", "b")]), moved("e2", &[("b", "c")])];
    let refactor = judged(&had(&[], &[]), &shall_have(&["c"], &events));
    assert_moves(&refactor, &[]);
    assert_eq!(changes(&refactor)[0], ["s/AWS.SQS/Queue/c"]);
    // Nor is one made to where nothing is declared any more.
    let refactor = judged(&had(&["a"], &[]), &shall_have(&[], &events));
    assert_moves(&refactor, &[]);
}

#[test]
fn two_that_come_to_one_address_are_refused() {
    let events = [moved("e1", &[("a", "c")]), moved("e2", &[("b", "c")])];
    let refactor = judged(&had(&["a", "b"], &[]), &shall_have(&["c"], &events));
    assert_eq!(
        refused(&refactor),
        ["s/AWS.SQS/Queue/b | s/AWS.SQS/Queue/c: TargetTaken"]
    );
}

#[test]
fn histories_that_part_are_refused_unless_nothing_moved_since() {
    let had_other = had(&["a"], &[event("e0", &[]), moved("other", &[("x", "a")])]);
    let body = shall_have(&["b"], &[event("e0", &[]), moved("e1", &[("a", "b")])]);
    let refactor = judged(&had_other, &body);
    assert_eq!(refused(&refactor), [" | : HistoryDiverged"]);
    // It is kept for others, who may not know of the event.
    let message = &refactor.refused[0].message;
    assert!(!message.contains("e0"), "{message}");
    assert_eq!(refactor.history.environment, ["e0", "other"]);
    assert_eq!(refactor.history.common.as_deref(), Some("e0"));
    assert_eq!(refactor.environments[0].refused, 1);

    let still = had(&["a"], &[event("e0", &[]), event("other", &[])]);
    let body = shall_have(&["a"], &[event("e0", &[]), event("e1", &[])]);
    assert_moves(&judged(&still, &body), &[]);
}

#[test]
fn without_a_history_none_is_compared() {
    let mut body = shall_have(&["a"], &[]);
    body.history = None;
    let refactor = judged(&had(&["a"], &[moved("other", &[("x", "a")])]), &body);
    assert_moves(&refactor, &[]);
    assert_eq!(refactor.history.environment, ["other"]);
}
