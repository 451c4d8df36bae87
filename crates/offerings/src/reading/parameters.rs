//! The parameters that a file declares.

use std::collections::BTreeMap;
use std::sync::Arc;

use serde_json::Value;
use ucp_model::excerpt;
use ucp_schema::{Classes, Patterns};

use super::flow::reached;
use crate::fields::Fields;
use crate::limits::{DEPTH_MAX, PARAMETERS_MAX, SCHEMA_MAX_BYTES};
use crate::parameter::Parameter;
use crate::place::{Place, cursor, fixed, to_pointer};
use crate::problem::Problems;
use crate::resource::{Head, Owner};
use crate::schema::flat;
use crate::schema::judge::Judge;
use crate::schema::keywords::{self, Keyword};
use crate::schema::narrow::narrowed;
use crate::source::Member;
use crate::template::{Name, Use, is_word};

/// The depths that are tried for the schemas of types, until all together are small enough.
const DEPTHS: [usize; 9] = [flat::DEPTH_MAX, 12, 8, 6, 5, 4, 3, 2, 1];

/// What the parameters of one owner may take up before they are narrowed, in bytes: the rest is for what is around them.
const ROOM: usize = SCHEMA_MAX_BYTES - 2_000;

/// A parameter as the file declares it.
pub(super) struct Declared {
    pub(super) name: String,
    pub(super) line: usize,
    pub(super) owner: Owner,
    pub(super) place: Option<Place>,
    /// The line that says that it is updatable.
    updatable: Option<usize>,
    is_required: bool,
    keywords: Vec<Keyword>,
}

/// A parameter of the file, for plans to narrow.
pub(super) struct Wide {
    pub(super) parameter: Arc<Parameter>,
    pub(super) owner: Owner,
}

/// Reads the declarations of parameters.
pub(super) fn declared(
    of_instance: &[Member],
    of_binding: &[Member],
    heads: &[Head],
    patterns: &Arc<Patterns>,
    problems: &mut Problems,
) -> Vec<Declared> {
    let instance = of_instance.iter().map(|member| (member, Owner::Instance));
    let binding = of_binding.iter().map(|member| (member, Owner::Binding));
    let mut known: BTreeMap<&str, usize> = BTreeMap::new();
    let mut found = Vec::new();
    for (count, (member, owner)) in instance.chain(binding).enumerate() {
        if count == PARAMETERS_MAX {
            let message = format!("an offering has at most {PARAMETERS_MAX} parameters");
            problems.add(member.line, message);
            break;
        }
        if !is_word(&member.name) {
            let message = format!(
                "`{}` cannot be the name of a parameter: 1 to 64 letters, digits, - and _",
                excerpt(&member.name)
            );
            problems.add(member.line, message);
        }
        if let Some(line) = known.insert(&member.name, member.line) {
            let message = format!(
                "the parameter `{}` is in line {line} too; choose another name",
                excerpt(&member.name)
            );
            problems.add(member.line, message);
        }
        found.extend(parameter(member, owner, heads, patterns, problems));
    }
    overlaps(&found, problems);
    found
}

fn parameter(
    member: &Member,
    owner: Owner,
    heads: &[Head],
    patterns: &Arc<Patterns>,
    problems: &mut Problems,
) -> Option<Declared> {
    let what = format!("the parameter `{}`", excerpt(&member.name));
    let mut fields = Fields::of(&member.node, member.line, what, problems)?;
    let at = fields.text("at", problems);
    let place = at.map(|(text, line)| place(text, line, owner, heads, problems));
    let is_required = fields.flag("required", false, problems);
    let updatable = match owner {
        Owner::Instance => {
            let line = fields.find("updatable").map(|member| member.line);
            let is_updatable = fields.flag("updatable", false, problems);
            line.filter(|_| is_updatable)
        }
        Owner::Binding => None,
    };
    let mut found = Vec::new();
    for name in keywords::NAMES {
        if let Some(member) = fields.take(name) {
            found.extend(keywords::read(name, member, patterns, problems));
        }
    }
    if at.is_none() {
        for name in keywords::INNER {
            if let Some(member) = fields.take(name) {
                found.extend(keywords::read(name, member, patterns, problems));
            }
        }
        if fields.find("type").is_none() {
            let message = format!(
                "the parameter `{}` needs `at`, or a `type`",
                excerpt(&member.name)
            );
            problems.add(member.line, message);
        }
    }
    if is_required && let Some(default) = fields.find("default") {
        problems.add(
            default.line,
            "what is required has no `default`; take one of them out",
        );
    }
    fields.finish(problems);
    Some(Declared {
        name: member.name.clone(),
        line: member.line,
        owner,
        place: match place {
            Some(place) => Some(place?),
            None => None,
        },
        updatable,
        is_required,
        keywords: found,
    })
}

