use serde_json::{Value, json};

use std::sync::Arc;

use super::operands::Scalars;
use super::{Alternative, Transform};

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

/// What makes much of little ends with an error, and so gives nothing.
#[test]
fn what_makes_too_much_gives_nothing() {
    let [doubled, joined, nested] = ["$a & $a", "$join([$a, $a])", "[[$a], [$a]]"]
        .map(|next| format!("$a := {next}; ").repeat(40));
    let mapped = "$a := $map([1, 2], function($i) { [$a] }); ".repeat(40);
    let zipped = "$a := $zip([$a], [$a]); ".repeat(40);
    for text in [
        "$pad(Name, 2000000000)",
        "$pad(Name, -2000000000)",
        "$pad(Name, N * N)",
        "Name ~> $pad(2000000000)",
        "$map([1..10000], function($i) { Long & Long })",
        "$reduce([1..60], function($all, $next) { $all & $all }, Name)",
        "$reduce([1..60], function($all, $next) { $join([$all, $all]) }, Name)",
        "$reduce([1..60], function($all, $next) { $replace($all, 'x', 'xx') }, Name)",
        "$reduce([1..60], function($all, $next) { $all ~> $replace('x', 'xx') }, Name)",
        "$join([1..5000], $pad(Name, 100000))",
        "Name.$replace('x', 'xx', $$.N)",
        "[1..10000].$uppercase($$.Long)",
        "[1..10000].($l := $$.Long; $uppercase($l))",
        "[1..5000] ~> $join($pad(Name, 100000))",
        "$replace($pad(Name, 100000, 'x'), 'x', $pad(Name, 100000))",
        &format!("($a := Name; {doubled} $a)"),
        &format!("($a := Name; {joined} $a)"),
        &format!("($a := Name; {nested} $string($a))"),
        &format!("($a := Name; {nested} $a = $a)"),
        &format!("($a := Name; {nested} $distinct([$a, $a]))"),
        &format!("($a := Name; {nested} $boolean($a))"),
        &format!("($a := Name; {nested} $a ? 1 : 2)"),
        &format!("($a := Name; {mapped} $not($a))"),
        &format!("($a := Name; {zipped} $not($a))"),
    ] {
        let model = json!({"Name": "x", "N": 50_000, "Long": "x".repeat(30_000)});
        let alternative = Alternative::parse(text).unwrap();
        let context = alternative
            .operands
            .context([&model, &model], Scalars::AsDeclared);
        let result = alternative.evaluate(&Arc::default(), &context.unwrap());
        let error = result.map(|_| ()).expect_err(text).to_string();
        assert!(error.contains("makes too much text"), "{text}: {error}");
    }
}

#[test]
fn what_has_no_bound_is_no_transform() {
    for text in [
        "$eval(Name)",
        "$map(Names, $string)",
        "Name ~> $uppercase ~> $string",
        "($p := $pad; $p(Name, 9))",
        "$pad(?, 2000000000)",
        "$replace(Name, 'x', function($found) { Name })",
        "Name.$replace('x', 'xx')",
        "Name.$replace('x', 'xx', 2)",
        "Name ~> $replace('x')",
        "$encodeUrl(Name)",
        "$formatInteger(9000000000000000000, 'I')",
        "Name.**",
        "$string(Name, true)",
        "Name ~> $string(true)",
        "($ucp_spend := function($value, $factor) { $value }; Name & Name)",
        "$map(Names, function($ucp_insert) { Name })",
    ] {
        let (_, problems) = Transform::parse(text);
        assert_eq!(problems.len(), 1, "{text}");
    }
}

#[test]
fn what_is_usual_is_within_the_budget() {
    let model = json!({"Name": "web", "Names": ["a", "b"]});
    for (text, live) in [
        ("$pad(Name, 5, '-')", "web--"),
        ("Name ~> $pad(-5, '-')", "--web"),
        ("$join(Names, '/')", "a/b"),
        ("Names ~> $join('/')", "a/b"),
        ("$replace(Name, 'w', Name)", "webeb"),
        ("Name ~> $replace('w', Name)", "webeb"),
        ("Name ~> $replace('w', Name, 1)", "webeb"),
        ("$replace(Name, /w/, Name, 1)", "webeb"),
        ("$string(Names)", "[\"a\",\"b\"]"),
        ("$join(Names.$uppercase($))", "AB"),
        ("$join(Names.($ & '-'))", "a-b-"),
        ("Name & '-' & Name", "web-web"),
        ("Missing & Name", "web"),
    ] {
        assert!(gives(text, model.clone(), json!(live)), "{text}");
    }
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
