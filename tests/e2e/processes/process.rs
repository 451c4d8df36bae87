//! Processes of the real binary.

use std::io::{BufRead, BufReader, Read};
use std::path::Path;
use std::process::{Child, Command, ExitStatus, Output, Stdio};
use std::thread::{self, JoinHandle};

use serde_json::Value;
use tokio::sync::watch;

use super::client::{AGAIN, PATIENCE, eventually};

/// The default encryption key of servers.
pub(super) const KEY: &str = "0707070707070707070707070707070707070707070707070707070707070707";

/// The message that a server logs when it listens.
const LISTENING: &str = "\"listening\"";

/// A running `ucp`. It is killed when dropped.
pub(super) struct Process {
    child: Child,
    /// What it has written so far.
    output: watch::Sender<String>,
    readers: Vec<JoinHandle<()>>,
}

fn gather(output: &watch::Sender<String>, from: impl Read + Send + 'static) -> JoinHandle<()> {
    let output = output.clone();
    thread::spawn(move || {
        for line in BufReader::new(from).lines().map_while(Result::ok) {
            output.send_modify(|text| {
                text.push_str(&line);
                text.push('\n');
            });
        }
    })
}

impl Process {
    fn start(command: &mut Command) -> Self {
        let mut child = command
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .expect("the binary starts");
        let output = watch::Sender::default();
        let readers = vec![
            gather(&output, child.stdout.take().expect("a pipe")),
            gather(&output, child.stderr.take().expect("a pipe")),
        ];
        Self {
            child,
            output,
            readers,
        }
    }

    /// Starts a simulated AWS. Returns its URL too.
    pub(super) async fn simulator(latency: &str) -> (Self, String) {
        let least_and_most = ["--simulator-latency-min", "--simulator-latency-max"];
        let [least, most] = least_and_most.map(|flag| format!("{flag}={latency}"));
        Self::simulator_with(&[&least, &most]).await
    }

    /// The same with other arguments.
    pub(super) async fn simulator_with(arguments: &[&str]) -> (Self, String) {
        let process = Self::start(
            Command::new(env!("CARGO_BIN_EXE_ucp"))
                .args(["simulator", "--listen=127.0.0.1:0"])
                .args(arguments),
        );
        let line = process.line("listens on").await;
        let url = line.rsplit(' ').next().expect("a URL").to_owned();
        (process, url)
    }

    /// Starts a server. Returns its URL too. `pause_at` names a crash point.
    pub(super) async fn serve(
        database: &str,
        aws: &str,
        account: &str,
        pause_at: Option<&str>,
    ) -> (Self, String) {
        Self::serve_under(&[KEY], database, aws, account, pause_at).await
    }

    /// The same with additional arguments.
    pub(super) async fn serve_with(
        arguments: &[&str],
        database: &str,
        aws: &str,
        account: &str,
    ) -> (Self, String) {
        let mut command = serving(&[KEY], database, aws, account);
        command.args(arguments).env_remove("UCP_PAUSE_AT");
        Self::listening(&mut command).await
    }

    /// The same with everything in the log.
    pub(super) async fn serve_tracing(
        arguments: &[&str],
        database: &str,
        aws: &str,
        account: &str,
    ) -> (Self, String) {
        let mut command = serving(&[KEY], database, aws, account);
        command
            .args(arguments)
            .env("UCP_LOG", "trace")
            .env_remove("UCP_PAUSE_AT");
        Self::listening(&mut command).await
    }

    /// The same with little in the log and the default lease, for long runs.
    pub(super) async fn serve_quietly(
        arguments: &[&str],
        database: &str,
        aws: &str,
        account: &str,
    ) -> (Self, String) {
        let mut command = serving(&[KEY], database, aws, account);
        command
            .args(arguments)
            .env("UCP_LOG", "error,ucp::serve=info")
            .env_remove("UCP_LEASE")
            .env_remove("UCP_PAUSE_AT");
        Self::listening(&mut command).await
    }

