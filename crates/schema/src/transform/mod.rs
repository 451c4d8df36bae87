//! `propertyTransform`: how AWS stores a declared value.
//!
//! The expressions are JSONata with two additions: `$OR` joins alternatives, and a string may be a regular expression.
//! They are evaluated in the object that contains the property, or at the root of the model.

mod budget;
mod operands;
mod pattern;
mod result;
#[cfg(test)]
mod tests;

use std::sync::Arc;

use jsonata_core::ast::AstNode;
use jsonata_core::evaluator::{Context, Evaluator, EvaluatorError, EvaluatorOptions};
use jsonata_core::parser;
use jsonata_core::value::JValue;
use serde_json::Value;

use operands::{Operands, Scalars};
use pattern::{LastPattern, Searches};

/// The separator of alternatives.
const OR: &str = "$OR";

/// Bounds of one evaluation. Expressions need microseconds and a few levels; this stops one that would not end.
const BOUNDS: EvaluatorOptions = EvaluatorOptions {
    timeout_ms: Some(1_000),
    cancel: None,
    max_stack_depth: Some(1_000),
    max_sequence_length: Some(100_000),
};

/// The maximum size of what an expression reads, and may therefore multiply. AWS transforms names and small objects.
const MAX_OPERANDS: usize = 64 * 1024;

/// A parsed `propertyTransform`.
#[derive(Debug)]
pub struct Transform {
    alternatives: Vec<Alternative>,
    /// The regular expressions that the alternatives search with. All of them are from the schema.
    searches: Arc<Searches>,
}

/// One alternative expression.
#[derive(Debug)]
struct Alternative {
    expression: AstNode,
    operands: Operands,
    /// Whether it calls `$match`.
    searches: bool,
    /// Whether it spends a budget.
    is_guarded: bool,
    last_pattern: LastPattern,
}

impl Transform {
    /// Parses an expression with its `$OR` alternatives. Returns errors for the alternatives that cannot be parsed,
    /// which are dropped.
    pub fn parse(text: &str) -> (Self, Vec<String>) {
        let mut alternatives = Vec::new();
        let mut problems = Vec::new();
        for alternative in split(text) {
            match Alternative::parse(alternative) {
                Ok(alternative) => alternatives.push(alternative),
                Err(problem) => problems.push(format!("`{alternative}`: {problem}")),
            }
        }
        let transform = Self {
            alternatives,
            searches: Arc::default(),
        };
        (transform, problems)
    }

    /// Returns the size in characters of what the expression reads, at most: for each of its alternatives.
    pub fn size_of_operands(&self, root: &Value, parent: &Value) -> usize {
        let sizes = self.alternatives.iter();
        sizes
            .map(|alternative| alternative.operands.size([parent, root]))
            .fold(0, usize::saturating_add)
    }

    /// Returns whether `live` is the stored form of the declared value in `parent`, an object inside `root` or `root`
    /// itself. An alternative that finds none of its operands, or too large ones, fails or has no result is ignored.
    pub fn gives(&self, root: &Value, parent: &Value, live: &Value) -> bool {
        let mut alternatives = self.alternatives.iter();
        alternatives.any(|alternative| alternative.gives(&self.searches, root, parent, live))
    }
}

impl Alternative {
    fn parse(text: &str) -> Result<Self, String> {
        let mut expression = parser::parse(text).map_err(|error| error.to_string())?;
        let operands = Operands::of(text, &expression);
        pattern::mark(&mut expression);
        let is_guarded = budget::guarded(text, &mut expression)?;
        Ok(Self {
            searches: text.contains("$match"),
            is_guarded,
            operands,
            expression,
            last_pattern: LastPattern::default(),
        })
    }

    fn gives(&self, searches: &Arc<Searches>, root: &Value, parent: &Value, live: &Value) -> bool {
        if self.operands.size([parent, root]) > MAX_OPERANDS {
            return false;
        }
        let gives = |context: &JValue| {
            let result = self.evaluate(searches, context);
            result.is_ok_and(|result| result::is(&result, live, &self.last_pattern))
        };
        let in_scalars = |scalars| self.operands.context([parent, root], scalars);
        let declared = in_scalars(Scalars::AsDeclared);
        if declared.as_ref().is_some_and(gives) {
            return true;
        }
        let as_text = in_scalars(Scalars::AsText);
        as_text != declared && as_text.as_ref().is_some_and(gives)
    }

    fn evaluate(
        &self,
        searches: &Arc<Searches>,
        context: &JValue,
    ) -> Result<JValue, EvaluatorError> {
        let mut evaluator = Evaluator::with_options(Context::new(), BOUNDS);
        if self.searches {
            let searches = Arc::clone(searches);
            let search = move |arguments: &[_]| Ok(pattern::search(&searches, arguments));
            evaluator.register_fn_override("match", search)?;
        }
        if self.is_guarded {
            budget::give(&mut evaluator)?;
        }
        evaluator.evaluate(&self.expression, context)
    }
}

/// Splits an expression into its alternatives. `$ORDER` is a variable, not a separator.
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
