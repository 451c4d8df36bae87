//! A question: the desired, the last applied and the current properties.

use std::collections::BTreeMap;
use std::sync::Arc;

use serde::Deserialize;
use serde_json::value::RawValue;
use serde_json::{Map, Value};
use ucp_model::{Digest, TypeName, json};
use ucp_plan::{Desired, Mode, Plan};
use ucp_schema::{Declaration, ResourceSchema};

use super::problem::Problem;
use super::schemas::Schemas;

/// A line, with only its outermost object parsed, so that its `id` is known even if the rest is invalid.
#[derive(Debug, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub(super) struct Members<'l> {
    #[serde(borrow)]
    pub(super) id: Option<&'l RawValue>,
    type_name: Option<&'l RawValue>,
    mode: Option<&'l RawValue>,
    judge: Option<&'l RawValue>,
    default_tags: Option<&'l RawValue>,
    current: Option<&'l RawValue>,
    desired: Option<&'l RawValue>,
    last_applied: Option<&'l RawValue>,
    schema: Option<&'l RawValue>,
}

impl<'l> Members<'l> {
    /// Reads a line that is not blank.
    pub(super) fn of(line: &'l [u8]) -> Result<Self, Problem> {
        let text = std::str::from_utf8(line)
            .map_err(|error| Problem::Unreadable(format!("not UTF-8: {error}")))?;
        // serde would read an array as the members in order.
        if !text.trim_start().starts_with('{') {
            return Err(Problem::Unreadable("expected a JSON object".to_owned()));
        }
        serde_json::from_str(text).map_err(|error| unreadable(&error))
    }

    /// Whether the declaration is judged as a put judges it.
    pub(super) fn is_judged(&self) -> Result<bool, Problem> {
        Ok(read("judge", self.judge)?.unwrap_or_default())
    }

    pub(super) fn schema(&self, schemas: &mut Schemas) -> Result<Arc<ResourceSchema>, Problem> {
        let type_name: Option<String> = read("typeName", self.type_name)?;
        match (self.schema, type_name) {
            (Some(schema), type_name) => {
                let schema = schemas.given(schema.get())?;
                let own_name = schema.type_name();
                let is_own = |name: &String| {
                    let name = name.replacen('.', "::", 1).replacen('/', "::", 1);
                    name.eq_ignore_ascii_case(own_name.as_str())
                };
                match type_name.filter(|name| !is_own(name)) {
                    Some(other) => Err(Problem::InvalidSchema(format!(
                        "`schema` describes {own_name}, but `typeName` is {other:?}"
                    ))),
                    None => Ok(schema),
                }
            }
            (None, Some(type_name)) => {
                let type_name = TypeName::parse(&type_name)
                    .map_err(|error| Problem::UnknownType(error.to_string()))?;
                schemas.known(&type_name)
            }
            (None, None) => Err(Problem::Unreadable("`typeName` is missing".to_owned())),
        }
    }

    pub(super) fn question(&self) -> Result<Question, Problem> {
        let object = |name, text: Option<&RawValue>| match text {
            Some(text) => properties(text.get()).map_err(|problem| within(name, &problem)),
            None => Ok(None),
        };
        Ok(Question {
            desired: object("desired", self.desired)?.ok_or_else(|| {
                Problem::Unreadable("`desired`: expected an object, got nothing".to_owned())
            })?,
            current: object("current", self.current)?.map(Value::Object),
            last_applied: object("lastApplied", self.last_applied)?.map(Value::Object),
            default_tags: read("defaultTags", self.default_tags)?.unwrap_or_default(),
            mode: read("mode", self.mode)?.unwrap_or_default(),
        })
    }
}

/// The input of a plan.
pub(super) struct Question {
    pub(super) desired: Map<String, Value>,
    pub(super) default_tags: BTreeMap<String, String>,
    pub(super) current: Option<Value>,
    pub(super) last_applied: Option<Value>,
    pub(super) mode: Mode,
}

impl Question {
    /// Computes the plan, without judging what does not depend on live properties.
    pub(super) fn plan(self, schema: &ResourceSchema) -> Plan {
        let mut desired = Value::Object(self.desired);
        schema.add_default_tags(&mut desired, &self.default_tags);
        let last_applied = self
            .last_applied
            .map(|last_applied| declared(Declaration::unjudged(last_applied), schema).baseline);
        ucp_plan::plan(
            &declared(Declaration::unjudged(desired), schema),
            last_applied.as_ref(),
            self.current.as_ref(),
            schema,
            self.mode,
        )
    }
}

/// A declaration that is not stored, so that a value can serve as its own digest.
pub(super) fn declared(declaration: Declaration, schema: &ResourceSchema) -> Desired {
    Desired::new(declaration, schema, |_, value| Digest {
        key_id: "offline".to_owned(),
        hmac: json::canonical(value),
    })
}

/// Parses an object of properties; `None` for `null`.
pub(super) fn properties(text: &str) -> Result<Option<Map<String, Value>>, Problem> {
    object(serde_json::from_str(text).map_err(|error| unreadable(&error))?)
}

/// Checks that a value is an object of properties; `None` for `null`.
pub(super) fn object(value: Value) -> Result<Option<Map<String, Value>>, Problem> {
    match value {
        Value::Null => Ok(None),
        Value::Object(properties) => Ok(Some(properties)),
        Value::Bool(_) | Value::Number(_) | Value::String(_) | Value::Array(_) => Err(
            Problem::Unreadable("expected an object of properties".to_owned()),
        ),
    }
}

fn read<'l, T: Deserialize<'l>>(
    name: &str,
    member: Option<&'l RawValue>,
) -> Result<Option<T>, Problem> {
    let read = |text: &'l RawValue| serde_json::from_str(text.get());
    member
        .map(read)
        .transpose()
        .map_err(|error| within(name, &unreadable(&error)))
}

fn within(name: &str, problem: &Problem) -> Problem {
    Problem::Unreadable(format!("`{name}`: {problem}"))
}

fn unreadable(error: &serde_json::Error) -> Problem {
    Problem::Unreadable(error.to_string())
}
