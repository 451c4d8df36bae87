//! Logs: for people in `dev`, JSON in `serve`. Never bodies.

use std::io;

use tracing_subscriber::EnvFilter;
use tracing_subscriber::fmt;

/// For whom logs are written.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Format {
    /// People: lines on standard error.
    Human,
    /// Machines: a JSON object a line on standard output.
    Json,
}

/// Starts logging; `UCP_LOG` chooses what, in the syntax of `tracing_subscriber::EnvFilter`.
pub(crate) fn init(format: Format) {
    let default = match format {
        Format::Human => "warn",
        Format::Json => "info",
    };
    let filter = EnvFilter::try_from_env("UCP_LOG").unwrap_or_else(|_| EnvFilter::new(default));
    let subscriber = fmt().with_env_filter(filter);
    match format {
        Format::Human => subscriber.with_writer(io::stderr).with_target(false).init(),
        Format::Json => subscriber
            .json()
            .flatten_event(true)
            .with_writer(io::stdout)
            .init(),
    }
}
