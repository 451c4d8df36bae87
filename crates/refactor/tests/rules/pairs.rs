//! Rules 1 to 3: what is the same.

use serde_json::{Value, json};
use ucp_refactor::{Declared, Deployed, Refactor, refactor};

use crate::world::*;

fn old(alias: &str, declared: Value) -> Deployed {
    deployed(
        &format!("s/AWS.SQS/Queue/{alias}"),
        &format!("id-{alias}"),
        declared,
        json!({}),
    )
}

fn new(alias: &str, properties: Value) -> Declared {
    declared(&format!("s/AWS.SQS/Queue/{alias}"), properties)
}

fn n(number: usize) -> Value {
    json!({ "n": number })
}

/// A declaration that refers to a queue: by its identifier, as deployed; and by its name.
fn with_value(number: usize, alias: &str) -> Value {
    json!({"n": number, "to": format!("id-{alias}")})
}

fn with_reference(number: usize, alias: &str) -> Value {
    json!({"n": number, "to": {"$reference": format!("AWS.SQS/Queue/{alias}")}})
}

fn queue_moves(moves: &[(&str, &str, &str)]) -> Vec<String> {
    let moves = moves.iter();
    moves
        .map(|(from, to, reason)| {
            format!("s/AWS.SQS/Queue/{from} → s/AWS.SQS/Queue/{to}: {reason}")
        })
        .collect()
}

#[test]
fn what_is_mapped_is_the_same() {
    let state = state(vec![old("a", n(1)), old("b", n(1))]);
    let mut body = body(vec![new("c", n(5)), new("d", n(1))], &[]);
    body.moves = mappings(&[("s/AWS.SQS/Queue/a", "s/AWS.SQS/Queue/c")]);
    let refactor = judged(&state, &body);
    assert_eq!(
        moves(&refactor),
        queue_moves(&[("a", "c", "Mapping"), ("b", "d", "Digest")])
    );
    assert_eq!(
        changes(&refactor),
        [vec![], vec!["s/AWS.SQS/Queue/c"], vec![]]
    );
    assert_eq!(
        refactor.moves[0].identifier.as_ref().map(|id| id.as_str()),
        Some("id-a")
    );
}

#[test]
fn what_moved_before_is_skipped() {
    let state = state(vec![old("b", n(1))]);
    let mut body = body(vec![new("b", n(1))], &[]);
    body.moves = mappings(&[("s/AWS.SQS/Queue/a", "s/AWS.SQS/Queue/b")]);
    let refactor = judged(&state, &body);
    assert_moves(&refactor, &[]);
    assert_eq!(changes(&refactor), [vec![], vec![], vec![] as Vec<String>]);
}

/// Whoever sends the same moves again means the same.
#[test]
fn moves_that_follow_each_other_are_made_once() {
    let at = |alias: &str| format!("s/AWS.SQS/Queue/{alias}");
    let chain = mappings(&[(&at("a"), &at("b")), (&at("b"), &at("c"))]);
    let of = |old: &[(&str, usize)], new: &[(&str, usize)]| {
        let state = state(
            old.iter()
                .map(|(alias, it)| self::old(alias, n(*it)))
                .collect(),
        );
        let mut body = body(
            new.iter()
                .map(|(alias, it)| self::new(alias, n(*it)))
                .collect(),
            &[],
        );
        body.moves.clone_from(&chain);
        judged(&state, &body)
    };
    let declared = [("b", 3), ("c", 2)];
    let first = of(&[("a", 1), ("b", 2)], &declared);
    let expected = [("a", "b", "Mapping"), ("b", "c", "Mapping")];
    assert_eq!(moves(&first), queue_moves(&expected));
    // The one at `b` has been put since.
    assert_moves(&of(&[("b", 3), ("c", 2)], &declared), &[]);
    // Here it has not, and is to be put.
    let put = of(&[("b", 1), ("c", 2)], &declared);
    assert_moves(&put, &[]);
    assert_eq!(changes(&put)[1], ["s/AWS.SQS/Queue/b"]);
}