    /// Starts a server that may not come to listen, without an AWS.
    pub(super) fn serve_unheard(database: &str) -> Self {
        Self::serve_unheard_with(database, &[])
    }

    /// The same with additional arguments.
    pub(super) fn serve_unheard_with(database: &str, arguments: &[&str]) -> Self {
        Self::serve_hoping(arguments, database, "http://127.0.0.1:9", "123456789012")
    }

    /// The same with the default log filter.
    pub(super) async fn serve_logging_by_default(
        database: &str,
        aws: &str,
        account: &str,
    ) -> (Self, String) {
        let mut command = serving(&[KEY], database, aws, account);
        command.env_remove("UCP_LOG");
        Self::listening(&mut command).await
    }

    /// The same with other encryption keys, the current one first.
    pub(super) async fn serve_under(
        keys: &[&str],
        database: &str,
        aws: &str,
        account: &str,
        pause_at: Option<&str>,
    ) -> (Self, String) {
        let mut command = serving(keys, database, aws, account);
        match pause_at {
            Some(point) => command.env("UCP_PAUSE_AT", point),
            None => command.env_remove("UCP_PAUSE_AT"),
        };
        Self::listening(&mut command).await
    }

    async fn listening(command: &mut Command) -> (Self, String) {
        let process = Self::start(command);
        let url = url(&process.line(LISTENING).await);
        (process, url)
    }

    /// Starts a server that may end before it listens, as one does whose database is away.
    pub(super) fn serve_hoping(
        arguments: &[&str],
        database: &str,
        aws: &str,
        account: &str,
    ) -> Self {
        let mut command = serving(&[KEY], database, aws, account);
        Self::start(command.args(arguments).env_remove("UCP_PAUSE_AT"))
    }

    /// Waits until it listens, and returns its URL, or until it has ended.
    pub(super) async fn listens(&mut self) -> Option<String> {
        loop {
            let output = self.output();
            if let Some(line) = output.lines().find(|line| line.contains(LISTENING)) {
                return Some(url(line));
            }
            if self.child.try_wait().expect("it can be asked").is_some() {
                return None;
            }
            tokio::time::sleep(AGAIN).await;
        }
    }

    /// Runs `ucp rotate-key` to its end. Returns whether it succeeded, and its output. The current key is the first.
    pub(super) async fn rotate_key(
        keys: &[&str],
        database: &str,
        arguments: &[&str],
    ) -> (bool, String) {
        let mut command = Command::new(env!("CARGO_BIN_EXE_ucp"));
        command
            .args(["rotate-key", "--database-url", database])
            .args(arguments)
            .envs(encryption_keys(keys));
        let run = tokio::task::spawn_blocking(move || command.output()).await;
        let output = run.expect("it ends").expect("the binary starts");
        let printed = [output.stdout, output.stderr].concat();
        let printed = String::from_utf8_lossy(&printed).into_owned();
        (output.status.success(), printed)
    }

    /// Runs `ucp token` with these arguments to its end.
    pub(super) async fn token(arguments: &[&str]) -> Output {
        let mut command = Command::new(env!("CARGO_BIN_EXE_ucp"));
        command.arg("token").args(arguments);
        command.env_remove("UCP_DATABASE_URL");
        let run = tokio::task::spawn_blocking(move || command.output()).await;
        run.expect("it ends").expect("the binary starts")
    }

    /// Creates a token that may do everything.
    pub(super) async fn create_token(database: &str, more: &[&str]) -> String {
        let create = ["create", "--database-url", database, "--role", "owner"];
        let output = Self::token(&[&create[..], &["--scope", "/"], more].concat()).await;
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(output.status.success(), "{said}");
        let printed = String::from_utf8(output.stdout).expect("UTF-8");
        let token = printed.trim_end().to_owned();
        assert_eq!(token.len(), 60, "{printed}");
        token
    }

