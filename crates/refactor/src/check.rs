//! What is wrong with a body, and what its addresses mean.

use std::collections::{BTreeSet, HashMap, HashSet};

use ucp_model::{Detail, ReferenceId};
use ucp_set::{DetailCode, Expression, Graph, ambiguous, visit};

use crate::address::{Excluded, in_words};
use crate::body::{Base, Body, Deleted, Mapping};
use crate::deployed::State;
use crate::names::{Meaning, Names, Vocabulary};
use crate::resources::Resources;

/// The maximum number of resources that are compared, on each side.
pub const RESOURCES_MAX: usize = 10_000;

const UNKNOWN: &str = "The value is not known yet. Declare it once it is.";

/// What the addresses of a body mean.
#[derive(Debug)]
pub(crate) struct Checked {
    /// `moves`.
    pub(crate) moves: Vec<Step>,
    /// The moves of each event in `history`.
    pub(crate) events: Vec<Vec<Step>>,
    /// Whether each resource is excluded.
    pub(crate) is_excluded: Vec<bool>,
    /// Whether each resource is in a group that the body does not name. It is there to be referred to.
    pub(crate) is_outside: Vec<bool>,
    /// What is deployed and to be deleted.
    pub(crate) deleted: BTreeSet<usize>,
    /// What names in references mean.
    pub(crate) names: Names,
}

/// A move between addresses.
#[derive(Clone, Debug)]
pub(crate) struct Step {
    pub(crate) from: usize,
    pub(crate) to: usize,
    pub(crate) from_id: ReferenceId,
    pub(crate) to_id: ReferenceId,
}

/// Checks a body. Fails with all that is wrong with it.
pub(crate) fn check(
    state: &State,
    body: &Body,
    resources: &mut Resources<'_>,
) -> Result<Checked, Vec<Detail>> {
    let mut checking = Checking {
        body,
        problems: Vec::new(),
    };
    checking.counts(state);
    if !checking.problems.is_empty() {
        return Err(checking.problems);
    }
    checking.names_twice(resources);
    checking.deleted_twice(resources);
    checking.symbolic_names();
    let named = body.named();
    let is_outside = (0..resources.count())
        .map(|resource| !named.contains(&resources.id(resource).group.key()))
        .collect::<Vec<bool>>();
    let is_excluded = checking.excluded(resources, &is_outside);
    let moves = checking.moves(resources);
    let events = checking.history(resources);
    let deleted = body.deleted.iter();
    let deleted = deleted.filter_map(|it| resources.at_id(&it.address).deployed);
    let deleted = deleted.collect();
    let names = checking.references(resources, &is_excluded);
    if checking.problems.is_empty() {
        Ok(Checked {
            moves,
            events,
            is_excluded,
            is_outside,
            deleted,
            names,
        })
    } else {
        Err(checking.problems)
    }
}

struct Checking<'a> {
    body: &'a Body,
    problems: Vec<Detail>,
}

