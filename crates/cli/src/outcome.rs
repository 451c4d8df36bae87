use std::process::ExitCode;

/// What came of a command that did not fail with an error.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Outcome {
    /// It is done.
    Done,
    /// Something has failed, which has been told.
    Failed,
    /// Something would change.
    Changes,
    /// Of something it cannot be told whether it would change.
    Unknown,
}

impl From<Outcome> for ExitCode {
    fn from(outcome: Outcome) -> Self {
        match outcome {
            Outcome::Done => Self::SUCCESS,
            Outcome::Failed => Self::FAILURE,
            Outcome::Changes => Self::from(2),
            Outcome::Unknown => Self::from(3),
        }
    }
}
