//! The vocabulary of the state machines: observations, decisions and effects.

use serde_json::Value;

use super::group::{Child, Survey};
use super::record::Operation;
use super::resource::{Change, Intent, ReplacementOrder, names_what_is_in_the_way};
use crate::{
    ClientToken, Failure, Fault, FaultClass, HandlerErrorCode, Identifier, NewLeftover,
    OperationId, Ownership, PlanPolicy, Progress, ProgressStatus, ReferenceId, RequestToken,
    Timestamp,
};

/// What the engine has learned since the last decision.
#[derive(Clone, Debug, PartialEq)]
pub enum Observation {
    /// The operation was claimed, or has just changed state: nothing is known beyond its row.
    Claimed,
    /// The operation was claimed, but too many workers have not come to the end of its step.
    GivenUp,
    /// The operation was claimed, but the schema of its type cannot be had now.
    Unprepared(Fault),
    /// The result of [`Effect::Look`].
    Looked(Presence, PlanOutcome),
    /// The result of [`Effect::Read`].
    Read(Presence),
    /// The result of [`Effect::List`].
    Listed(Listing),
    /// The result of [`Effect::Search`].
    Searched(Search),
    /// The result of [`Effect::Submit`].
    Submitted(Result<Progress, Fault>),
    /// The result of [`Effect::Poll`].
    Polled(Result<Progress, Fault>),
    /// The result of [`Effect::Cancel`].
    CancelAsked(Result<Progress, Fault>),
    /// The step was not written: the resource that AWS names may not be worked on.
    Taken(Taken),
    /// The result of [`Effect::Survey`], [`Effect::Start`], [`Effect::ReadOutputs`] or
    /// [`Effect::TakeBack`].
    Surveyed(Survey),
}

impl Observation {
    /// Returns AWS's error, if it is one.
    pub(crate) fn fault(&self) -> Option<&Fault> {
        match self {
            Observation::Unprepared(fault)
            | Observation::Looked(Presence::Unknown(fault), _)
            | Observation::Read(Presence::Unknown(fault))
            | Observation::Listed(Listing::Unknown(fault))
            | Observation::Searched(Search::Unknown(fault))
            | Observation::Submitted(Err(fault))
            | Observation::Polled(Err(fault))
            | Observation::CancelAsked(Err(fault)) => Some(fault),
            Observation::Looked(
                Presence::Absent | Presence::Present { .. } | Presence::Unreadable(_),
                _,
            )
            | Observation::Read(
                Presence::Absent | Presence::Present { .. } | Presence::Unreadable(_),
            )
            | Observation::Listed(Listing::Holds | Listing::Lacks | Listing::Unlisted)
            | Observation::Searched(
                Search::Found(_)
                | Search::More
                | Search::Lacks { .. }
                | Search::Unsearchable
                | Search::TooMany,
            )
            | Observation::Claimed
            | Observation::GivenUp
            | Observation::Submitted(Ok(_))
            | Observation::Polled(Ok(_))
            | Observation::CancelAsked(Ok(_))
            | Observation::Taken(_)
            | Observation::Surveyed(_) => None,
        }
    }
}

impl Observation {
    /// Returns whether AWS has refused a change because of another one, and does not say which.
    pub fn is_unexplained_conflict(&self) -> bool {
        match self {
            Observation::Submitted(Ok(progress)) | Observation::Polled(Ok(progress)) => {
                match &progress.status {
                    ProgressStatus::Failed {
                        code: HandlerErrorCode::ResourceConflict,
                        message,
                        ..
                    } => !names_what_is_in_the_way(message),
                    ProgressStatus::Failed { .. }
                    | ProgressStatus::Running
                    | ProgressStatus::Success
                    | ProgressStatus::Canceled => false,
                }
            }
            Observation::Submitted(Err(_))
            | Observation::Polled(Err(_))
            | Observation::Claimed
            | Observation::GivenUp
            | Observation::Unprepared(_)
            | Observation::Looked(..)
            | Observation::Read(_)
            | Observation::CancelAsked(_)
            | Observation::Listed(_)
            | Observation::Searched(_)
            | Observation::Taken(_)
            | Observation::Surveyed(_) => false,
        }
    }

