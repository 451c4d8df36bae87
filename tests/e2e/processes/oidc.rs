//! Callers for whom an OpenID Connect issuer vouches.

use std::net::TcpListener;
use std::process::Command;
use std::time::{SystemTime, UNIX_EPOCH};

use serde_json::{Value, json};

use super::client::eventually;
use super::issuer::{Files, Issuer};
use super::process::Process;

const ACCOUNT: &str = "123456789012";
const GROUP: &str = "/planes/radius/local/resourceGroups/rg?api-version=2023-10-01-preview";

/// A server that trusts an issuer.
struct Server {
    process: Process,
    url: String,
    _simulator: Process,
}

impl Server {
    async fn trusting(issuer: &str, files: &Files) -> Self {
        let (simulator, aws) = Process::simulator("20ms").await;
        let database = format!("sqlite://{}", files.path("ucp.db").display());
        let ca = format!("--oidc-ca={}", files.path("ca.crt").display());
        let issuer = format!("--oidc-issuer={issuer}");
        let arguments = [
            &issuer,
            "--oidc-audience=ucp",
            &ca,
            "--verdict-wait=0s",
            "--admin=oidc:alice",
        ];
        let (process, url) = Process::serve_with(&arguments, &database, &aws, ACCOUNT).await;
        Self {
            process,
            url,
            _simulator: simulator,
        }
    }

    /// Sends a request with a token. Returns the status, the challenge, and the body of the reply.
    async fn ask(&self, token: &str, path: &str, more: &[&str]) -> (u16, String, Value) {
        let mut command = Command::new("curl");
        command
            .args(["--silent", "--show-error", "--max-time", "60"])
            .args(["--write-out", "\n%header{www-authenticate}\n%{http_code}"])
            .args(["--oauth2-bearer", token])
            .args(more)
            .arg(format!("{}{path}", self.url));
        let run = tokio::task::spawn_blocking(move || command.output()).await;
        let output = run.expect("it ends").expect("curl runs");
        let text = String::from_utf8_lossy(&output.stdout).into_owned();
        let (text, status) = text.rsplit_once('\n').expect("a status");
        let (body, challenge) = text.rsplit_once('\n').expect("a challenge");
        let body = serde_json::from_str(body).unwrap_or(Value::Null);
        let status = status.parse().expect("a number");
        (status, challenge.to_owned(), body)
    }

    async fn status(&self, token: &str) -> u16 {
        self.ask(token, GROUP, &[]).await.0
    }
}

fn now() -> u64 {
    #[expect(
        clippy::disallowed_methods,
        reason = "the issuer has the time of this machine"
    )]
    let now = SystemTime::now();
    now.duration_since(UNIX_EPOCH)
        .expect("after 1970")
        .as_secs()
}

