//! What a deployment puts, and in which order.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;
use ucp_model::ReferenceId;
use ucp_set::{Graph, renamed, visit};

use crate::body::Declared;
use crate::names::Names;
use crate::resources::{Resources, Side};

/// A declaration that a deployment puts once everything has moved.
#[derive(Clone, Debug, PartialEq)]
pub struct Put {
    /// The index of its resource in the body.
    pub resource: usize,
    /// Its properties. References in them name tracking ids.
    pub properties: Value,
    /// The indexes of the puts that come first, in ascending order.
    pub needs: Vec<usize>,
    /// The addresses of what it refers to and that is not put, once everything has moved.
    pub stays: Vec<ReferenceId>,
    /// What it refers to that nothing will be at, as far as can be told, each with the place of the reference.
    pub unmet: Vec<(String, ReferenceId)>,
}

/// Returns the declared resources that refer to one of these, and to those, and so on, of those that may be put. A put of these
/// may replace them, and then who refers to them has to be put too.
pub(crate) fn users(
    resources: &Resources<'_>,
    names: &Names,
    updated: &[usize],
    may_be_put: impl Fn(usize) -> bool,
) -> Vec<usize> {
    let mut used_by: BTreeMap<usize, Vec<usize>> = BTreeMap::new();
    for user in resources.all_declared().filter(|user| may_be_put(*user)) {
        let Side::Declared(declared) = resources.side(user) else {
            continue;
        };
        visit(&declared.properties, |_, expression| {
            for address in expression.iter().flat_map(|it| it.addresses()) {
                if let Some(target) = names.get(user, &address.name) {
                    used_by.entry(target).or_default().push(user);
                }
            }
        });
    }
    let mut found = BTreeSet::new();
    let mut left = updated.to_vec();
    while let Some(target) = left.pop() {
        for user in used_by.remove(&target).into_iter().flatten() {
            if found.insert(user) {
                left.push(user);
            }
        }
    }
    found.into_iter().collect()
}

/// Returns the puts of these declared resources, each after those that it refers to, and last those on circles. `is_there` tells whether a resource will
/// be at its address without a put.
pub(crate) fn puts(
    resources: &Resources<'_>,
    names: &Names,
    changed: &[usize],
    is_there: impl Fn(usize) -> bool,
) -> Vec<Put> {
    let first = resources.all_declared().start;
    let among: BTreeMap<usize, usize> = changed.iter().copied().zip(0..).collect();
    let mut needs = vec![BTreeSet::new(); changed.len()];
    let mut puts: Vec<Option<Put>> = Vec::with_capacity(changed.len());
    for (user, needs) in changed.iter().zip(&mut needs) {
        let Side::Declared(Declared {
            place, properties, ..
        }) = resources.side(*user)
        else {
            puts.push(None);
            continue;
        };
        let (mut unmet, mut stays) = (Vec::new(), BTreeSet::new());
        visit(properties, |at, expression| {
            for address in expression.iter().flat_map(|it| it.addresses()) {
                let Some(target) = names.get(*user, &address.name) else {
                    continue;
                };
                match among.get(&target) {
                    Some(put) => drop(needs.insert(*put)),
                    None if is_there(target) => drop(stays.insert(target)),
                    None => unmet.push((
                        format!("{place}/properties{at}"),
                        resources.id(target).clone(),
                    )),
                }
            }
        });
        let linked = renamed(properties, |address| {
            match names.get(*user, &address.name) {
                Some(target) => resources.id(target).to_string(),
                None => address.name.clone(),
            }
        });
        puts.push(Some(Put {
            resource: user - first,
            properties: linked,
            needs: Vec::new(),
            stays: stays
                .into_iter()
                .map(|it| resources.id(it).clone())
                .collect(),
            unmet,
        }));
    }
    let needs: Vec<Vec<usize>> = needs
        .into_iter()
        .map(|needs| needs.into_iter().collect())
        .collect();
    let graph = Graph(needs);
    let mut order = graph.sorted().order;
    // What is on a circle, or needs that, has no order.
    let sorted: BTreeSet<usize> = order.iter().copied().collect();
    order.extend((0..puts.len()).filter(|put| !sorted.contains(put)));
    let places: BTreeMap<usize, usize> = order.iter().copied().zip(0..).collect();
    order
        .iter()
        .filter_map(|put| {
            let mut needs: Vec<usize> = graph.0[*put]
                .iter()
                .filter_map(|need| places.get(need).copied())
                .collect();
            needs.sort_unstable();
            Some(Put {
                needs,
                ..puts[*put].take()?
            })
        })
        .collect()
}
