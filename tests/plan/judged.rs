//! What a put would make of a declaration, in every form that people write it in.

use std::process::Output;

use serde_json::json;

use super::process::{ask_one, run};

/// A plan of the properties on standard input.
fn plan(type_name: &str, desired: &str, more: &[&str]) -> Output {
    let arguments = ["--type", type_name, "--desired", "-", "--detailed-exitcode"];
    run(&[&arguments[..], more].concat(), desired)
}

fn shown(output: &Output) -> String {
    assert_eq!(String::from_utf8_lossy(&output.stderr), "");
    String::from_utf8(output.stdout.clone()).expect("UTF-8")
}

/// A file with a live VPC.
fn live_vpc(folder: &tempfile::TempDir) -> String {
    let path = folder.path().join("live.yaml");
    let live = "VpcId: vpc-1\nCidrBlock: 10.0.0.0/16\nEnableDnsSupport: true\n";
    std::fs::write(&path, live).expect("a file");
    path.to_str().expect("UTF-8").to_owned()
}

#[test]
fn a_type_may_be_spelled_as_in_ids() {
    let output = plan("aws.ec2/vpc", r#"{"CidrBlock": "10.0.0.0/16"}"#, &[]);
    assert!(shown(&output).starts_with("+ AWS::EC2::VPC will be created\n"));
    let answer =
        ask_one(&json!({"typeName": "AWS.EC2/VPC", "desired": {"CidrBlock": "10.0.0.0/16"}}));
    assert_eq!(answer["action"], "create");
}

#[test]
fn properties_may_be_yaml() {
    let yaml = r#"
# A comment, an anchor, and what other parsers read as something else.
CidrBlock: 10.0.0.0/16
EnableDnsSupport: true
Tags:
  - {Key: account, Value: &account 012345678901}
  - {Key: again, Value: *account}
  - {Key: wanted, Value: yes}
  - Key: long
    Value: >-
      folded
      text
"#;
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("vpc.yml");
    std::fs::write(&path, yaml).expect("a file");
    let path = path.to_str().expect("UTF-8");
    let from_file = run(&["--type", "AWS::EC2::VPC", "--desired", path], "");
    let from_input = plan("AWS::EC2::VPC", yaml, &[]);
    assert_eq!(shown(&from_file), shown(&from_input));
    let shown = shown(&from_file);
    for line in [
        r#"  + /CidrBlock: "10.0.0.0/16""#,
        "  + /EnableDnsSupport: true",
        r#"      + {Key: "account", Value: "012345678901"}"#,
        r#"      + {Key: "again", Value: "012345678901"}"#,
        r#"      + {Key: "wanted", Value: "yes"}"#,
        r#"      + {Key: "long", Value: "folded text"}"#,
    ] {
        assert!(
            shown.lines().any(|shown| shown == line),
            "{line} in {shown}"
        );
    }
}

#[test]
fn yaml_that_says_something_else_is_refused() {
    for (yaml, what) in [
        ("CidrBlock: !Ref Cidr", "!Ref"),
        ("CidrBlock: a\nCidrBlock: b", "duplicate"),
        ("- a\n- b", "expected an object"),
        ("a: [", "line 1"),
        ("CidrBlock: a\n---\nCidrBlock: b", "multiple"),
    ] {
        let output = plan("AWS::EC2::VPC", yaml, &[]);
        assert_eq!(output.status.code(), Some(1), "{yaml}");
        let said = String::from_utf8(output.stderr).expect("UTF-8");
        assert!(said.contains(what), "{yaml}: {said}");
        assert!(said.starts_with("ucp: standard input: "), "{yaml}: {said}");
    }
}

#[test]
fn aliases_that_multiply_are_refused() {
    let mut yaml = "a0: &a0 [x, x, x, x, x, x, x, x, x]\n".to_owned();
    for level in 1..12 {
        let alias = format!("*a{}", level - 1);
        yaml += &format!("a{level}: &a{level} [{}]\n", [alias.as_str(); 9].join(", "));
    }
    let output = plan("AWS::EC2::VPC", &yaml, &[]);
    assert_eq!(output.status.code(), Some(1));
    assert!(output.stdout.is_empty());
}

#[test]
fn default_tags_are_added_as_in_a_put() {
    let desired = r#"{"CidrBlock": "10.0.0.0/16", "Tags": [{"Key": "team", "Value": "own"}]}"#;
    let tags = ["--default-tag", "team=net", "--default-tag", "cost=a=b"];
    let told = shown(&plan("AWS::EC2::VPC", desired, &tags));
    let tags = r#"  + /Tags: [{Key: "team", Value: "own"}, {Key: "cost", Value: "a=b"}]"#;
    assert!(told.contains(tags), "{told}");
    // A type without tags gets none.
    let route = r#"{"RouteTableId": "rtb-1", "DestinationCidrBlock": "0.0.0.0/0"}"#;
    let output = plan("AWS::EC2::Route", route, &["--default-tag", "team=net"]);
    assert_eq!(output.status.code(), Some(2), "{}", shown(&output));
    let answer = ask_one(
        &json!({"typeName": "AWS::EC2::VPC", "desired": {"CidrBlock": "10.0.0.0/16"},
        "current": {"VpcId": "vpc-1", "CidrBlock": "10.0.0.0/16"}, "defaultTags": {"team": "net"}}),
    );
    assert_eq!(
        answer["patch"][0]["value"],
        json!([{"Key": "team", "Value": "net"}])
    );
}

#[test]
fn required_properties_enumerations_and_patterns_are_judged() {
    let create = plan("AWS::DynamoDB::Table", "{}", &[]);
    assert_eq!(create.status.code(), Some(1));
    assert_eq!(
        shown(&create),
        "AWS::DynamoDB::Table cannot become as declared: nothing is sent\n\n\
         Error: `/KeySchema` is required\n"
    );
    let tables = [
        (
            r#"{"RetentionInDays": 4}"#,
            "`/RetentionInDays`: must be one of",
        ),
        (
            r#"{"LogGroupName": "a b"}"#,
            "`/LogGroupName`: must match the pattern",
        ),
    ];
    for (desired, reason) in tables {
        let output = plan("AWS::Logs::LogGroup", desired, &[]);
        assert_eq!(output.status.code(), Some(1), "{desired}");
        let told = shown(&output);
        assert!(told.contains(&format!("Error: {reason}")), "{told}");
    }
    let line = json!({"typeName": "AWS::DynamoDB::Table", "desired": {}, "judge": true});
    let judged = ask_one(&line);
    assert_eq!(judged["action"], "error");
    assert_eq!(
        judged["error"],
        json!({"code": "MissingProperty", "path": "/KeySchema", "message": "`/KeySchema` is required",
            "details": [{"code": "MissingProperty", "path": "/KeySchema", "message": "`/KeySchema` is required"}]})
    );
    let unjudged = ask_one(&json!({"typeName": "AWS::DynamoDB::Table", "desired": {}}));
    assert_eq!(unjudged["action"], "create");
    // An update too, but not for what is live already.
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("live.json");
    std::fs::write(&path, r#"{"LogGroupName": "a b", "RetentionInDays": 7}"#).expect("a file");
    let path = path.to_str().expect("UTF-8");
    let update = |days: u32| {
        let desired = format!(r#"{{"RetentionInDays": {days}}}"#);
        plan("AWS::Logs::LogGroup", &desired, &["--current", path])
    };
    assert_eq!(update(4).status.code(), Some(1));
    assert_eq!(update(14).status.code(), Some(2));
    assert_eq!(update(7).status.code(), Some(0));
}

#[test]
fn a_value_that_is_not_known_yet_is_not_judged() {
    let desired = r#"{"RetentionInDays": {"$unknown": true}}"#;
    let output = plan("AWS::Logs::LogGroup", desired, &[]);
    assert_eq!(output.status.code(), Some(2), "{}", shown(&output));
}

#[test]
fn the_advice_on_a_replacement_knows_the_policies() {
    let folder = tempfile::tempdir().expect("a folder");
    let live = live_vpc(&folder);
    let desired = r#"{"CidrBlock": "10.1.0.0/16"}"#;
    let replacing = |policy: &[&str]| {
        let more = [&["--current", live.as_str()], policy].concat();
        let output = plan("AWS::EC2::VPC", desired, &more);
        assert_eq!(output.status.code(), Some(2));
        shown(&output)
    };
    let refused = replacing(&[]);
    assert!(
        refused.starts_with("-/+ AWS::EC2::VPC must be replaced\n"),
        "{refused}"
    );
    let advice = r#"A put is refused unless it has "replacementPolicy": "createBeforeDelete" or "deleteBeforeCreate"."#;
    assert!(refused.contains(advice), "{refused}");
    let replaced = replacing(&["--replacement-policy", "createBeforeDelete"]);
    assert!(
        replaced.starts_with("-/+ AWS::EC2::VPC will be replaced\n"),
        "{replaced}"
    );
    assert!(
        replaced.contains("It is created before the old one is deleted."),
        "{replaced}"
    );
    let replaced = replacing(&["--replacement-policy", "deleteBeforeCreate"]);
    assert!(
        replaced.contains("It is created after the old one is deleted."),
        "{replaced}"
    );
}

#[test]
fn a_replacement_that_keeps_its_name_cannot_be_created_first() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("live.json");
    std::fs::write(
        &path,
        r#"{"RoleName": "r", "Path": "/a/", "AssumeRolePolicyDocument": {}}"#,
    )
    .expect("a file");
    let path = path.to_str().expect("UTF-8");
    let desired = r#"{"RoleName": "r", "Path": "/b/", "AssumeRolePolicyDocument": {}}"#;
    let replacing = |policy: &[&str]| {
        let more = [&["--current", path], policy].concat();
        plan("AWS::IAM::Role", desired, &more)
    };
    let refused = shown(&replacing(&[]));
    assert!(
        refused.contains(r#"unless it has "replacementPolicy": "deleteBeforeCreate"."#),
        "{refused}"
    );
    let impossible = replacing(&["--replacement-policy", "createBeforeDelete"]);
    assert_eq!(impossible.status.code(), Some(1));
    assert!(shown(&impossible).contains("The new one would have the same identifier"));
    let possible = replacing(&["--replacement-policy", "deleteBeforeCreate"]);
    assert_eq!(possible.status.code(), Some(2));
}

#[test]
fn only_changes_have_the_exit_status_of_changes() {
    let valid = r#"{"CidrBlock": "10.0.0.0/16"}"#;
    assert_eq!(plan("AWS::EC2::VPC", valid, &[]).status.code(), Some(2));
    for arguments in [
        &["--no-such-option"][..],
        &["--mode", "other"],
        &["--current", "/no/such/file"],
    ] {
        let output = plan("AWS::EC2::VPC", valid, arguments);
        assert_eq!(output.status.code(), Some(1), "{arguments:?}");
    }
    assert_eq!(plan("AWS::EC2::VCP", valid, &[]).status.code(), Some(1));
    assert_eq!(run(&["--help"], "").status.code(), Some(0));
}
