//! The record of a refactor: what it found, and what has come of it.

use serde::{Deserialize, Serialize};

use crate::{
    GroupBody, GroupId, Identifier, Lineage, OperationId, RefactorId, ReferenceId, Scope, Timestamp,
};

/// A refactor that was planned or applied.
#[derive(Clone, Debug, PartialEq)]
pub struct Refactor {
    /// Its id.
    pub id: RefactorId,
    /// The radius plane that it is listed under.
    pub plane: String,
    /// Who has asked for it.
    pub created_by: String,
    /// When it was planned, or applied without a plan.
    pub created_at: Timestamp,
    /// What has come of it.
    pub status: RefactorStatus,
    /// When that was so first.
    pub changed_at: Timestamp,
    /// A digest of the moves, the groups and the revisions of what moves. If it is another one, it is another refactor.
    pub fingerprint: String,
    /// What it found, and what it does.
    pub content: RefactorContent,
}

/// What has come of a refactor.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RefactorStatus {
    /// Nothing has moved.
    Planned,
    /// Everything has moved.
    Applied,
    /// Everything has moved, and back.
    Undone,
}

impl RefactorStatus {
    /// All statuses.
    pub const ALL: [Self; 3] = [Self::Planned, Self::Applied, Self::Undone];

    /// Returns the word for it.
    pub fn as_str(self) -> &'static str {
        match self {
            RefactorStatus::Planned => "Planned",
            RefactorStatus::Applied => "Applied",
            RefactorStatus::Undone => "Undone",
        }
    }

    /// Parses the word for a status.
    pub fn parse(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|status| status.as_str() == word)
    }
}

/// What a refactor found, and what it does. It contains no properties of resources.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub struct RefactorContent {
    /// The groups that it names, old and new ones, which it is listed under.
    pub named: Vec<GroupId>,
    /// What moves.
    pub moves: Vec<RefactorMove>,
    /// What cannot be told apart.
    pub ambiguities: Vec<RefactorAmbiguity>,
    /// Whether they are left as they are, and the rest moves all the same.
    pub leaves_ambiguities: bool,
    /// What must not move, or cannot.
    pub refused: Vec<RefusedMove>,
    /// What a deployment would change.
    pub changes: RefactorChanges,
    /// Whether what changes is to be put.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub is_deployed: bool,
    /// Which groups it creates and removes.
    pub groups: GroupChanges,
    /// What concerns each account and region.
    pub environments: Vec<RefactorEnvironment>,
    /// The history, as it found it.
    pub history: RefactorHistory,
    /// The events that it brings to the history of the groups, in their order. An undo brings none. They are stored apart, so
    /// that a history is read without the records.
    #[serde(skip)]
    pub events: Vec<RefactorEvent>,
    /// The events that the refactor which it takes back had brought. Whoever takes this one back brings them again.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub taken_events: Vec<RefactorEvent>,
    /// The refactor that it takes back, if it does.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub undoes: Option<RefactorId>,
    /// The operation that puts what changes, or, of an undo, that takes the moves back since a put has failed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub deployment: Option<OperationId>,
}

/// A reference that gets another id.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct RefactorMove {
    /// The old id.
    pub from: ReferenceId,
    /// The new id, of the same type.
    pub to: ReferenceId,
    /// The account and region of its resource.
    pub scope: Scope,
    /// The primary identifier of its resource.
    pub identifier: Option<Identifier>,
    /// How it is known to be the same: a word that the request is answered with.
    pub reason: String,
    /// The ETag of the reference that it was planned with, or since it was applied the one that the reference got.
    #[serde(default)]
    pub etag: Option<String>,
    /// The lineage of the reference, once it has moved.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub lineage: Option<Lineage>,
    /// The ETag of the latest write of the reference that was not a move, once it has moved.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub written: Option<String>,
}

/// Resources that may be each other, and nothing tells which.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct RefactorAmbiguity {
    /// The account and region.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub scope: Option<Scope>,
    /// What is deployed.
    pub from: Vec<ReferenceId>,
    /// What is declared.
    pub to: Vec<ReferenceId>,
    /// Why nothing tells: a word.
    pub reason: String,
}

/// A move that is refused.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct RefusedMove {
    /// The account and region of what is deployed, or else of what is declared; none if it is about the history.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub scope: Option<Scope>,
    /// What is deployed, or would have to be.
    pub from: Vec<ReferenceId>,
    /// What is declared.
    pub to: Vec<ReferenceId>,
    /// The reason: a word.
    pub code: String,
    /// What is wrong, and what to do.
    pub message: String,
}

/// What a deployment would change.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub struct RefactorChanges {
    /// What is declared and not deployed.
    pub create: Vec<ReferenceId>,
    /// What is declared otherwise than at its last put, by its new id.
    pub update: Vec<ReferenceId>,
    /// What is deployed and not declared. It is left as it is.
    pub undeclared: Vec<ReferenceId>,
}

