//! Rules 4 and 5: what is ambiguous, and what is refused.

use serde_json::{Value, json};
use ucp_refactor::{Declared, Deployed, Objection, OnAmbiguity};

use crate::world::*;

const HERE: &str = "111111111111/us-east-1";
const NEXT: &str = "111111111111/us-west-2";
const THERE: &str = "222222222222/us-west-2";

fn old(alias: &str, declared: Value, at: &str) -> Deployed {
    Deployed {
        scope: scope(at),
        ..deployed(
            &format!("s/AWS.SQS/Queue/{alias}"),
            &format!("id-{alias}"),
            declared,
            json!({}),
        )
    }
}

fn new(alias: &str, properties: Value, at: &str) -> Declared {
    Declared {
        scope: scope(at),
        ..declared(&format!("s/AWS.SQS/Queue/{alias}"), properties)
    }
}

fn n(number: usize) -> Value {
    json!({ "n": number })
}

#[test]
fn what_is_identical_is_not_guessed() {
    let state = state(vec![
        old("a", n(1), HERE),
        old("b", n(1), HERE),
        old("c", n(2), HERE),
    ]);
    let body = body(
        vec![
            new("x", n(1), HERE),
            new("y", n(1), HERE),
            new("z", n(2), HERE),
        ],
        &[],
    );
    let refactor = judged(&state, &body);
    assert_eq!(
        moves(&refactor),
        ["s/AWS.SQS/Queue/c → s/AWS.SQS/Queue/z: Digest"]
    );
    assert_eq!(
        ambiguities(&refactor),
        ["s/AWS.SQS/Queue/a s/AWS.SQS/Queue/b | s/AWS.SQS/Queue/x s/AWS.SQS/Queue/y: Identical"]
    );
    assert_eq!(changes(&refactor), [vec![], vec![], vec![] as Vec<String>]);
    assert_eq!(
        refactor.objection(OnAmbiguity::Refuse),
        Some(Objection::Ambiguous)
    );
    assert_eq!(refactor.objection(OnAmbiguity::Leave), None);
}

#[test]
fn a_map_resolves_an_ambiguity() {
    let state = state(vec![old("a", n(1), HERE), old("b", n(1), HERE)]);
    let mut body = body(vec![new("x", n(1), HERE), new("y", n(1), HERE)], &[]);
    body.moves = mappings(&[("s/AWS.SQS/Queue/a", "s/AWS.SQS/Queue/y")]);
    let refactor = judged(&state, &body);
    assert_moves(
        &refactor,
        &[
            "s/AWS.SQS/Queue/a → s/AWS.SQS/Queue/y: Mapping",
            "s/AWS.SQS/Queue/b → s/AWS.SQS/Queue/x: Digest",
        ],
    );
    assert_eq!(refactor.objection(OnAmbiguity::Refuse), None);
}

#[test]
fn what_is_left_at_one_address_in_two_environments_is_refused() {
    let state = state(vec![old("a", n(1), HERE), old("b", n(2), HERE)]);
    let refactor = judged(
        &state,
        &body(vec![new("a", n(5), NEXT), new("b", n(2), THERE)], &[]),
    );
    assert_eq!(
        refused(&refactor),
        [
            "s/AWS.SQS/Queue/a | s/AWS.SQS/Queue/a: RegionChanges",
            "s/AWS.SQS/Queue/b | s/AWS.SQS/Queue/b: AccountChanges",
        ]
    );
    assert_eq!(changes(&refactor), [vec![], vec![], vec![] as Vec<String>]);
    assert_eq!(
        refactor.objection(OnAmbiguity::Leave),
        Some(Objection::Refused)
    );
    let counts = refactor.environments.iter();
    let counts: Vec<_> = counts.map(|one| (one.scope.key(), one.refused)).collect();
    assert_eq!(
        counts,
        [
            (HERE.to_owned(), 2),
            (NEXT.to_owned(), 1),
            (THERE.to_owned(), 1)
        ]
    );
}

#[test]
fn what_is_left_of_one_content_in_two_environments_is_refused() {
    let user = |value: Value| json!({"n": 2, "to": value});
    let refactor = judged(
        &state(vec![
            old("a", n(1), HERE),
            old("of-a", user(json!("id-a")), HERE),
            old("c", n(3), HERE),
        ]),
        &body(
            vec![
                new("x", n(1), NEXT),
                new("of-x", user(json!({"$reference": "AWS.SQS/Queue/x"})), NEXT),
                new("d", n(4), NEXT),
            ],
            &[],
        ),
    );
    assert_eq!(
        refused(&refactor),
        [
            "s/AWS.SQS/Queue/a | s/AWS.SQS/Queue/x: RegionChanges",
            "s/AWS.SQS/Queue/of-a | s/AWS.SQS/Queue/of-x: RegionChanges",
        ]
    );
    assert_eq!(
        changes(&refactor),
        [vec!["s/AWS.SQS/Queue/d"], vec![], vec!["s/AWS.SQS/Queue/c"]]
    );
}

