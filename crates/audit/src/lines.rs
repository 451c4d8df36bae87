//! The audit log: a JSON object per line, in a file or on standard output.

use std::fs::{File, Metadata};
use std::io::{self, Write};
use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

use serde::Serialize;
use ucp_access::GrantChange;
use ucp_store::AuditEvent;

/// The mode of a file that is created: only its owner reads and writes it.
const OF_OWNER: u32 = 0o600;

/// Where lines are written.
#[derive(Debug)]
pub struct Lines {
    target: Target,
    /// Whether the last line broke off.
    is_torn: bool,
}

#[derive(Debug)]
enum Target {
    Output,
    File(PathBuf, File),
}

impl Lines {
    /// Writes to standard output.
    pub fn to_output() -> Self {
        Self::to(Target::Output)
    }

    /// Appends to a file, which is created if it is missing. If another program renames it away, it is created again.
    pub fn to_file(path: PathBuf) -> io::Result<Self> {
        let file = open(&path)?;
        Ok(Self::to(Target::File(path, file)))
    }

    fn to(target: Target) -> Self {
        Self {
            target,
            is_torn: false,
        }
    }

    /// Writes events in their order, each as a line. Returns how many were written, and why no more.
    pub(crate) fn write(&mut self, events: &[AuditEvent]) -> (usize, io::Result<()>) {
        match &mut self.target {
            Target::Output => append(&mut io::stdout().lock(), events, &mut self.is_torn),
            Target::File(path, file) => {
                match is_at(file, path) {
                    Ok(true) => {}
                    Ok(false) => match open(path) {
                        Ok(new) => {
                            *file = new;
                            self.is_torn = false;
                        }
                        Err(error) => return (0, Err(error)),
                    },
                    Err(error) => return (0, Err(error)),
                }
                append(file, events, &mut self.is_torn)
            }
        }
    }
}

fn open(path: &Path) -> io::Result<File> {
    let mut options = File::options();
    options.create(true).append(true).mode(OF_OWNER).open(path)
}

/// Returns whether the open file is the one that has the path now.
fn is_at(file: &File, path: &Path) -> io::Result<bool> {
    let place = |metadata: &Metadata| (metadata.dev(), metadata.ino());
    match path.metadata() {
        Ok(found) => Ok(place(&found) == place(&file.metadata()?)),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(false),
        Err(error) => Err(error),
    }
}

fn append(
    target: &mut impl Write,
    events: &[AuditEvent],
    is_torn: &mut bool,
) -> (usize, io::Result<()>) {
    for (written, event) in events.iter().enumerate() {
        let line = match line(event) {
            Ok(line) => line,
            Err(error) => return (written, Err(error)),
        };
        // What is left of a line stays a line of its own.
        let start = if *is_torn { "\n" } else { "" };
        let appended = target
            .write_all(format!("{start}{line}\n").as_bytes())
            .and_then(|()| target.flush());
        *is_torn = appended.is_err();
        if let Err(error) = appended {
            return (written, Err(error));
        }
    }
    (events.len(), Ok(()))
}

/// An event, as the log has it. The names are those of the API.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Line<'a> {
    at: String,
    caller: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    peer: Option<&'a str>,
    action: &'a str,
    id: &'a str,
    outcome: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    status: Option<u16>,
    #[serde(skip_serializing_if = "Option::is_none")]
    code: Option<&'a str>,
    correlation_id: &'a str,
    request_id: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    operation_id: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    change: Option<&'a GrantChange>,
    #[serde(skip_serializing_if = "<[_]>::is_empty")]
    paths: &'a [String],
    /// How many lines are missing before this one.
    #[serde(skip_serializing_if = "is_zero")]
    suppressed: u64,
}

fn is_zero(count: &u64) -> bool {
    *count == 0
}

pub(crate) fn line(event: &AuditEvent) -> io::Result<String> {
    let line = Line {
        at: event.at.to_string(),
        caller: &event.caller,
        peer: event.peer.as_deref(),
        action: &event.action,
        id: &event.id,
        outcome: event.outcome.as_str(),
        status: event.status,
        code: event.code.as_deref(),
        correlation_id: event.correlation_id.as_str(),
        request_id: &event.request_id,
        operation_id: event.operation.map(|id| id.to_string()),
        change: event.change.as_ref(),
        paths: &event.paths,
        suppressed: event.suppressed,
    };
    Ok(serde_json::to_string(&line)?)
}

#[cfg(test)]
mod tests {
    use ucp_model::{CorrelationId, Timestamp};
    use ucp_store::AuditOutcome;

    use super::*;

    /// A disk with this much room.
    struct Disk {
        room: usize,
        text: Vec<u8>,
    }

    impl Write for Disk {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            let count = bytes.len().min(self.room);
            if count == 0 {
                return Err(io::ErrorKind::StorageFull.into());
            }
            self.room -= count;
            self.text.extend(&bytes[..count]);
            Ok(count)
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    #[test]
    fn a_line_that_broke_off_is_written_again_on_its_own() {
        let event = AuditEvent {
            at: Timestamp::default(),
            caller: String::new(),
            peer: None,
            action: String::new(),
            id: String::new(),
            outcome: AuditOutcome::Allowed,
            status: None,
            code: None,
            correlation_id: CorrelationId::new(""),
            request_id: String::new(),
            operation: None,
            change: None,
            paths: Vec::new(),
            suppressed: 0,
        };
        let whole = line(&event).unwrap();
        let events = [event.clone(), event.clone(), event];
        let mut disk = Disk {
            room: whole.len() + 1 + 10,
            text: Vec::new(),
        };
        let mut is_torn = false;
        let (written, failed) = append(&mut disk, &events, &mut is_torn);
        assert_eq!(written, 1);
        assert!(failed.is_err());
        disk.room = usize::MAX;
        let (written, done) = append(&mut disk, &events[1..], &mut is_torn);
        assert_eq!(written, 2);
        done.unwrap();
        let text = String::from_utf8(disk.text).unwrap();
        let expected = [&whole, &whole[..10], &whole, &whole];
        assert_eq!(text.lines().collect::<Vec<_>>(), expected);
    }
}
