//! Shortens stories.

use ucp_simulator::faults::Fault;

use super::plant::Plant;
use super::story::{Act, Pace, Story, Way, Wish};
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
        for simplify in [calmly, on_time, by_fewer, unpaced] {
            if let Some(simpler) = simplify(&shortest)
                && fails(&simpler)
            {
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
            if fails(&fewer) {
                left = fewer
            } else {
                at = end
            }
        }
        count /= 2;
    }
    left
}

/// The story where nobody goes first; `None` if it is that already.
fn calmly(story: &Story) -> Option<Story> {
    (story.weave > 0).then(|| Story {
        weave: 0,
        ..story.clone()
    })
}

/// The story with clocks that agree.
fn on_time(story: &Story) -> Option<Story> {
    let differ = story.ahead_ms.iter().any(|ahead| *ahead != 0);
    differ.then(|| Story {
        ahead_ms: vec![0; story.ahead_ms.len()],
        ..story.clone()
    })
}

/// The story with one process less.
fn by_fewer(story: &Story) -> Option<Story> {
    let (_, fewer) = story.ahead_ms.split_last()?;
    (!fewer.is_empty()).then(|| Story {
        ahead_ms: fewer.to_vec(),
        ..story.clone()
    })
}

/// The story with calls that are not paced.
fn unpaced(story: &Story) -> Option<Story> {
    (story.pace != Pace::Unpaced).then(|| Story {
        pace: Pace::Unpaced,
        ..story.clone()
    })
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