/// Nothing tells whether they have done so, unless their contents do.
#[test]
fn mapped_resources_change_places_once() {
    let (a, b) = ("s/AWS.SQS/Queue/a", "s/AWS.SQS/Queue/b");
    let state = state(vec![old("a", n(1)), old("b", n(2))]);
    let of = |new_a: usize, new_b: usize| {
        let mut body = body(vec![new("a", n(new_a)), new("b", n(new_b))], &[]);
        body.moves = mappings(&[(a, b), (b, a)]);
        judged(&state, &body)
    };
    let expected = [("a", "b", "Mapping"), ("b", "a", "Mapping")];
    assert_eq!(moves(&of(2, 1)), queue_moves(&expected));
    assert_moves(&of(1, 2), &[]);
    let unclear = of(3, 4);
    assert_eq!(
        refused(&unclear),
        [format!("{a} {b} | {b} {a}: MovesUnclear")]
    );
    assert!(unclear.refused[0].message.contains("history"));
    let half = of(3, 1);
    assert_eq!(refused(&half).len(), 1);
}

#[test]
fn who_declares_an_identifier_is_that_resource() {
    let state = state(vec![old("a", n(1)), old("b", n(1))]);
    let mut declared = new("c", n(1));
    declared.identifier = Some(ucp_model::Identifier::new("id-b"));
    let refactor = judged(&state, &body(vec![declared], &[]));
    assert_moves(
        &refactor,
        &["s/AWS.SQS/Queue/b → s/AWS.SQS/Queue/c: Identity"],
    );
    assert_eq!(changes(&refactor)[2], ["s/AWS.SQS/Queue/a"]);
}

#[test]
fn who_declares_an_identifier_has_no_digest() {
    let state = state(vec![old("a", n(1))]);
    let mut declared = new("c", n(1));
    declared.identifier = Some(ucp_model::Identifier::new("id-other"));
    let refactor = judged(&state, &body(vec![declared], &[]));
    assert_moves(&refactor, &[]);
    assert_eq!(
        changes(&refactor),
        [vec!["s/AWS.SQS/Queue/c"], vec![], vec!["s/AWS.SQS/Queue/a"]]
    );
}

#[test]
fn what_was_never_put_has_no_digest() {
    let state = state(vec![old("a", Value::Null), old("b", Value::Null)]);
    let mut by_identity = new("d", n(1));
    by_identity.identifier = Some(ucp_model::Identifier::new("id-b"));
    let refactor = judged(&state, &body(vec![new("c", n(1)), by_identity], &[]));
    assert_moves(
        &refactor,
        &["s/AWS.SQS/Queue/b → s/AWS.SQS/Queue/d: Identity"],
    );
    // Nobody knows whether a put would change it.
    assert_eq!(
        changes(&refactor),
        [
            vec!["s/AWS.SQS/Queue/c"],
            vec!["s/AWS.SQS/Queue/d"],
            vec!["s/AWS.SQS/Queue/a"]
        ]
    );
}

#[test]
fn several_aliases_of_one_resource_are_told_by_their_addresses() {
    let mut other = old("b", n(1));
    other.identifier = old("a", n(1)).identifier;
    let state = state(vec![old("a", n(1)), other]);
    let with_identifier = |alias: &str| {
        let mut declared = new(alias, n(1));
        declared.identifier = Some(ucp_model::Identifier::new("id-a"));
        declared
    };
    let one = judged(
        &state,
        &body(vec![with_identifier("a"), with_identifier("c")], &[]),
    );
    assert_moves(&one, &["s/AWS.SQS/Queue/b → s/AWS.SQS/Queue/c: Identity"]);
    let both = judged(
        &state,
        &body(vec![with_identifier("c"), with_identifier("d")], &[]),
    );
    assert_eq!(
        ambiguities(&both),
        ["s/AWS.SQS/Queue/a s/AWS.SQS/Queue/b | s/AWS.SQS/Queue/c s/AWS.SQS/Queue/d: Identical"]
    );
}

#[test]
fn one_of_a_digest_on_each_side_is_the_same() {
    let state = state(vec![old("a", n(1)), old("b", with_value(2, "a"))]);
    let refactor = judged(
        &state,
        &body(vec![new("x", with_reference(2, "y")), new("y", n(1))], &[]),
    );
    assert_moves(
        &refactor,
        &[
            "s/AWS.SQS/Queue/a → s/AWS.SQS/Queue/y: Digest",
            "s/AWS.SQS/Queue/b → s/AWS.SQS/Queue/x: Digest",
        ],
    );
}

