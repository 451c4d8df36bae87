//! What was built.

/// The release.
const RELEASE: &str = env!("CARGO_PKG_VERSION");
/// The commit, or `unknown` if it was built without git; see `build.rs`.
const COMMIT: &str = env!("UCP_COMMIT");

/// The text of `ucp --version`.
pub(crate) const TEXT: &str = concat!(
    env!("CARGO_PKG_VERSION"),
    " (commit ",
    env!("UCP_COMMIT"),
    ")"
);

/// The version as the API reports it.
pub(crate) fn of_this_build() -> ucp_api::Version {
    ucp_api::Version {
        version: RELEASE.to_owned(),
        commit: COMMIT.to_owned(),
    }
}
