//! Regular expressions inside an expression.
//!
//! The resulting string of an expression consists of patterns from the schema and of values that the user declared.
//! The patterns are marked before the evaluation, so that values are matched literally: a `|` in a description is not
//! an alternation.

use std::collections::BTreeMap;
use std::fmt;
use std::rc::Rc;
use std::sync::{Arc, Mutex, PoisonError};

use fancy_regex::{Captures, Regex, RegexBuilder};
use jsonata_core::ast::{AstNode, BinaryOp};
use jsonata_core::value::{JMap, JValue};

use crate::pattern::in_our_dialect;

/// The delimiters of a marked pattern, noncharacters in Unicode. A user who declares them can write patterns too, but
/// only for the user's own resource.
const START: char = '\u{fdd0}';
const END: char = '\u{fdd1}';

/// Bounds on patterns and matching, since a part of a pattern comes from the user.
const MAX_LENGTH: usize = 8 * 1024;
const MAX_SIZE: usize = 1024 * 1024;
const MAX_STEPS: usize = 100_000;

/// Marks the patterns among the strings that become part of the expression's result.
pub(super) fn mark(node: &mut AstNode) {
    match node {
        AstNode::String(text) if is_pattern(text) => *text = format!("{START}{text}{END}"),
        AstNode::Function { name, args, .. } => match (name.as_str(), args.as_mut_slice()) {
            ("join", [AstNode::Array(parts), ..]) => parts.iter_mut().for_each(mark),
            ("replace", [text, _, replacement, ..]) => {
                [text, replacement].into_iter().for_each(mark)
            }
            ("lowercase" | "uppercase" | "string", [text]) => mark(text),
            _ => {}
        },
        AstNode::Binary {
            op: BinaryOp::Concatenate,
            lhs,
            rhs,
        } => [lhs, rhs].into_iter().for_each(|node| mark(node)),
        AstNode::Conditional {
            then_branch,
            else_branch,
            ..
        } => {
            mark(then_branch);
            else_branch.iter_mut().for_each(|node| mark(node));
        }
        AstNode::Block(nodes) => nodes.last_mut().into_iter().for_each(mark),
        _ => {}
    }
}

/// Returns whether a string in a schema is a regular expression. A single dot is literal, and `$1` is a group in
/// `$replace`.
fn is_pattern(text: &str) -> bool {
    let has_operator = text.contains(['\\', '[', ']', '(', ')', '{', '}', '*', '+', '?', '|']);
    has_operator || text.starts_with('^') || text.ends_with('$')
}

/// The last compiled pattern, kept because a declared element is compared with every live one of its array.
#[derive(Default)]
pub(super) struct LastPattern(Mutex<Option<(String, Option<Arc<Regex>>)>>);

/// Formats it without the pattern, which contains declared values.
impl fmt::Debug for LastPattern {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("LastPattern").finish_non_exhaustive()
    }
}

impl LastPattern {
    /// Returns whether `live` is equal to the resulting string of an expression, or matches it in full.
    pub(super) fn is_text(&self, made: &str, live: &str) -> bool {
        if !made.contains(START) {
            return made == live;
        }
        let matches = |regex: Arc<Regex>| regex.is_match(live).unwrap_or(false);
        made.replace([START, END], "") == live || self.compiled(made).is_some_and(matches)
    }

    fn compiled(&self, made: &str) -> Option<Arc<Regex>> {
        let mut last = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        match &*last {
            Some((known, regex)) if known == made => regex.clone(),
            _ => {
                let regex = compile(made).map(Arc::new);
                *last = Some((made.to_owned(), regex.clone()));
                regex
            }
        }
    }
}

fn compile(made: &str) -> Option<Regex> {
    if made.len() > MAX_LENGTH {
        return None;
    }
    let mut pattern = String::with_capacity(made.len() + 8);
    for (index, part) in made.split([START, END]).enumerate() {
        if index % 2 == 0 {
            pattern.push_str(&fancy_regex::escape(part));
        } else {
            pattern.push_str(&in_our_dialect(part));
        }
    }
    let unquoted = pattern
        .strip_prefix('"')
        .and_then(|rest| rest.strip_suffix('"'));
    let pattern = unquoted.unwrap_or(&pattern);
    bounded(&format!(r"\A(?:{pattern})\z"))
}

fn bounded(pattern: &str) -> Option<Regex> {
    RegexBuilder::new(pattern)
        .backtrack_limit(MAX_STEPS)
        .delegate_size_limit(MAX_SIZE)
        .build()
        .ok()
}

/// The regular expressions that the expressions of a schema search with, each compiled on first use.
#[derive(Debug, Default)]
pub(super) struct Searches(Mutex<BTreeMap<String, Option<Arc<Regex>>>>);

impl Searches {
    fn compiled(&self, pattern: &str) -> Option<Arc<Regex>> {
        let mut known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(regex) = known.get(pattern) {
            return regex.clone();
        }
        let regex = bounded(&in_our_dialect(pattern)).map(Arc::new);
        known.insert(pattern.to_owned(), regex.clone());
        regex
    }
}

/// Implements `$match(text, regex)`, since the library's version does not support look-ahead.
pub(super) fn search(searches: &Searches, arguments: &[JValue]) -> JValue {
    let [JValue::String(text), JValue::Regex { pattern, flags }] = arguments else {
        return JValue::Undefined;
    };
    let is_simple = flags.is_empty() && text.len() <= MAX_LENGTH;
    let Some(regex) = searches.compiled(pattern).filter(|_| is_simple) else {
        return JValue::Undefined;
    };
    let found = regex.captures_iter(&**text).map_while(Result::ok);
    JValue::sequence(found.map(|found| describe(&found)).collect())
}

fn describe(found: &Captures<'_, str>) -> JValue {
    let text = |group: Option<fancy_regex::Match<'_>>| match group {
        Some(group) => JValue::string(group.as_str()),
        None => JValue::Undefined,
    };
    let groups = found.iter().skip(1).map(text).collect();
    let members = [
        ("match".to_owned(), text(found.get(0))),
        ("groups".to_owned(), JValue::array(groups)),
    ];
    JValue::Object(Rc::new(JMap::from_iter(members)))
}
