//! Rules that no vector covers, each on a type where it matters.

#![expect(clippy::unwrap_used, reason = "a test may panic")]

mod documents;
mod judge;

use std::collections::BTreeSet;
use std::sync::Arc;

use proptest::prelude::*;
use serde_json::{Map, Value, json};
use ucp_model::{Baseline, TypeName};
use ucp_plan::{
    Action, ChangeKind, Mode, Plan, Reason, SENSITIVE, WarningCode, flatten, is_as_planned, plan,
    settled, unflatten,
};
use ucp_schema::{Catalogue, ResourceSchema, is_unknown};

use documents::{open_places, policy};
use judge::{baseline, desired};

const BUCKET: &str = "AWS::S3::Bucket";
const DATABASE: &str = "AWS::RDS::DBInstance";
const QUEUE: &str = "AWS::SQS::Queue";
const SECRET: &str = "AWS::SecretsManager::Secret";
const VPC: &str = "AWS::EC2::VPC";

fn schema(name: &str) -> Arc<ResourceSchema> {
    let name = TypeName::from_cloudformation(name).unwrap();
    Catalogue::embedded().get(&name).unwrap()
}

fn created(name: &str, declared: Value) -> Plan {
    let schema = schema(name);
    plan(
        &desired(&declared, &schema),
        None,
        None,
        &schema,
        Mode::Merge,
    )
}

fn changed(name: &str, last: Option<Value>, live: Value, declared: Value) -> Plan {
    let schema = schema(name);
    let last = last.map(|last| baseline(&last, &schema));
    plan(
        &desired(&declared, &schema),
        last.as_ref(),
        Some(&live),
        &schema,
        Mode::Merge,
    )
}

fn patch(plan: &Plan) -> Value {
    serde_json::to_value(&plan.patch).unwrap()
}

#[test]
fn a_create_knows_what_only_aws_will_know() {
    let plan = created(VPC, json!({"CidrBlock": "10.0.0.0/16"}));
    assert_eq!(plan.action, Action::Create);
    assert_eq!(plan.planned["CidrBlock"], "10.0.0.0/16");
    assert!(is_unknown(&plan.planned["VpcId"]));
    assert!(plan.unknown.contains(&"/VpcId".to_owned()));
    assert_eq!(plan.changes.len(), 1);
    assert_eq!(plan.history(&schema(VPC))[0].path, "/CidrBlock");
}

#[test]
fn what_aws_assigns_cannot_be_declared_for_a_create() {
    let plan = created(VPC, json!({"CidrBlock": "10.0.0.0/16", "VpcId": "vpc-1"}));
    assert_eq!(plan.action, Action::Error);
    assert_eq!(plan.errors[0].pointer, "/VpcId");
}

#[test]
fn an_unknown_property_is_an_error_that_names_the_right_one() {
    let live = json!({"VpcId": "vpc-1", "CidrBlock": "10.0.0.0/16"});
    let plan = changed(VPC, None, live, json!({"Cidrblock": "10.0.0.0/16"}));
    assert_eq!(plan.action, Action::Error);
    assert_eq!(
        plan.errors[0].message,
        "`/Cidrblock` is not a property of AWS::EC2::VPC; did you mean `CidrBlock`?"
    );
}

#[test]
fn a_value_that_is_not_known_yet_is_carried_on() {
    let declared = json!({"CidrBlock": "10.0.0.0/16", "EnableDnsSupport": {"$unknown": true}});
    let live = json!({"VpcId": "vpc-1", "CidrBlock": "10.0.0.0/16", "EnableDnsSupport": true});
    let plan = changed(VPC, None, live, declared);
    assert_eq!(plan.action, Action::Update);
    assert_eq!(plan.unknown, ["/EnableDnsSupport"]);
    assert!(is_unknown(&plan.planned["EnableDnsSupport"]));
    assert!(schema(VPC).validate_model(&plan.planned).is_empty());
}

#[test]
fn a_create_only_value_that_is_not_known_yet_may_force_a_replacement() {
    const SUBNET: &str = "AWS::EC2::Subnet";
    let declared = json!({"VpcId": {"$unknown": true}, "CidrBlock": "10.0.0.0/24"});
    let live = json!({"SubnetId": "subnet-1", "VpcId": "vpc-1", "CidrBlock": "10.0.0.0/24"});
    let plan = changed(SUBNET, None, live, declared);
    assert_eq!(plan.unknown, ["/VpcId"]);
    assert!(plan.replace_paths.is_empty());
    let warning = &plan.warnings[0];
    assert_eq!(
        (warning.code, warning.path.as_str()),
        (WarningCode::MayForceReplacement, "/VpcId")
    );
}

