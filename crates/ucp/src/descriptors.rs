//! The descriptors of the process: each connection and each file takes one, and the operating system limits them.

use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

use crate::connections::PROBE_CONNECTIONS;

/// What the database may take: connections to Postgres, or the files of SQLite.
const DATABASE: usize = 32;
/// What else is open: listeners, standard output, the runtime, files that are read.
const OTHERS: usize = 32;

/// Raises the limit of the process to what it may have, and warns if that is too low for the connections of
/// clients and for the workers.
pub(crate) fn provide(connections: usize, workers: usize) {
    let (needed, limit) = (needed(connections, workers), raised());
    if limit.is_some_and(|limit| limit < needed) {
        tracing::warn!(
            descriptors.limit = limit,
            descriptors.needed = needed,
            "the limit of open files is too low for the connections that are allowed; raise it (ulimit -n, LimitNOFILE), \
             or lower --max-connections or --workers"
        );
    }
}

/// How many descriptors the process may need. A request and a step of a worker have at most one call to AWS under way.
fn needed(connections: usize, workers: usize) -> u64 {
    let requests = connections;
    let needed = [
        connections,
        requests,
        workers,
        PROBE_CONNECTIONS,
        DATABASE,
        OTHERS,
    ];
    let needed = needed.into_iter().fold(0, usize::saturating_add);
    u64::try_from(needed).unwrap_or(u64::MAX)
}

/// Raises the soft limit to the hard one. Returns the limit that holds; `None` means that there is none.
fn raised() -> Option<u64> {
    let Rlimit { current, maximum } = getrlimit(Resource::Nofile);
    let raised = Rlimit {
        current: maximum,
        maximum,
    };
    match setrlimit(Resource::Nofile, raised) {
        Ok(()) => maximum,
        Err(error) => {
            tracing::debug!(%error, "the limit of open files could not be raised");
            current
        }
    }
}
