//! Third-party clients against a running `ucp dev`.

use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::json;

use crate::issuer::{Files, Issuer};
use crate::process::Process;

/// Creates of this type take so long that a cancel always arrives in time.
const SLOW_TYPE: &str = r#"{"match":{"operation":"CreateResource","typeName":"AWS::EC2::InternetGateway"},
    "effect":{"kind":"latency","leastMillis":600000,"mostMillis":600000}}"#;

/// What `leftovers.sh` asks for: deletes of this type are refused.
const KEPT_TYPE: &str = r#"{"match":{"operation":"DeleteResource","typeName":"AWS::EC2::DHCPOptions"},"count":10,
    "effect":{"kind":"fail","errorCode":"InvalidRequest","message":"It is in use."}}"#;

/// Creates of this type fail in AWS.
const FAILING_TYPE: &str = r#"{"match":{"operation":"CreateResource","typeName":"AWS::SQS::Queue"},
    "effect":{"kind":"fail","errorCode":"ServiceLimitExceeded","message":"There can be no more queues.","identifier":"hidden"}}"#;
/// Arguments that make AWS fast and let a request wait longer than anything takes, so that the outcome is
/// deterministic.
const PATIENT: [&str; 4] = [
    "--verdict-wait=60s",
    "--group-delete-wait=60s",
    "--simulator-latency-min=50ms",
    "--simulator-latency-max=100ms",
];

/// The path of a file of the project.
fn project(path: &str) -> PathBuf {
    Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../..")).join(path)
}

/// Runs a command to its end. If it fails, returns its output as the error.
async fn run(mut command: Command) -> Result<String, String> {
    let run = tokio::task::spawn_blocking(move || command.output()).await;
    let output = run.expect("it ends").expect("it starts");
    let printed = [output.stdout, output.stderr].concat();
    let printed = String::from_utf8_lossy(&printed).into_owned();
    if output.status.success() {
        Ok(printed)
    } else {
        Err(printed)
    }
}

/// Whether the packages of `tests/clients/requirements.txt` are installed.
fn has_python_clients() -> bool {
    const MODULES: &str = "import azure.mgmt.core, azure.mgmt.resource.resources, openapi_generator_cli, \
        openapi_python_client, openapi_spec_validator, pytest, schemathesis";
    let imported = Command::new("python3").args(["-c", MODULES]).output();
    let has_them = imported.is_ok_and(|output| output.status.success());
    let required =
        std::env::var("UCP_REQUIRE_PYTHON_CLIENTS").is_ok_and(|required| required == "1");
    assert!(
        has_them || !required,
        "UCP_REQUIRE_PYTHON_CLIENTS is set, but python3 lacks what tests/clients/requirements.txt names"
    );
    if !has_them {
        eprintln!("skipped: pip install -r tests/clients/requirements.txt");
    }
    has_them
}

/// Whether this machine has what `tests/clients/javascript/package.json` names, and the browser.
fn has_javascript_clients() -> bool {
    let has_packages = project("tests/clients/javascript/node_modules").exists();
    let has_browser = Path::new("/usr/bin/chromium-headless-shell").exists();
    let has_them = has_packages && has_browser;
    let required =
        std::env::var("UCP_REQUIRE_JAVASCRIPT_CLIENTS").is_ok_and(|required| required == "1");
    assert!(
        has_them || !required,
        "UCP_REQUIRE_JAVASCRIPT_CLIENTS is set, but tests/clients/javascript has no node_modules, or Debian's \
         chromium-headless-shell is missing"
    );
    if !has_them {
        eprintln!(
            "skipped: npm ci --ignore-scripts in tests/clients/javascript; apt-get install chromium-headless-shell"
        );
    }
    has_them
}

/// Whether this machine has Go.
fn has_go() -> bool {
    let has_it = Command::new("go").arg("version").output();
    let has_it = has_it.is_ok_and(|output| output.status.success());
    let required = std::env::var("UCP_REQUIRE_GO_CLIENTS").is_ok_and(|required| required == "1");
    assert!(
        has_it || !required,
        "UCP_REQUIRE_GO_CLIENTS is set, but go was not found"
    );
    if !has_it {
        eprintln!("skipped: no Go");
    }
    has_it
}

