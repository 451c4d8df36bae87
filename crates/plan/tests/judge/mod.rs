//! Checks a plan against the expectations of a vector, independently of the plan engine.

#![allow(
    clippy::unwrap_used,
    dead_code,
    reason = "each test binary uses a part, and a test may panic"
)]

use std::sync::Arc;

use serde_json::Value;
use ucp_model::{Baseline, Digest, TypeName, json};
use ucp_plan::{Action, Desired, Mode, Plan, plan};
use ucp_schema::{Catalogue, Cursor, Declaration, ResourceSchema};

/// A parsed vector.
pub(crate) struct Case<'v> {
    vector: &'v Value,
    schema: Arc<ResourceSchema>,
}

impl<'v> Case<'v> {
    pub(crate) fn of(vector: &'v Value) -> Self {
        let name = TypeName::from_cloudformation(vector["typeName"].as_str().unwrap()).unwrap();
        let embedded = Catalogue::embedded().get(&name).unwrap();
        let schema = match vector.get("schemaPatch").and_then(Value::as_object) {
            None => embedded,
            Some(patch) => {
                let document = json::overlay(embedded.document().as_object().unwrap(), patch);
                let text = Value::Object(document).to_string();
                Arc::new(ResourceSchema::parse(&text).unwrap())
            }
        };
        Self { vector, schema }
    }

    pub(crate) fn plan(&self) -> Plan {
        let mode = match self.vector["mode"].as_str() {
            Some("replace") => Mode::Replace,
            _ => Mode::Merge,
        };
        let last = Some(&self.vector["lastApplied"]).filter(|last| !last.is_null());
        let last = last.map(|last| baseline(last, &self.schema));
        let live = Some(&self.vector["current"]).filter(|live| !live.is_null());
        plan(
            &desired(&self.vector["desired"], &self.schema),
            last.as_ref(),
            live,
            &self.schema,
            mode,
        )
    }

    /// Returns what is wrong with the plan, if anything.
    pub(crate) fn judge(&self) -> Result<(), String> {
        let plan = self.plan();
        let expected = &self.vector["expect"];
        let action = match plan.action {
            Action::Create => "create",
            Action::Update => "update",
            Action::Replace => "replace",
            Action::Noop => "noop",
            Action::Error => "error",
        };
        if expected["action"] != action {
            return Err(format!(
                "{action} instead of {}: {} {:?} {:?}",
                expected["action"],
                serde_json::to_string(&plan.patch).unwrap(),
                plan.replace_paths,
                plan.errors
            ));
        }
        if plan.action == Action::Replace {
            let paths: Vec<&str> = expected["replacePaths"]
                .as_array()
                .unwrap()
                .iter()
                .filter_map(Value::as_str)
                .collect();
            return if plan.replace_paths == paths {
                Ok(())
            } else {
                Err(format!("replaces {:?}, not {paths:?}", plan.replace_paths))
            };
        }
        if plan.action != Action::Update {
            return if plan.patch.0.is_empty() {
                Ok(())
            } else {
                Err("a patch that is not to be sent".to_owned())
            };
        }
        self.judge_patch(&plan)
    }

    fn judge_patch(&self, plan: &Plan) -> Result<(), String> {
        let expected = &self.vector["expect"];
        let patch = serde_json::to_value(&plan.patch).unwrap();
        let mut result = self.vector["current"].clone();
        json_patch::patch(&mut result, &plan.patch).map_err(|error| format!("{error}: {patch}"))?;
        if !json::equal(&result, &plan.planned) {
            return Err(format!("{patch} does not give {}", plan.planned));
        }
        let mut wanted = expected["result"].clone();
        for because in self.vector["because"].as_array().into_iter().flatten() {
            let at = because["path"].as_str().unwrap();
            let sides = [&self.vector["current"], &self.vector["desired"]];
            let Some(got) = result.pointer(at) else {
                continue;
            };
            if sides.iter().any(|side| side.pointer(at) == Some(got))
                && let Some(place) = wanted.pointer_mut(at)
            {
                *place = got.clone();
            }
        }
        if !same(&result, &wanted, self.schema.root()) {
            return Err(format!("{patch} gives {result}, not {wanted}"));
        }
        let paths: Vec<String> = plan
            .patch
            .0
            .iter()
            .map(|op| op.path().to_string())
            .collect();
        let is_below = |path: &str, above: &str| {
            path.strip_prefix(above)
                .is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
        };
        let listed = |keyword: &str| {
            let listed = expected[keyword].as_array().cloned().unwrap_or_default();
            listed
                .into_iter()
                .map(|path| path.as_str().unwrap().to_owned())
        };
        for untouched in listed("mustNotTouch") {
            if paths.iter().any(|path| is_below(path, &untouched)) {
                return Err(format!("touches {untouched}: {patch}"));
            }
        }
        for touched in listed("mustTouch") {
            if !paths
                .iter()
                .any(|path| is_below(path, &touched) || is_below(&touched, path))
            {
                return Err(format!("does not touch {touched}: {patch}"));
            }
        }
        match expected["maxOps"].as_u64() {
            Some(most) if paths.len() as u64 > most => {
                Err(format!("more than {most} operations: {patch}"))
            }
            _ => Ok(()),
        }
    }
}

/// A declaration whose digests are the plain values.
pub(crate) fn desired(properties: &Value, schema: &ResourceSchema) -> Desired {
    Desired::new(
        Declaration::unjudged(properties.clone()),
        schema,
        |_, value| Digest {
            key_id: "test".to_owned(),
            hmac: json::canonical(value),
        },
    )
}

pub(crate) fn baseline(properties: &Value, schema: &ResourceSchema) -> Baseline {
    desired(properties, schema).baseline
}

/// Compares values, ignoring the order of lists where the schema says that it is irrelevant.
fn same(one: &Value, other: &Value, cursor: Cursor<'_>) -> bool {
    match (one, other) {
        (Value::Object(one), Value::Object(other)) => {
            one.len() == other.len()
                && one.iter().all(|(name, value)| {
                    let cursor = cursor.member_or_anything(name);
                    other
                        .get(name)
                        .is_some_and(|other| same(value, other, cursor))
                })
        }
        (Value::Array(one), Value::Array(other)) if cursor.keeps_live_order() => {
            let mut left: Vec<&Value> = other.iter().collect();
            one.len() == other.len()
                && one.iter().all(|value| {
                    let place = left
                        .iter()
                        .position(|other| same(value, other, cursor.element()));
                    place.map(|place| left.swap_remove(place)).is_some()
                })
        }
        (Value::Array(one), Value::Array(other)) => {
            one.len() == other.len()
                && one
                    .iter()
                    .zip(other)
                    .all(|(one, other)| same(one, other, cursor.element()))
        }
        _ => json::equal(one, other),
    }
}
