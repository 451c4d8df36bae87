//! Whose changes a plan undoes or makes.

use std::collections::BTreeMap;

use serde_json::{Value, json};
use ucp_model::{Digest, TypeName};
use ucp_plan::{Cause, Delta, Desired, Effect, Known, Mode, deltas, plan};
use ucp_schema::{Catalogue, Declaration, ResourceSchema, Unknown};

fn desired(declared: &Value, schema: &ResourceSchema) -> Desired {
    let declared = declared.as_object().cloned().expect("an object");
    let (declaration, violations) = Declaration::draft(declared, schema, &BTreeMap::new(), None);
    let declaration = declaration.judged(violations, Unknown::Allowed);
    let declaration = declaration.unwrap_or_else(|wrong| panic!("{wrong:?}"));
    Desired::new(declaration, schema, |_, value| Digest {
        key_id: "key".to_owned(),
        hmac: value.to_string(),
    })
}

/// What a put of `declared` changes after one of `last`, which AWS showed as `observed` then and shows as `live` now.
fn told(
    type_name: &str,
    last: Option<&Value>,
    observed: &Value,
    live: &Value,
    declared: &Value,
) -> Vec<Delta> {
    let name = TypeName::from_cloudformation(type_name).expect("a name");
    let schema = Catalogue::embedded().get(&name).expect("a type");
    let last = last.map(|last| desired(last, &schema).baseline);
    let desired = desired(declared, &schema);
    let plan = plan(&desired, last.as_ref(), Some(live), &schema, Mode::Merge);
    let known = Known {
        live,
        declared: &desired.baseline,
        last_applied: last.as_ref(),
        observed: Some(observed),
    };
    deltas(&plan, &known, &schema)
}

const LOGS: &str = "AWS::Logs::LogGroup";

fn tags(tags: &[(&str, &str)]) -> Value {
    tags.iter()
        .map(|(key, value)| json!({"Key": key, "Value": value}))
        .collect()
}

fn logs(days: u32, tagged: &[(&str, &str)]) -> Value {
    json!({"LogGroupName": "logs", "RetentionInDays": days, "Tags": tags(tagged)})
}

/// The places of differences, with their causes.
fn causes(deltas: &[Delta]) -> Vec<(&str, Effect, Cause)> {
    let deltas = deltas.iter();
    deltas
        .map(|delta| (delta.pointer.as_str(), delta.effect, delta.cause))
        .collect()
}

#[test]
fn each_tag_has_a_cause_of_its_own() {
    let three = [("a", "1"), ("b", "1"), ("c", "1"), ("d", "1")];
    let before = logs(7, &three);
    // Somebody has changed `b`, removed `c` and added `x`, and the caller changes `a` and removes `d`.
    let live = logs(7, &[("a", "1"), ("b", "2"), ("x", "1"), ("d", "1")]);
    let declared = logs(7, &[("a", "2"), ("b", "1"), ("c", "1")]);
    let deltas = told(LOGS, Some(&before), &before, &live, &declared);
    assert_eq!(
        causes(&deltas),
        [
            ("/Tags/0", Effect::Modify, Cause::Declaration),
            ("/Tags/1", Effect::Modify, Cause::Drift),
            ("/Tags/3", Effect::Create, Cause::Drift),
            ("/Tags/3", Effect::Delete, Cause::Declaration),
        ]
    );
    assert_eq!(deltas[1].before, Some(json!({"Key": "b", "Value": "2"})));
}

/// The mark is shown to nobody, and takes no place.
#[test]
fn the_mark_of_a_reference_takes_no_place() {
    let declared = logs(7, &[("a", "2")]);
    let live = logs(7, &[("ucp:reference", "x"), ("a", "1")]);
    let deltas = told(LOGS, None, &live, &live, &declared);
    assert_eq!(
        causes(&deltas),
        [("/Tags/0", Effect::Modify, Cause::Declaration)]
    );
    assert!(!format!("{:?}", deltas[0].before).contains("ucp:reference"));
}

#[test]
fn what_was_declared_before_is_drift_or_was_never_applied() {
    let before = logs(7, &[]);
    for (observed, live, cause) in [
        (7, 30, Cause::Drift),
        // AWS has shown it so ever since the last put.
        (30, 30, Cause::NotApplied),
    ] {
        let (observed, live) = (logs(observed, &[]), logs(live, &[]));
        let deltas = told(LOGS, Some(&before), &observed, &live, &before);
        assert_eq!(
            causes(&deltas),
            [("/RetentionInDays", Effect::Modify, cause)]
        );
        assert_eq!(deltas[0].last_applied, Some(json!(7)));
    }
    // Without a put before, every difference is the caller's.
    let live = logs(30, &[]);
    let deltas = told(LOGS, None, &live, &live, &before);
    let expected = [("/RetentionInDays", Effect::Modify, Cause::Declaration)];
    assert_eq!(causes(&deltas), expected);
}

#[test]
fn what_is_no_longer_declared_is_the_callers_change() {
    let (before, declared) = (logs(7, &[]), json!({"LogGroupName": "logs"}));
    let deltas = told(LOGS, Some(&before), &before, &before, &declared);
    assert!(
        causes(&deltas).contains(&("/RetentionInDays", Effect::Delete, Cause::Declaration)),
        "{deltas:?}"
    );
}

#[test]
fn no_value_of_a_secret_is_told() {
    const SECRET: &str = "AWS::SecretsManager::Secret";
    let declared = |secret: &str| json!({"Name": "s", "Description": "d", "SecretString": secret});
    let live = json!({"Name": "s", "Description": "d", "Id": "arn"});
    let deltas = told(
        SECRET,
        Some(&declared("one")),
        &live,
        &live,
        &declared("two"),
    );
    let expected = [("/SecretString", Effect::Modify, Cause::Declaration)];
    assert_eq!(causes(&deltas), expected);
    assert!(deltas[0].is_sensitive);
    assert_eq!((&deltas[0].before, &deltas[0].after), (&None, &None));
}

/// A long list is one difference, so that telling it costs no more than it is long.
#[test]
fn a_long_list_is_told_as_one() {
    let set = |seed: u32| {
        let addresses =
            (0..10_000u32).map(|index| format!("{seed}.{}.{}.0/32", index / 256, index % 256));
        let addresses: Vec<String> = addresses.collect();
        json!({"Name": "s", "IPAddressVersion": "IPV4", "Scope": "REGIONAL", "Addresses": addresses})
    };
    let deltas = told(
        "AWS::WAFv2::IPSet",
        Some(&set(1)),
        &set(1),
        &set(2),
        &set(3),
    );
    let expected = [("/Addresses", Effect::Modify, Cause::Declaration)];
    assert_eq!(causes(&deltas), expected);
}