#[test]
fn secrets_are_in_no_change_and_in_no_debug_output() {
    const CANARY: &str = "hunter2-canary";
    let declared = json!({"DBInstanceIdentifier": "db", "MasterUserPassword": CANARY, "AllocatedStorage": "30"});
    let live = json!({"DBInstanceIdentifier": "db", "AllocatedStorage": "20"});
    let update = changed(DATABASE, None, live, declared.clone());
    let create = created(DATABASE, declared.clone());
    for plan in [&update, &create] {
        let told = format!("{plan:?} {:?} {:?}", plan.changes, plan.warnings);
        assert!(!told.contains(CANARY), "{told}");
        let secret = plan
            .changes
            .iter()
            .find(|change| change.path == "/MasterUserPassword");
        let secret = secret.unwrap();
        assert_eq!(secret.after, Some(json!(SENSITIVE)));
        assert!(secret.is_sensitive && secret.is_write_only);
    }
    assert!(
        patch(&update).to_string().contains(CANARY),
        "but AWS gets it"
    );
    let kept = desired(&declared, &schema(DATABASE));
    assert!(!kept.baseline.declared.to_string().contains(CANARY));
}

#[test]
fn a_secret_without_history_counts_as_changed_and_a_fixed_one_does_not() {
    let live = json!({"Id": "arn", "Name": "app"});
    let plan = changed(
        SECRET,
        None,
        live,
        json!({"Name": "app", "SecretString": "v1"}),
    );
    assert_eq!(
        patch(&plan),
        json!([{"op": "add", "path": "/SecretString", "value": "v1"}])
    );
    let live = json!({"DBInstanceIdentifier": "db"});
    let declared = json!({"DBInstanceIdentifier": "db", "DBSnapshotIdentifier": "snap"});
    let plan = changed(DATABASE, None, live, declared);
    assert_eq!(plan.action, Action::Noop);
    assert_eq!(plan.warnings[0].code, WarningCode::NotComparable);
}

/// Never as equal, even if the HMACs are, and never as changed if a change would be refused.
#[test]
fn a_digest_under_a_key_that_is_gone_counts_as_unknown() {
    let replan = |name: &str, live: Value, declared: &Value, key: Option<&str>| {
        let schema = schema(name);
        let mut last = baseline(declared, &schema);
        assert!(!last.digests.is_empty());
        for digest in last.digests.values_mut() {
            digest.key_id = key.unwrap_or(&digest.key_id).to_owned();
        }
        let desired = desired(declared, &schema);
        plan(&desired, Some(&last), Some(&live), &schema, Mode::Merge)
    };
    let live = json!({"Id": "arn", "Name": "app"});
    let declared = json!({"Name": "app", "SecretString": "v1"});
    let same = replan(SECRET, live.clone(), &declared, None);
    assert_eq!(same.action, Action::Noop);
    let gone = replan(SECRET, live, &declared, Some("gone"));
    assert_eq!(
        patch(&gone),
        json!([{"op": "add", "path": "/SecretString", "value": "v1"}])
    );
    let live = json!({"DBInstanceIdentifier": "db"});
    let declared = json!({"DBInstanceIdentifier": "db", "DBSnapshotIdentifier": "snap"});
    let gone = replan(DATABASE, live, &declared, Some("gone"));
    assert_eq!(gone.action, Action::Noop);
    assert_eq!(gone.warnings[0].code, WarningCode::NotComparable);
}

#[test]
fn numbers_are_exact_beyond_what_a_float_holds() {
    const WORKGROUP: &str = "AWS::Athena::WorkGroup";
    let declare = |digits: &str| -> Value {
        let text = format!(
            r#"{{"Name":"a","WorkGroupConfiguration":{{"BytesScannedCutoffPerQuery":{digits}}}}}"#
        );
        serde_json::from_str(&text).unwrap()
    };
    for (one, other) in [
        ("9007199254740993", "9007199254740992"),
        (
            "123456789012345678901234567890",
            "123456789012345678901234567891",
        ),
    ] {
        let plan = changed(WORKGROUP, None, declare(one), declare(other));
        assert_eq!(plan.action, Action::Update);
        assert_eq!(plan.planned.to_string(), declare(other).to_string());
        let same = changed(WORKGROUP, None, declare(one), declare(one));
        assert_eq!(same.action, Action::Noop);
    }
    let spelled = changed(WORKGROUP, None, declare("10485760"), declare("1.048576e7"));
    assert_eq!(spelled.action, Action::Noop);
}

#[test]
fn tags_of_others_survive_and_ours_go_when_they_are_dropped() {
    let tag = |key: &str| json!({"Key": key, "Value": "x"});
    let tags = |keys: &[&str]| json!({"QueueName": "q", "Tags": keys.iter().map(|key| tag(key)).collect::<Vec<_>>()});
    let live = json!({"QueueName": "q", "Tags": [tag("aws:cloudformation:stack-name"), tag("cost"), tag("old"), tag("team")]});
    let plan = changed(
        QUEUE,
        Some(tags(&["team", "old"])),
        live.clone(),
        tags(&["team"]),
    );
    assert_eq!(
        plan.planned["Tags"],
        json!([
            tag("aws:cloudformation:stack-name"),
            tag("cost"),
            tag("team")
        ])
    );
    let strict = {
        let schema = schema(QUEUE);
        plan_in(Mode::Replace, &schema, &tags(&["team"]), &live)
    };
    assert_eq!(
        strict.planned["Tags"],
        json!([tag("aws:cloudformation:stack-name"), tag("team")])
    );
}

