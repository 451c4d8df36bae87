//! The records of refactors.

use serde::{Deserialize, Serialize};
use ucp_model::{
    Refactor, RefactorContent, RefactorGroup, RefactorHistory, RefactorId, RefactorMove,
    ReferenceId, Scope,
};
use utoipa::ToSchema;

/// The record of a refactor.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct RefactorBody {
    /// The id.
    #[schema(
        example = "/planes/radius/local/providers/System.Resources/refactors/2b1c5a52-93d1-4a0e-8b7c-0d6f0b1c2d3e"
    )]
    pub id: String,
    /// The UUID.
    #[schema(format = "uuid")]
    pub name: String,
    /// The type of all refactors.
    #[schema(example = "System.Resources/refactors")]
    pub r#type: String,
    /// `Planned`, `Applied` or `Undone`.
    #[schema(example = "Applied")]
    pub status: String,
    /// Who has asked for it.
    pub created_by: String,
    /// When it was planned, or applied without a plan.
    #[schema(format = DateTime, example = "2026-01-02T03:04:05Z")]
    pub created_at: String,
    /// Since when it has this status.
    #[schema(format = DateTime, example = "2026-01-02T03:04:05Z")]
    pub changed_at: String,
    /// A digest of the moves, the groups, and the revisions of what moves.
    pub fingerprint: String,
    /// What it has found.
    #[serde(flatten)]
    pub found: RefactorFindings,
    /// The id of the refactor that it takes back.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub undoes: Option<String>,
    /// The UUID of the operation that puts what changes; of an undo, of the one that took the moves back since a put failed.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(format = "uuid")]
    pub operation_id: Option<String>,
}

/// What comparing groups with declarations finds.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct RefactorFindings {
    /// What moves.
    pub moves: Vec<MoveBody>,
    /// What nothing tells apart.
    pub ambiguities: Vec<AmbiguityBody>,
    /// What must not move, or cannot.
    pub refused: Vec<RefusedBody>,
    /// What puts of the declarations would change, by reference id.
    pub changes: ChangesBody,
    /// Which groups it creates and removes, by id.
    pub groups: GroupsBody,
    /// What concerns each account and region.
    pub environments: Vec<EnvironmentBody>,
    /// The history of the groups, as it was found.
    pub history: HistoryBody,
}

/// A resource that gets another address.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct MoveBody {
    /// The old reference id.
    pub from: String,
    /// The new reference id.
    pub to: String,
    /// Its type.
    #[schema(example = "AWS.S3/Bucket")]
    pub r#type: String,
    /// Its account and region.
    #[schema(example = "/planes/aws/aws/accounts/123456789012/regions/us-west-2")]
    pub scope: String,
    /// Its primary identifier.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub primary_identifier: Option<String>,
    /// How it is known to be the same: `Mapping`, `Identity`, `Digest`, `Structure` or `Undo`.
    #[schema(example = "Digest")]
    pub reason: String,
}

/// Resources that may be each other.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct AmbiguityBody {
    /// The account and region.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(example = "/planes/aws/aws/accounts/123456789012/regions/us-west-2")]
    pub scope: Option<String>,
    /// What is deployed, by reference id.
    pub from: Vec<String>,
    /// What is declared, by reference id.
    pub to: Vec<String>,
    /// `Identical` or `AddressReused`.
    #[schema(example = "Identical")]
    pub reason: String,
}

/// A move that is refused.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct RefusedBody {
    /// The account and region of what is deployed, or else of what is declared.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(example = "/planes/aws/aws/accounts/123456789012/regions/us-west-2")]
    pub scope: Option<String>,
    /// What is deployed, by reference id.
    pub from: Vec<String>,
    /// What is declared, by reference id.
    pub to: Vec<String>,
    /// `AccountChanges`, `RegionChanges`, `TargetTaken`, `SourceMissing`, `MovesUnclear`, `OfAnInstance` or `HistoryDiverged`.
    #[schema(example = "RegionChanges")]
    pub code: String,
    /// What is wrong, and what to do.
    pub message: String,
}

/// What puts of the declarations would change. What is excluded, ambiguous or refused is not named.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct ChangesBody {
    /// What is declared and not deployed.
    pub create: Vec<String>,
    /// What is declared otherwise than at its last put.
    pub update: Vec<String>,
    /// What is deployed and not declared. It is left as it is.
    pub undeclared: Vec<String>,
}

