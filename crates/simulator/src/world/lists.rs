//! GetResource, ListResources and ListResourceRequests.

use std::cmp::Reverse;
use std::time::Duration;

use serde_json::Value;

use super::change::Change;
use super::following;
use super::moment::Moment;
use super::mutations::check_identifier;
use super::resource::Resource;
use super::state::{World, place, places, unsupported};
use crate::exception::{Exception, ExceptionCode};
use crate::faults::{Call, Lag};
use crate::progress::ProgressEvent;
use crate::request::{
    Action, GetResource, ListResourceRequests, ListResources, Reply, ResourceDescription,
};
use crate::resource_type::ResourceType;

/// The maximum page size.
const PAGE_MAX: usize = 100;
/// The default page size.
const PAGE_DEFAULT: usize = 20;

impl World {
    pub(super) fn get_resource(
        &mut self,
        input: &GetResource,
        moment: &Moment<'_>,
    ) -> Result<Reply, Exception> {
        check_identifier(&input.identifier)?;
        let resource_type = self.types.get(&input.type_name)?;
        if !resource_type.schema.handlers().read {
            return Err(unsupported(&input.type_name, "READ"));
        }
        let key = (
            input.type_name.clone(),
            resource_type.key(&input.identifier),
        );
        let lag = self.lag(moment, Action::GetResource, (&key.0, Some(&key.1)));
        let resources = &self.region(&key.0, moment).resources;
        match resources.shown(&key, lag.as_ref(), moment.now) {
            Some(resource) => {
                let visible = resources.visible(&key, resource, lag.as_ref(), moment.now);
                Ok(Reply::Resource {
                    resource: described(resource, &key.1, &visible),
                    type_name: key.0,
                })
            }
            None => Err(Exception::new(
                ExceptionCode::ResourceNotFound,
                format!(
                    "Resource of type '{}' with identifier '{}' was not found.",
                    key.0, input.identifier
                ),
            )),
        }
    }

    pub(super) fn list_resources(
        &mut self,
        input: &ListResources,
        moment: &Moment<'_>,
    ) -> Result<Reply, Exception> {
        let resource_type = self.types.get(&input.type_name)?;
        if !resource_type.schema.handlers().list {
            return Err(unsupported(&input.type_name, "LIST"));
        }
        let size = page_size(input.max_results, PAGE_DEFAULT)?;
        let wanted = wanted_model(&resource_type, input.resource_model.as_deref())?;
        let after = page_start(input.next_token.as_deref())?.unwrap_or_default();
        let lag = self.lag(moment, Action::ListResources, (&input.type_name, None));
        let resources = &self.region(&input.type_name, moment).resources;
        let shown = resources.shown_of_type(&input.type_name, after, lag.as_ref(), moment.now);
        let matching =
            shown
                .filter(|(_, resource)| has(resource, &wanted))
                .map(|(key, resource)| {
                    let of_type = (input.type_name.clone(), key.to_owned());
                    let visible = resources.visible(&of_type, resource, lag.as_ref(), moment.now);
                    (key, described(resource, key, &visible))
                });
        let mut page: Vec<(&str, ResourceDescription)> = matching.take(size + 1).collect();
        let has_more = page.len() > size;
        page.truncate(size);
        let last = page.last().filter(|_| has_more);
        Ok(Reply::Resources {
            type_name: input.type_name.clone(),
            next_token: last.map(|(key, _)| hex::encode(key)),
            resources: page.into_iter().map(|(_, listed)| listed).collect(),
        })
    }

    /// Returns how a read of a type, or of the resource with a key, lags, if a fault hides anything from it.
    fn lag(
        &mut self,
        moment: &Moment<'_>,
        action: Action,
        (type_name, key): (&str, Option<&str>),
    ) -> Option<Lag> {
        self.faults.lags()?;
        let chance = moment.entropy.fraction("simulator.replica");
        let past = &self.regions.get(&place(type_name, moment.caller))?;
        let past = &past.resources.past;
        let call = Call {
            action,
            type_name: Some(type_name),
            caller: moment.caller,
        };
        self.faults.lag(&call, moment.entropy, chance, |lag| {
            let mut members = following::members(type_name);
            past.hides((type_name, key), lag, moment.now)
                || members.any(|member| past.hides((member, None), lag, moment.now))
        })
    }

