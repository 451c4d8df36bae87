//! The parameters of a plan, and the judgement of those of a request.

use std::sync::Arc;

use serde_json::{Map, Value, json};
use ucp_model::{excerpt, json as values, pointer};
use ucp_schema::reserved_member;

use crate::fields::listed;
use crate::limits::OBJECTIONS_MAX;
use crate::place::Place;
use crate::schema::judge::{Judge, Objection};

/// A parameter as a plan has it.
#[derive(Debug)]
pub(crate) struct Parameter {
    pub(crate) name: String,
    /// Where its value goes; `None` if only templates have it.
    pub(crate) place: Option<Place>,
    pub(crate) is_required: bool,
    pub(crate) is_updatable: bool,
    pub(crate) default: Option<Value>,
    /// The schema, as the catalog shows it.
    pub(crate) schema: Value,
    pub(crate) judge: Judge,
}

/// Parameters in the order of the file.
#[derive(Clone, Debug, Default)]
pub(crate) struct Parameters(pub(crate) Vec<Arc<Parameter>>);

/// Why parameters of an update are refused.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Refusal {
    /// They are not valid: all that is wrong.
    Invalid(Vec<Objection>),
    /// They are valid, but these change and cannot be updated.
    NotUpdatable(Vec<String>),
}

impl Parameters {
    pub(crate) fn get(&self, name: &str) -> Option<&Parameter> {
        let found = self.0.iter().find(|parameter| parameter.name == name);
        found.map(Arc::as_ref)
    }

    /// Returns the schema of the parameters of a creation.
    pub(crate) fn creation_schema(&self) -> Value {
        let required = self.0.iter().filter(|parameter| parameter.is_required);
        let required = required.map(|parameter| parameter.name.as_str());
        schema(self.0.iter(), required.collect())
    }

    /// Returns the schema of the parameters of an update.
    pub(crate) fn update_schema(&self) -> Value {
        let updatable = self.0.iter().filter(|parameter| parameter.is_updatable);
        let mut schema = schema(updatable, Vec::new());
        // What an update leaves out stays as it is, whatever the default.
        if let Some(Value::Object(properties)) = schema.get_mut("properties") {
            for property in properties.values_mut().filter_map(Value::as_object_mut) {
                property.shift_remove("default");
            }
        }
        schema
    }

    /// Returns the parameters of a creation, with defaults. `null` is the same as nothing.
    pub(crate) fn judge_creation(
        &self,
        given: &Map<String, Value>,
    ) -> Result<Map<String, Value>, Vec<Objection>> {
        let mut objections = self.invalid(given);
        let values = self.0.iter().filter_map(|parameter| {
            let given = given.get(&parameter.name).filter(|value| !value.is_null());
            let value = given.or(parameter.default.as_ref())?;
            Some((parameter.name.clone(), value.clone()))
        });
        let values: Map<String, Value> = values.collect();
        objections.extend(self.missing(&values));
        objections.truncate(OBJECTIONS_MAX);
        if objections.is_empty() {
            Ok(values)
        } else {
            Err(objections)
        }
    }