#[test]
fn a_group_is_split() {
    let state = state(vec![old("a", n(1)), old("b", n(2))]);
    let refactor = judged(
        &state,
        &body(
            vec![new("a", n(1)), declared("web/AWS.SQS/Queue/b", n(2))],
            &[],
        ),
    );
    assert_moves(
        &refactor,
        &["s/AWS.SQS/Queue/b → web/AWS.SQS/Queue/b: Digest"],
    );
}

#[test]
fn circles_are_told_apart_by_refinement() {
    let ring = |names: [&'static str; 3], reference: fn(usize, &str) -> Value| {
        [
            (names[0], reference(1, names[1])),
            (names[1], reference(2, names[2])),
            (names[2], reference(3, names[0])),
        ]
    };
    let state = state(
        ring(["a", "b", "c"], with_value)
            .map(|(alias, value)| old(alias, value))
            .into(),
    );
    let declared = ring(["x", "y", "z"], with_reference).map(|(alias, value)| new(alias, value));
    let refactor = judged(&state, &body(declared.into(), &[]));
    assert_eq!(
        moves(&refactor),
        queue_moves(&[
            ("a", "x", "Digest"),
            ("b", "y", "Digest"),
            ("c", "z", "Digest")
        ])
    );
}

#[test]
fn several_are_told_apart_by_who_refers_to_them() {
    let state = state(vec![
        old("a", n(1)),
        old("b", n(1)),
        old("of-a", with_value(2, "a")),
        old("of-b", with_value(3, "b")),
    ]);
    let refactor = judged(
        &state,
        &body(
            vec![
                new("x", n(1)),
                new("y", n(1)),
                new("of-a", with_reference(2, "y")),
                new("of-b2", with_reference(3, "x")),
            ],
            &[],
        ),
    );
    assert_eq!(
        moves(&refactor),
        queue_moves(&[
            ("a", "y", "Structure"),
            ("b", "x", "Structure"),
            ("of-b", "of-b2", "Digest")
        ])
    );
}

#[test]
fn parts_tell_apart_to_a_fixpoint() {
    // Two chains of identical resources, whose heads alone differ.
    let chain = |names: [&str; 3], first: usize, reference: fn(usize, &str) -> Value| {
        [
            (names[0].to_owned(), reference(first, names[1])),
            (names[1].to_owned(), reference(7, names[2])),
            (names[2].to_owned(), n(8)),
        ]
    };
    let old_chains = chain(["a1", "a2", "a3"], 1, with_value)
        .into_iter()
        .chain(chain(["b1", "b2", "b3"], 2, with_value));
    let new_chains = chain(["x1", "x2", "x3"], 2, with_reference)
        .into_iter()
        .chain(chain(["y1", "y2", "y3"], 1, with_reference));
    let refactor = judged(
        &state(
            old_chains
                .map(|(alias, value)| old(&alias, value))
                .collect(),
        ),
        &body(
            new_chains
                .map(|(alias, value)| new(&alias, value))
                .collect(),
            &[],
        ),
    );
    let (digest, structure) = ("Digest", "Structure");
    assert_eq!(
        moves(&refactor),
        queue_moves(&[
            ("a1", "y1", digest),
            ("a2", "y2", structure),
            ("a3", "y3", structure),
            ("b1", "x1", digest),
            ("b2", "x2", structure),
            ("b3", "x3", structure),
        ])
    );
}

