//! Canaries in write-only properties, in credentials and in tokens (section 6, D33): none appears in a database, a dump, a
//! reply, a log or the audit, neither during an operation nor after it. A canary in an ordinary property appears in replies
//! only, and the digest of a token in the database only.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use base64::Engine as _;
use base64::engine::general_purpose::{STANDARD, STANDARD_NO_PAD, URL_SAFE, URL_SAFE_NO_PAD};
use serde_json::{Value, json};
use sha2::{Digest as _, Sha256};

use super::client::{Client, GROUP, eventually};
use super::process::{KEY, Process};
use super::tokens;

const ACCOUNT: &str = "123456789012";
const NEXT_KEY: &str = "0808080808080808080808080808080808080808080808080808080808080808";
const CANARY: &str = "canary-3f9c";
/// In a property that AWS returns.
const READABLE: &str = "readable-81d2";
const CREDENTIALS: &str = "/planes/aws/aws/providers/System.AWS/credentials";
const API_VERSION: &str = "api-version=2023-10-01-preview";

/// The fate of a declaration.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Fate {
    /// It is accepted and succeeds.
    Applied,
    /// It is accepted, and AWS fails to create it.
    Failed,
    /// It is rejected with a message, which must not contain the value.
    Refused,
}

/// Declarations with canaries in write-only properties: a first put, and a second one with changes.
fn declarations(round: &str) -> Vec<(Fate, &'static str, &'static str, Value)> {
    let canary = format!("{CANARY}-\"é\"-{round}");
    let readable = format!("{READABLE}-{round}");
    vec![
        (
            Fate::Applied,
            "AWS.Lambda/Function",
            "readable",
            json!({"FunctionName": "f", "Role": "arn:aws:iam::123456789012:role/f", "Runtime": "nodejs22.x",
                "Handler": "index.handler", "Code": {"ZipFile": canary},
                "Environment": {"Variables": {"TOKEN": readable}}}),
        ),
        (
            Fate::Applied,
            "AWS.SecretsManager/Secret",
            "secret",
            json!({"Name": "s", "SecretString": canary}),
        ),
        (
            Fate::Applied,
            "AWS.RDS/DBInstance",
            "database",
            json!({"DBInstanceIdentifier": "db", "DBInstanceClass": "db.t3.micro", "Engine": "postgres",
                "AllocatedStorage": "20", "MasterUsername": "root", "MasterUserPassword": canary}),
        ),
        (
            Fate::Applied,
            "AWS.EC2/VPNConnection",
            "in-a-list",
            json!({"Type": "ipsec.1", "CustomerGatewayId": "cgw-1",
                "VpnTunnelOptionsSpecifications": [{"PreSharedKey": canary}, {"PreSharedKey": canary}]}),
        ),
        (
            Fate::Applied,
            "AWS.ElasticLoadBalancingV2/ListenerRule",
            "deep-in-a-list",
            json!({"ListenerArn": "arn:aws:elasticloadbalancing:us-west-2:1:listener/app/a/1/2", "Priority": 1,
                "Conditions": [{"Field": "path-pattern", "Values": ["/x"]}],
                "Actions": [{"Type": "authenticate-oidc", "Order": 1, "AuthenticateOidcConfig": {
                    "Issuer": "https://x.example", "AuthorizationEndpoint": "https://x.example/a",
                    "TokenEndpoint": "https://x.example/t", "UserInfoEndpoint": "https://x.example/u",
                    "ClientId": "c", "ClientSecret": canary}}]}),
        ),
        (
            Fate::Failed,
            "AWS.DirectoryService/SimpleAD",
            "failed",
            json!({"Name": "corp.example.com", "Size": "Small", "Password": canary,
                "VpcSettings": {"VpcId": "vpc-0a1b2c3d", "SubnetIds": ["subnet-0a1b2c3d", "subnet-4e5f6071"]}}),
        ),
        (
            Fate::Refused,
            "AWS.RDS/DBInstance",
            "refused",
            json!({"MasterUserPassword": {"nested": canary}}),
        ),
    ]
}

