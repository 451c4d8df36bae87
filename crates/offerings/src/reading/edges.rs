//! The edges between plans.

use std::collections::BTreeSet;

use ucp_model::excerpt;

use super::flow::reached;
use super::plans::Found;
use crate::parameter::Parameters;
use crate::place::{Place, fixed};
use crate::plan::Edge;
use crate::problem::Problems;
use crate::resource::Head;
use crate::template::{Name, Use};

/// What an edge is judged by.
pub(super) struct Edges<'a, 'n> {
    pub(super) plans: &'a [Found<'n>],
    /// The parameters of instances, by plan.
    pub(super) parameters: &'a [Parameters],
    pub(super) heads: &'a [Head],
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
            if edge == Edge::InPlace {
                self.judge(from, to, *line, problems);
            }
            found.push((to, edge));
        }
        found
    }

    /// Tells of the places where two plans differ and that cannot be changed.
    fn judge(&self, from: usize, to: usize, line: usize, problems: &mut Problems) {
        let mut told = BTreeSet::new();
        for place in self.differences(from, to) {
            let schema = self.heads[place.resource].schema.as_ref();
            if let Some(why) = schema.and_then(|schema| fixed(schema, &place.path))
                && told.insert(why.clone())
            {
                let message = format!(
                    "the plans differ where nothing can be updated: {why}; use `replaces_to`"
                );
                problems.add(line, message);
            }
        }
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
