//! Files as values, each with its line.

use std::ops::Range;

use serde_json::{Map, Number, Value};
use toml::Spanned;
use toml::de::{DeTable, DeValue};

use crate::limits::{DEPTH_MAX, FILE_MAX_BYTES};
use crate::problem::Problems;

/// A file that describes an offering.
#[derive(Clone, Debug)]
pub struct SourceFile {
    /// The name, as messages tell it.
    pub name: String,
    /// The text, in TOML.
    pub text: String,
}

/// A value of a file.
#[derive(Clone, Debug)]
pub(crate) struct Node {
    pub(crate) line: usize,
    pub(crate) content: Content,
}

#[derive(Clone, Debug)]
pub(crate) enum Content {
    /// A text, a number or a truth value.
    Scalar(Value),
    List(Vec<Node>),
    /// The members as they are written.
    Table(Vec<Member>),
}

#[derive(Clone, Debug)]
pub(crate) struct Member {
    pub(crate) name: String,
    pub(crate) line: usize,
    pub(crate) node: Node,
}

impl Node {
    pub(crate) fn members(&self) -> Option<&[Member]> {
        match &self.content {
            Content::Table(members) => Some(members),
            Content::Scalar(_) | Content::List(_) => None,
        }
    }

    pub(crate) fn elements(&self) -> Option<&[Node]> {
        match &self.content {
            Content::List(elements) => Some(elements),
            Content::Scalar(_) | Content::Table(_) => None,
        }
    }

    pub(crate) fn text(&self) -> Option<&str> {
        match &self.content {
            Content::Scalar(value) => value.as_str(),
            Content::List(_) | Content::Table(_) => None,
        }
    }

    /// Returns it as JSON.
    pub(crate) fn to_json(&self) -> Value {
        match &self.content {
            Content::Scalar(value) => value.clone(),
            Content::List(elements) => elements.iter().map(Self::to_json).collect(),
            Content::Table(members) => Value::Object(to_object(members)),
        }
    }

    /// Returns the line of what is at a JSON Pointer, or of the deepest value above it.
    pub(crate) fn line_at(&self, pointer: &str) -> usize {
        let (mut node, mut line) = (self, self.line);
        for token in pointer.split('/').skip(1) {
            let name = ucp_model::pointer::unescape(token);
            let next = match &node.content {
                Content::Scalar(_) => None,
                Content::List(elements) => {
                    let element = name.parse().ok();
                    let element = element.and_then(|index: usize| elements.get(index));
                    element.map(|element| (element.line, element))
                }
                Content::Table(members) => members
                    .iter()
                    .find(|member| member.name == name)
                    .map(|member| (member.line, &member.node)),
            };
            let Some((at, next)) = next else { break };
            (line, node) = (at, next);
        }
        line
    }
}

/// Returns a table as JSON.
pub(crate) fn to_object(members: &[Member]) -> Map<String, Value> {
    let members = members.iter();
    members
        .map(|member| (member.name.clone(), member.node.to_json()))
        .collect()
}

/// Reads a file. `None` if it is not valid.
pub(crate) fn read(file: &SourceFile, problems: &mut Problems) -> Option<Node> {
    let text = file.text.as_str();
    if text.len() > FILE_MAX_BYTES {
        let message = format!("the file is larger than {FILE_MAX_BYTES} bytes; split it");
        problems.add(1, message);
        return None;
    }
    let lines = Lines::of(text);
    let (document, errors) = DeTable::parse_recoverable(text);
    if !errors.is_empty() {
        for error in errors {
            let line = error.span().map_or(1, |span| lines.of_span(&span));
            let message = error.message().replace('\n', ", ");
            problems.add(line, format!("this is not TOML: {message}"));
        }
        return None;
    }
    let mut reading = Reading {
        lines,
        problems,
        is_whole: true,
    };
    let content = reading.table(document.get_ref(), 0);
    reading.is_whole.then_some(Node { line: 1, content })
}

/// Where lines begin, in bytes.
struct Lines(Vec<usize>);

impl Lines {
    fn of(text: &str) -> Self {
        let breaks = text.match_indices('\n').map(|(at, _)| at + 1);
        Self(std::iter::once(0).chain(breaks).collect())
    }

    fn of_span(&self, span: &Range<usize>) -> usize {
        let Self(starts) = self;
        starts.partition_point(|start| *start <= span.start).max(1)
    }
}

struct Reading<'p> {
    lines: Lines,
    problems: &'p mut Problems,
    is_whole: bool,
}

impl Reading<'_> {
    fn table(&mut self, table: &DeTable<'_>, depth: usize) -> Content {
        let mut members: Vec<_> = table.iter().collect();
        members.sort_by_key(|(name, _)| name.span().start);
        let members = members.into_iter().map(|(name, value)| {
            let line = self.lines.of_span(&name.span());
            Member {
                name: name.get_ref().clone().into_owned(),
                line,
                node: self.node(value, line, depth + 1),
            }
        });
        Content::Table(members.collect())
    }

    fn node(&mut self, value: &Spanned<DeValue<'_>>, line: usize, depth: usize) -> Node {
        if depth > DEPTH_MAX {
            self.refuse(line, &format!("this is nested more than {DEPTH_MAX} deep"));
            return nothing(line);
        }
        let content = match value.get_ref() {
            DeValue::String(text) => Content::Scalar(Value::from(text.as_ref())),
            DeValue::Boolean(is_true) => Content::Scalar(Value::from(*is_true)),
            DeValue::Integer(integer) => {
                match i64::from_str_radix(integer.as_str(), integer.radix()) {
                    Ok(integer) => Content::Scalar(Value::from(integer)),
                    Err(_) => {
                        self.refuse(line, "the number is too large: it has 64 bits");
                        return nothing(line);
                    }
                }
            }
            DeValue::Float(float) => {
                let number = float.as_str().parse().ok().and_then(Number::from_f64);
                let Some(number) = number else {
                    self.refuse(line, "JSON has no such number");
                    return nothing(line);
                };
                Content::Scalar(Value::Number(number))
            }
            DeValue::Datetime(_) => {
                self.refuse(line, "JSON has no dates: write a text");
                return nothing(line);
            }
            DeValue::Array(elements) => {
                let elements = elements.iter().map(|element| {
                    let line = self.lines.of_span(&element.span());
                    self.node(element, line, depth + 1)
                });
                Content::List(elements.collect())
            }
            DeValue::Table(table) => self.table(table, depth),
        };
        Node { line, content }
    }

    fn refuse(&mut self, line: usize, message: &str) {
        self.is_whole = false;
        self.problems.add(line, message);
    }
}

fn nothing(line: usize) -> Node {
    Node {
        line,
        content: Content::Scalar(Value::Null),
    }
}
