use serde::Serialize;
use serde_json::Value;
use ucp_app::{AnyOperation, Status};
use ucp_model::group_operation::{ImportOutcome, Task};
use ucp_model::operation::Kind;
use ucp_model::{GroupOperation, Operation};
use utoipa::ToSchema;
use utoipa::openapi::{ObjectBuilder, Type};

use super::error::ErrorBody;
use crate::origin::BaseUrl;
use crate::polling_paths::PollingPaths;

/// The status of an operation.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct OperationStatus {
    /// Where the status is.
    #[schema(
        example = "/planes/radius/local/providers/System.Resources/locations/global/operationStatuses/2b1c5a52-93d1-4a0e-8b7c-0d6f0b1c2d3e"
    )]
    id: String,
    /// The operation's own id.
    #[schema(format = "uuid")]
    name: String,
    #[schema(schema_with = status_words)]
    status: &'static str,
    /// When it was accepted.
    #[schema(format = DateTime, example = "2026-01-02T03:04:05Z")]
    start_time: String,
    /// When it ended.
    #[schema(format = DateTime)]
    #[serde(skip_serializing_if = "Option::is_none")]
    end_time: Option<String>,
    /// The AWS resource's id, once known.
    #[serde(skip_serializing_if = "Option::is_none")]
    resource_id: Option<String>,
    /// The live properties, when a put succeeded.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<Object>)]
    properties: Option<Value>,
    /// How much of an operation on a group is done.
    #[serde(skip_serializing_if = "Option::is_none")]
    percent_complete: Option<u32>,
    /// Why it did not succeed.
    #[serde(skip_serializing_if = "Option::is_none")]
    error: Option<ErrorBody>,
}

impl OperationStatus {
    /// The same with a link to the page about the code of its error.
    pub(crate) fn explained(mut self, base_url: &BaseUrl) -> Self {
        self.error = self.error.map(|error| error.explained(base_url));
        self
    }
}

impl From<Operation> for OperationStatus {
    fn from(operation: Operation) -> Self {
        let target = match operation.kind {
            Kind::Put | Kind::Import => operation.target(),
            Kind::Delete => None,
        };
        let succeeded = operation.failure().is_none() && operation.state.is_terminal();
        Self {
            id: PollingPaths::from(&operation).status,
            name: operation.id.to_string(),
            status: operation.status(),
            start_time: operation.accepted_at.to_string(),
            end_time: operation.ended_at.map(|moment| moment.to_string()),
            resource_id: target
                .map(|target| target.scope.resource(target.type_name, target.identifier)),
            percent_complete: None,
            error: operation.failure().cloned().map(ErrorBody::from),
            properties: operation.result.filter(|_| succeeded),
        }
    }
}

impl From<GroupOperation> for OperationStatus {
    fn from(operation: GroupOperation) -> Self {
        let result = ImportResult::of(&operation).filter(|_| operation.is_terminal());
        Self {
            id: PollingPaths::from(&operation).status,
            name: operation.id.to_string(),
            status: operation.status(),
            start_time: operation.accepted_at.to_string(),
            end_time: operation.ended_at.map(|moment| moment.to_string()),
            resource_id: Some(operation.group.to_string()),
            percent_complete: Some(operation.percent_complete()),
            error: operation.failure().cloned().map(ErrorBody::from),
            properties: result.and_then(|result| serde_json::to_value(result).ok()),
        }
    }
}

impl From<AnyOperation> for OperationStatus {
    fn from(operation: AnyOperation) -> Self {
        match operation {
            AnyOperation::Resource(operation) => (*operation).into(),
            AnyOperation::Group(operation) => (*operation).into(),
        }
    }
}

fn status_words() -> ObjectBuilder {
    ObjectBuilder::new()
        .schema_type(Type::String)
        .description(Some(
            "What it does; `Succeeded`, `Failed` and `Canceled` end it.",
        ))
        .enum_values(Some(Status::ALL.map(Status::as_str)))
}

/// What an import into a group came to, item by item.
#[derive(Debug, Default, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct ImportResult {
    /// The alias stands for the resource now.
    imported: Vec<ImportResultItem>,
    /// AWS does not have the resource.
    missing: Vec<ImportResultItem>,
    /// The alias stood for a resource before, and was left as it is.
    already_tracked: Vec<ImportResultItem>,
    /// AWS refuses the read, or something stands in the way.
    failed: Vec<ImportResultItem>,
}

/// What one item of an import came to.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct ImportResultItem {
    /// Its place in the request.
    index: usize,
    /// The alias.
    #[schema(example = "my-vpc")]
    alias: String,
    /// Its tracking id.
    id: String,
    /// The AWS resource's id.
    resource_id: String,
    /// Why it failed.
    #[serde(skip_serializing_if = "Option::is_none")]
    error: Option<ErrorBody>,
}

impl ImportResult {
    /// The outcomes of an import; none when the operation is something else.
    pub(crate) fn of(operation: &GroupOperation) -> Option<Self> {
        let Task::Import(items) = &operation.task else {
            return None;
        };
        let mut result = Self::default();
        for (index, outcome) in &operation.outcomes {
            let Some(item) = items.get(*index) else {
                continue;
            };
            let (list, failure) = match outcome {
                ImportOutcome::Imported => (&mut result.imported, None),
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
            });
        }
        Some(result)
    }
}
