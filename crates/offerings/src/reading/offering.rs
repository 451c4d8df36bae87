//! A whole file.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use serde_json::Value;
use ucp_schema::{Catalogue, Patterns};

use super::{binding, circles, edges, names, parameters, plans, properties, resources};
use crate::binding::Binding;
use crate::body::Body;
use crate::fields::Fields;
use crate::limits::RANDOMS_MAX;
use crate::offering::Offering;
use crate::parameter::Parameters;
use crate::plan::Plan;
use crate::problem::Problems;
use crate::resource::Owner;
use crate::source::{Node, to_object};
use crate::template::{Name, Reading, Scope, Template, Use};

/// An id or a name that no other file may have, with its line.
pub(crate) type Written = (String, usize);

/// What a file has that must not be in another one. It is known even if something is wrong with the file.
#[derive(Default)]
pub(crate) struct Identity {
    pub(crate) id: Option<Written>,
    pub(crate) name: Option<Written>,
    pub(crate) plans: Vec<Written>,
}

/// Reads a file. The offering is of use only if there are no problems.
pub(crate) fn read(
    node: &Node,
    catalogue: &Catalogue,
    problems: &mut Problems,
) -> (Identity, Option<Offering>) {
    let mut identity = Identity::default();
    let offering = File {
        catalogue,
        patterns: Arc::default(),
        problems,
    }
    .offering(node, &mut identity);
    (identity, offering)
}

struct File<'a> {
    catalogue: &'a Catalogue,
    patterns: Arc<Patterns>,
    problems: &'a mut Problems,
}

impl File<'_> {
    fn offering(&mut self, node: &Node, identity: &mut Identity) -> Option<Offering> {
        let problems = &mut *self.problems;
        let mut fields = Fields::of(node, 1, "an offering", problems)?;
        identity.id = names::id(fields.needed("id", problems), problems);
        identity.name = names::name(fields.needed("name", problems), problems);
        let description = fields.needed("description", problems);
        let tags = fields.texts("tags", problems);
        let metadata = fields.given_table("metadata", problems);
        let is_sync = fields.flag("sync", false, problems);
        let merges = match fields.text("update_with_bindings", problems) {
            None | Some(("refuse", _)) => false,
            Some(("merge", _)) => true,
            Some((_, line)) => {
                problems.add(line, "`update_with_bindings` is `refuse` or `merge`");
                false
            }
        };
        let own_resources = fields.table("resources", problems);
        let own_parameters = fields.table("parameters", problems);
        let table = fields.take("binding");
        let bound = table.and_then(|member| binding::read(member, problems));
        let plans_member = fields.take("plans");
        fields.finish(problems);

        let no_binding = binding::Table::default();
        let bound = bound.as_ref();
        let of_binding = bound.unwrap_or(&no_binding);
        let found = resources::read(
            own_resources,
            of_binding.resources,
            self.catalogue,
            problems,
        );
        let heads: Vec<_> = found.iter().map(|one| one.head.clone()).collect();
        let declared = parameters::declared(
            own_parameters,
            of_binding.parameters,
            &heads,
            &self.patterns,
            problems,
        );
        // A parameter with which something is wrong is known all the same.
        let owned = |members: &[crate::source::Member], owner: Owner| {
            let names = members.iter();
            names
                .map(|member| (member.name.clone(), owner))
                .collect::<Vec<_>>()
        };
        let mut known = owned(own_parameters, Owner::Instance);
        known.extend(owned(of_binding.parameters, Owner::Binding));
        let scope = |owner| Scope {
            heads: &heads,
            owner,
            parameters: &known,
            expires: of_binding.expires,
        };

        let mut body = Body {
            heads: heads.clone(),
            ..Body::default()
        };
        // The names in the properties of resources, by whose they are.
        let mut uses: BTreeMap<bool, Vec<(usize, Use)>> = BTreeMap::new();
        for (index, one) in found.iter().enumerate() {
            let mut reading = Reading::new(scope(one.head.owner), problems);
            let members = one.properties.and_then(Node::members).unwrap_or_default();
            let templates = reading.members(members);
            let own = std::mem::take(&mut reading.uses);
            let to = uses.entry(one.head.owner == Owner::Binding).or_default();
            to.extend(own.into_iter().map(|used| (index, used)));
            properties::judge(&one.head, &templates, one.properties, problems);
            body.properties.push(templates);
        }
        let mut told = Reading::new(scope(Owner::Binding), problems);
        body.credentials = of_binding.credentials.map(|members| told.members(members));
        body.endpoints = of_binding.endpoints.map(|node| told.value(node));
        let told = std::mem::take(&mut told.uses);
        let of_instance = uses.remove(&false).unwrap_or_default();
        let of_bindings = uses.remove(&true).unwrap_or_default();

        let plans = plans::read(plans_member, 1, scope(Owner::Instance), problems);
        identity.plans = plans.iter().filter_map(|plan| plan.id.clone()).collect();
        repeated_names(&plans, problems);

        let everywhere: Vec<(usize, Use)> = {
            let of_plans = plans.iter().flat_map(|plan| &plan.uses);
            of_instance.iter().chain(of_plans).cloned().collect()
        };
        let wide = parameters::wide(&declared, &heads, &everywhere, &self.patterns, problems);
        reachable(&declared, &body, problems);
        let is_complete = wide.len() == known.len();
        let all: Vec<(Parameters, Parameters)> = plans
            .iter()
            .map(|plan| {
                if is_complete {
                    plans::parameters(plan, &wide, &self.patterns, problems)
                } else {
                    // What is wrong with a parameter is told once.
                    (Parameters::default(), Parameters::default())
                }
            })
            .collect();
        let (instance, of_bound): (Vec<_>, Vec<_>) = all.into_iter().unzip();
        for (plan, parameters) in plans.iter().zip(&instance) {
            plans::judge(plan, parameters, &body, problems);
        }
        let judged = edges::Edges {
            plans: &plans,
            parameters: &instance,
            body: &body,
            uses: &of_instance,
        };
        let edges: Vec<_> = (0..plans.len())
            .map(|plan| judged.of(plan, problems))
            .collect();

        let own = || of_instance.iter().map(|(index, used)| (*index, used));
        circles::judge(&heads, Owner::Instance, own(), problems);
        for plan in plans.iter().filter(|plan| !plan.uses.is_empty()) {
            let preset = plan.uses.iter().map(|(index, used)| (*index, used));
            circles::judge(&heads, Owner::Instance, own().chain(preset), problems);
        }
        let bound_uses = of_bindings.iter().map(|(index, used)| (*index, used));
        circles::judge(&heads, Owner::Binding, bound_uses, problems);

        let randoms = randoms(everywhere.iter().map(|(_, used)| used));
        let of_binding_alone = of_bindings.iter().map(|(_, used)| used).chain(&told);
        let mut binding_randoms = self::randoms(of_binding_alone);
        binding_randoms.retain(|name| !randoms.contains(name));
        if randoms.len() + binding_randoms.len() > RANDOMS_MAX {
            problems.add(
                1,
                format!("an offering has at most {RANDOMS_MAX} random texts"),
            );
        }

        let body = Arc::new(body);
        let ids: Vec<String> = plans
            .iter()
            .map(|plan| {
                plan.id
                    .as_ref()
                    .map(|(id, _)| id.clone())
                    .unwrap_or_default()
            })
            .collect();
        let parts = plans.into_iter().zip(instance).zip(of_bound).zip(edges);
        let plans = parts.map(|(((plan, instance), binding), edges)| {
            let edges = edges.into_iter();
            Some(Plan {
                id: plan.id?.0,
                name: plan.name?.0,
                description: plan.description,
                metadata: plan.metadata,
                is_free: plan.is_free,
                version: plan.version,
                version_description: plan.version_description,
                edges: edges.map(|(to, edge)| (ids[to].clone(), edge)).collect(),
                presets: plan.presets,
                instance,
                binding,
                body: Arc::clone(&body),
            })
        });
        Some(Offering {
            id: identity.id.clone()?.0,
            name: identity.name.clone()?.0,
            description: description?.0.to_owned(),
            tags: tags.into_iter().map(|(tag, _)| tag.to_owned()).collect(),
            metadata: metadata.map(|members| Value::Object(to_object(members))),
            is_sync,
            merges_into_bindings: merges,
            randoms,
            binding: bound.map(|table| Binding {
                is_rotatable: table.is_rotatable,
                requires_app: table.requires_app,
                expires_after: table.expires_after,
                renew_after: table.renew_after,
                has_resources: !table.resources.is_empty(),
                randoms: binding_randoms,
            }),
            plans: plans.collect::<Option<_>>()?,
        })
    }
}