#[test]
fn users_that_changed_or_name_aws_values_tell_nothing() {
    let olds = || {
        vec![
            old("a", n(1)),
            old("b", n(1)),
            old("of-a", with_value(2, "a")),
        ]
    };
    let identical =
        ["s/AWS.SQS/Queue/a s/AWS.SQS/Queue/b | s/AWS.SQS/Queue/x s/AWS.SQS/Queue/y: Identical"];
    let with_user =
        |user: Value| body(vec![new("x", n(1)), new("y", n(1)), new("of-a", user)], &[]);
    let told = judged(&state(olds()), &with_user(with_reference(2, "x")));
    assert_eq!(moves(&told).len(), 2);
    // Its content is another one.
    let changed = judged(&state(olds()), &with_user(with_reference(3, "x")));
    assert_eq!(ambiguities(&changed), identical);
    // It names what is deployed, and not what is declared.
    let by_value = judged(&state(olds()), &with_user(with_value(2, "a")));
    assert_eq!(ambiguities(&by_value), identical);
    // Two of its class are declared, and one is deployed.
    let mut more = with_user(with_reference(2, "x"));
    more.resources[2].address.alias = "of-x".to_owned();
    let mut second = new("of-y", with_reference(2, "x"));
    second.place = "/groups/0/resources/3".to_owned();
    more.resources.push(second);
    let unequal = judged(&state(olds()), &more);
    assert_eq!(
        ambiguities(&unequal).len(),
        2,
        "{:?}",
        ambiguities(&unequal)
    );
}

#[test]
fn what_a_user_no_longer_refers_to_is_told_apart_from_nothing() {
    // Either of the two may be `x`, whoever referred to one of them.
    let olds = |user: Value| {
        state(vec![
            old("a", n(1)),
            old("b", n(1)),
            old("c", n(2)),
            old("u", user),
        ])
    };
    let ambiguous = ["s/AWS.SQS/Queue/a s/AWS.SQS/Queue/b | s/AWS.SQS/Queue/x: Identical"];
    let with_user = |user: Value| body(vec![new("x", n(1)), new("c", n(2)), new("u", user)], &[]);
    let by_value = judged(&olds(with_value(3, "a")), &with_user(with_value(3, "a")));
    assert_eq!(ambiguities(&by_value), ambiguous);
    let to_another = judged(
        &olds(with_value(3, "a")),
        &with_user(with_reference(3, "c")),
    );
    assert_eq!(ambiguities(&to_another), ambiguous);
    assert_eq!(changes(&to_another)[1], ["s/AWS.SQS/Queue/u"]);
    let to_it = judged(
        &olds(with_value(3, "a")),
        &with_user(with_reference(3, "x")),
    );
    assert_eq!(moves(&to_it), queue_moves(&[("a", "x", "Structure")]));
}

#[test]
fn swaps_and_chains_move() {
    let state = state(vec![
        old("a", n(1)),
        old("b", n(2)),
        old("c", n(3)),
        old("d", n(4)),
    ]);
    let refactor = judged(
        &state,
        &body(
            vec![
                new("b", n(1)),
                new("a", n(2)),
                new("d", n(3)),
                new("e", n(4)),
            ],
            &[],
        ),
    );
    assert_moves(
        &refactor,
        &[
            "s/AWS.SQS/Queue/a → s/AWS.SQS/Queue/b: Digest",
            "s/AWS.SQS/Queue/b → s/AWS.SQS/Queue/a: Digest",
            "s/AWS.SQS/Queue/c → s/AWS.SQS/Queue/d: Digest",
            "s/AWS.SQS/Queue/d → s/AWS.SQS/Queue/e: Digest",
        ],
    );
}

#[test]
fn nothing_moves_where_another_would_stay_alone() {
    // `a` may have been changed, and `b` be new.
    let begins = judged(
        &state(vec![old("a", n(1))]),
        &body(vec![new("a", n(2)), new("b", n(1))], &[]),
    );
    assert_moves_not(
        &begins,
        "s/AWS.SQS/Queue/a | s/AWS.SQS/Queue/b s/AWS.SQS/Queue/a: AddressReused",
    );
    // `b` may have been changed to what `a` was, and `a` be gone.
    let stays = judged(
        &state(vec![old("a", n(1)), old("b", n(2))]),
        &body(vec![new("b", n(1))], &[]),
    );
    assert_moves_not(
        &stays,
        "s/AWS.SQS/Queue/a s/AWS.SQS/Queue/b | s/AWS.SQS/Queue/b: AddressReused",
    );
    // Nor does a chain that begins or ends like this.
    let chain = judged(
        &state(vec![old("a", n(1)), old("b", n(2))]),
        &body(vec![new("a", n(3)), new("b", n(1)), new("c", n(2))], &[]),
    );
    assert_eq!(moves(&chain), [""; 0]);
    assert_eq!(ambiguities(&chain).len(), 2);
}

