//! Which fault struck while an operation was in which state.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use ucp_simulator::faults::Effect;

/// The states of operations, in the order of their life. One on a group is `running`.
const STATES: [&str; 8] = [
    "accepted",
    "missing",
    "submitting",
    "waiting",
    "observing",
    "salvaging",
    "adopting",
    "running",
];

/// How often each fault struck in each state. Clones share the counts.
#[derive(Clone, Debug, Default)]
pub struct Coverage(Arc<Mutex<Counts>>);

type Counts = BTreeMap<(String, &'static str), u64>;

impl Coverage {
    /// Counts a fault in a state.
    pub(super) fn note(&self, fault: String, state: &'static str) {
        *self.counts().entry((fault, state)).or_default() += 1;
    }

    /// Adds the counts of another.
    pub fn add(&self, other: &Self) {
        for (met, count) in other.counts().iter() {
            *self.counts().entry(met.clone()).or_default() += count;
        }
    }

    /// How many pairs of a fault and a state have been met.
    pub fn pairs(&self) -> usize {
        self.counts().len()
    }

    /// The counts as a table in Markdown.
    pub fn table(&self) -> String {
        let counts = self.counts();
        let faults: BTreeSet<&str> = counts.keys().map(|(fault, _)| fault.as_str()).collect();
        let row = |cells: Vec<String>| format!("| {} |\n", cells.join(" | "));
        let heading = std::iter::once("fault").chain(STATES);
        let mut table = row(heading.map(str::to_owned).collect());
        table += &format!("|---|{}\n", "---:|".repeat(STATES.len()));
        for fault in faults {
            let count = |state| counts.get(&(fault.to_owned(), state));
            let cells = STATES
                .iter()
                .map(|state| count(*state).map(u64::to_string).unwrap_or_default());
            table += &row(std::iter::once(fault.to_owned()).chain(cells).collect());
        }
        table
    }

    fn counts(&self) -> MutexGuard<'_, Counts> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// What a fault is called in the table.
pub(super) fn name(effect: &Effect) -> String {
    let json = serde_json::to_value(effect).expect("it is JSON");
    let text = |member: &str| json[member].as_str().unwrap_or_default().to_owned();
    match effect {
        Effect::Refuse(_) => format!("refuse {}", text("exception")),
        Effect::Fail(_) => format!("fail {}", text("errorCode")),
        _ => text("kind"),
    }
}
