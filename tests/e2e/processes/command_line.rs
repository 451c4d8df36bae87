//! What all commands have in common.

use std::path::Path;
use std::process::{Command, Output, Stdio};

use super::client::Client;
use super::process::{KEY, Process};

fn ucp(arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_ucp"));
    command.args(arguments).stdin(Stdio::null());
    command
}

/// `ucp migrate` of a new database, which logs its statements.
fn migrate(folder: &Path, log: &str) -> Output {
    let database = format!("sqlite://{}", folder.join("ucp.db").display());
    let mut command = ucp(&["migrate", "--database-url", &database]);
    command.env("UCP_LOG", log).env("TERM", "xterm");
    command.output().expect("the binary starts")
}

fn folder() -> tempfile::TempDir {
    tempfile::tempdir().expect("a temporary directory")
}

#[test]
fn the_version_names_the_commit() {
    let output = ucp(&["--version"]).output().expect("the binary starts");
    let told = String::from_utf8(output.stdout).expect("UTF-8");
    let git = |arguments: &[&str]| {
        let mut command = Command::new("git");
        command
            .args(["-C", env!("CARGO_MANIFEST_DIR")])
            .args(arguments);
        let output = command
            .output()
            .ok()
            .filter(|output| output.status.success());
        Some(
            String::from_utf8(output?.stdout)
                .expect("UTF-8")
                .trim()
                .to_owned(),
        )
    };
    let prefix = git(&["rev-parse", "--show-prefix"]);
    let commit = match prefix.as_deref() {
        Some("crates/ucp/") => git(&["rev-parse", "HEAD"]).expect("a commit"),
        Some(_) | None => "unknown".to_owned(),
    };
    let given = std::env::var("UCP_COMMIT").ok();
    let commit = given.filter(|given| !given.is_empty()).unwrap_or(commit);
    let version = env!("CARGO_PKG_VERSION");
    assert_eq!(told, format!("ucp {version} (commit {commit})\n"));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_server_tells_the_version_of_its_binary() {
    let folder = folder();
    let (_dev, url) = Process::dev(folder.path(), &[]).await;
    let client = Client::new(&url, "123456789012");
    let told = client.call("GET", "/version", "").await;
    let output = ucp(&["--version"]).output().expect("the binary starts");
    let text = String::from_utf8(output.stdout).expect("UTF-8");
    let part = |name: &str| told.body[name].as_str().expect("text").to_owned();
    assert_eq!(
        text,
        format!("ucp {} (commit {})\n", part("version"), part("commit"))
    );
}

#[test]
fn a_log_filter_that_cannot_be_parsed_is_an_error() {
    for filter in ["info,ucp=loud", "ucp=7"] {
        let output = migrate(folder().path(), filter);
        assert_eq!(output.status.code(), Some(1), "{filter}");
        let said = String::from_utf8(output.stderr).expect("UTF-8");
        assert!(
            said.starts_with(&format!("ucp: UCP_LOG is {filter:?}")),
            "{said}"
        );
        assert!(said.contains("info,ucp_engine=debug"), "{said}");
    }
    let output = migrate(folder().path(), "");
    assert!(output.status.success() && output.stderr.is_empty());
}

#[test]
fn logs_are_coloured_on_terminals_only() {
    let piped = migrate(folder().path(), "debug");
    let logged = String::from_utf8(piped.stderr).expect("UTF-8");
    assert!(logged.contains("DEBUG"), "{logged}");
    assert!(!logged.contains('\u{1b}'), "{logged:?}");

    // `script` runs a command on a terminal of its own.
    let on_terminal = |no_color: &str| {
        let folder = folder();
        let database = format!("sqlite://{}", folder.path().join("ucp.db").display());
        let command = format!(
            "{} migrate --database-url {database}",
            env!("CARGO_BIN_EXE_ucp")
        );
        let output = Command::new("script")
            .args(["--quiet", "--return", "--command", &command, "/dev/null"])
            .envs([
                ("UCP_LOG", "debug"),
                ("TERM", "xterm"),
                ("NO_COLOR", no_color),
            ])
            .stdin(Stdio::null())
            .output()
            .expect("script runs");
        assert!(output.status.success());
        String::from_utf8(output.stdout).expect("UTF-8")
    };
    assert!(on_terminal("").contains("\u{1b}[34mDEBUG"));
    assert!(!on_terminal("1").contains('\u{1b}'));
}

/// Whoever reads may have read enough. The document is longer than a pipe holds.
#[test]
fn what_nobody_reads_on_is_no_error() {
    let mut openapi = ucp(&["openapi"]);
    let openapi = openapi.stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = openapi.spawn().expect("the binary starts");
    drop(child.stdout.take());
    let output = child.wait_with_output().expect("it ends");
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success() && errors.is_empty(), "{errors}");
}

