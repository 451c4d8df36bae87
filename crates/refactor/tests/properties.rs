//! Renamed graphs of any shape: what refinement tells apart is recovered, and the rest is ambiguous.
//!
//! `UCP_CASES=5000` draws more cases than a normal run.

mod world;

use std::collections::BTreeMap;

use proptest::prelude::*;
use serde_json::{Value, json};
use ucp_refactor::{AmbiguityReason, Body, Declared, Deployed, Refactor, State};

use crate::world::{QUEUE, TOPIC, address, body, declared, deployed, judged, scope, short, state};

const SCOPES: [&str; 2] = ["111111111111/us-east-1", "111111111111/eu-west-1"];

/// A resource of a graph.
#[derive(Clone, Debug)]
struct Node {
    /// What tells it apart from others, references aside.
    kind: usize,
    is_topic: bool,
    scope: usize,
    group: usize,
    /// Whom it refers to, and whether by the ARN.
    refers_to: Vec<(usize, bool)>,
}

fn cases() -> ProptestConfig {
    let cases = std::env::var("UCP_CASES").ok();
    let cases = cases.map(|cases| cases.parse().expect("UCP_CASES is a number"));
    ProptestConfig {
        failure_persistence: None,
        ..ProptestConfig::with_cases(cases.unwrap_or(64))
    }
}

/// Graphs of up to twelve resources: chains, stars, rings, two copies of any, and what comes by chance.
fn graphs(kinds: usize) -> impl Strategy<Value = Vec<Node>> {
    let node = (0..kinds, any::<bool>(), 0..2usize, 0..2usize);
    let references = prop::collection::vec((any::<prop::sample::Index>(), any::<bool>()), 0..3);
    let nodes = prop::collection::vec((node, references), 1..12);
    let shape = (0..5usize, any::<bool>(), any::<bool>());
    (nodes, shape).prop_map(|(drawn, (shape, is_plain, is_twice))| {
        let count = drawn.len();
        let nodes = drawn.into_iter().enumerate();
        let nodes = nodes.map(|(index, ((kind, is_topic, scope, group), references))| {
            let refers_to = match shape {
                0 if index > 0 => vec![(index - 1, false)],
                1 if index > 0 => vec![(0, index % 2 == 0)],
                2 => vec![((index + 1) % count, false)],
                3 => Vec::new(),
                _ => {
                    let references = references.into_iter();
                    references
                        .map(|(target, by_arn)| (target.index(count), by_arn))
                        .collect()
                }
            };
            Node {
                kind: if is_plain { 0 } else { kind },
                is_topic: is_topic && !is_plain,
                scope: if is_plain { 0 } else { scope },
                group,
                refers_to: refers_to
                    .into_iter()
                    .filter(|(target, _)| *target != index)
                    .collect(),
            }
        });
        let mut nodes: Vec<Node> = nodes.collect();
        // A value of another environment is no reference.
        let scopes: Vec<usize> = nodes.iter().map(|node| node.scope).collect();
        for node in &mut nodes {
            node.refers_to
                .retain(|(target, _)| scopes[*target] == node.scope);
        }
        let copy = nodes.iter().cloned().map(|mut node| {
            node.refers_to
                .iter_mut()
                .for_each(|(target, _)| *target += count);
            node
        });
        let copy: Vec<Node> = copy.filter(|_| is_twice).collect();
        nodes.into_iter().chain(copy).collect()
    })
}

/// Graphs in which no resource has the content of another.
fn distinct() -> impl Strategy<Value = Vec<Node>> {
    graphs(1).prop_map(|nodes| {
        let nodes = nodes.into_iter().enumerate();
        nodes.map(|(kind, node)| Node { kind, ..node }).collect()
    })
}

/// Returns the address of a resource in a graph whose aliases begin with `prefix`.
fn at(nodes: &[Node], index: usize, prefix: &str) -> String {
    let node = &nodes[index];
    let group = ["s", "web"][node.group];
    let type_of = if node.is_topic { TOPIC } else { QUEUE };
    format!("{group}/{type_of}/{prefix}{index}")
}