/// Runs a script of `tests/clients/javascript/package.json` against a `ucp dev`.
async fn npm(script: &str) {
    if !has_javascript_clients() {
        return;
    }
    let directory = tempfile::tempdir().expect("a temporary directory");
    let (_ucp, url) = Process::dev(&directory.path().join("data"), &PATIENT).await;
    let mut command = Command::new("npm");
    command
        .args(["run", "--silent", script])
        .current_dir(project("tests/clients/javascript"))
        .env("UCP_URL", url);
    if let Err(printed) = run(command).await {
        panic!("{printed}");
    }
}

/// Runs the pytest suite in a directory of `tests/clients` against a `ucp dev`.
async fn pytest(suite: &str, arguments: &[&str]) {
    if !has_python_clients() {
        return;
    }
    let directory = tempfile::tempdir().expect("a temporary directory");
    let arguments = [&PATIENT[..], arguments].concat();
    let (_ucp, url) = Process::dev(&directory.path().join("data"), &arguments).await;
    let mut command = Command::new("python3");
    command
        .args(["-m", "pytest", "-p", "no:cacheprovider", "--tb=short"])
        .arg(project("tests/clients").join(suite))
        .env("PYTHONDONTWRITEBYTECODE", "1")
        .env("UCP_URL", url);
    if let Err(printed) = run(command).await {
        panic!("{printed}");
    }
}

/// Azure's pollers (sections 4, 5 and 11 of the contract), and `azure-mgmt-resource`.
#[tokio::test(flavor = "multi_thread")]
async fn azures_pollers_work_unmodified() {
    pytest("azure", &["--simulator-fault", FAILING_TYPE]).await;
}

/// A server that speaks TLS and knows callers by tokens of an issuer.
struct Secured {
    _simulator: Process,
    _server: Process,
    _issuer: Issuer,
    files: Files,
    url: String,
    token: String,
}

impl Secured {
    /// Starts it. `None` if the issuer is not installed.
    async fn start() -> Option<Self> {
        let files = Files::new();
        let mut issuer = Issuer::start(&files, 0)?;
        let (simulator, aws) = Process::simulator_with(&[
            "--simulator-latency-min=50ms",
            "--simulator-latency-max=100ms",
            "--simulator-fault",
            FAILING_TYPE,
        ])
        .await;
        let database = format!("sqlite://{}", files.path("ucp.db").display());
        let given = |flag: &str, name: &str| format!("{flag}={}", files.path(name).display());
        let arguments = [
            given("--tls-cert", "server.crt"),
            given("--tls-key", "server.key"),
            given("--oidc-ca", "ca.crt"),
            format!("--oidc-issuer={}", issuer.url),
            "--oidc-audience=ucp".to_owned(),
            "--admin=oidc:sdk".to_owned(),
            "--verdict-wait=60s".to_owned(),
            "--group-delete-wait=60s".to_owned(),
        ];
        let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
        let (server, url) = Process::serve_with(&arguments, &database, &aws, "123456789012").await;
        Some(Self {
            _simulator: simulator,
            _server: server,
            token: issuer.token("sdk", &json!({})),
            _issuer: issuer,
            files,
            url: url.replace("http://", "https://"),
        })
    }

    /// Tells a client where the server is, and what it needs to be let in.
    fn introduce(&self, command: &mut Command) {
        let ca = self.files.path("ca.crt");
        command
            .env("UCP_URL", &self.url)
            .env("UCP_TOKEN", &self.token)
            .env("REQUESTS_CA_BUNDLE", &ca)
            .env("SSL_CERT_FILE", &ca);
    }
}

