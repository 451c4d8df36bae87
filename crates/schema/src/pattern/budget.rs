//! A bound on what compiling the patterns of one schema costs.

use regex::{Error, Regex, RegexBuilder};

/// The sizes of compiled patterns that are tried one after the other, in bytes. What a pattern takes up is not known
/// otherwise, and compiling ends when it takes more.
const SIZES: [usize; 4] = [16 << 10, 128 << 10, 1 << 20, 8 << 20];

/// How much the compiled patterns of a schema may take up, in bytes.
pub(crate) const MAX_COMPILED: usize = 64 << 20;

/// What is left for the patterns of a schema. A pattern for which there is not enough is not compiled, and matches
/// everything.
#[derive(Clone, Debug)]
pub(crate) struct Budget(usize);

impl Default for Budget {
    fn default() -> Self {
        Self(MAX_COMPILED)
    }
}

impl Budget {
    /// What is left.
    pub(super) fn left(&self) -> usize {
        self.0
    }

    /// Compiles a pattern in our dialect. `None` if it is not valid, has look-around, or takes up too much.
    pub(crate) fn compile(&mut self, pattern: &str) -> Option<Regex> {
        for size in SIZES {
            let left = self.0.checked_sub(size)?;
            match RegexBuilder::new(pattern).size_limit(size).build() {
                Ok(regex) => {
                    self.0 = left;
                    return Some(regex);
                }
                // What compiling has cost is spent.
                Err(Error::CompiledTooBig(_)) => self.0 = left,
                Err(_) => return None,
            }
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pattern_that_takes_up_too_much_is_not_compiled() {
        let mut budget = Budget::default();
        assert!(budget.compile("^a{1,1000}$").is_some());
        assert!(budget.compile("^(a{1000}){1000}$").is_none());
        assert!(budget.compile("^b$").is_some());
    }

    /// Each of these fits, and all of them would take up ten times as much as a schema may.
    #[test]
    fn many_large_patterns_spend_the_budget() {
        let mut budget = Budget::default();
        let large = |number: usize| format!(r"^\w{{{}}}$", 100 + number);
        let compiled = (0..1_000).filter(|number| budget.compile(&large(*number)).is_some());
        let compiled = compiled.count();
        assert!(
            (1..=MAX_COMPILED / SIZES[2]).contains(&compiled),
            "{compiled}"
        );
    }
}
