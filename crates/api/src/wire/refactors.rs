//! The records of refactors.

use serde::Serialize;
use ucp_model::{
    Refactor, RefactorGroup, RefactorHistory, RefactorId, RefactorMove, ReferenceId, Scope,
};
use utoipa::ToSchema;

/// The record of a refactor.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct RefactorBody {
    /// The id.
    #[schema(
        example = "/planes/radius/local/providers/System.Resources/refactors/2b1c5a52-93d1-4a0e-8b7c-0d6f0b1c2d3e"
    )]
    id: String,
    /// The UUID.
    #[schema(format = "uuid")]
    name: String,
    /// The type of all refactors.
    #[schema(example = "System.Resources/refactors")]
    r#type: &'static str,
    /// `Planned`, `Applied` or `Undone`.
    #[schema(example = "Applied")]
    status: &'static str,
    /// Who has asked for it.
    created_by: String,
    /// When it was planned, or applied without a plan.
    #[schema(format = DateTime, example = "2026-01-02T03:04:05Z")]
    created_at: String,
    /// Since when it has this status.
    #[schema(format = DateTime, example = "2026-01-02T03:04:05Z")]
    changed_at: String,
    /// A digest of the moves, the groups, and the revisions of what moves.
    fingerprint: String,
    /// What moves.
    moves: Vec<MoveBody>,
    /// What nothing tells apart.
    ambiguities: Vec<AmbiguityBody>,
    /// What must not move, or cannot.
    refused: Vec<RefusedBody>,
    /// What puts of the declarations would change, by reference id.
    changes: ChangesBody,
    /// Which groups it creates and removes, by id.
    groups: GroupsBody,
    /// What concerns each account and region.
    environments: Vec<EnvironmentBody>,
    /// The history of the groups, as it was found.
    history: HistoryBody,
    /// The id of the refactor that it takes back.
    #[serde(skip_serializing_if = "Option::is_none")]
    undoes: Option<String>,
    /// The UUID of the operation that puts what changes; of an undo, of the one that took the moves back since a put failed.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(format = "uuid")]
    operation_id: Option<String>,
}

/// A resource that gets another address.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
struct MoveBody {
    /// The old reference id.
    from: String,
    /// The new reference id.
    to: String,
    /// Its type.
    #[schema(example = "AWS.S3/Bucket")]
    r#type: String,
    /// Its account and region.
    #[schema(example = "/planes/aws/aws/accounts/123456789012/regions/us-west-2")]
    scope: String,
    /// Its primary identifier.
    #[serde(skip_serializing_if = "Option::is_none")]
    primary_identifier: Option<String>,
    /// How it is known to be the same: `Mapping`, `Identity`, `Digest`, `Structure` or `Undo`.
    #[schema(example = "Digest")]
    reason: String,
}

/// Resources that may be each other.
#[derive(Debug, Serialize, ToSchema)]
struct AmbiguityBody {
    /// The account and region.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(example = "/planes/aws/aws/accounts/123456789012/regions/us-west-2")]
    scope: Option<String>,
    /// What is deployed, by reference id.
    from: Vec<String>,
    /// What is declared, by reference id.
    to: Vec<String>,
    /// `Identical` or `AddressReused`.
    #[schema(example = "Identical")]
    reason: String,
}

/// A move that is refused.
#[derive(Debug, Serialize, ToSchema)]
struct RefusedBody {
    /// The account and region of what is deployed, or else of what is declared.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(example = "/planes/aws/aws/accounts/123456789012/regions/us-west-2")]
    scope: Option<String>,
    /// What is deployed, by reference id.
    from: Vec<String>,
    /// What is declared, by reference id.
    to: Vec<String>,
    /// `AccountChanges`, `RegionChanges`, `TargetTaken`, `SourceMissing`, `MovesUnclear`, `OfAnInstance` or `HistoryDiverged`.
    #[schema(example = "RegionChanges")]
    code: String,
    /// What is wrong, and what to do.
    message: String,
}

/// What puts of the declarations would change. What is excluded, ambiguous or refused is not named.
#[derive(Debug, Serialize, ToSchema)]
struct ChangesBody {
    /// What is declared and not deployed.
    create: Vec<String>,
    /// What is declared otherwise than at its last put.
    update: Vec<String>,
    /// What is deployed and not declared. It is left as it is.
    undeclared: Vec<String>,
}

/// Which groups a refactor creates and removes.
#[derive(Debug, Serialize, ToSchema)]
struct GroupsBody {
    /// Those that it creates.
    create: Vec<String>,
    /// Those that it empties and removes.
    remove: Vec<String>,
}

/// What concerns an account and region.
#[derive(Debug, Serialize, ToSchema)]
struct EnvironmentBody {
    /// The account and region.
    #[schema(example = "/planes/aws/aws/accounts/123456789012/regions/us-west-2")]
    scope: String,
    /// The number of moves.
    moves: usize,
    /// The number of ambiguities.
    ambiguities: usize,
    /// The number of refused moves.
    refused: usize,
}

/// The history of the groups, beside the one of the request, by the ids of events.
#[derive(Debug, Serialize, ToSchema)]
struct HistoryBody {
    /// The events that the groups had had.
    environment: Vec<String>,
    /// The last event up to which both are the same.
    common: Option<String>,
    /// The events of the request that the groups had yet to have.
    pending: Vec<String>,
}

impl RefactorBody {
    /// Returns the id.
    pub(crate) fn id(&self) -> &str {
        &self.id
    }

    /// Returns the id of a record.
    pub(crate) fn id_of(record: &Refactor) -> String {
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
            r#type: "System.Resources/refactors",
            status: record.status.as_str(),
            created_by: record.created_by,
            created_at: record.created_at.to_string(),
            changed_at: record.changed_at.to_string(),
            fingerprint: record.fingerprint,
            undoes,
            operation_id: content.deployment.map(|operation| operation.to_string()),
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
