//! AWS's rules for the models of creates and updates.

use json_patch::{Patch, PatchOperation};
use serde_json::Value;
use ucp_schema::{Classes, PropertyPath, Segment};

use super::resource::Resource;
use crate::exception::{Exception, ExceptionCode};
use crate::progress::HandlerErrorCode;
use crate::read_only::Assigner;
use crate::resource_type::ResourceType;
use crate::{identifiers, occurrences};

/// The failure of a handler.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct HandlerFailure {
    pub(super) code: HandlerErrorCode,
    pub(super) message: String,
}

/// Why a document is not carried out. Cloud Control refuses the call where it can, and otherwise the change fails.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Problem {
    /// The document cannot be read or applied.
    Malformed(String),
    /// The model violates the schema.
    Invalid(String),
    /// The change is of what cannot be changed.
    NotUpdatable(String),
}

impl From<Problem> for HandlerFailure {
    fn from(problem: Problem) -> Self {
        let (code, message) = match problem {
            Problem::Malformed(message) | Problem::Invalid(message) => {
                (HandlerErrorCode::InvalidRequest, message)
            }
            Problem::NotUpdatable(message) => (HandlerErrorCode::NotUpdatable, message),
        };
        Self { code, message }
    }
}

impl From<Problem> for Exception {
    fn from(problem: Problem) -> Self {
        match problem {
            Problem::Malformed(message) => Self::new(ExceptionCode::InvalidRequest, message),
            Problem::Invalid(message) => Self::new(ExceptionCode::Validation, message),
            Problem::NotUpdatable(message) => Self::new(ExceptionCode::NotUpdatable, message),
        }
    }
}

fn refused<T>(message: impl Into<String>) -> Result<T, Problem> {
    Err(Problem::Malformed(message.into()))
}

/// Reads a desired state, and checks it against the schema.
pub(super) fn desired(resource_type: &ResourceType, desired_state: &str) -> Result<Value, Problem> {
    let Ok(model) = serde_json::from_str::<Value>(desired_state) else {
        return refused("Invalid request provided: DesiredState is not a valid JSON document");
    };
    let read_only = occurrences::of_class(&resource_type.schema, Classes::READ_ONLY, &model);
    let mut violations: Vec<String> = read_only
        .iter()
        .map(|(place, _)| {
            let pointer = place.join("/");
            format!("#/{pointer}: read-only property cannot be specified")
        })
        .collect();
    violations.extend(resource_type.violations(&model));
    if violations.is_empty() {
        return Ok(model);
    }
    Err(model_validation_failed(&violations))
}

/// Builds the model of a new resource, and its key, from a [desired] state.
pub(super) fn created(
    resource_type: &ResourceType,
    mut model: Value,
    assigner: &Assigner<'_>,
) -> Result<(String, Value), Problem> {
    // Before the ARNs that contain the names, and for the names that AWS makes up.
    identifiers::fold(resource_type.name(), &mut model);
    assigner.complete(&mut model);
    identifiers::fold(resource_type.name(), &mut model);
    match resource_type.key_of(&model) {
        Some(key) => Ok((key, model)),
        None => refused("Invalid request provided: the primary identifier is not complete"),
    }
}

/// Applies a patch to a resource. As in Cloud Control, it applies to the readable properties only. Write-only
/// properties that the patch does not mention are kept.
pub(super) fn updated(
    resource: &Resource,
    patch_document: &str,
    assigner: &Assigner<'_>,
) -> Result<Value, Problem> {
    let resource_type = &*resource.resource_type;
    let schema = &resource_type.schema;
    let patch = match serde_json::from_str::<Patch>(patch_document) {
        Ok(patch) => patch,
        Err(error) => {
            let place = format!("line {} column {}", error.line(), error.column());
            return refused(format!(
                "Invalid patch document: not a JSON Patch at {place}"
            ));
        }
    };
    refuse_touched_read_only(resource_type, &patch)?;
    let before = resource.visible();
    let mut after = before.clone();
    if let Err(error) = json_patch::patch(&mut after, &patch) {
        return refused(format!("Invalid patch update: {error}"));
    }
    refuse_changed(resource_type, &before, &after)?;
    for class in [Classes::WRITE_ONLY, Classes::READ_ONLY] {
        for (place, value) in occurrences::of_class(schema, class, &resource.model) {
            let parent = place.split_last().map_or(&[][..], |(_, parent)| parent);
            let belongs = occurrences::get(&after, parent).is_some_and(Value::is_object);
            if belongs && occurrences::get(&after, &place).is_none() {
                occurrences::insert(&mut after, &place, value.clone());
            }
        }
    }
    let mut violations = resource_type.violations(&after);
    if !violations.is_empty() {
        // Ignore violations that existed before the patch, for example after a change out of band.
        let already = resource_type.violations(&resource.model);
        violations.retain(|violation| !already.contains(violation));
    }
    if !violations.is_empty() {
        return Err(model_validation_failed(&violations));
    }
    assigner.complete(&mut after);
    Ok(after)
}

