//! What names in references mean.

use std::collections::BTreeMap;

use ucp_model::{Detail, GroupId, ReferenceId};

use crate::address::address;
use crate::detail_code::DetailCode;
use crate::set::Member;

/// The most resources that a message names.
const NAMED: usize = 5;

/// A name that is not of the set: it has to be looked up.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Outside {
    /// An alias of the group, of any type, in lower case.
    Alias(String),
    /// The reference with this id.
    Reference(ReferenceId),
}

/// What a name means.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Meaning {
    /// A member of the set.
    Member(usize),
    /// Several members.
    Ambiguous(Vec<usize>),
    /// None of them.
    Outside(Outside),
    /// It cannot be a name, for this reason.
    Nothing(String),
}

/// The members of a set by their names.
#[derive(Debug, Default)]
pub(crate) struct Names {
    /// By symbolic name and alias, in lower case.
    by_name: BTreeMap<String, Vec<usize>>,
    /// By the key of the reference.
    by_key: BTreeMap<String, usize>,
    /// The keys of the references, in the order of the members.
    keys: Vec<String>,
}

impl Names {
    /// Returns the names of members, and the problem of each that has the name of one before it.
    pub(crate) fn of(members: &[Member]) -> (Self, Vec<Detail>) {
        let mut names = Self::default();
        let mut symbolic: BTreeMap<String, usize> = BTreeMap::new();
        let mut problems = Vec::new();
        for (index, member) in members.iter().enumerate() {
            let alias = &member.reference.alias;
            let key = member.reference.key();
            names.keys.push(key.clone());
            if let Some(first) = names.by_key.get(&key) {
                let message = format!(
                    "{} has the alias '{alias}' too, with the same type. Declare it once.",
                    members[*first].place
                );
                let place = format!("{}/alias", member.place);
                problems.push(Detail::at(DetailCode::DuplicateName, message, place));
                continue;
            }
            names.by_key.insert(key, index);
            names.add(alias, index);
            let Some(name) = &member.symbolic_name else {
                continue;
            };
            match symbolic.insert(name.to_lowercase(), index) {
                None => names.add(name, index),
                Some(first) => {
                    let message = format!(
                        "{} has the symbolic name '{name}' too. Choose another one.",
                        members[first].place
                    );
                    let place = format!("{}/symbolicName", member.place);
                    problems.push(Detail::at(DetailCode::DuplicateName, message, place));
                }
            }
        }
        (names, problems)
    }

    fn add(&mut self, name: &str, index: usize) {
        let members = self.by_name.entry(name.to_lowercase()).or_default();
        if !members.contains(&index) {
            members.push(index);
        }
    }

    /// Returns the key of the reference of a member.
    pub(crate) fn key(&self, member: usize) -> &str {
        &self.keys[member]
    }

    /// Returns the member that a reference id names.
    pub(crate) fn member(&self, id: &ReferenceId) -> Option<usize> {
        self.by_key.get(&id.key()).copied()
    }

    /// Returns what a name means in a set for `group`.
    pub(crate) fn meaning(&self, name: &str, group: &GroupId) -> Meaning {
        if let Some(members) = self.by_name.get(&name.to_lowercase()) {
            return match members[..] {
                [member] => Meaning::Member(member),
                _ => Meaning::Ambiguous(members.clone()),
            };
        }
        if !name.contains('/') {
            return Meaning::Outside(Outside::Alias(name.to_lowercase()));
        }
        match address(name, &group.plane, Some(group)) {
            Ok(id) => match self.member(&id) {
                Some(member) => Meaning::Member(member),
                None => Meaning::Outside(Outside::Reference(id)),
            },
            Err(why) => Meaning::Nothing(why),
        }
    }
}

/// Returns what is wrong with a name that several resources have.
pub fn ambiguous<'a>(name: &str, several: impl Iterator<Item = &'a ReferenceId>) -> String {
    let mut several = several.map(|id| format!("{}/{}", id.type_name.arm(), id.alias));
    let mut named: Vec<String> = several.by_ref().take(NAMED).collect();
    let more = several.count();
    if more > 0 {
        named.push(format!("{more} others"));
    }
    format!(
        "'{name}' may mean {}. Name one of these.",
        named.join(" or ")
    )
}
