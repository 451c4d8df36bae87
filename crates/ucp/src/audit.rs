//! How requests are recorded.

use std::time::Duration;

use clap::Args;

/// How requests are recorded.
#[derive(Clone, Debug, Args)]
pub(crate) struct Audit {
    /// How long the audit has who asked for what.
    #[arg(long, env = "UCP_AUDIT_RETENTION", default_value = "90d", value_parser = humantime::parse_duration)]
    pub(crate) audit_retention: Duration,
}
