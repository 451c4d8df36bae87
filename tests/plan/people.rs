//! The output of `ucp plan` for people.

use std::path::PathBuf;
use std::process::Output;

use serde_json::{Value, json};
use tempfile::TempDir;

use super::process::run;

/// Input files.
struct Files {
    folder: TempDir,
}

impl Files {
    fn new() -> Self {
        Self {
            folder: tempfile::tempdir().expect("a temporary folder"),
        }
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    fn write(&self, name: &str, properties: &Value) -> String {
        let path = self.path(name);
        std::fs::write(&path, properties.to_string()).expect("a file");
        path.to_str().expect("UTF-8").to_owned()
    }

    fn plan(&self, type_name: &str, current: &Value, desired: &Value, more: &[&str]) -> Output {
        let current = self.write("current.json", current);
        let desired = self.write("desired.json", desired);
        let arguments = [
            "--type",
            type_name,
            "--current",
            &current,
            "--desired",
            &desired,
        ];
        run(&[&arguments[..], more].concat(), "")
    }
}

fn shown(output: &Output) -> String {
    assert_eq!(String::from_utf8_lossy(&output.stderr), "");
    String::from_utf8(output.stdout.clone()).expect("UTF-8")
}

fn said(output: &Output) -> String {
    assert_eq!(String::from_utf8_lossy(&output.stdout), "");
    String::from_utf8(output.stderr.clone()).expect("UTF-8")
}

fn vpc() -> Value {
    json!({
        "VpcId": "vpc-1", "CidrBlock": "10.0.0.0/16", "EnableDnsSupport": true, "InstanceTenancy": "default",
        "Tags": [{"Key": "Name", "Value": "main"}, {"Key": "team", "Value": "net"}],
    })
}

#[test]
fn an_update_is_a_diff() {
    let desired = json!({
        "CidrBlock": "10.0.0.0/16", "EnableDnsSupport": false,
        "Tags": [
            {"Key": "Name", "Value": "core"}, {"Key": "team", "Value": "net"},
            {"Key": "purpose", "Value": "what it is for, told at such length that it does not fit on one line"},
        ],
    });
    let output = Files::new().plan("aws::ec2::vpc", &vpc(), &desired, &[]);
    assert_eq!(output.status.code(), Some(0));
    assert_eq!(
        shown(&output),
        r#"~ AWS::EC2::VPC will be updated

  ~ /EnableDnsSupport: true -> false
  ~ /Tags: [
      ~ {
          ~ Value: "main" -> "core"
            # (1 unchanged member not shown)
        }
      + {
          + Key: "purpose"
          + Value: "what it is for, told at such length that it does not fit on one line"
        }
        # (1 unchanged element not shown)
    ]
    # (3 unchanged properties not shown)
"#
    );
}

#[test]
fn what_is_not_declared_any_more_is_taken_away() {
    let files = Files::new();
    let mut last = vpc();
    last.as_object_mut().expect("an object").remove("VpcId");
    let last = files.write("last.json", &last);
    let desired =
        json!({"CidrBlock": "10.0.0.0/16", "EnableDnsSupport": true, "InstanceTenancy": "default"});
    let output = files.plan(
        "AWS::EC2::VPC",
        &vpc(),
        &desired,
        &["--last-applied", &last],
    );
    assert_eq!(
        shown(&output),
        r#"~ AWS::EC2::VPC will be updated

  - /Tags: [{Key: "Name", Value: "main"}, {Key: "team", Value: "net"}]
    # (4 unchanged properties not shown)
"#
    );
    let output = files.plan("AWS::EC2::VPC", &vpc(), &desired, &["--mode=replace"]);
    assert!(shown(&output).contains("  - /Tags: "));
    let output = files.plan("AWS::EC2::VPC", &vpc(), &desired, &[]);
    assert_eq!(
        shown(&output),
        "AWS::EC2::VPC is as declared: nothing to do\n"
    );
}

#[test]
fn a_create_tells_what_aws_will_assign() {
    let files = Files::new();
    let desired = json!({"CidrBlock": "10.0.0.0/16"});
    let wanted = r#"+ AWS::EC2::VPC will be created

  + /CidrBlock: "10.0.0.0/16"
  + /CidrBlockAssociations: (known after apply)
  + /DefaultNetworkAcl: (known after apply)
  + /DefaultSecurityGroup: (known after apply)
  + /Ipv6CidrBlocks: (known after apply)
  + /VpcId: (known after apply)
"#;
    let output = files.plan("AWS::EC2::VPC", &Value::Null, &desired, &[]);
    assert_eq!(shown(&output), wanted);
    // The same from standard input, without any file.
    let output = run(
        &["--type", "AWS::EC2::VPC", "--desired", "-"],
        desired.to_string(),
    );
    assert_eq!(shown(&output), wanted);
}

#[test]
fn a_replacement_says_what_forces_it() {
    let desired = json!({"CidrBlock": "10.1.0.0/16", "EnableDnsSupport": false});
    let output = Files::new().plan("AWS::EC2::VPC", &vpc(), &desired, &[]);
    assert_eq!(
        shown(&output),
        r#"-/+ AWS::EC2::VPC must be replaced

  ~ /CidrBlock: "10.0.0.0/16" -> "10.1.0.0/16"  # forces replacement
  + /CidrBlockAssociations: (known after apply)
  + /DefaultNetworkAcl: (known after apply)
  + /DefaultSecurityGroup: (known after apply)
  ~ /EnableDnsSupport: true -> false
  + /Ipv6CidrBlocks: (known after apply)
  ~ /VpcId: (known after apply)
    # (2 undeclared properties are not taken over)

Only a new resource can have another /properties/CidrBlock. A put is refused unless it has "replacementPolicy": "createBeforeDelete" or "deleteBeforeCreate". Or declare what is live.
"#
    );
}

#[test]
fn a_value_that_is_not_known_yet_is_shown_as_such() {
    let desired = json!({"EnableDnsSupport": {"$unknown": true}, "Tags": [{"Key": "of", "Value": {"$unknown": true}}]});
    let shown = shown(&Files::new().plan("AWS::EC2::VPC", &vpc(), &desired, &[]));
    assert!(
        shown.contains("  ~ /EnableDnsSupport: true -> (known after apply)\n"),
        "{shown}"
    );
    let tag = "      + {Key: \"of\", Value: (known after apply)}\n";
    assert!(shown.contains(tag), "{shown}");
}

#[test]
fn secrets_are_not_shown() {
    const SECRET: &str = "correct horse battery staple";
    let files = Files::new();
    let live = json!({"DBInstanceIdentifier": "db", "DBInstanceClass": "db.t3.micro", "Engine": "postgres"});
    let mut desired = live.clone();
    desired["DBInstanceClass"] = json!("db.t3.small");
    desired["MasterUserPassword"] = json!(SECRET);
    let last = files.write("last.json", &desired);
    let resent = files.plan(
        "AWS::RDS::DBInstance",
        &live,
        &desired,
        &["--last-applied", &last],
    );
    assert_eq!(
        shown(&resent),
        r#"~ AWS::RDS::DBInstance will be updated

  ~ /DBInstanceClass: "db.t3.micro" -> "db.t3.small"
  ~ /MasterUserPassword: (sensitive)  # sent again with every update
    # (2 unchanged properties not shown)
"#
    );
    let created = shown(&files.plan("AWS::RDS::DBInstance", &Value::Null, &desired, &[]));
    assert!(
        created.contains("  + /MasterUserPassword: (sensitive)\n"),
        "{created}"
    );
    let changed = shown(&files.plan("AWS::RDS::DBInstance", &live, &desired, &[]));
    assert!(
        changed.contains("  ~ /MasterUserPassword: (sensitive)\n"),
        "{changed}"
    );

    desired["MasterUserPassword"] = json!({"nested": SECRET});
    desired["Nonsense"] = json!(SECRET);
    let output = files.plan("AWS::RDS::DBInstance", &live, &desired, &[]);
    let everything = [created, changed, shown(&output)].concat();
    assert!(!everything.contains("correct horse"), "{everything}");
}

#[test]
fn what_aws_would_refuse_is_tidied() {
    let schema = json!({
        "typeName": "Acme::Things::Thing",
        "properties": {
            "Name": {"type": "string"}, "Size": {"type": "integer"},
            "Parts": {"type": "array", "items": {"type": "string"}, "minItems": 1},
        },
        "primaryIdentifier": ["/properties/Name"],
        "handlers": {"create": {}, "read": {}, "update": {}, "delete": {}},
    });
    let files = Files::new();
    files.write("schema.json", &schema);
    let folder = files.folder.path().join("schemas");
    std::fs::create_dir(&folder).expect("a folder");
    std::fs::rename(files.path("schema.json"), folder.join("schema.json")).expect("a file");
    let folder = folder.to_str().expect("UTF-8");
    let live = json!({"Name": "a", "Size": 1, "Parts": []});
    let more = ["--schema-dir", folder];
    let output = files.plan(
        "Acme::Things::Thing",
        &live,
        &json!({"Name": "a", "Size": 2}),
        &more,
    );
    assert_eq!(
        shown(&output),
        r#"~ Acme::Things::Thing will be updated

  - /Parts: []  # AWS would refuse what its read returned
  ~ /Size: 1 -> 2
    # (1 unchanged property not shown)
"#
    );
}

#[test]
fn warnings_and_errors_come_last() {
    let files = Files::new();
    let mut desired = vpc();
    let warned = shown(&files.plan("AWS::EC2::VPC", &vpc(), &desired, &[]));
    assert_eq!(
        warned,
        "AWS::EC2::VPC is as declared: nothing to do\n\n\
         Warning: `/VpcId` is set by AWS alone; the declared value is the one it has and is not sent\n"
    );
    desired["VpcId"] = json!("vpc-2");
    desired["CidrBlok"] = json!("10.0.0.0/16");
    let output = files.plan("AWS::EC2::VPC", &vpc(), &desired, &[]);
    assert_eq!(output.status.code(), Some(1));
    assert_eq!(
        shown(&output),
        "AWS::EC2::VPC can never be as declared: nothing is sent\n\n\
         Error: `/CidrBlok` is not a property of AWS::EC2::VPC; did you mean `CidrBlock`?\n\n\
         Error: `/VpcId` is set by AWS alone, and it has another value than the declared one; take it out of the declaration\n"
    );
}

#[test]
fn exit_statuses_can_tell_more() {
    let files = Files::new();
    let status = |desired: Value| {
        let output = files.plan("AWS::EC2::VPC", &vpc(), &desired, &["--detailed-exitcode"]);
        output.status.code()
    };
    assert_eq!(status(json!({"EnableDnsSupport": true})), Some(0));
    assert_eq!(status(json!({"EnableDnsSupport": false})), Some(2));
    assert_eq!(status(json!({"CidrBlock": "10.1.0.0/16"})), Some(2));
    assert_eq!(status(json!({"VpcId": "vpc-2"})), Some(1));
}

#[test]
fn colours_are_for_terminals() {
    let files = Files::new();
    let desired = json!({"EnableDnsSupport": false});
    let plain = files.plan("AWS::EC2::VPC", &vpc(), &desired, &[]);
    assert!(!shown(&plain).contains('\u{1b}'));
    let coloured = shown(&files.plan("AWS::EC2::VPC", &vpc(), &desired, &["--color=always"]));
    assert!(
        coloured.contains("\u{1b}[33m~\u{1b}[0m /EnableDnsSupport"),
        "{coloured:?}"
    );
}

#[test]
fn nothing_that_is_shown_steers_a_terminal() {
    let desired =
        json!({"a\u{1b}[2Jb\n": 1, "Tags": [{"Key": "\u{9b}2J\u{202e}", "Value": "x\u{1b}"}]});
    let files = Files::new();
    for desired in [&desired, &json!({"Tags": desired["Tags"]})] {
        let shown = shown(&files.plan("AWS::EC2::VPC", &vpc(), desired, &[]));
        let steers = |letter: char| letter != '\n' && letter.is_control() || letter == '\u{202e}';
        assert!(!shown.contains(steers), "{shown:?}");
    }
}

#[test]
fn files_that_hold_no_properties_are_named() {
    let files = Files::new();
    std::fs::write(files.path("broken.json"), "{\n  \"a\": }").expect("a file");
    let good = files.write("good.json", &vpc());
    let list = files.write("list.json", &json!([]));
    let null = files.write("null.json", &Value::Null);
    let broken = files.path("broken.json");
    let broken = broken.to_str().expect("UTF-8");
    let plan = |desired: &str, more: &[&str]| {
        let arguments = ["--type", "AWS::EC2::VPC", "--desired", desired];
        let output = run(&[&arguments[..], more].concat(), "");
        assert_eq!(output.status.code(), Some(1));
        said(&output)
    };
    assert!(plan(broken, &[]).contains("broken.json: expected value at line 2 column 8"));
    assert!(plan(&list, &[]).contains("list.json: expected an object"));
    assert!(plan(&null, &[]).contains("null.json"));
    assert!(plan("/no/such/file", &[]).contains("/no/such/file: No such file"));
    assert!(plan(&good, &["--current", broken]).contains("broken.json"));
    assert!(plan("-", &["--current", "-"]).contains("standard input can be only one"));
    assert!(plan("-", &[]).contains("standard input: "));
    let unknown = run(&["--type", "AWS::EC2::VCP", "--desired", &good], "");
    assert!(said(&unknown).contains("did you mean AWS::EC2::VPC?"));
}

#[test]
fn arguments_that_do_not_go_together_are_refused() {
    for arguments in [
        &[][..],
        &["--type", "AWS::EC2::VPC"],
        &["--offline", "--type", "AWS::EC2::VPC"],
        &["--type", "VPC", "--desired", "-"],
        &[
            "--type",
            "AWS.EC2/VPC",
            "--desired",
            "-",
            "--default-tag",
            "team",
        ],
        &[
            "--type",
            "AWS.EC2/VPC",
            "--desired",
            "-",
            "--default-tag",
            "aws:x=y",
        ],
    ] {
        let output = run(arguments, "");
        assert_eq!(output.status.code(), Some(1), "{arguments:?}");
        assert!(said(&output).contains("error:"));
    }
}
