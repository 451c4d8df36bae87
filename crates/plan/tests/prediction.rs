//! How good a plan was: what a put was to make of a resource, compared with what AWS shows after it.

#![expect(clippy::unwrap_used, reason = "a test may panic")]

use serde_json::{Value, json};
use ucp_model::operation::{DifferenceKind, Prediction};
use ucp_model::{Baseline, Digest, TypeName};
use ucp_plan::{Action, Desired, Mode, plan, prove, sent, settled};
use ucp_schema::{Catalogue, Declaration};

const GROUP: &str = "AWS::Logs::LogGroup";

/// The prediction of a put of `declared` after one of `last`, on a resource that was `before` and is `after`.
fn prediction(
    name: &str,
    last: Option<&Value>,
    before: Option<&Value>,
    declared: &Value,
    after: &Value,
) -> Prediction {
    let name = TypeName::from_cloudformation(name).unwrap();
    let schema = Catalogue::embedded().get(&name).unwrap();
    let desired = |declared: &Value| {
        let declared = Declaration::stored(declared.clone());
        Desired::new(declared, &schema, |_, _| Digest::default())
    };
    let last: Option<Baseline> = last.map(|last| desired(last).baseline);
    let desired = desired(declared);
    let planned = plan(&desired, last.as_ref(), before, &schema, Mode::Merge);
    let sent = sent(&planned, before, &schema);
    let model = (planned.action == Action::Update).then(|| settled(&planned.planned, &schema));
    let proven = prove(
        &sent,
        model.as_ref(),
        &desired,
        last.as_ref(),
        Some(after),
        &schema,
        Mode::Merge,
    );
    proven.prediction.unwrap()
}

fn told(prediction: &Prediction) -> Vec<(&str, DifferenceKind, Option<&Value>, Option<&Value>)> {
    let differences = prediction.differences.iter();
    let told = differences.map(|difference| {
        let (planned, live) = (difference.planned.as_ref(), difference.live.as_ref());
        (difference.path.as_str(), difference.kind, planned, live)
    });
    told.collect()
}

#[test]
fn a_plan_is_exact_if_aws_shows_what_was_declared() {
    let declared = json!({"LogGroupName": "g", "RetentionInDays": "7"});
    let after = json!({"LogGroupName": "g", "RetentionInDays": 7, "Arn": "arn",
        "DeletionProtectionEnabled": false});
    let exact = prediction(GROUP, None, None, &declared, &after);
    assert!(exact.exact, "{exact:?}");
    assert_eq!((exact.confirmed, exact.differences.len()), (2, 0));
}

#[test]
fn differences_have_the_planned_value_and_the_live_one() {
    let before = json!({"LogGroupName": "g", "RetentionInDays": 7});
    let declared = json!({"LogGroupName": "g", "RetentionInDays": 14, "KmsKeyId": "key"});
    let after = json!({"LogGroupName": "g", "RetentionInDays": 30});
    let wrong = prediction(GROUP, None, Some(&before), &declared, &after);
    let (planned, live, key) = (json!(14), json!(30), json!("key"));
    let expected = [
        (
            "/RetentionInDays",
            DifferenceKind::Different,
            Some(&planned),
            Some(&live),
        ),
        ("/KmsKeyId", DifferenceKind::Missing, Some(&key), None),
    ];
    let mut found = told(&wrong);
    found.sort_by_key(|(path, ..)| std::cmp::Reverse(*path));
    assert_eq!(found, expected);
    assert!(!wrong.exact);
    assert_eq!(wrong.confirmed, 1);
}

/// What the last put declared and this one does not was to be removed.
#[test]
fn what_was_to_be_removed_and_is_there_is_a_difference() {
    let before = json!({"LogGroupName": "g", "RetentionInDays": 7});
    let declared = json!({"LogGroupName": "g"});
    let wrong = prediction(GROUP, Some(&before), Some(&before), &declared, &before);
    let live = json!(7);
    let expected = [(
        "/RetentionInDays",
        DifferenceKind::Different,
        None,
        Some(&live),
    )];
    assert_eq!(told(&wrong), expected);
    let exact = prediction(GROUP, Some(&before), Some(&before), &declared, &declared);
    assert!(exact.exact, "{exact:?}");
}

/// The plan showed that it stays.
#[test]
fn what_nobody_declares_and_the_update_resets_is_a_difference() {
    let before = json!({"LogGroupName": "g", "RetentionInDays": 7, "LogGroupClass": "STANDARD",
        "Tags": [{"Key": "a", "Value": "1"}, {"Key": "b", "Value": "2"}]});
    let declared = json!({"LogGroupName": "g", "KmsKeyId": "key"});
    // What AWS adds was not planned otherwise, and lists are compared as sets.
    let mut after = json!({"LogGroupName": "g", "RetentionInDays": 7, "LogGroupClass": "STANDARD",
        "Tags": [{"Key": "b", "Value": "2"}, {"Key": "a", "Value": "1"}],
        "KmsKeyId": "key", "DeletionProtectionEnabled": false, "Arn": "arn"});
    let exact = prediction(GROUP, None, Some(&before), &declared, &after);
    assert!(exact.exact, "{exact:?}");

    after["LogGroupClass"] = json!("DELIVERY");
    after
        .as_object_mut()
        .unwrap()
        .shift_remove("RetentionInDays");
    let wrong = prediction(GROUP, None, Some(&before), &declared, &after);
    let (standard, delivery, seven) = (json!("STANDARD"), json!("DELIVERY"), json!(7));
    let mut found = told(&wrong);
    found.sort_by_key(|(path, ..)| *path);
    let expected = [
        (
            "/LogGroupClass",
            DifferenceKind::Different,
            Some(&standard),
            Some(&delivery),
        ),
        (
            "/RetentionInDays",
            DifferenceKind::Missing,
            Some(&seven),
            None,
        ),
    ];
    assert_eq!(found, expected);
    assert!(!wrong.exact);
    assert_eq!(wrong.confirmed, 2);
}

#[test]
fn what_no_read_shows_cannot_be_wrong() {
    let declared = json!({"Name": "s", "SecretString": "canary"});
    let after = json!({"Name": "s", "Id": "arn"});
    let exact = prediction("AWS::SecretsManager::Secret", None, None, &declared, &after);
    assert!(exact.exact, "{exact:?}");
    assert_eq!(exact.unreadable, ["/SecretString"]);
    assert!(!serde_json::to_string(&exact).unwrap().contains("canary"));
}

/// A long value is left out: a difference is for people to look at.
#[test]
fn a_long_value_is_left_out() {
    let declared = json!({"LogGroupName": "g", "KmsKeyId": "k".repeat(2_000)});
    let after = json!({"LogGroupName": "g"});
    let wrong = prediction(GROUP, None, None, &declared, &after);
    assert_eq!(
        told(&wrong),
        [("/KmsKeyId", DifferenceKind::Missing, None, None)]
    );
}
