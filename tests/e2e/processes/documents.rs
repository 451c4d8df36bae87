//! The commands of the README and of the guides, against a running `ucp dev`.

use std::fs::Permissions;
use std::net::TcpListener;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicU16, Ordering};

use super::process::Process;

const PROJECT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../..");

/// The addresses in the pages. The test replaces them with its own.
const UCP: &str = "http://127.0.0.1:8787";
const SIMULATOR: &str = "http://127.0.0.1:8788";
const SECOND_PORT: &str = "127.0.0.1:8789";

/// Runs before the commands of a page. The server that `cargo run` would start is already running.
const PRELUDE: &str = r#"
set -u
exec 2>&1 </dev/null
trap 'kill $(jobs -p) 2>/dev/null' EXIT
cargo() {
    case $* in
    'run --locked -- dev' | 'test --workspace --locked') ;;
    *) echo "the test does not know: cargo $*"; return 1 ;;
    esac
}
"#;

/// A script in place of the binary: `ucp dev` does nothing, since it is already running.
const WRAPPER: &str = concat!(
    "#!/bin/sh\n[ \"$*\" = dev ] || exec ",
    env!("CARGO_BIN_EXE_ucp"),
    " \"$@\"\n"
);

/// A command and its documented output. `sh` blocks have none.
#[derive(Debug, PartialEq)]
struct Step {
    command: String,
    promised: Option<Vec<String>>,
}

/// Returns the commands in the `sh` and `console` blocks of a page.
fn steps(page: &str) -> Vec<Step> {
    let mut steps: Vec<Step> = Vec::new();
    let mut block = None;
    for line in page.lines() {
        let unindented = line.trim_start();
        let Some((language, indent)) = block else {
            if let Some(language) = unindented.strip_prefix("```") {
                block = Some((language, line.len() - unindented.len()));
                if language == "sh" {
                    let (command, promised) = (String::new(), None);
                    steps.push(Step { command, promised });
                }
            }
            continue;
        };
        let line = line.get(indent..).unwrap_or_default();
        match (language, line.strip_prefix("$ ")) {
            _ if line == "```" => block = None,
            ("sh", _) => {
                let script = &mut steps.last_mut().expect("the block's step").command;
                script.push_str(line);
                script.push('\n');
            }
            ("console", Some(command)) => steps.push(Step {
                command: command.to_owned(),
                promised: Some(Vec::new()),
            }),
            ("console", None) => {
                let step = steps.last_mut().expect("a command before its output");
                let promised = step.promised.as_mut().expect("a console block's step");
                promised.push(line.to_owned());
            }
            _ => {}
        }
    }
    steps
}

/// Whether a line matches the documented one, in which `…` stands for any text.
fn is_as_promised(promised: &str, line: &str) -> bool {
    let mut parts = promised.split('…');
    let first = parts.next().unwrap_or_default();
    let Some(mut rest) = line.strip_prefix(first) else {
        return false;
    };
    let parts: Vec<&str> = parts.collect();
    let Some((last, middle)) = parts.split_last() else {
        return rest.is_empty();
    };
    for part in middle {
        match rest.find(part) {
            Some(at) => rest = &rest[at + part.len()..],
            None => return false,
        }
    }
    rest.ends_with(last)
}

/// Returns an address that nobody listens on. Its port is none of those that clients are given, and of each page another one:
/// until its server listens, nobody else is given it.
fn free_address() -> String {
    static NEXT: AtomicU16 = AtomicU16::new(0);
    const FIRST: u16 = 20_000;
    let process = u16::try_from(std::process::id() % 10_000).expect("a small number");
    loop {
        let port = FIRST + process + NEXT.fetch_add(1, Ordering::Relaxed);
        let address = format!("127.0.0.1:{port}");
        if TcpListener::bind(&address).is_ok() {
            return address;
        }
    }
}