fn old(nodes: &[Node], index: usize, address: &str) -> Deployed {
    let node = &nodes[index];
    let references = node.refers_to.iter();
    let references = references.map(|(target, by_arn)| {
        Value::from(format!("{}-{target}", if *by_arn { "arn" } else { "id" }))
    });
    let content = json!({"Kind": node.kind, "To": references.collect::<Vec<Value>>()});
    let attributes =
        json!({"/Arn": format!("arn-{index}"), "/Url": format!("id-{index}"), "/Owner": "me"});
    Deployed {
        scope: scope(SCOPES[node.scope]),
        ..deployed(address, &format!("id-{index}"), content, attributes)
    }
}

fn new(nodes: &[Node], index: usize, addresses: &[String]) -> Declared {
    let node = &nodes[index];
    let references = node.refers_to.iter();
    let references = references.map(|(target, by_arn)| {
        let name = &addresses[*target];
        json!({"$reference": if *by_arn { format!("{name}#/Arn") } else { name.clone() }})
    });
    let content = json!({"Kind": node.kind, "To": references.collect::<Vec<Value>>()});
    Declared {
        scope: scope(SCOPES[node.scope]),
        ..declared(&addresses[index], content)
    }
}

fn olds(nodes: &[Node], addresses: &[String]) -> State {
    let olds = addresses.iter().enumerate();
    state(
        olds.map(|(index, address)| old(nodes, index, address))
            .collect(),
    )
}

/// The body that declares a graph, in an order of `turn`.
fn news(nodes: &[Node], addresses: &[String], turn: usize) -> Body {
    let news = (0..nodes.len()).map(|index| new(nodes, index, addresses));
    let mut news: Vec<Declared> = news.collect();
    news.rotate_left(turn % nodes.len());
    body(news, &["s", "web"])
}

fn addresses(nodes: &[Node], prefix: &str) -> Vec<String> {
    (0..nodes.len())
        .map(|index| at(nodes, index, prefix))
        .collect()
}

/// The classes that cannot be told apart by what they are, what they refer to and who refers to them, the slow way.
fn classes(nodes: &[Node]) -> Vec<usize> {
    let mut classes = vec![0; nodes.len()];
    for _ in 0..=nodes.len() {
        let told = nodes.iter().enumerate().map(|(index, node)| {
            let to = node.refers_to.iter();
            let to: Vec<_> = to
                .map(|(target, by_arn)| (classes[*target], *by_arn))
                .collect();
            let mut of = Vec::new();
            for (user, other) in nodes.iter().enumerate() {
                for (slot, (target, by_arn)) in other.refers_to.iter().enumerate() {
                    if *target == index {
                        of.push((classes[user], slot, *by_arn));
                    }
                }
            }
            of.sort_unstable();
            (node.kind, node.is_topic, node.scope, to, of)
        });
        let mut numbers = BTreeMap::new();
        classes = told
            .collect::<Vec<_>>()
            .into_iter()
            .map(|told| {
                let next = numbers.len();
                *numbers.entry(told).or_insert(next)
            })
            .collect();
    }
    classes
}

fn moved(refactor: &Refactor) -> BTreeMap<String, String> {
    let moves = refactor.moves.iter();
    moves
        .map(|found| (short(&found.from), short(&found.to)))
        .collect()
}

/// Applies the moves of a refactor.
fn applied(state: &State, refactor: &Refactor) -> State {
    let moves = moved(refactor);
    let mut state = state.clone();
    for resource in &mut state.resources {
        if let Some(to) = moves.get(&short(&resource.address)) {
            resource.address = address(to);
        }
    }
    state
}