    /// Returns whether AWS has refused a change for lack of a permission.
    pub fn is_denied(&self) -> bool {
        match self {
            Observation::Submitted(Ok(progress)) | Observation::Polled(Ok(progress)) => {
                match &progress.status {
                    ProgressStatus::Failed { code, .. } => matches!(
                        code,
                        HandlerErrorCode::AccessDenied
                            | HandlerErrorCode::UnauthorizedTaggingOperation
                    ),
                    ProgressStatus::Running
                    | ProgressStatus::Success
                    | ProgressStatus::Canceled => false,
                }
            }
            Observation::Submitted(Err(fault)) => fault.class == FaultClass::Denied,
            Observation::Claimed
            | Observation::GivenUp
            | Observation::Unprepared(_)
            | Observation::Looked(..)
            | Observation::Read(_)
            | Observation::Polled(Err(_))
            | Observation::CancelAsked(_)
            | Observation::Listed(_)
            | Observation::Searched(_)
            | Observation::Taken(_)
            | Observation::Surveyed(_) => false,
        }
    }

    /// Returns the identifier of the resource that was found, as AWS spells it, and whose mark it carries.
    pub(crate) fn found(&self) -> Option<(&Identifier, &Ownership)> {
        match self {
            Observation::Looked(
                Presence::Present {
                    identifier,
                    ownership,
                    ..
                },
                _,
            )
            | Observation::Read(Presence::Present {
                identifier,
                ownership,
                ..
            }) => Some((identifier, ownership)),
            Observation::Claimed
            | Observation::GivenUp
            | Observation::Unprepared(_)
            | Observation::Looked(..)
            | Observation::Read(_)
            | Observation::Listed(_)
            | Observation::Searched(_)
            | Observation::Submitted(_)
            | Observation::Polled(_)
            | Observation::CancelAsked(_)
            | Observation::Taken(_)
            | Observation::Surveyed(_) => None,
        }
    }
}

/// Why an operation may not work on the resource that AWS names.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Taken {
    /// The identifier, as AWS spells it.
    pub identifier: Identifier,
    /// Who stands in the way.
    pub by: Holder,
}

/// Who has an AWS resource.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Holder {
    /// Another operation, which is under way.
    Operation(OperationId),
    /// Another reference, which owns it.
    Owner(ReferenceId),
    /// A reference of another group, which does not take such changes.
    Policy(PlanPolicy),
    /// These other references, which would lose it.
    Shared(Vec<ReferenceId>),
}

/// Whether AWS has the resource.
#[derive(Clone, Debug, PartialEq)]
pub enum Presence {
    /// The resource certainly does not exist.
    Absent,
    /// The resource exists.
    Present {
        /// The primary identifier.
        identifier: Identifier,
        /// The live properties.
        live: Value,
        /// A digest of the live properties.
        digest: String,
        /// Whose mark it carries.
        ownership: Ownership,
    },
    /// The type has no read handler, so it is unknown whether this resource exists.
    Unreadable(Identifier),
    /// Reading the resource failed.
    Unknown(Fault),
}

/// Whether a list of the type holds the resource.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Listing {
    /// The list holds it.
    Holds,
    /// The list is complete and lacks it.
    Lacks,
    /// The type cannot be listed without further input, or the list is too long.
    Unlisted,
    /// Listing the type failed.
    Unknown(Fault),
}

/// Whether the account has a resource that bears the mark of the operation's create, and is not accounted for.
///
/// A resource is accounted for if a reference stands for it, if the register of leftovers has it, or if the operation has
/// just replaced it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Search {
    /// A read of this one shows the mark.
    Found(Identifier),
    /// It is not over, and can go on at once.
    More,
    /// The list of the type is complete, and reads of all that could be it do not show the mark.
    Lacks {
        /// When the search began. What is visible only since then may have been missed.
        began_at: Timestamp,
    },
    /// No search can tell: the type cannot be listed without further input, reads of it show no tags, or the create was not
    /// marked.
    Unsearchable,
    /// There are too many to look at.
    TooMany,
    /// A list or a read failed.
    Unknown(Fault),
}

