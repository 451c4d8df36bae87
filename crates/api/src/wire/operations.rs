use std::collections::BTreeMap;

use serde::Serialize;
use serde_json::{Map, Value, json};
use ucp_app::Status;
use ucp_model::operation::group::{ImportOutcome, Task};
use ucp_model::operation::{GroupWork, Kind, Prediction, Proof, Work};
use ucp_model::{Ended, Failure, Operation, OperationId, Originator, Warning};
use ucp_wire::ErrorBody;
use utoipa::ToSchema;
use utoipa::openapi::{ObjectBuilder, Type};

use super::progress::Progress;
use super::sets::SetResult;
use super::warning::WarningBody;
use crate::explained::explained;
use crate::origin::BaseUrl;
use crate::polling_paths::PollingPaths;

/// The kind of an apply to a group.
const APPLY: &str = "applyGroup";
/// The member of [`SetResult`] that lists leave out.
const SET_RESOURCES: &str = "resources";

/// The status of an operation.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct OperationStatus {
    /// The id, which is the path of this status.
    #[schema(
        example = "/planes/radius/local/providers/System.Resources/locations/global/operationStatuses/2b1c5a52-93d1-4a0e-8b7c-0d6f0b1c2d3e"
    )]
    id: String,
    /// The UUID of the operation.
    #[schema(format = "uuid")]
    name: String,
    #[schema(schema_with = status_words)]
    status: &'static str,
    /// What the operation does: `put`, `delete` or `import` a resource, `deleteGroup`, `importGroup` or
    /// `applyGroup`. ucp itself begins
    /// `resolve`, to find out what came of a create of unknown outcome, and `delete` of what is left over.
    #[schema(example = "put")]
    kind: &'static str,
    /// The alias, if the operation works on a reference.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(example = "my-vpc")]
    alias: Option<String>,
    /// Who requested the operation.
    #[schema(example = "anonymous")]
    caller: String,
    /// The person at whose request a platform has ordered it from the service broker: the kind of `platform`, and the `value`
    /// that it gives of the person.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<Object>)]
    originating_identity: Option<Originator>,
    /// Whether cancellation has been requested; absent if not.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    #[schema(value_type = Option<bool>)]
    cancel_requested: bool,
    /// When the operation was accepted.
    #[schema(format = DateTime, example = "2026-01-02T03:04:05Z")]
    start_time: String,
    /// When the operation ended.
    #[schema(format = DateTime)]
    #[serde(skip_serializing_if = "Option::is_none")]
    end_time: Option<String>,
    /// The id of the AWS resource, once known; of the resource group for an operation on a group.
    #[serde(skip_serializing_if = "Option::is_none")]
    resource_id: Option<String>,
    /// While it runs, `progress`: the `phase`, the `attempt` in that phase with the `lastError` of AWS (`code` and
    /// `message`), `nextTryAt`, and `waitingFor`: if that is `rate`, `rate` names the account, the region and the class of calls,
    /// and `nextTryAt` is an estimate. Then the live properties after a successful put, or the result of an
    /// import into a group. An apply to a group has `resources`, how far each resource of the set is, with AWS's `lastError`
    /// while its operation goes on after one, except in lists, and at the end `outputs`. `warnings` has what the caller should know about the declaration or the resource, or what the deletion of a group has given
    /// up to other groups, each with a `code`, a `target` and a `message`. `proof` says what AWS shows after a change that it reports as successful:
    /// how many places are `confirmed`, and which are `dropped` (as before), `different`, or `unreadable`. `message` says
    /// what a `resolve` has found out.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<Object>)]
    properties: Option<Value>,
    /// How good the plan of a put was, once it has sent something and AWS could be read: whether AWS shows `exact`ly what
    /// was planned, how many declared properties are `confirmed`, the `differences`, each with the `path` in the live
    /// model, the `kind` (`different` or `missing`), and the values `planned` and `live` unless they are long, and what is
    /// `unreadable`. What only AWS sets cannot be wrong.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<Object>)]
    prediction: Option<Prediction>,
    /// The progress of an operation on a group.
    #[serde(skip_serializing_if = "Option::is_none")]
    percent_complete: Option<u32>,
    /// Why the operation failed or was cancelled.
    #[serde(skip_serializing_if = "Option::is_none")]
    error: Option<ErrorBody>,
}

