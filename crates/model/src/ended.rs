use serde::{Deserialize, Serialize};

use crate::Failure;

/// How an operation ended.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum Ended {
    /// Succeeded.
    Succeeded,
    /// Failed.
    Failed(Failure),
    /// Cancelled on request; nothing is in progress any more.
    Canceled(Failure),
}

/// How an operation ended without success.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "end", rename_all = "camelCase", from = "StoredSetback")]
pub enum Setback {
    /// See [`Ended::Failed`].
    Failed(Failure),
    /// See [`Ended::Canceled`].
    Canceled(Failure),
}

/// The stored form of a [`Setback`].
#[derive(Deserialize)]
struct StoredSetback {
    end: Option<StoredEnd>,
    #[serde(flatten)]
    failure: Failure,
}

#[derive(Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase")]
enum StoredEnd {
    Failed,
    Canceled,
}

impl From<StoredSetback> for Setback {
    /// Earlier versions did not store the end; there it follows from the code of the failure.
    fn from(stored: StoredSetback) -> Self {
        let of_code = || match stored.failure.code.as_str() {
            "Canceled" => StoredEnd::Canceled,
            _ => StoredEnd::Failed,
        };
        match stored.end.unwrap_or_else(of_code) {
            StoredEnd::Failed => Setback::Failed(stored.failure),
            StoredEnd::Canceled => Setback::Canceled(stored.failure),
        }
    }
}

impl Ended {
    /// Returns its name for the log and the database.
    pub fn name(&self) -> &'static str {
        match self {
            Ended::Succeeded => "succeeded",
            Ended::Failed(_) => "failed",
            Ended::Canceled(_) => "canceled",
        }
    }

    /// Returns its ARM status.
    pub fn status(&self) -> &'static str {
        match self {
            Ended::Succeeded => "Succeeded",
            Ended::Failed(_) => "Failed",
            Ended::Canceled(_) => "Canceled",
        }
    }

    pub(crate) fn failure_mut(&mut self) -> Option<&mut Failure> {
        match self {
            Ended::Succeeded => None,
            Ended::Failed(failure) | Ended::Canceled(failure) => Some(failure),
        }
    }

    /// Returns why it did not succeed.
    pub fn failure(&self) -> Option<&Failure> {
        match self {
            Ended::Succeeded => None,
            Ended::Failed(failure) | Ended::Canceled(failure) => Some(failure),
        }
    }
}

impl From<Setback> for Ended {
    fn from(setback: Setback) -> Self {
        match setback {
            Setback::Failed(failure) => Ended::Failed(failure),
            Setback::Canceled(failure) => Ended::Canceled(failure),
        }
    }
}

impl Setback {
    /// Returns the reason.
    pub fn failure(&self) -> &Failure {
        match self {
            Setback::Failed(failure) | Setback::Canceled(failure) => failure,
        }
    }

    pub(crate) fn failure_mut(&mut self) -> &mut Failure {
        match self {
            Setback::Failed(failure) | Setback::Canceled(failure) => failure,
        }
    }

    /// Replaces the message.
    #[must_use]
    pub(crate) fn told_as(mut self, message: String) -> Self {
        let (Setback::Failed(failure) | Setback::Canceled(failure)) = &mut self;
        failure.message = message;
        self
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_setback_comes_back_as_it_was_stored() {
        let failure = Failure::new("Code", "text");
        for setback in [Setback::Failed(failure.clone()), Setback::Canceled(failure)] {
            let stored = serde_json::to_value(&setback).unwrap();
            let read: Setback = serde_json::from_value(stored).unwrap();
            assert_eq!(read, setback);
        }
    }

    #[test]
    fn what_earlier_versions_stored_tells_its_end_by_its_code() {
        let read = |code: &str| -> Setback {
            serde_json::from_value(json!({"code": code, "message": "m"})).unwrap()
        };
        let failure = |code: &str| Failure::new(code, "m");
        assert_eq!(read("Canceled"), Setback::Canceled(failure("Canceled")));
        assert_eq!(read("NotFound"), Setback::Failed(failure("NotFound")));
    }
}
