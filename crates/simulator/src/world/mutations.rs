//! CreateResource, UpdateResource, DeleteResource and CancelResourceRequest.

use std::sync::Arc;

use serde_json::Value;

use super::change::{Acceptance, Change};
use super::model;
use super::moment::Moment;
use super::resource::ResourceKey;
use super::state::{World, places, unsupported};
use crate::chance::Chance;
use crate::exception::{Exception, ExceptionCode};
use crate::faults::{Call, Cancelling, Orders};
use crate::progress::{Operation, OperationStatus};
use crate::read_only::Assigner;
use crate::request::{
    CreateResource, DeleteResource, Reply, Request, RequestToken, UpdateResource,
};
use crate::resource_type::ResourceType;

/// The maximum length of a document, in characters.
const DOCUMENT_MAX: usize = 262_144;
/// The maximum length of a client token, in characters.
const CLIENT_TOKEN_MAX: usize = 128;
/// The maximum length of an identifier, in characters.
const IDENTIFIER_MAX: usize = 1_024;

impl World {
    pub(super) fn create_resource(
        &mut self,
        input: &CreateResource,
        request: &Request,
        moment: &Moment<'_>,
    ) -> Result<Reply, Exception> {
        check_document(&input.desired_state, "desiredState")?;
        let resource_type = self.types.get(&input.type_name)?;
        if !resource_type.schema.is_provisionable() {
            return Err(unsupported(&input.type_name, "CREATE"));
        }
        if let Some(reply) = self.repeated(request, moment)? {
            return Ok(reply);
        }
        let desired = model::desired(&resource_type, &input.desired_state)?;
        Ok(self.accept(
            request,
            Operation::Create,
            resource_type,
            Some(desired),
            moment,
        ))
    }

    pub(super) fn update_resource(
        &mut self,
        input: &UpdateResource,
        request: &Request,
        moment: &Moment<'_>,
    ) -> Result<Reply, Exception> {
        check_identifier(&input.identifier)?;
        check_document(&input.patch_document, "patchDocument")?;
        let resource_type = self.types.get(&input.type_name)?;
        if !resource_type.schema.operations().contains(&"update") {
            return Err(unsupported(&input.type_name, "UPDATE"));
        }
        if let Some(reply) = self.repeated(request, moment)? {
            return Ok(reply);
        }
        let key = (
            input.type_name.clone(),
            resource_type.key(&input.identifier),
        );
        self.refuse_busy(&key, moment)?;
        let mut planned = None;
        if let Some(resource) = (self.region(&input.type_name, moment).resources)
            .existing()
            .get(&key)
        {
            let assigner = Assigner {
                resource_type: &resource_type,
                caller: moment.caller,
                now: moment.now,
                chance: Chance::new(moment.entropy, "simulator.rehearsal"),
                revision: 1,
            };
            planned = Some(model::updated(resource, &input.patch_document, &assigner)?);
        }
        Ok(self.accept(request, Operation::Update, resource_type, planned, moment))
    }

    pub(super) fn delete_resource(
        &mut self,
        input: &DeleteResource,
        request: &Request,
        moment: &Moment<'_>,
    ) -> Result<Reply, Exception> {
        check_identifier(&input.identifier)?;
        let resource_type = self.types.get(&input.type_name)?;
        if !resource_type.schema.handlers().delete {
            return Err(unsupported(&input.type_name, "DELETE"));
        }
        if let Some(reply) = self.repeated(request, moment)? {
            return Ok(reply);
        }
        let key = (
            input.type_name.clone(),
            resource_type.key(&input.identifier),
        );
        self.refuse_busy(&key, moment)?;
        Ok(self.accept(request, Operation::Delete, resource_type, None, moment))
    }

    pub(super) fn cancel_resource_request(
        &mut self,
        input: &RequestToken,
        moment: &Moment<'_>,
    ) -> Result<Reply, Exception> {
        let latency = self.settings.latency.clone();
        let (place, change) = self.change(&input.request_token, moment)?;
        match change.status {
            OperationStatus::Pending | OperationStatus::InProgress => {}
            // Cancellation is already in progress.
            OperationStatus::CancelInProgress => return Ok(Reply::Progress(change.event())),
            OperationStatus::Success
            | OperationStatus::Failed
            | OperationStatus::CancelComplete => {
                return Err(uncancellable(change, "can no longer be cancelled"));
            }
        }
        match change.orders.pending {
            None | Some(Cancelling::Accepted) => {}
            Some(Cancelling::Ignored) => return Ok(Reply::Progress(change.event())),
            Some(Cancelling::Refused) => {
                return Err(uncancellable(change, "cannot be cancelled"));
            }
        }
        let takes = Chance::new(moment.entropy, "simulator.latency").duration(&latency);
        let done_at = moment.now.after(takes);
        let region = self.regions.get_mut(&place);
        let cancelled = region.and_then(|region| {
            region.revise(&input.request_token, |change| {
                change.cancel(moment.now, done_at);
            })
        });
        match cancelled {
            Some(change) => Ok(Reply::Progress(change.event())),
            None => Err(Exception::new(ExceptionCode::InternalFailure, "")),
        }
    }

