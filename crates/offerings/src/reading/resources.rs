//! The resources of an offering: their names and types.

use std::collections::BTreeMap;

use ucp_model::{TypeName, excerpt};
use ucp_schema::Catalogue;

use crate::fields::Fields;
use crate::limits::{RESOURCE_NAME_MAX_CHARS, RESOURCES_MAX};
use crate::problem::Problems;
use crate::resource::{Head, Owner};
use crate::source::{Member, Node};
use crate::template::is_word;

/// The first parts of names in `((…))` that no resource can have.
const RESERVED: [&str; 2] = ["parameters", "random"];

/// A resource, and the value of its `properties`.
pub(super) struct Found<'n> {
    pub(super) head: Head,
    pub(super) properties: Option<&'n Node>,
}

/// Reads the resources of an instance and of a binding.
pub(super) fn read<'n>(
    of_instance: &'n [Member],
    of_binding: &'n [Member],
    catalogue: &Catalogue,
    problems: &mut Problems,
) -> Vec<Found<'n>> {
    let instance = of_instance.iter().map(|member| (member, Owner::Instance));
    let binding = of_binding.iter().map(|member| (member, Owner::Binding));
    let mut known: BTreeMap<String, usize> = BTreeMap::new();
    let mut found = Vec::new();
    for (count, (member, owner)) in instance.chain(binding).enumerate() {
        if count == RESOURCES_MAX {
            let message = format!("an offering has at most {RESOURCES_MAX} resources");
            problems.add(member.line, message);
            break;
        }
        let is_name = is_word(&member.name) && member.name.len() <= RESOURCE_NAME_MAX_CHARS;
        if !is_name || RESERVED.contains(&member.name.as_str()) {
            let message = format!(
                "`{}` cannot be the name of a resource: 1 to {RESOURCE_NAME_MAX_CHARS} letters, digits, - and _, and neither `parameters` nor `random`",
                excerpt(&member.name)
            );
            problems.add(member.line, message);
        }
        if let Some(line) = known.insert(member.name.to_lowercase(), member.line) {
            let message = format!(
                "the name `{}` is taken by the resource in line {line}, regardless of letter case; choose another one",
                excerpt(&member.name)
            );
            problems.add(member.line, message);
        }
        found.push(resource(member, owner, catalogue, problems));
    }
    found
}

fn resource<'n>(
    member: &'n Member,
    owner: Owner,
    catalogue: &Catalogue,
    problems: &mut Problems,
) -> Found<'n> {
    let mut head = Head {
        name: member.name.clone(),
        line: member.line,
        owner,
        schema: None,
    };
    let what = format!("the resource `{}`", excerpt(&member.name));
    let Some(mut fields) = Fields::of(&member.node, member.line, what, problems) else {
        return Found {
            head,
            properties: None,
        };
    };
    if let Some((text, line)) = fields.needed("type", problems) {
        head.schema = match TypeName::parse(text) {
            Ok(name) => of_type(&name, line, catalogue, problems),
            Err(error) => {
                problems.add(line, format!("{error}"));
                None
            }
        };
    }
    let properties = fields.take("properties");
    if let Some(properties) = properties
        && properties.node.members().is_none()
    {
        problems.add(properties.line, "`properties` is a table");
    }
    fields.finish(problems);
    Found {
        head,
        properties: properties
            .map(|properties| &properties.node)
            .filter(|node| node.members().is_some()),
    }
}

fn of_type(
    name: &TypeName,
    line: usize,
    catalogue: &Catalogue,
    problems: &mut Problems,
) -> Option<std::sync::Arc<ucp_schema::ResourceSchema>> {
    let Some(schema) = catalogue.get(name) else {
        let meant = catalogue.suggest(name);
        let meant = meant.map(|meant| format!("; did you mean {meant}?"));
        let message = format!("the type {name} is unknown{}", meant.unwrap_or_default());
        problems.add(line, message);
        return None;
    };
    let handlers = schema.handlers();
    for (has, what) in [
        (schema.is_provisionable(), "created"),
        (handlers.delete, "deleted"),
    ] {
        if !has {
            let message = format!(
                "{} cannot be {what} by Cloud Control, so no instance can have one",
                schema.type_name()
            );
            problems.add(line, message);
        }
    }
    (schema.is_provisionable() && handlers.delete).then_some(schema)
}
