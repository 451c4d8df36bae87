use super::super::decision::{
    Chance, Effect, Listing, Observation, Presence, ReferenceChange, Search,
};
use super::decision::Decision;
use super::sightings::Sightings;
use super::state::State;
use super::step::Step;
use super::tries::Retrying;
use super::work::{Kind, ResourceWork};
use super::{
    abandoned, looking, missing, progressing, reading, resolving, retrying, searching, submitting,
};
use crate::{Action, Timestamp};

/// Decides the next step of `operation`, given an observation and whether cancellation was requested. Total and pure:
/// every state accepts every observation, and an observation that does not fit the state (late, duplicate) changes
/// nothing.
pub fn decide(
    operation: &ResourceWork,
    is_cancel_requested: bool,
    observation: Observation,
    now: Timestamp,
    chance: Chance,
) -> Decision {
    let is_to_be_cancelled = is_cancel_requested && operation.may_be_cancelled();
    let sightings = match (operation.subject(), &observation) {
        (Some(_), _) | (None, Observation::Searched(_)) => {
            let needs_mark = operation.marked_for.is_some();
            after(operation.sightings, &observation, needs_mark, now)
        }
        // Nothing was looked up.
        (None, _) => operation.sightings,
    };
    let step = Step {
        operation,
        sightings,
        now,
        is_to_be_cancelled,
        chance,
    };
    if operation.kind == Kind::Resolve {
        return resolving::decide(&step, observation);
    }
    let subject = || operation.subject().cloned();
    match (&operation.state, observation) {
        (State::Accepted, Observation::Claimed)
            if is_to_be_cancelled && let Some(retrying) = &operation.retrying =>
        {
            retrying::cancelled(&step, retrying)
        }
        (State::Accepted, Observation::Claimed) if is_to_be_cancelled => {
            step.cancel("cancelled before anything was sent")
        }
        (State::Accepted | State::Missing(_), Observation::Unprepared(_))
            if is_to_be_cancelled
                && operation.retrying.is_none()
                && !operation.has_recorded_change() =>
        {
            step.cancel("cancelled before anything was sent")
        }
        (State::Accepted, Observation::Claimed) if operation.forgets => {
            step.succeed(ReferenceChange::Removed, None, "it is left alone")
        }
        (State::Accepted, Observation::Claimed)
            if let (Some(Retrying { is_named: true, .. }), Some(list)) =
                (&operation.retrying, missing::list_first(&step)) =>
        {
            list
        }
        (State::Accepted, Observation::Claimed) => {
            Decision::then(Effect::Look(subject()), "look before deciding")
        }
        (State::Accepted, Observation::Looked(presence, plan))
            if let Some(retrying) = &operation.retrying =>
        {
            retrying::looked(&step, retrying, presence, plan)
        }
        (State::Accepted, Observation::Looked(presence, plan)) => {
            looking::at_first(&step, presence, plan)
        }
        (State::Missing(_), Observation::Claimed)
            if is_to_be_cancelled && !operation.has_recorded_change() =>
        {
            step.cancel("cancelled before anything was sent")
        }
        (State::Missing(_), Observation::Claimed) => missing::resumed(&step),
        (State::Missing(intent), Observation::Looked(presence, plan)) => {
            missing::looked(&step, intent.as_ref(), presence, plan)
        }
        (
            State::Accepted | State::Missing(_) | State::Salvaging(..),
            Observation::Listed(listing),
        ) => missing::listed(&step, &listing),
        (State::Submitting(intent), Observation::Claimed)
            if is_to_be_cancelled
                && intent.unanswered == 0
                && let Some(retrying) = &operation.retrying =>
        {
            retrying::cancelled(&step, retrying)
        }
        (State::Submitting(intent), Observation::Claimed)
            if is_to_be_cancelled && intent.unanswered == 0 =>
        {
            submitting::cancelled(&step, intent)
        }
        (State::Submitting(intent), Observation::Claimed) => submitting::resumed(&step, intent),
        (State::Submitting(intent), Observation::Looked(presence, plan)) => {
            looking::after_lost_reply(&step, intent, presence, plan)
        }
        (State::Submitting(intent), Observation::Submitted(reply)) => {
            submitting::answered(&step, intent, reply)
        }
        (State::Waiting(intent, request), Observation::CancelAsked(reply)) => {
            progressing::cancel_asked(&step, intent, request, reply)
        }
        (State::Waiting(intent, request), Observation::Claimed) => {
            progressing::resumed(&step, intent, request)
        }
        (State::Waiting(intent, _), Observation::Polled(reply)) => {
            progressing::polled(&step, intent, reply)
        }
        (State::Salvaging(..), Observation::Claimed) if operation.searching.is_some() => {
            Decision::then(Effect::Search, "does anything bear the mark?")
        }
        (State::Salvaging(_, setback), Observation::Searched(search))
            if let Some(class) = operation.searching =>
        {
            searching::searched(&step, setback, class, search)
        }
        (State::Salvaging(Action::Create, _), Observation::Claimed)
            if let Some(list) = missing::list_first(&step) =>
        {
            list
        }
        (State::Observing(_) | State::Salvaging(..), Observation::Claimed) => {
            Decision::then(Effect::Read(subject()), "the outcome is to be read")
        }
        (State::Observing(action), Observation::Read(presence)) => {
            reading::confirmed(&step, *action, presence)
        }
        (State::Salvaging(action, setback), Observation::Read(presence)) => {
            reading::salvaged(&step, *action, setback, presence)
        }
        (State::Adopting(_), Observation::Claimed) => {
            Decision::then(Effect::Look(subject()), "the identifier is taken")
        }
        (State::Adopting(failure), Observation::Looked(presence, plan)) => {
            looking::at_what_exists(&step, failure, presence, plan)
        }
        (State::Accepted | State::Adopting(_), Observation::Taken(taken)) => {
            looking::at_what_is_taken(&step, &taken)
        }
        (State::Missing(_), Observation::Taken(taken)) if !operation.has_recorded_change() => {
            looking::at_what_is_taken(&step, &taken)
        }
        (
            State::Missing(_)
            | State::Submitting(_)
            | State::Waiting(..)
            | State::Observing(_)
            | State::Salvaging(..),
            Observation::Taken(taken),
        ) => looking::at_what_was_taken_meanwhile(&step, &taken),
        (State::Ended(_), _) => Decision::ignore("already ended"),
        (_, Observation::GivenUp) => abandoned::given_up(&step),
        (_, Observation::Unprepared(_)) => step.await_schema(),
        (
            State::Accepted
            | State::Missing(_)
            | State::Submitting(_)
            | State::Waiting(..)
            | State::Observing(_)
            | State::Salvaging(..)
            | State::Adopting(_),
            Observation::Looked(..)
            | Observation::Read(_)
            | Observation::Listed(_)
            | Observation::Searched(_)
            | Observation::Submitted(_)
            | Observation::Polled(_)
            | Observation::CancelAsked(_)
            | Observation::Surveyed(_),
        ) => Decision::ignore("not an observation for this state"),
    }
}