/// Which groups a refactor creates and removes.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct GroupsBody {
    /// Those that it creates.
    pub create: Vec<String>,
    /// Those that it empties and removes.
    pub remove: Vec<String>,
}

/// What concerns an account and region.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct EnvironmentBody {
    /// The account and region.
    #[schema(example = "/planes/aws/aws/accounts/123456789012/regions/us-west-2")]
    pub scope: String,
    /// The number of moves.
    pub moves: usize,
    /// The number of ambiguities.
    pub ambiguities: usize,
    /// The number of refused moves.
    pub refused: usize,
}

/// The history of the groups, beside the one of the request, by the ids of events.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct HistoryBody {
    /// The events that the groups had had.
    pub environment: Vec<String>,
    /// The last event up to which both are the same.
    pub common: Option<String>,
    /// The events of the request that the groups had yet to have.
    pub pending: Vec<String>,
}

impl RefactorBody {
    /// Returns the id of a record.
    pub fn id_of(record: &Refactor) -> String {
        path_of(&record.plane, &record.id)
    }
}

fn path_of(plane: &str, id: &RefactorId) -> String {
    format!("/planes/radius/{plane}/providers/System.Resources/refactors/{id}")
}

impl From<Refactor> for RefactorBody {
    fn from(record: Refactor) -> Self {
        let id = Self::id_of(&record);
        let undone = record.content.undoes;
        let undoes = undone.map(|undone| path_of(&record.plane, &undone));
        let content = record.content;
        Self {
            id,
            name: record.id.to_string(),
            r#type: "System.Resources/refactors".to_owned(),
            status: record.status.as_str().to_owned(),
            created_by: record.created_by,
            created_at: record.created_at.to_string(),
            changed_at: record.changed_at.to_string(),
            fingerprint: record.fingerprint,
            undoes,
            operation_id: content.deployment.map(|operation| operation.to_string()),
            found: RefactorFindings::from(content),
        }
    }
}

impl From<RefactorContent> for RefactorFindings {
    fn from(content: RefactorContent) -> Self {
        Self {
            moves: content.moves.iter().map(MoveBody::from).collect(),
            ambiguities: content
                .ambiguities
                .into_iter()
                .map(|it| AmbiguityBody {
                    scope: it.scope.as_ref().map(scope),
                    from: texts(&it.from),
                    to: texts(&it.to),
                    reason: it.reason,
                })
                .collect(),
            refused: content
                .refused
                .into_iter()
                .map(|it| RefusedBody {
                    scope: it.scope.as_ref().map(scope),
                    from: texts(&it.from),
                    to: texts(&it.to),
                    code: it.code,
                    message: it.message,
                })
                .collect(),
            changes: ChangesBody {
                create: texts(&content.changes.create),
                update: texts(&content.changes.update),
                undeclared: texts(&content.changes.undeclared),
            },
            groups: GroupsBody {
                create: ids(&content.groups.create),
                remove: ids(&content.groups.remove),
            },
            environments: content
                .environments
                .into_iter()
                .map(|it| EnvironmentBody {
                    scope: scope(&it.scope),
                    moves: it.moves,
                    ambiguities: it.ambiguities,
                    refused: it.refused,
                })
                .collect(),
            history: HistoryBody::from(content.history),
        }
    }
}

impl From<&RefactorMove> for MoveBody {
    fn from(it: &RefactorMove) -> Self {
        Self {
            from: it.from.to_string(),
            to: it.to.to_string(),
            r#type: it.to.type_name.arm(),
            scope: it.scope.to_string(),
            primary_identifier: it.identifier.as_ref().map(ToString::to_string),
            reason: it.reason.clone(),
        }
    }
}

impl From<RefactorHistory> for HistoryBody {
    fn from(history: RefactorHistory) -> Self {
        Self {
            environment: history.environment,
            common: history.common,
            pending: history.pending,
        }
    }
}

fn texts(ids: &[ReferenceId]) -> Vec<String> {
    ids.iter().map(ToString::to_string).collect()
}

fn ids(groups: &[RefactorGroup]) -> Vec<String> {
    groups.iter().map(|group| group.id.to_string()).collect()
}

fn scope(scope: &Scope) -> String {
    scope.to_string()
}
