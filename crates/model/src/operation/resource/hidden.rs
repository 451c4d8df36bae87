//! What a create may have made although it failed and named nothing. The mark of the reference is on it.

use super::super::decision::Effect;
use super::decision::{Decision, Moved};
use super::retry_class::Class;
use super::sightings::Sightings;
use super::state::State;
use super::step::Step;
use crate::{Action, Setback};

impl Step<'_> {
    /// Searches for what the create may have made, before anything is concluded from its failure, which calls for `class`.
    /// Returns `None` if it certainly made nothing, or if no mark could tell.
    pub(super) fn search_first(&self, class: Class, setback: &Setback) -> Option<Decision> {
        let operation = self.operation;
        let has_mark = operation.marked && operation.reference.is_some();
        if !has_mark || operation.identifier.is_some() || !class.may_hide() {
            return None;
        }
        let moved = Moved {
            sightings: Sightings::default(),
            searching: Some(class),
            ..self.to(State::Salvaging(Action::Create, setback.clone()))
        };
        Some(moved.then(
            Effect::Search,
            "the create named nothing: does anything bear its mark?",
        ))
    }
}
