use std::ops::RangeInclusive;
use std::time::Duration;

use ucp_model::Entropy;

const HEX: &[u8] = b"0123456789abcdef";
const DIGITS: &[u8] = b"0123456789";
const UPPER: &[u8] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789";
const LOWER: &[u8] = b"abcdefghijklmnopqrstuvwxyz0123456789";

/// A source of randomness for one purpose.
#[derive(Clone, Copy)]
pub(crate) struct Chance<'a> {
    entropy: &'a dyn Entropy,
    label: &'static str,
}

impl<'a> Chance<'a> {
    pub(crate) fn new(entropy: &'a dyn Entropy, label: &'static str) -> Self {
        Self { entropy, label }
    }

    pub(crate) fn uuid(self) -> String {
        self.entropy.uuid(self.label).as_hyphenated().to_string()
    }

    pub(crate) fn hex(self, length: usize) -> String {
        self.text(HEX, length)
    }

    pub(crate) fn digits(self, length: usize) -> String {
        self.text(DIGITS, length)
    }

    /// Upper-case letters and digits.
    pub(crate) fn upper(self, length: usize) -> String {
        self.text(UPPER, length)
    }

    /// Lower-case letters and digits.
    pub(crate) fn lower(self, length: usize) -> String {
        self.text(LOWER, length)
    }

    pub(crate) fn duration(self, range: &RangeInclusive<Duration>) -> Duration {
        let span = range.end().saturating_sub(*range.start());
        *range.start() + span.mul_f64(self.entropy.fraction(self.label))
    }

    fn text(self, alphabet: &[u8], length: usize) -> String {
        let mut text = String::with_capacity(length);
        while text.len() < length {
            let letters = self.entropy.draw(self.label).into_iter();
            let letters =
                letters.map(|byte| char::from(alphabet[usize::from(byte) % alphabet.len()]));
            text.extend(letters.take(length - text.len()));
        }
        text
    }
}
