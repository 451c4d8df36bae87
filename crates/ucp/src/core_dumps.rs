//! No core dumps: the memory of a server has keys, tokens and properties.

#[cfg(target_os = "linux")]
use rustix::process::{DumpableBehavior, set_dumpable_behavior};
use rustix::process::{Resource, Rlimit, setrlimit};

/// Keeps the process from leaving its memory in a file when it crashes, and other processes of the user from reading it.
pub(crate) fn prevent() {
    let none = Rlimit {
        current: Some(0),
        maximum: Some(0),
    };
    if let Err(error) = setrlimit(Resource::Core, none) {
        tracing::warn!(%error, "core dumps cannot be prevented");
    }
    // A handler of core dumps, such as that of systemd, does not heed the limit.
    #[cfg(target_os = "linux")]
    if let Err(error) = set_dumpable_behavior(DumpableBehavior::NotDumpable) {
        tracing::warn!(%error, "core dumps cannot be prevented");
    }
}

#[cfg(test)]
#[cfg(target_os = "linux")]
mod tests {
    use rustix::process::{dumpable_behavior, getrlimit};

    use super::*;

    #[test]
    fn neither_the_kernel_nor_a_handler_gets_the_memory() {
        prevent();
        let limit = getrlimit(Resource::Core);
        assert_eq!((limit.current, limit.maximum), (Some(0), Some(0)));
        let behavior = dumpable_behavior().unwrap();
        assert_eq!(behavior, DumpableBehavior::NotDumpable);
    }
}