#[tokio::test(flavor = "multi_thread")]
async fn secrets_are_nowhere_on_sqlite() {
    let directory = tempfile::tempdir().expect("a temporary directory");
    let path = directory.path().to_owned();
    let url = format!("sqlite://{}", path.join("ucp.db").display());
    keep_secrets(&url, || files(&path)).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn secrets_are_nowhere_on_postgres() {
    let Some(database) = ucp_store_sql::testing::database().await else {
        return;
    };
    let url = database.url();
    keep_secrets(&url, || dumped(&url)).await;
}

/// A dump of a database.
pub(super) fn dumped(url: &str) -> Vec<u8> {
    let dump = Command::new(postgres_program("pg_dump")).arg(url).output();
    let dump = dump.expect("pg_dump runs");
    assert!(
        dump.status.success(),
        "{}",
        String::from_utf8_lossy(&dump.stderr)
    );
    assert!(!dump.stdout.is_empty());
    dump.stdout
}

/// `at_rest` returns everything that the database stores.
async fn keep_secrets(url: &str, at_rest: impl Fn() -> Vec<u8>) {
    let (_simulator, aws) = Process::simulator("700ms").await;
    let fault = json!({"match": {"operation": "CreateResource", "typeName": "AWS::DirectoryService::SimpleAD"},
        "effect": {"kind": "fail", "errorCode": "InvalidRequest", "identifier": "hidden"}});
    let directory = tempfile::tempdir().expect("a temporary directory");
    let audit_log = directory.path().join("audit.log");
    let logging = format!("--audit-log={}", audit_log.display());
    let (mut server, base) = Process::serve_with(&[&logging], url, &aws, ACCOUNT).await;
    let client = Client::new(&base, ACCOUNT);
    let faults = format!("{aws}/_simulator/faults");
    let ordered = client.call("POST", &faults, &fault.to_string()).await;
    assert!(ordered.status < 300, "{ordered:?}");
    client.put_group().await;
    let token = Token::create(url).await;
    assert_eq!(tokens::ask(&base, &token.text).await.0, 200);
    // Reads are not in the audit log.
    let none = format!("/planes/radius/local/resourceGroups/none?{API_VERSION}");
    let deleted = tokens::send(&base, "DELETE", &none, &token.text).await;
    assert_eq!(deleted.0, 204);
    let (mut replies, mut shown) = (String::new(), 0);
    for round in ["one", "two"] {
        replies.push_str(&put_credentials(&client, round).await);
        let mut followed = Vec::new();
        for (fate, resource_type, alias, properties) in declarations(round) {
            let (path, body) = client.action("put", resource_type, alias, &properties);
            let answer = client.call("POST", &path, &body).await;
            replies.push_str(&answer.text);
            let accepted = answer.status_url.is_some();
            assert_eq!(accepted, fate != Fate::Refused, "{alias}: {}", answer.text);
            followed.extend(answer.status_url.map(|url| (fate, url)));
        }
        for waiting in [
            plan_and_apply(&client, round).await,
            refactor_and_deploy(&client, round).await,
        ] {
            let (told, url) = waiting;
            replies.push_str(&told);
            followed.push((Fate::Applied, url));
        }
        // While AWS works on the change, the document is in the database.
        eventually(async || (!client.calls(&aws).await.is_empty()).then_some(())).await;
        assert_all_hidden("the database, with operations in flight", &at_rest());
        token.assert_hidden("the database", &at_rest());
        for (fate, url) in followed {
            let ended = client.follow(&url).await;
            let succeeded = ended["status"] == "Succeeded";
            assert_eq!(succeeded, fate == Fate::Applied, "{ended}");
            // That no read shows a secret says nothing against it.
            assert!(
                !holds(ended.to_string().as_bytes(), "DroppedProperty"),
                "{ended}"
            );
            replies.push_str(&ended.to_string());
            let result = url.replace("operationStatuses", "operationResults");
            let result = client.call("GET", &result, "").await.text;
            shown += usize::from(result.contains(&format!("{READABLE}-{round}")));
            replies.push_str(&result);
        }
    }
    let updates = client.calls(&aws).await.into_iter();
    let updates = updates.filter(|call| call["operation"] == "UpdateResource");
    assert_eq!(updates.count(), 9, "a changed secret is an update");
    for reference in client.references().await {
        replies.push_str(&reference.to_string());
    }
    assert_eq!(shown, 2, "an ordinary property is in the results");
    assert_hidden(CANARY, "the replies", replies.as_bytes());
    assert_all_hidden("the database", &at_rest());
    server.terminate();
    assert!(server.ended().await.success(), "{}", server.output());
    assert_all_hidden("the logs", server.output().as_bytes());
    assert_all_hidden("the database, after a stop", &at_rest());
    token.assert_hidden("the logs", server.output().as_bytes());
    assert!(!token.has_digest(server.output().as_bytes()), "in the logs");
    let audit_log = fs::read(audit_log).expect("the audit log");
    assert!(holds(&audit_log, "\"token:canary\""), "it has the caller");
    assert_all_hidden("the audit log", &audit_log);
    token.assert_hidden("the audit log", &audit_log);
    assert!(!token.has_digest(&audit_log), "in the audit log");
    let stored = at_rest();
    token.assert_hidden("the database, after a stop", &stored);
    assert!(holds(&stored, token.id()), "it is stored, under its id");
    assert!(token.has_digest(&stored), "as a digest");
    let (done, told) = Process::rotate_key(&[NEXT_KEY, KEY], url, &["--new-digest-key"]).await;
    assert!(done, "{told}");
    assert_all_hidden("what rotate-key prints", told.as_bytes());
    assert_all_hidden("the database, under another key", &at_rest());
}

/// Plans a set twice, and carries out one of the plans. Returns the replies, and where the status is.
async fn plan_and_apply(client: &Client, round: &str) -> (String, String) {
    let (canary, readable) = (
        format!("{CANARY}-\"é\"-{round}"),
        format!("{READABLE}-{round}"),
    );
    let scope = format!("/planes/aws/aws/accounts/{ACCOUNT}/regions/us-west-2");
    let set = json!({"scope": scope, "resources": [
        {"alias": "topic", "type": "AWS.SNS/Topic",
            "properties": {"TopicName": "topic", "DisplayName": readable}},
        {"alias": "waits", "type": "AWS.SecretsManager/Secret", "properties":
            {"Name": "waits", "SecretString": canary, "Description": {"$reference": "topic"}}}]});
    let mut replies = String::new();
    let mut id = Value::Null;
    for _ in 0..2 {
        let path = format!("{GROUP}/:whatIf");
        let planned = client.call("POST", &path, &set.to_string()).await;
        id = planned.body["properties"]["planId"].clone();
        let plan = id
            .as_str()
            .unwrap_or_else(|| panic!("no plan: {}", planned.text));
        let path = format!("/planes/radius/local/providers/System.Resources/plans/{plan}");
        let read = client.call("GET", &path, "").await;
        assert!(read.text.contains(READABLE), "{}", read.text);
        replies.push_str(&planned.text);
        replies.push_str(&read.text);
    }
    let apply = json!({ "planId": id }).to_string();
    let applied = client
        .call("POST", &format!("{GROUP}/:apply"), &apply)
        .await;
    replies.push_str(&applied.text);
    let url = applied
        .status_url
        .unwrap_or_else(|| panic!("{}", applied.text));
    (replies, url)
}

/// Deploys a refactor of a group of its own, in which a secret waits for a topic. Returns the replies, and where the status is.
async fn refactor_and_deploy(client: &Client, round: &str) -> (String, String) {
    let (canary, readable) = (
        format!("{CANARY}-\"é\"-{round}"),
        format!("{READABLE}-{round}"),
    );
    let scope = format!("/planes/aws/aws/accounts/{ACCOUNT}/regions/us-west-2");
    let resources = json!([
        {"alias": "topic", "type": "AWS.SNS/Topic",
            "properties": {"TopicName": "moved", "DisplayName": readable}},
        {"alias": "waits", "type": "AWS.SecretsManager/Secret", "properties": {"Name": "moved",
            "SecretString": canary, "Description": {"$reference": "AWS.SNS/Topic/topic"}}}]);
    let mut replies = String::new();
    let mut url = None;
    for mode in ["plan", "apply"] {
        let groups = json!([{"name": "refactored", "resources": resources}]);
        let body = json!({"mode": mode, "scope": scope, "deploy": true, "groups": groups});
        let path = "/planes/radius/local/:refactor";
        let reply = client.call("POST", path, &body.to_string()).await;
        let read = reply.body["id"].as_str();
        let read = read.unwrap_or_else(|| panic!("no record: {}", reply.text));
        replies.push_str(&client.call("GET", read, "").await.text);
        replies.push_str(&reply.text);
        url = reply.status_url;
    }
    let url = url.unwrap_or_else(|| panic!("nothing is deployed: {replies}"));
    (replies, url)
}

/// A token of the server.
struct Token {
    text: String,
}

impl Token {
    async fn create(url: &str) -> Self {
        let text = Process::create_token(url, &["--name", "canary"]).await;
        Self { text }
    }

    fn id(&self) -> &str {
        &self.text[4..16]
    }

    /// Neither the letters of its secret nor the bytes that they stand for are there, whichever of them the digest is made
    /// of.
    fn assert_hidden(&self, place: &str, bytes: &[u8]) {
        let secret = &self.text[17..];
        assert_hidden(secret, place, bytes);
        let raw = URL_SAFE_NO_PAD.decode(secret).expect("base64");
        assert_eq!(raw.len(), 32);
        assert!(!holds_bytes(bytes, &raw), "a token is in {place}, as bytes");
        for form in [
            hex::encode(&raw),
            hex::encode_upper(&raw),
            STANDARD.encode(&raw),
        ] {
            assert!(!holds(bytes, &form), "a token is in {place}: {form}");
        }
    }

    /// Whether there is what the database has of its secret, in any form.
    fn has_digest(&self, bytes: &[u8]) -> bool {
        let digest = Sha256::digest(&self.text[17..]);
        let forms = [
            hex::encode(digest),
            hex::encode_upper(digest),
            STANDARD_NO_PAD.encode(digest),
            URL_SAFE_NO_PAD.encode(digest),
        ];
        holds_bytes(bytes, &digest) || forms.iter().any(|form| holds(bytes, form))
    }
}

/// Puts a credential with a canary, then another one that is rejected, and reads. Returns the replies.
async fn put_credentials(client: &Client, round: &str) -> String {
    let body = |kind: &str| {
        json!({"location": "global", "properties": {"kind": kind, "accessKeyId": format!("AKIA{ACCOUNT}"),
            "secretAccessKey": format!("{CANARY}-{round}"), "storage": {"kind": "Internal"}}})
    };
    let one = format!("{CREDENTIALS}/default?{API_VERSION}");
    let mut replies = String::new();
    for (method, path, body, status) in [
        ("PUT", &one, body("AccessKey").to_string(), 200),
        ("PUT", &one, body(CANARY).to_string(), 400),
        ("GET", &one, String::new(), 200),
        (
            "GET",
            &format!("{CREDENTIALS}?{API_VERSION}"),
            String::new(),
            200,
        ),
    ] {
        let answer = client.call(method, path, &body).await;
        assert_eq!(answer.status, status, "{}", answer.text);
        replies.push_str(&answer.text);
    }
    replies
}

fn assert_all_hidden(place: &str, bytes: &[u8]) {
    for canary in [CANARY, READABLE] {
        assert_hidden(canary, place, bytes);
    }
}

pub(super) fn assert_hidden(canary: &str, place: &str, bytes: &[u8]) {
    for (encoding, form) in forms(canary) {
        assert!(
            !holds(bytes, &form),
            "{canary} is readable in {place}, {encoding}"
        );
    }
}

pub(super) fn holds(bytes: &[u8], form: &str) -> bool {
    holds_bytes(bytes, form.as_bytes())
}

fn holds_bytes(bytes: &[u8], part: &[u8]) -> bool {
    memchr::memmem::find(bytes, part).is_some()
}

/// The canary in the encodings that a leak is likely to have.
fn forms(canary: &str) -> Vec<(&'static str, String)> {
    let escaped: Vec<String> = canary
        .bytes()
        .map(|byte| format!("\\u{byte:04x}"))
        .collect();
    let mut forms = vec![
        ("as it is", canary.to_owned()),
        ("in hexadecimal", hex::encode(canary)),
        ("in upper-case hexadecimal", hex::encode_upper(canary)),
        ("escaped", escaped.concat()),
        (
            "as a list of bytes",
            format!("{:?}", canary.as_bytes())[1..].replace(']', ""),
        ),
    ];
    for before in 0..3 {
        // Its base64 form depends on the offset, of which there are three; the outermost digits also encode adjacent
        // bytes.
        let bytes = [&vec![0; before], canary.as_bytes()].concat();
        let (first, last) = ((before * 8).div_ceil(6), bytes.len() * 8 / 6);
        for (encoding, engine) in [("in base64", STANDARD), ("in base64 for URLs", URL_SAFE)] {
            forms.push((encoding, engine.encode(&bytes)[first..last].to_owned()));
        }
    }
    forms
}

#[test]
fn a_canary_would_be_found() {
    let text = format!("password={CANARY}!");
    let shown = [
        text.clone(),
        json!({"escaped": text}).to_string(),
        hex::encode(&text),
        hex::encode_upper(&text),
        format!("{:?}", text.as_bytes()),
        STANDARD.encode(&text),
        STANDARD.encode(format!("1{text}")),
        STANDARD.encode(format!("12{text}")),
        URL_SAFE.encode(&text),
    ];
    for shown in shown {
        let found = forms(CANARY)
            .iter()
            .any(|(_, form)| holds(shown.as_bytes(), form));
        assert!(found, "{shown}");
    }
    assert!(
        forms(CANARY)
            .iter()
            .all(|(_, form)| !holds(b"nothing here", form))
    );
}

/// All bytes of all files in a folder: the database, its log and its lock.
pub(super) fn files(directory: &Path) -> Vec<u8> {
    let mut bytes = Vec::new();
    for entry in fs::read_dir(directory).expect("the folder is there") {
        bytes.extend(fs::read(entry.expect("an entry").path()).expect("a file"));
    }
    assert!(!bytes.is_empty());
    bytes
}

/// The path of a program of the Postgres that runs the test cluster.
fn postgres_program(name: &str) -> PathBuf {
    let directory = Command::new("pg_config").arg("--bindir").output().ok();
    let directory = directory.filter(|output| output.status.success());
    let found = directory
        .map(|output| PathBuf::from(String::from_utf8_lossy(&output.stdout).trim()).join(name));
    found
        .filter(|path| path.exists())
        .unwrap_or_else(|| PathBuf::from(name))
}
