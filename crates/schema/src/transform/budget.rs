//! The memory that one evaluation takes. Most of JSONata makes no more text than it reads, and has a second for it. What can make
//! much of little, by joining a text with itself or by padding it, spends a budget: its operands are wrapped in a call that counts
//! them.

use std::cell::Cell;
use std::rc::Rc;

use jsonata_core::ast::{AstNode, BinaryOp, PathStep, Stage};
use jsonata_core::evaluator::{Evaluator, EvaluatorError};
use jsonata_core::value::JValue;

/// What all texts that one evaluation makes may have, in characters. Expressions of public types make some dozens.
const MAX_MADE: usize = 16 * 1024 * 1024;

/// The maximum length of a separator, and of what takes the place of a match.
const MAX_INSERTED: usize = 128;

/// What a value counts, whatever its length.
const SIZE_OF_VALUE: usize = 16;

/// Counts a value, as often as its second argument says, and returns it. A number that is counted no times is a width, and counts as
/// that.
const SPEND: &str = "ucp_spend";
/// Returns a value that may be inserted.
const INSERT: &str = "ucp_insert";

/// How often the first operand of a function may be in what it makes; `None` if it makes no more than it reads.
fn factor(function: &str) -> Option<usize> {
    match function {
        "join" => Some(MAX_INSERTED / SIZE_OF_VALUE),
        "replace" => Some(MAX_INSERTED),
        // Quotation marks and escapes.
        "string" => Some(6),
        "pad" => Some(0),
        "distinct" | "append" | "zip" => Some(1),
        _ => None,
    }
}

/// Returns whether the other operands of a function are in what it makes for each part of the first one.
fn inserts(function: &str) -> bool {
    matches!(function, "join" | "replace")
}

/// What makes much of little, or runs what was not looked at, and has no use in a transform.
const REFUSED: [&str; 6] = [
    "eval",
    "formatInteger",
    "encodeUrl",
    "encodeUrlComponent",
    "base64encode",
    "formatNumber",
];

/// Makes what can make much of little spend the budget. Returns whether there is any of it, or what cannot be bounded.
pub(super) fn guarded(text: &str, expression: &mut AstNode) -> Result<bool, String> {
    // A variable of that name would take the place of the function.
    match [SPEND, INSERT].iter().find(|name| text.contains(**name)) {
        Some(name) => Err(format!("`{name}` must not be in an expression")),
        None => guard(expression),
    }
}

fn guard(node: &mut AstNode) -> Result<bool, String> {
    if let AstNode::Binary {
        op: BinaryOp::ChainPipe,
        lhs,
        rhs,
    } = node
        && let AstNode::Function { name, args, .. } = rhs.as_mut()
    {
        return Ok(guard(lhs)? | guard_call(name, args, Some(lhs))?);
    }
    if let AstNode::Function { name, args, .. } = node {
        return guard_call(name, args, None);
    }
    let mut is_guarded = false;
    for child in children(node) {
        is_guarded |= guard(child)?;
    }
    match node {
        AstNode::Binary {
            // Comparisons take as long as what they compare is.
            op: BinaryOp::Concatenate | BinaryOp::Equal | BinaryOp::NotEqual | BinaryOp::In,
            lhs,
            rhs,
        } => {
            spend(lhs, 1);
            spend(rhs, 1);
            is_guarded = true;
        }
        // What is shared is counted in each place, so that nothing is too large to walk through.
        AstNode::Array(items) | AstNode::ArrayGroup(items) => {
            items.iter_mut().for_each(|item| spend(item, 1));
            is_guarded = true;
        }
        AstNode::Object(members) => {
            members.iter_mut().for_each(|(_, value)| spend(value, 1));
            is_guarded = true;
        }
        AstNode::Lambda { body, .. } => {
            spend(body, 1);
            is_guarded = true;
        }
        // What a step makes of each item is kept until the last one.
        AstNode::Path { steps } => {
            for step in steps {
                let made = match &mut step.node {
                    AstNode::FunctionApplication(applied) => applied.as_mut(),
                    node @ (AstNode::Function { .. } | AstNode::Block(_)) => node,
                    _ => continue,
                };
                spend(made, 1);
                is_guarded = true;
            }
        }
        AstNode::Descendant => return Err("`**` is not supported here".to_owned()),
        AstNode::Variable(name) if factor(name).is_some() || REFUSED.contains(&name.as_str()) => {
            return Err(format!("`${name}` can be called here, but not passed on"));
        }
        _ => {}
    }
    Ok(is_guarded)
}