    /// Returns the reply to a request that repeats an earlier client token.
    fn repeated(&self, request: &Request, moment: &Moment<'_>) -> Result<Option<Reply>, Exception> {
        let Some(token) = request.client_token() else {
            return Ok(None);
        };
        let is_token = |byte: u8| byte.is_ascii_alphanumeric() || b"-+/=".contains(&byte);
        if token.is_empty() || token.len() > CLIENT_TOKEN_MAX || !token.bytes().all(is_token) {
            return Err(Exception::constraint(
                &format!("'{token}'"),
                "clientToken",
                "Member must satisfy regular expression pattern: [-A-Za-z0-9+/=]{1,128}",
            ));
        }
        let first = places(moment.caller).into_iter().find_map(|place| {
            let region = self.regions.get(&place)?;
            let change = region.change_of_client(token, moment.now)?;
            (change.asked_in == moment.caller.region).then_some(change)
        });
        let Some(first) = first else {
            return Ok(None);
        };
        if first.request == *request {
            return Ok(Some(Reply::Progress(first.event())));
        }
        Err(token_conflict(token, &first.request_token))
    }

    /// Refuses a mutation that was carried out, if a fault makes it conflict with its own client token.
    pub(super) fn unless_conflicting(
        &mut self,
        reply: Reply,
        request: &Request,
        moment: &Moment<'_>,
    ) -> Result<Reply, Exception> {
        let call = Call::new(moment.caller, request);
        match (&reply, request.client_token()) {
            (Reply::Progress(event), Some(token))
                if self.faults.conflicts(&call, moment.entropy) =>
            {
                Err(token_conflict(token, &event.request_token))
            }
            _ => Ok(reply),
        }
    }

    fn refuse_busy(&mut self, key: &ResourceKey, moment: &Moment<'_>) -> Result<(), Exception> {
        let (type_name, identifier) = key;
        match self.region(type_name, moment).change_in_flight(key) {
            None => Ok(()),
            Some(change) => Err(Exception::new(
                ExceptionCode::ConcurrentOperation,
                format!(
                    "Resource of type '{type_name}' with identifier '{identifier}' is being changed by the request with token {}",
                    change.request_token
                ),
            )),
        }
    }

    fn accept(
        &mut self,
        request: &Request,
        operation: Operation,
        resource_type: Arc<ResourceType>,
        model: Option<Value>,
        moment: &Moment<'_>,
    ) -> Reply {
        let call = Call::new(moment.caller, request);
        let mut orders = Orders::drawn(&mut self.faults, &call, moment.entropy);
        if let (None, Some(model)) = (&orders.failure, &model) {
            orders.failure = self.unmet((&resource_type, model), &call, moment);
        }
        let latency = orders.latency.as_ref();
        let latency = latency.unwrap_or(&self.settings.latency);
        let takes = Chance::new(moment.entropy, "simulator.latency").duration(latency);
        // Starting a handler takes a fraction of its running time.
        let starts = takes / 4;
        let mut change = Change::accepted(Acceptance {
            request_token: Chance::new(moment.entropy, "simulator.request-token").uuid(),
            request: request.clone(),
            operation,
            resource_type,
            desired: model.filter(|_| operation == Operation::Create),
            at: moment.now,
            asked_in: moment.caller.region.clone(),
            starts_at: moment.now.after(starts),
            ends_at: moment.now.after(takes),
            orders,
        });
        if is_empty_patch(request) {
            change.due = None;
        }
        let event = change.event();
        let number = self.next_change;
        self.next_change += 1;
        let type_name = change.resource_type.name().to_owned();
        self.region(&type_name, moment).accept(number, change);
        Reply::Progress(event)
    }
}

fn token_conflict(token: &str, request_token: &str) -> Exception {
    Exception::new(
        ExceptionCode::ClientTokenConflict,
        format!(
            "Client token {token} was already used for another request, whose request token is {request_token}"
        ),
    )
}

fn uncancellable(change: &Change, why: &str) -> Exception {
    Exception::new(
        ExceptionCode::Validation,
        format!(
            "Request with token {} is in status {} and {why}",
            change.request_token, change.status
        ),
    )
}

/// Whether an update has an empty patch. AWS leaves such requests PENDING.
fn is_empty_patch(request: &Request) -> bool {
    let Request::UpdateResource(input) = request else {
        return false;
    };
    serde_json::from_str::<json_patch::Patch>(&input.patch_document)
        .is_ok_and(|patch| patch.is_empty())
}

pub(super) fn check_identifier(identifier: &str) -> Result<(), Exception> {
    if (1..=IDENTIFIER_MAX).contains(&identifier.chars().count()) {
        return Ok(());
    }
    Err(Exception::constraint(
        &format!("'{identifier}'"),
        "identifier",
        &format!("Member must have length between 1 and {IDENTIFIER_MAX}"),
    ))
}

fn check_document(document: &str, member: &str) -> Result<(), Exception> {
    if (1..=DOCUMENT_MAX).contains(&document.chars().count()) {
        return Ok(());
    }
    // The document is never repeated, since it may contain secrets.
    Err(Exception::constraint(
        "'***'",
        member,
        &format!("Member must have length between 1 and {DOCUMENT_MAX}"),
    ))
}