    pub(super) fn list_resource_requests(
        &mut self,
        input: &ListResourceRequests,
        moment: &Moment<'_>,
    ) -> Result<Reply, Exception> {
        let size = page_size(input.max_results, PAGE_DEFAULT)?;
        let filter = input.resource_request_status_filter.clone();
        let filter = filter.unwrap_or_default();
        let before = match page_start(input.next_token.as_deref())? {
            None => u64::MAX,
            Some(number) => number.parse().map_err(|_| invalid_next_token())?,
        };
        let shown_at = moment.now.before(self.lag_of_requests(moment));
        let is_wanted = |change: &Change| {
            change.asked_in == moment.caller.region
                && change.accepted_at <= shown_at
                && agrees(filter.operations.as_deref(), &change.operation)
                && agrees(
                    filter.operation_statuses.as_deref(),
                    &change.status_at(shown_at),
                )
        };
        let mut requests = Vec::new();
        for place in places(moment.caller) {
            let region = self.regions.get(&place).into_iter();
            let changes = region.flat_map(|region| region.changes_before(before));
            let matching = changes.filter(|(_, change)| is_wanted(change));
            let page = matching.take(size + 1);
            let shown = |change: &Change| ProgressEvent {
                operation_status: change.status_at(shown_at),
                ..change.event()
            };
            requests.extend(page.map(|(number, change)| (number, shown(change))));
        }
        requests.sort_by_key(|(number, _)| Reverse(*number));
        let has_more = requests.len() > size;
        requests.truncate(size);
        let last = requests.last().filter(|_| has_more);
        Ok(Reply::Requests {
            next_token: last.map(|(number, _)| hex::encode(number.to_string())),
            requests: requests.into_iter().map(|(_, event)| event).collect(),
        })
    }
}

impl World {
    /// Returns how old a list of requests is, if a fault makes it lag.
    fn lag_of_requests(&mut self, moment: &Moment<'_>) -> Duration {
        let call = Call {
            action: Action::ListResourceRequests,
            type_name: None,
            caller: moment.caller,
        };
        let lag = self.faults.lag(&call, moment.entropy, 0.0, |_| true);
        lag.map_or(Duration::ZERO, |lag| {
            let (least, most) = (*lag.takes.start(), *lag.takes.end());
            let drawn = moment.entropy.fraction("simulator.lag-of-requests");
            least + most.saturating_sub(least).mul_f64(drawn)
        })
    }
}

fn described(resource: &Resource, key: &str, visible: &Value) -> ResourceDescription {
    ResourceDescription {
        identifier: resource.resource_type.answered(key),
        properties: visible.to_string(),
    }
}

/// Whether a filter accepts `value`. An empty filter accepts everything.
fn agrees<T: PartialEq>(wanted: Option<&[T]>, value: &T) -> bool {
    wanted.is_none_or(|wanted| wanted.is_empty() || wanted.contains(value))
}

pub(super) fn page_size(max_results: Option<i64>, default: usize) -> Result<usize, Exception> {
    let Some(asked) = max_results else {
        return Ok(default);
    };
    usize::try_from(asked)
        .ok()
        .filter(|size| (1..=PAGE_MAX).contains(size))
        .ok_or_else(|| {
            Exception::constraint(
                &format!("'{asked}'"),
                "maxResults",
                &format!("Member must have value between 1 and {PAGE_MAX}"),
            )
        })
}

/// Decodes a page token: the page begins after this item.
pub(super) fn page_start(next_token: Option<&str>) -> Result<Option<String>, Exception> {
    let Some(token) = next_token else {
        return Ok(None);
    };
    let bytes = hex::decode(token).ok();
    let text = bytes.and_then(|bytes| String::from_utf8(bytes).ok());
    text.map(Some).ok_or_else(invalid_next_token)
}

fn invalid_next_token() -> Exception {
    Exception::new(ExceptionCode::InvalidRequest, "Invalid NextToken")
}

/// Returns the properties that listed resources must have. Some list handlers require certain properties.
fn wanted_model(
    resource_type: &ResourceType,
    resource_model: Option<&str>,
) -> Result<Value, Exception> {
    let wanted = match resource_model.map(serde_json::from_str::<Value>) {
        None => Value::Null,
        Some(Ok(wanted)) if wanted.is_object() => wanted,
        Some(_) => {
            return Err(Exception::new(
                ExceptionCode::InvalidRequest,
                "ResourceModel is not a JSON object",
            ));
        }
    };
    let document = resource_type.schema.document();
    let required = document.pointer("/handlers/list/handlerSchema/required");
    let missing: Vec<&str> = required
        .and_then(Value::as_array)
        .into_iter()
        .flatten()
        .filter_map(Value::as_str)
        .filter(|name| wanted.get(name).is_none())
        .collect();
    if missing.is_empty() {
        return Ok(wanted);
    }
    Err(Exception::new(
        ExceptionCode::InvalidRequest,
        format!(
            "Missing or invalid ResourceModel property in {} list handler request input. Required property: [{}]",
            resource_type.name(),
            missing.join(", ")
        ),
    ))
}

/// Whether a resource matches the wanted properties. Those that it lacks are ignored: some list handlers require
/// properties that reads do not return.
fn has(resource: &Resource, wanted: &Value) -> bool {
    let mut members = wanted.as_object().into_iter().flatten();
    members.all(|(name, value)| {
        let own = resource.model.get(name);
        own.is_none_or(|own| own == value)
    })
}
