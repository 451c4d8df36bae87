//! Transitions of an operation that resolves the unknown outcome of a create. It only reads, and it is short: what it
//! cannot tell now is left for another one, so that the alias is free for whoever decides meanwhile.

use std::time::Duration;

use serde_json::Value;

use super::super::decision::{Effect, Listing, Observation, Presence, ReferenceChange, Search};
use super::decision::{Decision, Finish, Moved};
use super::state::State;
use super::step::Step;
use super::{abandoned, marking};
use crate::{
    Ended, ErrorCode, Failure, Fault, Identifier, Mark, Ownership, RetryClass, Timestamp,
    UnknownCreate,
};

/// How many searches in a row must find nothing, and how far they are apart.
const SEARCHES_MIN: u32 = 2;
const BETWEEN_SEARCHES: Duration = Duration::from_secs(15);

/// How long it goes on if what it sees changes all the time.
const LONGEST: Duration = Duration::from_secs(60);

/// Decides the next step. Total, as [`decide`](super::decide()) is.
pub(super) fn decide(step: &Step<'_>, observation: Observation) -> Decision {
    match (&step.operation.state, observation) {
        (State::Ended(_), _) => Decision::ignore("already ended"),
        (_, Observation::GivenUp) => {
            let told = abandoned::abandoned("Nothing was decided.");
            undecided(step, Ended::Failed(told), abandoned::REASON)
        }
        (_, Observation::Claimed | Observation::Unprepared(_)) if step.is_to_be_cancelled => {
            let told = Failure::new(ErrorCode::Canceled, "Cancelled. Nothing was decided.");
            undecided(step, Ended::Canceled(told), "cancelled")
        }
        (_, Observation::Claimed) => claimed(step),
        (_, Observation::Unprepared(fault)) => failing(step, &fault),
        (_, Observation::Read(presence)) => read(step, presence),
        (_, Observation::Listed(Listing::Unknown(fault))) => failing(step, &fault),
        (
            State::Accepted,
            Observation::Listed(Listing::Holds | Listing::Lacks | Listing::Unlisted),
        ) => Moved {
            attempt: step.operation.attempt,
            ..step.to(State::Accepted)
        }
        .then_read("a list alone proves nothing"),
        (_, Observation::Searched(search)) => searched(step, search),
        (_, Observation::Taken(taken)) => {
            let what = format!(
                "AWS calls it '{}', which another operation or reference has.",
                taken.identifier
            );
            unproven(step, &what, "another has what AWS names")
        }
        (
            State::Accepted
            | State::Missing(_)
            | State::Submitting(_)
            | State::Waiting(..)
            | State::Observing(_)
            | State::Salvaging(..)
            | State::Adopting(_),
            Observation::Listed(_)
            | Observation::Looked(..)
            | Observation::Submitted(_)
            | Observation::Polled(_)
            | Observation::CancelAsked(_)
            | Observation::Surveyed(_),
        ) => Decision::ignore("not an observation for this state"),
    }
}

fn claimed(step: &Step<'_>) -> Decision {
    match &step.operation.identifier {
        None => Decision::then(Effect::Search, "is there one with our mark?"),
        Some(identifier) if step.sightings.need_a_list(step.now) => Decision::then(
            Effect::List(identifier.clone()),
            "does a list of the type hold it?",
        ),
        Some(identifier) => Decision::then(Effect::Read(Some(identifier.clone())), "is it there?"),
    }
}

fn read(step: &Step<'_>, presence: Presence) -> Decision {
    let name = name_of(step);
    let is_named = step.operation.resolves.is_some_and(|create| create.named);
    match presence {
        Presence::Absent => absent(step),
        Presence::Unknown(fault) => failing(step, &fault),
        Presence::Unreadable(_) => unproven(
            step,
            &format!("The type has no read handler, so ucp cannot see '{name}'."),
            "it cannot be read",
        ),
        Presence::Present {
            ownership: Ownership::Others,
            ..
        } => {
            let told = marking::not_ours(step.operation.identifier.as_ref());
            nothing(step, told, "what is there is another's")
        }
        Presence::Present {
            live,
            ownership: ownership @ (Ownership::Ours | Ownership::Made),
            ..
        } => {
            let proof = format!("it carries the mark of the alias, the tag {}", Mark::KEY);
            // An earlier create under the alias may have put another declaration.
            let reference = match ownership {
                Ownership::Made => ReferenceChange::Made,
                Ownership::Ours | Ownership::Others | Ownership::Unmarked => {
                    ReferenceChange::Kept { owned: true }
                }
            };
            ours(step, live, &proof, reference)
        }
        Presence::Present { live, .. } if is_named => {
            let proof = "AWS had named it in an event of the create";
            ours(step, live, proof, ReferenceChange::Made)
        }
        Presence::Present { .. } => unproven(
            step,
            &format!("AWS has '{name}', but nothing proves that the create made it."),
            "nothing proves whose it is",
        ),
    }
}

/// Decides after AWS did not find the resource. It takes the same proof as everywhere, and the time in which AWS may still
/// be making it.
fn absent(step: &Step<'_>) -> Decision {
    let name = name_of(step);
    match waits_until(step) {
        Wait::For(until) => unproven(
            step,
            &format!("AWS does not find '{name}', but may still be making it until {until}."),
            "it may still be made",
        ),
        Wait::ForEver => unproven(
            step,
            &format!("AWS does not find '{name}', and it is not known when the create was sent."),
            "nobody knows how long it may still be made",
        ),
        Wait::Over if step.sightings.prove_absence(step.now) => nothing(
            step,
            format!("AWS does not have '{name}', so the create made nothing."),
            "it is proven not to exist",
        ),
        Wait::Over if !step.sightings.is_settled(step.now) || is_long(step) => unproven(
            step,
            &format!("AWS does not find '{name}', which proves nothing yet."),
            "not found, which proves nothing yet",
        ),
        Wait::Over => step.look_later(State::Accepted, "not found, which proves nothing yet"),
    }
}

