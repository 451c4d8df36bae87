//! The regular expressions of schemas. They are written for several dialects and therefore matched leniently.

mod budget;
mod dialect;
mod linear;
mod rewritten;
#[cfg(test)]
mod texts;

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};

pub(crate) use budget::{Budget, MAX_COMPILED};
pub use dialect::in_our_dialect;
use linear::Linear;
use rewritten::rewritten;

/// The maximum number of characters of a string that is matched with a pattern, if its schema has no `maxLength`. The
/// longest strings with a pattern are documents, and this is a quarter of all that Cloud Control accepts.
pub(crate) const MAX_MATCHED_CHARS: usize = 65_536;

/// The patterns of one schema, each compiled on first use.
#[derive(Debug, Default)]
pub struct Patterns(Mutex<Known>);

/// Those that were used.
#[derive(Debug, Default)]
struct Known {
    patterns: BTreeMap<String, Option<Arc<Linear>>>,
    left: Budget,
}

impl Patterns {
    /// Returns whether `text` matches, in a time that is linear in its length. A pattern that cannot be matched in
    /// linear time, that our dialect cannot express, or that takes up too much, matches everything.
    pub fn matches(&self, pattern: &str, text: &str) -> bool {
        let Some(linear) = self.compiled(pattern) else {
            return true;
        };
        // AWS uses Java, whose `$` also matches before a final line break.
        let without_line_break = text.strip_suffix('\n');
        linear.applies(text) || without_line_break.is_some_and(|text| linear.applies(text))
    }

    /// Returns how many bytes the patterns may take up that were compiled.
    pub(crate) fn bytes(&self) -> usize {
        let known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        MAX_COMPILED.saturating_sub(known.left.left())
    }

    /// Returns whether texts are matched with `pattern` at all. Those with back-references are not.
    pub fn checks(&self, pattern: &str) -> bool {
        self.compiled(pattern).is_some()
    }

    fn compiled(&self, pattern: &str) -> Option<Arc<Linear>> {
        let mut known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(linear) = known.patterns.get(pattern) {
            return linear.clone();
        }
        let linear = compile(pattern, &mut known.left).map(Arc::new);
        known.patterns.insert(pattern.to_owned(), linear.clone());
        linear
    }
}

/// Returns a pattern that is matched in linear time, and matches all that `pattern` does and perhaps more. `None` if there
/// is none.
pub(crate) fn at_least(pattern: &str, budget: &mut Budget) -> Option<String> {
    linear::without_look_around(&in_our_dialect(pattern), budget)
}

