//! The differences of two values. Common parts are left out.

use std::io::{self, Write};

use serde_json::{Map, Value};
use ucp_model::json;
use ucp_plan::SENSITIVE;
use ucp_schema::is_unknown;

use super::paper::{Mark, Paper};

/// The maximum width of a value on a single line.
const WIDTH: usize = 90;

/// The maximum number of pairs of elements to compare. Larger lists are shown in full.
const MOST_PAIRS: usize = 1_000_000;

/// The indentation of a value, its label and a note after it.
#[derive(Clone, Copy, Debug)]
pub struct Line<'a> {
    /// How deep it is nested.
    pub depth: usize,
    /// Such as `/CidrBlock: `; empty for an element of a list.
    pub label: &'a str,
    /// What follows it as a comment.
    pub note: &'a str,
}

impl Line<'_> {
    fn fits(self, text: &str) -> bool {
        4 * (self.depth + 1) + self.label.len() + text.len() <= WIDTH
    }
}

/// What stands in for a value that the declaration leaves open.
pub const LEFT_OPEN: &str = "(left open)";

/// Shows a value that exists only before or only after.
pub fn whole<W: Write>(
    paper: &mut Paper<W>,
    line: Line<'_>,
    mark: Mark,
    value: &Value,
) -> io::Result<()> {
    let text = inline(value);
    let is_open = is_container(value) && !line.fits(&text);
    if !is_open {
        return paper.line(
            line.depth,
            mark,
            &format!("{}{text}", line.label),
            line.note,
        );
    }
    framed(paper, line, mark, value, |paper, depth| {
        let each = |paper: &mut Paper<W>, label: &str, value| {
            whole(
                paper,
                Line {
                    depth,
                    label,
                    note: "",
                },
                mark,
                value,
            )
        };
        match value {
            Value::Object(members) => {
                for (name, value) in members {
                    each(paper, &label(name), value)?;
                }
            }
            Value::Array(elements) => {
                for value in elements {
                    each(paper, "", value)?;
                }
            }
            Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
        }
        Ok(())
    })
}

/// Shows a value that changes.
pub fn changed<W: Write>(
    paper: &mut Paper<W>,
    line: Line<'_>,
    before: &Value,
    after: &Value,
) -> io::Result<()> {
    match (before, after) {
        (Value::Object(old), Value::Object(new)) if !is_unknown(before) && !is_unknown(after) => {
            framed(paper, line, Mark::Change, after, |paper, depth| {
                members(paper, depth, old, new)
            })
        }
        (Value::Array(old), Value::Array(new)) => {
            framed(paper, line, Mark::Change, after, |paper, depth| {
                elements(paper, depth, old, new)
            })
        }
        _ => {
            let text = format!("{} -> {}", inline(before), inline(after));
            if line.fits(&text) || !is_container(before) && !is_container(after) {
                let text = format!("{}{text}", line.label);
                return paper.line(line.depth, Mark::Change, &text, line.note);
            }
            whole(paper, line, Mark::Remove, before)?;
            whole(paper, line, Mark::Add, after)
        }
    }
}

fn members<W: Write>(
    paper: &mut Paper<W>,
    depth: usize,
    before: &Map<String, Value>,
    after: &Map<String, Value>,
) -> io::Result<()> {
    let mut unchanged = 0;
    for (name, old) in before {
        let label = label(name);
        let line = Line {
            depth,
            label: &label,
            note: "",
        };
        match after.get(name) {
            Some(new) if json::equal(old, new) => unchanged += 1,
            Some(new) => changed(paper, line, old, new)?,
            None => whole(paper, line, Mark::Remove, old)?,
        }
    }
    for (name, new) in after {
        if !before.contains_key(name) {
            let label = label(name);
            whole(
                paper,
                Line {
                    depth,
                    label: &label,
                    note: "",
                },
                Mark::Add,
                new,
            )?;
        }
    }
    left_out(
        paper,
        depth,
        unchanged,
        ["unchanged member not shown", "unchanged members not shown"],
    )
}

