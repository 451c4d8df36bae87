//! `propertyTransform`: how AWS stores what is declared.
//!
//! The expressions are JSONata with two additions: alternatives are joined by `$OR`, and a text may be a regular
//! expression. They are written from the object that holds the property or from the root of the model.

mod operands;
mod pattern;
mod result;
#[cfg(test)]
mod tests;

use std::sync::Arc;

use jsonata_core::ast::AstNode;
use jsonata_core::evaluator::{Context, Evaluator, EvaluatorOptions};
use jsonata_core::parser;
use jsonata_core::value::JValue;
use serde_json::Value;

use crate::pattern::Patterns;
use operands::{Operands, Scalars};
use pattern::LastPattern;

/// What joins alternatives.
const OR: &str = "$OR";

/// What one evaluation may take. Expressions need microseconds and a few levels; this is for one that would never end.
const BOUNDS: EvaluatorOptions = EvaluatorOptions {
    timeout_ms: Some(1_000),
    cancel: None,
    max_stack_depth: Some(1_000),
    max_sequence_length: Some(100_000),
};

/// How AWS stores a declared value, as a `propertyTransform` says.
#[derive(Debug)]
pub struct Transform {
    alternatives: Vec<Alternative>,
    /// The regular expressions that the alternatives search with, so no more than the schema has.
    patterns: Arc<Patterns>,
}

/// One expression, any of which may hold.
#[derive(Debug)]
struct Alternative {
    expression: AstNode,
    operands: Operands,
    /// Whether it calls `$match`.
    searches: bool,
    last_pattern: LastPattern,
}

impl Transform {
    /// Reads an expression with its `$OR` alternatives. Alternatives that cannot be parsed are left out and reported.
    pub fn parse(text: &str) -> (Self, Vec<String>) {
        let mut alternatives = Vec::new();
        let mut problems = Vec::new();
        for alternative in split(text) {
            match Alternative::parse(alternative) {
                Ok(alternative) => alternatives.push(alternative),
                Err(problem) => problems.push(format!("`{alternative}`: {problem}")),
            }
        }
        let patterns = Arc::default();
        let transform = Self {
            alternatives,
            patterns,
        };
        (transform, problems)
    }

    /// Whether `live` is what AWS makes of the declared value that stands in `parent`, which is an object inside `root`
    /// or `root` itself. An alternative that finds none of its operands, fails or results in nothing says nothing.
    pub fn gives(&self, root: &Value, parent: &Value, live: &Value) -> bool {
        let mut alternatives = self.alternatives.iter();
        alternatives.any(|alternative| alternative.gives(&self.patterns, root, parent, live))
    }
}

impl Alternative {
    fn parse(text: &str) -> Result<Self, parser::ParserError> {
        let mut expression = parser::parse(text)?;
        let operands = Operands::of(text, &expression);
        pattern::mark(&mut expression);
        Ok(Self {
            searches: text.contains("$match"),
            operands,
            expression,
            last_pattern: LastPattern::default(),
        })
    }

    fn gives(&self, patterns: &Arc<Patterns>, root: &Value, parent: &Value, live: &Value) -> bool {
        let gives = |context: &JValue| {
            let result = self.evaluate(patterns, context);
            result.is_some_and(|result| result::is(&result, live, &self.last_pattern))
        };
        let in_scalars = |scalars| self.operands.context([parent, root], scalars);
        let declared = in_scalars(Scalars::AsDeclared);
        if declared.as_ref().is_some_and(gives) {
            return true;
        }
        let as_text = in_scalars(Scalars::AsText);
        as_text != declared && as_text.as_ref().is_some_and(gives)
    }

    fn evaluate(&self, patterns: &Arc<Patterns>, context: &JValue) -> Option<JValue> {
        let mut evaluator = Evaluator::with_options(Context::new(), BOUNDS);
        if self.searches {
            let patterns = Arc::clone(patterns);
            let search = move |arguments: &[_]| Ok(pattern::search(&patterns, arguments));
            evaluator.register_fn_override("match", search).ok()?;
        }
        evaluator.evaluate(&self.expression, context).ok()
    }
}

/// The alternatives of an expression. `$ORDER` is a variable.
fn split(text: &str) -> impl Iterator<Item = &str> {
    let is_joint = |at: &usize| {
        let mut after = text[at + OR.len()..].chars();
        !after
            .next()
            .is_some_and(|letter| letter.is_alphanumeric() || letter == '_')
    };
    let joints = text.match_indices(OR).map(|(at, _)| at).filter(is_joint);
    let ends = joints.chain([text.len()]);
    ends.scan(0, move |start, end| {
        let alternative = &text[*start..end];
        *start = end + OR.len();
        Some(alternative.trim())
    })
}
