//! A set as declared, and as linked.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use serde_json::{Map, Value};
use ucp_model::{Detail, ReferenceId, pointer};
use ucp_schema::ResourceSchema;

use crate::detail_code::DetailCode;
use crate::expression::{Address, Expression, Misread, below, renamed, visit};
use crate::graph::Graph;
use crate::limits::{MEMBERS_MAX, OUTPUTS_MAX, REFERENCES_MAX};
use crate::names::{Meaning, Names, Outside, ambiguous};
use crate::path;
use crate::set::{Goal, Member, Set};

const UNKNOWN: &str =
    "The value is not known yet. Apply the set once it is, or ask for its :whatIf.";

/// A set whose expressions are read, but not linked.
#[derive(Debug)]
pub struct Draft {
    set: Set,
    names: Names,
    uses: Vec<Use>,
    problems: Vec<Detail>,
}

/// The use of a name.
#[derive(Debug)]
struct Use {
    /// The member that uses it; `None` for an output.
    user: Option<usize>,
    place: String,
    address: Address,
    /// Whether it refers to a value, and does not only ask for an order.
    is_value: bool,
}

/// A set in which every name is resolved, as far as it could be.
#[derive(Clone, Debug, PartialEq)]
pub struct Linked {
    /// The members, in the order of the body.
    pub members: Vec<LinkedMember>,
    /// The outputs. References in them name tracking ids.
    pub outputs: Map<String, Value>,
    /// The indexes of the members, each after those it depends on, deletes last. Incomplete if there is a circle.
    pub order: Vec<usize>,
    /// All that is wrong with the set, by place.
    pub problems: Vec<Detail>,
}

/// A member of a [`Linked`] set.
#[derive(Clone, Debug, PartialEq)]
pub struct LinkedMember {
    /// Its place, as a JSON Pointer into the body.
    pub place: String,
    /// Its reference.
    pub reference: ReferenceId,
    /// Its name in the set.
    pub symbolic_name: String,
    /// What is to become of it. References in its properties name tracking ids.
    pub goal: Goal,
    /// The indexes of the members that come first, in ascending order.
    pub depends_on: Vec<usize>,
}

impl Draft {
    /// Reads the expressions of a set.
    pub fn of(set: Set) -> Self {
        let (names, mut problems) = Names::of(&set.members);
        let too_many = |place: &str, what: &str, count: usize, most: usize| {
            let message = format!("{count} {what} are given, and {most} may be. Use several sets.");
            Detail::at(DetailCode::TooMany, message, place)
        };
        if set.members.len() > MEMBERS_MAX {
            problems.push(too_many(
                "/resources",
                "resources",
                set.members.len(),
                MEMBERS_MAX,
            ));
        }
        if set.outputs.len() > OUTPUTS_MAX {
            problems.push(too_many(
                "/outputs",
                "outputs",
                set.outputs.len(),
                OUTPUTS_MAX,
            ));
        }
        let mut uses = Vec::new();
        // Reads the values of a resource, or all outputs.
        let may_be_unknown = set.may_be_unknown;
        let mut read = |user, place: &str, values: &Map<String, Value>, problems: &mut Vec<_>| {
            let before = uses.len();
            for (name, value) in values {
                let place = pointer::join(place, name);
                visit(value, |at, expression| {
                    let place = below(&place, at);
                    if expression == Ok(Expression::Unknown) && !may_be_unknown {
                        problems.push(Detail::at(DetailCode::InvalidReference, UNKNOWN, &place));
                    }
                    add_uses(&mut uses, problems, user, place, expression);
                });
            }
            let count = uses.len() - before;
            if count > REFERENCES_MAX {
                problems.push(too_many(place, "references", count, REFERENCES_MAX));
                uses.truncate(before + REFERENCES_MAX);
            }
        };
        for (index, member) in set.members.iter().enumerate() {
            let place = format!("{}/properties", member.place);
            match &member.goal {
                Goal::Put(properties) => read(Some(index), &place, properties, &mut problems),
                Goal::Delete => {}
            }
        }
        read(None, "/outputs", &set.outputs, &mut problems);
        for (index, member) in set.members.iter().enumerate() {
            let count = member.depends_on.len();
            if count > MEMBERS_MAX {
                let place = format!("{}/dependsOn", member.place);
                problems.push(too_many(&place, "names", count, MEMBERS_MAX));
            }
            let depends_on = member.depends_on.iter().enumerate().take(MEMBERS_MAX);
            uses.extend(depends_on.map(|(at, name)| Use {
                user: Some(index),
                place: format!("{}/dependsOn/{at}", member.place),
                address: Address {
                    name: name.clone(),
                    pointer: None,
                },
                is_value: false,
            }));
        }
        Self {
            set,
            names,
            uses,
            problems,
        }
    }

