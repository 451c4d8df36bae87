//! Histories: which events the groups have had, and which are still to come.

use crate::body::Event;
use crate::refactor::History;

/// What comparing the histories shows.
#[derive(Debug)]
pub(crate) struct Compared {
    pub(crate) history: History,
    pub(crate) course: Course,
}

/// How the events of the body go on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Course {
    /// The events from this one on are pending: what the groups have had is a prefix.
    From(usize),
    /// The histories part, and nothing moved after that.
    Still,
    /// The histories part, and something moved after that.
    Diverged,
}

/// Compares the events that the groups have had with those that they shall have had.
pub(crate) fn compare(brought: &[Event], given: Option<&[Event]>) -> Compared {
    let ids =
        |events: &[Event]| -> Vec<String> { events.iter().map(|event| event.id.clone()).collect() };
    let kept = given.is_some();
    let given = given.unwrap_or_default();
    let pairs = brought.iter().zip(given);
    let common = pairs.take_while(|(had, shall)| had.id == shall.id).count();
    let moved = |events: &[Event]| events[common..].iter().any(|event| !event.moves.is_empty());
    let course = match common == brought.len() {
        true => Course::From(common),
        false if kept && (moved(brought) || moved(given)) => Course::Diverged,
        false => Course::Still,
    };
    let last = common.checked_sub(1);
    Compared {
        history: History {
            environment: ids(brought),
            common: last.map(|last| given[last].id.clone()),
            pending: ids(&given[common..]),
        },
        course,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::body::Mapping;

    /// Events by their ids. One in upper case moves something.
    fn events(ids: &str) -> Vec<Event> {
        let event = |id: char| Event {
            id: id.to_string(),
            moves: if id.is_uppercase() {
                vec![Mapping {
                    from: "a".to_owned(),
                    to: "b".to_owned(),
                }]
            } else {
                Vec::new()
            },
        };
        ids.chars().map(event).collect()
    }

    fn course(brought: &str, given: &str) -> Course {
        compare(&events(brought), Some(&events(given))).course
    }

    #[test]
    fn a_prefix_goes_on_with_the_rest() {
        assert_eq!(course("", "AB"), Course::From(0));
        assert_eq!(course("A", "AB"), Course::From(1));
        assert_eq!(course("AB", "AB"), Course::From(2));
    }

    #[test]
    fn histories_may_part_where_nothing_moves() {
        assert_eq!(course("Ab", "Ac"), Course::Still);
        assert_eq!(course("AB", "Ac"), Course::Diverged);
        assert_eq!(course("Ab", "AC"), Course::Diverged);
        assert_eq!(course("AB", "A"), Course::Diverged);
        assert_eq!(course("Ab", "A"), Course::Still);
    }

    #[test]
    fn without_a_history_nothing_is_compared() {
        let compared = compare(&events("AB"), None);
        assert_eq!(compared.course, Course::Still);
        assert_eq!(compared.history.environment, ["A", "B"]);
        assert_eq!(compared.history.common, None);
        assert!(compared.history.pending.is_empty());
    }

    #[test]
    fn what_is_common_and_what_is_pending_is_told() {
        let history = compare(&events("AB"), Some(&events("ABCD"))).history;
        assert_eq!(history.common.as_deref(), Some("B"));
        assert_eq!(history.pending, ["C", "D"]);
    }
}
