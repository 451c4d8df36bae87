//! Partition refinement: the coarsest classes in which resources are the same that cannot be told apart by what they
//! refer to, and by who refers to them.
//!
//! A digest of a resource that has the digests of what it refers to would never end on a circle. Splitting classes until
//! nothing splits gives the same classes where there is no circle, and the right ones where there is. A class that has
//! split is looked at again without its largest part, so that the work grows little faster than the number of references.

use std::collections::HashMap;
use std::hash::Hash;

use crate::content::Slot;
use crate::resources::Resources;

/// References between the compared resources.
#[derive(Debug)]
pub(crate) struct Graph<'a> {
    pub(crate) resources: &'a Resources<'a>,
    /// The references of each resource.
    pub(crate) slots: Vec<&'a [Slot]>,
    /// Who refers to each resource, with the index of the slot.
    users: Vec<Vec<(usize, usize)>>,
    /// How many references of each resource are AWS's values in the body.
    literals: Vec<usize>,
}

impl<'a> Graph<'a> {
    pub(crate) fn new(resources: &'a Resources<'a>, slots: Vec<&'a [Slot]>) -> Self {
        let mut users = vec![Vec::new(); slots.len()];
        for (user, slots) in slots.iter().enumerate() {
            for (index, slot) in slots.iter().enumerate() {
                users[slot.target].push((user, index));
            }
        }
        let literal = |slots: &&[Slot]| slots.iter().filter(|slot| !slot.by_reference).count();
        Self {
            resources,
            literals: slots.iter().map(literal).collect(),
            slots,
            users,
        }
    }

    /// Returns who refers to a resource.
    pub(crate) fn users(&self, resource: usize) -> impl Iterator<Item = usize> {
        self.users[resource].iter().map(|(user, _)| *user)
    }
}

/// What tells resources apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum By {
    /// What they refer to.
    Targets,
    /// That, and who refers to them.
    TargetsAndUsers,
}

/// What a resource is at first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Colour<C> {
    /// One with all that have this content.
    Content(C),
    /// The resource of this number, which is never told apart from itself. The content may differ.
    Known {
        /// The number.
        number: usize,
        /// Whether the content is the same on both sides.
        is_unchanged: bool,
    },
}

/// Resources in classes.
#[derive(Clone, Debug)]
pub(crate) struct Partition {
    class_of: Vec<usize>,
    /// The place of each resource among the members of its class.
    place_of: Vec<usize>,
    classes: Vec<Class>,
}

#[derive(Clone, Debug, Default)]
struct Class {
    members: Vec<usize>,
    /// Whether it is a known resource, and then, whether its content is the same on both sides.
    known: Option<bool>,
    /// How many members are declared.
    declared: usize,
    /// How many references of members are AWS's values in the body.
    literals: usize,
}

/// A reference to or from a class that is looked at: the resource at the other end, and the index of the slot.
type Edge = (usize, usize);

impl Partition {
    /// Returns a class for each colour.
    pub(crate) fn of<C: Copy + Eq + Hash>(colours: &[Colour<C>], graph: &Graph<'_>) -> Self {
        let mut partition = Self {
            class_of: Vec::with_capacity(colours.len()),
            place_of: Vec::with_capacity(colours.len()),
            classes: Vec::new(),
        };
        let mut numbers: HashMap<(Option<C>, usize), usize> = HashMap::new();
        for (resource, colour) in colours.iter().enumerate() {
            let next = partition.classes.len();
            let (key, known) = match colour {
                Colour::Content(content) => ((Some(*content), 0), None),
                Colour::Known {
                    number,
                    is_unchanged,
                } => ((None, *number), Some(*is_unchanged)),
            };
            let class = *numbers.entry(key).or_insert(next);
            if class == next {
                partition.classes.push(Class {
                    known,
                    ..Class::default()
                });
            }
            partition.class_of.push(class);
            let place = partition.classes[class].add(resource, graph);
            partition.place_of.push(place);
        }
        partition
    }

    /// Returns the number of the class of a resource.
    pub(crate) fn class_of(&self, resource: usize) -> usize {
        self.class_of[resource]
    }

    /// Returns the members of each class.
    pub(crate) fn classes(&self) -> impl Iterator<Item = &[usize]> {
        self.classes.iter().map(|class| class.members.as_slice())
    }

    /// Splits classes until nothing tells members of one apart.
    pub(crate) fn refine(&mut self, graph: &Graph<'_>, by: By) {
        let mut targets = Queue::of(self.classes.len());
        let mut users = match by {
            By::Targets => Queue::default(),
            By::TargetsAndUsers => Queue::of(self.classes.len()),
        };
        loop {
            let edges = if let Some(class) = targets.pop() {
                self.edges_from_users(class, graph)
            } else if let Some(class) = users.pop() {
                self.edges_to_targets(class, graph)
            } else {
                return;
            };
            for parts in self.split(edges, graph) {
                targets.add(&parts, self, true);
                if by == By::TargetsAndUsers {
                    let is_whole = parts.iter().all(|part| self.is_whole(*part, graph));
                    users.add(&parts, self, is_whole);
                }
            }
        }
    }

    fn edges_from_users(&self, class: usize, graph: &Graph<'_>) -> Vec<Edge> {
        let members = self.classes[class].members.iter();
        members
            .flat_map(|member| graph.users[*member].iter().copied())
            .collect()
    }