#[test]
fn the_mark_of_a_reference_stays_and_is_never_shown() {
    let tag = |key: &str| json!({"Key": key, "Value": "x"});
    let tags = |keys: &[&str]| json!({"QueueName": "q", "Tags": keys.iter().map(|key| tag(key)).collect::<Vec<_>>()});
    let schema = schema(QUEUE);
    let marked = tags(&["ucp:reference", "a", "b"]);
    for mode in [Mode::Merge, Mode::Replace] {
        let unchanged = plan_in(mode, &schema, &tags(&["a", "b"]), &marked);
        assert_eq!(unchanged.action, Action::Noop);
        let plan = plan_in(mode, &schema, &tags(&["c", "d"]), &marked);
        let planned = plan.planned["Tags"].as_array().unwrap();
        assert!(planned.contains(&tag("ucp:reference")), "{planned:?}");
        let shown = plan
            .changes
            .iter()
            .flat_map(|change| [&change.before, &change.after]);
        for value in shown.flatten() {
            assert!(!value.to_string().contains("ucp:reference"), "{value}");
        }
    }
    // Not even the last tag takes the mark with it.
    let only = plan_in(Mode::Replace, &schema, &json!({"QueueName": "q"}), &marked);
    assert_eq!(only.planned["Tags"], json!([tag("ucp:reference")]));
}

#[test]
fn a_tag_that_is_declared_twice_or_not_known_costs_nobody_a_tag() {
    let tag = |key: Value, value: &str| json!({"Key": key, "Value": value});
    let queue = |tags: Vec<Value>| json!({"QueueName": "q", "Tags": tags});
    let live = || queue(vec![tag(json!("cost"), "x"), tag(json!("team"), "a")]);
    let twice = queue(vec![tag(json!("team"), "a"), tag(json!("team"), "b")]);
    let plan = changed(QUEUE, None, live(), twice);
    assert_eq!(
        (plan.action, plan.errors[0].pointer.as_str()),
        (Action::Error, "/Tags")
    );
    let unknown = queue(vec![tag(json!({"$unknown": true}), "b")]);
    let plan = changed(QUEUE, None, live(), unknown);
    assert_eq!(plan.planned["Tags"].as_array().unwrap().len(), 3);
}

fn plan_in(mode: Mode, schema: &ResourceSchema, declared: &Value, live: &Value) -> Plan {
    plan(&desired(declared, schema), None, Some(live), schema, mode)
}

#[test]
fn a_deprecated_property_that_no_read_shows_settles() {
    // A schema of our own, in which the property is deprecated and nothing else.
    let text = json!({
        "typeName": "Acme::Thing::Old", "primaryIdentifier": ["/properties/Name"],
        "createOnlyProperties": ["/properties/Name"], "deprecatedProperties": ["/properties/Mode"],
        "properties": {"Name": {"type": "string"}, "Mode": {"type": "string"}, "Size": {"type": "integer"}},
        "handlers": {"create": {}, "read": {}, "update": {}, "delete": {}},
    });
    let schema = ResourceSchema::parse(&text.to_string()).unwrap();
    let live = json!({"Name": "a", "Size": 1});
    let planned = |last: Option<Value>, declared: Value| {
        let last = last.map(|last| baseline(&last, &schema));
        plan(
            &desired(&declared, &schema),
            last.as_ref(),
            Some(&live),
            &schema,
            Mode::Merge,
        )
    };
    let old = json!({"Name": "a", "Mode": "x"});
    assert_eq!(planned(None, old.clone()).action, Action::Update);
    let again = planned(Some(old.clone()), old.clone());
    assert_eq!(
        (again.action, again.warnings[0].code),
        (Action::Noop, WarningCode::Deprecated)
    );
    assert_eq!(
        planned(Some(old.clone()), json!({"Name": "a", "Mode": "y"})).action,
        Action::Update
    );
    let grown = planned(Some(old), json!({"Name": "a", "Mode": "x", "Size": 2}));
    let resent = grown
        .changes
        .iter()
        .find(|change| change.path == "/Mode")
        .unwrap();
    assert_eq!(
        (resent.kind, resent.reason),
        (ChangeKind::Add, Reason::Resent)
    );
}

