//! How requests are recorded.

use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::Context;
use clap::Args;
use ucp_audit::{Lines, Waiting};

/// How requests are recorded.
#[derive(Clone, Debug, Args)]
pub(crate) struct Audit {
    /// A file to which a line of JSON is appended for each request that changes something or is refused; `-` is standard
    /// output. Besides, the database has them.
    #[arg(long, env = "UCP_AUDIT_LOG", value_name = "FILE")]
    pub(crate) audit_log: Option<PathBuf>,
    /// Answer no request that must be recorded before it is, in the database and in the file. Those that cannot be recorded
    /// get 503.
    #[arg(long, env = "UCP_AUDIT_REQUIRED")]
    pub(crate) audit_required: bool,
    /// How long the database has who asked for what.
    #[arg(long, env = "UCP_AUDIT_RETENTION", default_value = "90d", value_parser = humantime::parse_duration)]
    pub(crate) audit_retention: Duration,
}

impl Audit {
    /// Opens the log, if there is to be one.
    pub(crate) fn lines(&self) -> anyhow::Result<Option<Lines>> {
        let Some(path) = &self.audit_log else {
            return Ok(None);
        };
        if path == Path::new("-") {
            return Ok(Some(Lines::to_output()));
        }
        let lines = Lines::to_file(path.clone());
        let lines = lines.with_context(|| format!("--audit-log: cannot write {}", path.display()));
        lines.map(Some)
    }

    /// Returns whether requests wait until they are recorded.
    pub(crate) fn waiting(&self) -> Waiting {
        if self.audit_required {
            Waiting::Required
        } else {
            Waiting::No
        }
    }
}
