//! Refactors: which deployed resource each declared one is, so that it can get a new address while AWS notices nothing.
//!
//! An *address* is a group, a type and an alias. [`refactor`](fn@refactor) compares what is deployed ([`State`]) with all
//! that the same groups shall hold ([`Body`]), and returns what moves, with the reason, and what does not, and why
//! ([`Refactor`]); or all that is wrong with the body. It never guesses: what nothing tells apart is an [`Ambiguity`].
//!
//! # What is the same
//!
//! Two resources are compared within their *environment*, the account and region, and their type. What is compared of
//! them is their *content*: the declaration of the last put, and the one of the body, without write-only values, nulls
//! and default tags. Among resources of equal contents, the write-only values are compared too. A reference to another compared resource is a slot in the content, with the attribute that is
//! referred to. What is deployed has AWS's values in these places: a text that is the identifier or a read-only property
//! of exactly one compared resource is a reference to it. The digest of a resource is the SHA-256 of its environment, its
//! type and its content, with the digests of what it refers to.
//!
//! 1. What is to be deleted is the same as nothing. What `moves` say is the same is the same; before them, what the pending events of the history say.
//! 2. What declares an identifier is the resource that has it.
//! 3. What is the only one of its digest on both sides is the same. Of several, those are that are told apart by who refers
//!    to them. But where another resource would stay alone at one of the two addresses, nothing is said: there one may have
//!    been changed, and not moved. Then, of several, those of one address are the same; then what has the same address and
//!    a digest that the other side has not: it was changed in place. What is known by then may tell more apart, so all of
//!    this is done until nothing is found.
//! 4. A digest that is left on both sides is an ambiguity.
//! 5. What is left in two environments, and is the same otherwise, is refused, and so is a move onto an address where
//!    another resource stays.
//!
//! The rules are in `pairing` and `judgement`, contents in `content`, AWS's values in `values`, and the classes of equal
//! digests in `partition`. `docs/adr/0033-moves-are-found-and-not-guessed.md` has the reasons.
//!
//! Nothing here performs I/O, and nothing recurses along references: ten thousand resources take less than a second,
//! whatever they refer to.

mod address;
mod body;
mod check;
mod content;
mod deployed;
mod history;
mod imagined;
mod judgement;
mod names;
mod pairing;
mod partition;
mod puts;
mod refactor;
mod resources;
mod secrets;
mod settled;
mod values;

use serde_json::Value;
use ucp_model::Detail;

use crate::content::Reader;
use crate::pairing::Pairing;
use crate::resources::Resources;
use crate::values::Values;

pub use body::{Base, Body, Declared, Deleted, Event, Group, Mapping, OnAmbiguity, each_outside};
pub use check::RESOURCES_MAX;
pub use deployed::{Deployed, LastSecrets, State};
pub use imagined::{has_same_values, imagine};
pub use puts::Put;
pub use refactor::{
    Ambiguity, AmbiguityReason, Changes, Environment, History, Move, Objection, Reason, Refactor,
    RefusalCode, Refused,
};

/// Tells what moves where. `has_same_secrets` says whether the write-only values of a declaration, whose properties are given
/// with values in the place of references in these, are those of the last put of a deployed resource; only who has the keys
/// of their digests can.
///
/// Fails with all that is wrong with the body.
pub fn refactor(
    state: &State,
    body: &Body,
    has_same_secrets: impl Fn(&Deployed, &Declared, &Value) -> bool,
) -> Result<Refactor, Vec<Detail>> {
    let mut resources = Resources::of(&state.resources, &body.resources);
    let checked = check::check(state, body, &mut resources)?;
    let compared = history::compare(&state.events, body.history.as_deref());
    let values = Values::of(&resources, &checked.is_outside);
    let reader = Reader::new(&resources, &values, &checked.names);
    let mut pairing = Pairing::new(&resources, reader, &checked.is_excluded, &has_same_secrets);
    pairing.find(&checked, compared.course);
    Ok(judgement::judge(
        &resources,
        &pairing,
        compared,
        &checked.deleted,
        body.deploy.then_some(&checked.names),
    ))
}
