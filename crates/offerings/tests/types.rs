//! What may be updated, for every embedded type and every place that its schema names.

#![expect(
    clippy::unwrap_used,
    reason = "the helpers are test code too, which panics on failure"
)]

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;

use serde_json::Value;
use ucp_model::TypeName;
use ucp_offerings::{Offerings, Problem, SourceFile};
use ucp_schema::{Catalogue, Classes, Cursor, PropertyPath, ResourceSchema, Segment, Types};

/// How deep places are looked at.
const DEPTH: usize = 4;
/// How many parameters one file has.
const CHUNK: usize = 150;

type Path = Vec<String>;

/// Adds the places that a schema names, by their depth.
fn places(cursor: Cursor<'_>, path: &mut Path, found: &mut Vec<Vec<Path>>) {
    let types = cursor.shape().types;
    let is_object = types.is_any() || types.names(Types::OBJECT);
    if path.len() == DEPTH || !is_object {
        return;
    }
    let names: Vec<String> = cursor.shape().member_names().map(str::to_owned).collect();
    for name in names.into_iter().filter(|name| !name.contains('/')) {
        let below = cursor.member(&name).unwrap();
        path.push(name);
        found[path.len() - 1].push(path.clone());
        places(below, path, found);
        path.pop();
    }
}

/// Returns whether a listed path is, is above or is below a place. Paths are compared as the schema spells them.
fn touches(listed: &PropertyPath, path: &[String]) -> bool {
    let steps = listed.segments().iter().zip(path);
    let mut steps = steps.map(|(segment, name)| match segment {
        Segment::Key(key) => key == name,
        Segment::Any => true,
    });
    steps.all(|fits| fits)
}

fn is_above(listed: &PropertyPath, path: &[String]) -> bool {
    listed.segments().len() <= path.len() && touches(listed, path)
}

/// Returns whether a place can be given by a parameter at all, and whether it can be updated, from the lists of the schema
/// alone.
fn expected(schema: &ResourceSchema, path: &[String]) -> (bool, bool) {
    let mut read_only = schema.listed(Classes::READ_ONLY);
    let is_given = !read_only.any(|listed| is_above(listed, path));
    let fixed = schema.listed(Classes::CREATE_ONLY);
    let mut fixed = fixed.chain(schema.primary_identifier());
    let is_updatable = schema.is_updatable() && !fixed.any(|listed| touches(listed, path));
    (is_given, is_given && is_updatable)
}

fn file(type_name: &str, places: &[&Path]) -> (SourceFile, BTreeMap<usize, usize>) {
    let mut text = format!(
        "name = \"a\"\nid = \"a\"\ndescription = \"a\"\n[[plans]]\nid = \"b\"\nname = \"b\"\ndescription = \"b\"\n[resources.r]\ntype = \"{type_name}\"\n"
    );
    let mut lines = BTreeMap::new();
    for (index, path) in places.iter().enumerate() {
        let at = Value::from(format!("r/{}", path.join("/")));
        write!(text, "[parameters.p{index}]\nat = {at}\nupdatable = true\n").unwrap();
        let line = text.lines().count();
        lines.extend([(line - 1, index), (line, index)]);
    }
    let name = "a.toml".to_owned();
    (SourceFile { name, text }, lines)
}

/// Visits the members that a schema names, each with its place, through objects.
fn named(schema: &Value, path: &mut Path, visit: &mut impl FnMut(&Path)) {
    for (name, member) in schema["properties"].as_object().into_iter().flatten() {
        path.push(name.clone());
        visit(path);
        named(member, path, visit);
        path.pop();
    }
    for keyword in ["allOf", "anyOf", "oneOf"] {
        for branch in schema[keyword].as_array().into_iter().flatten() {
            named(branch, path, visit);
        }
    }
}

/// What was told of types.
#[derive(Default)]
struct Told {
    types: usize,
    accepted: usize,
    refused: usize,
    wrong: Vec<String>,
}

