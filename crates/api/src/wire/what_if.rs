//! What a put or an apply would do, in the shapes of ARM's what-if.

use std::time::Duration;

use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize};
use serde_json::{Map, Value, json};
use ucp_app::{
    Cause, ChangeKind, Delta, Effect, PLAN_LIFETIME, PLAN_LIFETIMES, ResourceChange, WhatIf,
};
use ucp_model::operation::ReplacementPolicy;
use ucp_model::{excerpt, pointer};
use ucp_wire::ErrorBody;
use utoipa::ToSchema;

use super::resources::ActionRequest;
use super::sets::SetRequest;
use super::track_records::TrackRecordBody;
use super::warning::WarningBody;
use crate::json::JsonObject;
use crate::members;
use crate::problem::Problem;

const SETTINGS: &str = "whatIfSettings";

/// The body of a `:whatIf` of a resource: that of a put, and these members. `{"$unknown": true}` stands for a value that is
/// not known yet.
#[derive(ToSchema)]
#[expect(dead_code, reason = "describes what is read in two parts")]
pub(crate) struct WhatIfRequest {
    #[serde(flatten)]
    put: ActionRequest,
    #[serde(flatten)]
    settings: WithSettings,
}

/// The body of the `:whatIf` of a resource group: that of an `:apply`, and these members. `{"$unknown": true}` stands for a
/// value that is not known yet.
#[derive(ToSchema)]
#[expect(dead_code, reason = "describes what is read in two parts")]
pub(crate) struct WhatIfSetRequest {
    #[serde(flatten)]
    set: SetRequest,
    #[serde(flatten)]
    settings: WithSettings,
}

/// What a `:whatIf` takes beside a declaration.
#[derive(ToSchema)]
#[serde(rename_all = "camelCase")]
#[expect(dead_code, reason = "describes what is read apart")]
struct WithSettings {
    /// What the reply shows.
    what_if_settings: Option<WhatIfSettings>,
}

/// What the reply to a `:whatIf` shows.
#[derive(Clone, Copy, Debug, Default, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct WhatIfSettings {
    /// Whether properties are shown; `FullResourcePayloads` by default.
    #[serde(default)]
    #[schema(value_type = Option<ResultFormat>)]
    result_format: ResultFormat,
    /// How long the plan may be used: an ISO 8601 duration of weeks, days, hours, minutes and seconds, from a second to
    /// seven days; an hour by default.
    #[serde(default, deserialize_with = "lifetime")]
    #[schema(value_type = Option<String>, example = "PT1H", pattern = "^P.+$")]
    plan_lifetime: Lifetime,
}

/// How long a plan may be used.
#[derive(Clone, Copy, Debug)]
struct Lifetime(Duration);

impl Default for Lifetime {
    fn default() -> Self {
        Self(PLAN_LIFETIME)
    }
}

fn lifetime<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Lifetime, D::Error> {
    let Some(text) = Option::<String>::deserialize(deserializer)? else {
        return Ok(Lifetime::default());
    };
    let [least, most] = PLAN_LIFETIMES;
    let lifetime = iso_duration(&text).filter(|lifetime| (least..=most).contains(lifetime));
    lifetime.map(Lifetime).ok_or_else(|| {
        let given = excerpt(&text);
        D::Error::custom(format!(
            "'{given}' is not an ISO 8601 duration from PT1S to P7D, such as PT1H."
        ))
    })
}

/// Parses an ISO 8601 duration of whole weeks, days, hours, minutes and seconds.
fn iso_duration(text: &str) -> Option<Duration> {
    let (date, time) = match text.strip_prefix('P')?.split_once('T') {
        Some((date, time)) if !time.is_empty() => (date, time),
        Some(_) => return None,
        None => (text.strip_prefix('P')?, ""),
    };
    if date.is_empty() && time.is_empty() {
        return None;
    }
    let days = in_seconds(date, &[('W', 7 * 24 * 60 * 60), ('D', 24 * 60 * 60)])?;
    let hours = in_seconds(time, &[('H', 60 * 60), ('M', 60), ('S', 1)])?;
    days.checked_add(hours).map(Duration::from_secs)
}

