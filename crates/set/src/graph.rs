//! The order of members, and the circles in it.

use std::collections::VecDeque;

/// What each member needs first: the indexes of other members.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Graph(pub Vec<Vec<usize>>);

/// The order of a graph, or its circles.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Sorted {
    /// The members, each after those it needs. Those on a circle, or after one, are left out.
    pub order: Vec<usize>,
    /// Circles, each from a member back to it. Every member that is on a circle is on one of these, or needs one.
    pub circles: Vec<Vec<usize>>,
}

impl Graph {
    /// Sorts the members. The work is linear in what they need.
    pub fn sorted(&self) -> Sorted {
        let Self(needs) = self;
        let mut needed_by: Vec<Vec<usize>> = vec![Vec::new(); needs.len()];
        let mut missing: Vec<usize> = needs.iter().map(Vec::len).collect();
        for (member, needs) in needs.iter().enumerate() {
            for need in needs {
                needed_by[*need].push(member);
            }
        }
        let free = missing.iter().enumerate();
        let free = free.filter(|(_, missing)| **missing == 0);
        let mut free: VecDeque<usize> = free.map(|(member, _)| member).collect();
        let mut order = Vec::with_capacity(needs.len());
        while let Some(member) = free.pop_front() {
            order.push(member);
            for other in &needed_by[member] {
                missing[*other] -= 1;
                if missing[*other] == 0 {
                    free.push_back(*other);
                }
            }
        }
        Sorted {
            circles: self.circles(&missing),
            order,
        }
    }

    /// Follows what each member that is left still needs, until one comes again.
    fn circles(&self, missing: &[usize]) -> Vec<Vec<usize>> {
        // The walk that came to a member, counted from 1.
        let mut walks = vec![0; missing.len()];
        let mut circles = Vec::new();
        for start in 0..missing.len() {
            let mut way = Vec::new();
            let mut member = start;
            while missing[member] > 0 && walks[member] == 0 {
                walks[member] = start + 1;
                way.push(member);
                let next = self.0[member].iter().find(|need| missing[**need] > 0);
                let Some(next) = next else { break };
                member = *next;
            }
            if missing[member] > 0
                && walks[member] == start + 1
                && let Some(first) = way.iter().position(|step| *step == member)
            {
                circles.push(way.split_off(first));
            }
        }
        circles
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_needed_comes_first_and_otherwise_the_order_stays() {
        let graph = Graph(vec![vec![2], vec![], vec![], vec![0, 1, 1]]);
        let sorted = graph.sorted();
        assert_eq!(sorted.order, [1, 2, 0, 3]);
        assert!(sorted.circles.is_empty());
    }

    #[test]
    fn each_circle_is_told_once() {
        let graph = Graph(vec![vec![1], vec![2], vec![0], vec![3], vec![0], vec![]]);
        let sorted = graph.sorted();
        assert_eq!(sorted.order, [5]);
        assert_eq!(sorted.circles, [vec![0, 1, 2], vec![3]]);
    }
}