fn randoms<'u>(uses: impl Iterator<Item = &'u Use>) -> BTreeSet<String> {
    let names = uses.filter_map(|used| match &used.name {
        Name::Random(name) => Some(name.clone()),
        Name::Context(_) | Name::Parameter(_) | Name::Property { .. } => None,
    });
    names.collect()
}

fn repeated_names(plans: &[plans::Found<'_>], problems: &mut Problems) {
    let mut known = BTreeMap::new();
    for (name, line) in plans.iter().filter_map(|plan| plan.name.as_ref()) {
        if let Some(first) = known.insert(name, line) {
            let message = format!("the plan in line {first} is called `{name}` too");
            problems.add(*line, message);
        }
    }
}

/// Tells of the places of parameters that are in something which a resource's own properties set as a whole.
fn reachable(declared: &[parameters::Declared], body: &Body, problems: &mut Problems) {
    for one in declared {
        let Some(place) = &one.place else { continue };
        let mut members = body.properties[place.resource].as_slice();
        let Some((_, above)) = place.path.split_last() else {
            continue;
        };
        let mut literal: Option<&Value> = None;
        for name in above {
            let below = match literal {
                Some(value) => match value.get(name) {
                    Some(value) => Below::Literal(value),
                    None => Below::Nothing,
                },
                None => match members.iter().find(|(known, _)| known == name) {
                    Some((_, Template::Object(below))) => Below::Members(below),
                    Some((_, Template::Literal(value))) => Below::Literal(value),
                    Some((_, Template::Alone(_) | Template::Text(_) | Template::List(_))) => {
                        Below::Leaf
                    }
                    None => Below::Nothing,
                },
            };
            let is_leaf = match below {
                Below::Nothing => break,
                Below::Members(below) => {
                    members = below;
                    false
                }
                Below::Literal(value) => {
                    literal = Some(value);
                    !value.is_object()
                }
                Below::Leaf => true,
            };
            if is_leaf {
                let message = format!(
                    "the place of the parameter `{}` is in `{name}`, which the resource sets as a whole",
                    one.name
                );
                problems.add(one.line, message);
                break;
            }
        }
    }
}

enum Below<'a> {
    Nothing,
    Leaf,
    Literal(&'a Value),
    Members(&'a [(String, Template)]),
}
