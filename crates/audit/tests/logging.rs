//! The audit log.

use std::fs::{self, File};
use std::io::{self, BufRead, BufReader};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Arc;
use std::time::Duration;

use serde_json::Value;
use tempfile::TempDir;
use tokio::task::spawn_blocking;
use ucp_audit::{AuditEvent, AuditOutcome, Auditor, Lines, Trouble, Waiting, auditing};
use ucp_model::{CorrelationId, Timestamp};
use ucp_store::{AuditEvents, AuditPlace, Memory};

fn start(path: &Path, waiting: Waiting) -> (Auditor, Arc<Memory>) {
    let store = Arc::new(Memory::new());
    let lines = Lines::to_file(path.to_owned()).expect("it works");
    let (auditor, recorder) = auditing(store.clone(), Some(lines), waiting);
    tokio::spawn(recorder.run());
    (auditor, store)
}

fn folder() -> (TempDir, PathBuf) {
    let folder = TempDir::new().expect("it works");
    let path = folder.path().join("audit.log");
    (folder, path)
}

fn event(status: u16, outcome: AuditOutcome) -> AuditEvent {
    AuditEvent {
        at: Timestamp::from_millis(1_767_225_600_000),
        caller: "anonymous".to_owned(),
        peer: Some("192.0.2.1".to_owned()),
        action: "AWS.EC2/VPC/write".to_owned(),
        id: "/planes/a\"b".to_owned(),
        outcome,
        status: Some(status),
        code: None,
        correlation_id: CorrelationId::new("deployment"),
        request_id: "request".to_owned(),
        operation: None,
        change: None,
        paths: Vec::new(),
        suppressed: 0,
    }
}

fn allowed(status: u16) -> AuditEvent {
    event(status, AuditOutcome::Allowed)
}

/// The statuses of the lines of a file.
fn statuses(path: &Path) -> Vec<u64> {
    let text = fs::read_to_string(path).expect("it works");
    let lines = text
        .lines()
        .map(|line| serde_json::from_str::<Value>(line).expect("it works"));
    lines
        .map(|line| line["status"].as_u64().expect("it works"))
        .collect()
}

async fn stored(store: &Memory) -> usize {
    let since = Timestamp::default();
    let listed = store.list_audit_events(since, AuditPlace::END, 100_000);
    listed.await.expect("it works").len()
}

#[tokio::test]
async fn an_event_is_a_line_that_only_its_owner_reads() {
    let (_folder, path) = folder();
    fs::write(&path, "{\"status\":1}\n").expect("it works");
    fs::remove_file(&path).expect("it works");
    let (auditor, _) = start(&path, Waiting::Required);
    auditor.record(allowed(200)).await.expect("it works");
    let text = fs::read_to_string(&path).expect("it works");
    let line = r#"{"at":"2026-01-01T00:00:00Z","caller":"anonymous","peer":"192.0.2.1","action":"AWS.EC2/VPC/write","id":"/planes/a\"b","outcome":"Allowed","status":200,"correlationId":"deployment","requestId":"request"}"#;
    assert_eq!(text, format!("{line}\n"));
    let mode = path.metadata().expect("it works").permissions().mode();
    assert_eq!(mode & 0o777, 0o600);
    // It goes on where another process has stopped.
    let (auditor, _) = start(&path, Waiting::Required);
    auditor.record(allowed(201)).await.expect("it works");
    assert_eq!(statuses(&path), [200, 201]);
}

/// As `logrotate` does it, with and without creating the new file.
#[tokio::test]
async fn a_file_that_was_renamed_away_is_left() {
    let (folder, path) = folder();
    let (auditor, _) = start(&path, Waiting::Required);
    auditor.record(allowed(200)).await.expect("it works");
    let first = folder.path().join("audit.log.1");
    fs::rename(&path, &first).expect("it works");
    auditor.record(allowed(201)).await.expect("it works");
    let second = folder.path().join("audit.log.2");
    fs::rename(&path, &second).expect("it works");
    fs::write(&path, "").expect("it works");
    auditor.record(allowed(202)).await.expect("it works");
    for (path, status) in [(&first, 200), (&second, 201), (&path, 202)] {
        assert_eq!(statuses(path), [status]);
    }
}