impl OperationStatus {
    /// Leaves out the resources of a set, of which there may be many.
    pub(crate) fn in_list(mut self) -> Self {
        if self.kind == APPLY
            && let Some(Value::Object(properties)) = &mut self.properties
        {
            properties.shift_remove(SET_RESOURCES);
        }
        self
    }

    /// Returns the status of an operation. `setbacks` are the errors after which resources of its set go on.
    pub(crate) fn of(operation: Operation, setbacks: &BTreeMap<OperationId, Failure>) -> Self {
        let polling = PollingPaths::from(&operation);
        let progress = Progress::of(&operation).map(|progress| json!({ "progress": progress }));
        let kind = operation.work.kind();
        let alias = operation.work.reference().map(|id| id.alias.clone());
        let ended = operation.ended();
        let succeeded = ended == Some(&Ended::Succeeded);
        let (status, error) = (operation.status(), operation.failure().cloned());
        let is_terminal = ended.is_some();
        let order = operation.work.group().and_then(GroupWork::order);
        let originating_identity = order.and_then(|order| order.originator.clone());
        let Operation { header, work } = operation;
        let (resource_id, properties, prediction, percent_complete) = match work {
            Work::Resource(work) => {
                let target = match work.kind {
                    Kind::Put | Kind::Import | Kind::Resolve => work.target(),
                    Kind::Delete => None,
                };
                let id =
                    target.map(|target| target.scope.resource(target.type_name, target.identifier));
                let live = work.result.filter(|_| succeeded);
                let shown = progress.or(live);
                let proof = work.proof.filter(|_| is_terminal);
                let shown = with_proof(shown, proof.as_ref());
                let shown = with_message(shown, work.told);
                let prediction = work.prediction.filter(|_| is_terminal);
                (id, with_warnings(shown, work.warnings), prediction, None)
            }
            Work::Group(work) => {
                let result = ImportResult::of(&work).filter(|_| is_terminal);
                let result = result.and_then(|result| serde_json::to_value(result).ok());
                let percent_complete = work.percent_complete();
                let shown = with_set(progress.or(result), &work, setbacks);
                (
                    Some(work.group.to_string()),
                    with_warnings(shown, work.given_up),
                    None,
                    Some(percent_complete),
                )
            }
        };
        Self {
            id: polling.status,
            name: header.id.to_string(),
            status,
            kind,
            alias,
            caller: header.caller,
            originating_identity,
            cancel_requested: header.cancel_requested_at.is_some(),
            start_time: header.accepted_at.to_string(),
            end_time: header.ended_at.map(|moment| moment.to_string()),
            resource_id,
            properties,
            prediction,
            percent_complete,
            error: error.map(ErrorBody::from),
        }
    }

    /// Adds a link to the page about the error code.
    pub(crate) fn explained(mut self, base_url: &BaseUrl) -> Self {
        self.error = self.error.map(|error| explained(error, base_url));
        self
    }
}

impl From<Operation> for OperationStatus {
    fn from(operation: Operation) -> Self {
        Self::of(operation, &BTreeMap::new())
    }
}

/// Adds what has become of a set to the properties.
fn with_set(
    properties: Option<Value>,
    work: &GroupWork,
    setbacks: &BTreeMap<OperationId, Failure>,
) -> Option<Value> {
    let Some(set) = SetResult::of(work, setbacks) else {
        return properties;
    };
    let mut set = serde_json::to_value(set).unwrap_or_default();
    if let (Value::Object(set), Some(Value::Object(properties))) = (&mut set, properties) {
        set.extend(properties);
    }
    Some(set)
}

