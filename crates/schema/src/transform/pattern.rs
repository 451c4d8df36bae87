//! The regular expressions inside an expression.
//!
//! A text that an expression makes is part pattern, which the schema wrote, and part value, which the user declared.
//! The patterns are marked before the evaluation, so that afterwards the values are taken as they are: a description
//! with a `|` in it is no alternation.

use std::fmt;
use std::rc::Rc;
use std::sync::{Arc, Mutex, PoisonError};

use fancy_regex::{Captures, Regex, RegexBuilder};
use jsonata_core::ast::{AstNode, BinaryOp};
use jsonata_core::value::{JMap, JValue};

use crate::pattern::{Patterns, in_our_dialect};

/// What a marked pattern stands between: characters that Unicode keeps for a program's own use. Whoever declares them
/// writes a pattern too, for what is theirs alone.
const START: char = '\u{fdd0}';
const END: char = '\u{fdd1}';

/// Bounds on what is compiled and tried, since part of it comes from the user.
const MAX_LENGTH: usize = 8 * 1024;
const MAX_SIZE: usize = 1024 * 1024;
const MAX_STEPS: usize = 100_000;

/// Marks the patterns among the texts that become part of the expression's result.
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

/// Whether a text of a schema is a regular expression. A dot alone is a dot, and `$1` is what `$replace` puts in.
fn is_pattern(text: &str) -> bool {
    let has_operator = text.contains(['\\', '[', ']', '(', ')', '{', '}', '*', '+', '?', '|']);
    has_operator || text.starts_with('^') || text.ends_with('$')
}

/// The pattern that an expression made last. A declared element is held against every live one of its array.
#[derive(Default)]
pub(super) struct LastPattern(Mutex<Option<(String, Option<Arc<Regex>>)>>);

/// What a user declared is not shown.
impl fmt::Debug for LastPattern {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("LastPattern").finish_non_exhaustive()
    }
}

impl LastPattern {
    /// Whether `live` is the text that an expression made, or matches it in full.
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
    RegexBuilder::new(&format!(r"\A(?:{pattern})\z"))
        .backtrack_limit(MAX_STEPS)
        .delegate_size_limit(MAX_SIZE)
        .build()
        .ok()
}

/// `$match(text, regex)`, since that of the library cannot look ahead.
pub(super) fn search(patterns: &Patterns, arguments: &[JValue]) -> JValue {
    let [JValue::String(text), JValue::Regex { pattern, flags }] = arguments else {
        return JValue::Undefined;
    };
    let is_simple = flags.is_empty() && text.len() <= MAX_LENGTH;
    let Some(regex) = patterns.compiled(pattern).filter(|_| is_simple) else {
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
