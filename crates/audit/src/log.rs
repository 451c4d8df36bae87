//! The audit log beside the store. A pipe that nobody reads takes nothing, and must not hold up what the store would take.

use std::collections::VecDeque;
use std::io;
use std::time::Duration;

use tokio::task::{JoinHandle, spawn_blocking};
use tokio::time::timeout;
use ucp_store::AuditEvent;

use crate::lines::Lines;
use crate::{HANGING, ROOM};

/// Why the log does not have everything.
#[derive(Debug, thiserror::Error)]
pub(crate) enum Unlogged {
    /// It could not be written. It is tried again.
    #[error(transparent)]
    Refused(#[from] io::Error),
    /// A write has not ended for too long.
    #[error("the audit log takes no lines; is it a pipe that nobody reads?")]
    Hanging,
}

/// The log, and what it does not have yet.
pub(crate) struct Log {
    /// `None` during a write.
    lines: Option<Lines>,
    unwritten: VecDeque<AuditEvent>,
    /// How many lines are missing before the next one.
    missing: u64,
    /// The write that is under way. It goes on when nobody waits for it any more.
    writing: Option<JoinHandle<Written>>,
}

/// What a write leaves: the lines, the events that were not written, and why not.
type Written = (Lines, VecDeque<AuditEvent>, io::Result<()>);

impl Log {
    pub(crate) fn new(lines: Lines) -> Self {
        Self {
            lines: Some(lines),
            unwritten: VecDeque::new(),
            missing: 0,
            writing: None,
        }
    }

    /// Takes an event, if there is room. Its line says how many are `missing` before it.
    pub(crate) fn take(&mut self, event: AuditEvent, missing: u64) -> bool {
        self.missing += missing;
        let has_room = self.unwritten.len() < ROOM;
        if has_room {
            self.unwritten.push_back(AuditEvent {
                suppressed: std::mem::take(&mut self.missing),
                ..event
            })
        } else {
            self.missing += 1
        }
        has_room
    }

    /// Returns whether it has everything.
    pub(crate) fn is_done(&self) -> bool {
        self.writing.is_none() && self.unwritten.is_empty()
    }

    /// Writes what there is. It waits for a write for some seconds, and not again while that hangs.
    pub(crate) async fn write(&mut self) -> Result<(), Unlogged> {
        while !self.is_done() {
            let (writing, patience) = match &mut self.writing {
                Some(writing) => (writing, Duration::ZERO),
                None => {
                    let begun = begin(&mut self.lines, &mut self.unwritten)?;
                    (self.writing.insert(begun), HANGING)
                }
            };
            let Ok(written) = timeout(patience, writing).await else {
                return Err(Unlogged::Hanging);
            };
            self.writing = None;
            let (lines, mut rest, outcome) = written.map_err(io::Error::other)?;
            self.lines = Some(lines);
            rest.append(&mut self.unwritten);
            self.unwritten = rest;
            outcome?;
        }
        Ok(())
    }
}

/// Begins to write, outside of the threads that serve requests.
fn begin(
    lines: &mut Option<Lines>,
    events: &mut VecDeque<AuditEvent>,
) -> io::Result<JoinHandle<Written>> {
    let lost = || io::Error::other("the log was lost");
    let mut lines = lines.take().ok_or_else(lost)?;
    let mut events = std::mem::take(events);
    Ok(spawn_blocking(move || {
        let (count, written) = lines.write(events.make_contiguous());
        events.drain(..count);
        (lines, events, written)
    }))
}
