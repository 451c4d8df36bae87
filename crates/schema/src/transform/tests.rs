use serde_json::{Value, json};

use super::Transform;

/// Returns whether an expression over a model without nesting gives a live value.
fn gives(text: &str, model: Value, live: Value) -> bool {
    let (transform, problems) = Transform::parse(text);
    assert_eq!(problems, [""; 0], "{text}");
    transform.gives(&model, &model, &live)
}

#[test]
fn what_is_wrong_is_reported_and_the_rest_is_kept() {
    let (transform, problems) = Transform::parse("$lowercase(Name $OR $uppercase(Name) $OR");
    assert_eq!(problems.len(), 2, "{problems:?}");
    assert!(
        problems[0].starts_with("`$lowercase(Name`: "),
        "{problems:?}"
    );
    let model = json!({"Name": "a"});
    assert!(transform.gives(&model, &model, &json!("A")));
    assert!(gives("($ORDER := Name; $ORDER)", model, json!("a")));
}

/// An expression may make much of what it reads. What reads too much is not evaluated, and so is no transform.
#[test]
fn what_reads_too_much_is_not_evaluated() {
    let doubled = |length: usize| {
        let name = "a".repeat(length);
        let live = json!(name.repeat(2));
        gives("Name & Name", json!({"Name": name}), live)
    };
    assert!(doubled(65_000));
    assert!(!doubled(66_000));
}

#[test]
fn a_result_is_compared_by_value() {
    let model =
        json!({"A": "x", "B": ["x"], "N": 2, "F": 1.1, "T": "7", "O": {"k": [1, {"l": true}]}});
    for (text, live) in [
        ("N * 2", json!(4.0)),
        ("N * 2", json!("4")),
        ("F * 1000", json!(1100)),
        ("T", json!(7)),
        ("A", json!(["x"])),
        ("B.$uppercase($)", json!(["X"])),
        ("$map(B, function($b) { $b & '!' })", json!(["x!"])),
        ("O", json!({"k": [1.0, {"l": true}]})),
        ("'\"^x+$\"'", json!("xx")),
        ("$replace(A, 'x', '[a-c]+')", json!("abc")),
        (
            "$merge([{'m': A}, O])",
            json!({"k": [1, {"l": true}], "m": "x"}),
        ),
        ("($exists(O.m) ? O.m : 0) + N", json!(2)),
        ("$$.O.k[0]", json!(1)),
        ("$keys($)[1]", json!("B")),
        ("$lookup({'2': 'two'}, N)", json!("two")),
    ] {
        assert!(gives(text, model.clone(), live.clone()), "{text} {live}");
    }
    for (text, live) in [
        ("N * 2", json!(5)),
        ("N * 2", json!("4.0")),
        ("A", json!(["x", "x"])),
        ("B", json!([])),
        ("O", json!({"k": [1, {"l": true}], "m": 1})),
        ("O", json!({"k": [1, {"l": false}]})),
        ("O.none", json!(null)),
        ("null", json!(null)),
        ("A and A", json!("true")),
    ] {
        assert!(!gives(text, model.clone(), live.clone()), "{text} {live}");
    }
}

#[test]
fn only_what_the_schema_writes_is_a_pattern() {
    for (text, declared, live) in [
        ("A", ".*", "anything"),
        ("A", "a.c", "abc"),
        ("$join([A, '.'])", "a", "ab"),
        ("$join(['[0-9]+', A])", "|x", "12"),
        ("$join(['[0-9]+', A])", "(", "12"),
        ("$join(['(', A])", "x", "x"),
    ] {
        let model = json!({"A": declared});
        assert!(!gives(text, model, json!(live)), "{text} {declared} {live}");
    }
    for (text, declared, live) in [
        ("$join(['[0-9]+', A])", "|(x)", "12|(x)"),
        ("$join(['(', A])", "x", "(x"),
        ("$split(A, '*')[0]", "a*b", "a"),
    ] {
        let model = json!({"A": declared});
        assert!(gives(text, model, json!(live)), "{text} {declared} {live}");
    }
}

#[test]
fn the_parent_comes_before_the_root() {
    let (lower, _) = Transform::parse("$lowercase(Name)");
    let (nested, _) = Transform::parse("$lowercase(Outer.Name)");
    let root = json!({"Name": "ROOT", "Outer": {"Name": "PARENT"}, "Empty": {}});
    let gives = |transform: &Transform, parent: &str, live: &str| {
        transform.gives(&root, &root[parent], &json!(live))
    };
    assert!(gives(&lower, "Outer", "parent"));
    assert!(!gives(&lower, "Outer", "root"));
    assert!(gives(&lower, "Empty", "root"));
    assert!(gives(&nested, "Outer", "parent"));
    assert!(gives(&nested, "Absent", "parent"));
}

#[test]
fn what_would_not_end_ends() {
    let model = json!({"A": "a".repeat(40)});
    let live = json!("a".repeat(40));
    assert!(!gives(
        "$join(['(a+)+(?!b)c', $substring(A, 40)])",
        model.clone(),
        live.clone()
    ));
    assert!(!gives(
        "($f := function($x) { 1 + $f($x) }; $f(A))",
        model.clone(),
        live.clone()
    ));
    assert!(!gives(
        "($f := function($x) { $f($x) }; $f(A))",
        model,
        live
    ));
}

#[test]
fn a_number_that_no_float_holds_says_nothing() {
    let model: Value = serde_json::from_str(r#"{"N": 9007199254740993}"#).unwrap();
    assert!(!gives("N", model, json!(9_007_199_254_740_992_u64)));
    assert!(gives("N", json!({"N": 0.1}), json!(0.1)));
}

#[test]
fn transforms_are_shared_between_threads() {
    fn is_shared<T: Send + Sync>() {}
    is_shared::<Transform>();
}
