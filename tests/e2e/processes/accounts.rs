//! Calls reach the account in the path, or nothing is stored or sent (contract section 6, D32).

use std::fs;
use std::process::Command;

use serde_json::{Value, json};
use tempfile::TempDir;

use super::client::{Answer, Client};
use super::process::Process;
use ucp_simulator::faults::{fault, refuse};
use ucp_simulator::{Action, ExceptionCode};

/// The account of the credentials in the environment.
const HOME: &str = "111111111111";
const GUEST: &str = "222222222222";
const OTHER: &str = "333333333333";
const ROLE: &str = "arn:aws:iam::222222222222:role/ucp";
const SERVICE_ROLE: &str = "arn:aws:iam::222222222222:role/cloud-control";
const VPC: &str = "AWS.EC2/VPC";
const CREDENTIAL: &str =
    "/planes/aws/aws/providers/System.AWS/credentials/default?api-version=2023-10-01-preview";

/// A server on SQLite, and a simulated AWS.
struct Setting {
    _directory: TempDir,
    _simulator: Process,
    _server: Process,
    aws: String,
    url: String,
}

/// `config` is the content of the configuration file; `arguments` are for the server.
async fn setting(config: &str, arguments: &[&str]) -> Setting {
    let directory = tempfile::tempdir().expect("a temporary directory");
    let (simulator, aws) = Process::simulator("20ms").await;
    let file = directory.path().join("ucp.toml");
    fs::write(&file, config).expect("the file is written");
    let mut all = vec!["--config", file.to_str().expect("a path")];
    all.extend(arguments);
    let database = format!("sqlite://{}", directory.path().join("ucp.db").display());
    let (server, url) = Process::serve_with(&all, &database, &aws, HOME).await;
    let setting = Setting {
        _directory: directory,
        _simulator: simulator,
        _server: server,
        aws,
        url,
    };
    setting.client(HOME).put_group().await;
    setting
}

impl Setting {
    fn client(&self, account: &str) -> Client {
        Client::new(&self.url, account)
    }

    /// Configures the simulated AWS.
    async fn order(&self, path: &str, what: &Value) {
        let url = format!("{}/_simulator/{path}", self.aws);
        let answer = self
            .client(HOME)
            .call("POST", &url, &what.to_string())
            .await;
        assert!(answer.status < 300, "{}", answer.text);
    }

    async fn put(&self, account: &str, alias: &str) -> Answer {
        let client = self.client(account);
        let declared = json!({"CidrBlock": "10.0.0.0/16"});
        let (path, body) = client.action("put", VPC, alias, &declared);
        client.call("POST", &path, &body).await
    }

    /// Puts a VPC, waits for its success, and expects one more VPC in the account.
    async fn put_lands_in(&self, account: &str, alias: &str) {
        let client = self.client(account);
        let before = client.live(&self.aws).await.len();
        let put = self.put(account, alias).await;
        assert_eq!(put.status, 201, "{}", put.text);
        let ended = client
            .follow(&put.status_url.expect("polling headers"))
            .await;
        assert_eq!(ended["status"], "Succeeded", "{ended}");
        assert_eq!(client.live(&self.aws).await.len(), before + 1);
    }

    async fn put_is_refused(&self, account: &str, alias: &str) {
        let put = self.put(account, alias).await;
        assert_eq!(put.status, 403, "{}", put.text);
        assert_eq!(put.body["error"]["code"], "AccountMismatch");
    }

    /// All calls that AWS received, of any caller.
    async fn log(&self, operation: &str) -> Vec<Value> {
        let url = format!("{}/_simulator/log", self.aws);
        let log = self.client(HOME).call("GET", &url, "").await.body;
        let mut log = log.as_array().cloned().expect("a log");
        log.retain(|call| call["operation"] == operation);
        log
    }

    async fn put_credential(&self, properties: Value) {
        let mut body = json!({"location": "global", "properties": properties});
        body["properties"]["storage"] = json!({"kind": "Internal"});
        let put = self
            .client(HOME)
            .call("PUT", CREDENTIAL, &body.to_string())
            .await;
        assert_eq!(put.status, 200, "{}", put.text);
    }

