//! Verdicts on types without a read handler: what was last applied stands in for the live model.

#![expect(clippy::unwrap_used, reason = "a test may panic")]

mod judge;

use std::collections::BTreeSet;

use serde_json::{Value, json};
use std::sync::Arc;
use ucp_model::operation::{Options, ReplacementPolicy};
use ucp_model::{Baseline, Failure, Identifier, Scope, TypeName};
use ucp_plan::{Judgement, Live, Question, Subject, Verdict};
use ucp_schema::{Catalogue, ResourceSchema};

const ENTRY: &str = "AWS::EC2::NetworkAclEntry";
const POLICY: &str = "AWS::IAM::Policy";

fn schema(name: &str) -> Arc<ResourceSchema> {
    let name = TypeName::from_cloudformation(name).unwrap();
    Catalogue::embedded().get(&name).unwrap()
}

fn policy(roles: &[&str]) -> Value {
    json!({"PolicyName": "p", "PolicyDocument": {"Version": "2012-10-17"}, "Roles": roles})
}

/// Judges a declaration of a resource that `last` was applied to.
fn judged(name: &str, last: Option<&Baseline>, declared: &Value) -> Judgement {
    judged_with(name, last, declared, ReplacementPolicy::Refuse)
}

fn judged_with(
    name: &str,
    last: Option<&Baseline>,
    declared: &Value,
    replacement_policy: ReplacementPolicy,
) -> Judgement {
    let schema = schema(name);
    let scope = Scope::new("aws", "123456789012", "us-east-1").unwrap();
    let identifier = Identifier::new("id-1");
    ucp_plan::judge(&Question {
        desired: &judge::desired(declared, &schema),
        last_applied: last,
        live: Live::Unread(&identifier),
        subject: Subject {
            identifier: Some(&identifier),
            was_ours: true,
            has_reference: true,
            ..Subject::new(&scope, schema.type_name())
        },
        schema: &schema,
        options: Options {
            replacement_policy,
            ..Options::default()
        },
    })
}

fn applied(name: &str, declared: &Value) -> Baseline {
    judge::baseline(declared, &schema(name))
}

fn sent(judgement: Judgement) -> Value {
    match judgement
        .verdict
        .map_err(|failure| failure.message)
        .unwrap()
    {
        Verdict::Update { document, .. } => serde_json::from_str(&document).unwrap(),
        Verdict::Nothing | Verdict::Create { .. } | Verdict::Replace { .. } => {
            panic!("not an update")
        }
    }
}

fn refused(judgement: Judgement) -> Failure {
    judgement.verdict.err().unwrap()
}

/// All the public types that can be created and updated but not read.
#[test]
fn the_same_declaration_again_is_nothing_to_do() {
    let catalogue = Catalogue::embedded();
    let mut unreadable = 0;
    for name in catalogue.type_names() {
        let schema = catalogue.get(name).unwrap();
        if !schema.is_provisionable() || schema.handlers().read {
            continue;
        }
        unreadable += 1;
        let name = name.as_str();
        let declared = ucp_sample::declaration(&schema, 1);
        let again = judged(name, Some(&applied(name, &declared)), &declared);
        assert!(matches!(again.verdict, Ok(Verdict::Nothing)), "{name}");
    }
    assert_eq!(unreadable, 5);
}

#[test]
fn a_change_is_a_patch_of_what_was_last_applied() {
    let mut declared = policy(&["one"]);
    declared["Users"] = json!(["eve"]);
    let last = applied(POLICY, &declared);
    assert_eq!(
        sent(judged(POLICY, Some(&last), &policy(&["one", "two"]))),
        json!([
            {"op": "replace", "path": "/Roles", "value": ["one", "two"]},
            {"op": "remove", "path": "/Users"},
        ]),
        "what was declared once and no longer is goes"
    );
}

#[test]
fn a_create_only_change_follows_the_replacement_rules() {
    let entry = |number: u32| {
        json!({"NetworkAclId": "acl-1", "RuleNumber": number, "Protocol": 6,
            "RuleAction": "allow"})
    };
    let last = applied(ENTRY, &entry(100));
    let refusal = refused(judged(ENTRY, Some(&last), &entry(200)));
    assert_eq!(refusal.code, "RequiresReplacement");
    let policy = ReplacementPolicy::CreateBeforeDelete;
    let replaced = judged_with(ENTRY, Some(&last), &entry(200), policy).verdict;
    assert!(matches!(replaced, Ok(Verdict::Replace { .. })));
}

/// AWS may have the old value of what was sent without success, the new one or none.
#[test]
fn what_may_have_been_sent_is_sent_again_whatever_aws_has() {
    let declared = policy(&["one"]);
    let last = Baseline {
        unconfirmed: BTreeSet::from(["/Roles".to_owned(), "/Users".to_owned()]),
        ..applied(POLICY, &declared)
    };
    for (declared, expected) in [
        (policy(&["one"]), Some(json!(["one"]))),
        (policy(&["two"]), Some(json!(["two"]))),
        (policy(&[]), Some(json!([]))),
    ] {
        let patch = sent(judged(POLICY, Some(&last), &declared));
        let patch: json_patch::Patch = serde_json::from_value(patch).unwrap();
        for live in [
            json!({"Roles": ["one"]}),
            json!({"Roles": ["two"], "Users": ["eve"]}),
            json!({"Users": ["eve"]}),
            json!({}),
        ] {
            let mut result = live.clone();
            json_patch::patch(&mut result, &patch).unwrap();
            assert_eq!(result.get("Roles").cloned(), expected, "{live}");
            assert_eq!(result.get("Users"), None, "{live}");
        }
    }
    let judgement = judged(POLICY, Some(&last), &declared);
    let history: Vec<String> = judgement
        .plan
        .history(&schema(POLICY))
        .into_iter()
        .map(|line| line.path)
        .collect();
    assert_eq!(history, ["/Roles", "/Users"]);
}

#[test]
fn without_a_put_that_succeeded_there_is_nothing_to_compare() {
    let refusal = refused(judged(POLICY, None, &policy(&["one"])));
    assert_eq!(refusal.code, "UnsupportedActionException");
    assert!(refusal.message.contains("Delete the resource"));
}