/// Adds up numbers with units, each at most once and in this order.
fn in_seconds(text: &str, units: &[(char, u64)]) -> Option<u64> {
    let (mut rest, mut sum) = (text, 0_u64);
    for (unit, seconds) in units {
        if let Some((number, after)) = rest.split_once(*unit) {
            let is_number = number.bytes().all(|byte| byte.is_ascii_digit());
            let number: u64 = number.parse().ok().filter(|_| is_number)?;
            sum = sum.checked_add(number.checked_mul(*seconds)?)?;
            rest = after;
        }
    }
    rest.is_empty().then_some(sum)
}

impl WhatIfSettings {
    /// Returns how long the plan may be used.
    pub(crate) fn lifetime(self) -> Duration {
        self.plan_lifetime.0
    }
}

/// Whether the reply to a `:whatIf` shows properties.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, ToSchema)]
enum ResultFormat {
    /// It shows them, before and after, and the differences.
    #[default]
    FullResourcePayloads,
    /// It names the resources alone. What exists and is declared is `Deploy`, whether it changes or not.
    ResourceIdOnly,
}

/// Takes the settings out of a body.
pub(crate) fn settings(body: &mut JsonObject) -> Result<WhatIfSettings, Problem> {
    let JsonObject(members, _) = body;
    let Some(settings) = members.shift_remove(SETTINGS).filter(|it| !it.is_null()) else {
        return Ok(WhatIfSettings::default());
    };
    #[derive(Deserialize)]
    struct Taken {
        #[serde(rename = "whatIfSettings")]
        settings: WhatIfSettings,
    }
    let body = Map::from_iter([(SETTINGS.to_owned(), settings)]);
    let taken: Taken = members::read(&Value::Object(body))?;
    Ok(taken.settings)
}

/// What would be done.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct WhatIfResult {
    /// `Succeeded`, or `Failed` if what is declared would fail.
    status: &'static str,
    /// Why it would fail.
    #[serde(skip_serializing_if = "Option::is_none")]
    error: Option<ErrorBody>,
    /// What would become of the resources.
    properties: WhatIfProperties,
}

/// What would become of the resources.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
struct WhatIfProperties {
    /// The id of the plan that was kept of it; absent if it failed, or if it is not known what would become of a resource.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(format = "uuid")]
    plan_id: Option<String>,
    /// The fingerprint of the plan.
    #[serde(skip_serializing_if = "Option::is_none")]
    fingerprint: Option<String>,
    /// Until when the plan may be used.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(format = DateTime, example = "2026-01-02T04:04:05Z")]
    expires_at: Option<String>,
    /// The resources: those that are put, in the order in which they are, then those that are deleted, then the others.
    changes: Vec<WhatIfChange>,
}

/// What would become of a resource.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct WhatIfChange {
    /// The id of the AWS resource; that of its reference while AWS has yet to name it.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(
        example = "/planes/aws/aws/accounts/123456789012/regions/us-west-2/providers/AWS.EC2/VPC/vpc-0a1b2c3d4e5f60718"
    )]
    resource_id: Option<String>,
    /// The reference id.
    #[serde(skip_serializing_if = "Option::is_none")]
    tracked_by: Option<String>,
    /// The reference id that it has until then, if an apply in mode `Complete` moves the reference: the set lists the resource
    /// under another alias.
    #[serde(skip_serializing_if = "Option::is_none")]
    moved_from: Option<String>,
    /// `Create`, `Delete`, `Modify`, `Move` if only the alias changes, `NoChange`, `Deploy`, `Ignore` or `Unsupported`.
    #[schema(example = "Modify")]
    change_type: &'static str,
    /// Why it is not known what would happen.
    #[serde(skip_serializing_if = "Option::is_none")]
    unsupported_reason: Option<String>,
    /// The resource as it is.
    #[serde(skip_serializing_if = "Option::is_none")]
    before: Option<Value>,
    /// The resource as it would be. Values that are known only then are `{"$unknown": true}`.
    #[serde(skip_serializing_if = "Option::is_none")]
    after: Option<Value>,
    /// The differences.
    #[serde(skip_serializing_if = "Option::is_none")]
    delta: Option<Vec<WhatIfPropertyChange>>,
    /// The properties that require a replacement, as `/properties/…`.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    replace_paths: Vec<String>,
    /// How the resource is replaced, if it has to be: `refuse`, `createBeforeDelete` or `deleteBeforeCreate`.
    #[serde(skip_serializing_if = "Option::is_none")]
    replacement: Option<&'static str>,
    /// JSON Pointers to the values of `after` that AWS assigns, so that they are not known yet.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    unknown: Vec<String>,
    /// JSON Pointers to the values that the declaration leaves open with `{"$unknown": true}`, or that refer to such: in `after`, or in
    /// the declaration if no read returns them. Nobody can approve a plan with one.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    withheld: Vec<String>,
    /// What the caller should know.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    warnings: Vec<WarningBody>,
    /// Whether AWS cannot be asked for a resource of this type: `before` is what was last declared by a put that succeeded.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    unreadable: bool,
    /// How good the plans of the puts of the type were, for a create or an update, if any were compared.
    #[serde(skip_serializing_if = "Option::is_none")]
    track_record: Option<TrackRecordBody>,
}

