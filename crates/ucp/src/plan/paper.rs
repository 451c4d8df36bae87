use std::io::{self, Write};

use anstyle::{AnsiColor, Style};

/// A writer of marked lines, with or without colours.
pub(super) struct Paper<W> {
    out: W,
    is_coloured: bool,
}

/// What happens to the value on a line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Mark {
    Add,
    Remove,
    Change,
    Replace,
    /// No change.
    Keep,
}

impl Mark {
    pub(super) fn sign(self) -> &'static str {
        match self {
            Mark::Add => "+",
            Mark::Remove => "-",
            Mark::Change => "~",
            Mark::Replace => "-/+",
            Mark::Keep => " ",
        }
    }

    pub(super) fn style(self) -> Style {
        match self {
            Mark::Add => AnsiColor::Green.on_default(),
            Mark::Remove | Mark::Replace => AnsiColor::Red.on_default(),
            Mark::Change => AnsiColor::Yellow.on_default(),
            Mark::Keep => Style::new(),
        }
    }
}

impl<W: Write> Paper<W> {
    pub(super) fn new(out: W, is_coloured: bool) -> Self {
        Self { out, is_coloured }
    }

    pub(super) fn blank(&mut self) -> io::Result<()> {
        writeln!(self.out)
    }

    /// Writes a line without indentation.
    pub(super) fn words(&mut self, words: &[(Style, &str)]) -> io::Result<()> {
        for (style, text) in words {
            self.write(*style, text)?;
        }
        self.blank()
    }

    /// Writes an indented line with its mark and a note.
    pub(super) fn line(
        &mut self,
        depth: usize,
        mark: Mark,
        text: &str,
        note: &str,
    ) -> io::Result<()> {
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
        write!(self.out, "{style}")?;
        for part in text.split_inclusive(steers) {
            let mut letters = part.chars();
            match letters.next_back() {
                Some(last) if steers(last) => {
                    write!(self.out, "{}{}", letters.as_str(), last.escape_unicode())?;
                }
                _ => self.out.write_all(part.as_bytes())?,
            }
        }
        write!(self.out, "{style:#}")
    }
}

/// Whether a character controls the terminal or changes the direction of text.
fn steers(letter: char) -> bool {
    letter.is_control() || matches!(letter, '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}