proptest! {
    #![proptest_config(cases())]

    #[test]
    fn renames_are_recovered_where_refinement_tells_apart(nodes in graphs(3), turn in 0..12usize) {
        let (from, to) = (addresses(&nodes, "a"), addresses(&nodes, "b"));
        let refactor = judged(&olds(&nodes, &from), &news(&nodes, &to, turn));
        let classes = classes(&nodes);
        let is_alone = |index: usize| classes.iter().filter(|class| **class == classes[index]).count() == 1;
        let expected: BTreeMap<String, String> = (0..nodes.len())
            .filter(|index| is_alone(*index))
            .map(|index| (from[index].clone(), to[index].clone()))
            .collect();
        prop_assert_eq!(moved(&refactor), expected);
        let mut ambiguous: Vec<String> = Vec::new();
        for ambiguity in &refactor.ambiguities {
            prop_assert_eq!(ambiguity.reason, AmbiguityReason::Identical);
            prop_assert_eq!(ambiguity.from.len(), ambiguity.to.len());
            ambiguous.extend(ambiguity.from.iter().map(short));
        }
        ambiguous.sort();
        let mut rest: Vec<String> = (0..nodes.len())
            .filter(|index| !is_alone(*index))
            .map(|index| from[index].clone())
            .collect();
        rest.sort();
        prop_assert_eq!(ambiguous, rest);
        prop_assert_eq!(&refactor.refused, &[]);
        prop_assert_eq!(&refactor.changes, &Default::default());
    }

    #[test]
    fn permutations_of_addresses_are_recovered(nodes in distinct(), turn in 0..12usize, step in 0..12usize) {
        // Only addresses of the same type and group take each other's place.
        let mut nodes = nodes;
        nodes.iter_mut().for_each(|node| (node.is_topic, node.group) = (false, 0));
        let from = addresses(&nodes, "a");
        let mut to = from.clone();
        to.rotate_left(step % nodes.len());
        let state = olds(&nodes, &from);
        let refactor = judged(&state, &news(&nodes, &to, turn));
        let pairs = from.iter().cloned().zip(to.iter().cloned());
        let expected: BTreeMap<String, String> = pairs.filter(|(from, to)| from != to).collect();
        prop_assert_eq!(moved(&refactor), expected);
        prop_assert_eq!(&refactor.ambiguities, &[]);
        prop_assert_eq!(&refactor.changes, &Default::default());
    }

    #[test]
    fn apply_and_undo_is_identity(nodes in graphs(3), turn in 0..12usize) {
        let (from, to) = (addresses(&nodes, "a"), addresses(&nodes, "b"));
        let before = olds(&nodes, &from);
        let there = judged(&before, &news(&nodes, &to, turn));
        let between = applied(&before, &there);
        // What was recovered is not moved again.
        let again = judged(&between, &news(&nodes, &to, 0));
        for found in &again.moves {
            prop_assert!(!moved(&there).values().any(|to| *to == short(&found.from)));
        }
        // Declared as before, all of it moves back.
        let back = judged(&between, &news(&nodes, &from, turn));
        let mut after = applied(&between, &back);
        after.resources.iter_mut().for_each(|resource| resource.address = address(&short(&resource.address)));
        let addresses = |state: &State| -> Vec<_> { state.resources.iter().map(|one| short(&one.address)).collect() };
        prop_assert_eq!(addresses(&after), from);
    }

    /// What is found is true, whatever is added, left out or changed.
    #[test]
    fn nothing_is_guessed(
        nodes in distinct(),
        edits in prop::collection::vec((any::<prop::sample::Index>(), 0..4usize), 0..6),
        turn in 0..12usize,
    ) {
        let from = addresses(&nodes, "a");
        let mut to = addresses(&nodes, "b");
        let mut edited = nodes.clone();
        for (index, edit) in &edits {
            let index = index.index(nodes.len());
            match edit {
                // Another content, and perhaps at the old address.
                0 => edited[index].kind += 1_000,
                1 => to[index] = from[index].clone(),
                2 => edited[index].refers_to.clear(),
                _ => {
                    to[index] = from[index].clone();
                    edited[index].kind += 1_000;
                }
            }
        }
        let refactor = judged(&olds(&nodes, &from), &news(&edited, &to, turn));
        for (old, new) in moved(&refactor) {
            let index = from.iter().position(|one| *one == old).expect("it is deployed");
            prop_assert_eq!(&new, &to[index]);
        }
        // What is as before but for its references, and changed in place or not at all, is found.
        for index in 0..nodes.len() {
            let is_named = |ids: &[ucp_model::ReferenceId], name: &str| ids.iter().any(|id| short(id) == name);
            if to[index] == from[index] {
                prop_assert!(!is_named(&refactor.changes.create, &to[index]));
                prop_assert!(!is_named(&refactor.changes.undeclared, &to[index]));
            }
        }
    }
}
