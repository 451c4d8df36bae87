//! Shortens stories.

use ucp_simulator::faults::Fault;

use super::plant::Plant;
use super::story::{Act, Story, Way, Wish};
use super::tell;

/// Returns the shortest story found that breaks the same invariant; the story itself if it breaks none.
pub fn shrunk(story: &Story, plant: Option<Plant>) -> Story {
    let Err(violation) = tell(story, plant) else {
        return story.clone();
    };
    let fails = |story: &Story| {
        let told = tell(story, plant);
        told.is_err_and(|found| found.kind() == violation.kind())
    };
    let mut shortest = story.clone();
    loop {
        let before = shortest.clone();
        shortest.acts = without(&shortest.acts, |acts: &[Act]| {
            let acts = acts.to_vec();
            fails(&Story {
                acts,
                ..before.clone()
            })
        });
        let faulty = shortest.clone();
        shortest.faults = without(&shortest.faults, |faults: &[Fault]| {
            let faults = faults.to_vec();
            fails(&Story {
                faults,
                ..faulty.clone()
            })
        });
        for simpler in simpler(&shortest) {
            if fails(&simpler) {
                shortest = simpler;
            }
        }
        for at in 0..shortest.acts.len() {
            for act in simpler_acts(&shortest.acts[at]) {
                let mut simpler = shortest.clone();
                simpler.acts[at] = act;
                if fails(&simpler) {
                    shortest = simpler;
                    break;
                }
            }
        }
        if shortest == before {
            return shortest;
        }
    }
}

/// Leaves out as many items as possible, first many at a time, then one by one.
fn without<T: Clone>(items: &[T], fails: impl Fn(&[T]) -> bool) -> Vec<T> {
    let mut left = items.to_vec();
    let mut count = left.len();
    while count > 0 {
        let mut at = 0;
        while at < left.len() {
            let end = (at + count).min(left.len());
            let fewer = [&left[..at], &left[end..]].concat();
            match fails(&fewer) {
                true => left = fewer,
                false => at = end,
            }
        }
        count /= 2;
    }
    left
}

/// The story in a simpler world.
fn simpler(story: &Story) -> Vec<Story> {
    let fewer = story.ahead_ms.len().saturating_sub(1).max(1);
    vec![
        Story {
            weave: 0,
            ..story.clone()
        },
        Story {
            ahead_ms: vec![0; story.ahead_ms.len()],
            ..story.clone()
        },
        Story {
            ahead_ms: story.ahead_ms[..fewer].to_vec(),
            ..story.clone()
        },
    ]
}

/// Simpler acts of the same kind.
fn simpler_acts(act: &Act) -> Vec<Act> {
    let Act::Ask { what, by, way } = act else {
        return Vec::new();
    };
    let with = |what: Wish, by, way| Act::Ask { what, by, way };
    let mut simpler = Vec::new();
    if *by != 0 {
        simpler.push(with(what.clone(), 0, *way));
    }
    if *way != Way::ToTheEnd {
        simpler.push(with(what.clone(), *by, Way::ToTheEnd));
    }
    if let Wish::Put {
        alias,
        properties,
        owned: true,
    } = what
    {
        let put = Wish::Put {
            alias: *alias,
            properties: properties.clone(),
            owned: false,
        };
        simpler.push(with(put, *by, *way));
    }
    simpler
}