/// Adds what AWS shows of the change to the properties.
fn with_proof(properties: Option<Value>, proof: Option<&Proof>) -> Option<Value> {
    let Some(proof) = proof else {
        return properties;
    };
    let mut properties = properties.unwrap_or_else(|| Value::Object(Map::new()));
    if let Value::Object(members) = &mut properties {
        let proof = serde_json::to_value(proof).unwrap_or_default();
        members.insert("proof".to_owned(), proof);
    }
    Some(properties)
}

/// Adds what a resolve has found out to the properties.
fn with_message(properties: Option<Value>, message: Option<String>) -> Option<Value> {
    let Some(message) = message else {
        return properties;
    };
    let mut properties = properties.unwrap_or_else(|| Value::Object(Map::new()));
    if let Value::Object(members) = &mut properties {
        members.insert("message".to_owned(), Value::String(message));
    }
    Some(properties)
}

/// Adds the warnings to the properties.
fn with_warnings(properties: Option<Value>, warnings: Vec<Warning>) -> Option<Value> {
    if warnings.is_empty() {
        return properties;
    }
    let warnings: Vec<WarningBody> = warnings.into_iter().map(WarningBody::from).collect();
    let mut properties = properties.unwrap_or_else(|| Value::Object(Map::new()));
    if let Value::Object(members) = &mut properties {
        let warnings = serde_json::to_value(warnings).unwrap_or_default();
        members.insert("warnings".to_owned(), warnings);
    }
    Some(properties)
}

fn status_words() -> ObjectBuilder {
    ObjectBuilder::new()
        .schema_type(Type::String)
        .description(Some(
            "The status. `Succeeded`, `Failed` and `Canceled` are terminal.",
        ))
        .enum_values(Some(Status::ALL.map(Status::as_str)))
}

/// The outcome of each item of an import into a group.
#[derive(Debug, Default, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct ImportResult {
    /// Items whose alias now stands for the resource.
    imported: Vec<ImportResultItem>,
    /// Items whose resource does not exist in AWS.
    missing: Vec<ImportResultItem>,
    /// Items whose alias already stood for a resource and was left unchanged.
    already_tracked: Vec<ImportResultItem>,
    /// Items that failed: AWS refused the read, or there was a conflict.
    failed: Vec<ImportResultItem>,
}

/// The outcome of one item of an import into a group.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct ImportResultItem {
    /// The index of the item in the request.
    index: usize,
    /// The alias.
    #[schema(example = "my-vpc")]
    alias: String,
    /// The reference id.
    id: String,
    /// The id of the AWS resource.
    resource_id: String,
    /// Why the item failed.
    #[serde(skip_serializing_if = "Option::is_none")]
    error: Option<ErrorBody>,
    /// What the caller should know about the resource.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    warnings: Vec<WarningBody>,
}

impl ImportResult {
    /// Returns the outcomes of an import; `None` for other operations.
    pub(crate) fn of(work: &GroupWork) -> Option<Self> {
        let Task::Import(items) = &work.task else {
            return None;
        };
        let mut result = Self::default();
        for (index, outcome) in &work.outcomes {
            let Some(item) = items.get(*index) else {
                continue;
            };
            let mut warnings = Vec::new();
            let (list, failure) = match outcome {
                ImportOutcome::Imported => (&mut result.imported, None),
                ImportOutcome::ImportedWithWarnings(told) => {
                    warnings.clone_from(told);
                    (&mut result.imported, None)
                }
                ImportOutcome::Missing => (&mut result.missing, None),
                ImportOutcome::AlreadyTracked => (&mut result.already_tracked, None),
                ImportOutcome::Failed(failure) => (&mut result.failed, Some(failure.clone())),
            };
            let type_name = &item.reference.type_name;
            list.push(ImportResultItem {
                index: *index,
                alias: item.reference.alias.clone(),
                id: item.reference.to_string(),
                resource_id: item.scope.resource(type_name, &item.identifier),
                error: failure.map(ErrorBody::from),
                warnings: warnings.into_iter().map(WarningBody::from).collect(),
            });
        }
        Some(result)
    }
}
