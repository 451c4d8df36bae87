use std::fmt;
use std::str::FromStr;
use std::time::Duration;

use ::time::{OffsetDateTime, format_description::well_known::Rfc3339};
use serde::{Deserialize, Serialize};

/// A point in time, in milliseconds since the Unix epoch. Databases store the number; replies have RFC 3339.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize,
)]
#[serde(transparent)]
pub struct Timestamp(i64);

impl Timestamp {
    /// Creates a timestamp from milliseconds since the Unix epoch.
    pub const fn from_millis(millis: i64) -> Self {
        Self(millis)
    }

    /// Returns the milliseconds since the Unix epoch.
    pub const fn as_millis(self) -> i64 {
        self.0
    }

    /// Returns the timestamp `duration` later, saturating.
    #[must_use]
    pub fn after(self, duration: Duration) -> Self {
        Self(
            self.0
                .saturating_add(i64::try_from(duration.as_millis()).unwrap_or(i64::MAX)),
        )
    }

    /// Returns the timestamp `duration` earlier, saturating.
    #[must_use]
    pub fn before(self, duration: Duration) -> Self {
        Self(
            self.0
                .saturating_sub(i64::try_from(duration.as_millis()).unwrap_or(i64::MAX)),
        )
    }

    /// Returns the time elapsed since `earlier`, or zero if `earlier` is later.
    pub fn since(self, earlier: Timestamp) -> Duration {
        Duration::from_millis(u64::try_from(self.0.saturating_sub(earlier.0)).unwrap_or(0))
    }
}

impl fmt::Display for Timestamp {
    /// Formats as RFC 3339 in UTC, with milliseconds unless they are zero.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let text = OffsetDateTime::from_unix_timestamp_nanos(i128::from(self.0) * 1_000_000)
            .ok()
            .and_then(|moment| moment.format(&Rfc3339).ok());
        match text {
            Some(text) => f.write_str(&text),
            None => write!(f, "{}ms", self.0),
        }
    }
}

/// The text is not a time in RFC 3339.
#[derive(Debug, PartialEq, Eq)]
pub struct InvalidTime;

impl FromStr for Timestamp {
    type Err = InvalidTime;

    /// Parses RFC 3339, and drops what is less than a millisecond.
    fn from_str(text: &str) -> Result<Self, InvalidTime> {
        let moment = OffsetDateTime::parse(text, &Rfc3339).map_err(|_| InvalidTime)?;
        let millis = moment.unix_timestamp_nanos().div_euclid(1_000_000);
        i64::try_from(millis).map(Self).map_err(|_| InvalidTime)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn prints_rfc_3339() {
        assert_eq!(
            Timestamp::from_millis(1_767_323_045_000).to_string(),
            "2026-01-02T03:04:05Z"
        );
        assert_eq!(
            Timestamp::from_millis(1_767_323_045_120).to_string(),
            "2026-01-02T03:04:05.12Z"
        );
    }

    #[test]
    fn parses_what_it_prints() {
        for millis in [1_767_323_045_000, 1_767_323_045_120, 0, -1] {
            let time = Timestamp::from_millis(millis);
            assert_eq!(time.to_string().parse(), Ok(time));
        }
        let elsewhere = "2026-01-02T05:04:05.1209+02:00".parse();
        assert_eq!(elsewhere, Ok(Timestamp::from_millis(1_767_323_045_120)));
        assert_eq!("yesterday".parse::<Timestamp>(), Err(InvalidTime));
    }

    #[test]
    fn since_never_goes_negative() {
        let early = Timestamp::from_millis(10);
        assert_eq!(early.since(Timestamp::from_millis(20)), Duration::ZERO);
        assert_eq!(
            Timestamp::from_millis(20).since(early),
            Duration::from_millis(10)
        );
    }
}