    /// Returns the names that have to be looked up.
    pub fn outside(&self) -> BTreeSet<Outside> {
        let uses = self.uses.iter().filter(|used| used.is_value);
        uses.filter_map(|used| match self.meaning(used) {
            Meaning::Outside(outside) => Some(outside),
            Meaning::Member(_) | Meaning::Ambiguous(_) | Meaning::Nothing(_) => None,
        })
        .collect()
    }

    /// Resolves every name. `known` has the references that each name outside of the set stands for, `schemas` the
    /// schemas of the types of all references by their keys, and `deleted` the keys of references that are deleted
    /// although the set does not list them.
    pub fn link(
        self,
        known: &BTreeMap<Outside, Vec<ReferenceId>>,
        schemas: &BTreeMap<String, Arc<ResourceSchema>>,
        deleted: &BTreeSet<String>,
    ) -> Linked {
        let count = self.set.members.len();
        let mut linking = Linking {
            targets: BTreeMap::new(),
            needs: vec![BTreeMap::new(); count],
            problems: Vec::new(),
        };
        for used in &self.uses {
            linking.link(&self, used, known, schemas, deleted);
        }
        let Linking {
            targets,
            needs,
            problems: found,
        } = linking;
        let Self {
            set,
            names: _,
            uses: _,
            mut problems,
        } = self;
        problems.extend(found);
        let graph = needs.iter().map(|needs| needs.keys().copied().collect());
        let graph = Graph(graph.collect());
        let sorted = graph.sorted();
        for circle in &sorted.circles {
            problems.push(told(circle, &set.members, &needs));
        }
        problems.sort_by(|one, other| one.target.cmp(&other.target));
        let is_put = |index: &usize| matches!(set.members[*index].goal, Goal::Put(_));
        let (mut order, deletes): (Vec<usize>, Vec<usize>) =
            sorted.order.into_iter().partition(is_put);
        order.extend(deletes);
        let link = |value: &Value| linked(value, &targets);
        let members = set.members.into_iter().zip(graph.0);
        Linked {
            members: members
                .map(|(member, depends_on)| LinkedMember {
                    symbolic_name: member
                        .symbolic_name
                        .unwrap_or_else(|| member.reference.alias.clone()),
                    place: member.place,
                    reference: member.reference,
                    goal: match member.goal {
                        Goal::Put(properties) => Goal::Put(each(&properties, link)),
                        Goal::Delete => Goal::Delete,
                    },
                    depends_on,
                })
                .collect(),
            outputs: each(&set.outputs, link),
            order,
            problems,
        }
    }

    fn meaning(&self, used: &Use) -> Meaning {
        self.names.meaning(&used.address.name, &self.set.group)
    }
}

fn add_uses(
    uses: &mut Vec<Use>,
    problems: &mut Vec<Detail>,
    user: Option<usize>,
    place: String,
    expression: Result<Expression, Misread>,
) {
    match expression {
        Ok(expression) => uses.extend(expression.addresses().map(|address| Use {
            user,
            place: place.clone(),
            address: address.clone(),
            is_value: true,
        })),
        Err(Misread { code, message }) => problems.push(Detail::at(code, message, place)),
    }
}

fn each(members: &Map<String, Value>, map: impl Fn(&Value) -> Value) -> Map<String, Value> {
    let members = members.iter();
    members
        .map(|(name, value)| (name.clone(), map(value)))
        .collect()
}

/// Returns a value whose references name tracking ids, as far as they are known.
fn linked(value: &Value, targets: &BTreeMap<String, String>) -> Value {
    renamed(value, |address| {
        let target = targets.get(&address.name);
        target.unwrap_or(&address.name).clone()
    })
}