/// Returns the sightings after an observation.
fn after(
    sightings: Sightings,
    observation: &Observation,
    needs_mark: bool,
    now: Timestamp,
) -> Sightings {
    match observation {
        Observation::Looked(presence, _) | Observation::Read(presence) => match presence {
            Presence::Present { ownership, .. } if needs_mark && !ownership.is_ours() => {
                sightings.seen_unmarked_at(now)
            }
            Presence::Present { .. } => sightings.seen_at(now),
            Presence::Absent => sightings.missed_at(now),
            Presence::Unreadable(_) | Presence::Unknown(_) => sightings,
        },
        Observation::Listed(listing) => match listing {
            Listing::Holds => sightings.listed_as(true),
            Listing::Lacks | Listing::Unlisted => sightings.listed_as(false),
            Listing::Unknown(_) => sightings,
        },
        Observation::Searched(Search::Lacks { .. }) => sightings.missed_at(now),
        Observation::Claimed
        | Observation::Searched(
            Search::Found(_)
            | Search::More
            | Search::Unsearchable
            | Search::TooMany
            | Search::Unknown(_),
        )
        | Observation::GivenUp
        | Observation::Unprepared(_)
        | Observation::Submitted(_)
        | Observation::Polled(_)
        | Observation::CancelAsked(_)
        | Observation::Taken(_)
        | Observation::Surveyed(_) => sightings,
    }
}
