use serde::Serialize;
use serde_json::Value;
use ucp_app::Status;
use ucp_model::operation::group::{ImportOutcome, Task};
use ucp_model::operation::{GroupWork, Kind, Work};
use ucp_model::{Ended, Operation};
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
        let polling = PollingPaths::from(&operation);
        let ended = operation.ended();
        let succeeded = ended == Some(&Ended::Succeeded);
        let (status, error) = (operation.status(), operation.failure().cloned());
        let is_terminal = ended.is_some();
        let Operation { header, work } = operation;
        let (resource_id, properties, percent_complete) = match work {
            Work::Resource(work) => {
                let target = match work.kind {
                    Kind::Put | Kind::Import => work.target(),
                    Kind::Delete => None,
                };
                let id =
                    target.map(|target| target.scope.resource(target.type_name, target.identifier));
                (id, work.result.filter(|_| succeeded), None)
            }
            Work::Group(work) => {
                let result = ImportResult::of(&work).filter(|_| is_terminal);
                let result = result.and_then(|result| serde_json::to_value(result).ok());
                let percent_complete = work.percent_complete();
                (Some(work.group.to_string()), result, Some(percent_complete))
            }
        };
        Self {
            id: polling.status,
            name: header.id.to_string(),
            status,
            start_time: header.accepted_at.to_string(),
            end_time: header.ended_at.map(|moment| moment.to_string()),
            resource_id,
            properties,
            percent_complete,
            error: error.map(ErrorBody::from),
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
    /// Its reference id.
    id: String,
    /// The AWS resource's id.
    resource_id: String,
    /// Why it failed.
    #[serde(skip_serializing_if = "Option::is_none")]
    error: Option<ErrorBody>,
}

impl ImportResult {
    /// The outcomes of an import; none when the operation is something else.
    pub(crate) fn of(work: &GroupWork) -> Option<Self> {
        let Task::Import(items) = &work.task else {
            return None;
        };
        let mut result = Self::default();
        for (index, outcome) in &work.outcomes {
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