    /// Starts `ucp dev` with these arguments. Returns its URL too.
    pub(super) async fn dev(data_dir: &Path, arguments: &[&str]) -> (Self, String) {
        let process = Self::start(
            Command::new(env!("CARGO_BIN_EXE_ucp"))
                .args(["dev", "--simulator-listen=127.0.0.1:0", "--data-dir"])
                .arg(data_dir)
                // Arguments may name another.
                .env("UCP_LISTEN", "127.0.0.1:0")
                .args(arguments),
        );
        let line = process.line("ucp listens on").await;
        let url = line.split(' ').nth(3).expect("a URL").to_owned();
        (process, url)
    }

    /// Runs `ucp dev --demo` with these arguments to its end.
    pub(super) async fn demo(data_dir: &Path, arguments: &[&str]) -> (ExitStatus, String) {
        let mut process = Self::start(
            Command::new(env!("CARGO_BIN_EXE_ucp"))
                .args([
                    "dev",
                    "--demo",
                    "--listen=127.0.0.1:0",
                    "--simulator-listen=127.0.0.1:0",
                    "--data-dir",
                ])
                .arg(data_dir)
                .args(arguments),
        );
        let status = process.ended().await;
        (status, process.output())
    }

    /// Waits for the first line of its output that contains `text`, including earlier output.
    pub(super) async fn line(&self, text: &str) -> String {
        let found = |all: &str| {
            all.lines()
                .find(|line| line.contains(text))
                .map(str::to_owned)
        };
        let mut output = self.output.subscribe();
        let waiting = output.wait_for(|all| found(all).is_some());
        let line = match tokio::time::timeout(PATIENCE, waiting).await {
            Ok(all) => found(&all.expect("its output is kept")),
            Err(_) => None,
        };
        line.unwrap_or_else(|| panic!("no line with {text} in:\n{}", self.output()))
    }

    /// All its output.
    pub(super) fn output(&self) -> String {
        self.output.borrow().clone()
    }

    /// Its id.
    pub(super) fn id(&self) -> u32 {
        self.child.id()
    }

    /// Sends SIGKILL and waits for the process to end.
    pub(super) fn kill(mut self) {
        self.child.kill().expect("it can be killed");
        self.child.wait().expect("it ends");
    }

    /// Sends SIGTERM.
    pub(super) fn terminate(&self) {
        let status = Command::new("kill")
            .args(["-TERM", &self.child.id().to_string()])
            .status();
        assert!(status.expect("kill runs").success());
    }

    /// Waits for its exit status, and for all its output.
    pub(super) async fn ended(&mut self) -> ExitStatus {
        let status = eventually(async || self.child.try_wait().expect("it can be asked")).await;
        for reader in self.readers.drain(..) {
            reader.join().expect("its output is kept");
        }
        status
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        // It may already have ended.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// The URL in the line that a server logs when it listens.
fn url(line: &str) -> String {
    let event: Value = serde_json::from_str(line).expect("a JSON log");
    let address = event["listen.address"].as_str().expect("an address");
    format!("http://{address}")
}

fn encryption_keys(keys: &[&str]) -> [(&'static str, String); 2] {
    let (current, previous) = keys.split_first().expect("a current key");
    [
        ("UCP_ENCRYPTION_KEY", (*current).to_owned()),
        ("UCP_PREVIOUS_ENCRYPTION_KEYS", previous.join(",")),
    ]
}

/// `ucp serve` with the credentials of `account` in its environment.
fn serving(keys: &[&str], database: &str, aws: &str, account: &str) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_ucp"));
    command
        .args(["serve", "--retry-after=1s"])
        .args(["--database-url", database, "--aws-endpoint-url", aws])
        .envs(encryption_keys(keys))
        // Arguments may name others.
        .env("UCP_LISTEN", "127.0.0.1:0")
        .env("UCP_LEASE", "1s")
        .env("UCP_POLL_INTERVAL", "100ms")
        .env(
            "UCP_LOG",
            "info,ucp=debug,ucp_api=debug,ucp_app=debug,ucp_engine=debug",
        )
        .env("AWS_ACCESS_KEY_ID", account)
        .env("AWS_SECRET_ACCESS_KEY", "secret");
    command
}
