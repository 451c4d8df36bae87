//! Processes of the binary, and what they cost.

use std::net::{SocketAddr, TcpListener, TcpStream};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

/// The account of the simulated AWS.
pub(crate) const ACCOUNT: &str = "123456789012";
/// The interval between attempts to connect.
const AGAIN: Duration = Duration::from_millis(20);
/// The unit of times in `/proc`, on every architecture.
const TICKS_PER_SECOND: f64 = 100.0;

/// A running `ucp`. It is killed when dropped.
pub(crate) struct Process {
    child: Child,
    pub(crate) address: SocketAddr,
}

impl Process {
    /// Starts a command that listens, and waits until it does. Its logs go nowhere, so that nothing has to read them.
    pub(crate) fn start(binary: &Path, command: &str, arguments: &[&str]) -> Self {
        let free = TcpListener::bind("127.0.0.1:0").and_then(|listener| listener.local_addr());
        let address = free.expect("a free port");
        let mut child = Command::new(binary)
            .arg(command)
            .arg(format!("--listen={address}"))
            .args(arguments)
            .env_remove("UCP_LOG")
            .env("UCP_ENCRYPTION_KEY", "07".repeat(32))
            .env("AWS_ACCESS_KEY_ID", ACCOUNT)
            .env("AWS_SECRET_ACCESS_KEY", "secret")
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .spawn()
            .expect("the binary starts");
        while TcpStream::connect(address).is_err() {
            let ended = child.try_wait().expect("it can be asked");
            assert!(ended.is_none(), "ucp {command} has ended");
            std::thread::sleep(AGAIN);
        }
        Self { child, address }
    }

    pub(crate) fn id(&self) -> u32 {
        self.child.id()
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        // It may already have ended.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Makes a token that may do everything.
pub(crate) fn create_token(binary: &Path, database_url: &str) -> String {
    let output = Command::new(binary)
        .args([
            "token",
            "create",
            "--name=bench",
            "--role=owner",
            "--scope=/",
        ])
        .args(["--database-url", database_url])
        .output();
    let output = output.expect("the binary starts");
    assert!(output.status.success(), "{output:?}");
    let token = String::from_utf8(output.stdout).expect("UTF-8");
    token.trim_end().to_owned()
}

/// Returns the CPU seconds that processes have used so far. Only Linux tells.
pub(crate) fn cpu_seconds(ids: &[u32]) -> Option<f64> {
    ids.iter().map(|id| cpu_seconds_of(*id)).sum()
}

fn cpu_seconds_of(id: u32) -> Option<f64> {
    let stat = std::fs::read_to_string(format!("/proc/{id}/stat")).ok()?;
    // The name may contain spaces. User and system time are the 12th and 13th field after it.
    let (_, fields) = stat.rsplit_once(')')?;
    let mut times = fields.split_whitespace().skip(11).take(2);
    let mut next = || times.next()?.parse::<f64>().ok();
    Some((next()? + next()?) / TICKS_PER_SECOND)
}

/// The CPU seconds of all processes.
#[derive(Clone, Copy)]
pub(crate) struct Machine {
    pub(crate) used: f64,
    pub(crate) available: f64,
}

/// Returns the CPU seconds of the machine so far. Only Linux tells.
pub(crate) fn machine_seconds() -> Option<Machine> {
    let stat = std::fs::read_to_string("/proc/stat").ok()?;
    // User, nice, system, idle, waiting for disks, interrupts, soft interrupts, stolen. The rest is part of user.
    let fields = stat.lines().next()?.split_whitespace().skip(1).take(8);
    let fields: Vec<f64> = fields.filter_map(|field| field.parse().ok()).collect();
    let available: f64 = fields.iter().sum();
    let idle: f64 = fields.iter().skip(3).take(2).sum();
    Some(Machine {
        used: (available - idle) / TICKS_PER_SECOND,
        available: available / TICKS_PER_SECOND,
    })
}