#[test]
fn a_list_is_keyed_only_where_its_key_tells_elements_apart() {
    let rule =
        |id: &str, days: u32| json!({"Id": id, "Status": "Enabled", "ExpirationInDays": days});
    let bucket =
        |rules: Vec<Value>| json!({"BucketName": "b", "LifecycleConfiguration": {"Rules": rules}});
    let live = bucket(vec![rule("a", 1), rule("b", 2), rule("c", 3)]);
    // `Id` is not required, so the list of rules is declared as a whole and undeclared ones are removed.
    let plan = changed(BUCKET, None, live, bucket(vec![rule("a", 1), rule("c", 4)]));
    assert_eq!(
        plan.planned["LifecycleConfiguration"]["Rules"],
        json!([rule("a", 1), rule("c", 4)])
    );
}

#[test]
fn without_an_update_handler_every_change_is_a_replacement() {
    let text = json!({
        "typeName": "Acme::Thing::Fixed", "primaryIdentifier": ["/properties/Name"],
        "createOnlyProperties": ["/properties/Name"],
        "properties": {"Name": {"type": "string"}, "A": {"type": "object", "properties": {"B": {"type": "integer"}}}, "C": {"type": "integer"}},
        "handlers": {"create": {}, "read": {}, "delete": {}},
    });
    let schema = ResourceSchema::parse(&text.to_string()).unwrap();
    let live = json!({"Name": "a", "A": {"B": 1}, "C": 1});
    let same = plan_in(
        Mode::Merge,
        &schema,
        &json!({"Name": "a", "A": {"B": 1}}),
        &live,
    );
    assert_eq!(same.action, Action::Noop);
    let plan = plan_in(
        Mode::Merge,
        &schema,
        &json!({"Name": "b", "A": {"B": 2}, "C": 2}),
        &live,
    );
    assert_eq!(plan.action, Action::Replace);
    assert_eq!(
        plan.replace_paths,
        ["/properties/A", "/properties/C", "/properties/Name"]
    );
}

#[test]
fn null_is_an_element_where_it_can_be_a_value_and_nothing_elsewhere() {
    const RULE: &str = "AWS::Events::Rule";
    let rule = |kinds: Value| json!({"Name": "r", "EventPattern": {"detail": {"kind": kinds}}});
    let plan = changed(RULE, None, rule(json!(["a"])), rule(json!([null])));
    assert_eq!(plan.planned, rule(json!([null])));
    assert_eq!(
        changed(RULE, None, rule(json!([null])), rule(json!([null]))).action,
        Action::Noop
    );
    let group = |subnets: Value| json!({"DBSubnetGroupName": "g", "DBSubnetGroupDescription": "d", "SubnetIds": subnets});
    let (live, declared) = (
        group(json!(["subnet-0aaa1111aaa111101"])),
        group(json!([null, "subnet-0aaa1111aaa111101"])),
    );
    assert_eq!(
        changed("AWS::RDS::DBSubnetGroup", None, live, declared).action,
        Action::Noop
    );
}

#[test]
fn an_unknown_value_in_what_is_fixed_may_force_a_replacement_wherever_it_stands() {
    const NODEGROUP: &str = "AWS::EKS::Nodegroup";
    let group = |subnet: Value| json!({"ClusterName": "c", "NodeRole": "arn:aws:iam::111122223333:role/n", "Subnets": [subnet]});
    let live = group(json!("subnet-0aaa1111aaa111101"));
    let unknown = json!({"$unknown": true});
    let plan = changed(NODEGROUP, None, live, group(unknown.clone()));
    assert_eq!(
        (plan.action, plan.unknown.as_slice()),
        (Action::Update, &["/Subnets/0".to_owned()][..])
    );
    assert_eq!(plan.warnings[0].code, WarningCode::MayForceReplacement);
    // An unknown value is also detected in a document, whose parts have no schema.
    let policy = json!({"Bucket": "b", "PolicyDocument": {"Version": "2012-10-17", "Statement": [{"Effect": "Allow", "Action": "s3:*", "Principal": "*", "Resource": unknown}]}});
    let live = json!({"Bucket": "b", "PolicyDocument": {"Version": "2012-10-17", "Statement": []}});
    let plan = changed("AWS::S3::BucketPolicy", None, live, policy);
    assert_eq!(plan.unknown, ["/PolicyDocument/Statement/0/Resource"]);
}

#[test]
fn a_read_that_shows_a_masked_secret_is_as_good_as_one_that_does_not() {
    let live = json!({"Id": "arn", "Name": "app", "SecretString": "****"});
    let declared = json!({"Name": "app", "SecretString": "v1"});
    let last = json!({"Name": "app", "SecretString": "v0"});
    let plan = changed(SECRET, Some(last), live.clone(), declared.clone());
    assert_eq!(
        patch(&plan),
        json!([{"op": "add", "path": "/SecretString", "value": "v1"}])
    );
    assert_eq!(
        changed(SECRET, Some(declared.clone()), live, declared).action,
        Action::Noop
    );
}