#[tokio::test]
async fn the_log_has_what_the_store_has_not() {
    let (_folder, path) = folder();
    let (auditor, store) = start(&path, Waiting::No);
    auditor.note(event(200, AuditOutcome::Unchanged));
    for _ in 0..100 {
        auditor.note(event(401, AuditOutcome::Refused));
    }
    auditor.flush().await;
    assert_eq!(statuses(&path).len(), 101);
    assert_eq!(stored(&store).await, 60);
}

/// What is in the store is not written there again once the file takes lines.
#[tokio::test]
async fn what_the_log_does_not_take_is_not_recorded() {
    let (folder, path) = folder();
    let logs = folder.path().join("logs");
    let moved = folder.path().join("moved");
    fs::create_dir(&logs).expect("it works");
    let path = logs.join(path.file_name().expect("it works"));
    let (auditor, store) = start(&path, Waiting::Required);
    fs::rename(&logs, &moved).expect("it works");
    auditor.record(allowed(200)).await.expect_err("it fails");
    auditor.record(allowed(201)).await.expect_err("it fails");
    assert!(!auditor.is_able());
    fs::rename(&moved, &logs).expect("it works");
    auditor.record(allowed(202)).await.expect("it works");
    assert!(auditor.is_able());
    assert_eq!(statuses(&path), [200, 201, 202]);
    assert_eq!(stored(&store).await, 3);
}

#[tokio::test]
async fn a_full_disk_is_told() {
    let (auditor, store) = start(Path::new("/dev/full"), Waiting::Required);
    auditor.record(allowed(200)).await.expect_err("it fails");
    assert!(auditor.trouble().is_some());
    assert_eq!(stored(&store).await, 1);
    assert!(Lines::to_file("/nowhere/audit.log".into()).is_err());
}