#[track_caller]
fn assert_moves_not(refactor: &ucp_refactor::Refactor, ambiguity: &str) {
    assert_eq!(moves(refactor), [""; 0]);
    assert_eq!(ambiguities(refactor), [ambiguity]);
    assert_eq!(changes(refactor), [vec![], vec![], vec![] as Vec<String>]);
}

#[test]
fn of_several_those_of_one_address_are_the_same() {
    let refactor = judged(
        &state(vec![old("a", n(1)), old("b", n(1))]),
        &body(vec![new("a", n(1)), new("c", n(1))], &[]),
    );
    assert_moves(
        &refactor,
        &["s/AWS.SQS/Queue/b → s/AWS.SQS/Queue/c: Digest"],
    );
    let copied = judged(
        &state(vec![old("a", n(1))]),
        &body(vec![new("a", n(1)), new("b", n(1))], &[]),
    );
    assert_moves(&copied, &[]);
    assert_eq!(changes(&copied)[0], ["s/AWS.SQS/Queue/b"]);
}

#[test]
fn what_changed_in_place_is_the_same_and_its_users_are_found() {
    let refactor = judged(
        &state(vec![
            old("a", n(1)),
            old("of-a", with_value(2, "a")),
            old("of-of-a", with_value(3, "of-a")),
        ]),
        &body(
            vec![
                new("a", n(9)),
                new("user", with_reference(2, "a")),
                new("user-of-user", with_reference(3, "user")),
            ],
            &[],
        ),
    );
    assert_moves(
        &refactor,
        &[
            "s/AWS.SQS/Queue/of-a → s/AWS.SQS/Queue/user: Digest",
            "s/AWS.SQS/Queue/of-of-a → s/AWS.SQS/Queue/user-of-user: Digest",
        ],
    );
    assert_eq!(
        changes(&refactor),
        [vec![], vec!["s/AWS.SQS/Queue/a"], vec![]]
    );
}

#[test]
fn what_refers_to_something_changed_is_no_change_in_place() {
    // Both users change places, while what they refer to is changed.
    let refactor = judged(
        &state(vec![
            old("a", n(1)),
            old("u", with_value(2, "a")),
            old("v", with_value(3, "a")),
        ]),
        &body(
            vec![
                new("a", n(9)),
                new("u", with_reference(3, "a")),
                new("v", with_reference(2, "a")),
            ],
            &[],
        ),
    );
    assert_moves(
        &refactor,
        &[
            "s/AWS.SQS/Queue/u → s/AWS.SQS/Queue/v: Digest",
            "s/AWS.SQS/Queue/v → s/AWS.SQS/Queue/u: Digest",
        ],
    );
}

#[test]
fn another_reference_is_a_change_in_place() {
    let refactor = judged(
        &state(vec![
            old("a", n(1)),
            old("b", n(2)),
            old("u", with_value(3, "a")),
            old("v", with_value(3, "b")),
        ]),
        &body(
            vec![
                new("a", n(1)),
                new("b", n(2)),
                new("c", n(4)),
                new("u", with_reference(3, "c")),
                new("v", with_reference(3, "b")),
            ],
            &[],
        ),
    );
    assert_moves(&refactor, &[]);
    assert_eq!(
        changes(&refactor),
        [vec!["s/AWS.SQS/Queue/c"], vec!["s/AWS.SQS/Queue/u"], vec![]]
    );
}