impl Checking<'_> {
    fn add(&mut self, place: impl Into<String>, code: DetailCode, message: impl Into<String>) {
        self.problems.push(Detail::at(code, message, place));
    }

    fn counts(&mut self, state: &State) {
        let place = match self.body.base {
            Base::Plane(_) => "/groups",
            Base::Group(_) => "/resources",
        };
        let counts = [
            (self.body.resources.len(), "declared"),
            (state.resources.len(), "deployed in these groups"),
        ];
        for (count, what) in counts {
            if count > RESOURCES_MAX {
                let message = format!(
                    "{count} resources are {what}, and {RESOURCES_MAX} may be. Name fewer groups."
                );
                self.add(place, DetailCode::TooMany, message);
            }
        }
    }

    fn names_twice(&mut self, resources: &Resources<'_>) {
        let mut groups = HashSet::new();
        for group in &self.body.groups {
            if !groups.insert(group.id.key()) {
                let message = format!(
                    "The group '{}' is named twice. Join the two.",
                    group.id.name
                );
                self.add(&group.place, DetailCode::DuplicateName, message);
            }
        }
        for resource in resources.all_declared() {
            let first = resources.at(resources.address(resource)).declared;
            let first = first.unwrap_or(resource);
            if first != resource {
                let message = format!(
                    "{} has the address {} too. Declare it once.",
                    self.place(resources, first),
                    in_words(resources.id(resource))
                );
                let place = self.place(resources, resource).to_owned();
                self.add(place, DetailCode::DuplicateName, message);
            }
        }
    }

    fn deleted_twice(&mut self, resources: &Resources<'_>) {
        let mut places: HashMap<String, &str> = HashMap::new();
        for Deleted { place, address, .. } in &self.body.deleted {
            let declared = resources.at_id(address).declared;
            let first = match declared {
                Some(declared) => self.place(resources, declared),
                None => places.entry(address.key()).or_insert(place),
            };
            if first != place {
                let message = format!(
                    "{first} has the address {} too. Declare it once.",
                    in_words(address)
                );
                self.add(place.clone(), DetailCode::DuplicateName, message);
            }
        }
    }

    /// Refuses symbolic names that two resources of one group have.
    fn symbolic_names(&mut self) {
        let mut names: HashMap<(String, String), &str> = HashMap::new();
        let declared = self.body.resources.iter();
        let declared = declared.map(|it| (&it.place, &it.address, &it.symbolic_name));
        let deleted = self.body.deleted.iter();
        let deleted = deleted.map(|it| (&it.place, &it.address, &it.symbolic_name));
        for (place, address, name) in declared.chain(deleted) {
            let Some(name) = name else {
                continue;
            };
            let key = (address.group.key(), name.to_lowercase());
            let first = *names.entry(key).or_insert(place);
            if first != place {
                let message =
                    format!("{first} has the symbolic name '{name}' too. Choose another one.");
                let place = format!("{place}/symbolicName");
                self.add(place, DetailCode::DuplicateName, message);
            }
        }
    }

    fn place(&self, resources: &Resources<'_>, declared: usize) -> &str {
        &self.body.resources[declared - resources.all_declared().start].place
    }

    /// Returns whether each resource is excluded. So is what is referred to in groups that the body does not name.
    fn excluded(&mut self, resources: &Resources<'_>, is_outside: &[bool]) -> Vec<bool> {
        let mut is_excluded = vec![false; resources.count()];
        let mut types = HashSet::new();
        for (index, word) in self.body.exclude.iter().enumerate() {
            match self.body.base.excluded(word) {
                Ok(Excluded::Type(name)) => types.extend(resources.number_of_type(&name)),
                Ok(Excluded::Address(id)) => {
                    let at = resources.at_id(&id);
                    for resource in [at.deployed, at.declared].into_iter().flatten() {
                        is_excluded[resource] = true;
                    }
                }
                Err(message) => {
                    self.add(
                        format!("/exclude/{index}"),
                        DetailCode::InvalidAddress,
                        message,
                    );
                }
            }
        }
        for (resource, is_excluded) in is_excluded.iter_mut().enumerate() {
            *is_excluded |= types.contains(&resources.type_of(resource)) || is_outside[resource];
        }
        is_excluded
    }

    fn moves(&mut self, resources: &mut Resources<'_>) -> Vec<Step> {
        let named = self.body.named();
        let steps = self.steps(resources, "/moves", &self.body.moves);
        for (index, step) in &steps {
            let is_named = |id: &ReferenceId| named.contains(&id.group.key());
            let mut is_known = true;
            for (end, id) in [("from", &step.from_id), ("to", &step.to_id)] {
                if !is_named(id) {
                    is_known = false;
                    let message = format!(
                        "The group '{}' is not among the groups of the body. Name it there, with all that it shall hold.",
                        id.group.name
                    );
                    self.add(
                        format!("/moves/{index}/{end}"),
                        DetailCode::UnnamedGroup,
                        message,
                    );
                }
            }
            if is_known && resources.at(step.to).declared.is_none() {
                let message = format!(
                    "Nothing is declared at {}. Declare what moves there.",
                    in_words(&step.to_id)
                );
                self.add(
                    format!("/moves/{index}/to"),
                    DetailCode::Undeclared,
                    message,
                );
            }
        }
        steps.into_iter().map(|(_, step)| step).collect()
    }

    fn history(&mut self, resources: &mut Resources<'_>) -> Vec<Vec<Step>> {
        let mut ids = HashSet::new();
        let events = self.body.history.as_deref().unwrap_or_default();
        let mut read = Vec::with_capacity(events.len());
        for (index, event) in events.iter().enumerate() {
            let place = format!("/history/{index}");
            if !ids.insert(&event.id) {
                let message = format!(
                    "The event '{}' is given twice. Choose another id.",
                    event.id
                );
                self.add(format!("{place}/id"), DetailCode::DuplicateName, message);
            }
            let steps = self.steps(resources, &format!("{place}/moves"), &event.moves);
            read.push(steps.into_iter().map(|(_, step)| step).collect());
        }
        read
    }

    /// Reads moves that are made at once.
    fn steps(
        &mut self,
        resources: &mut Resources<'_>,
        place: &str,
        moves: &[Mapping],
    ) -> Vec<(usize, Step)> {
        let (mut from_seen, mut to_seen) = (HashSet::new(), HashSet::new());
        let mut steps = Vec::with_capacity(moves.len());
        for (index, mapping) in moves.iter().enumerate() {
            let place = format!("{place}/{index}");
            let mut read = |end: &str, text: &str, seen: &mut HashSet<usize>| {
                let place = format!("{place}/{end}");
                let id = match self.body.base.address(text) {
                    Ok(id) => id,
                    Err(message) => {
                        self.add(place, DetailCode::InvalidAddress, message);
                        return None;
                    }
                };
                let address = resources.intern(&id);
                if !seen.insert(address) {
                    let message = format!(
                        "Another move has {} as its `{end}` too. Take one of them out.",
                        in_words(&id)
                    );
                    self.add(place, DetailCode::DuplicateName, message);
                }
                Some((address, id))
            };
            let from = read("from", &mapping.from, &mut from_seen);
            let to = read("to", &mapping.to, &mut to_seen);
            let (Some((from, from_id)), Some((to, to_id))) = (from, to) else {
                continue;
            };
            let is_same =
                (from_id.type_name.as_str()).eq_ignore_ascii_case(to_id.type_name.as_str());
            if !is_same {
                let message = format!(
                    "A {} cannot become a {}. A move keeps the type.",
                    from_id.type_name.arm(),
                    to_id.type_name.arm()
                );
                self.add(place, DetailCode::DifferentTypes, message);
            }
            let step = Step {
                from,
                to,
                from_id,
                to_id,
            };
            steps.push((index, step));
        }
        steps
    }

    /// Looks up the names in references: of what is declared, and of what is excluded and so stays.
    fn references(&mut self, resources: &Resources<'_>, is_excluded: &[bool]) -> Names {
        let body = self.body;
        let vocabulary = Vocabulary::of(body, resources, is_excluded);
        let mut names = Names::default();
        let first = resources.all_declared().start;
        let mut needs: Vec<Vec<usize>> = Vec::with_capacity(body.resources.len());
        let mut places: Vec<Vec<String>> = Vec::with_capacity(body.resources.len());
        for (user, declared) in resources.all_declared().zip(&body.resources) {
            let group = names.group(user, declared.address.group.key());
            let (mut needed, mut needed_at) = (Vec::new(), Vec::new());
            visit(&declared.properties, |at, expression| {
                let place = || format!("{}/properties{at}", declared.place);
                let expression = match expression {
                    Ok(Expression::Unknown) => {
                        return self.add(place(), DetailCode::InvalidReference, UNKNOWN);
                    }
                    Ok(expression) => expression,
                    Err(misread) => {
                        let code = match misread.code {
                            DetailCode::TooMany => DetailCode::TooMany,
                            _ => DetailCode::InvalidReference,
                        };
                        return self.add(place(), code, misread.message);
                    }
                };
                for address in expression.addresses() {
                    let name = &address.name;
                    let means = || vocabulary.meaning(name, &declared.address.group);
                    let found = names.get_or_add(group, name, || match means() {
                        Meaning::Resource(target) => Some(target),
                        Meaning::Ambiguous(_) | Meaning::Deleted | Meaning::Nothing(_) => None,
                    });
                    match found {
                        Some(target) if target >= first => {
                            needed.push(target - first);
                            needed_at.push(place());
                        }
                        Some(_) => {}
                        None => match means() {
                            Meaning::Resource(_) => {}
                            Meaning::Ambiguous(several) => {
                                let several = several.iter().map(|one| resources.id(*one));
                                let message = ambiguous(name, several);
                                self.add(place(), DetailCode::AmbiguousName, message);
                            }
                            Meaning::Deleted => {
                                let message = format!(
                                    "'{name}' is to be deleted. Keep it, or do not refer to it."
                                );
                                self.add(place(), DetailCode::StillNeeded, message);
                            }
                            Meaning::Nothing(why) => {
                                self.add(place(), DetailCode::UnknownName, why);
                            }
                        },
                    }
                }
            });
            needs.push(needed);
            places.push(needed_at);
        }
        if body.deploy {
            self.circles(Graph(needs), &places);
        }
        names
    }

    /// Tells of circles, each at the place where the first resource on it asks for the next.
    fn circles(&mut self, graph: Graph, places: &[Vec<String>]) {
        for circle in graph.sorted().circles {
            let alias = |index: &usize| self.body.resources[*index].address.alias.as_str();
            let Some(first) = circle.first() else {
                continue;
            };
            let next = circle.get(1).unwrap_or(first);
            let way: Vec<&str> = circle.iter().chain([first]).map(alias).collect();
            let message = format!(
                "The resources refer to each other in a circle: {}. Take one of these references out, or do not deploy.",
                way.join(" → ")
            );
            let asks = graph.0[*first].iter().position(|need| need == next);
            let place = asks.and_then(|at| places[*first].get(at).cloned());
            self.add(place.unwrap_or_default(), DetailCode::Cycle, message);
        }
    }
}