/// A pipe whose reader has stopped takes what there is room for, and then nothing, without an error.
#[tokio::test]
async fn a_pipe_that_nobody_reads_is_told() {
    let (_folder, path) = folder();
    let made = Command::new("mkfifo").arg(&path).status();
    assert!(made.expect("it works").success());
    let pipe = File::options().read(true).write(true).open(&path);
    let pipe = pipe.expect("it works");
    let (auditor, _) = start(&path, Waiting::Required);
    auditor.record(allowed(200)).await.expect("it works");
    for _ in 0..1_000 {
        auditor.note(allowed(201));
    }
    while auditor.trouble().is_none() {
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    assert_eq!(auditor.trouble(), Some(Trouble::Hanging));
    assert!(!auditor.is_able());
    let reading = spawn_blocking(move || {
        let mut lines = BufReader::new(pipe).lines();
        let last = |line: io::Result<String>| line.expect("it works").contains("\"status\":202");
        assert!(lines.any(last));
    });
    while !auditor.is_able() {
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    auditor.record(allowed(202)).await.expect("it works");
    reading.await.expect("it works");
    assert!(auditor.is_able());
}

/// The store takes what the pipe does not.
#[tokio::test]
async fn a_pipe_that_nobody_reads_does_not_hold_up_the_store() {
    let (_folder, path) = folder();
    let made = Command::new("mkfifo").arg(&path).status();
    assert!(made.expect("it works").success());
    let pipe = File::options().read(true).write(true).open(&path);
    let pipe = pipe.expect("it works");
    let (auditor, store) = start(&path, Waiting::No);
    for _ in 0..1_000 {
        auditor.note(allowed(200));
    }
    while auditor.trouble().is_none() {
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    assert_eq!(auditor.trouble(), Some(Trouble::Hanging));
    for count in [1_001, 1_002] {
        auditor.note(allowed(201));
        let tried = tokio::time::timeout(Duration::from_secs(60), auditor.flush());
        tried.await.expect("it does not wait for the pipe");
        assert_eq!(stored(&store).await, count);
        assert_eq!(auditor.trouble(), Some(Trouble::Hanging));
    }
    // Nothing is left out when the pipe is read again, and each line is there once.
    let reading = spawn_blocking(move || {
        let lines = BufReader::new(pipe).lines();
        let status = |line: io::Result<String>| line.expect("it works").contains("\"status\":201");
        let statuses: Vec<bool> = lines.take(1_002).map(status).collect();
        assert_eq!(statuses.iter().filter(|is_last| **is_last).count(), 2);
        assert!(statuses.ends_with(&[true, true]));
    });
    reading.await.expect("it works");
    while auditor.trouble().is_some() {
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
}

/// Of what a pipe does not take there is an end. The next line says how many are missing.
#[tokio::test(start_paused = true)]
async fn lines_that_are_lost_are_counted() {
    let (_folder, path) = folder();
    let made = Command::new("mkfifo").arg(&path).status();
    assert!(made.expect("it works").success());
    let pipe = File::options().read(true).write(true).open(&path);
    let pipe = pipe.expect("it works");
    let (auditor, store) = start(&path, Waiting::No);
    for _ in 0..500 {
        auditor.note(allowed(200));
    }
    while auditor.trouble().is_none() {
        tokio::task::yield_now().await;
        tokio::time::advance(Duration::from_secs(1)).await;
    }
    for _ in 0..3 {
        for _ in 0..4_000 {
            auditor.note(allowed(201));
        }
        auditor.flush().await;
    }
    assert_eq!(stored(&store).await, 12_500);
    assert_eq!(auditor.lost_lines(), 2_000);
    let reading = spawn_blocking(move || {
        let lines = BufReader::new(pipe).lines().take(500 + 10_000 + 1);
        let parsed = lines.map(|line| serde_json::from_str(&line.expect("it works")));
        parsed.collect::<Result<Vec<Value>, _>>().expect("JSON")
    });
    while auditor.trouble().is_some() {
        auditor.flush().await;
    }
    auditor.note(allowed(202));
    let mut lines = reading.await.expect("it works");
    let last = lines.pop().expect("it works");
    assert_eq!(
        (&last["status"], &last["suppressed"]),
        (&202.into(), &2_000.into())
    );
    assert!(lines.iter().all(|line| line["suppressed"].is_null()));
    assert_eq!(auditor.lost_lines(), 2_000);
}

/// So is what comes faster than it can be taken.
#[tokio::test]
async fn lines_without_room_on_their_way_are_counted() {
    let (_folder, path) = folder();
    let (auditor, store) = start(&path, Waiting::No);
    for _ in 0..10_500 {
        auditor.note(allowed(200));
    }
    for _ in 0..500 {
        auditor.note(event(200, AuditOutcome::Unchanged));
    }
    auditor.flush().await;
    auditor.record(allowed(202)).await.expect("it works");
    auditor.flush().await;
    assert_eq!(auditor.lost_lines(), 1_000);
    let text = fs::read_to_string(&path).expect("it works");
    let last = text.lines().last().expect("it works");
    let last: Value = serde_json::from_str(last).expect("JSON");
    assert_eq!(last["suppressed"], 1_000);
    let latest = store.list_audit_events(Timestamp::default(), AuditPlace::END, 1);
    let latest = latest.await.expect("it works").remove(0);
    // What changed nothing is not for the store.
    assert_eq!(
        (latest.event.status, latest.event.suppressed),
        (Some(202), 500)
    );
}

/// Whether the store would have had it or not.
#[tokio::test]
async fn what_is_left_out_is_counted_in_the_next_line() {
    let (_folder, path) = folder();
    let (auditor, store) = start(&path, Waiting::No);
    auditor.leave_out();
    auditor.leave_out();
    auditor.note(event(200, AuditOutcome::Unchanged));
    auditor.leave_out();
    auditor.note(allowed(201));
    auditor.flush().await;
    let text = fs::read_to_string(&path).expect("it works");
    let lines = text
        .lines()
        .map(|line| serde_json::from_str::<Value>(line).expect("JSON"));
    let suppressed: Vec<_> = lines.map(|line| line["suppressed"].clone()).collect();
    assert_eq!(suppressed, [2, 1]);
    let latest = store.list_audit_events(Timestamp::default(), AuditPlace::END, 1);
    let latest = latest.await.expect("it works").remove(0);
    assert_eq!(latest.event.suppressed, 3);
    assert_eq!(auditor.lost_lines(), 0, "nothing was to be written");
}