/// The plan for the declaration and the live resource.
#[derive(Clone, Debug, PartialEq)]
pub enum PlanOutcome {
    /// Create the resource.
    Create {
        /// The identifier, if the declaration determines it.
        identifier: Option<Identifier>,
        /// The paths to set.
        changes: Vec<Change>,
    },
    /// Update the resource.
    Update {
        /// The resource to update.
        identifier: Identifier,
        /// The paths to change.
        changes: Vec<Change>,
    },
    /// Replace the resource by a new one.
    Replace {
        /// The resource to replace.
        old: Identifier,
        /// The order of create and delete.
        order: ReplacementOrder,
        /// The new resource's identifier, if the declaration determines it.
        identifier: Option<Identifier>,
        /// The paths to change.
        changes: Vec<Change>,
    },
    /// Delete the resource.
    Delete(Identifier),
    /// Nothing to do.
    Nothing,
    /// The resource cannot become what is declared, for this reason.
    Impossible(Failure),
}

/// Random draws for one decision, so that deciding stays pure.
#[derive(Clone, Copy, Debug)]
pub struct Chance {
    /// A new client token, used if an intent is recorded.
    pub token: ClientToken,
    /// A number in `[0, 1)`, for back-off.
    pub jitter: f64,
}

/// What to write, what to do once it is durable, and the reason.
#[derive(Clone, Debug, PartialEq)]
pub struct Decision {
    /// What to write.
    pub next: Next,
    /// What to do then; its result is the next [`Observation`]. If `None`, the lease is released.
    pub effect: Option<Effect>,
    /// The reason, for the log.
    pub reason: &'static str,
}

/// What to write about an operation.
#[derive(Clone, Debug, PartialEq)]
pub enum Next {
    /// Nothing.
    Keep,
    /// A step that does not end it.
    Move {
        /// The operation after the step.
        operation: Box<Operation>,
        /// Whether there is a new intent, whose document is recorded in the same transaction.
        is_new_intent: bool,
    },
    /// The step that ends it.
    Finish {
        /// The operation in its final form.
        operation: Box<Operation>,
        /// The change to the reference, for an operation on a resource.
        reference: Option<ReferenceChange>,
        /// What it leaves in AWS that no reference stands for, if anything.
        leftover: Option<NewLeftover>,
    },
}

/// The change to the reference when its operation ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ReferenceChange {
    /// The reference gets the identifier, and the declaration of a put becomes its baseline.
    Applied {
        /// Whether `ucp` created the resource or was told to own it. If `false`, ownership stays as it was.
        owned: bool,
    },
    /// The operation ended without success before AWS took a change, and the reference stays as it was, with the
    /// provisioning state of its last change.
    Untouched,
    /// The operation ended without success after a change, and the reference stays. The declaration becomes the baseline of a
    /// resource that it created, and that a read has shown.
    Kept {
        /// See [`ReferenceChange::Applied`].
        owned: bool,
    },
    /// The outcome of a create cannot be determined. The reference stays, with the identifier as far as it is known, and
    /// does not own the resource. What the create declared is kept.
    Unknown,
    /// It is found out that the create of unknown outcome has made the resource. The reference owns it, and what that create
    /// declared becomes its baseline.
    Made,
    /// The reference is removed.
    Removed,
}

/// A side effect that the engine carries out.
#[derive(Clone, Debug, PartialEq)]
pub enum Effect {
    /// Read the live resource and plan against it. Without an identifier, nothing is read.
    Look(Option<Identifier>),
    /// Send the recorded intent.
    Submit(Intent),
    /// Poll the request.
    Poll(RequestToken),
    /// Ask AWS to cancel the request.
    Cancel(RequestToken),
    /// Read the live resource.
    Read(Option<Identifier>),
    /// List the resources of the type, to see whether this one is among them.
    List(Identifier),
    /// Search the resources of the type for one that bears the mark of the reference.
    Search,
    /// Read the references of the group and the children so far.
    Survey,
    /// Start these children, then survey again.
    Start(Vec<Child>),
    /// Read the values that the outputs of a set refer to, then survey again.
    ReadOutputs,
    /// Take back what a refactor has moved, then survey again.
    TakeBack,
}

impl Effect {
    /// Returns its name for the log.
    pub fn name(&self) -> &'static str {
        match self {
            Effect::Look(_) => "Look",
            Effect::Submit(_) => "Submit",
            Effect::Poll(_) => "Poll",
            Effect::Cancel(_) => "Cancel",
            Effect::Read(_) => "Read",
            Effect::List(_) => "List",
            Effect::Search => "Search",
            Effect::Survey => "Survey",
            Effect::Start(_) => "Start",
            Effect::ReadOutputs => "ReadOutputs",
            Effect::TakeBack => "TakeBack",
        }
    }
}
