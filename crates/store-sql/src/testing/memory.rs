//! Folders that need no disk.

use std::path::Path;

use rustix::fs::statvfs;
use tempfile::TempDir;

/// Where Linux has files in memory.
const MEMORY: &str = "/dev/shm";

/// The least room, in bytes, for the databases of a test process. A container has 64 MiB there by default.
const ROOM: u64 = 2 << 30;

/// Makes a folder in memory, if there is room, since a database waits for the disk at each commit; elsewhere otherwise.
pub(super) fn folder(prefix: &str) -> TempDir {
    let has_room = statvfs(MEMORY).is_ok_and(|all| all.f_bavail * all.f_frsize >= ROOM);
    let folder = if has_room && Path::new(MEMORY).is_dir() {
        TempDir::with_prefix_in(prefix, MEMORY)
    } else {
        TempDir::with_prefix(prefix)
    };
    folder.unwrap()
}