#[test]
fn what_is_excluded_stays_and_is_still_referred_to() {
    let olds = vec![
        old("a", n(1)),
        old("b", n(2)),
        old("of-a", with_value(3, "a")),
    ];
    let mut body = body(
        vec![new("b", n(2)), new("user", with_reference(3, "a"))],
        &[],
    );
    body.exclude = vec!["s/AWS.SQS/Queue/a".to_owned()];
    let refactor = judged(&state(olds.clone()), &body);
    assert_moves(
        &refactor,
        &["s/AWS.SQS/Queue/of-a → s/AWS.SQS/Queue/user: Digest"],
    );
    assert_eq!(changes(&refactor), [vec![], vec![], vec![] as Vec<String>]);

    // By its type; what is excluded may be declared too, and even differ.
    body.resources.push(Declared {
        place: "/groups/0/resources/2".to_owned(),
        ..declared("s/AWS.SNS/Topic/t", n(7))
    });
    body.resources.push(Declared {
        place: "/groups/0/resources/3".to_owned(),
        ..declared("s/AWS.SNS/Topic/t2", n(8))
    });
    body.exclude.push("AWS.SNS/Topic".to_owned());
    let mut olds = olds;
    olds.push(deployed("s/AWS.SNS/Topic/t", "id-t", n(8), json!({})));
    let refactor = judged(&state(olds), &body);
    assert_moves(
        &refactor,
        &["s/AWS.SQS/Queue/of-a → s/AWS.SQS/Queue/user: Digest"],
    );
    assert_eq!(changes(&refactor), [vec![], vec![], vec![] as Vec<String>]);
}

/// Whatever tells that it is what is declared elsewhere.
#[test]
fn what_is_to_be_deleted_never_moves() {
    let mut declared = new("b", n(1));
    declared.identifier = Some(ucp_model::Identifier::new("id-a"));
    let mut body = body(vec![declared], &[]);
    body.deleted = vec![ucp_refactor::Deleted {
        place: "/groups/0/resources/1".to_owned(),
        address: address("s/AWS.SQS/Queue/a"),
        symbolic_name: None,
    }];
    let deployed = state(vec![old("a", n(1))]);
    let refactor = judged(&deployed, &body);
    assert_moves(&refactor, &[]);
    let at = |alias: &str| vec![format!("s/AWS.SQS/Queue/{alias}")];
    assert_eq!(changes(&refactor), [at("b"), vec![], at("a")]);
    let told = ["s/AWS.SQS/Queue/a | s/AWS.SQS/Queue/b: SourceMissing"];
    let mapping = [("s/AWS.SQS/Queue/a", "s/AWS.SQS/Queue/b")];
    body.moves = mappings(&mapping);
    assert_eq!(refused(&judged(&deployed, &body)), told);
    body.moves.clear();
    body.history = Some(vec![event("e", &mapping)]);
    assert_eq!(refused(&judged(&deployed, &body)), told);
    // What is not there need not be deleted.
    body.history = None;
    body.deleted[0].address = address("s/AWS.SQS/Queue/c");
    assert_moves(
        &judged(&deployed, &body),
        &["s/AWS.SQS/Queue/a → s/AWS.SQS/Queue/b: Identity"],
    );
}

#[test]
fn an_old_or_a_new_address_excludes_a_move() {
    for excluded in ["s/AWS.SQS/Queue/a", "s/AWS.SQS/Queue/b"] {
        let mut declared = new("b", n(1));
        declared.identifier = Some(ucp_model::Identifier::new("id-a"));
        let mut body = body(vec![declared], &[]);
        body.exclude = vec![excluded.to_owned()];
        let refactor = judged(&state(vec![old("a", n(1))]), &body);
        assert_moves(&refactor, &[]);
        assert_eq!(
            changes(&refactor),
            [vec![], vec![], vec![] as Vec<String>],
            "{excluded}"
        );
        body.moves = mappings(&[("s/AWS.SQS/Queue/a", "s/AWS.SQS/Queue/b")]);
        assert_moves(&judged(&state(vec![old("a", n(1))]), &body), &[]);
    }
}

