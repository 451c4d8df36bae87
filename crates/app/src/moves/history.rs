//! Which events groups have had.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use ucp_model::{EventMove, EventsElsewhere, GroupId, Refactor, RefactorEvent};
use ucp_refactor::{Event, Mapping};
use ucp_store::{Brought, REFACTORS_MAX};

use crate::{Caller, MoveCases, Rejection};

/// The events that groups have had, in order.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct History {
    pub(crate) events: Vec<RefactorEvent>,
    /// The ids of all that was brought.
    pub(crate) brought: Vec<String>,
    /// Which of them concern groups that were not asked for.
    pub(crate) elsewhere: Vec<EventsElsewhere>,
    /// Whether there are no earlier ones.
    pub(crate) is_whole: bool,
}

impl History {
    /// Returns what is left of the events that refactors have brought: two at a time may have brought the same one, and one
    /// that another refactor has revoked is gone.
    pub(crate) fn of(brought: Vec<RefactorEvent>) -> Self {
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
            elsewhere: Vec::new(),
            is_whole: true,
        }
    }

    /// Returns the ids of the events.
    pub(crate) fn ids(&self) -> Vec<String> {
        self.events.iter().map(|event| event.id.clone()).collect()
    }

    /// Returns the events, as they are compared.
    pub(crate) fn events(&self) -> Vec<Event> {
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

impl MoveCases {
    /// Returns the events that any of the groups has had.
    pub(crate) async fn history(&self, groups: &[GroupId]) -> Result<History, Rejection> {
        let store = &self.ground.store;
        let mut brought = store.refactor_events(groups, REFACTORS_MAX + 1).await?;
        let is_whole = brought.len() <= REFACTORS_MAX;
        if !is_whole {
            brought.remove(0);
        }
        let elsewhere = elsewhere(groups, &brought);
        let events = brought.into_iter().flat_map(|brought| brought.events);
        Ok(History {
            elsewhere,
            is_whole,
            ..History::of(events.collect())
        })
    }
}

/// Returns the events that concern other groups than these.
fn elsewhere(groups: &[GroupId], brought: &[Brought]) -> Vec<EventsElsewhere> {
    let asked: BTreeSet<String> = groups.iter().map(GroupId::key).collect();
    let mut found: BTreeMap<Vec<&String>, Vec<String>> = BTreeMap::new();
    for brought in brought {
        let others: Vec<&String> = brought.groups.difference(&asked).collect();
        if !others.is_empty() {
            let ids = brought.events.iter().map(|event| event.id.clone());
            found.entry(others).or_default().extend(ids);
        }
    }
    let found = found.into_iter();
    found
        .map(|(groups, events)| EventsElsewhere {
            groups: groups.iter().filter_map(|key| key.parse().ok()).collect(),
            events,
        })
        .collect()
}

impl Caller {
    /// Returns a record without the events of groups that the caller may not read.
    pub(crate) fn shown(&self, mut record: Refactor) -> Refactor {
        let history = &mut record.content.history;
        let is_hidden =
            |it: &&EventsElsewhere| !it.groups.iter().all(|group| self.reads_group(group));
        let hidden = history.elsewhere.iter().filter(is_hidden);
        let hidden: BTreeSet<&String> = hidden.flat_map(|it| &it.events).collect();
        history.environment.retain(|id| !hidden.contains(id));
        history.common = history.common.take().filter(|id| !hidden.contains(id));
        record
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
