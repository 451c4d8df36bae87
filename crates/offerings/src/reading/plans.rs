//! The plans that a file lists.

use std::collections::BTreeMap;
use std::sync::Arc;

use serde_json::Value;
use ucp_model::excerpt;
use ucp_schema::Patterns;

use super::names;
use super::parameters::{Narrowing, Wide};
use super::properties::{Set, judge_presets};
use crate::body::{Body, Preset};
use crate::fields::Fields;
use crate::limits::{PLANS_MAX, SCHEMA_MAX_BYTES};
use crate::parameter::{Parameter, Parameters};
use crate::place::Place;
use crate::problem::Problems;
use crate::resource::Owner;
use crate::schema::keywords;
use crate::source::{Content, Member, Node};
use crate::template::{Reading, Scope, Use};
use crate::version;

/// A plan of which the edges are not known yet.
pub(super) struct Found<'n> {
    pub(super) id: Option<(String, usize)>,
    pub(super) name: Option<(String, usize)>,
    pub(super) description: String,
    pub(super) metadata: Option<Value>,
    pub(super) is_free: bool,
    pub(super) version: Option<String>,
    pub(super) version_description: Option<String>,
    pub(super) updates_to: Vec<(&'n str, usize)>,
    pub(super) replaces_to: Vec<(&'n str, usize)>,
    pub(super) parameters: Option<&'n [Member]>,
    pub(super) presets: Vec<Preset>,
    /// The names in presets, by the indexes of resources.
    pub(super) uses: Vec<(usize, Use)>,
    /// The values of presets.
    pub(super) nodes: Vec<&'n Node>,
    pub(super) line: usize,
}

pub(super) fn read<'n>(
    member: Option<&'n Member>,
    line: usize,
    scope: Scope<'_>,
    problems: &mut Problems,
) -> Vec<Found<'n>> {
    let Some(member) = member else {
        problems.add(line, "an offering needs `[[plans]]`");
        return Vec::new();
    };
    let plans = member.node.elements().unwrap_or_default();
    if plans.is_empty() {
        problems.add(
            member.line,
            "`plans` is a list of at least one table: write `[[plans]]`",
        );
    }
    if let Some(beyond) = plans.get(PLANS_MAX) {
        problems.add(
            beyond.line,
            format!("an offering has at most {PLANS_MAX} plans"),
        );
    }
    let plans = plans.iter().take(PLANS_MAX);
    plans
        .filter_map(|node| plan(node, scope, problems))
        .collect()
}

fn plan<'n>(node: &'n Node, scope: Scope<'_>, problems: &mut Problems) -> Option<Found<'n>> {
    let mut fields = Fields::of(node, node.line, "a plan", problems)?;
    let id = names::id(fields.needed("id", problems), problems);
    let name = names::name(fields.needed("name", problems), problems);
    let description = fields.needed("description", problems);
    let metadata = fields.given_table("metadata", problems);
    let mut found = Found {
        id,
        name,
        description: description.map_or("", |(text, _)| text).to_owned(),
        metadata: metadata.map(|members| Value::Object(crate::source::to_object(members))),
        is_free: fields.flag("free", true, problems),
        version: None,
        version_description: None,
        updates_to: fields.texts("updates_to", problems),
        replaces_to: fields.texts("replaces_to", problems),
        parameters: fields.given_table("parameters", problems),
        presets: Vec::new(),
        uses: Vec::new(),
        nodes: Vec::new(),
        line: node.line,
    };
    if let Some(member) = fields.take("maintenance") {
        let what = "`maintenance` of a plan";
        if let Some(mut fields) = Fields::of(&member.node, member.line, what, problems) {
            if let Some((version, line)) = fields.needed("version", problems) {
                if !version::is_semantic(version) {
                    let message = "`version` is a semantic version, such as 1.0.0";
                    problems.add(line, message);
                }
                found.version = Some(version.to_owned());
            }
            let description = fields.text("description", problems);
            found.version_description = description.map(|(text, _)| text.to_owned());
            fields.finish(problems);
        }
    }
    for member in fields.table("presets", problems) {
        presets(member, scope, &mut found, problems);
    }
    fields.finish(problems);
    Some(found)
}

fn presets<'n>(
    member: &'n Member,
    scope: Scope<'_>,
    found: &mut Found<'n>,
    problems: &mut Problems,
) {
    let resource = scope.heads.iter().position(|head| head.name == member.name);
    let resource = resource.filter(|index| scope.heads[*index].owner == Owner::Instance);
    let Some(resource) = resource else {
        let message = format!("an instance has no resource `{}`", excerpt(&member.name));
        problems.add(member.line, message);
        return;
    };
    let Some(members) = member.node.members() else {
        problems.add(
            member.line,
            "presets of a resource are a table of its properties",
        );
        return;
    };
    let mut reading = Reading::new(scope, problems);
    for member in members {
        leaves(member, resource, &mut reading, found);
    }
    let uses = std::mem::take(&mut reading.uses);
    found
        .uses
        .extend(uses.into_iter().map(|used| (resource, used)));
}