/// Queues, each named after the ARN that AWS has given the one before it. Those of `changed` numbers keep their alias, and have
/// another delay; all others are renamed.
fn named_after_each_other(count: usize, is_changed: fn(usize) -> bool) -> Refactor {
    let arn = |index: usize| format!("arn:{index}");
    let deployed_at = |index: usize| {
        let declared = match index.checked_sub(1) {
            Some(before) => json!({"Name": format!("after {}", arn(before)), "Delay": 1}),
            None => json!({"Name": "first", "Delay": 1}),
        };
        let attributes = json!({"/Arn": arn(index)});
        let identifier = format!("id-{index}");
        deployed(
            &format!("s/{QUEUE}/old{index}"),
            &identifier,
            declared,
            attributes,
        )
    };
    let alias = |index: usize| {
        if is_changed(index) {
            format!("old{index}")
        } else {
            format!("new{index}")
        }
    };
    let declared_at = |index: usize| {
        let delay = if is_changed(index) { 2 } else { 1 };
        let name = match index.checked_sub(1) {
            Some(before) => {
                let reference = format!("{QUEUE}/{}#/Arn", alias(before));
                json!({"$concat": ["after ", {"$reference": reference}]})
            }
            None => json!("first"),
        };
        let properties = json!({"Name": name, "Delay": delay});
        declared(&format!("s/{QUEUE}/{}", alias(index)), properties)
    };
    let state = state((0..count).map(deployed_at).collect());
    let body = body((0..count).map(declared_at).collect(), &[]);
    refactor(&state, &body, ucp_refactor::has_same_values).expect("a good body")
}

/// However long the chain is.
#[test]
fn what_is_named_after_what_has_moved_is_found() {
    let refactor = named_after_each_other(100, |_| false);
    assert_eq!(refactor.moves.len(), 100);
    assert_eq!(changes(&refactor), [[""; 0], [""; 0], [""; 0]]);
    // Also where each other one was changed in its place.
    let refactor = named_after_each_other(100, |index| index % 2 == 1);
    assert_eq!(refactor.moves.len(), 50);
    assert_eq!(refactor.changes.update.len(), 50);
    assert_eq!(refactor.changes.create.len(), 0);
}

/// Pairs of queues, each pair named after the ARN that AWS has given to one of the pair before. Only the topics that refer to them
/// tell the two of a pair apart. All are renamed.
fn pairs_named_after_each_other(count: usize) -> Refactor {
    let arn = |index: usize| format!("arn:{index}");
    let (mut olds, mut news) = (Vec::new(), Vec::new());
    for index in 0..count {
        let before = index.checked_sub(1);
        for side in ["x", "y"] {
            let id = format!("id-{side}{index}");
            let name = match before {
                Some(before) => format!("after {}", arn(before)),
                None => "first".to_owned(),
            };
            let attributes = match side {
                "x" => json!({"/Arn": arn(index)}),
                _ => json!({}),
            };
            let old = format!("s/{QUEUE}/old-{side}{index}");
            olds.push(deployed(&old, &id, json!({ "Name": name }), attributes));
            let user = json!({"Of": id, "Side": side});
            let old = format!("s/{TOPIC}/old-{side}{index}");
            olds.push(deployed(&old, &format!("of-{id}"), user, json!({})));
            let name = match before {
                Some(before) => {
                    let reference = json!({"$reference": format!("{QUEUE}/new-x{before}#/Arn")});
                    json!({"$concat": ["after ", reference]})
                }
                None => json!(name),
            };
            let new = format!("{QUEUE}/new-{side}{index}");
            news.push(declared(&format!("s/{new}"), json!({ "Name": name })));
            let user = json!({"Of": {"$reference": new}, "Side": side});
            news.push(declared(&format!("s/{TOPIC}/new-{side}{index}"), user));
        }
    }
    judged(&state(olds), &body(news, &[]))
}

/// What is found by then is true, and the rest is told as ambiguous, with all that refers to it.
#[test]
fn what_takes_too_long_is_not_guessed() {
    let refactor = pairs_named_after_each_other(10);
    assert_eq!(
        (refactor.moves.len(), ambiguities(&refactor).len()),
        (40, 0)
    );

    let refactor = pairs_named_after_each_other(200);
    for found in &refactor.moves {
        assert_eq!(short(&found.to), short(&found.from).replace("old", "new"));
    }
    let rest = 800 - refactor.moves.len();
    assert!(0 < rest && rest < 800, "{rest}");
    let left = refactor.ambiguities.iter();
    let left = left.map(|it| (it.from.len(), it.to.len()));
    let left = left.fold((0, 0), |(from, to), it| (from + it.0, to + it.1));
    assert_eq!(left, (rest, rest));
    assert_eq!(changes(&refactor), [[""; 0], [""; 0], [""; 0]]);
}
