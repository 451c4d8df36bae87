use std::rc::Rc;

use jsonata_core::ast::{AstNode, PathStep};
use jsonata_core::value::{JMap, JValue};
use serde_json::{Number, Value};
use ucp_model::json;

/// The member that marks an unknown value.
const UNKNOWN: &str = "$unknown";

/// What a value counts, whatever its length.
const SIZE_OF_VALUE: usize = 16;

/// The maximum of integers that a float represents exactly.
const EXACT: u64 = 1 << 53;

/// How an expression sees declared numbers and Booleans.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Scalars {
    AsDeclared,
    /// As strings, since they may be declared where the schema has a string: `6` for the protocol `"6"`.
    AsText,
}

/// The paths in a model that an expression reads. The empty path is the model itself.
#[derive(Debug, Default)]
pub(super) struct Operands(Vec<Vec<String>>);

impl Operands {
    pub(super) fn of(text: &str, expression: &AstNode) -> Self {
        let mut operands = Self::default();
        operands.read(expression);
        if text.contains("$$") {
            operands.0.push(Vec::new());
        }
        operands.0.sort();
        operands.0.dedup();
        operands
    }

    /// Adds the paths that a node reads. Filters and later steps of a path read the result of the step before them.
    fn read(&mut self, node: &AstNode) {
        match node {
            AstNode::Path { steps } => match (names(steps), steps.first()) {
                (names, Some(first)) if names.is_empty() => self.read(&first.node),
                (names, _) => self.0.push(names),
            },
            AstNode::Name(name) => self.0.push(vec![name.clone()]),
            AstNode::Variable(name) if name.is_empty() => self.0.push(Vec::new()),
            AstNode::Wildcard | AstNode::Descendant => self.0.push(Vec::new()),
            AstNode::Binary { lhs, rhs, .. } => {
                self.read(lhs);
                self.read(rhs);
            }
            AstNode::Conditional {
                condition,
                then_branch,
                else_branch,
            } => {
                self.read(condition);
                self.read(then_branch);
                else_branch.iter().for_each(|node| self.read(node));
            }
            AstNode::Call { procedure, args } => {
                self.read(procedure);
                args.iter().for_each(|node| self.read(node));
            }
            AstNode::Function { args: nodes, .. }
            | AstNode::Array(nodes)
            | AstNode::ArrayGroup(nodes)
            | AstNode::Block(nodes) => nodes.iter().for_each(|node| self.read(node)),
            AstNode::Object(members) => members.iter().for_each(|(key, value)| {
                self.read(key);
                self.read(value);
            }),
            AstNode::Unary { operand: node, .. }
            | AstNode::Lambda { body: node, .. }
            | AstNode::ObjectTransform { input: node, .. }
            | AstNode::FunctionApplication(node)
            | AstNode::Sort { input: node, .. } => self.read(node),
            _ => {}
        }
    }

    /// Returns the size of the context of the evaluation in characters, a few for each value.
    pub(super) fn size(&self, models: [&Value; 2]) -> usize {
        let Some(model) = self.read_from(models) else {
            return 0;
        };
        if self.0.iter().any(Vec::is_empty) {
            return size(model);
        }
        let read = self.0.iter().filter_map(|path| path.first());
        let members = read.filter_map(|name| model.get(name));
        members.map(size).fold(0, usize::saturating_add)
    }

    /// Returns the first of `models` that declares one of the operands.
    fn read_from<'v>(&self, models: [&'v Value; 2]) -> Option<&'v Value> {
        let is_declared = |model: &&Value| self.0.iter().any(|path| declares(model, path));
        models.into_iter().find(is_declared)
    }

    /// Returns the context of the evaluation: the first of `models` that declares one of the operands, reduced to the
    /// members that are read. Returns `None` if no model declares any, or if JSONata cannot represent a value.
    pub(super) fn context(&self, models: [&Value; 2], scalars: Scalars) -> Option<JValue> {
        if self.0.is_empty() {
            return Some(JValue::Undefined);
        }
        let model = self.read_from(models)?;
        if self.0.iter().any(Vec::is_empty) {
            return in_jsonata(model, scalars);
        }
        let read = self.0.iter().filter_map(|path| path.first());
        let members = read.filter_map(|name| Some((name, model.get(name)?)));
        object(members, scalars)
    }
}

/// Returns the leading names of a path.
fn names(steps: &[PathStep]) -> Vec<String> {
    let mut names = Vec::new();
    for step in steps {
        let AstNode::Name(name) = &step.node else {
            break;
        };
        names.push(name.clone());
        if !step.stages.is_empty() {
            break;
        }
    }
    names
}

fn declares(model: &Value, path: &[String]) -> bool {
    match (model, path.split_first()) {
        (Value::Null, _) => false,
        (Value::Object(members), Some((name, rest))) => members
            .get(name)
            .is_some_and(|member| declares(member, rest)),
        (Value::Array(items), Some(_)) => items.iter().any(|item| declares(item, path)),
        (_, rest) => rest.is_none(),
    }
}

/// Converts a value to JSONata. Returns `None` for an unknown value and a number that no float represents exactly.
fn in_jsonata(value: &Value, scalars: Scalars) -> Option<JValue> {
    Some(match value {
        Value::Null => JValue::Null,
        Value::Bool(_) | Value::Number(_) if scalars == Scalars::AsText => {
            JValue::string(value.to_string())
        }
        Value::Bool(truth) => JValue::Bool(*truth),
        Value::Number(number) => JValue::Number(float(number)?),
        Value::String(text) => JValue::string(text.as_str()),
        Value::Array(items) => {
            let items = items.iter().map(|item| in_jsonata(item, scalars));
            JValue::array(items.collect::<Option<_>>()?)
        }
        Value::Object(members) if members.contains_key(UNKNOWN) => return None,
        Value::Object(members) => object(members, scalars)?,
    })
}

fn object<'a>(
    members: impl IntoIterator<Item = (&'a String, &'a Value)>,
    scalars: Scalars,
) -> Option<JValue> {
    let member = |(name, value): (&String, _)| Some((name.clone(), in_jsonata(value, scalars)?));
    let members: Option<JMap> = members.into_iter().map(member).collect();
    members.map(|members| JValue::Object(Rc::new(members)))
}

/// Returns the number of characters in a value, and [`SIZE_OF_VALUE`] for itself and each value in it.
fn size(value: &Value) -> usize {
    let own = SIZE_OF_VALUE + value.as_str().map_or(0, str::len);
    let children = json::children(value).map(|(_, child)| size(child));
    children.fold(own, usize::saturating_add)
}

fn float(number: &Number) -> Option<f64> {
    let float = number.as_f64()?;
    let is_small = number
        .as_i64()
        .is_some_and(|whole| whole.unsigned_abs() <= EXACT);
    let is_exact = || json::equal(&Value::from(float), &Value::Number(number.clone()));
    (is_small || is_exact()).then_some(float)
}