    /// Returns the parameters after an update to the plan that has these. `old` are those of the plan so far, and `current`
    /// their values. `None` if the request changes nothing, and the instance is not brought up to the files: what these
    /// have gained since then is not for such a request.
    pub(crate) fn judge_update(
        &self,
        old: &Self,
        (is_same_plan, is_brought_up): (bool, bool),
        current: &Map<String, Value>,
        given: &Map<String, Value>,
    ) -> Result<Option<Map<String, Value>>, Refusal> {
        let is_known = |name: &String| self.get(name).is_some();
        let mut asked = given.clone();
        // What the new plan lacks goes, whether the request says so or not.
        asked.retain(|name, value| {
            is_known(name)
                || !(value.is_null() && (old.get(name).is_some() || current.contains_key(name)))
        });
        let mut objections = self.invalid(&asked);
        let mut values = Map::new();
        let mut fixed = Vec::new();
        let mut is_changed = false;
        for parameter in &self.0 {
            let name = &parameter.name;
            let before = current.get(name);
            let after = match given.get(name) {
                None => before.or(parameter.default.as_ref()),
                Some(Value::Null) => parameter.default.as_ref(),
                value => value,
            };
            let changes = match (before, after) {
                (Some(before), Some(after)) => !values::equal(before, after),
                (None, None) => false,
                (Some(_), None) | (None, Some(_)) => true,
            };
            let is_asked = given.contains_key(name);
            is_changed |= is_asked && changes;
            if is_asked && changes && !parameter.is_updatable && old.get(name).is_some() {
                fixed.push(name.clone());
            }
            let is_kept = !is_asked && before.is_some();
            if let Some(kept) = after.filter(|_| is_kept && !is_same_plan)
                && !parameter.judge.accepts(kept)
            {
                let message = "has a value that the new plan does not allow; give another one";
                objections.push(Objection::new(pointer::join("", name), message));
            }
            if let Some(after) = after {
                values.insert(name.clone(), after.clone());
            }
        }
        let is_idle = is_same_plan && !is_brought_up && !is_changed;
        if !is_idle {
            objections.extend(self.missing(&values));
        }
        objections.truncate(OBJECTIONS_MAX);
        match (objections.is_empty(), fixed.is_empty()) {
            (false, _) => Err(Refusal::Invalid(objections)),
            (true, false) => Err(Refusal::NotUpdatable(fixed)),
            (true, true) => Ok((!is_idle).then_some(values)),
        }
    }

    /// Returns what is wrong with given values. `null` is no value.
    fn invalid(&self, given: &Map<String, Value>) -> Vec<Objection> {
        let mut objections = Vec::new();
        for (name, value) in given {
            let room = OBJECTIONS_MAX.saturating_sub(objections.len());
            if room == 0 {
                break;
            }
            let place = pointer::join("", name);
            let Some(parameter) = self.get(name) else {
                let message = format!("is not a parameter of the plan, which has {}", self.names());
                objections.push(Objection::new(place, message));
                continue;
            };
            if value.is_null() {
                continue;
            }
            let reserved = reserved(value, &place);
            if reserved.is_empty() {
                objections.extend(parameter.judge.objections(value, &place, room))
            } else {
                objections.extend(reserved.into_iter().take(room))
            }
        }
        objections
    }

    fn missing(&self, values: &Map<String, Value>) -> impl Iterator<Item = Objection> {
        let required = self.0.iter().filter(|parameter| parameter.is_required);
        let missing = required.filter(|parameter| !values.contains_key(&parameter.name));
        missing.map(|parameter| {
            Objection::new(
                pointer::join("", &parameter.name),
                "is required; give a value",
            )
        })
    }

    fn names(&self) -> String {
        let names: Vec<&str> = self.0.iter().map(|one| one.name.as_str()).collect();
        listed(&names)
    }
}

/// Returns objections to the objects that would stand for another value in a declaration.
fn reserved(value: &Value, above: &str) -> Vec<Objection> {
    let mut found = Vec::new();
    values::walk(value, |place, value| {
        if let Some(name) = value.as_object().and_then(reserved_member) {
            let message = format!("must not have the member `{}`", excerpt(name));
            found.push(Objection::new(format!("{above}{place}"), message));
        }
    });
    found
}

fn schema<'a>(parameters: impl Iterator<Item = &'a Arc<Parameter>>, required: Vec<&str>) -> Value {
    let properties = parameters.map(|one| (one.name.clone(), one.schema.clone()));
    let mut schema = json!({
        "$schema": "http://json-schema.org/draft-04/schema#",
        "type": "object",
        "properties": properties.collect::<Map<String, Value>>(),
    });
    if !required.is_empty() {
        schema["required"] = json!(required);
    }
    schema["additionalProperties"] = Value::Bool(false);
    schema
}
