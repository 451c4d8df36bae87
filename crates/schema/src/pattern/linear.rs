//! Matching in linear time. A pattern without look-around is matched by `regex`, whose time is linear in the text. Most
//! look-around of schemas is at a fixed distance from the start or the end of the text, as in `^(?!aws:).+$`; such a
//! pattern is the same as several without look-around that all have to match, or not to match.

use fancy_regex::{Assertion, Expr, LookAround};
use regex::Regex;

use super::budget::Budget;

/// The maximum number of parts into which a pattern is taken apart.
const MAX_PARTS: usize = 128;

/// A pattern, as a combination of patterns that are matched in linear time.
#[derive(Debug)]
pub(super) enum Linear {
    /// The text contains a match.
    Matches(Regex),
    /// All of these apply.
    All(Vec<Linear>),
    /// One of these applies.
    Any(Vec<Linear>),
    /// This does not apply.
    Not(Box<Linear>),
}

impl Linear {
    /// Compiles a pattern in our dialect. Returns `None` if it is not valid, cannot be matched in linear time, or takes up
    /// more than is left.
    pub(super) fn of(pattern: &str, budget: &mut Budget) -> Option<Self> {
        if let Some(regex) = budget.compile(pattern) {
            return Some(Self::Matches(regex));
        }
        let tree = Expr::parse_tree(pattern).ok()?;
        let parts_left = MAX_PARTS;
        let mut bounds = Bounds { parts_left, budget };
        take_apart(vec![plain(tree.expr)?], &mut bounds)
    }

    pub(super) fn applies(&self, text: &str) -> bool {
        match self {
            Self::Matches(regex) => regex.is_match(text),
            Self::All(parts) => parts.iter().all(|part| part.applies(text)),
            Self::Any(parts) => parts.iter().any(|part| part.applies(text)),
            Self::Not(part) => !part.applies(text),
        }
    }
}

/// Returns an expression without capturing groups. `None` if it has anything else than look-around that `regex` does
/// not support, such as back-references.
fn plain(expr: Expr) -> Option<Expr> {
    let all = |exprs: Vec<Expr>| exprs.into_iter().map(plain).collect::<Option<Vec<Expr>>>();
    Some(match expr {
        Expr::Empty
        | Expr::Any { .. }
        | Expr::Literal { .. }
        | Expr::Delegate { .. }
        | Expr::Assertion(Assertion::StartText | Assertion::EndText) => expr,
        Expr::Concat(parts) => Expr::Concat(all(parts)?),
        Expr::Alt(parts) => Expr::Alt(all(parts)?),
        Expr::Group(inner) => plain(inner.as_ref().clone())?,
        Expr::AstNode(fancy_regex::AstNode::AstGroup { inner, .. }, _) => plain(*inner)?,
        Expr::LookAround(inner, kind) => Expr::LookAround(Box::new(plain(*inner)?), kind),
        Expr::Repeat {
            child,
            lo,
            hi,
            greedy,
        } => Expr::Repeat {
            child: Box::new(plain(*child)?),
            lo,
            hi,
            greedy,
        },
        _ => return None,
    })
}

/// Returns a pattern that `regex` supports and that matches all that `pattern` does: the same without look-around. `None`
/// if there is none.
pub(super) fn without_look_around(pattern: &str, budget: &mut Budget) -> Option<String> {
    if budget.compile(pattern).is_some() {
        return Some(pattern.to_owned());
    }
    let tree = Expr::parse_tree(pattern).ok()?;
    let mut without = String::new();
    blind(plain(tree.expr)?).to_str(&mut without, 0);
    budget.compile(&without).map(|_| without)
}

/// Returns an expression without look-around.
fn blind(expr: Expr) -> Expr {
    let all = |exprs: Vec<Expr>| exprs.into_iter().map(blind).collect();
    match expr {
        Expr::LookAround(..) => Expr::Empty,
        Expr::Concat(parts) => Expr::Concat(all(parts)),
        Expr::Alt(parts) => Expr::Alt(all(parts)),
        Expr::Repeat {
            child,
            lo,
            hi,
            greedy,
        } => Expr::Repeat {
            child: Box::new(blind(*child)),
            lo,
            hi,
            greedy,
        },
        other => other,
    }
}

/// What is left for the parts of a pattern.
struct Bounds<'a> {
    parts_left: usize,
    budget: &'a mut Budget,
}