/// What they do is done to its end.
#[test]
fn commands_do_all_that_they_do_although_nobody_reads() {
    let folder = folder();
    let database = format!("sqlite://{}", folder.path().join("ucp.db").display());
    let data_dir = folder.path().join("data").display().to_string();
    let at = ["--database-url", &database];
    let unread = |arguments: &[&str]| {
        let (reader, writer) = std::io::pipe().expect("a pipe");
        drop(reader);
        let mut command = ucp(arguments);
        command.env("UCP_ENCRYPTION_KEY", KEY).stdout(writer);
        let output = command.output().expect("the binary starts");
        let errors = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "{arguments:?}: {errors}");
        assert!(!errors.contains("panicked"), "{arguments:?}: {errors}");
    };
    unread(&[&["migrate"], &at[..]].concat());
    let create = ["token", "create", "--name=ci", "--role=owner", "--scope=/"];
    unread(&[&create[..], &at].concat());
    unread(&[&["rotate-key", "--dry-run"], &at[..]].concat());
    unread(&[&["rotate-key", "--new-digest-key"], &at[..]].concat());
    unread(&[&["token", "revoke", "ci"], &at[..]].concat());
    let listens = ["--listen=127.0.0.1:0", "--simulator-listen=127.0.0.1:0"];
    unread(&[&["dev", "--demo", "--data-dir", &data_dir], &listens[..]].concat());
}

/// Nor is what stands on standard error.
#[test]
fn what_nobody_is_told_is_no_error() {
    let folder = folder();
    let data_dir = format!("--data-dir={}", folder.path().display());
    let listens = ["--listen=127.0.0.1:0", "--simulator-listen=127.0.0.1:0"];
    for (arguments, code) in [
        (&["catalog", "/nowhere"][..], 1),
        (&["explain", "AWS.EC2/VPC"], 0),
        (&["types"], 0),
        (&["dev", "--demo", &data_dir, listens[0], listens[1]], 0),
    ] {
        let (reader, writer) = std::io::pipe().expect("a pipe");
        drop(reader);
        let output = ucp(arguments)
            .env("UCP_LOG", "info")
            .stderr(writer)
            .output();
        let status = output.expect("the binary starts").status;
        assert_eq!(status.code(), Some(code), "{arguments:?}");
    }
}

#[test]
fn a_catalog_is_printed_or_what_is_wrong_with_it() {
    let example = concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/../../api/examples/broker/offerings"
    );
    let output = ucp(&["catalog", example])
        .output()
        .expect("the binary starts");
    assert!(output.status.success(), "{output:?}");
    let catalog: serde_json::Value = serde_json::from_slice(&output.stdout).expect("JSON");
    assert_eq!(catalog["services"][0]["name"], "bucket");
    let text =
        std::fs::read_to_string(Path::new(example).join("bucket.toml")).expect("the example");
    assert!(output.stderr.is_empty(), "{output:?}");

    let replacing = folder();
    let file = replacing.path().join("replacing.toml");
    let edge = text.replace("replaces_to = [] # may lose data\n", "");
    let edge = edge.replace("updates_to", "replaces_to");
    let preset = "\npresets.bucket.BucketNamePrefix = \"osb\"\n";
    std::fs::write(&file, edge + preset).expect("a file");
    let output = ucp(&["catalog", &replacing.path().display().to_string()])
        .output()
        .expect("the binary starts");
    assert!(output.status.success(), "{output:?}");
    let catalog: serde_json::Value = serde_json::from_slice(&output.stdout).expect("JSON");
    assert_eq!(catalog["services"][0]["name"], "bucket");
    let told = String::from_utf8(output.stderr).expect("UTF-8");
    let begin = format!("{}:", file.display());
    assert!(
        told.starts_with(&begin) && told.contains("`bucket` has a name of its own"),
        "{told}"
    );

    let folder = folder();
    let file = folder.path().join("wrong.toml");
    let wrong = text.replace("AWS::S3::BucketPolicy", "AWS::S3::Policies");
    std::fs::write(&file, wrong.replace("sync = false", "sink = false")).expect("a file");
    let folder = folder.path().display().to_string();
    let output = ucp(&["catalog", &folder])
        .output()
        .expect("the binary starts");
    assert_eq!(output.status.code(), Some(1));
    let told = String::from_utf8(output.stderr).expect("UTF-8");
    let lines: Vec<&str> = told.lines().collect();
    let at = |line: usize| format!("{}:{line}: ", file.display());
    assert!(
        lines
            .iter()
            .any(|line| line.starts_with(&at(6)) && line.contains("sink")),
        "{told}"
    );
    assert!(
        lines
            .iter()
            .any(|line| line.starts_with(&at(13)) && line.contains("AWS::S3::Policies")),
        "{told}"
    );
}