fn elements<W: Write>(
    paper: &mut Paper<W>,
    depth: usize,
    before: &[Value],
    after: &[Value],
) -> io::Result<()> {
    let line = Line {
        depth,
        label: "",
        note: "",
    };
    let common = common(before, after);
    let (mut old, mut new) = (0, 0);
    for &(old_end, new_end) in common.iter().chain([&(before.len(), after.len())]) {
        let (gone, come) = (&before[old..old_end], &after[new..new_end]);
        let pairs = gone
            .iter()
            .zip(come)
            .take_while(|(gone, come)| are_alike(gone, come));
        let paired = pairs.clone().count();
        for (gone, come) in pairs {
            changed(paper, line, gone, come)?;
        }
        for gone in &gone[paired..] {
            whole(paper, line, Mark::Remove, gone)?;
        }
        for come in &come[paired..] {
            whole(paper, line, Mark::Add, come)?;
        }
        (old, new) = (old_end + 1, new_end + 1);
    }
    left_out(
        paper,
        depth,
        common.len(),
        [
            "unchanged element not shown",
            "unchanged elements not shown",
        ],
    )
}

/// Whether two elements are shown as a change of one into the other.
fn are_alike(one: &Value, other: &Value) -> bool {
    one.is_object() && other.is_object() || one.is_array() && other.is_array()
}

/// The longest common subsequence of two lists, as pairs of indexes.
fn common(before: &[Value], after: &[Value]) -> Vec<(usize, usize)> {
    if before.len().saturating_mul(after.len()) > MOST_PAIRS {
        return Vec::new();
    }
    let old: Vec<String> = before.iter().map(json::canonical).collect();
    let new: Vec<String> = after.iter().map(json::canonical).collect();
    // lengths[i][j] is the length of the longest common subsequence of old[i..] and new[j..].
    let mut lengths = vec![vec![0_usize; new.len() + 1]; old.len() + 1];
    for i in (0..old.len()).rev() {
        for j in (0..new.len()).rev() {
            lengths[i][j] = if old[i] == new[j] {
                lengths[i + 1][j + 1] + 1
            } else {
                lengths[i + 1][j].max(lengths[i][j + 1])
            };
        }
    }
    let mut pairs = Vec::new();
    let (mut i, mut j) = (0, 0);
    while i < old.len() && j < new.len() {
        if old[i] == new[j] {
            pairs.push((i, j));
            (i, j) = (i + 1, j + 1);
        } else if lengths[i + 1][j] >= lengths[i][j + 1] {
            i += 1;
        } else {
            j += 1;
        }
    }
    pairs
}

/// Shows an object or a list, with `within` between the brackets.
fn framed<W: Write>(
    paper: &mut Paper<W>,
    line: Line<'_>,
    mark: Mark,
    value: &Value,
    within: impl FnOnce(&mut Paper<W>, usize) -> io::Result<()>,
) -> io::Result<()> {
    let (open, close) = if value.is_array() {
        ("[", "]")
    } else {
        ("{", "}")
    };
    paper.line(
        line.depth,
        mark,
        &format!("{}{open}", line.label),
        line.note,
    )?;
    within(paper, line.depth + 1)?;
    paper.line(line.depth, Mark::Keep, close, "")
}

/// Notes how many items are left out; the texts are the singular and the plural.
pub fn left_out<W: Write>(
    paper: &mut Paper<W>,
    depth: usize,
    count: usize,
    [one, several]: [&str; 2],
) -> io::Result<()> {
    let what = if count == 1 { one } else { several };
    match count {
        0 => Ok(()),
        _ => paper.line(depth, Mark::Keep, "", &format!("({count} {what})")),
    }
}

fn is_container(value: &Value) -> bool {
    (value.is_object() || value.is_array()) && !is_unknown(value)
}

/// A value on one line.
fn inline(value: &Value) -> String {
    match value {
        Value::Object(_) if is_unknown(value) => "(known after apply)".to_owned(),
        Value::Object(members) => {
            let members: Vec<String> = members
                .iter()
                .map(|(name, value)| label(name) + &inline(value))
                .collect();
            format!("{{{}}}", members.join(", "))
        }
        Value::Array(elements) => {
            let elements: Vec<String> = elements.iter().map(inline).collect();
            format!("[{}]", elements.join(", "))
        }
        Value::String(text) if text == SENSITIVE || text == LEFT_OPEN => text.clone(),
        scalar => scalar.to_string(),
    }
}

/// The label of a member, quoted unless its name is plain.
fn label(name: &str) -> String {
    let is_plain = |letter: char| letter.is_alphanumeric() || "_-.".contains(letter);
    if !name.is_empty() && name.chars().all(is_plain) {
        format!("{name}: ")
    } else {
        format!("{}: ", Value::from(name))
    }
}
