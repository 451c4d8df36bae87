use std::time::Duration;

use crate::ErrorCode;

/// A limit that a caller can meet. Each crate lists those that it enforces, with the constants that it enforces them by;
/// `docs/limits.md` is generated from the lists.
#[derive(Clone, Copy, Debug)]
pub struct Limit {
    /// The name, which no other limit has.
    pub name: &'static str,
    /// What is limited.
    pub what: &'static str,
    /// How much is allowed.
    pub most: Most,
    /// What happens beyond that.
    pub beyond: Beyond,
}

/// How much is allowed.
#[derive(Clone, Copy, Debug)]
pub enum Most {
    /// So many. Fixed.
    Number(usize),
    /// So many bytes. Fixed.
    Bytes(usize),
    /// So many characters. Fixed.
    Characters(usize),
    /// So long. Fixed.
    Time(Duration),
    /// What this flag of `ucp serve` says, such as `--write-timeout`. The command line has the default.
    Flag(&'static str),
}

/// What happens beyond a limit.
#[derive(Clone, Copy, Debug)]
pub enum Beyond {
    /// The request gets an error.
    Refused {
        /// The HTTP status.
        status: u16,
        /// The error code.
        code: ErrorCode,
        /// What the error names.
        place: Place,
    },
    /// The operation ends as `Failed` with this code.
    Failed(ErrorCode),
    /// Something else, in a sentence.
    Told(&'static str),
}

/// What an error names. Text in braces stands for a part that depends on the request.
#[derive(Clone, Copy, Debug)]
pub enum Place {
    /// Nothing: the request as a whole is meant.
    Request,
    /// The `target` of the error.
    Target(&'static str),
    /// The `target` of an entry of `details`.
    Detail(&'static str),
}

impl Beyond {
    /// The request gets an error that is about all of it.
    pub const fn refused(status: u16, code: ErrorCode) -> Self {
        let place = Place::Request;
        Self::Refused {
            status,
            code,
            place,
        }
    }

    /// The request gets an error with this target.
    pub const fn refused_at(status: u16, code: ErrorCode, target: &'static str) -> Self {
        let place = Place::Target(target);
        Self::Refused {
            status,
            code,
            place,
        }
    }

    /// The request gets an error with a detail that has this target.
    pub const fn refused_in_detail(status: u16, code: ErrorCode, target: &'static str) -> Self {
        let place = Place::Detail(target);
        Self::Refused {
            status,
            code,
            place,
        }
    }
}