/// The same over TLS, with a token of a credential.
#[tokio::test(flavor = "multi_thread")]
async fn azures_pollers_work_over_tls_with_a_token() {
    if !has_python_clients() {
        return;
    }
    let Some(server) = Secured::start().await else {
        return;
    };
    let mut command = Command::new("python3");
    command
        .args(["-m", "pytest", "-p", "no:cacheprovider", "--tb=short"])
        .arg(project("tests/clients/azure"))
        .env("PYTHONDONTWRITEBYTECODE", "1");
    server.introduce(&mut command);
    if let Err(printed) = run(command).await {
        panic!("{printed}");
    }
}

/// `armresources` of azure-sdk-for-go, by id. It polls over TLS only.
#[tokio::test(flavor = "multi_thread")]
async fn azures_go_client_works_by_id_over_tls_with_a_token() {
    if !has_go() {
        return;
    }
    let Some(server) = Secured::start().await else {
        return;
    };
    let mut command = Command::new("go");
    command
        .args(["test", "-count=1", "./..."])
        .current_dir(project("tests/clients/go"))
        // The versions are those of go.mod and go.sum.
        .env("GOFLAGS", "-mod=readonly");
    server.introduce(&mut command);
    if let Err(printed) = run(command).await {
        panic!("{printed}");
    }
}