/// Which groups a refactor creates and removes, with all that it takes to make each of them again.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub struct GroupChanges {
    /// Those that it creates.
    pub create: Vec<RefactorGroup>,
    /// Those that it empties and removes.
    pub remove: Vec<RefactorGroup>,
}

/// A group as it is created, or was before it was removed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct RefactorGroup {
    /// Its id.
    pub id: GroupId,
    /// Its location.
    pub location: String,
    /// Its tags.
    pub tags: std::collections::BTreeMap<String, String>,
    /// Its default tags and its policy.
    pub body: GroupBody,
}

/// What concerns an account and region.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct RefactorEnvironment {
    /// The account and region.
    pub scope: Scope,
    /// The number of moves in it.
    pub moves: usize,
    /// The number of ambiguities in it.
    pub ambiguities: usize,
    /// The number of refused moves that concern it.
    pub refused: usize,
}

/// The history of the groups, beside the one of the request. Events are given by their ids.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub struct RefactorHistory {
    /// The events that the groups have had.
    pub environment: Vec<String>,
    /// The last event up to which both are the same.
    pub common: Option<String>,
    /// The events of the request that the groups have yet to have.
    pub pending: Vec<String>,
    /// Which of the events of the groups concern others too, that the request does not name. They are shown to those who may read
    /// these.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub elsewhere: Vec<EventsElsewhere>,
}

/// Events that concern groups that a request does not name.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct EventsElsewhere {
    /// The groups.
    pub groups: Vec<GroupId>,
    /// The ids of the events.
    pub events: Vec<String>,
}

/// An event in the history of groups.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct RefactorEvent {
    /// Its id.
    pub id: String,
    /// What moved, by addresses as they were given.
    pub moves: Vec<EventMove>,
    /// Whether the history does not have the event any more that it had of this id.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub revoked: bool,
}

/// A move of an event.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct EventMove {
    /// The old address.
    pub from: String,
    /// The new address.
    pub to: String,
}

/// Why what is taken back is the same resource.
const UNDO: &str = "Undo";

impl RefactorContent {
    /// Returns what makes a refactor another one, as text: the moves, the revisions of what moves, the groups, and what is put.
    pub fn essence(&self) -> String {
        let moves = self.moves.iter();
        let moves = moves.map(|it| (it.from.key(), it.to.to_string(), it.etag.as_deref()));
        let keys = |groups: &[RefactorGroup]| -> Vec<String> {
            groups.iter().map(|group| group.id.key()).collect()
        };
        serde_json::json!({
            "refactor": moves.collect::<Vec<_>>(),
            "create": keys(&self.groups.create),
            "remove": keys(&self.groups.remove),
            "put": self.is_deployed.then(|| {
                let puts = self.changes.create.iter().chain(&self.changes.update);
                puts.map(ReferenceId::key).collect::<Vec<String>>()
            }),
        })
        .to_string()
    }
}

impl Refactor {
    /// Returns what takes it back, once it is applied.
    pub fn inverse(&self) -> RefactorContent {
        let content = &self.content;
        let moves = content.moves.iter().map(|it| RefactorMove {
            from: it.to.clone(),
            to: it.from.clone(),
            scope: it.scope.clone(),
            identifier: it.identifier.clone(),
            reason: UNDO.to_owned(),
            etag: it.etag.clone(),
            lineage: it.lineage.clone(),
            written: it.written.clone(),
        });
        let GroupChanges { create, remove } = content.groups.clone();
        let environments = content.environments.iter().map(|it| RefactorEnvironment {
            scope: it.scope.clone(),
            moves: it.moves,
            ambiguities: 0,
            refused: 0,
        });
        RefactorContent {
            named: content.named.clone(),
            moves: moves.collect(),
            groups: GroupChanges {
                create: remove,
                remove: create,
            },
            environments: environments.collect(),
            events: content.taken_events.clone(),
            taken_events: content.events.clone(),
            undoes: Some(self.id),
            ..RefactorContent::default()
        }
    }

    /// Returns whether it has brought events to the history of its groups: it is applied, and was not undone.
    pub fn brings_events(&self) -> bool {
        self.status == RefactorStatus::Applied && !self.content.events.is_empty()
    }

    /// Returns whether the record stays, so that it can be looked up and taken back: it is applied, was not undone, and has moved
    /// something or brought events. An undo stays only if it has brought events again.
    pub fn is_lasting(&self) -> bool {
        let has_moved = self.content.undoes.is_none() && !self.content.moves.is_empty();
        self.brings_events() || self.status == RefactorStatus::Applied && has_moved
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn statuses_come_back_as_they_were_stored() {
        for status in RefactorStatus::ALL {
            assert_eq!(RefactorStatus::parse(status.as_str()), Some(status));
        }
        assert_eq!(RefactorStatus::parse("planned"), None);
    }

    #[test]
    fn what_a_record_lacks_is_empty() {
        let content: RefactorContent = serde_json::from_str("{}").unwrap();
        assert_eq!(content, RefactorContent::default());
    }
}
