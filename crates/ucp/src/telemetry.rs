//! Logs: text in `dev`, JSON in `serve`. Bodies are never logged.

use std::io;

use tracing_subscriber::EnvFilter;
use tracing_subscriber::fmt;

/// The format of logs.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Format {
    /// Text on standard error.
    Human,
    /// One JSON object per line on standard output.
    Json,
}

/// Starts logging. `UCP_LOG` is the filter, in the syntax of `tracing_subscriber::EnvFilter`, and `default` its default.
pub(crate) fn init(format: Format, default: &str) {
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