/// Takes a sequence of expressions apart.
fn take_apart(sequence: Vec<Expr>, bounds: &mut Bounds<'_>) -> Option<Linear> {
    bounds.parts_left = bounds.parts_left.checked_sub(1)?;
    let sequence = flat(sequence);
    if !sequence.iter().any(looks_around) {
        return matches(sequence, bounds.budget);
    }
    if let Some(at) = sequence.iter().position(is_choice) {
        return each_alternative(&sequence, at, bounds);
    }
    let (at, inner, kind) = sequence
        .iter()
        .enumerate()
        .find_map(|(at, expr)| match expr {
            Expr::LookAround(inner, kind) => Some((at, inner.as_ref().clone(), *kind)),
            _ => None,
        })?;
    let (before, after) = (&sequence[..at], &sequence[at + 1..]);
    if let ([], LookAround::LookAheadNeg, Some(other)) = (after, kind, other_than(&inner)) {
        return take_apart([before, &[other]].concat(), bounds);
    }
    let rest = [before, after].concat();
    let condition = match kind {
        LookAround::LookAhead | LookAround::LookAheadNeg => {
            let is_at_start = before.iter().all(is_start) && starts(&sequence);
            let is_at_distance = before.first().is_some_and(is_start) && has_fixed_length(before);
            if !is_at_start && !is_at_distance {
                return None;
            }
            let start = Expr::Assertion(Assertion::StartText);
            let place = if is_at_start {
                vec![start]
            } else {
                before.to_vec()
            };
            [place, vec![inner]].concat()
        }
        LookAround::LookBehind | LookAround::LookBehindNeg => {
            let is_at_end = matches!(after, [Expr::Assertion(Assertion::EndText)]);
            if !is_at_end {
                return None;
            }
            vec![inner, Expr::Assertion(Assertion::EndText)]
        }
    };
    let condition = take_apart(condition, bounds)?;
    let condition = match kind {
        LookAround::LookAhead | LookAround::LookBehind => condition,
        LookAround::LookAheadNeg | LookAround::LookBehindNeg => Linear::Not(Box::new(condition)),
    };
    let rest = if starts(&sequence) {
        [vec![Expr::Assertion(Assertion::StartText)], rest].concat()
    } else {
        rest
    };
    Some(Linear::All(vec![condition, take_apart(rest, bounds)?]))
}

/// Takes the sequence apart once for each alternative at `at`.
fn each_alternative(sequence: &[Expr], at: usize, bounds: &mut Bounds<'_>) -> Option<Linear> {
    let Expr::Alt(alternatives) = &sequence[at] else {
        return None;
    };
    let (before, after) = (&sequence[..at], &sequence[at + 1..]);
    let with = |alternative: &Expr| {
        let sequence = [before, std::slice::from_ref(alternative), after].concat();
        take_apart(sequence, bounds)
    };
    let alternatives: Option<Vec<Linear>> = alternatives.iter().map(with).collect();
    alternatives.map(Linear::Any)
}

/// Returns a sequence whose members are not sequences themselves.
fn flat(sequence: Vec<Expr>) -> Vec<Expr> {
    let members = sequence.into_iter().flat_map(|expr| match expr {
        Expr::Concat(inner) => flat(inner),
        Expr::Empty => Vec::new(),
        other => vec![other],
    });
    members.collect()
}

fn matches(sequence: Vec<Expr>, budget: &mut Budget) -> Option<Linear> {
    let mut pattern = String::new();
    Expr::Concat(sequence).to_str(&mut pattern, 0);
    budget.compile(&pattern).map(Linear::Matches)
}

/// Returns what follows if a character of the class `class` does not: another character, or the end.
fn other_than(class: &Expr) -> Option<Expr> {
    let Expr::Delegate { inner, casei } = class else {
        return None;
    };
    let members = inner.strip_prefix('[')?;
    let other = match members.strip_prefix('^') {
        Some(members) => format!("[{members}"),
        None => format!("[^{members}"),
    };
    let other = Expr::Delegate {
        inner: other,
        casei: *casei,
    };
    let end = Expr::Assertion(Assertion::EndText);
    Some(Expr::Alt(vec![other, end]))
}

fn looks_around(expr: &Expr) -> bool {
    let is_look = |expr: &Expr| matches!(expr, Expr::LookAround(..));
    is_look(expr) || expr.has_descendant(is_look)
}

/// Returns whether it consists of alternatives of which one looks around.
fn is_choice(expr: &Expr) -> bool {
    matches!(expr, Expr::Alt(_)) && looks_around(expr)
}

fn is_start(expr: &Expr) -> bool {
    matches!(expr, Expr::Assertion(Assertion::StartText))
}

/// Returns whether a sequence can match at the start of the text only. Look-around that comes first has no length.
fn starts(sequence: &[Expr]) -> bool {
    let first = sequence.iter().find(|expr| match expr {
        Expr::LookAround(inner, LookAround::LookAhead) => begins_with_start(inner),
        Expr::LookAround(..) => false,
        _ => true,
    });
    match first {
        Some(Expr::LookAround(..)) => true,
        Some(first) => begins_with_start(first),
        None => false,
    }
}

fn begins_with_start(expr: &Expr) -> bool {
    match expr {
        Expr::Concat(members) => members.first().is_some_and(begins_with_start),
        Expr::Alt(members) => members.iter().all(begins_with_start),
        other => is_start(other),
    }
}

/// Returns whether all texts that a sequence matches have the same number of characters.
fn has_fixed_length(sequence: &[Expr]) -> bool {
    sequence.iter().all(|expr| match expr {
        Expr::Empty | Expr::Any { .. } | Expr::Delegate { .. } | Expr::Assertion(_) => true,
        Expr::Literal { casei, .. } => !casei,
        Expr::Concat(members) => has_fixed_length(members),
        Expr::Repeat { child, lo, hi, .. } => {
            lo == hi && has_fixed_length(std::slice::from_ref(child))
        }
        _ => false,
    })
}