#[test]
fn a_json_type_that_the_user_changed_is_a_change_and_one_that_aws_changed_is_not() {
    let rule = |code: Value| json!({"Name": "r", "EventPattern": {"detail": {"code": [code]}}});
    let (number, text) = (rule(json!(5)), rule(json!("5")));
    let drifted = changed(
        "AWS::Events::Rule",
        Some(number.clone()),
        text.clone(),
        number.clone(),
    );
    assert_eq!(drifted.action, Action::Noop);
    let retyped = changed("AWS::Events::Rule", Some(text.clone()), text, number);
    assert_eq!(retyped.action, Action::Update);
}

#[test]
fn a_transform_holds_whatever_was_declared_before() {
    let database = |engine: &str| json!({"DBInstanceIdentifier": "db", "Engine": engine});
    let plan = changed(
        DATABASE,
        Some(database("mysql")),
        database("mysql"),
        database("MySQL"),
    );
    assert_eq!(plan.action, Action::Noop);
}

#[test]
fn a_default_is_no_reason_for_a_strict_update() {
    const KEY: &str = "AWS::KMS::Key";
    let live = json!({"KeyId": "k", "Description": "x", "MultiRegion": false, "Origin": "AWS_KMS"});
    let plan = plan_in(
        Mode::Replace,
        &schema(KEY),
        &json!({"Description": "x"}),
        &live,
    );
    let reasons: Vec<Reason> = plan.changes.iter().map(|change| change.reason).collect();
    assert!(
        reasons.iter().all(|reason| *reason == Reason::Tidied),
        "{plan:?}"
    );
}

#[test]
fn a_value_of_a_wrong_type_is_an_error_and_one_in_another_form_is_not() {
    let declared =
        json!({"CidrBlock": "10.0.0.0/16", "EnableDnsSupport": "yes", "Tags": {"a": "b"}});
    let plan = created(VPC, declared);
    assert_eq!(plan.action, Action::Error);
    let places: Vec<&str> = plan
        .errors
        .iter()
        .map(|error| error.pointer.as_str())
        .collect();
    assert_eq!(places, ["/EnableDnsSupport", "/Tags"]);
    let declared = json!({"CidrBlock": "10.0.0.0/16", "EnableDnsSupport": "true"});
    assert_eq!(created(VPC, declared).planned["EnableDnsSupport"], true);
}

#[test]
fn reserved_tags_are_not_sent_with_a_create() {
    let tag = |key: &str| json!({"Key": key, "Value": "x"});
    let plan = created(
        QUEUE,
        json!({"QueueName": "q", "Tags": [tag("aws:x"), tag("team")]}),
    );
    assert_eq!(
        plan.desired_state(),
        json!({"QueueName": "q", "Tags": [tag("team")]})
    );
    assert_eq!(plan.warnings[0].code, WarningCode::ReservedTag);
}

#[test]
fn a_replacement_is_planned_as_the_create_that_it_is() {
    let live = json!({"VpcId": "vpc-1", "CidrBlock": "10.0.0.0/16", "InstanceTenancy": "default"});
    let plan = changed(VPC, None, live, json!({"CidrBlock": "10.1.0.0/16"}));
    assert_eq!(plan.action, Action::Replace);
    assert_eq!(plan.planned["CidrBlock"], "10.1.0.0/16");
    assert!(is_unknown(&plan.planned["VpcId"]) && plan.planned.get("InstanceTenancy").is_none());
    assert!(plan.changes.iter().any(|change| change.forces_replacement));
}

#[test]
fn lists_in_lists_that_differ_deep_down_are_planned_all_the_same() {
    let text = json!({
        "typeName": "Acme::Thing::Tree", "primaryIdentifier": ["/properties/Name"],
        "properties": {"Name": {"type": "string"}, "Tree": {"$ref": "#/definitions/Tree"}},
        "definitions": {"Tree": {"type": "object", "properties": {
            "Leaf": {"type": "string"},
            "Trees": {"type": "array", "insertionOrder": false, "items": {"$ref": "#/definitions/Tree"}},
        }}},
        "handlers": {"create": {}, "read": {}, "update": {}, "delete": {}},
    });
    let schema = ResourceSchema::parse(&text.to_string()).unwrap();
    let deep = |leaf: &str| (0..40).fold(json!({"Leaf": leaf}), |tree, _| json!({"Trees": [tree]}));
    let wide = |mark: &str| {
        let level = |tree: Value, level: usize| -> Value {
            let trees = (0..20).map(
                |index| json!({"Leaf": format!("{mark}{level}-{index}"), "Trees": [tree.clone()]}),
            );
            json!({"Trees": trees.collect::<Vec<_>>()})
        };
        (0..3).fold(json!({"Leaf": mark}), level)
    };
    for (one, other) in [(deep("a"), deep("b")), (wide("a"), wide("b"))] {
        let live = json!({"Name": "n", "Tree": one});
        let plan = plan_in(
            Mode::Merge,
            &schema,
            &json!({"Name": "n", "Tree": other}),
            &live,
        );
        assert_eq!(
            (plan.action, &plan.planned["Tree"]),
            (Action::Update, &other)
        );
    }
}