/// Adds the values of a preset that are no tables, or empty ones.
fn leaves<'n>(
    member: &'n Member,
    resource: usize,
    reading: &mut Reading<'_, '_>,
    found: &mut Found<'n>,
) {
    reading.path.push(member.name.clone());
    match &member.node.content {
        Content::Table(members) if !members.is_empty() => {
            reading.refuse_reserved(members);
            for member in members {
                leaves(member, resource, reading, found);
            }
        }
        Content::Table(_) | Content::List(_) | Content::Scalar(_) => {
            let template = reading.value(&member.node);
            found.presets.push(Preset {
                place: Place {
                    resource,
                    path: reading.path.clone(),
                },
                template,
                line: member.line,
            });
            found.nodes.push(&member.node);
        }
    }
    reading.path.pop();
}

/// Returns the parameters of an instance and of a binding in a plan.
pub(super) fn parameters(
    plan: &Found<'_>,
    wide: &[Wide],
    patterns: &Arc<Patterns>,
    problems: &mut Problems,
) -> (Parameters, Parameters) {
    for member in plan.parameters.into_iter().flatten() {
        let named = wide.iter().find(|one| one.parameter.name == member.name);
        match named {
            None => {
                let message = format!("there is no parameter `{}`", excerpt(&member.name));
                problems.add(member.line, message);
            }
            Some(one) if is_preset(&one.parameter, &plan.presets) => {
                let message = format!(
                    "a preset of the plan sets `{}`; take one of them out",
                    member.name
                );
                problems.add(member.line, message);
            }
            Some(_) => {}
        }
    }
    let mut of_owner = |owner: Owner| {
        let mut own = Vec::new();
        for one in wide.iter().filter(|one| one.owner == owner) {
            let mut named = plan.parameters.into_iter().flatten();
            let named = named.find(|member| member.name == one.parameter.name);
            let is_left_out =
                owner == Owner::Instance && plan.parameters.is_some() && named.is_none();
            if is_left_out || is_preset(&one.parameter, &plan.presets) {
                continue;
            }
            own.push(match named {
                None => Arc::clone(&one.parameter),
                Some(member) => match narrow(&one.parameter, member, patterns, problems) {
                    Some(narrow) => Arc::new(narrow),
                    None => Arc::clone(&one.parameter),
                },
            });
        }
        Parameters(own)
    };
    let (instance, binding) = (of_owner(Owner::Instance), of_owner(Owner::Binding));
    for parameters in [&instance, &binding] {
        let size = parameters.creation_schema().to_string().len();
        if size > SCHEMA_MAX_BYTES {
            let message = format!(
                "the schema of the parameters has {size} bytes, and may have {SCHEMA_MAX_BYTES}; let there be fewer"
            );
            problems.add(plan.line, message);
        }
    }
    (instance, binding)
}

/// Returns whether a plan sets the whole value of a parameter.
fn is_preset(parameter: &Parameter, presets: &[Preset]) -> bool {
    let Some(place) = &parameter.place else {
        return false;
    };
    presets.iter().any(|preset| {
        preset.place.resource == place.resource && place.path.starts_with(&preset.place.path)
    })
}

fn narrow(
    wide: &Parameter,
    member: &Member,
    patterns: &Arc<Patterns>,
    problems: &mut Problems,
) -> Option<Parameter> {
    let what = format!("the parameter `{}` of a plan", excerpt(&member.name));
    let mut fields = Fields::of(&member.node, member.line, what, problems)?;
    let required_line = fields.find("required").map(|member| member.line);
    let is_required = fields.flag("required", wide.is_required, problems);
    if let Some(line) = required_line
        && wide.is_required
        && !is_required
    {
        let message = format!("`{}` is required in all plans", wide.name);
        problems.add(line, message);
    }
    let mut found = Vec::new();
    for name in keywords::NAMES {
        if let Some(member) = fields.take(name) {
            found.extend(keywords::read(name, member, patterns, problems));
        }
    }
    if is_required && let Some(default) = fields.find("default") {
        problems.add(
            default.line,
            "what is required has no `default`; take one of them out",
        );
    }
    fields.finish(problems);
    let mut base = wide.schema.clone();
    if is_required && let Some(members) = base.as_object_mut() {
        members.shift_remove("default");
    }
    let narrowing = Narrowing {
        name: &wide.name,
        line: member.line,
        keywords: &found,
        default: wide.default.as_ref(),
        is_required,
    };
    let (schema, judge, default) = narrowing.of(&base, patterns, problems)?;
    Some(Parameter {
        name: wide.name.clone(),
        place: wide.place.clone(),
        is_required,
        is_updatable: wide.is_updatable,
        default,
        schema,
        judge,
    })
}

/// Tells of presets that types refuse.
pub(super) fn judge(
    plan: &Found<'_>,
    parameters: &Parameters,
    body: &Body,
    problems: &mut Problems,
) {
    let mut by_resource: BTreeMap<usize, Vec<Set<'_>>> = BTreeMap::new();
    for (preset, node) in plan.presets.iter().zip(&plan.nodes) {
        let set = Set {
            place: &preset.place,
            template: &preset.template,
            line: preset.line,
            node,
        };
        by_resource
            .entry(preset.place.resource)
            .or_default()
            .push(set);
    }
    for (resource, presets) in by_resource {
        let places = parameters.0.iter().filter_map(|one| one.place.as_ref());
        let places: Vec<&Place> = places.filter(|place| place.resource == resource).collect();
        let head = &body.heads[resource];
        judge_presets(
            head,
            &body.properties[resource],
            &places,
            &presets,
            problems,
        );
    }
}