/// Tells of a circle, at the place where the first member on it asks for the next.
fn told(circle: &[usize], members: &[Member], needs: &[BTreeMap<usize, String>]) -> Detail {
    let alias = |index: &usize| members[*index].reference.alias.as_str();
    let first = circle.first().copied().unwrap_or_default();
    let next = circle.get(1).copied().unwrap_or(first);
    let way: Vec<&str> = circle.iter().chain([&first]).map(alias).collect();
    let place = needs[first].get(&next).cloned();
    let message = match circle {
        [one] => format!("'{}' refers to itself. Take that out.", alias(one)),
        _ => format!(
            "The resources refer to each other in a circle: {}. Take one of these references out.",
            way.join(" → ")
        ),
    };
    let place = place.unwrap_or_else(|| members[first].place.clone());
    Detail::at(DetailCode::Cycle, message, place)
}

/// What is found out about the uses of names.
struct Linking {
    /// The tracking ids that names stand for.
    targets: BTreeMap<String, String>,
    /// What each member needs first, with the place that says so.
    needs: Vec<BTreeMap<usize, String>>,
    problems: Vec<Detail>,
}

impl Linking {
    fn link(
        &mut self,
        draft: &Draft,
        used: &Use,
        known: &BTreeMap<Outside, Vec<ReferenceId>>,
        schemas: &BTreeMap<String, Arc<ResourceSchema>>,
        deleted: &BTreeSet<String>,
    ) {
        let name = &used.address.name;
        let members = &draft.set.members;
        let (target, key) = match draft.meaning(used) {
            Meaning::Member(index) => {
                let target = &members[index];
                let user = used.user.map(|user| &members[user].goal);
                if target.goal == Goal::Delete && user != Some(&Goal::Delete) {
                    return self.still_needed(used, name);
                }
                if let Some(user) = used.user {
                    let place = used.place.clone();
                    self.needs[user].entry(index).or_insert(place);
                }
                (&target.reference, Cow::from(draft.names.key(index)))
            }
            Meaning::Ambiguous(several) => {
                let several = several.iter().map(|index| &members[*index].reference);
                return self.ambiguous(used, several);
            }
            Meaning::Outside(_) if !used.is_value => {
                return self.unknown(draft, used, "the set has no resource of that name");
            }
            Meaning::Outside(outside) => {
                match known.get(&outside).map(Vec::as_slice).unwrap_or_default() {
                    [] => {
                        let why = match outside {
                            Outside::Alias(_) => {
                                "neither the set nor the group has a resource of that name"
                            }
                            Outside::Reference(_) => {
                                "there is no such reference, or it may not be read"
                            }
                        };
                        return self.unknown(draft, used, why);
                    }
                    [target] => {
                        let key = target.key();
                        if deleted.contains(&key) {
                            return self.still_needed(used, name);
                        }
                        (target, Cow::from(key))
                    }
                    several => return self.ambiguous(used, several.iter()),
                }
            }
            Meaning::Nothing(why) => {
                return self.add(used, DetailCode::UnknownName, why);
            }
        };
        if let Some(pointer) = &used.address.pointer
            && let Some(schema) = schemas.get(key.as_ref())
            && let Some((code, message)) = path::objection(schema, pointer)
        {
            return self.add(used, code, message);
        }
        if !self.targets.contains_key(name) {
            self.targets.insert(name.clone(), target.to_string());
        }
    }

    fn add(&mut self, used: &Use, code: DetailCode, message: String) {
        self.problems
            .push(Detail::at(code, message, used.place.as_str()));
    }

    fn unknown(&mut self, draft: &Draft, used: &Use, why: &str) {
        if draft.set.is_complete {
            let message = format!("'{}' is unknown: {why}.", used.address.name);
            self.add(used, DetailCode::UnknownName, message);
        }
    }

    fn ambiguous<'a>(&mut self, used: &Use, several: impl Iterator<Item = &'a ReferenceId>) {
        let message = ambiguous(&used.address.name, several);
        self.add(used, DetailCode::AmbiguousName, message);
    }

    fn still_needed(&mut self, used: &Use, name: &str) {
        let message = format!(
            "'{name}' is to be deleted, after everything else. Keep it, or do not refer to it."
        );
        self.add(used, DetailCode::StillNeeded, message);
    }
}
