//! Clients that were not written for us, against a running `ucp dev`.

use std::path::{Path, PathBuf};
use std::process::Command;

use super::process::Process;

/// Creates of this type take so long that a cancel always comes in time.
const SLOW_TYPE: &str = r#"{"match":{"operation":"CreateResource","typeName":"AWS::EC2::InternetGateway"},
    "effect":{"kind":"latency","leastMillis":600000,"mostMillis":600000}}"#;

/// A file of the project.
fn project(path: &str) -> PathBuf {
    Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../..")).join(path)
}

/// Runs a command to its end; what it printed when it fails.
async fn run(mut command: Command) -> Result<String, String> {
    let run = tokio::task::spawn_blocking(move || command.output()).await;
    let output = run.expect("it ends").expect("it starts");
    let printed = [output.stdout, output.stderr].concat();
    let printed = String::from_utf8_lossy(&printed).into_owned();
    match output.status.success() {
        true => Ok(printed),
        false => Err(printed),
    }
}

/// curl, as `api/examples` has it for each flow: every one of them is run, and checks the statuses that it expects.
#[tokio::test(flavor = "multi_thread")]
async fn the_examples_do_what_they_say() {
    let directory = tempfile::tempdir().expect("a temporary directory");
    let patient = ["--verdict-wait=60s", "--group-delete-wait=60s"];
    let arguments = [&patient[..], &["--simulator-fault", SLOW_TYPE]].concat();
    let (_ucp, url) = Process::dev(&directory.path().join("data"), &arguments).await;
    let entries = std::fs::read_dir(project("api/examples")).expect("examples");
    let scripts = entries.map(|entry| entry.expect("an entry").path());
    let examples = scripts.filter(|path| !path.ends_with("client.sh"));
    let running: Vec<_> = examples
        .map(|example| {
            let mut command = Command::new("bash");
            command.arg(&example).env("UCP_URL", &url);
            (example, tokio::spawn(run(command)))
        })
        .collect();
    assert_eq!(running.len(), 10);
    for (example, run) in running {
        if let Err(printed) = run.await.expect("it runs") {
            panic!("{}:\n{printed}", example.display());
        }
    }
}
