//! Circles among the resources of an instance or a binding.

use std::collections::BTreeMap;

use ucp_set::{Graph, REFERENCES_MAX};

use crate::problem::Problems;
use crate::resource::{Head, Owner};
use crate::template::{Name, Use};

/// Tells of circles, each at the reference from its first resource to the next. `uses` are the names in the properties of
/// resources, by their indexes.
pub(super) fn judge<'u>(
    heads: &[Head],
    owner: Owner,
    uses: impl Iterator<Item = (usize, &'u Use)>,
    problems: &mut Problems,
) {
    let mut needs: Vec<BTreeMap<usize, usize>> = vec![BTreeMap::new(); heads.len()];
    let mut counts = vec![0; heads.len()];
    for (user, used) in uses {
        if let Name::Property { resource, .. } = &used.name {
            counts[user] += 1;
            if counts[user] == REFERENCES_MAX + 1 {
                let message = format!("a resource refers at most {REFERENCES_MAX} times to others");
                problems.add(used.line, message);
            }
            if heads[*resource].owner == owner {
                needs[user].entry(*resource).or_insert(used.line);
            }
        }
    }
    let graph = needs.iter().map(|needs| needs.keys().copied().collect());
    for circle in Graph(graph.collect()).sorted().circles {
        let Some(first) = circle.first() else {
            continue;
        };
        let next = circle.get(1).unwrap_or(first);
        let line = needs[*first]
            .get(next)
            .copied()
            .unwrap_or(heads[*first].line);
        let way = circle.iter().chain([first]);
        let way: Vec<&str> = way.map(|index| heads[*index].name.as_str()).collect();
        let message = match circle.len() {
            1 => format!("`{}` refers to itself; take that out", heads[*first].name),
            _ => format!(
                "the resources refer to each other in a circle: {}; take one of these references out",
                way.join(" → ")
            ),
        };
        problems.add(line, message);
    }
}
