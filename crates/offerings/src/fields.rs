//! The keys of a table.

use ucp_model::excerpt;

use crate::problem::Problems;
use crate::source::{Content, Member, Node};

/// A table of which keys are taken one after the other. Those that nobody takes are unknown.
pub(crate) struct Fields<'n> {
    /// What the table is, in messages.
    what: String,
    pub(crate) line: usize,
    members: &'n [Member],
    known: Vec<&'static str>,
}

impl<'n> Fields<'n> {
    /// Starts to read a table. `None` for a value that is none.
    pub(crate) fn of(
        node: &'n Node,
        line: usize,
        what: impl Into<String>,
        problems: &mut Problems,
    ) -> Option<Self> {
        let what = what.into();
        let Some(members) = node.members() else {
            problems.add(line, format!("{what} is a table: write members"));
            return None;
        };
        Some(Self {
            what,
            line,
            members,
            known: Vec::new(),
        })
    }

    /// Takes a key.
    pub(crate) fn take(&mut self, name: &'static str) -> Option<&'n Member> {
        if !self.known.contains(&name) {
            self.known.push(name);
        }
        self.find(name)
    }

    /// Returns a key without taking it.
    pub(crate) fn find(&self, name: &str) -> Option<&'n Member> {
        self.members.iter().find(|member| member.name == name)
    }

    /// Takes a text, and its line.
    pub(crate) fn text(
        &mut self,
        name: &'static str,
        problems: &mut Problems,
    ) -> Option<(&'n str, usize)> {
        let member = self.take(name)?;
        let text = member.node.text().filter(|text| !text.is_empty());
        if text.is_none() {
            let message = format!("`{name}` of {} is a text that is not empty", self.what);
            problems.add(member.line, message);
        }
        Some((text?, member.line))
    }

    /// Takes a text that must be there.
    pub(crate) fn needed(
        &mut self,
        name: &'static str,
        problems: &mut Problems,
    ) -> Option<(&'n str, usize)> {
        if self.find(name).is_none() {
            problems.add(self.line, format!("{} needs `{name}`", self.what));
        }
        self.text(name, problems)
    }

    /// Takes a truth value.
    pub(crate) fn flag(
        &mut self,
        name: &'static str,
        default: bool,
        problems: &mut Problems,
    ) -> bool {
        let Some(member) = self.take(name) else {
            return default;
        };
        match &member.node.content {
            Content::Scalar(serde_json::Value::Bool(is_true)) => *is_true,
            Content::Scalar(_) | Content::List(_) | Content::Table(_) => {
                let message = format!("`{name}` of {} is true or false", self.what);
                problems.add(member.line, message);
                default
            }
        }
    }

    /// Takes a table. Empty if there is none.
    pub(crate) fn table(&mut self, name: &'static str, problems: &mut Problems) -> &'n [Member] {
        self.given_table(name, problems).unwrap_or_default()
    }

    /// Takes a table, if there is one.
    pub(crate) fn given_table(
        &mut self,
        name: &'static str,
        problems: &mut Problems,
    ) -> Option<&'n [Member]> {
        let member = self.take(name)?;
        if member.node.members().is_none() {
            let message = format!("`{name}` of {} is a table", self.what);
            problems.add(member.line, message);
        }
        member.node.members()
    }

    /// Takes a list of texts, each with its line.
    pub(crate) fn texts(
        &mut self,
        name: &'static str,
        problems: &mut Problems,
    ) -> Vec<(&'n str, usize)> {
        let Some(member) = self.take(name) else {
            return Vec::new();
        };
        let elements = member.node.elements();
        let texts = elements.map(|elements| {
            let texts = elements.iter();
            let texts = texts.map(|element| Some((element.text()?, element.line)));
            texts.collect::<Option<Vec<_>>>()
        });
        texts.flatten().unwrap_or_else(|| {
            let message = format!("`{name}` of {} is a list of texts", self.what);
            problems.add(member.line, message);
            Vec::new()
        })
    }

    /// Tells of the keys that were not taken.
    pub(crate) fn finish(self, problems: &mut Problems) {
        for member in self.members {
            if !self.known.contains(&member.name.as_str()) {
                let message = format!(
                    "`{}` is not a key of {}, which has {}",
                    excerpt(&member.name),
                    self.what,
                    listed(&self.known)
                );
                problems.add(member.line, message);
            }
        }
    }
}

/// Returns names for a message.
pub(crate) fn listed<T: AsRef<str>>(names: &[T]) -> String {
    let names = names.iter();
    let names: Vec<String> = names.map(|name| format!("`{}`", name.as_ref())).collect();
    if names.is_empty() {
        "none".to_owned()
    } else {
        names.join(", ")
    }
}