#[test]
fn a_declaration_that_is_no_object_changes_nothing() {
    let live = json!({"VpcId": "vpc-1", "CidrBlock": "10.0.0.0/16"});
    let plan = changed(VPC, Some(live.clone()), live, json!([]));
    assert_eq!((plan.action, plan.errors.len()), (Action::Error, 1));
}

fn leaf() -> impl Strategy<Value = Value> {
    prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        "[a-z~/]{0,4}".prop_map(Value::from),
        Just(json!({})),
        Just(json!([{"a": 1}])),
    ]
}

fn object() -> impl Strategy<Value = Map<String, Value>> {
    let tree = leaf().prop_recursive(4, 32, 4, |inner| {
        proptest::collection::btree_map("[a-c~/]{0,3}", inner, 0..4)
            .prop_map(|members| Value::Object(members.into_iter().collect()))
    });
    proptest::collection::btree_map("[a-c~/]{0,3}", tree, 0..4)
        .prop_map(|members| members.into_iter().collect())
}

proptest! {
    #[test]
    fn flatten_and_unflatten_are_inverse(object in object()) {
        let flat = flatten(&object);
        let is_leaf = |value: &Value| value.as_object().is_none_or(Map::is_empty);
        prop_assert!(flat.values().all(is_leaf));
        prop_assert_eq!(unflatten(&flat), object);
    }
}

#[test]
fn flat_names_are_those_of_the_field() {
    let object = json!({"ClusterEndpoint": {"Address": "a", "Port": 1}, "Labels": {"a/b": "c"}, "Empty": {}});
    let flat = flatten(object.as_object().unwrap());
    assert_eq!(
        Value::Object(flat),
        json!({"ClusterEndpoint/Address": "a", "ClusterEndpoint/Port": 1, "Labels/a~1b": "c", "Empty": {}})
    );
}

/// A secret that a put without success may have sent is sent again, even if it is the one last applied.
#[test]
fn a_secret_that_may_have_been_sent_counts_as_changed() {
    let live = json!({"Id": "arn:s", "Name": "s"});
    let declared = json!({"Name": "s", "SecretString": "one"});
    let schema = schema(SECRET);
    let last = baseline(&declared, &schema);
    let unconfirmed = Baseline {
        unconfirmed: BTreeSet::from(["/SecretString".to_owned()]),
        ..last.clone()
    };
    let desired = desired(&declared, &schema);
    let planned = |last| plan(&desired, Some(last), Some(&live), &schema, Mode::Merge);
    assert_eq!(planned(&last).action, Action::Noop);
    let again = planned(&unconfirmed);
    assert_eq!(again.action, Action::Update);
    assert_eq!(
        patch(&again),
        json!([{"op": "add", "path": "/SecretString", "value": "one"}])
    );
}

/// An update never sends what can only be set at creation.
#[test]
fn a_fixed_secret_stays_known_whatever_was_sent() {
    let schema = schema("AWS::EC2::KeyPair");
    let declared = json!({"KeyName": "k", "KeyFormat": "pem"});
    let unconfirmed = Baseline {
        unconfirmed: BTreeSet::from(["/KeyFormat".to_owned()]),
        ..baseline(&declared, &schema)
    };
    let live = json!({"KeyName": "k", "KeyPairId": "key-1"});
    let again = plan(
        &desired(&declared, &schema),
        Some(&unconfirmed),
        Some(&live),
        &schema,
        Mode::Merge,
    );
    assert_eq!((again.action, again.warnings.len()), (Action::Noop, 0));
}

/// A reference may have brought a list, what is there already, or one for two.
#[test]
fn unknown_elements_of_a_policy_may_come_to_few_and_to_one() {
    let schema = schema("AWS::S3::BucketPolicy");
    let unknown = json!({"$unknown": true});
    let with = |resource: Value| {
        let statement =
            json!({"Effect": "Allow", "Action": "s3:*", "Principal": "*", "Resource": resource});
        settled(
            &json!({"Bucket": "b", "PolicyDocument": {"Statement": [statement]}}),
            &schema,
        )
    };
    for (planned, found, is_planned) in [
        (unknown.clone(), json!(["a", "b"]), true),
        (json!([unknown, "a"]), json!(["a", "b"]), true),
        (json!([unknown, "a"]), json!(["b", "a"]), true),
        (json!([unknown, "a"]), json!("a"), true),
        (json!([unknown, unknown]), json!("a"), true),
        (json!([unknown, "a"]), json!(["b", "c"]), false),
        (json!([unknown, "a"]), json!(["a", "b", "c"]), false),
    ] {
        let is_it = is_as_planned(&with(planned.clone()), &with(found.clone()));
        assert_eq!(is_it, is_planned, "{planned} {found}");
    }
}