/// Guards a call. What is piped into it is its first argument, and those that it has come after that.
fn guard_call(
    name: &str,
    args: &mut [AstNode],
    piped: Option<&mut AstNode>,
) -> Result<bool, String> {
    let mut is_guarded = false;
    for argument in &mut *args {
        is_guarded |= guard(argument)?;
    }
    if REFUSED.contains(&name) {
        return Err(format!("`${name}` is not supported here"));
    }
    let Some(factor) = factor(name) else {
        return Ok(is_guarded);
    };
    // `$replace` with fewer takes what the expression is at for the text.
    let given = args.len() + usize::from(piped.is_some());
    if args.contains(&AstNode::Placeholder) || name == "replace" && given < 3 {
        return Err(format!("`${name}` needs all its arguments here"));
    }
    if name == "string" && given > 1 {
        return Err("`$string` has one argument here".to_owned());
    }
    let inserts = inserts(name);
    let first = usize::from(piped.is_some());
    if let Some(piped) = piped {
        spend(piped, factor);
    }
    for (index, argument) in (first..).zip(&mut *args) {
        // With a number in the place of the text that is inserted, too, it takes what the expression is at.
        let is_text = name == "replace" && index == 2;
        if inserts && index > 0 {
            insert(argument, is_text)?
        } else {
            spend(argument, factor)
        }
    }
    Ok(true)
}

/// Has an operand counted. Literals are as long as the expression has them.
fn spend(operand: &mut AstNode, factor: usize) {
    let is_short = match operand {
        AstNode::String(text) => text.len() <= MAX_INSERTED,
        AstNode::Number(number) => number.abs() <= MAX_INSERTED as f64,
        AstNode::Regex { .. } | AstNode::Lambda { .. } => true,
        _ => false,
    };
    if !is_short {
        call(SPEND, operand, [AstNode::Number(factor as f64)]);
    }
}

/// Has a value judged that is inserted often. `is_text` says that it must not be a number.
fn insert(operand: &mut AstNode, is_text: bool) -> Result<(), String> {
    match operand {
        AstNode::String(text) if text.len() <= MAX_INSERTED => Ok(()),
        AstNode::Number(_) if is_text => {
            Err("a number cannot take the place of a match here".to_owned())
        }
        AstNode::Number(_) | AstNode::Boolean(_) | AstNode::Regex { .. } => Ok(()),
        AstNode::Lambda { .. } => Err("a function cannot say what is inserted here".to_owned()),
        _ => {
            call(INSERT, operand, [AstNode::Boolean(is_text)]);
            Ok(())
        }
    }
}

fn call(function: &str, operand: &mut AstNode, more: impl IntoIterator<Item = AstNode>) {
    let operand_itself = std::mem::replace(operand, AstNode::Null);
    *operand = AstNode::Function {
        name: function.to_owned(),
        args: [operand_itself].into_iter().chain(more).collect(),
        is_builtin: true,
    };
}

fn pairs(pairs: &mut [(AstNode, AstNode)]) -> impl Iterator<Item = &mut AstNode> {
    pairs.iter_mut().flat_map(|(key, value)| [key, value])
}

fn of_step(step: &mut PathStep) -> impl Iterator<Item = &mut AstNode> {
    let filters = step.stages.iter_mut().filter_map(|stage| match stage {
        Stage::Filter(filter) => Some(filter.as_mut()),
        Stage::KeepArray | Stage::Index(_) => None,
    });
    [&mut step.node].into_iter().chain(filters)
}

