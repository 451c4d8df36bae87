//! What has come of the latest change of an instance or a binding, or of the one that is asked for.

use ucp_model::operation::GroupWork;
use ucp_model::{BindingId, Change, ChangeKind, Failure, Operation, OperationId, ServiceInstance};

use super::refused::first_cause;
use super::{ServiceRejection, ServiceRequest};
use crate::ServiceCases;

/// What has come of a change.
#[derive(Clone, Debug)]
pub struct LastOperation {
    /// How far it is.
    pub progress: Progress,
    /// What there is to say of it.
    pub description: Option<String>,
    /// Whether it deletes.
    pub is_delete: bool,
    /// Whether the instance can be used, if its update or deletion has failed.
    pub instance_usable: Option<bool>,
    /// Why it failed, if it did.
    pub failure: Option<Failure>,
    /// Whether it is the update of an instance.
    pub is_update: bool,
}

/// How far a change is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Progress {
    /// It is under way.
    UnderWay,
    /// It has succeeded.
    Succeeded,
    /// It has failed, or was cancelled.
    Failed,
}

impl ServiceCases {
    /// Returns what has come of a change of an instance: of `operation`, or of the latest one if that is unknown.
    pub async fn last_operation_of_service(
        &self,
        request: &ServiceRequest<'_>,
        instance: &str,
        operation: Option<OperationId>,
    ) -> Result<LastOperation, ServiceRejection> {
        let id = request.instance_id(instance);
        let row = self.service_instance(&id).await?.filter(|row| row.id == id);
        let row = row.ok_or_else(|| super::instances::no_such_instance(instance))?;
        let asked = self.of_order(operation, &row, None).await?;
        self.told(&row.change, asked, true).await
    }

    /// Returns what has come of a change of a binding.
    pub async fn last_operation_of_binding(
        &self,
        request: &ServiceRequest<'_>,
        instance: &str,
        binding: &str,
        operation: Option<OperationId>,
    ) -> Result<LastOperation, ServiceRejection> {
        let missing = || {
            ServiceRejection::Missing(format!(
                "There is no binding '{binding}' of the instance '{instance}'."
            ))
        };
        let id = BindingId {
            instance: request.instance_id(instance),
            binding: binding.to_owned(),
        };
        let row = self.service_instance(&id.instance).await?;
        let row = row
            .filter(|row| row.id == id.instance)
            .ok_or_else(missing)?;
        let found = self.service_binding(&id).await?.filter(|it| it.id == id);
        let found = found.ok_or_else(missing)?;
        let asked = self.of_order(operation, &row, Some(binding)).await?;
        self.told(&found.change, asked, false).await
    }

    /// Returns the operation, if it is one of the instance or binding.
    async fn of_order(
        &self,
        operation: Option<OperationId>,
        row: &ServiceInstance,
        binding: Option<&str>,
    ) -> Result<Option<Operation>, ServiceRejection> {
        let Some(id) = operation else { return Ok(None) };
        let operation = self.get_operation(id).await?;
        Ok(operation.filter(|operation| {
            let order = operation.work.group().and_then(|work| work.order());
            order.is_some_and(|order| {
                order.instance == row.id && order.binding.as_deref() == binding
            })
        }))
    }

    async fn told(
        &self,
        change: &Change,
        asked: Option<Operation>,
        is_of_instance: bool,
    ) -> Result<LastOperation, ServiceRejection> {
        let is_latest = match &asked {
            Some(asked) => change.operation == Some(asked.header.id),
            None => true,
        };
        let operation = match (asked, change.operation) {
            (Some(asked), _) => Some(asked),
            (None, Some(latest)) => self.get_operation(latest).await?,
            (None, None) => None,
        };
        // What was asked for before is a creation that a deletion has cancelled, or is long over.
        let kind = if is_latest {
            change.kind
        } else {
            let work = operation.as_ref().and_then(|it| it.work.group());
            let order = work.and_then(GroupWork::order);
            order.map_or(change.kind, |order| order.kind)
        };
        let (progress, failure) = match (&operation, is_latest) {
            (_, true) if !change.is_running() => match change.failure() {
                Some(failure) => (Progress::Failed, Some(failure.clone())),
                None => (Progress::Succeeded, None),
            },
            (Some(operation), _) => match (operation.is_terminal(), operation.failure()) {
                (false, _) => (Progress::UnderWay, None),
                (true, None) => (Progress::Succeeded, None),
                (true, Some(failure)) => (Progress::Failed, Some(failure.clone())),
            },
            (None, _) => (Progress::UnderWay, None),
        };
        let failure = failure.map(|failure| first_cause(&failure));
        let description = match (&failure, progress, &operation) {
            (Some(failure), _, _) => Some(failure.message.clone()),
            (None, Progress::UnderWay, Some(operation)) => self.so_far(operation).await?,
            (None, Progress::Succeeded, Some(operation)) => self.left_to_others(operation).await?,
            (None, _, _) => None,
        };
        let has_failed = progress == Progress::Failed && is_of_instance;
        let instance_usable = match (&operation, kind) {
            (Some(operation), ChangeKind::Update | ChangeKind::Delete) if has_failed => {
                self.is_usable(operation).await?
            }
            _ => None,
        };
        Ok(LastOperation {
            progress,
            description,
            is_delete: kind == ChangeKind::Delete,
            is_update: kind == ChangeKind::Update,
            instance_usable,
            failure,
        })
    }

    /// Returns how far an order is, with the error of AWS after which it goes on.
    async fn so_far(&self, operation: &Operation) -> Result<Option<String>, ServiceRejection> {
        let work = operation.work.group().filter(|work| work.total > 0);
        let Some(work) = work else { return Ok(None) };
        let done = format!("{} of {} resources are done.", work.done, work.total);
        Ok(Some(match self.setback_of(operation).await? {
            Some(failure) => format!(
                "{done} AWS has answered: {}: {}",
                failure.code, failure.message
            ),
            None => done,
        }))
    }
}
