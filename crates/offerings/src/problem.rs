use std::fmt;

/// Something that is wrong with a file, or good to know of it.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Problem {
    /// The name of the file.
    pub file: String,
    /// The line, counted from 1.
    pub line: usize,
    /// What is wrong, and what to do; or what is good to know.
    pub message: String,
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}: {}", self.file, self.line, self.message)
    }
}

/// What is found to be wrong with one file.
#[derive(Debug)]
pub(crate) struct Problems {
    file: String,
    found: Vec<Problem>,
    notes: Vec<Problem>,
}

impl Problems {
    pub(crate) fn of(file: &str) -> Self {
        Self {
            file: file.to_owned(),
            found: Vec::new(),
            notes: Vec::new(),
        }
    }

    pub(crate) fn add(&mut self, line: usize, message: impl Into<String>) {
        self.found.push(self.at(line, message));
    }

    /// Adds what is good to know, although nothing is wrong with it.
    pub(crate) fn note(&mut self, line: usize, message: impl Into<String>) {
        self.notes.push(self.at(line, message));
    }

    fn at(&self, line: usize, message: impl Into<String>) -> Problem {
        Problem {
            file: self.file.clone(),
            line,
            message: message.into(),
        }
    }

    /// Returns what is wrong, and what is good to know.
    pub(crate) fn into_parts(self) -> (Vec<Problem>, Vec<Problem>) {
        (self.found, self.notes)
    }
}