/// The OpenAPI document is valid, and a client generated from it works.
#[tokio::test(flavor = "multi_thread")]
async fn a_client_generated_from_the_document_tells_a_story() {
    pytest("generated", &[]).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn azures_javascript_client_works_by_id() {
    npm("azure").await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_typescript_client_generated_from_the_document_tells_a_story() {
    npm("generated").await;
}

#[tokio::test(flavor = "multi_thread")]
async fn each_get_of_the_docs_page_can_be_executed_in_a_browser() {
    npm("browser").await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_rust_client_generated_from_the_document_tells_a_story() {
    if !has_python_clients() {
        return;
    }
    let rust = project("tests/clients/rust");
    let mut generate = Command::new("python3");
    generate
        .args(["-c", "from openapi_generator_cli import cli; cli()"])
        .args(["generate", "--minimal-update", "--config", "generator.yml"])
        .current_dir(&rust);
    if let Err(printed) = run(generate).await {
        panic!("{printed}");
    }
    let directory = tempfile::tempdir().expect("a temporary directory");
    let (_ucp, url) = Process::dev(&directory.path().join("data"), &PATIENT).await;
    let mut story = Command::new(env!("CARGO"));
    story
        .args(["test", "--locked"])
        .current_dir(&rust)
        .env(
            "CARGO_TARGET_DIR",
            Path::new(env!("CARGO_TARGET_TMPDIR")).join("rust-client"),
        )
        .env("UCP_URL", url)
        // With `scripts/timed-tests` this test has it, and a build would take unstable paths.
        .env_remove("RUSTC_BOOTSTRAP");
    if let Err(printed) = run(story).await {
        panic!("{printed}");
    }
}

/// Sends generated requests, valid and invalid by the document, to a server that knows callers. `introduce` may add the token of
/// an owner. Returns how many they were.
async fn schemathesis(introduce: impl AsyncFnOnce(&mut Command, &str)) -> Option<u32> {
    if !has_python_clients() {
        return None;
    }
    let directory = tempfile::tempdir().expect("a temporary directory");
    let database = format!("sqlite://{}", directory.path().join("ucp.db").display());
    let (_aws, aws) = Process::simulator("1ms").await;
    let arguments = [
        "--require-authentication",
        "--verdict-wait=1s",
        "--group-delete-wait=1s",
    ];
    let (_ucp, url) = Process::serve_with(&arguments, &database, &aws, "123456789012").await;
    let mut command = Command::new("python3");
    command
        .args([
            "-c",
            "from schemathesis.cli import schemathesis; schemathesis()",
        ])
        .arg("--config-file")
        .arg(project("tests/clients/schemathesis.toml"))
        .arg("run")
        .arg(format!("{url}/openapi.json"))
        .current_dir(directory.path())
        .env("PYTHONDONTWRITEBYTECODE", "1");
    introduce(&mut command, &database).await;
    let printed = run(command).await;
    let printed = printed.unwrap_or_else(|printed| panic!("{printed}"));
    let summary = printed.lines().find(|line| line.contains(" generated, "));
    let generated = summary.and_then(|line| line.split_whitespace().next());
    let generated = generated.and_then(|count| count.parse().ok());
    Some(generated.unwrap_or_else(|| panic!("{printed}")))
}

/// They cause no defect, and no status or reply that the document does not describe.
#[tokio::test(flavor = "multi_thread")]
async fn schemathesis_finds_nothing() {
    let generated = schemathesis(async |command, database| {
        let token = Process::create_token(database, &["--name", "schemathesis"]).await;
        let header = format!("Authorization: Bearer {token}");
        command.args(["--header", &header]);
    });
    if let Some(generated) = generated.await {
        assert!(generated >= 2_000, "{generated}");
    }
}

/// Whatever they ask for, they are 401 without credentials.
#[tokio::test(flavor = "multi_thread")]
async fn schemathesis_is_refused_without_credentials() {
    let checks = [
        "not_a_server_error",
        "status_code_conformance",
        "content_type_conformance",
        "response_headers_conformance",
        "response_schema_conformance",
        "refused_without_credentials",
    ];
    let generated = schemathesis(async |command, _| {
        command
            .args(["--phases", "examples,coverage,fuzzing"])
            .args(["--max-examples", "4"])
            .args(["--checks", &checks.join(",")])
            .env(
                "SCHEMATHESIS_HOOKS",
                project("tests/clients/schemathesis_refused.py"),
            );
    });
    if let Some(generated) = generated.await {
        assert!(generated >= 3_000, "{generated}");
    }
}

/// Runs every script in `api/examples`, which checks the statuses that it expects.
#[tokio::test(flavor = "multi_thread")]
async fn the_examples_do_what_they_say() {
    let directory = tempfile::tempdir().expect("a temporary directory");
    let faults = [
        "--simulator-fault",
        SLOW_TYPE,
        "--simulator-fault",
        KEPT_TYPE,
    ];
    let broker = project("api/examples/broker/ucp.toml")
        .display()
        .to_string();
    let config = ["--config", broker.as_str()];
    let arguments = [&PATIENT[..], &faults, &config].concat();
    let (_ucp, url) = Process::dev(&directory.path().join("data"), &arguments).await;
    let folders = ["api/examples", "api/examples/broker"].into_iter();
    let entries = folders.flat_map(|folder| std::fs::read_dir(project(folder)).expect("examples"));
    let scripts = entries.map(|entry| entry.expect("an entry").path());
    let scripts = scripts.filter(|path| path.extension().is_some_and(|it| it == "sh"));
    let examples = scripts.filter(|path| !path.ends_with("client.sh"));
    let running: Vec<_> = examples
        .map(|example| {
            let mut command = Command::new("bash");
            command.arg(&example).env("UCP_URL", &url);
            (example, tokio::spawn(run(command)))
        })
        .collect();
    assert_eq!(running.len(), 15);
    for (example, run) in running {
        if let Err(printed) = run.await.expect("it runs") {
            panic!("{}:\n{printed}", example.display());
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn the_aws_command_line_works_against_the_simulator() {
    if Command::new("aws").arg("--version").output().is_err() {
        let required = std::env::var("UCP_REQUIRE_AWS_CLI").is_ok_and(|required| required == "1");
        assert!(
            !required,
            "UCP_REQUIRE_AWS_CLI is set, but there is no aws on the PATH"
        );
        eprintln!("skipped: no aws on the PATH (pip install awscli)");
        return;
    }
    let (_simulator, url) = Process::simulator("50ms").await;
    let script = concat!(env!("CARGO_MANIFEST_DIR"), "/../../tests/aws-cli.sh");
    let run =
        tokio::task::spawn_blocking(move || Command::new("bash").arg(script).arg(url).output());
    let output = run.await.expect("the script runs").expect("bash runs");
    let printed = [output.stdout, output.stderr].concat();
    assert!(
        output.status.success(),
        "{}",
        String::from_utf8_lossy(&printed)
    );
}