    /// Returns the references of a class that tell something of what they refer to. They do if the class is the same on
    /// both sides: as many resources, or one that is known and unchanged. A value of AWS in the body tells nothing, since
    /// it names what is deployed, and not what is declared.
    fn edges_to_targets(&self, class: usize, graph: &Graph<'_>) -> Vec<Edge> {
        if !self.is_balanced(class, graph) {
            return Vec::new();
        }
        let members = &self.classes[class].members;
        let count = members.first().map_or(0, |first| graph.slots[*first].len());
        let mut tells = vec![true; count];
        for member in members {
            for (tells, slot) in tells.iter_mut().zip(graph.slots[*member]) {
                *tells &= slot.by_reference;
            }
        }
        let mut edges = Vec::new();
        for member in members {
            let slots = graph.slots[*member].iter().enumerate();
            let slots = slots.filter(|(index, _)| tells.get(*index) == Some(&true));
            edges.extend(slots.map(|(index, slot)| (slot.target, index)));
        }
        edges
    }

    fn is_balanced(&self, class: usize, graph: &Graph<'_>) -> bool {
        let class = &self.classes[class];
        let is_even = 2 * class.declared == class.members.len();
        let is_same = |is_unchanged| is_unchanged && self.refer_to_the_same(&class.members, graph);
        is_even && class.known.is_none_or(is_same)
    }

    fn refer_to_the_same(&self, members: &[usize], graph: &Graph<'_>) -> bool {
        let targets = |member: &usize| -> Vec<usize> {
            let slots = graph.slots[*member].iter();
            slots.map(|slot| self.class_of[slot.target]).collect()
        };
        members
            .windows(2)
            .all(|pair| targets(&pair[0]) == targets(&pair[1]))
    }

    /// Returns whether all references of a class tell something.
    fn is_whole(&self, class: usize, graph: &Graph<'_>) -> bool {
        self.classes[class].literals == 0 && self.is_balanced(class, graph)
    }

    /// Splits the classes of the resources at the ends of edges, by the slots of these. Returns the parts of each class
    /// that has split.
    fn split(&mut self, mut edges: Vec<Edge>, graph: &Graph<'_>) -> Vec<Vec<usize>> {
        edges.sort_unstable();
        let mut groups: Vec<(usize, Vec<usize>, usize)> = Vec::new();
        for edges in edges.chunk_by(|one, other| one.0 == other.0) {
            let resource = edges[0].0;
            let class = self.class_of[resource];
            if self.classes[class].known.is_none() && self.classes[class].members.len() > 1 {
                let slots = edges.iter().map(|(_, slot)| *slot).collect();
                groups.push((class, slots, resource));
            }
        }
        groups.sort_unstable();
        let mut splits = Vec::new();
        for of_class in groups.chunk_by(|one, other| one.0 == other.0) {
            let class = of_class[0].0;
            let mut parts = vec![class];
            let groups = of_class.chunk_by(|one, other| one.1 == other.1);
            let mut groups: Vec<_> = groups.collect();
            if of_class.len() == self.classes[class].members.len() {
                // The largest keeps the number of the class.
                let largest = (0..groups.len()).max_by_key(|index| groups[*index].len());
                groups.swap_remove(largest.unwrap_or_default());
            }
            for group in groups {
                parts.push(self.classes.len());
                self.classes.push(Class::default());
                for (_, _, resource) in group {
                    self.take_out(*resource, graph);
                }
            }
            if parts.len() > 1 {
                splits.push(parts);
            }
        }
        splits
    }

    /// Takes a resource out of its class, into the last one.
    fn take_out(&mut self, resource: usize, graph: &Graph<'_>) {
        let (class, place) = (self.class_of[resource], self.place_of[resource]);
        if let Some(other) = self.classes[class].remove(place, graph) {
            self.place_of[other] = place;
        }
        let last = self.classes.len() - 1;
        self.class_of[resource] = last;
        self.place_of[resource] = self.classes[last].add(resource, graph);
    }
}

impl Class {
    /// Adds a resource, and returns its place.
    fn add(&mut self, resource: usize, graph: &Graph<'_>) -> usize {
        self.declared += usize::from(graph.resources.is_declared(resource));
        self.literals += graph.literals[resource];
        self.members.push(resource);
        self.members.len() - 1
    }

    /// Removes the resource at a place, and returns the one that takes the place.
    fn remove(&mut self, place: usize, graph: &Graph<'_>) -> Option<usize> {
        let resource = self.members.swap_remove(place);
        self.declared -= usize::from(graph.resources.is_declared(resource));
        self.literals -= graph.literals[resource];
        self.members.get(place).copied()
    }
}

/// Classes that are to be looked at, each once.
#[derive(Debug, Default)]
struct Queue {
    classes: Vec<usize>,
    is_waiting: Vec<bool>,
}

impl Queue {
    fn of(count: usize) -> Self {
        Self {
            classes: (0..count).rev().collect(),
            is_waiting: vec![true; count],
        }
    }

    fn pop(&mut self) -> Option<usize> {
        let class = self.classes.pop()?;
        self.is_waiting[class] = false;
        Some(class)
    }

    /// Adds the parts of a class, the first of which has its number. If all of it has been looked at, `but_one` part is
    /// told by the others.
    fn add(&mut self, parts: &[usize], partition: &Partition, but_one: bool) {
        self.is_waiting.resize(partition.classes.len(), false);
        let size = |part: &&usize| partition.classes[**part].members.len();
        let told = if but_one && !self.is_waiting[parts[0]] {
            parts.iter().max_by_key(size)
        } else {
            None
        };
        for part in parts.iter().filter(|part| Some(*part) != told) {
            if !self.is_waiting[*part] {
                self.is_waiting[*part] = true;
                self.classes.push(*part);
            }
        }
    }
}