fn children(node: &mut AstNode) -> Vec<&mut AstNode> {
    match node {
        AstNode::Path { steps } => steps.iter_mut().flat_map(of_step).collect(),
        AstNode::Binary { lhs, rhs, .. } => vec![lhs, rhs],
        AstNode::Unary { operand, .. } => vec![operand],
        AstNode::Function { args, .. } => args.iter_mut().collect(),
        AstNode::Call { procedure, args } => [procedure.as_mut()].into_iter().chain(args).collect(),
        AstNode::Lambda { body, .. } => vec![body],
        AstNode::Array(nodes) | AstNode::Block(nodes) | AstNode::ArrayGroup(nodes) => {
            nodes.iter_mut().collect()
        }
        AstNode::Object(members) => pairs(members).collect(),
        AstNode::ObjectTransform { input, pattern } => {
            [input.as_mut()].into_iter().chain(pairs(pattern)).collect()
        }
        AstNode::Conditional {
            condition,
            then_branch,
            else_branch,
        } => [condition.as_mut(), then_branch.as_mut()]
            .into_iter()
            .chain(else_branch.as_deref_mut())
            .collect(),
        AstNode::FunctionApplication(applied) => vec![applied],
        AstNode::Sort { input, terms } => {
            let terms = terms.iter_mut().map(|(term, _)| term);
            [input.as_mut()].into_iter().chain(terms).collect()
        }
        AstNode::Transform {
            location,
            update,
            delete,
        } => [location.as_mut(), update.as_mut()]
            .into_iter()
            .chain(delete.as_deref_mut())
            .collect(),
        AstNode::String(_)
        | AstNode::Name(_)
        | AstNode::Number(_)
        | AstNode::Boolean(_)
        | AstNode::Null
        | AstNode::Undefined
        | AstNode::Placeholder
        | AstNode::Regex { .. }
        | AstNode::Variable(_)
        | AstNode::ParentVariable(_)
        | AstNode::Wildcard
        | AstNode::Descendant
        | AstNode::Parent(_) => Vec::new(),
    }
}

/// Gives one evaluation its budget.
pub(super) fn give(evaluator: &mut Evaluator) -> Result<(), EvaluatorError> {
    let left = Rc::new(Cell::new(MAX_MADE));
    evaluator.register_fn(SPEND, move |arguments: &[JValue]| {
        let [value, JValue::Number(factor)] = arguments else {
            return Ok(JValue::Undefined);
        };
        let size = match value {
            JValue::Number(width) if *factor == 0.0 => width.abs() as usize,
            value => size(value, left.get()),
        };
        let spent = size.saturating_mul((*factor as usize).max(1));
        let Some(rest) = left.get().checked_sub(spent) else {
            return Err(too_much());
        };
        left.set(rest);
        Ok(value.clone())
    })?;
    evaluator.register_fn(INSERT, |arguments: &[JValue]| match arguments {
        [JValue::String(text), _] if text.len() > MAX_INSERTED => Err(too_much()),
        [JValue::Lambda(_) | JValue::Builtin { .. }, _] => Err(too_much()),
        [JValue::Number(_), JValue::Bool(true)] => Err(too_much()),
        [value, _] => Ok(value.clone()),
        _ => Ok(JValue::Undefined),
    })
}

fn too_much() -> EvaluatorError {
    EvaluatorError::EvaluationError("the expression makes too much text".to_owned())
}

/// Returns the size of a value in characters, or something larger than `most` if it has more: what stands in several places is counted
/// in each.
fn size(value: &JValue, most: usize) -> usize {
    let mut size_of = SIZE_OF_VALUE;
    match value {
        JValue::String(text) => size_of += text.len(),
        JValue::Array(items) => {
            for item in items.iter() {
                if size_of > most {
                    break;
                }
                size_of += size(item, most - size_of);
            }
        }
        JValue::Object(members) => {
            for (name, member) in members.iter() {
                if size_of > most {
                    break;
                }
                size_of += name.len() + size(member, most.saturating_sub(size_of + name.len()));
            }
        }
        _ => {}
    }
    size_of
}
