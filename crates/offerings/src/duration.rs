//! Durations such as `90d` and `1h30m`.

use std::time::Duration;

/// The longest duration, in seconds: a hundred years.
const MAX_SECONDS: u64 = 100 * 365 * 24 * 3_600;

/// Reads a duration: whole numbers, each with a unit.
pub(crate) fn read(text: &str) -> Result<Duration, String> {
    let wrong =
        || "is a duration such as 90d or 12h: numbers with the units s, m, h, d, w".to_owned();
    let mut seconds: u64 = 0;
    let mut rest = text;
    while !rest.is_empty() {
        let end = rest.find(|letter: char| !letter.is_ascii_digit());
        let (number, after) = rest.split_at(end.ok_or_else(wrong)?);
        let mut letters = after.chars();
        let unit: u64 = match letters.next() {
            Some('s') => 1,
            Some('m') => 60,
            Some('h') => 3_600,
            Some('d') => 86_400,
            Some('w') => 7 * 86_400,
            _ => return Err(wrong()),
        };
        let number: u64 = number.parse().map_err(|_| wrong())?;
        seconds = seconds.saturating_add(number.saturating_mul(unit));
        rest = letters.as_str();
    }
    match seconds {
        0 => Err(wrong()),
        1..=MAX_SECONDS => Ok(Duration::from_secs(seconds)),
        _ => Err("is at most a hundred years".to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_have_units() {
        for (text, seconds) in [
            ("1s", 1),
            ("90d", 90 * 86_400),
            ("1h30m", 5_400),
            ("2w", 14 * 86_400),
            ("36500d", MAX_SECONDS),
        ] {
            assert_eq!(read(text), Ok(Duration::from_secs(seconds)), "{text}");
        }
        for text in [
            "",
            "0s",
            "90",
            "d",
            "-1d",
            "1 d",
            "1y",
            "1.5h",
            "36501d",
            "99999999999999999999d",
        ] {
            assert!(read(text).is_err(), "{text}");
        }
    }
}