/// Whatever the order: each has become one of those that are there.
#[test]
fn statements_with_unknown_values_are_matched_as_a_whole() {
    let schema = schema("AWS::S3::BucketPolicy");
    let unknown = json!({"$unknown": true});
    let of = |statements: Value| {
        settled(
            &json!({"Bucket": "b", "PolicyDocument": {"Statement": statements}}),
            &schema,
        )
    };
    let statement = |principal: &Value, resource: &Value| json!({"Effect": "Allow", "Principal": {"AWS": principal}, "Action": "s3:*", "Resource": resource});
    let (p, r, s) = (json!("p"), json!("r"), json!("s"));
    for planned in [
        json!([statement(&p, &unknown), statement(&unknown, &r)]),
        json!([statement(&unknown, &r), statement(&p, &unknown)]),
    ] {
        let planned = of(planned);
        assert!(is_as_planned(
            &planned,
            &of(json!([statement(&p, &r), statement(&p, &s)]))
        ));
        assert!(is_as_planned(&planned, &of(json!([statement(&p, &r)]))));
        assert!(!is_as_planned(
            &planned,
            &of(json!([statement(&s, &s), statement(&p, &s)]))
        ));
    }
    let effect = |effect: Value| json!([{"Effect": effect, "Principal": "*", "Action": "s3:*", "Resource": "r"}]);
    assert!(is_as_planned(
        &of(effect(unknown)),
        &of(effect(json!("Deny")))
    ));
}

/// So are the elements of other lists.
#[test]
fn elements_with_unknown_values_are_matched_as_a_whole() {
    let unknown = json!({"$unknown": true});
    let of = |elements: [(&Value, &str); 3]| {
        elements.map(|(key, value)| json!({"Key": key, "Value": value}))
    };
    let named = [json!("a"), json!("b"), json!("c")];
    let planned = json!(of([(&unknown, "x"), (&unknown, "x"), (&named[0], "x")]));
    for order in [
        [0, 1, 2],
        [0, 2, 1],
        [1, 0, 2],
        [1, 2, 0],
        [2, 0, 1],
        [2, 1, 0],
    ] {
        let found = json!(of(order.map(|index| (&named[index], "x"))));
        assert!(is_as_planned(&planned, &found), "{found}");
    }
    let found = json!(of([(&named[1], "x"), (&named[2], "x"), (&named[1], "x")]));
    assert!(!is_as_planned(&planned, &found), "{found}");
    let planned = json!([
        {"Key": unknown, "Value": "x"},
        {"Key": unknown, "Value": unknown},
        {"Key": "a", "Value": unknown},
    ]);
    let found = json!(of([(&named[0], "y"), (&named[0], "x"), (&named[1], "z")]));
    assert!(is_as_planned(&planned, &found), "{found}");
}

/// A definition is a text, whose lists have an order.
#[test]
fn a_text_with_an_unknown_value_keeps_its_order() {
    let schema = schema("AWS::StepFunctions::StateMachine");
    let subnets = ["subnet-0123456789abcdef1", "subnet-0123456789abcdef0"];
    let of = |arn: Value| {
        let definition = json!({"StartAt": "a", "States": {"a": {"Type": "Task", "Resource": arn,
            "Parameters": {"Subnets": subnets, "Text": "{\"x\": 1}", "Nothing": null}, "End": true}}});
        settled(
            &json!({"RoleArn": "r", "DefinitionString": definition}),
            &schema,
        )
    };
    let planned = of(json!({"$unknown": true}));
    assert!(is_as_planned(&planned, &of(json!("arn:aws:lambda:x"))));
}

/// Statements may be there twice, and lists may be as long as a body.
#[test]
fn a_long_policy_with_an_unknown_value_is_compared_once_through() {
    let schema = schema("AWS::S3::BucketPolicy");
    let unknown = json!({"$unknown": true});
    let of = |first: &Value, last: usize| {
        let mut resources: Vec<Value> = (0..last).map(|index| json!(format!("r{index}"))).collect();
        resources.push(first.clone());
        let statement = json!({"Effect": "Allow", "Action": "s3:*", "Resource": resources});
        let policy = json!({"Statement": [statement, statement]});
        settled(&json!({"Bucket": "b", "PolicyDocument": policy}), &schema)
    };
    let planned = of(&unknown, 20_000);
    assert!(is_as_planned(&planned, &of(&json!("new"), 20_000)));
    assert!(!is_as_planned(&planned, &of(&json!("new"), 20_002)));
    assert!(!is_as_planned(&planned, &of(&json!("new"), 19_998)));
}

