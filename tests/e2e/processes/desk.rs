//! A folder with files, and the commands that somebody runs in it against a server.

use std::fs;
use std::io::{Read as _, Write as _};
use std::process::{Command, Output, Stdio};

use serde_json::Value;
use tempfile::TempDir;

use super::process::Process;

pub(super) const ACCOUNT: &str = "123456789012";

pub(super) const NET: &str = "
scope: /planes/aws/aws/accounts/123456789012/regions/us-west-2
resources:
  - alias: net
    type: AWS.EC2/VPC
    properties: {CidrBlock: 10.0.0.0/16}
outputs:
  vpc: {$reference: net}
";
const SUB: &str = r#"[{"alias": "sub", "type": "AWS.EC2/Subnet",
    "properties": {"VpcId": {"$reference": "net#/VpcId"}, "CidrBlock": "10.0.1.0/24"}}]"#;
pub(super) const LOGS: &str =
    "alias: logs\ntype: AWS.Logs/LogGroup\nproperties: {LogGroupName: daily, RetentionInDays: 7}\n";

/// A folder with files, and a server to send them to.
pub(super) struct Desk {
    folder: TempDir,
    pub(super) url: String,
    servers: Vec<Process>,
}

/// What a command has come to.
pub(super) struct Run {
    pub(super) code: Option<i32>,
    pub(super) out: String,
    pub(super) err: String,
}

impl Run {
    pub(super) fn of(output: Output) -> Self {
        let text = |bytes| String::from_utf8(bytes).expect("UTF-8");
        Self {
            code: output.status.code(),
            out: text(output.stdout),
            err: text(output.stderr),
        }
    }

    /// Expects an exit status and texts on standard output.
    #[track_caller]
    pub(super) fn prints(self, code: i32, texts: &[&str]) -> Self {
        let Self { out, err, .. } = &self;
        assert_eq!(self.code, Some(code), "{out}\n{err}");
        for text in texts {
            assert!(out.contains(text), "no {text:?} in:\n{out}\n{err}");
        }
        self
    }

    /// Expects failure and texts on standard error.
    #[track_caller]
    pub(super) fn fails(self, texts: &[&str]) -> Self {
        let Self { out, err, .. } = &self;
        assert_eq!(self.code, Some(1), "{out}\n{err}");
        for text in texts {
            assert!(err.contains(text), "no {text:?} in:\n{err}\n{out}");
        }
        self
    }

    pub(super) fn json(&self) -> Value {
        serde_json::from_str(&self.out).expect("JSON")
    }
}

impl Desk {
    pub(super) async fn new() -> Self {
        Self::with(&[]).await
    }

    /// The same with arguments of `ucp dev`.
    pub(super) async fn with(arguments: &[&str]) -> Self {
        let folder = tempfile::tempdir().expect("a temporary directory");
        let (dev, url) = Process::dev(&folder.path().join(".ucp"), arguments).await;
        Self::at(folder, vec![dev], url)
    }

    /// The same with a server over a database.
    pub(super) async fn over(database: &str) -> Self {
        let (simulator, aws) = Process::simulator("20ms").await;
        let (server, url) = Process::serve(database, &aws, ACCOUNT, None).await;
        let folder = tempfile::tempdir().expect("a temporary directory");
        Self::at(folder, vec![server, simulator], url)
    }

    fn at(folder: TempDir, servers: Vec<Process>, url: String) -> Self {
        let desk = Self {
            folder,
            url,
            servers,
        };
        for (name, text) in [("net.yaml", NET), ("sub.json", SUB), ("logs.yaml", LOGS)] {
            desk.write(name, text);
        }
        desk
    }

    /// The URL of the simulated AWS of `ucp dev`.
    #[allow(dead_code, reason = "for suites of the nightly run")]
    pub(super) async fn aws(&self) -> String {
        let line = self.servers[0].line("a simulated AWS listens on").await;
        line.rsplit(' ').next().expect("a URL").to_owned()
    }

    pub(super) fn write(&self, name: &str, text: &str) {
        fs::write(self.folder.path().join(name), text).expect("a file");
    }

    pub(super) async fn ucp(&self, arguments: &[&str]) -> Run {
        self.ucp_reading("", arguments).await
    }

    /// Runs a command with a text on its standard input.
    pub(super) async fn ucp_reading(&self, input: &str, arguments: &[&str]) -> Run {
        let mut command = self.command(env!("CARGO_BIN_EXE_ucp"));
        command.args(arguments);
        run(command, input).await
    }

    /// Runs a command on a terminal, at which somebody types.
    pub(super) async fn ucp_on_a_terminal(&self, typed: &str, arguments: &str) -> Run {
        run(self.on_a_terminal(arguments), typed).await
    }

    /// The same, where something happens between a question and the answer, which is yes.
    pub(super) async fn ucp_asking(
        &self,
        question: &'static str,
        arguments: &str,
        meanwhile: impl Future<Output = ()>,
    ) -> Run {
        let mut command = self.on_a_terminal(arguments);
        command.stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut child = command.spawn().expect("the binary starts");
        let (stdin, stdout) = (child.stdin.take(), child.stdout.take());
        let (mut stdin, mut stdout) = (stdin.expect("a pipe"), stdout.expect("a pipe"));
        let asking = tokio::task::spawn_blocking(move || {
            let (mut out, mut some) = (Vec::new(), [0; 1_024]);
            while !String::from_utf8_lossy(&out).contains(question) {
                let read = stdout.read(&mut some).expect("it can be read");
                assert!(read > 0, "not asked: {}", String::from_utf8_lossy(&out));
                out.extend(&some[..read]);
            }
            (out, stdout)
        });
        let (mut out, mut stdout) = asking.await.expect("it asks");
        meanwhile.await;
        let ending = tokio::task::spawn_blocking(move || {
            stdin.write_all(b"y").expect("it reads");
            stdout.read_to_end(&mut out).expect("it can be read");
            drop(stdin);
            let status = child.wait().expect("it ends");
            Run::of(Output {
                status,
                stdout: out,
                stderr: Vec::new(),
            })
        });
        ending.await.expect("it ends")
    }

    fn on_a_terminal(&self, arguments: &str) -> Command {
        let mut command = self.command("script");
        let line = format!("{} {arguments}", env!("CARGO_BIN_EXE_ucp"));
        command.args(["--quiet", "--return", "--command", &line, "/dev/null"]);
        command
    }

    pub(super) fn command(&self, program: &str) -> Command {
        let mut command = Command::new(program);
        command
            .current_dir(self.folder.path())
            .env("UCP_SERVER", &self.url)
            .env("UCP_GROUP", "daily")
            .env("UCP_ACCOUNT", ACCOUNT)
            .env("UCP_REGION", "us-west-2")
            .env("TERM", "xterm");
        command
    }
}

/// Runs a command with a text on its standard input.
pub(super) async fn run(mut command: Command, input: &str) -> Run {
    let input = input.to_owned();
    let running = tokio::task::spawn_blocking(move || {
        command
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        let mut child = command.spawn().expect("the binary starts");
        let mut stdin = child.stdin.take().expect("a pipe");
        // It may end without reading.
        let _ = stdin.write_all(input.as_bytes());
        drop(stdin);
        child.wait_with_output().expect("it ends")
    });
    Run::of(running.await.expect("it ends"))
}
