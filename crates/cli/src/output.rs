//! Standard output and standard error.

use std::fmt::Display;
use std::io::{self, Write};

use clap::{Args, ValueEnum};
use serde_json::Value;

use ucp_model::ids::is_misleading;

use crate::color;
use crate::render::{Paper, readable};

/// How the result is printed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub(crate) enum Format {
    /// For people: tables, differences, progress.
    #[default]
    #[value(alias = "table")]
    Text,
    /// For programs: what the server answers.
    Json,
}

/// The flag that chooses the format.
#[derive(Clone, Copy, Debug, Default, Args)]
pub(crate) struct Output {
    /// How the result is printed.
    #[arg(
        short = 'o',
        long = "output",
        value_enum,
        default_value_t,
        value_name = "FORMAT"
    )]
    pub(crate) format: Format,
}

impl Output {
    pub(crate) fn is_json(self) -> bool {
        self.format == Format::Json
    }
}

/// Prints to standard output. It is no error if nobody reads on.
pub fn print(text: &str) -> io::Result<()> {
    let mut out = io::stdout().lock();
    match out.write_all(text.as_bytes()).and_then(|()| out.flush()) {
        Err(error) if error.kind() != io::ErrorKind::BrokenPipe => Err(error),
        Ok(()) | Err(_) => Ok(()),
    }
}

/// Prints a line to standard error. It is no error if nobody reads it.
pub fn tell(line: impl Display) {
    let _ = writeln!(io::stderr().lock(), "{line}");
}

/// Prints a value on lines of its own. Letters that would change how a terminal shows it are escaped, as JSON allows.
pub(crate) fn print_json(value: &Value) -> io::Result<()> {
    print(&as_json(value))
}

fn as_json(value: &Value) -> String {
    let text = format!("{value:#}\n");
    let mut escaped = String::with_capacity(text.len());
    for letter in text.chars() {
        if is_misleading(letter) && letter != '\n' {
            escaped.push_str(&format!("\\u{:04x}", u32::from(letter)))
        } else {
            escaped.push(letter)
        }
    }
    escaped
}

/// Shows what `write` writes: on standard output, or on standard error if the former is for programs.
pub(crate) fn show(
    output: Output,
    write: impl FnOnce(&mut Paper<Vec<u8>>) -> io::Result<()>,
) -> io::Result<()> {
    let is_coloured = match output.format {
        Format::Text => color::suits(&io::stdout()),
        Format::Json => color::suits(&io::stderr()),
    };
    let mut paper = Paper::new(Vec::new(), is_coloured);
    write(&mut paper)?;
    let text = String::from_utf8_lossy(&paper.into_inner()).into_owned();
    match output.format {
        Format::Text => print(&text),
        Format::Json => {
            let _ = io::stderr().lock().write_all(text.as_bytes());
            Ok(())
        }
    }
}

/// Prints warnings to standard error, each with the name of what it is about.
pub(crate) fn warn(name: &str, warnings: &Value) {
    let warnings = warnings.as_array().into_iter().flatten();
    let messages = warnings.filter_map(|warning| warning["message"].as_str());
    for message in messages {
        let line = format!("Warning: {name}: {message}");
        tell(readable(&line));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn json_steers_no_terminal() {
        let value = Value::from("a\u{1b}[2J\u{9b}2J\u{202e}\nb é 😀");
        let text = as_json(&value);
        assert!(!text.trim_end().contains(is_misleading), "{text:?}");
        assert!(text.contains("é 😀"), "{text:?}");
        assert_eq!(serde_json::from_str::<Value>(&text).expect("JSON"), value);
    }
}