    /// Creates an access key for a user of `account`.
    async fn put_access_key(&self, account: &str) {
        let id = format!("AKIA{account}");
        self.put_credential(
            json!({"kind": "AccessKey", "accessKeyId": id, "secretAccessKey": "secret"}),
        )
        .await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_role_leads_to_its_account() {
    let config = format!(
        "[accounts.{GUEST}]\nrole_arn = \"{ROLE}\"\nexternal_id = \"x-1\"\ncloud_control_role_arn = \"{SERVICE_ROLE}\"\n"
    );
    let setting = setting(&config, &[]).await;
    setting
        .order("roles", &json!({"roleArn": ROLE, "externalId": "x-1"}))
        .await;
    setting.put_lands_in(GUEST, "one").await;
    let assumed = setting.log("AssumeRole").await;
    assert_eq!(
        assumed.len(),
        1,
        "one session serves all calls: {assumed:?}"
    );
    assert_eq!(assumed[0]["account"], HOME);
    assert_eq!(assumed[0]["externalId"], "x-1");
    let creates = setting.log("CreateResource").await;
    assert_eq!(creates[0]["roleArn"], SERVICE_ROLE);
    assert!(setting.client(HOME).live(&setting.aws).await.is_empty());
    // Accounts without configuration are reached directly.
    setting.put_lands_in(HOME, "two").await;
}

#[tokio::test(flavor = "multi_thread")]
async fn sessions_that_are_about_to_end_are_renewed() {
    let config = format!("[accounts.{GUEST}]\nrole_arn = \"{ROLE}\"\n");
    let setting = setting(&config, &[]).await;
    setting
        .order("roles", &json!({"roleArn": ROLE, "sessionMillis": 30_000}))
        .await;
    setting.put_lands_in(GUEST, "one").await;
    let assumed = setting.log("AssumeRole").await;
    assert!(assumed.len() > 1, "{assumed:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn an_account_that_the_credentials_are_not_of_is_refused_before_anything_happens() {
    let setting = setting("", &[]).await;
    let guest = setting.client(GUEST);
    let put = setting.put(GUEST, "one").await;
    assert_eq!(put.status, 403, "{}", put.text);
    assert_eq!(put.body["error"]["code"], "AccountMismatch");
    let message = put.body["error"]["message"].as_str().expect("a message");
    for part in [HOME, GUEST, "[accounts.222222222222]"] {
        assert!(message.contains(part), "{message}");
    }
    let (path, body) = guest.action("delete", VPC, "one", &json!({}));
    let delete = guest.call("POST", &path, &body).await;
    assert_eq!(delete.body["error"]["code"], "AccountMismatch");
    assert!(guest.references().await.is_empty());
    for operation in ["CreateResource", "GetResource", "DeleteResource"] {
        assert!(setting.log(operation).await.is_empty(), "{operation}");
    }
    assert_eq!(setting.log("GetCallerIdentity").await.len(), 1);
}

#[tokio::test(flavor = "multi_thread")]
async fn the_check_can_be_switched_off() {
    let setting = setting("", &["--verify-account=false"]).await;
    let put = setting.put(GUEST, "one").await;
    let guest = setting.client(GUEST);
    let ended = guest
        .follow(&put.status_url.expect("polling headers"))
        .await;
    assert_eq!(ended["status"], "Succeeded", "{ended}");
    assert_eq!(setting.client(HOME).live(&setting.aws).await.len(), 1);
    assert!(setting.log("GetCallerIdentity").await.is_empty());
}

#[tokio::test(flavor = "multi_thread")]
async fn nothing_is_accepted_while_nobody_knows_whose_credentials_they_are() {
    // To ask the registry for a schema would be the first use of the credentials.
    let setting = setting("", &["--schema-source=embedded"]).await;
    let unavailable = fault(refuse(ExceptionCode::ServiceUnavailable));
    let unavailable = unavailable.on(Action::GetCallerIdentity).times(1);
    setting.order("faults", &json!(unavailable)).await;
    let put = setting.put(HOME, "one").await;
    assert_eq!(put.status, 503, "{}", put.text);
    assert_eq!(put.body["error"]["code"], "ServiceUnavailable");
    assert_eq!(put.retry_after.as_deref(), Some("1"));
    assert!(setting.client(HOME).references().await.is_empty());
    setting.put_lands_in(HOME, "one").await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_credential_that_is_put_signs_at_once() {
    let setting = setting("", &[]).await;
    setting.put_lands_in(HOME, "one").await;
    setting.put_access_key(GUEST).await;
    setting.put_lands_in(GUEST, "two").await;
    setting.put_is_refused(HOME, "three").await;
    setting.put_access_key(OTHER).await;
    setting.put_lands_in(OTHER, "four").await;
    let removed = setting.client(HOME).call("DELETE", CREDENTIAL, "").await;
    assert_eq!(removed.status, 200, "{}", removed.text);
    // The identity of the process does not take its place.
    for account in [HOME, OTHER] {
        let put = setting.put(account, "five").await;
        assert_eq!(put.status, 403, "{}", put.text);
        assert_eq!(put.body["error"]["code"], "InvalidCredentials");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_web_identity_signs_in_the_role_of_the_credential() {
    let directory = tempfile::tempdir().expect("a temporary directory");
    let token = directory.path().join("token");
    fs::write(&token, "a token").expect("the token is written");
    let token = token.to_str().expect("a path");
    let allowed = format!("--allowed-role={ROLE}");
    let setting = setting("", &["--web-identity-token-file", token, &allowed]).await;
    setting
        .put_credential(json!({"kind": "IRSA", "roleARN": ROLE}))
        .await;
    setting.put_lands_in(GUEST, "one").await;
    let begun = setting.log("AssumeRoleWithWebIdentity").await;
    // Once to see whether AWS accepts it, in the place of the identity of the process.
    assert_eq!(begun.len(), 2, "{begun:?}");
}

/// The planes of `dev` are those of `serve`: what works on it works there.
#[tokio::test(flavor = "multi_thread")]
async fn dev_serves_only_planes_that_could_sign() {
    let directory = tempfile::tempdir().expect("a temporary directory");
    let (_dev, url) = Process::dev(directory.path(), &[]).await;
    let client = Client::new(&url, HOME);
    client.put_group().await;
    let collection = |plane: &str| {
        format!("/planes/aws/{plane}/accounts/{HOME}/regions/eu-west-1/providers/{VPC}")
    };
    let (_, body) = client.action("put", VPC, "one", &json!({"CidrBlock": "10.0.0.0/16"}));
    let put = format!("{}/:put", collection("nowhere"));
    for (method, path, body) in [
        ("GET", collection("nowhere"), ""),
        ("POST", put, body.as_str()),
    ] {
        let answer = client.call(method, &path, body).await;
        assert_eq!(answer.status, 404, "{}", answer.text);
        assert_eq!(answer.body["error"]["code"], "NotFound");
    }
    let plane = "/planes/aws/nowhere?api-version=2023-10-01-preview";
    let settings = |properties: Value| json!({"location": "global", "properties": properties});
    let (bare, ambient) = (json!({}), json!({"credentials": "ambient"}));
    let answer = client.call("PUT", plane, &settings(bare).to_string()).await;
    assert_eq!(answer.status, 200, "{}", answer.text);
    let answer = client.call("GET", &collection("nowhere"), "").await;
    assert_eq!(answer.status, 403, "{}", answer.text);
    assert_eq!(answer.body["error"]["code"], "InvalidCredentials");
    client
        .call("PUT", plane, &settings(ambient).to_string())
        .await;
    let answer = client.call("GET", &collection("nowhere"), "").await;
    assert_eq!(answer.status, 200, "{}", answer.text);
}

/// A stored credential does not outlive the permission to use its role.
#[tokio::test(flavor = "multi_thread")]
async fn a_role_that_is_not_allowed_any_more_signs_nothing() {
    let directory = tempfile::tempdir().expect("a temporary directory");
    let token = directory.path().join("token");
    fs::write(&token, "a token").expect("the token is written");
    let token = format!("--web-identity-token-file={}", token.display());
    let database = format!("sqlite://{}", directory.path().join("ucp.db").display());
    let (_simulator, aws) = Process::simulator("20ms").await;
    let irsa = json!({"kind": "IRSA", "roleARN": ROLE, "storage": {"kind": "Internal"}});
    let irsa = json!({"location": "global", "properties": irsa}).to_string();
    let allowed = ["--allowed-role=arn:aws:iam::222222222222:role/*", &token];
    let list = format!("/planes/aws/aws/accounts/{GUEST}/regions/eu-west-1/providers/{VPC}");

    let (mut server, url) = Process::serve_with(&allowed, &database, &aws, HOME).await;
    let client = Client::new(&url, GUEST);
    assert_eq!(client.call("PUT", CREDENTIAL, &irsa).await.status, 200);
    assert_eq!(client.call("GET", &list, "").await.status, 200);
    server.terminate();
    assert!(server.ended().await.success());

    let (_server, url) = Process::serve_with(&[&token], &database, &aws, HOME).await;
    let client = Client::new(&url, GUEST);
    let answer = client.call("GET", &list, "").await;
    assert_eq!(answer.status, 403, "{}", answer.text);
    assert_eq!(answer.body["error"]["code"], "AuthorizationFailed");
    let message = answer.body["error"]["message"].as_str().expect("a message");
    assert!(
        message.contains(ROLE) && message.contains("--allowed-role"),
        "{message}"
    );
}

#[test]
fn a_configuration_that_would_land_elsewhere_is_refused_at_the_start() {
    let directory = tempfile::tempdir().expect("a temporary directory");
    let file = directory.path().join("ucp.toml");
    let config = format!("\n[accounts.{OTHER}]\nrole_arn = \"{ROLE}\"\n");
    fs::write(&file, config).expect("the file is written");
    let output = Command::new(env!("CARGO_BIN_EXE_ucp"))
        .args(["serve", "--database-url", "sqlite://x", "--config"])
        .arg(&file)
        .env("UCP_ENCRYPTION_KEY", "07".repeat(32))
        .output()
        .expect("the binary starts");
    assert!(!output.status.success());
    let printed = String::from_utf8_lossy(&output.stderr);
    assert_eq!(printed.lines().count(), 1, "{printed}");
    let place = format!("{}:3: ", file.display());
    for part in [place.as_str(), OTHER, GUEST, "give a role of"] {
        assert!(printed.contains(part), "{printed}");
    }
}
