use ucp_model::{Identifier, ReferenceId, Scope};

use crate::body::OnAmbiguity;
use crate::puts::Put;

/// What a refactor comes to.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Refactor {
    /// What moves.
    pub moves: Vec<Move>,
    /// What cannot be told apart.
    pub ambiguities: Vec<Ambiguity>,
    /// What must not move, or cannot.
    pub refused: Vec<Refused>,
    /// What a deployment would change.
    pub changes: Changes,
    /// How: the puts of what changes, each after those that it refers to. None unless the body says that it is deployed.
    pub puts: Vec<Put>,
    /// What concerns each environment, in the order of their first resources.
    pub environments: Vec<Environment>,
    /// The history, as far as the groups have it.
    pub history: History,
}

impl Refactor {
    /// Returns why the moves may not be applied, if so.
    pub fn objection(&self, on_ambiguity: OnAmbiguity) -> Option<Objection> {
        let is_ambiguous = !self.ambiguities.is_empty() && on_ambiguity == OnAmbiguity::Refuse;
        match is_ambiguous {
            _ if !self.refused.is_empty() => Some(Objection::Refused),
            true => Some(Objection::Ambiguous),
            false => None,
        }
    }
}

/// Why moves may not be applied.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Objection {
    /// There are ambiguities, and they are not to be left.
    Ambiguous,
    /// Something is refused.
    Refused,
}

/// A resource that gets another address.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Move {
    /// The old address.
    pub from: ReferenceId,
    /// The new address, of the same type.
    pub to: ReferenceId,
    /// The primary identifier of the resource.
    pub identifier: Option<Identifier>,
    /// How it is known to be the same.
    pub reason: Reason,
}

/// How a resource is known to be the one that is declared elsewhere.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reason {
    /// The user says so, in `moves` or in the history.
    Mapping,
    /// The declaration has its identifier.
    Identity,
    /// Nothing else has this content.
    Digest,
    /// Nothing else of this content is referred to like this.
    Structure,
}

impl Reason {
    /// Returns the word for it.
    pub fn as_str(self) -> &'static str {
        match self {
            Reason::Mapping => "Mapping",
            Reason::Identity => "Identity",
            Reason::Digest => "Digest",
            Reason::Structure => "Structure",
        }
    }
}

/// Resources that may be each other, and nothing tells which.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Ambiguity {
    /// The account and region.
    pub scope: Scope,
    /// What is deployed.
    pub from: Vec<ReferenceId>,
    /// What is declared.
    pub to: Vec<ReferenceId>,
    /// Why nothing tells.
    pub reason: AmbiguityReason,
}

/// Why resources are ambiguous.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AmbiguityReason {
    /// Several are the same but for their addresses.
    Identical,
    /// One has the content of the other, but something else stays or begins at one of their addresses.
    AddressReused,
}

impl AmbiguityReason {
    /// Returns the word for it.
    pub fn as_str(self) -> &'static str {
        match self {
            AmbiguityReason::Identical => "Identical",
            AmbiguityReason::AddressReused => "AddressReused",
        }
    }
}

/// A move that is refused.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Refused {
    /// The account and region of what is deployed, or else of what is declared; none if it is about the history.
    pub scope: Option<Scope>,
    /// What is deployed, or would have to be.
    pub from: Vec<ReferenceId>,
    /// What is declared.
    pub to: Vec<ReferenceId>,
    /// The reason.
    pub code: RefusalCode,
    /// What is wrong, and what to do.
    pub message: String,
}

/// Why a move is refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RefusalCode {
    /// No resource can move to another account.
    AccountChanges,
    /// No resource can move to another region.
    RegionChanges,
    /// Another resource stays at the new address.
    TargetTaken,
    /// Nothing is deployed at either address, or what is at the old one is to be deleted.
    SourceMissing,
    /// Nothing tells whether resources that are to change places have done so already.
    MovesUnclear,
    /// It belongs to a service instance, whose orders look for it where it is.
    OfAnInstance,
    /// The groups have had other events than the history has.
    HistoryDiverged,
}

impl RefusalCode {
    /// Returns the word for it.
    pub fn as_str(self) -> &'static str {
        match self {
            RefusalCode::AccountChanges => "AccountChanges",
            RefusalCode::RegionChanges => "RegionChanges",
            RefusalCode::TargetTaken => "TargetTaken",
            RefusalCode::SourceMissing => "SourceMissing",
            RefusalCode::MovesUnclear => "MovesUnclear",
            RefusalCode::OfAnInstance => "OfAnInstance",
            RefusalCode::HistoryDiverged => "HistoryDiverged",
        }
    }
}

/// What a deployment would change. It names nothing that is excluded, ambiguous or refused.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Changes {
    /// What is declared and not deployed.
    pub create: Vec<ReferenceId>,
    /// What is declared otherwise than at its last put, by its new address.
    pub update: Vec<ReferenceId>,
    /// What is deployed and not declared. It is left as it is.
    pub undeclared: Vec<ReferenceId>,
}

/// What concerns an account and region.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Environment {
    /// The account and region.
    pub scope: Scope,
    /// The number of moves in it.
    pub moves: usize,
    /// The number of ambiguities in it.
    pub ambiguities: usize,
    /// The number of refused moves that concern it.
    pub refused: usize,
}

/// The history of the groups, beside the one of the body. Events are given by their ids.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct History {
    /// The events that the groups have had.
    pub environment: Vec<String>,
    /// The last event up to which both are the same.
    pub common: Option<String>,
    /// The events of the body that the groups have yet to have.
    pub pending: Vec<String>,
}
