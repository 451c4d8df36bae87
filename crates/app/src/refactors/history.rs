//! Which events groups have had.

use std::collections::HashMap;

use ucp_model::{EventMove, GroupId, RefactorEvent};
use ucp_refactor::{Event, Mapping};
use ucp_store::REFACTORS_MAX;

use crate::{App, Rejection};

/// The events that groups have had, in order.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct History {
    pub(super) events: Vec<RefactorEvent>,
    /// The ids of all that was brought.
    pub(super) brought: Vec<String>,
}

impl History {
    /// Returns what is left of the events that refactors have brought: two at a time may have brought the same one, and one
    /// that another refactor has revoked is gone.
    pub(super) fn of(brought: Vec<RefactorEvent>) -> Self {
        let all = brought.iter().map(|event| event.id.clone()).collect();
        let mut events: Vec<Option<RefactorEvent>> = Vec::with_capacity(brought.len());
        let mut places: HashMap<String, usize> = HashMap::new();
        for event in brought {
            if event.revoked {
                if let Some(place) = places.remove(&event.id) {
                    events[place] = None;
                }
            } else if !places.contains_key(&event.id) {
                places.insert(event.id.clone(), events.len());
                events.push(Some(event));
            }
        }
        Self {
            events: events.into_iter().flatten().collect(),
            brought: all,
        }
    }

    /// Returns the ids of the events.
    pub(super) fn ids(&self) -> Vec<String> {
        self.events.iter().map(|event| event.id.clone()).collect()
    }

    /// Returns the events, as they are compared.
    pub(super) fn events(&self) -> Vec<Event> {
        let mapping = |it: &EventMove| Mapping {
            from: it.from.clone(),
            to: it.to.clone(),
        };
        let event = |event: &RefactorEvent| Event {
            id: event.id.clone(),
            moves: event.moves.iter().map(mapping).collect(),
        };
        self.events.iter().map(event).collect()
    }
}

impl App {
    /// Returns the events that any of the groups has had.
    pub(super) async fn history(&self, groups: &[GroupId]) -> Result<History, Rejection> {
        let brought = self.parts.store.refactor_events(groups, REFACTORS_MAX);
        Ok(History::of(brought.await?))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn event(id: &str) -> RefactorEvent {
        RefactorEvent {
            id: id.to_owned(),
            moves: Vec::new(),
            revoked: false,
        }
    }

    fn revoked(id: &str) -> RefactorEvent {
        RefactorEvent {
            revoked: true,
            ..event(id)
        }
    }

    #[test]
    fn an_event_is_had_once() {
        let history = History::of(vec![event("a"), event("b"), event("a")]);
        assert_eq!(history.ids(), ["a", "b"]);
    }

    #[test]
    fn what_is_revoked_may_come_back_later() {
        let brought = vec![event("a"), event("b"), revoked("a"), event("c"), event("a")];
        assert_eq!(History::of(brought).ids(), ["b", "c", "a"]);
    }
}