fn compile(pattern: &str, budget: &mut Budget) -> Option<Linear> {
    match rewritten(pattern) {
        Some(pattern) => Linear::of(pattern, budget),
        None => Linear::of(&in_our_dialect(pattern), budget),
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;
    use std::time::Duration;

    use serde_json::Value;
    use ucp_sample::cpu_time;

    use super::texts::Texts;
    use super::*;
    use crate::Catalogue;

    /// The patterns of the embedded types that cannot be matched in linear time. They are not checked.
    const UNCHECKED: [&str; 3] = [
        r"^([\+-]?\d{4}(?!\d{2}))((-?)((0[1-9]|1[0-2])(\3([12]\d|0[1-9]|3[01]))?|W([0-4]\d|5[0-2])(-?[1-7])?|(00[1-9]|0[1-9]\d|[12]\d{2}|3([0-5]\d|6[1-6])))([tT]((([01]\d|2[0-3])((:?)[0-5]\d)?|24\:?00)([\.,]\d+(?!:))?)?(\17[0-5]\d([\.,]\d+)?)?([zZ]|([\+-])([01]\d|2[0-3]):?([0-5]\d)?)?)?)?$",
        r"^arn:(?=[^:]+:fsx:[^:]+:\d{12}:)((|(?=[a-z0-9-.]{1,63})(?!\d{1,3}(\.\d{1,3}){3})(?![^:]*-{2})(?![^:]*-\.)(?![^:]*\.-)[a-z0-9]([a-z0-9-\.]{0,61}[a-z0-9])?):){4}(?!/).{0,1024}$",
        r"^arn:(?=[^:]+:fsx:[^:]+:\d{12}:)((|(?=[a-z0-9-.]{1,63})(?!\d{1,3}(\.\d{1,3}){3})(?![^:]*-{2})(?![^:]*-\.)(?![^:]*\.-)[a-z0-9].*(?<!-)):){4}(?!/).{0,1024}$",
    ];

    /// How many texts each pattern with look-around is compared on.
    const TEXTS: usize = 300;

    /// Returns the patterns of all embedded types, of values and of names.
    fn embedded() -> BTreeSet<String> {
        let catalogue = Catalogue::embedded();
        let mut all = BTreeSet::new();
        for name in catalogue.type_names() {
            collect(catalogue.get(name).unwrap().document(), &mut all);
        }
        all
    }

    /// Adds the patterns in a schema.
    fn collect(value: &Value, all: &mut BTreeSet<String>) {
        match value {
            Value::Object(members) => {
                let pattern = members.get("pattern").and_then(Value::as_str);
                all.extend(pattern.map(str::to_owned));
                let named = members.get("patternProperties").and_then(Value::as_object);
                all.extend(named.into_iter().flat_map(|named| named.keys().cloned()));
                members.values().for_each(|value| collect(value, all));
            }
            Value::Array(items) => items.iter().for_each(|value| collect(value, all)),
            _ => {}
        }
    }

    fn backtracking(pattern: &str) -> Option<fancy_regex::Regex> {
        fancy_regex::Regex::new(&in_our_dialect(pattern)).ok()
    }

    /// No embedded type comes near to what the patterns of a schema may take up.
    #[test]
    fn the_patterns_of_every_embedded_type_are_compiled() {
        let catalogue = Catalogue::embedded();
        let mut least = usize::MAX;
        for name in catalogue.type_names() {
            let mut all = BTreeSet::new();
            collect(catalogue.get(name).unwrap().document(), &mut all);
            let mut budget = Budget::default();
            for pattern in all {
                let alone = compile(&pattern, &mut Budget::default());
                let compiled = compile(&pattern, &mut budget);
                assert_eq!(compiled.is_some(), alone.is_some(), "{name}: {pattern}");
            }
            least = least.min(budget.left());
        }
        assert!(least > MAX_COMPILED / 2, "{least}");
    }

    /// What looks around is matched without backtracking, and yet matches the same texts. So does what is rewritten.
    #[test]
    fn every_embedded_pattern_is_linear_and_means_the_same() {
        let (mut compared, mut matched) = (0, 0);
        for pattern in embedded() {
            let looks_around = ["(?=", "(?!", "(?<"]
                .iter()
                .any(|look| pattern.contains(look));
            if !looks_around && rewritten(&pattern).is_none() {
                continue;
            }
            let linear = compile(&pattern, &mut Budget::default());
            let Some(regex) = backtracking(&pattern) else {
                continue;
            };
            let Some(linear) = linear else {
                assert!(UNCHECKED.contains(&pattern.as_str()), "{pattern}");
                continue;
            };
            compared += 1;
            let mut texts = Texts::of(&in_our_dialect(&pattern)).unwrap();
            for _ in 0..TEXTS {
                let text = texts.next();
                let expected = regex.is_match(&text).unwrap();
                assert_eq!(linear.applies(&text), expected, "{pattern} on {text:?}");
                matched += usize::from(expected);
            }
        }
        assert!(compared > 100, "{compared}");
        assert!(matched > compared * TEXTS / 10, "{matched}");
    }

    /// Returns the CPU time of this thread for a match, after one that fills the caches.
    fn time_to_match(linear: &Linear, text: &str) -> Duration {
        linear.applies(text);
        let before = cpu_time();
        linear.applies(text);
        cpu_time().saturating_sub(before)
    }

    /// The longest texts that are matched take less than a tenth of a second. If that grew with the square of the length, a
    /// quarter of the text would have to take a sixteenth of the time; what is so short is not measured. There are two tests,
    /// so that the cores share the patterns.
    #[test]
    fn every_second_embedded_pattern_takes_a_time_that_is_linear_in_the_text() {
        take_a_time_that_is_linear(embedded().into_iter().step_by(2));
    }

    #[test]
    fn each_other_embedded_pattern_takes_a_time_that_is_linear_in_the_text() {
        take_a_time_that_is_linear(embedded().into_iter().skip(1).step_by(2));
    }

    fn take_a_time_that_is_linear(patterns: impl Iterator<Item = String>) {
        const LONG: Duration = Duration::from_millis(100);
        const MEASURED: Duration = Duration::from_millis(4);
        let mut worst = (Duration::ZERO, String::new());
        for pattern in patterns {
            let Some(linear) = compile(&pattern, &mut Budget::default()) else {
                continue;
            };
            let texts = Texts::of(&in_our_dialect(&pattern)).map(|mut texts| texts.next());
            let parts = texts.into_iter().chain(["a".to_owned(), " ".to_owned()]);
            for part in parts.filter(|part| !part.is_empty()) {
                // What nearly matches, again and again, and then something that never does.
                let of_length = |length: usize| -> String {
                    part.chars()
                        .cycle()
                        .take(length - 1)
                        .chain(['\u{0}'])
                        .collect()
                };
                let long = time_to_match(&linear, &of_length(MAX_MATCHED_CHARS));
                assert!(long < LONG, "{pattern} on {part:?}: {long:?}");
                if long > worst.0 {
                    worst = (long, format!("{pattern} on {part:?}"));
                }
                if long > MEASURED {
                    let short = time_to_match(&linear, &of_length(MAX_MATCHED_CHARS / 4));
                    assert!(
                        long < short * 10,
                        "{pattern} on {part:?}: {short:?}, {long:?}"
                    );
                }
            }
        }
        println!("the longest took {:?}: {}", worst.0, worst.1);
    }

    #[test]
    fn matching_is_lenient_where_dialects_differ() {
        let patterns = Patterns::default();
        assert!(patterns.matches(r"^[\w-]{1,1024}$", "a-b"));
        assert!(!patterns.matches(r"^[\w-]{1,1024}$", "a b"));
        assert!(patterns.matches("^a$", "a\n"));
        assert!(patterns.matches("^(?!aws).*$", "a"));
        assert!(!patterns.matches("^(?!aws).*$", "aws:a"));
        assert!(patterns.matches("(unclosed", "anything"));
    }
}
