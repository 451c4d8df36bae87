use std::fmt;

/// Something that is wrong with a file.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Problem {
    /// The name of the file.
    pub file: String,
    /// The line, counted from 1.
    pub line: usize,
    /// What is wrong, and what to do.
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
}

impl Problems {
    pub(crate) fn of(file: &str) -> Self {
        Self {
            file: file.to_owned(),
            found: Vec::new(),
        }
    }

    pub(crate) fn add(&mut self, line: usize, message: impl Into<String>) {
        self.found.push(Problem {
            file: self.file.clone(),
            line,
            message: message.into(),
        });
    }

    pub(crate) fn into_vec(self) -> Vec<Problem> {
        self.found
    }
}
