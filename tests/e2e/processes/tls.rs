//! TLS and certificates of clients, with an unmodified curl.

use std::fs;

use serde_json::{Value, json};

use super::certificates::Files;
use super::client::eventually;
use super::process::Process;

const ACCOUNT: &str = "123456789012";
const GROUP: &str = "/planes/radius/local/resourceGroups/rg?api-version=2023-10-01-preview";

const REFUSED: &str = "/planes/radius/local/providers/System.Resources/auditEvents\
    ?api-version=2023-10-01-preview&action=connect";

/// What the authority `ca` certifies.
const NAMES: &[(&str, &str)] = &[
    ("server", "127.0.0.1"),
    ("client", "Ada O'Neill"),
    ("token", "token:ci"),
];

fn files() -> Files {
    let files = Files::new();
    files.issue("ca", NAMES);
    files
}

/// Returns the URL over TLS of what a server says it listens on.
fn over_tls(url: &str) -> String {
    url.replace("http://", "https://")
}

#[tokio::test(flavor = "multi_thread")]
async fn a_client_with_a_certificate_is_the_caller_of_what_it_does() {
    let files = files();
    let (_simulator, aws) = Process::simulator("50ms").await;
    let arguments = [
        files.argument("--tls-cert", "server.crt"),
        files.argument("--tls-key", "server.key"),
        files.argument("--client-ca", "ca.crt"),
        "--admin=Ada O'Neill".to_owned(),
        "--listen=0.0.0.0:0".to_owned(),
        "--verdict-wait=0s".to_owned(),
    ];
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let (server, url) = Process::serve_with(&arguments, &files.database(), &aws, ACCOUNT).await;
    let url = over_tls(&url).replace("0.0.0.0", "127.0.0.1");
    let (certificate, key) = (files.path("client.crt"), files.path("client.key"));
    let with = ["--cert", &certificate, "--key", &key];

    let group = format!("{url}{GROUP}");
    let put_group = ["-X", "PUT", "--json", r#"{"location":"global"}"#, &group];
    let (status, body) = files.curl(&put_group).await;
    assert_eq!(status, 401, "no certificate: {body}");
    // Over HTTP/2 a request has no `Host`.
    let headers = files.path("headers");
    for (version, spoken) in [("--http1.1", "HTTP/1.1 200"), ("--http2", "HTTP/2 200")] {
        let put = [&with[..], &[version, "-D", &headers], &put_group[..]].concat();
        let (status, body) = files.curl(&put).await;
        assert_eq!(status, 200, "{version}: {body}");
        let head = fs::read_to_string(&headers).expect("headers");
        assert!(head.starts_with(spoken), "{head}");
        let other = group.replace("/rg?", &format!("/rg{}?", version.len()));
        let put = [&with[..], &[version], &put_group[..4], &[&other]].concat();
        assert_eq!(files.curl(&put).await.0, 200);
        let page = group.replace("/rg?", "?top=1&");
        let (_, body) = files.curl(&[&with[..], &[version, &page]].concat()).await;
        let next = body["nextLink"].as_str().unwrap_or_default();
        assert!(next.starts_with(&url), "{version}: {body}");
        let (status, body) = files.curl(&[&with[..], &[version, next]].concat()).await;
        assert_eq!(status, 200, "{body}");
        assert_eq!(body["value"].as_array().map(Vec::len), Some(1), "{body}");
        let elsewhere = [version, "-H", "Host: elsewhere.example", &group];
        let (status, body) = files.curl(&[&with[..], &elsewhere].concat()).await;
        assert_eq!(status, 403, "{version}: {body}");
    }

    let (status, body) = files
        .curl(&[&with[..], &[&format!("{url}/readyz")]].concat())
        .await;
    assert_eq!(status, 200);
    assert_eq!(body["authentication"], "Required");
    assert_eq!(body["accepts"], json!(["Token", "Certificate"]));

    let put = format!(
        "{url}/planes/aws/aws/accounts/{ACCOUNT}/regions/us-west-2/providers/AWS.EC2/VPC/:put"
    );
    let body = r#"{"alias":"vpc","trackedBy":"/planes/radius/local/resourceGroups/rg/providers/AWS.EC2/VPC:reference/vpc","properties":{"CidrBlock":"10.0.0.0/16"}}"#;
    let (status, body) = files
        .curl(&[&with[..], &["-D", &headers, "--json", body, &put]].concat())
        .await;
    assert_eq!(status, 201, "{body}");
    let headers = fs::read_to_string(&headers).expect("headers");
    assert!(headers.starts_with("HTTP/2 201"), "{headers}");
    let polling = headers.lines().find_map(|line| {
        let (name, value) = line.split_once(": ")?;
        name.eq_ignore_ascii_case("azure-asyncoperation")
            .then(|| value.trim().to_owned())
    });
    let polling = polling.expect("a polling URL");
    assert!(polling.starts_with(&url), "{polling}");
    let ended = eventually(async || {
        let (status, body) = files.curl(&[&with[..], &[&polling]].concat()).await;
        assert_eq!(status, 200, "{body}");
        (body["status"] == "Succeeded").then_some(body)
    })
    .await;
    assert_eq!(ended["caller"], "Ada O'Neill");
    assert!(!server.output().contains("not authenticated"));
}

/// A certificate lets in who has one of an authority of clients, and nobody else.
#[tokio::test(flavor = "multi_thread")]
async fn a_certificate_that_nobody_vouches_for_lets_nobody_in() {
    let (files, strangers, proxies) = (files(), files(), files());
    let tls = [
        files.argument("--tls-cert", "server.crt"),
        files.argument("--tls-key", "server.key"),
    ];
    let clients = files.argument("--client-ca", "ca.crt");
    let of_proxies = proxies.argument("--request-header-client-ca", "ca.crt");
    let nowhere = "http://127.0.0.1:9";
    let certificate = |files: &Files, name: &str| {
        let (certificate, key) = (format!("{name}.crt"), format!("{name}.key"));
        [files.path(&certificate), files.path(&key)]
    };
    let (own, strange) = (
        certificate(&files, "client"),
        certificate(&strangers, "client"),
    );
    let (proxy, reserved) = (
        certificate(&proxies, "client"),
        certificate(&files, "token"),
    );
    // The status with each certificate; without a reply, the handshake was refused.
    for (more, expected) in [
        // No authority of clients: whatever they have is not asked for.
        (&["--require-authentication"][..], [401, 401, 401, 401]),
        (&[&*clients], [200, 0, 0, 401]),
        (
            &[
                &*clients,
                &*of_proxies,
                "--request-header-allowed-name=front",
            ],
            [200, 0, 401, 401],
        ),
    ] {
        let arguments = tls.iter().map(String::as_str).chain(more.iter().copied());
        let arguments: Vec<&str> = arguments.chain(["--admin=Ada O'Neill"]).collect();
        let folder = tempfile::tempdir().expect("a folder");
        let database = format!("sqlite://{}", folder.path().join("ucp.db").display());
        let (server, url) = Process::serve_with(&arguments, &database, nowhere, ACCOUNT).await;
        let url = over_tls(&url);
        let planes = format!("{url}/planes?api-version=2023-10-01-preview");
        for ([certificate, key], expected) in [&own, &strange, &proxy, &reserved]
            .into_iter()
            .zip(expected)
        {
            for version in ["--http1.1", "--http2"] {
                let headers = files.path("headers");
                let ask = [
                    version,
                    "-D",
                    &headers,
                    "--cert",
                    certificate,
                    "--key",
                    key,
                    &planes,
                ];
                let (status, body) = files.curl(&ask).await;
                assert_eq!(status, expected, "{more:?} {certificate} {version}: {body}");
                if expected == 401 {
                    assert_eq!(body["error"]["code"], "AuthenticationFailed");
                    let head = fs::read_to_string(&headers).expect("headers");
                    let head = head.to_ascii_lowercase();
                    assert!(head.contains("www-authenticate: bearer"), "{head}");
                }
            }
        }
        // Who has connected may read that others could not.
        let [certificate, key] = &own;
        if expected[0] != 200 {
            continue;
        }
        let read = async |path: &str| {
            let url = format!("{url}{path}");
            let (status, body) = files
                .curl(&["--cert", certificate, "--key", key, &url])
                .await;
            assert_eq!(status, 200, "{body}");
            body
        };
        let refused = 2 * expected.iter().filter(|status| **status == 0).count();
        let events = eventually(async || {
            let events = read(REFUSED).await["value"].clone();
            let events = events.as_array().expect("a list").clone();
            (events.len() >= refused).then_some(events)
        })
        .await;
        assert_eq!(events.len(), refused, "{events:?}");
        for event in &events {
            let event = &event["properties"];
            assert_eq!(event["outcome"], "Refused");
            assert_eq!(event["code"], "AuthenticationFailed");
            assert_eq!(event["peer"], "127.0.0.1");
            assert_eq!(event["id"], "/");
        }
        let told = || server.output().matches("is not accepted: ").count();
        eventually(async || (told() >= refused).then_some(())).await;
        assert_eq!(told(), refused, "{}", server.output());
        let counted = format!("ucp_unserved_total{{reason=\"certificate\"}} {refused}");
        let metrics = [
            "--cert",
            certificate,
            "--key",
            key,
            &format!("{url}/metrics"),
        ];
        let metrics = files.curl_text(&metrics).await.1;
        assert!(metrics.lines().any(|line| line == counted), "{metrics}");
    }
}

/// What strangers try, certificates and then tokens, is in the log and in the audit, or it is counted in a later line. How
/// many have lines depends on how long a minute is here.
#[tokio::test(flavor = "multi_thread")]
async fn logins_that_fail_again_and_again_are_told_or_counted() {
    let (files, strangers) = (files(), files());
    let audit = files.path("audit.log");
    let arguments = [
        files.argument("--tls-cert", "server.crt"),
        files.argument("--tls-key", "server.key"),
        files.argument("--client-ca", "ca.crt"),
        "--admin=Ada O'Neill".to_owned(),
        format!("--audit-log={audit}"),
    ];
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let nowhere = "http://127.0.0.1:9";
    let database = files.database();
    let (mut server, url) = Process::serve_with(&arguments, &database, nowhere, ACCOUNT).await;
    let url = over_tls(&url);
    let together = [
        "--parallel",
        "--parallel-immediate",
        "--parallel-max",
        "120",
    ];
    let [certificate, key] = ["client.crt", "client.key"].map(|name| strangers.path(name));
    let shown = ["--http1.1", "--cert", &certificate, "--key", &key];
    let healthz = format!("{url}/healthz?[1-120]");
    let connect = [&together[..], &shown, &[&healthz]].concat();
    assert_eq!(files.curl_text(&connect).await.0, 0);
    let [certificate, key] = ["client.crt", "client.key"].map(|name| files.path(name));
    let metrics = format!("{url}/metrics");
    let read = ["--cert", &certificate, "--key", &key, &metrics];
    for name in [
        "logins_failed_total",
        "unserved_total{reason=\"certificate\"}",
    ] {
        let counted = format!("ucp_{name} 120");
        eventually(async || {
            let (_, metrics) = files.curl_text(&read).await;
            let is_counted = metrics.lines().any(|line| line == counted);
            is_counted.then_some(())
        })
        .await;
    }
    let planes = format!("{url}/planes?api-version=2023-10-01-preview&top=[1-10]");
    let wrong = ["--oauth2-bearer", "wrong", &planes];
    files.curl_text(&[&together[..], &wrong].concat()).await;
    // Who shows nothing is counted by nobody, and refused.
    assert_eq!(files.curl(&[&planes.replace("[1-10]", "1")]).await.0, 401);
    server.terminate();
    assert!(server.ended().await.success());

    let recorded = fs::read_to_string(&audit).expect("a log");
    let lines = recorded.lines().map(serde_json::from_str::<Value>);
    let lines: Vec<Value> = lines.map(|line| line.expect("JSON")).collect();
    let suppressed = |line: &Value| line["suppressed"].as_u64().unwrap_or_default();
    let suppressed: u64 = lines.iter().map(suppressed).sum();
    let told = server.output();
    let told = told.lines().filter(|line| line.contains("a login failed"));
    let told = u64::try_from(told.count()).expect("a number");
    assert!((100..130).contains(&told), "{told}");
    assert_eq!(u64::try_from(lines.len()).expect("a number"), told + 1);
    assert_eq!(told + suppressed, 130);
}

#[tokio::test(flavor = "multi_thread")]
async fn http_in_clear_is_refused_where_tls_is_spoken() {
    let files = files();
    let arguments = [
        files.argument("--tls-cert", "server.crt"),
        files.argument("--tls-key", "server.key"),
    ];
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let nowhere = "http://127.0.0.1:9";
    let (_server, url) = Process::serve_with(&arguments, &files.database(), nowhere, ACCOUNT).await;
    let (status, body) = files.curl(&[&format!("{url}{GROUP}")]).await;
    assert_eq!(status, 400);
    assert_eq!(body["error"]["code"], "BadRequest");
    let (status, body) = files.curl(&[&format!("{}{GROUP}", over_tls(&url))]).await;
    assert_eq!(status, 404, "{body}");

    // A renewed certificate is used without a restart.
    files.issue("ca", NAMES);
    eventually(async || {
        let (status, _) = files.curl(&[&format!("{}/healthz", over_tls(&url))]).await;
        (status == 200).then_some(())
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn beyond_loopback_callers_are_authenticated_or_it_is_said_aloud() {
    let files = files();
    let anywhere = "--listen=0.0.0.0:0";
    let nowhere = "http://127.0.0.1:9";
    let local = |url: &str, path: &str| url.replace("0.0.0.0", "127.0.0.1") + path;
    let (server, url) = Process::serve_with(&[anywhere], &files.database(), nowhere, ACCOUNT).await;
    server.line("tokens and passwords travel in clear").await;
    let (_, body) = files.curl(&[&local(&url, "/readyz")]).await;
    assert_eq!(body["authentication"], "Required");
    assert_eq!(body["inClear"], true);
    let (status, body) = files.curl(&[&local(&url, GROUP)]).await;
    assert_eq!(status, 401);
    assert_eq!(body["error"]["code"], "AuthenticationFailed");
    drop(server);
    let behind = [anywhere, "--tls-at-proxy", "--deny-type=AWS.IAM/*"];
    let (server, url) = Process::serve_with(&behind, &files.database(), nowhere, ACCOUNT).await;
    server.line("AWS.CloudFormation/StackSet").await;
    let (_, body) = files.curl(&[&local(&url, "/readyz")]).await;
    assert_eq!(body.get("inClear"), None, "{body}");
    assert!(!server.output().contains("in clear"));
    drop(server);
    let insecure = [anywhere, "--insecure-no-authentication"];
    let (server, url) = Process::serve_with(&insecure, &files.database(), nowhere, ACCOUNT).await;
    server.line("INSECURE").await;
    let (_, body) = files.curl(&[&local(&url, "/readyz")]).await;
    assert_eq!(body["authentication"], "None");
    let (status, _) = files.curl(&[&local(&url, GROUP)]).await;
    assert_eq!(status, 404);
    drop(server);
    // On loopback it is said, too.
    let (server, _) = Process::serve_with(&[], &files.database(), nowhere, ACCOUNT).await;
    let warning = "callers are not authenticated: whoever reaches this address can change AWS";
    server.line(warning).await;
    let said = server.output();
    assert!(!said.contains("INSECURE"), "{said}");
}

/// Keys, tokens and properties do not end up in a file.
#[cfg(target_os = "linux")]
#[tokio::test(flavor = "multi_thread")]
async fn a_server_leaves_no_core_dump() {
    let files = files();
    let nowhere = "http://127.0.0.1:9";
    let (server, _) = Process::serve_with(&[], &files.database(), nowhere, ACCOUNT).await;
    let limits = fs::read_to_string(format!("/proc/{}/limits", server.id())).expect("limits");
    let cores = limits
        .lines()
        .find(|line| line.starts_with("Max core file size"));
    let cores = cores.expect("a limit").split_whitespace().skip(4);
    assert_eq!(cores.take(2).collect::<Vec<_>>(), ["0", "0"]);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_certificate_that_cannot_be_used_is_named() {
    let files = files();
    let arguments = [
        files.argument("--tls-cert", "server.crt"),
        files.argument("--tls-key", "client.key"),
    ];
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let mut refused = Process::serve_unheard_with(&files.database(), &arguments);
    assert!(!refused.ended().await.success());
    let said = refused.output();
    assert!(
        said.contains("server.crt and its key cannot be used"),
        "{said}"
    );
}

/// A proxy such as the aggregation layer of Kubernetes, and others that forge its headers.
#[tokio::test(flavor = "multi_thread")]
async fn only_a_proxy_with_its_certificate_says_who_calls() {
    let (files, proxies) = (files(), files());
    let arguments = [
        files.argument("--tls-cert", "server.crt"),
        files.argument("--tls-key", "server.key"),
        files.argument("--client-ca", "ca.crt"),
        proxies.argument("--request-header-client-ca", "ca.crt"),
        "--request-header-allowed-name=Ada O'Neill".to_owned(),
    ];
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let nowhere = "http://127.0.0.1:9";
    let (server, url) = Process::serve_with(&arguments, &files.database(), nowhere, ACCOUNT).await;
    let planes = over_tls(&url) + "/planes?api-version=2023-10-01-preview";
    let user = |name: &str| format!("X-Remote-User: {name}");
    let ask = async |identity: Option<(&Files, &str)>, header: &str| {
        let identity = identity.map(|(files, name)| {
            let (certificate, key) = (format!("{name}.crt"), format!("{name}.key"));
            [files.path(&certificate), files.path(&key)]
        });
        let mut given = vec!["-H", header];
        if let Some([certificate, key]) = &identity {
            given.extend(["--cert", certificate, "--key", key]);
        }
        given.push(&planes);
        files.curl(&given).await.0
    };
    let proxy = Some((&proxies, "client"));
    assert_eq!(ask(proxy, &user("grace")).await, 200);
    server.line(r#""caller.name":"grace""#).await;
    // It does not say who calls, or says what only a token may.
    assert_eq!(ask(proxy, "X-Other: x").await, 401);
    for name in ["token:ci", "broker:cf", "anonymous", "oidc:grace"] {
        assert_eq!(ask(proxy, &user(name)).await, 401, "{name}");
    }
    // Another name of the same authority, a client, and nobody.
    let other = Some((&proxies, "server"));
    assert_eq!(ask(other, &user("mallory")).await, 401);
    assert_eq!(ask(None, &user("mallory")).await, 401);
    let client = Some((&files, "client"));
    assert_eq!(ask(client, &user("mallory")).await, 200);
    server.line(r#""caller.name":"Ada O'Neill""#).await;
    assert!(!server.output().contains("mallory"));
    // A certificate does not make the name of a token.
    assert_eq!(ask(Some((&files, "token")), "X-Other: x").await, 401);
}

/// As the aggregation layer of Kubernetes asks: below its path, with the name of its user.
#[tokio::test(flavor = "multi_thread")]
async fn a_proxy_says_who_calls_below_a_path_base() {
    const BASE: &str = "/apis/api.ucp.dev/v1alpha3";
    let (files, proxies) = (files(), files());
    let arguments = [
        files.argument("--tls-cert", "server.crt"),
        files.argument("--tls-key", "server.key"),
        proxies.argument("--request-header-client-ca", "ca.crt"),
        "--request-header-allowed-name=Ada O'Neill".to_owned(),
        "--admin=group:system:masters".to_owned(),
        format!("--path-base={BASE}"),
    ];
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let nowhere = "http://127.0.0.1:9";
    let (server, url) = Process::serve_with(&arguments, &files.database(), nowhere, ACCOUNT).await;
    let url = over_tls(&url);
    let server_root = url.trim_end_matches(BASE).to_owned();
    let (certificate, key) = (proxies.path("client.crt"), proxies.path("client.key"));
    let proxy = ["--cert", certificate.as_str(), "--key", key.as_str()];
    let user = ["-H", "X-Remote-User: grace"];
    let masters = ["-H", "X-Remote-Group: system:masters"];
    let group = format!("{server_root}{BASE}{GROUP}");
    let put = ["-X", "PUT", "--json", r#"{"location":"global"}"#, &group];

    let (status, body) = files.curl(&[&user[..], &masters, &put].concat()).await;
    assert_eq!(status, 401, "no certificate: {body}");
    let (status, body) = files.curl(&[&proxy[..], &user, &put].concat()).await;
    assert_eq!(status, 403, "no group: {body}");
    let as_master = [&proxy[..], &user, &masters].concat();
    let (status, body) = files.curl(&[&as_master[..], &put].concat()).await;
    assert_eq!(status, 200, "{body}");
    assert_eq!(body["id"], "/planes/radius/local/resourcegroups/rg");
    server.line(r#""caller.name":"grace""#).await;
    // What Kubernetes asks first, and what is not below the path.
    let root = format!("{server_root}{BASE}");
    let elsewhere = group.replace(BASE, "");
    for (path, with, without) in [(&root, 200, 401), (&elsewhere, 404, 404)] {
        let (status, body) = files.curl(&[&as_master[..], &[path]].concat()).await;
        assert_eq!(status, with, "{path}: {body}");
        let (status, body) = files.curl(&[&user[..], &[path]].concat()).await;
        assert_eq!(status, without, "{path}: {body}");
    }
}
