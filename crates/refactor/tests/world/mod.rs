//! Resources in few words, for tests: a stack of deployed ones and a body, both as JSON.

#![expect(
    clippy::unwrap_used,
    reason = "the helpers are test code too, which panics on failure"
)]
#![allow(dead_code, reason = "each test uses some of the helpers")]

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Value, json};
use ucp_model::{Detail, GroupId, Identifier, ReferenceId, Scope, TypeName};
use ucp_refactor::{
    Base, Body, Declared, Deployed, Event, Group, LastSecrets, Mapping, OnAmbiguity, Refactor,
    State, has_same_values, refactor,
};

pub(crate) const QUEUE: &str = "AWS.SQS/Queue";
pub(crate) const TOPIC: &str = "AWS.SNS/Topic";

pub(crate) fn group(name: &str) -> GroupId {
    GroupId::new("local", name).unwrap()
}

pub(crate) fn type_name(name: &str) -> TypeName {
    TypeName::parse(name).unwrap()
}

/// Reads `{group}/{type}/{alias}`.
pub(crate) fn address(text: &str) -> ReferenceId {
    let (name, rest) = text.split_once('/').unwrap();
    let (type_of, alias) = rest.rsplit_once('/').unwrap();
    ReferenceId::new(group(name), type_name(type_of), alias).unwrap()
}

/// Writes `{group}/{type}/{alias}`.
pub(crate) fn short(id: &ReferenceId) -> String {
    format!("{}/{}/{}", id.group.name, id.type_name.arm(), id.alias)
}

pub(crate) fn shorts(ids: &[ReferenceId]) -> Vec<String> {
    ids.iter().map(short).collect()
}

/// Reads `{account}/{region}`.
pub(crate) fn scope(text: &str) -> Scope {
    let (account, region) = text.split_once('/').unwrap();
    Scope::new("aws", account, region).unwrap()
}

pub(crate) const HOME: &str = "123456789012/us-east-1";

/// A deployed resource with an identifier, a declaration (`null` for none) and read-only properties.
pub(crate) fn deployed(at: &str, identifier: &str, declared: Value, attributes: Value) -> Deployed {
    let attributes = attributes.as_object().cloned().unwrap_or_default();
    Deployed {
        address: address(at),
        scope: scope(HOME),
        identifier: (!identifier.is_empty()).then(|| Identifier::new(identifier)),
        declared: (!declared.is_null()).then_some(declared),
        attributes: attributes.into_iter().collect::<BTreeMap<_, _>>(),
        default_tags: json!({}),
        write_only: BTreeSet::new(),
        secrets: LastSecrets::None,
    }
}

pub(crate) fn declared(at: &str, properties: Value) -> Declared {
    Declared {
        place: String::new(),
        address: address(at),
        symbolic_name: None,
        scope: scope(HOME),
        identifier: None,
        identified_by: None,
        properties,
        default_tags: json!({}),
        write_only: BTreeSet::new(),
    }
}

pub(crate) fn state(resources: Vec<Deployed>) -> State {
    State {
        resources,
        events: Vec::new(),
    }
}

/// A body that declares resources. All groups that any of them or `more` has are named.
pub(crate) fn body(resources: Vec<Declared>, more: &[&str]) -> Body {
    let named = resources.iter().map(|one| one.address.group.name.clone());
    let named: BTreeSet<String> = named.chain(more.iter().map(|&name| name.into())).collect();
    let groups = named.iter().enumerate();
    let groups = groups.map(|(index, name)| Group {
        place: format!("/groups/{index}/name"),
        id: group(name),
    });
    let resources = resources.into_iter().enumerate();
    let resources = resources.map(|(index, resource)| Declared {
        place: format!("/groups/0/resources/{index}"),
        ..resource
    });
    Body {
        base: Base::Plane("local".to_owned()),
        groups: groups.collect(),
        resources: resources.collect(),
        deleted: Vec::new(),
        moves: Vec::new(),
        exclude: Vec::new(),
        history: None,
        on_ambiguity: OnAmbiguity::Refuse,
        deploy: false,
    }
}

pub(crate) fn mappings(moves: &[(&str, &str)]) -> Vec<Mapping> {
    let moves = moves.iter();
    moves
        .map(|(from, to)| Mapping {
            from: (*from).to_owned(),
            to: (*to).to_owned(),
        })
        .collect()
}

pub(crate) fn event(id: &str, moves: &[(&str, &str)]) -> Event {
    Event {
        id: id.to_owned(),
        moves: mappings(moves),
    }
}

pub(crate) fn judged(state: &State, body: &Body) -> Refactor {
    match refactor(state, body, has_same_values) {
        Ok(refactor) => refactor,
        Err(problems) => panic!("{problems:?}"),
    }
}

pub(crate) fn problems(state: &State, body: &Body) -> Vec<(String, String)> {
    let problems: Vec<Detail> = refactor(state, body, has_same_values).unwrap_err();
    let problems = problems.into_iter();
    problems
        .map(|problem| (problem.target.unwrap_or_default(), problem.code))
        .collect()
}

/// `from → to: reason`, in the order of `from`.
pub(crate) fn moves(refactor: &Refactor) -> Vec<String> {
    let moves = refactor.moves.iter();
    let mut moves: Vec<String> = moves
        .map(|found| {
            let (from, to) = (short(&found.from), short(&found.to));
            format!("{from} → {to}: {}", found.reason.as_str())
        })
        .collect();
    moves.sort();
    moves
}

/// `[from] | [to]: reason`
pub(crate) fn ambiguities(refactor: &Refactor) -> Vec<String> {
    let ambiguities = refactor.ambiguities.iter();
    ambiguities
        .map(|found| {
            let (from, to) = (shorts(&found.from), shorts(&found.to));
            format!(
                "{} | {}: {}",
                from.join(" "),
                to.join(" "),
                found.reason.as_str()
            )
        })
        .collect()
}

/// `[from] | [to]: code`
pub(crate) fn refused(refactor: &Refactor) -> Vec<String> {
    let refused = refactor.refused.iter();
    refused
        .map(|found| {
            let (from, to) = (shorts(&found.from), shorts(&found.to));
            format!(
                "{} | {}: {}",
                from.join(" "),
                to.join(" "),
                found.code.as_str()
            )
        })
        .collect()
}

/// `create`, `update` and `undeclared`.
pub(crate) fn changes(refactor: &Refactor) -> [Vec<String>; 3] {
    let changes = &refactor.changes;
    [&changes.create, &changes.update, &changes.undeclared].map(|ids| shorts(ids))
}

/// Asserts that nothing but these moves is found.
#[track_caller]
pub(crate) fn assert_moves(refactor: &Refactor, expected: &[&str]) {
    assert_eq!(moves(refactor), expected);
    assert_eq!(ambiguities(refactor), [""; 0]);
    assert_eq!(refused(refactor), [""; 0]);
}
