//! What all commands have in common.

use std::path::Path;
use std::process::{Command, Output, Stdio};

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
