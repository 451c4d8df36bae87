//! Runs `ucp plan` of the real binary.

use std::io::{BufRead, BufReader, Write};
use std::process::{Child, ChildStdin, Command, Output, Stdio};
use std::sync::mpsc::{self, Receiver};
use std::thread;
use std::time::Duration;

use serde_json::Value;

/// How long to wait for an answer on a busy machine.
const PATIENCE: Duration = Duration::from_secs(60);

/// `ucp plan`, without environment variables that could change its behaviour.
pub(super) fn command(arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_ucp"));
    command
        .arg("plan")
        .args(arguments)
        .env_remove("UCP_SCHEMA_DIR")
        .env_remove("NO_COLOR");
    command
}

/// Runs `ucp plan` to its end.
pub(super) fn run(arguments: &[&str], input: impl Into<Vec<u8>>) -> Output {
    let mut child = command(arguments)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("the binary starts");
    let mut stdin = child.stdin.take().expect("a pipe");
    let input = input.into();
    // It may end before it has read everything.
    let writer = thread::spawn(move || drop(stdin.write_all(&input)));
    let output = child.wait_with_output().expect("it ends");
    writer.join().expect("the writer ends");
    output
}

/// The answers to some lines.
pub(super) struct Answers {
    pub(super) lines: Vec<Value>,
    /// The exit status.
    pub(super) status: i32,
}

/// Sends all lines at once.
pub(super) fn ask(input: impl Into<Vec<u8>>) -> Answers {
    ask_with(&["--offline"], input)
}

/// The same with other arguments.
pub(super) fn ask_with(arguments: &[&str], input: impl Into<Vec<u8>>) -> Answers {
    let output = run(arguments, input);
    assert_eq!(String::from_utf8_lossy(&output.stderr), "");
    let text = String::from_utf8(output.stdout).expect("UTF-8");
    Answers {
        lines: text
            .lines()
            .map(|line| serde_json::from_str(line).expect("a JSON line"))
            .collect(),
        status: output.status.code().expect("no signal ends it"),
    }
}

/// The only answer to a line.
pub(super) fn ask_one(question: &Value) -> Value {
    let mut answers = ask(format!("{question}\n"));
    assert_eq!(answers.lines.len(), 1);
    answers.lines.remove(0)
}

/// A running process that gets lines one after the other.
pub(super) struct Dialogue {
    child: Child,
    stdin: ChildStdin,
    lines: Receiver<String>,
}

impl Dialogue {
    pub(super) fn start() -> Self {
        let mut child = command(&["--offline"])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .expect("the binary starts");
        let stdout = BufReader::new(child.stdout.take().expect("a pipe"));
        let (sender, lines) = mpsc::channel();
        thread::spawn(move || {
            for line in stdout.lines().map_while(Result::ok) {
                if sender.send(line).is_err() {
                    break;
                }
            }
        });
        let stdin = child.stdin.take().expect("a pipe");
        Self {
            child,
            stdin,
            lines,
        }
    }

    pub(super) fn say(&mut self, text: &str) {
        let sent = self.stdin.write_all(text.as_bytes());
        sent.and_then(|()| self.stdin.flush()).expect("it reads");
    }

    /// Returns the next answer, which arrives before any further input.
    pub(super) fn hear(&self) -> Value {
        let line = self.lines.recv_timeout(PATIENCE).expect("an answer");
        serde_json::from_str(&line).expect("a JSON line")
    }

    /// Closes the input. Returns the exit status.
    pub(super) fn end(mut self) -> i32 {
        drop(self.stdin);
        let status = self.child.wait().expect("it ends");
        status.code().expect("no signal ends it")
    }
}