#[test]
fn a_parameter_is_updatable_if_and_only_if_its_place_is() {
    let catalogue = Catalogue::embedded();
    let names: Vec<&TypeName> = catalogue.type_names().collect();
    let threads = std::thread::available_parallelism().map_or(1, usize::from);
    let shares: Vec<Told> = std::thread::scope(|scope| {
        let workers: Vec<_> = (0..threads)
            .map(|share| {
                let names = names.iter().skip(share).step_by(threads);
                let catalogue = &catalogue;
                scope.spawn(move || {
                    let mut told = Told::default();
                    names.for_each(|name| judge(name, catalogue, &mut told));
                    told
                })
            })
            .collect();
        workers
            .into_iter()
            .map(|worker| worker.join().unwrap())
            .collect()
    });
    let sum = |of: fn(&Told) -> usize| shares.iter().map(of).sum::<usize>();
    let (accepted, refused) = (sum(|told| told.accepted), sum(|told| told.refused));
    let types = sum(|told| told.types);
    println!("{types} types, {accepted} places accepted, {refused} refused");
    let wrong: Vec<&str> = shares
        .iter()
        .flat_map(|told| &told.wrong)
        .map(String::as_str)
        .collect();
    assert!(
        wrong.is_empty(),
        "{} wrong:\n{}",
        wrong.len(),
        wrong.join("\n")
    );
    assert!(accepted > 10_000 && refused > 5_000, "{accepted} {refused}");
}

/// Judges a parameter at each place of a type.
fn judge(type_name: &TypeName, catalogue: &Catalogue, all: &mut Told) {
    let schema = catalogue.get(type_name).unwrap();
    let handlers = schema.handlers();
    if !(schema.is_provisionable() && handlers.delete) {
        let (file, _) = file(type_name.as_str(), &[]);
        let problems = Offerings::read(&[file], catalogue).unwrap_err();
        assert!(problems.iter().all(|one| one.line == 9), "{problems:?}");
        return;
    }
    all.types += 1;
    let mut by_depth = vec![Vec::new(); DEPTH];
    places(schema.root(), &mut Vec::new(), &mut by_depth);
    for chunk in by_depth.iter().flat_map(|places| places.chunks(CHUNK)) {
        let chunk: Vec<&Path> = chunk.iter().collect();
        let (source, lines) = file(type_name.as_str(), &chunk);
        let problems = Offerings::read(&[source], catalogue)
            .err()
            .unwrap_or_default();
        let mut told: BTreeMap<usize, &Problem> = BTreeMap::new();
        for problem in &problems {
            let index = lines.get(&problem.line);
            let index = index.unwrap_or_else(|| panic!("{type_name}: {problem}"));
            told.insert(*index, problem);
        }
        let mut good = Vec::new();
        for (index, path) in chunk.iter().enumerate() {
            let (_, is_updatable) = expected(&schema, path);
            let problem = told.get(&index);
            if problem.is_none() != is_updatable {
                all.wrong
                    .push(format!("{type_name} {path:?} {is_updatable}: {problem:?}"));
            }
            match problem {
                None => good.push(*path),
                Some(_) => all.refused += 1,
            }
        }
        all.accepted += good.len();
        judge_schemas(&schema, &good, catalogue);
    }
}

/// No update schema has a create-only or a read-only place, and each is valid, closed, and small enough.
fn judge_schemas(schema: &ResourceSchema, places: &[&Path], catalogue: &Catalogue) {
    let type_name = schema.type_name();
    let (source, _) = file(type_name.as_str(), places);
    let offerings = Offerings::read(&[source], catalogue).unwrap();
    let catalog = offerings.catalog(|_| true);
    let update =
        &catalog["services"][0]["plans"][0]["schemas"]["service_instance"]["update"]["parameters"];
    assert_eq!(update["additionalProperties"], false);
    let text = update.to_string();
    assert!(text.len() <= 64_000, "{type_name}: {}", text.len());
    assert!(!text.contains("\"$ref\""), "{type_name}");
    assert!(
        jsonschema::draft4::meta::is_valid(update),
        "{type_name}: {text}"
    );
    let properties = update["properties"].as_object().unwrap();
    assert_eq!(properties.len(), places.len(), "{type_name}");
    for (index, place) in places.iter().enumerate() {
        let parameter = &properties[&format!("p{index}")];
        let mut seen = BTreeSet::new();
        named(parameter, &mut (*place).clone(), &mut |path| {
            seen.insert(path.clone());
        });
        for path in seen.iter().chain([*place]) {
            let (is_given, is_updatable) = expected(schema, path);
            assert!(
                is_given && is_updatable,
                "{type_name}: {path:?} is in the update of {place:?}"
            );
        }
    }
}