#[tokio::test(flavor = "multi_thread")]
async fn a_user_of_an_issuer_is_the_caller_of_what_it_does() {
    let files = Files::new();
    let Some(mut issuer) = Issuer::start(&files, 0) else {
        return;
    };
    let server = Server::trusting(&issuer.url, &files).await;
    let token = issuer.token("alice", &json!({"groups": ["dev"]}));
    let put = ["-X", "PUT", "--json", r#"{"location":"global"}"#];
    let (status, _, body) = server.ask(&token, GROUP, &put).await;
    assert_eq!(status, 200, "{body}");
    let (_, _, body) = server.ask("", "/readyz", &[]).await;
    assert_eq!(body["authentication"], "Required");
    assert_eq!(body["accepts"], json!(["Token", "Oidc"]));

    let put =
        format!("/planes/aws/aws/accounts/{ACCOUNT}/regions/us-west-2/providers/AWS.EC2/VPC/:put");
    let body = r#"{"alias":"vpc","trackedBy":"/planes/radius/local/resourceGroups/rg/providers/AWS.EC2/VPC:reference/vpc","properties":{"CidrBlock":"10.0.0.0/16"}}"#;
    let headers = files.path("headers").display().to_string();
    let (status, _, body) = server
        .ask(&token, &put, &["-D", &headers, "--json", body])
        .await;
    assert_eq!(status, 201, "{body}");
    let headers = std::fs::read_to_string(&headers).expect("headers");
    let polling = headers.lines().find_map(|line| {
        let (name, value) = line.split_once(": ")?;
        let is_it = name.eq_ignore_ascii_case("azure-asyncoperation");
        is_it.then(|| value.trim().to_owned())
    });
    let polling = polling.expect("a polling URL");
    let path = polling
        .strip_prefix(&server.url)
        .expect("at the same server");
    let ended = eventually(async || {
        let (status, _, body) = server.ask(&token, path, &[]).await;
        assert_eq!(status, 200, "{body}");
        (body["status"] == "Succeeded").then_some(body)
    })
    .await;
    assert_eq!(ended["caller"], "oidc:alice");
    server.process.line("oidc:alice").await;
    let output = server.process.output();
    assert!(!output.contains(&token), "{output}");
}

#[tokio::test(flavor = "multi_thread")]
async fn tokens_that_are_not_good_are_refused() {
    let files = Files::new();
    let (Some(mut issuer), Some(mut other)) = (Issuer::start(&files, 0), Issuer::start(&files, 0))
    else {
        return;
    };
    let server = Server::trusting(&issuer.url, &files).await;
    let alice = issuer.token("alice", &json!({}));
    assert_eq!(server.status(&alice).await, 404);
    let now = now();
    let of_issuer = json!({"iss": issuer.url});
    let bob = issuer.token("bob", &json!({}));
    let (claims, _) = bob.rsplit_once('.').expect("a signature");
    let (_, signature) = alice.rsplit_once('.').expect("a signature");
    let mixed = format!("{claims}.{signature}");
    for (token, expected) in [
        (
            issuer.token("bob", &json!({"exp": now - 61})),
            "has expired",
        ),
        (
            issuer.token("bob", &json!({"nbf": now + 600})),
            "not valid yet",
        ),
        (
            issuer.token("bob", &json!({"iat": now + 600})),
            "not valid yet",
        ),
        (
            issuer.token("bob", &json!({"aud": "other"})),
            "another audience",
        ),
        (issuer.token("bob", &json!({"aud": null})), "`aud`"),
        (
            issuer.token("bob", &json!({"iss": other.url})),
            "another issuer",
        ),
        (issuer.token("", &json!({})), "`sub`"),
        (issuer.token("bob", &json!({"groups": {}})), "`groups`"),
        (
            issuer.token("bob", &json!({"padding": "x".repeat(16 * 1024)})),
            "16384 bytes",
        ),
        (issuer.forged("none"), "signed by RS, PS, ES or EdDSA"),
        (issuer.forged("HS256"), "signed by RS, PS, ES or EdDSA"),
        (other.token("bob", &of_issuer), "does not have"),
        (mixed, "signature"),
        ("not-a-token".to_owned(), "not a JWT"),
    ] {
        let (status, challenge, body) = server.ask(&token, GROUP, &[]).await;
        assert_eq!(status, 401, "{expected}: {body}");
        assert!(
            challenge.contains(r#"error="invalid_token""#),
            "{challenge}"
        );
        assert_eq!(body["error"]["code"], "AuthenticationFailed");
        let message = body["error"]["message"].as_str().expect("a message");
        assert!(message.contains(expected), "{message}");
        assert!(!server.process.output().contains(&token), "{token}");
    }
    assert_eq!(server.status(&alice).await, 404);
}

/// The issuer begins to sign with other keys, of other algorithms, while requests are sent. Then it goes away.
#[tokio::test(flavor = "multi_thread")]
async fn keys_are_rotated_while_requests_are_sent() {
    let files = Files::new();
    let Some(mut issuer) = Issuer::start(&files, 0) else {
        return;
    };
    let server = Server::trusting(&issuer.url, &files).await;
    let old = issuer.token("alice", &json!({}));
    assert_eq!(server.status(&old).await, 404);
    let mut tokens = vec![old];
    for algorithm in ["RS512", "PS256", "ES256", "ES384", "EdDSA"] {
        issuer.rotate(algorithm);
        tokens.push(issuer.token("alice", &json!({"with": algorithm})));
    }
    eventually(async || {
        // What was good stays good.
        assert_eq!(server.status(&tokens[0]).await, 404);
        (server.status(&tokens[1]).await == 404).then_some(())
    })
    .await;
    let later = issuer.token("alice", &json!({"later": true}));
    drop(issuer);
    for token in tokens.iter().chain([&later]) {
        assert_eq!(server.status(token).await, 404);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_server_starts_while_its_issuer_is_away() {
    let files = Files::new();
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    let port = listener.local_addr().expect("an address").port();
    drop(listener);
    let Some(mut elsewhere) = Issuer::start(&files, 0) else {
        return;
    };
    let url = format!("https://localhost:{port}");
    let server = Server::trusting(&url, &files).await;
    let token = elsewhere.token("alice", &json!({ "iss": url }));
    let (status, _, body) = server.ask(&token, GROUP, &[]).await;
    assert_eq!(status, 503, "{body}");
    assert_eq!(body["error"]["code"], "ServiceUnavailable");
    server
        .process
        .line("the keys of the OIDC issuer cannot be read")
        .await;
    let mut issuer = Issuer::start(&files, port).expect("it is installed");
    let token = issuer.token("alice", &json!({}));
    eventually(async || (server.status(&token).await == 404).then_some(())).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn an_issuer_whose_certificate_nobody_vouches_for_is_not_trusted() {
    let (files, others) = (Files::new(), Files::new());
    let Some(mut issuer) = Issuer::start(&files, 0) else {
        return;
    };
    let server = Server::trusting(&issuer.url, &others).await;
    let token = issuer.token("alice", &json!({}));
    let (status, _, body) = server.ask(&token, GROUP, &[]).await;
    assert_eq!(status, 503, "{body}");
}

#[tokio::test(flavor = "multi_thread")]
async fn settings_of_an_issuer_that_cannot_be_used_are_told() {
    let files = Files::new();
    let database = format!("sqlite://{}", files.path("ucp.db").display());
    for (arguments, expected) in [
        (
            &[
                "--oidc-issuer=http://issuer.example.com",
                "--oidc-audience=ucp",
            ][..],
            "https://",
        ),
        (
            &["--oidc-issuer=https://issuer.example.com"],
            "--oidc-audience",
        ),
        (&["--oidc-audience=ucp"], "--oidc-issuer"),
        (
            &[
                "--oidc-issuer=https://localhost",
                "--oidc-audience=ucp",
                "--oidc-ca=/nowhere.pem",
            ],
            "/nowhere.pem",
        ),
    ] {
        let mut refused = Process::serve_unheard_with(&database, arguments);
        assert!(!refused.ended().await.success());
        let output = refused.output();
        assert!(output.contains(expected), "{output}");
    }
}
