//! Logs: text in `dev`, JSON in `serve`. Bodies are never logged. Lines repeat the words of AWS and of clients, so letters that would
//! change how a line is shown are escaped.

use std::env::{self, VarError};
use std::fmt::{self as text, Write as _};
use std::io::{self, Write};

use anyhow::{Context, bail};
use tracing::Subscriber;
use tracing::field::Field;
use tracing_subscriber::EnvFilter;
use tracing_subscriber::field::MakeExt as _;
use tracing_subscriber::fmt;
use tracing_subscriber::fmt::format::{FormatFields, Writer, debug_fn};
use tracing_subscriber::util::SubscriberInitExt as _;
use ucp_cli::color;
use ucp_model::ids::is_misleading;

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
    let filter = filter(default)?;
    match format {
        Format::Human => human(filter, io::stderr, color::suits(&io::stderr())).init(),
        Format::Json => json(filter, io::stdout).init(),
    }
    Ok(())
}

fn human<W: Write + 'static>(
    filter: EnvFilter,
    to: impl Fn() -> W + Send + Sync + 'static,
    is_coloured: bool,
) -> impl Subscriber + Send + Sync {
    fmt()
        .with_env_filter(filter)
        .fmt_fields(fields())
        // That a line could not be written would be said on standard error, with a panic if nobody reads that.
        .log_internal_errors(false)
        .with_writer(to)
        .with_ansi(is_coloured)
        .with_target(false)
        .finish()
}

fn json<W: Write + 'static>(
    filter: EnvFilter,
    to: impl Fn() -> W + Send + Sync + 'static,
) -> impl Subscriber + Send + Sync {
    fmt()
        .with_env_filter(filter)
        .log_internal_errors(false)
        .json()
        .flatten_event(true)
        .with_writer(move || Escaping(to()))
        .finish()
}

/// Fields as `name=value`, and the message as it is.
fn fields() -> impl for<'w> FormatFields<'w> + Send + Sync + 'static {
    let write = |writer: &mut Writer<'_>, field: &Field, value: &dyn text::Debug| {
        match (field.name(), writer.has_ansi_escapes()) {
            ("message", _) => {}
            // What a line of the crate `log` has been, which it has said already.
            (name, _) if name.starts_with("log.") => return Ok(()),
            (name, true) => write!(writer, "\x1b[3m{name}\x1b[0m\x1b[2m=\x1b[0m")?,
            (name, false) => write!(writer, "{name}=")?,
        }
        for letter in format!("{value:?}").chars() {
            if is_misleading(letter) {
                write!(writer, "{}", letter.escape_default())?
            } else {
                writer.write_char(letter)?
            }
        }
        Ok(())
    };
    debug_fn(write).delimited(" ")
}

/// Writes lines of JSON, in whose texts it escapes the letters that JSON need not escape.
struct Escaping<W>(W);

impl<W: Write> Write for Escaping<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let line = String::from_utf8_lossy(bytes);
        let changes = |letter: char| is_misleading(letter) && letter != '\n';
        if !line.contains(changes) {
            return self.0.write_all(bytes).map(|()| bytes.len());
        }
        let mut escaped = String::with_capacity(line.len() + 16);
        for letter in line.chars() {
            if changes(letter) {
                // None of them needs two.
                write!(escaped, "\\u{:04x}", u32::from(letter)).map_err(io::Error::other)?
            } else {
                escaped.push(letter)
            }
        }
        self.0.write_all(escaped.as_bytes()).map(|()| bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        self.0.flush()
    }
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

#[cfg(test)]
mod tests {
    use std::sync::{Arc, Mutex};

    use super::*;

    #[derive(Clone, Default)]
    struct Lines(Arc<Mutex<Vec<u8>>>);

    impl Write for Lines {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            self.0.lock().unwrap().write(bytes)
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    impl Lines {
        fn text(&self) -> String {
            String::from_utf8(self.0.lock().unwrap().clone()).unwrap()
        }
    }

    /// Each of them could hide a line, or make another one of it.
    const WORDS: &str = "a\u{1b}[2Jb\u{9b}2Jc\u{202e}d\ne";

    fn log() {
        let span = tracing::info_span!("step", caller.name = WORDS);
        let _entered = span.enter();
        tracing::warn!(error = %WORDS, caller.name = WORDS, "AWS said {WORDS}");
    }

    fn has_none(line: &str) {
        let is_one = |letter: char| is_misleading(letter) && letter != '\n';
        assert!(!line.contains(is_one), "{line:?}");
        assert_eq!(line.trim_end().lines().count(), 1, "{line:?}");
        assert!(line.matches("[2Jb").count() >= 4, "{line:?}");
    }

    #[test]
    fn what_steers_a_terminal_is_escaped() {
        let lines = Lines::default();
        let to = lines.clone();
        let filter = EnvFilter::new("info");
        tracing::subscriber::with_default(human(filter, move || to.clone(), false), log);
        has_none(&lines.text());

        let lines = Lines::default();
        let to = lines.clone();
        let filter = EnvFilter::new("info");
        tracing::subscriber::with_default(json(filter, move || to.clone()), log);
        has_none(&lines.text());
        let event: serde_json::Value = serde_json::from_str(&lines.text()).unwrap();
        assert_eq!(event["error"], WORDS);
        assert_eq!(event["span"]["caller.name"], WORDS);
    }
}