/// A value that is known when a plan is carried out has no say in the form of its document. For every type in the nightly run.
#[test]
fn a_policy_that_is_known_is_as_it_was_planned_with_unknown_values() {
    let schema = schema("AWS::S3::BucketPolicy");
    let of = |policy: &Value| settled(&json!({"Bucket": "b", "PolicyDocument": policy}), &schema);
    let known = of(&policy());
    for place in open_places(&policy()) {
        let mut open = policy();
        *open.pointer_mut(&place).unwrap() = json!({"$unknown": true});
        assert!(is_as_planned(&of(&open), &known), "{place}: {open}");
    }
}

/// A create-only value that AWS shows in another form from the start is no reason to replace what a put has made. What it shows
/// otherwise later is another resource, and another declaration is another one too.
#[test]
fn a_create_only_value_is_as_it_was_read_after_the_put() {
    const CERTIFICATE: &str = "AWS::CertificateManager::Certificate";
    let schema = schema(CERTIFICATE);
    let of = |names: &[&str]| json!({"DomainName": "a.example", "SubjectAlternativeNames": names});
    let live = |names: &[&str]| {
        let mut live = of(names);
        live["CertificateArn"] = json!("arn:1");
        live
    };
    let declared = of(&["b.example"]);
    let read = live(&["a.example", "b.example"]);
    let last = ucp_plan::applied(desired(&declared, &schema), Some(&read), &schema);
    assert_eq!(
        last.shown.keys().collect::<Vec<_>>(),
        ["/SubjectAlternativeNames"]
    );
    let planned = |declared: &Value, last: &Baseline, live: &Value| {
        let desired = desired(declared, &schema);
        plan(&desired, Some(last), Some(live), &schema, Mode::Merge).action
    };
    let before = baseline(&declared, &schema);
    let (other, drift) = (
        of(&["c.example"]),
        live(&["a.example", "b.example", "x.example"]),
    );
    for (declared, last, live, expected) in [
        (&declared, &last, &read, Action::Noop),
        (&declared, &before, &read, Action::Replace),
        (&declared, &last, &drift, Action::Replace),
        (&other, &last, &read, Action::Replace),
        // AWS shows it as it was declared after all.
        (&declared, &last, &live(&["b.example"]), Action::Noop),
    ] {
        assert_eq!(planned(declared, last, live), expected, "{declared} {live}");
    }
}

/// Nobody knows whether AWS has taken the password of a create that it calls failed. A create-only value cannot be sent again.
#[test]
fn secrets_of_a_failed_create_are_sent_again() {
    for (type_name, declared, unconfirmed, expected) in [
        (
            "AWS::RDS::DBInstance",
            json!({"DBInstanceIdentifier": "a", "MasterUserPassword": "p"}),
            vec!["/MasterUserPassword"],
            Action::Update,
        ),
        (
            "AWS::AutoScaling::AutoScalingGroup",
            json!({"MinSize": "1", "MaxSize": "1", "InstanceId": "i-1"}),
            vec![],
            Action::Noop,
        ),
    ] {
        let schema = schema(type_name);
        let live = schema.without_write_only(&declared);
        let desired = desired(&declared, &schema);
        let last = ucp_plan::left_by_failed_create(desired.clone(), &schema);
        assert_eq!(last.unconfirmed.iter().collect::<Vec<_>>(), unconfirmed);
        let again = plan(&desired, Some(&last), Some(&live), &schema, Mode::Merge);
        assert_eq!(again.action, expected, "{type_name}: {:?}", again.changes);
    }
}

/// The same of a value in a list, although little is left by which its element is known.
#[test]
fn an_element_is_the_one_that_was_shown_so_after_the_put() {
    let schema = schema("AWS::SSMQuickSetup::ConfigurationManager");
    let of = |kinds: &[&str], role: &str| {
        let element = |kind: &&str| json!({"Type": kind, "TypeVersion": kind, "LocalDeploymentExecutionRoleName": role, "Parameters": {"a": "b"}});
        let elements: Vec<Value> = kinds.iter().map(element).collect();
        json!({"ManagerArn": "arn:1", "ConfigurationDefinitions": elements})
    };
    let declared = of(&["one", "two"], "r");
    let read = of(&["one.", "two."], "s");
    let last = ucp_plan::applied(desired(&declared, &schema), Some(&read), &schema);
    let planned = |declared: &Value, live: &Value| {
        let desired = desired(declared, &schema);
        plan(&desired, Some(&last), Some(live), &schema, Mode::Merge).action
    };
    assert_eq!(
        planned(&declared, &of(&["one.", "two."], "r")),
        Action::Noop
    );
    assert_eq!(planned(&declared, &read), Action::Update);
    assert_eq!(
        planned(&declared, &of(&["one.", "x"], "r")),
        Action::Replace
    );
    assert_eq!(planned(&of(&["one", "x"], "r"), &read), Action::Replace);
}