fn model_validation_failed(violations: &[String]) -> Problem {
    Problem::Invalid(format!(
        "Model validation failed ({})",
        violations.join("\n")
    ))
}

/// Refuses operations that write to a read-only property or within it.
fn refuse_touched_read_only(resource_type: &ResourceType, patch: &Patch) -> Result<(), Problem> {
    let mut touched: Vec<String> = Vec::new();
    for operation in patch.iter() {
        let written = match operation {
            PatchOperation::Test(_) => vec![],
            PatchOperation::Move(moved) => vec![&*moved.from, &*moved.path],
            other => vec![other.path()],
        };
        for pointer in written {
            let tokens: Vec<String> = pointer
                .tokens()
                .map(|token| token.decoded().into_owned())
                .collect();
            let tokens: Vec<&str> = tokens.iter().map(String::as_str).collect();
            if resource_type.schema.lists(Classes::READ_ONLY, &tokens) {
                touched.push(format!("/properties{pointer}"));
            }
        }
    }
    if touched.is_empty() {
        return Ok(());
    }
    refused(format!(
        "Invalid patch update: readOnlyProperties [{}] cannot be updated",
        touched.join(", ")
    ))
}

/// Refuses a patch that changes the value of a read-only or create-only property, or of the identifier.
fn refuse_changed(
    resource_type: &ResourceType,
    before: &Value,
    after: &Value,
) -> Result<(), Problem> {
    let schema = &resource_type.schema;
    let list = |paths: Vec<&PropertyPath>| {
        let mut paths: Vec<String> = paths.into_iter().map(PropertyPath::to_string).collect();
        paths.dedup();
        paths.join(", ")
    };
    let invented: Vec<&PropertyPath> = schema
        .listed(Classes::READ_ONLY)
        .filter(|path| is_invented(path.segments(), before, after))
        .collect();
    if !invented.is_empty() {
        return refused(format!(
            "Invalid patch update: readOnlyProperties [{}] cannot be updated",
            list(invented)
        ));
    }
    let changed: Vec<&PropertyPath> = schema
        .listed(Classes::CREATE_ONLY)
        .chain(schema.primary_identifier())
        .filter(|path| is_changed(path.segments(), before, after))
        .collect();
    if changed.is_empty() {
        return Ok(());
    }
    Err(Problem::NotUpdatable(format!(
        "Invalid patch update: createOnlyProperties [{}] cannot be updated",
        list(changed)
    )))
}

/// Whether `after` has a value at `path` that `before` does not have there. AWS restores missing values, and elements
/// of arrays may move.
fn is_invented(path: &[Segment], before: &Value, after: &Value) -> bool {
    let mut known = values(path, before);
    values(path, after).into_iter().any(|value| {
        let place = known.iter().position(|candidate| *candidate == value);
        match place {
            Some(place) => {
                known.swap_remove(place);
                false
            }
            None => true,
        }
    })
}

/// Whether the values at `path` differ. Elements of arrays may move, and may be added or removed with their values.
fn is_changed(path: &[Segment], before: &Value, after: &Value) -> bool {
    let is_in_array = occurrences::of(path, before)
        .iter()
        .chain(&occurrences::of(path, after))
        .any(|(place, _)| place.len() > path.len())
        || path.contains(&Segment::Any);
    let count = |model| values(path, model).len();
    if count(before) == count(after) {
        is_invented(path, before, after)
    } else {
        !is_in_array
    }
}

fn values<'a>(path: &[Segment], model: &'a Value) -> Vec<&'a Value> {
    let found = occurrences::of(path, model).into_iter();
    found.map(|(_, value)| value).collect()
}
