//! The edges between plans.

use std::collections::BTreeSet;

use serde_json::{Map, Value};
use ucp_model::excerpt;

use super::flow::reached;
use super::plans::Found;
use crate::body::Body;
use crate::context::{Context, Randoms};
use crate::parameter::Parameters;
use crate::place::{Place, fixed};
use crate::plan::Edge;
use crate::problem::Problems;
use crate::resource::{Owner, Resource};
use crate::template::{Name, Use};

/// What an edge is judged by.
pub(super) struct Edges<'a, 'n> {
    pub(super) plans: &'a [Found<'n>],
    /// The parameters of instances, by plan.
    pub(super) parameters: &'a [Parameters],
    pub(super) body: &'a Body,
    /// The names in the properties of resources.
    pub(super) uses: &'a [(usize, Use)],
}

impl Edges<'_, '_> {
    /// Returns the edges of a plan: the index of the other plan, and what the edge is.
    pub(super) fn of(&self, from: usize, problems: &mut Problems) -> Vec<(usize, Edge)> {
        let plan = &self.plans[from];
        let updates = plan.updates_to.iter().map(|to| (to, Edge::InPlace));
        let replaces = plan.replaces_to.iter().map(|to| (to, Edge::Replacing));
        let mut found: Vec<(usize, Edge)> = Vec::new();
        for ((name, line), edge) in updates.chain(replaces) {
            let is_named = |other: &Found<'_>| {
                let named = other.name.as_ref();
                named.is_some_and(|(known, _)| known == name)
            };
            let Some(to) = self.plans.iter().position(is_named) else {
                problems.add(*line, format!("there is no plan `{}`", excerpt(name)));
                continue;
            };
            if to == from {
                problems.add(*line, "a plan has no edge to itself; take it out");
                continue;
            }
            if found.iter().any(|(known, _)| *known == to) {
                problems.add(
                    *line,
                    format!("the edge to `{name}` is there already; take one out"),
                );
                continue;
            }
            match edge {
                Edge::InPlace => self.judge(from, to, *line, problems),
                Edge::Replacing => self.note(from, to, *line, problems),
            }
            found.push((to, edge));
        }
        found
    }

    /// Tells of the places where two plans differ and that cannot be changed.
    fn judge(&self, from: usize, to: usize, line: usize, problems: &mut Problems) {
        let mut told = BTreeSet::new();
        for place in self.differences(from, to) {
            if let Some(why) = self.fixed(&place)
                && told.insert(why.clone())
            {
                let message = format!(
                    "the plans differ where nothing can be updated: {why}; use `replaces_to`"
                );
                problems.add(line, message);
            }
        }
    }

    /// Tells of the resources that a change replaces and that have a name of their own: the old one goes first.
    fn note(&self, from: usize, to: usize, line: usize, problems: &mut Problems) {
        let named = self.named(to);
        for resource in self.replaced(from, to) {
            let head = &self.body.heads[resource];
            if named.contains(&head.name) {
                let message = format!(
                    "`{}` has a name of its own: a change of the plan deletes the old one first, with what is in it, and until the new one stands there is none",
                    head.name
                );
                problems.note(line, message);
            }
        }
    }

    /// Returns the indexes of the resources that a change of the plan replaces: those that differ where nothing can be
    /// updated, and those that refer there to a replaced one.
    fn replaced(&self, from: usize, to: usize) -> BTreeSet<usize> {
        let uses = [from, to].map(|plan| &self.plans[plan].uses);
        let uses = || self.uses.iter().chain(uses.into_iter().flatten());
        let fixed = |places: BTreeSet<Place>| {
            let places = places.into_iter().filter(|it| self.fixed(it).is_some());
            places.map(|place| place.resource).collect::<BTreeSet<_>>()
        };
        let mut all = BTreeSet::new();
        let mut next = fixed(self.differences(from, to));
        while !next.is_empty() {
            let users = uses().filter(|(_, used)| match &used.name {
                Name::Property { resource, .. } => next.contains(resource),
                Name::Context(_) | Name::Parameter(_) | Name::Random(_) => false,
            });
            let users = users.map(|(user, used)| Place {
                resource: *user,
                path: used.path.clone(),
            });
            let users = fixed(reached(users, uses()));
            all.append(&mut next);
            next = users.difference(&all).copied().collect();
        }
        all
    }

    /// Returns the resources of an instance that have a name of their own in a plan, if all parameters are given.
    fn named(&self, plan: usize) -> BTreeSet<String> {
        let name = || "name".to_owned();
        let context = Context {
            instance_id: name(),
            organization_guid: name(),
            space_guid: name(),
            platform: name(),
            account: name(),
            region: name(),
            ..Context::default()
        };
        let given = self.parameters[plan].0.iter();
        let given: Map<String, Value> = given
            .map(|one| (one.name.clone(), Value::from("name")))
            .collect();
        let presets = &self.plans[plan].presets;
        let uses = self.uses.iter().chain(&self.plans[plan].uses);
        let randoms = uses.filter_map(|(_, used)| match &used.name {
            Name::Random(random) => Some((random.clone(), name())),
            Name::Context(_) | Name::Parameter(_) | Name::Property { .. } => None,
        });
        let randoms = Randoms(randoms.collect());
        let values = self.body.values(&context, &given, &randoms);
        let parameters = &self.parameters[plan];
        let resources = (self.body).resources(Owner::Instance, values, parameters, presets);
        let is_named = |resource: &Resource| {
            let mut heads = self.body.heads.iter();
            let head = heads.find(|head| head.name == resource.name);
            let schema = head.and_then(|head| head.schema.as_ref());
            schema.is_some_and(|schema| resource.is_named(schema))
        };
        let resources = resources.into_iter().flatten();
        resources.filter(is_named).map(|it| it.name).collect()
    }

    /// Returns why what is at a place cannot be updated, if so.
    fn fixed(&self, place: &Place) -> Option<String> {
        let schema = self.body.heads[place.resource].schema.as_ref()?;
        fixed(schema, &place.path)
    }

    fn differences(&self, from: usize, to: usize) -> BTreeSet<Place> {
        let mut places = BTreeSet::new();
        for (one, other) in [(from, to), (to, from)] {
            let presets = |plan: usize| {
                let presets = self.plans[plan].presets.iter();
                presets.map(|preset| (&preset.place, &preset.template))
            };
            let others: std::collections::BTreeMap<_, _> = presets(other).collect();
            let differing = presets(one)
                .filter(|(place, template)| others.get(place) != Some(template))
                .map(|(place, _)| place.clone());
            places.extend(differing);
            let own = self.parameters[one].0.iter();
            for parameter in own.filter(|own| self.parameters[other].get(&own.name).is_none()) {
                places.extend(parameter.place.clone());
                places.extend(self.uses_of(&parameter.name, one));
                places.extend(self.uses_of(&parameter.name, other));
            }
        }
        let uses = [from, to].map(|plan| &self.plans[plan].uses);
        reached(places, self.uses.iter().chain(uses.into_iter().flatten()))
    }

    /// Returns the places whose values have that of a parameter in them.
    fn uses_of(&self, name: &str, plan: usize) -> impl Iterator<Item = Place> {
        let uses = self.uses.iter().chain(&self.plans[plan].uses);
        let uses = uses.filter(move |(_, used)| match &used.name {
            Name::Parameter(known) => known == name,
            Name::Context(_) | Name::Random(_) | Name::Property { .. } => false,
        });
        uses.map(|(resource, used)| Place {
            resource: *resource,
            path: used.path.clone(),
        })
    }
}
