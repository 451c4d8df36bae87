//! The protocol of `ucp plan --offline`.

use std::io::Write;
use std::process::Stdio;

use serde_json::{Value, json};
use ucp_model::{TypeName, json};
use ucp_schema::Catalogue;

use super::process::{Dialogue, ask, ask_one, command};

fn vpc(cidr: &str, dns: bool) -> Value {
    json!({"CidrBlock": cidr, "EnableDnsSupport": dns})
}

/// A line that is answered with `noop`.
fn fine(id: &Value) -> String {
    let vpc = vpc("10.0.0.0/16", true);
    json!({"id": id, "typeName": "AWS::EC2::VPC", "current": vpc, "desired": vpc}).to_string()
}

#[test]
fn every_vector_gets_its_action() {
    let text = include_str!("../../crates/plan/tests/vectors/public.json");
    let vectors: Vec<Value> = serde_json::from_str(text).expect("JSON");
    let mut input = String::new();
    for vector in &vectors {
        let mut line = vector.clone();
        let members = line.as_object_mut().expect("an object");
        if let Some(patch) = members.remove("schemaPatch") {
            let name = vector["typeName"].as_str().expect("a type");
            let name = TypeName::from_cloudformation(name).expect("a type");
            let schema = Catalogue::embedded().get(&name).expect("a known type");
            let base = schema.document().as_object().expect("an object");
            let patched = json::overlay(base, patch.as_object().expect("an object"));
            members.insert("schema".to_owned(), Value::Object(patched));
        }
        input.push_str(&format!("{line}\n"));
    }
    let answers = ask(input);
    assert_eq!(answers.status, 0);
    assert_eq!(answers.lines.len(), vectors.len());
    let mut wrong = Vec::new();
    for (answer, vector) in answers.lines.iter().zip(&vectors) {
        let expected = &vector["expect"];
        assert_eq!(answer["id"], vector["id"]);
        if answer["action"] != expected["action"] {
            wrong.push(format!("{} {}", answer["id"], answer["action"]));
            continue;
        }
        if answer["action"] == "replace" {
            assert_eq!(answer["replacePaths"], expected["replacePaths"]);
        }
        let is_sent = answer["patch"] != json!([]);
        assert_eq!(is_sent, answer["action"] == "update", "{answer}");
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn an_answer_has_all_its_members() {
    let updated = ask_one(&json!({
        "id": "u", "typeName": "AWS::EC2::VPC", "mode": "merge", "lastApplied": null, "more": {"x": [1]},
        "current": {"CidrBlock": "10.0.0.0/16", "EnableDnsSupport": true, "VpcId": "vpc-1"},
        "desired": {"CidrBlock": "10.0.0.0/16", "EnableDnsSupport": false, "VpcId": "vpc-1"},
    }));
    assert_eq!(
        updated,
        json!({
            "id": "u",
            "action": "update",
            "patch": [{"op": "replace", "path": "/EnableDnsSupport", "value": false}],
            "planned": {"CidrBlock": "10.0.0.0/16", "EnableDnsSupport": false, "VpcId": "vpc-1"},
            "replacePaths": [],
            "unknown": [],
            "warnings": [{
                "code": "ReadOnlyProperty",
                "path": "/VpcId",
                "message": "`/VpcId` is set by AWS alone; the declared value is the one it has and is not sent",
            }],
            "error": null,
        })
    );
    let created = ask_one(&json!({
        "typeName": "aws::ec2::vpc", "current": null, "desired": vpc("10.0.0.0/16", true)
    }));
    assert_eq!(created["id"], Value::Null);
    assert_eq!(created["action"], "create");
    assert_eq!(created["planned"]["VpcId"], json!({"$unknown": true}));
    let unknown = created["unknown"].as_array().expect("a list");
    assert!(unknown.contains(&json!("/VpcId")), "{created}");
}

#[test]
fn what_is_in_an_unknown_value_is_not_told_apart() {
    let instance = json!({"DBInstanceClass": "db.t3.micro", "Engine": "postgres"});
    let answer = ask_one(&json!({"typeName": "AWS::RDS::DBInstance", "desired": instance}));
    assert_eq!(answer["planned"]["Endpoint"], json!({"$unknown": true}));
    let unknown = answer["unknown"].as_array().expect("a list");
    assert!(unknown.contains(&json!("/Endpoint")), "{answer}");
    assert!(!unknown.contains(&json!("/Endpoint/Address")), "{answer}");
}

#[test]
fn what_can_never_be_is_an_answer_like_any_other() {
    let line = json!({
        "id": 1, "typeName": "AWS::EC2::VPC", "current": {"CidrBlock": "10.0.0.0/16", "VpcId": "vpc-1"},
        "desired": {"CidrBlok": "10.0.0.0/16", "VpcId": "vpc-2"},
    });
    let answers = ask(format!("{line}\n"));
    assert_eq!(answers.status, 0);
    let answer = &answers.lines[0];
    assert_eq!(answer["action"], "error");
    assert_eq!(answer.get("line"), None);
    let error = &answer["error"];
    assert_eq!(error["code"], "UnknownProperty");
    assert_eq!(error["path"], "/CidrBlok");
    assert_eq!(
        error["message"],
        "`/CidrBlok` is not a property of AWS::EC2::VPC; did you mean `CidrBlock`?; \
         `/VpcId` is set by AWS alone, and it has another value than the declared one; take it out of the declaration"
    );
    assert_eq!(error["details"][1]["code"], "ReadOnlyProperty");
    assert_eq!(error["details"][1]["path"], "/VpcId");
}

#[test]
fn ids_come_back_as_they_came_and_in_their_order() {
    let ids = [
        r#""x""#,
        "1",
        "1.50",
        "1",
        "1e400",
        "true",
        r#"{"b":[1.0],"a":null}"#,
        r#""\u00e9""#,
        "null",
    ];
    let lines: Vec<String> = ids
        .iter()
        .map(|id| fine(&json!("ID")).replace(r#""ID""#, id) + "\r\n")
        .collect();
    let output = super::process::run(&["--offline"], lines.concat());
    let text = String::from_utf8(output.stdout).expect("UTF-8");
    for (line, id) in text.lines().zip(ids) {
        assert!(
            line.starts_with(&format!(r#"{{"id":{id},"action":"noop""#)),
            "{line}"
        );
    }
    assert_eq!(text.lines().count(), ids.len());
}

#[test]
fn a_bad_line_has_an_answer_and_the_others_have_theirs() {
    let deep = format!("{}{}", "[".repeat(300), "]".repeat(300));
    let with = |member: &str| {
        format!(
            r#"{{"id":"it","typeName":"AWS::EC2::VPC","current":{{}},"desired":{{}},{member}}}"#
        )
    };
    let without =
        |member: &str| fine(&json!("it")).replace(&format!(r#""{member}""#), r#""other""#);
    let replaced = |from: &str, to: &str| fine(&json!("it")).replace(from, to).into_bytes();
    // The line, whether its id can be parsed, the code, and a part of the message.
    let bad: Vec<(Vec<u8>, bool, &str, &str)> = vec![
        (
            b"not JSON".to_vec(),
            false,
            "InvalidLine",
            "expected a JSON object",
        ),
        (
            b"[1,2]".to_vec(),
            false,
            "InvalidLine",
            "expected a JSON object",
        ),
        (
            b"null".to_vec(),
            false,
            "InvalidLine",
            "expected a JSON object",
        ),
        (b"\xff\xfe{}".to_vec(), false, "InvalidLine", "not UTF-8"),
        (
            b"{\"id\":\"\xc3\"}".to_vec(),
            false,
            "InvalidLine",
            "not UTF-8",
        ),
        (br#"{"id":"it""#.to_vec(), false, "InvalidLine", "EOF"),
        (
            br#"{"id":"it"} {}"#.to_vec(),
            false,
            "InvalidLine",
            "trailing",
        ),
        (
            br#"{"id":"it","id":2}"#.to_vec(),
            false,
            "InvalidLine",
            "duplicate field `id`",
        ),
        (
            deep.clone().into_bytes(),
            false,
            "InvalidLine",
            "expected a JSON object",
        ),
        (
            with(&format!(r#""x":{deep},"typeName":0"#)).into_bytes(),
            false,
            "InvalidLine",
            "duplicate",
        ),
        (
            without("typeName").into_bytes(),
            true,
            "InvalidLine",
            "`typeName` is missing",
        ),
        (
            without("desired").into_bytes(),
            true,
            "InvalidLine",
            "`desired`",
        ),
        (
            replaced(r#""AWS::EC2::VPC""#, "7"),
            true,
            "InvalidLine",
            "`typeName`",
        ),
        (
            replaced("AWS::EC2::VPC", "AWS::EC2::VCP"),
            true,
            "UnknownType",
            "did you mean AWS::EC2::VPC?",
        ),
        (
            replaced("AWS::EC2::VPC", "VPC"),
            true,
            "UnknownType",
            "'VPC'",
        ),
        (
            with(r#""mode":"merg""#).into_bytes(),
            true,
            "InvalidLine",
            "`mode`",
        ),
        (
            with(r#""mode":{}"#).into_bytes(),
            true,
            "InvalidLine",
            "`mode`",
        ),
        (
            with(r#""lastApplied":[]"#).into_bytes(),
            true,
            "InvalidLine",
            "`lastApplied`",
        ),
        (
            br#"{"id":"it","typeName":"AWS::EC2::VPC","current":3,"desired":{}}"#.to_vec(),
            true,
            "InvalidLine",
            "`current`",
        ),
        (
            br#"{"id":"it","typeName":"AWS::EC2::VPC","desired":"{}"}"#.to_vec(),
            true,
            "InvalidLine",
            "`desired`",
        ),
        (
            br#"{"id":"it","typeName":"AWS::EC2::VPC","desired":{"CidrBlock":"\ud800"}}"#.to_vec(),
            true,
            "InvalidLine",
            "`desired`",
        ),
        (
            format!(r#"{{"id":"it","typeName":"AWS::EC2::VPC","desired":{{"CidrBlock":{deep}}}}}"#)
                .into_bytes(),
            true,
            "InvalidLine",
            "`desired`: recursion limit exceeded",
        ),
    ];
    // A blank line counts as a line and gets no answer.
    let mut input = b"\n \t\r\n".to_vec();
    for (line, ..) in &bad {
        input.extend_from_slice(line);
        input.extend_from_slice(format!("\n{}\n", fine(&json!("fine"))).as_bytes());
    }
    let answers = ask(input);
    assert_eq!(answers.status, 1);
    assert_eq!(answers.lines.len(), 2 * bad.len());
    for (index, (pair, (line, has_id, code, says))) in answers.lines.chunks(2).zip(&bad).enumerate()
    {
        let number = 3 + 2 * index;
        let line = String::from_utf8_lossy(line);
        let message = pair[0]["error"]["message"].as_str().expect("a message");
        assert!(
            message.starts_with(&format!("line {number}: ")),
            "{message}"
        );
        assert!(message.contains(says), "{line}: {message}");
        assert_eq!(
            pair[0],
            json!({
                "id": has_id.then_some("it"), "line": number, "action": "error", "patch": [], "planned": null,
                "replacePaths": [], "unknown": [], "warnings": [], "error": {"code": code, "message": message},
            }),
            "{line}"
        );
        assert_eq!(pair[1]["id"], "fine");
        assert_eq!(pair[1]["action"], "noop");
    }
}

#[test]
fn a_line_without_end_is_skipped_and_the_last_line_needs_none() {
    const MOST: usize = 64 * 1024 * 1024;
    let mut input = fine(&json!(1)).into_bytes();
    input.resize(MOST, b' ');
    input.push(b'\n');
    input.resize(input.len() + MOST + 1, b' ');
    input.extend_from_slice(b"{}\n");
    input.extend_from_slice(fine(&json!(2)).as_bytes());
    let answers = ask(input);
    assert_eq!(answers.status, 1);
    assert_eq!(answers.lines.len(), 3);
    assert_eq!(answers.lines[0]["action"], "noop");
    assert_eq!(answers.lines[1]["line"], 2);
    assert_eq!(
        answers.lines[1]["error"]["message"],
        "line 2: longer than 67108864 bytes"
    );
    assert_eq!(answers.lines[2]["id"], 2);
}

#[test]
fn nothing_asked_is_nothing_answered() {
    let answers = ask("");
    assert_eq!((answers.lines.len(), answers.status), (0, 0));
}

#[test]
fn answers_come_before_the_end_of_input() {
    let mut dialogue = Dialogue::start();
    dialogue.say(&format!("{}\n", fine(&json!(1))));
    assert_eq!(dialogue.hear()["id"], 1);
    // A line, a blank line, and the beginning of another.
    let third = fine(&json!(3));
    let (begin, end) = third.split_at(20);
    dialogue.say(&format!("{}\n\n{begin}", fine(&json!(2))));
    assert_eq!(dialogue.hear()["id"], 2);
    dialogue.say(&format!("{end}\n?\n"));
    assert_eq!(dialogue.hear()["id"], 3);
    assert_eq!(dialogue.hear()["line"], 5);
    assert_eq!(dialogue.end(), 1);
}

#[test]
fn a_reader_that_has_had_enough_is_no_error() {
    let mut child = command(&["--offline"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("the binary starts");
    drop(child.stdout.take());
    let mut stdin = child.stdin.take().expect("a pipe");
    stdin
        .write_all(format!("{}\n", fine(&json!(1))).as_bytes())
        .expect("it reads");
    // It stops by itself, before the end of its input.
    let output = child.wait_with_output().expect("it ends");
    drop(stdin);
    assert!(output.status.success());
    assert_eq!(String::from_utf8_lossy(&output.stderr), "");
}