/// A difference in a resource.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
struct WhatIfPropertyChange {
    /// The place, dotted; in `children`, from the place above.
    #[schema(example = "properties.RetentionInDays")]
    path: String,
    /// The place, as a JSON Pointer into the properties.
    #[schema(example = "/RetentionInDays")]
    pointer: String,
    /// `Create`, `Delete`, `Modify`, `Array`, or `NoEffect` for what a put leaves as it is.
    #[schema(example = "Modify")]
    property_change_type: &'static str,
    /// The value before.
    #[serde(skip_serializing_if = "Option::is_none")]
    before: Option<Value>,
    /// The value after.
    #[serde(skip_serializing_if = "Option::is_none")]
    after: Option<Value>,
    /// The value that the last successful put declared.
    #[serde(skip_serializing_if = "Option::is_none")]
    last_applied: Option<Value>,
    /// Whose change it is: `Declaration` for the caller's, `Drift` for one of others, `NotApplied` for what was sent before
    /// and AWS never showed, `Schema` for what the type asks for.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(example = "Declaration")]
    cause: Option<&'static str>,
    /// Whether values are left out because no read returns them.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    sensitive: bool,
    /// The differences in the elements of a list.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(no_recursion)]
    children: Option<Vec<WhatIfPropertyChange>>,
}

impl WhatIfResult {
    pub(crate) fn new(what_if: WhatIf, settings: WhatIfSettings) -> Self {
        let (changes, plan) = (what_if.changes.into_iter(), what_if.plan);
        Self {
            status: match what_if.error {
                None => "Succeeded",
                Some(_) => "Failed",
            },
            error: what_if.error.map(ErrorBody::from),
            properties: WhatIfProperties {
                plan_id: plan.as_ref().map(|plan| plan.id.to_string()),
                fingerprint: plan.as_ref().map(|plan| plan.fingerprint.clone()),
                expires_at: plan.map(|plan| plan.expires_at.to_string()),
                changes: changes
                    .map(|change| WhatIfChange::new(change, settings.result_format))
                    .collect(),
            },
        }
    }
}

impl From<ResourceChange> for WhatIfChange {
    fn from(change: ResourceChange) -> Self {
        Self::new(change, ResultFormat::FullResourcePayloads)
    }
}

impl WhatIfChange {
    fn new(change: ResourceChange, format: ResultFormat) -> Self {
        let is_full = format == ResultFormat::FullResourcePayloads;
        let ResourceChange {
            type_name,
            scope,
            identifier,
            tracked_by,
            moved_from,
            kind,
            before,
            after,
            deltas,
            replace_paths,
            replacement,
            unknown,
            withheld,
            warnings,
            unreadable,
            track_record,
        } = change;
        let resource_id = identifier.map(|identifier| scope.resource(&type_name, &identifier));
        let tracked_by = tracked_by.map(|id| id.to_string());
        let (change_type, unsupported_reason) = match kind {
            ChangeKind::Create => ("Create", None),
            ChangeKind::Delete => ("Delete", None),
            ChangeKind::Modify | ChangeKind::Move | ChangeKind::NoChange if !is_full => {
                ("Deploy", None)
            }
            ChangeKind::Modify => ("Modify", None),
            ChangeKind::Move => ("Move", None),
            ChangeKind::NoChange => ("NoChange", None),
            ChangeKind::Ignore => ("Ignore", None),
            ChangeKind::Unsupported(reason) => ("Unsupported", Some(reason)),
        };
        let live = before.clone().map(Value::Object);
        let mut delta = Vec::new();
        for change in deltas {
            let tokens: Vec<String> = change.pointer.split('/').map(pointer::unescape).collect();
            let tokens = tokens.get(1..).unwrap_or_default();
            place(
                &mut delta,
                "properties",
                "",
                live.as_ref(),
                tokens,
                change.clone(),
            );
        }
        let wrapped = |properties: Option<Map<String, Value>>| {
            let properties = properties.filter(|_| is_full);
            properties.map(|properties| json!({ "properties": properties }))
        };
        Self {
            resource_id: resource_id.or_else(|| tracked_by.clone()),
            tracked_by,
            moved_from: moved_from.map(|id| id.to_string()),
            change_type,
            unsupported_reason,
            before: wrapped(before),
            after: wrapped(after),
            delta: (is_full && !delta.is_empty()).then_some(delta),
            replace_paths,
            replacement: replacement.map(|policy| match policy {
                ReplacementPolicy::Refuse => "refuse",
                ReplacementPolicy::CreateBeforeDelete => "createBeforeDelete",
                ReplacementPolicy::DeleteBeforeCreate => "deleteBeforeCreate",
            }),
            unknown,
            withheld,
            warnings: warnings.into_iter().map(WarningBody::from).collect(),
            unreadable,
            track_record: track_record.as_ref().map(TrackRecordBody::from),
        }
    }
}