/// Decides after a search by the mark.
fn searched(step: &Step<'_>, search: Search) -> Decision {
    const MARK: &str = Mark::KEY;
    match search {
        Search::Found(identifier) => Moved {
            identifier: Some(identifier),
            ..step.to(State::Accepted)
        }
        .then_read("it carries our mark"),
        Search::More => step
            .to(State::Accepted)
            .then(Effect::Search, "the search is not over"),
        // The next operation would begin the search again.
        Search::Unknown(fault)
            if step.operation.searched.is_some()
                && fault.retry_class() == RetryClass::Later
                && !is_long(step) =>
        {
            step.retry(fault.retry_after, "the search goes on later")
        }
        Search::Unknown(fault) => failing(step, &fault),
        Search::Unsearchable => unproven(
            step,
            &format!(
                "No search can tell what it made: the create did not put the tag {MARK} on it, or the type cannot be searched for it."
            ),
            "no search can tell",
        ),
        Search::TooMany => unproven(
            step,
            &format!("AWS has more resources of the type than ucp searches for its tag {MARK}."),
            "there are too many to search",
        ),
        Search::Lacks { .. } => lacking(step),
    }
}

/// Decides after a complete search did not find the mark, which proves something only if the create put it on.
fn lacking(step: &Step<'_>) -> Decision {
    const MARK: &str = Mark::KEY;
    match waits_until(step) {
        Wait::For(until) => unproven(
            step,
            &format!(
                "AWS shows no resource with its tag {MARK}, but may still be making it until {until}."
            ),
            "it may still be made",
        ),
        Wait::ForEver => unproven(
            step,
            &format!("AWS shows no resource with the tag {MARK} of the alias."),
            "the create may not have been marked",
        ),
        Wait::Over if step.sightings.missed < SEARCHES_MIN => Moved {
            due_at: step.now.after(BETWEEN_SEARCHES),
            ..step.to(State::Accepted)
        }
        .wait("nothing bears our mark: search once more"),
        Wait::Over => nothing(
            step,
            format!(
                "AWS has no {} with the tag {MARK} of the alias, so the create made nothing.",
                step.operation.type_name
            ),
            "nothing bears our mark",
        ),
    }
}

/// How long AWS may still be making what was asked for.
enum Wait {
    Over,
    For(Timestamp),
    ForEver,
}

fn waits_until(step: &Step<'_>) -> Wait {
    match step.operation.resolves {
        None => Wait::ForEver,
        Some(UnknownCreate { may_show_until, .. }) if step.now < may_show_until => {
            Wait::For(may_show_until)
        }
        Some(_) => Wait::Over,
    }
}

fn is_long(step: &Step<'_>) -> bool {
    step.now.since(step.operation.state_since) >= LONGEST
}

/// Ends with proof that the create has made the resource. A put repairs what it may have left undone.
fn ours(step: &Step<'_>, live: Value, proof: &str, reference: ReferenceChange) -> Decision {
    let name = name_of(step);
    let told = format!(
        "The create made '{name}': {proof}. The alias stands for it and owns it. Send the same put again to repair it, or delete it."
    );
    let finish = Finish {
        ended: Ended::Succeeded,
        identifier: step.operation.identifier.clone(),
        reference,
        live: Some(live),
        leftover: None,
        told: Some(told),
    };
    step.finish(finish, "the create made it")
}

/// Ends with proof that the create has left nothing.
fn nothing(step: &Step<'_>, what: String, reason: &'static str) -> Decision {
    let told = format!("{what} The alias is free. Send the same put again to create it.");
    let finish = Finish {
        ended: Ended::Succeeded,
        identifier: step.operation.identifier.clone(),
        reference: ReferenceChange::Removed,
        live: None,
        leftover: None,
        told: Some(told),
    };
    step.finish(finish, reason)
}

fn failing(step: &Step<'_>, fault: &Fault) -> Decision {
    unproven(
        step,
        &format!("Looking for it in AWS fails: {fault}."),
        "AWS cannot be asked",
    )
}

/// Ends without a proof. Another operation follows.
fn unproven(step: &Step<'_>, what: &str, reason: &'static str) -> Decision {
    let message = format!(
        "{what} What came of the create stays unknown, and ucp looks again later. To decide yourself, :import what AWS has under the alias, or DELETE the reference if there is nothing, or put with \"resolve\": \"abandon\"."
    );
    let failure = Failure::new(ErrorCode::OutcomeUnknown, message);
    undecided(step, Ended::Failed(failure), reason)
}

fn undecided(step: &Step<'_>, ended: Ended, reason: &'static str) -> Decision {
    let finish = Finish {
        ended,
        identifier: step.operation.identifier.clone(),
        reference: ReferenceChange::Unknown,
        live: None,
        leftover: None,
        told: None,
    };
    step.finish(finish, reason)
}

fn name_of<'a>(step: &Step<'a>) -> &'a str {
    let identifier = step.operation.identifier.as_ref();
    identifier.map_or("", Identifier::as_str)
}
