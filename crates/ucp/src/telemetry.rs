//! Logs: text in `dev`, JSON in `serve`. Bodies are never logged.

use std::env::{self, VarError};
use std::io;

use anyhow::{Context, bail};
use tracing_subscriber::EnvFilter;
use tracing_subscriber::fmt;
use ucp_cli::color;

/// The format of logs.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Format {
    /// Text on standard error.
    Human,
    /// One JSON object per line on standard output.
    Json,
}

/// Starts logging. `UCP_LOG` is the filter, in the syntax of `tracing_subscriber::EnvFilter`, and `default` its default.
pub(crate) fn init(format: Format, default: &str) -> anyhow::Result<()> {
    let subscriber = fmt()
        .with_env_filter(filter(default)?)
        // That a line could not be written would be said on standard error, with a panic if nobody reads that.
        .log_internal_errors(false);
    match format {
        Format::Human => subscriber
            .with_writer(io::stderr)
            .with_ansi(color::suits(&io::stderr()))
            .with_target(false)
            .init(),
        Format::Json => subscriber
            .json()
            .flatten_event(true)
            .with_writer(io::stdout)
            .init(),
    }
    Ok(())
}

fn filter(default: &str) -> anyhow::Result<EnvFilter> {
    match env::var("UCP_LOG") {
        Err(VarError::NotPresent) => Ok(EnvFilter::new(default)),
        Ok(text) if text.is_empty() => Ok(EnvFilter::new(default)),
        Ok(text) => EnvFilter::builder().parse(&text).with_context(|| {
            format!("UCP_LOG is {text:?}; write directives such as info,ucp_engine=debug")
        }),
        Err(VarError::NotUnicode(_)) => bail!("UCP_LOG is not UTF-8"),
    }
}
