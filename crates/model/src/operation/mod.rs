//! Operations: asynchronous changes, and the state machines that drive them.
//!
//! An [`Operation`] is a [`Header`] and [`Work`] on a [`resource`] or on a whole [`group`]. Each kind of work has a
//! state machine of its own; [`decide`] dispatches to it and returns a [`Decision`].

mod decide;
mod decision;
pub mod group;
mod header;
mod owned_elsewhere;
mod persistence;
mod policy_elsewhere;
mod record;
pub mod resource;
mod shared;

pub use decide::decide;
pub use decision::{
    Chance, Decision, Effect, Holder, Listing, Next, Observation, PlanOutcome, Presence,
    ReferenceChange, Search, Taken,
};
pub use group::GroupWork;
pub use header::Header;
pub use owned_elsewhere::owned_elsewhere;
pub use policy_elsewhere::policy_elsewhere;
pub use record::{Operation, Work};
pub use resource::{
    AdoptionPolicy, Bound, CLIENT_TOKEN_LIFE, Call, CancelAsked, Change, Class, Course,
    CreationPolicy, Difference, DifferenceKind, Forecast, IN_PROGRESS, IN_THE_WAY, Intent, Kind,
    Left, OnShared, Options, PATIENCE, PERMISSIONS_SETTLE, Prediction, Problem, Proof,
    REQUEST_TOKEN_LIFE, ReplacementOrder, ReplacementPolicy, Replacing, Resolve, ResourceWork,
    Retrying, SETTLING_WINDOW, Searched, Sent, Sightings, State, TRIES_BEFORE_GIVING_UP,
    TimeLimits, Tries, UNNAMED_QUEUE, UpdateMode, Verdict, Watched, WhenShared, digest_before,
    retry_class,
};
pub use shared::shared_elsewhere;

pub use crate::cloud::Action;