/// Runs all steps in one shell and compares their output with the documented one.
fn run(steps: &[Step], url: &str, simulator: &str) -> Result<(), String> {
    let second = free_address();
    let actual = [(UCP, url), (SIMULATOR, simulator), (SECOND_PORT, &second)];
    let directory = tempfile::tempdir().expect("a temporary directory");
    let path = directory.path();
    let binaries = path.join("target/debug");
    std::fs::create_dir_all(&binaries).expect("a directory");
    let binary = binaries.join("ucp");
    std::fs::write(&binary, WRAPPER).expect("a file");
    std::fs::set_permissions(&binary, Permissions::from_mode(0o755)).expect("permissions");

    let mut script = PRELUDE.to_owned();
    for (index, step) in steps.iter().enumerate() {
        let mut command = step.command.clone();
        for (named, actual) in actual {
            command = command.replace(named, actual);
        }
        script.push_str(&format!("echo '== {index}'\n{command}\necho \"== $?\"\n"));
    }
    std::fs::write(path.join("steps.sh"), script).expect("a file");
    let paths = std::env::var("PATH").unwrap_or_default();
    let output = Command::new("timeout")
        .args(["300", "bash", "steps.sh"])
        .current_dir(path)
        .env("PATH", format!("{}:{paths}", binaries.display()))
        .stderr(Stdio::null())
        .output()
        .expect("bash runs");
    let mut printed = String::from_utf8_lossy(&output.stdout).replace('\r', "");
    for (named, actual) in actual {
        printed = printed.replace(actual, named);
    }
    for (index, step) in steps.iter().enumerate() {
        let from = printed.split_once(&format!("== {index}\n"));
        let Some((lines, status)) = from.and_then(|(_, rest)| rest.split_once("== ")) else {
            return Err(format!("{}\ndid not end:\n{printed}", step.command));
        };
        let lines: Vec<&str> = lines.lines().collect();
        let is_kept = step.promised.as_ref().is_none_or(|promised| {
            let mut both = promised.iter().zip(&lines);
            promised.len() == lines.len() && both.all(|(one, other)| is_as_promised(one, other))
        });
        if !status.starts_with("0\n") || !is_kept {
            let lines = lines.join("\n");
            let status = status.lines().next().unwrap_or_default();
            let command = &step.command;
            return Err(format!(
                "$ {command}\nprinted, and ended {status}:\n{lines}"
            ));
        }
    }
    Ok(())
}

/// Runs the commands of a page. Guides are preceded by the commands of "Before you start".
async fn follow(page: &str) -> Result<(), String> {
    let read = |page: &str| {
        let text = std::fs::read_to_string(Path::new(PROJECT).join(page));
        steps(&text.expect("the page"))
    };
    let mut all = Vec::new();
    if page.starts_with("docs/") && page != "docs/how-to/README.md" {
        all.extend(read("docs/how-to/README.md"));
    }
    let first = all.len();
    all.extend(read(page));
    if all.len() == first {
        return Err("it has no command".to_owned());
    }
    let directory = tempfile::tempdir().expect("a temporary directory");
    let (ucp, url) = Process::dev(&directory.path().join("data"), &[]).await;
    let line = ucp.line("a simulated AWS listens on").await;
    let simulator = line.rsplit(' ').next().expect("a URL").to_owned();
    let running = tokio::task::spawn_blocking(move || run(&all, &url, &simulator));
    running.await.expect("it ends")
}

#[tokio::test(flavor = "multi_thread")]
async fn each_command_does_what_its_page_says() {
    let guides = std::fs::read_dir(Path::new(PROJECT).join("docs/how-to")).expect("guides");
    let guides = guides.map(|guide| {
        let name = guide.expect("an entry").file_name();
        format!("docs/how-to/{}", name.to_str().expect("a page"))
    });
    let others = ["README.md", "docs/simulator.md", "docs/concepts.md"].map(str::to_owned);
    let pages: Vec<String> = guides.chain(others).collect();
    let running = pages
        .iter()
        .cloned()
        .map(|page| tokio::spawn(async move { follow(&page).await }));
    let running: Vec<_> = running.collect();
    let mut wrong = Vec::new();
    for (page, run) in pages.iter().zip(running) {
        if let Err(problem) = run.await.expect("it runs") {
            wrong.push(format!("{page}: {problem}"));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n\n"));
}

#[test]
fn an_ellipsis_stands_for_any_text_and_nothing_else_does() {
    assert!(is_as_promised("a", "a"));
    assert!(!is_as_promised("a", "ab"));
    assert!(is_as_promised("a…", "ab"));
    assert!(is_as_promised("a…c…", "abcd"));
    assert!(!is_as_promised("a…c", "abcd"));
    assert!(!is_as_promised("a…c…d", "abd"));
}