/// Reads the place of a parameter. `None` if there is no such place.
fn place(
    text: &str,
    line: usize,
    owner: Owner,
    heads: &[Head],
    problems: &mut Problems,
) -> Option<Place> {
    let Some((name, path)) = text.split_once('/') else {
        let message = format!(
            "`{}` is not a place: it is resource/Path, as in bucket/BucketName",
            excerpt(text)
        );
        problems.add(line, message);
        return None;
    };
    let found = heads.iter().enumerate().find(|(_, head)| head.name == name);
    let Some((resource, head)) = found.filter(|(_, head)| head.owner == owner) else {
        let whose = match owner {
            Owner::Instance => "an instance",
            Owner::Binding => "a binding",
        };
        let message = format!("{whose} has no resource `{}`", excerpt(name));
        problems.add(line, message);
        return None;
    };
    let schema = head.schema.as_ref()?;
    let path: Vec<String> = path.split('/').map(str::to_owned).collect();
    if path.len() > DEPTH_MAX {
        problems.add(line, format!("the place is more than {DEPTH_MAX} deep"));
        return None;
    }
    let pointer = to_pointer(&path);
    let type_name = schema.type_name();
    let Some(cursor) = cursor(schema, &path) else {
        let message = format!(
            "{type_name} has no property at {}, through objects alone",
            excerpt(&pointer)
        );
        problems.add(line, message);
        return None;
    };
    if cursor.is(Classes::READ_ONLY) {
        let message = format!("{pointer} of {type_name} is read-only: AWS alone sets it");
        problems.add(line, message);
        return None;
    }
    Some(Place { resource, path })
}

/// Tells of parameters whose places are in each other.
fn overlaps(declared: &[Declared], problems: &mut Problems) {
    let mut places: Vec<(&Place, &Declared)> = declared
        .iter()
        .filter_map(|one| Some((one.place.as_ref()?, one)))
        .collect();
    places.sort_by_key(|(place, one)| (*place, one.line));
    // What is in a place follows it.
    for (index, (outer, one)) in places.iter().enumerate() {
        let inner = places[index + 1..].iter().take_while(|(place, _)| {
            place.resource == outer.resource && place.path.starts_with(&outer.path)
        });
        for (_, other) in inner {
            let (first, second) = if one.line < other.line {
                (one, other)
            } else {
                (other, one)
            };
            let message = format!(
                "the parameter `{}` has a place that overlaps with that of `{}`; choose places apart",
                second.name, first.name
            );
            problems.add(second.line, message);
        }
    }
}

/// Returns the parameters with their schemas, and tells what the types refuse. `uses` are the names in the properties of
/// the resources of instances.
pub(super) fn wide(
    declared: &[Declared],
    heads: &[Head],
    uses: &[(usize, Use)],
    patterns: &Arc<Patterns>,
    problems: &mut Problems,
) -> Vec<Wide> {
    let mut found = Vec::new();
    for owner in [Owner::Instance, Owner::Binding] {
        let own: Vec<&Declared> = declared.iter().filter(|one| one.owner == owner).collect();
        let Some(schemas) = flat_schemas(&own, heads) else {
            if let Some(first) = own.first() {
                let message = format!(
                    "the schemas of the parameters are larger than {SCHEMA_MAX_BYTES} bytes; let there be fewer, or places deeper in the resources"
                );
                problems.add(first.line, message);
            }
            continue;
        };
        for (one, base) in own.into_iter().zip(schemas) {
            if let Some(line) = one.updatable {
                not_updatable(one, heads, uses, line, problems);
            }
            let narrowing = Narrowing {
                name: &one.name,
                line: one.line,
                keywords: &one.keywords,
                default: None,
                is_required: one.is_required,
            };
            let made = narrowing.of(&base, patterns, problems);
            let Some((schema, judge, default)) = made else {
                continue;
            };
            found.push(Wide {
                parameter: Arc::new(Parameter {
                    name: one.name.clone(),
                    place: one.place.clone(),
                    is_required: one.is_required,
                    is_updatable: one.updatable.is_some(),
                    default,
                    schema,
                    judge,
                }),
                owner,
            });
        }
    }
    found
}