#[test]
fn a_map_between_environments_is_refused() {
    let mut body = body(vec![new("b", n(1), NEXT)], &[]);
    body.moves = mappings(&[("s/AWS.SQS/Queue/a", "s/AWS.SQS/Queue/b")]);
    let refactor = judged(&state(vec![old("a", n(1), HERE)]), &body);
    assert_eq!(
        refused(&refactor),
        ["s/AWS.SQS/Queue/a | s/AWS.SQS/Queue/b: RegionChanges"]
    );
    assert_eq!(moves(&refactor), [""; 0]);
}

#[test]
fn equal_resources_in_two_environments_do_not_mix() {
    let refactor = judged(
        &state(vec![old("a", n(1), HERE), old("b", n(1), NEXT)]),
        &body(vec![new("x", n(1), NEXT), new("y", n(1), HERE)], &[]),
    );
    assert_moves(
        &refactor,
        &[
            "s/AWS.SQS/Queue/a → s/AWS.SQS/Queue/y: Digest",
            "s/AWS.SQS/Queue/b → s/AWS.SQS/Queue/x: Digest",
        ],
    );
    let counts: Vec<_> = refactor.environments.iter().map(|one| one.moves).collect();
    assert_eq!(counts, [1, 1]);
}

#[test]
fn nothing_moves_onto_what_stays() {
    let mut by_identity = new("b", n(9), HERE);
    by_identity.identifier = Some(ucp_model::Identifier::new("id-a"));
    let refactor = judged(
        &state(vec![old("a", n(1), HERE), old("b", n(2), HERE)]),
        &body(vec![by_identity], &[]),
    );
    assert_eq!(
        refused(&refactor),
        ["s/AWS.SQS/Queue/a | s/AWS.SQS/Queue/b: TargetTaken"]
    );
    assert_eq!(moves(&refactor), [""; 0]);
    // The one that stays is told by the refusal.
    let message = &refactor.refused[0].message;
    assert!(message.contains("s/AWS.SQS/Queue/b"), "{message}");
    assert_eq!(changes(&refactor), [[""; 0], [""; 0], [""; 0]]);
}

#[test]
fn what_cannot_move_stays_in_the_way() {
    let mut body = body(vec![new("b", n(1), HERE), new("c", n(2), HERE)], &[]);
    body.moves = mappings(&[
        ("s/AWS.SQS/Queue/a", "s/AWS.SQS/Queue/b"),
        ("s/AWS.SQS/Queue/b", "s/AWS.SQS/Queue/c"),
    ]);
    let free = state(vec![old("a", n(1), HERE), old("b", n(2), HERE)]);
    assert_eq!(moves(&judged(&free, &body)).len(), 2);
    let taken = state(vec![
        old("a", n(1), HERE),
        old("b", n(2), HERE),
        old("c", n(3), HERE),
    ]);
    assert_eq!(
        refused(&judged(&taken, &body)),
        [
            "s/AWS.SQS/Queue/b | s/AWS.SQS/Queue/c: TargetTaken",
            "s/AWS.SQS/Queue/a | s/AWS.SQS/Queue/b: TargetTaken",
        ]
    );
    // What is excluded stays too.
    body.exclude = vec!["s/AWS.SQS/Queue/c".to_owned()];
    assert_eq!(
        refused(&judged(&free, &body)),
        ["s/AWS.SQS/Queue/a | s/AWS.SQS/Queue/b: TargetTaken"]
    );
}

#[test]
fn a_source_that_is_nowhere_is_missing() {
    let mut body = body(vec![new("b", n(1), HERE)], &[]);
    body.moves = mappings(&[("s/AWS.SQS/Queue/a", "s/AWS.SQS/Queue/b")]);
    let refactor = judged(&state(Vec::new()), &body);
    assert_eq!(
        refused(&refactor),
        ["s/AWS.SQS/Queue/a | s/AWS.SQS/Queue/b: SourceMissing"]
    );
    assert_eq!(changes(&refactor), [vec![], vec![], vec![] as Vec<String>]);
}