impl WhatIfPropertyChange {
    /// A list, or an element of one, in which something changes.
    fn around(path: &str, pointer: &str, kind: &'static str) -> Self {
        Self {
            path: path.to_owned(),
            pointer: pointer.to_owned(),
            property_change_type: kind,
            before: None,
            after: None,
            last_applied: None,
            cause: None,
            sensitive: false,
            children: Some(Vec::new()),
        }
    }

    fn new(path: String, pointer: String, delta: Delta) -> Self {
        Self {
            path,
            pointer,
            property_change_type: match delta.effect {
                Effect::Create => "Create",
                Effect::Delete => "Delete",
                Effect::Modify => "Modify",
                Effect::None => "NoEffect",
            },
            before: delta.before,
            after: delta.after,
            last_applied: delta.last_applied,
            cause: Some(match delta.cause {
                Cause::Declaration => "Declaration",
                Cause::Drift => "Drift",
                Cause::NotApplied => "NotApplied",
                Cause::Schema => "Schema",
            }),
            sensitive: delta.is_sensitive,
            children: None,
        }
    }
}

/// Adds a difference below `path` and `pointer`, where `live` is. What is in a list is a child of that.
fn place(
    changes: &mut Vec<WhatIfPropertyChange>,
    path: &str,
    pointer: &str,
    live: Option<&Value>,
    tokens: &[String],
    delta: Delta,
) {
    let (mut path, mut at, mut live) = (path.to_owned(), pointer.to_owned(), live);
    let mut tokens = tokens;
    while let [token, rest @ ..] = tokens {
        if live.is_some_and(Value::is_array) {
            let list = child(changes, &path, &at, "Array");
            let at = pointer::join(&at, token);
            match rest {
                [] => list.push(WhatIfPropertyChange::new(token.clone(), at, delta)),
                [first, below @ ..] => {
                    let index = token.parse::<usize>().ok();
                    let element = live.and_then(|live| live.get(index?));
                    let changes = child(list, token, &at, "Modify");
                    let live = element.and_then(|element| element.get(first));
                    place(
                        changes,
                        first,
                        &pointer::join(&at, first),
                        live,
                        below,
                        delta,
                    );
                }
            }
            return;
        }
        path = if path.is_empty() {
            token.clone()
        } else {
            format!("{path}.{token}")
        };
        at = pointer::join(&at, token);
        live = live.and_then(|live| live.get(token.as_str()));
        tokens = rest;
    }
    changes.push(WhatIfPropertyChange::new(path, at, delta));
}

/// Returns the children of a change, which is added if it is not there.
fn child<'a>(
    changes: &'a mut Vec<WhatIfPropertyChange>,
    path: &str,
    pointer: &str,
    kind: &'static str,
) -> &'a mut Vec<WhatIfPropertyChange> {
    let found = changes.iter().position(|change| {
        change.pointer == pointer
            && change.property_change_type == kind
            && change.children.is_some()
    });
    let index = found.unwrap_or_else(|| {
        changes.push(WhatIfPropertyChange::around(path, pointer, kind));
        changes.len() - 1
    });
    changes[index].children.get_or_insert_default()
}