/// Returns the schemas of types at the places of parameters. `None` if they are too large, however shallow.
fn flat_schemas(declared: &[&Declared], heads: &[Head]) -> Option<Vec<Value>> {
    let own = declared.iter().flat_map(|one| &one.keywords);
    let own: usize = own
        .map(|keyword| keyword.value.to_string().len() + 24)
        .sum();
    let names: usize = declared.iter().map(|one| one.name.len() + 8).sum();
    let room = ROOM.saturating_sub(own + names);
    DEPTHS.into_iter().find_map(|depth| {
        let mut left = room;
        let schemas = declared.iter().map(|one| {
            let Some(place) = &one.place else {
                return Some(Value::Object(serde_json::Map::new()));
            };
            let schema = heads[place.resource].schema.as_ref()?;
            let flat = flat::at(schema, &place.path, depth)?;
            left = left.checked_sub(flat.to_string().len())?;
            Some(flat)
        });
        schemas.collect()
    })
}

/// Tells of the places that the value of a parameter reaches and that cannot be changed.
fn not_updatable(
    declared: &Declared,
    heads: &[Head],
    uses: &[(usize, Use)],
    line: usize,
    problems: &mut Problems,
) {
    let is_it = |used: &Use| used.name == Name::Parameter(declared.name.clone());
    let used = uses.iter().filter(|(_, used)| is_it(used));
    let used = used.map(|(resource, used)| Place {
        resource: *resource,
        path: used.path.clone(),
    });
    let own = declared.place.iter().cloned();
    for place in reached(own.chain(used), uses.iter()) {
        let schema = heads[place.resource].schema.as_ref();
        if let Some(why) = schema.and_then(|schema| fixed(schema, &place.path)) {
            let message = format!(
                "the parameter `{}` cannot be updatable: {why}",
                declared.name
            );
            problems.add(line, message);
        }
    }
}

/// How a parameter is narrowed.
pub(super) struct Narrowing<'a> {
    pub(super) name: &'a str,
    pub(super) line: usize,
    pub(super) keywords: &'a [Keyword],
    /// The default, if the keywords have none.
    pub(super) default: Option<&'a Value>,
    pub(super) is_required: bool,
}

impl Narrowing<'_> {
    /// Returns the schema, its judge and the default.
    pub(super) fn of(
        &self,
        base: &Value,
        patterns: &Arc<Patterns>,
        problems: &mut Problems,
    ) -> Option<(Value, Judge, Option<Value>)> {
        let schema = narrowed(base, self.keywords, patterns, problems);
        let Some(judge) = Judge::of(&schema, patterns) else {
            let message = format!("the schema of the parameter `{}` cannot be used", self.name);
            problems.add(self.line, message);
            return None;
        };
        let own = self
            .keywords
            .iter()
            .find(|keyword| keyword.name == "default");
        let default = own.map(|keyword| &keyword.value).or(self.default);
        let default = default.filter(|_| !self.is_required).cloned();
        if let Some(default) = &default {
            let line = own.map_or(self.line, |keyword| keyword.line);
            for objection in judge.objections(default, "", 5) {
                let place = match objection.pointer.as_str() {
                    "" => String::new(),
                    place => format!(" `{place}` of it"),
                };
                let message = format!(
                    "the default of `{}` does not fit:{place} {}",
                    self.name, objection.message
                );
                problems.add(line, message);
            }
        }
        Some((schema, judge, default))
    }
}
