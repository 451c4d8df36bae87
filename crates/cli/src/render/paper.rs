//! Marked lines, with or without colours.

use std::io::{self, Write};

use anstyle::{AnsiColor, Style};
use ucp_model::ids::readable;

/// A writer of marked lines, with or without colours.
#[derive(Debug)]
pub struct Paper<W> {
    out: W,
    is_coloured: bool,
}

/// What happens to the value on a line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mark {
    /// It is new.
    Add,
    /// It goes.
    Remove,
    /// It becomes another.
    Change,
    /// It goes, and a new one comes.
    Replace,
    /// No change.
    Keep,
}

impl Mark {
    /// The mark as text.
    pub fn sign(self) -> &'static str {
        match self {
            Mark::Add => "+",
            Mark::Remove => "-",
            Mark::Change => "~",
            Mark::Replace => "-/+",
            Mark::Keep => " ",
        }
    }

    /// The colour of the mark.
    pub fn style(self) -> Style {
        match self {
            Mark::Add => AnsiColor::Green.on_default(),
            Mark::Remove | Mark::Replace => AnsiColor::Red.on_default(),
            Mark::Change => AnsiColor::Yellow.on_default(),
            Mark::Keep => Style::new(),
        }
    }
}

impl<W: Write> Paper<W> {
    /// A paper on `out`.
    pub fn new(out: W, is_coloured: bool) -> Self {
        Self { out, is_coloured }
    }

    /// Returns what was written on.
    pub fn into_inner(self) -> W {
        self.out
    }

    /// Writes an empty line.
    pub fn blank(&mut self) -> io::Result<()> {
        writeln!(self.out)
    }

    /// Writes a line without indentation.
    pub fn words(&mut self, words: &[(Style, &str)]) -> io::Result<()> {
        for (style, text) in words {
            self.write(*style, text)?;
        }
        self.blank()
    }

    /// Writes an indented line with its mark and a note.
    pub fn line(&mut self, depth: usize, mark: Mark, text: &str, note: &str) -> io::Result<()> {
        write!(self.out, "{:1$}", "", 2 + 4 * depth)?;
        self.write(mark.style(), mark.sign())?;
        self.out.write_all(b" ")?;
        self.write(Style::new(), text)?;
        if !note.is_empty() {
            if !text.is_empty() {
                self.out.write_all(b"  ")?;
            }
            self.write(Style::new().dimmed(), &format!("# {note}"))?;
        }
        self.blank()
    }

    /// Writes text, escaping characters that control a terminal.
    fn write(&mut self, style: Style, text: &str) -> io::Result<()> {
        let style = if self.is_coloured {
            style
        } else {
            Style::new()
        };
        write!(self.out, "{style}{}{style:#}", readable(text))
    }
}
