//! Resolution of property paths in schemas to the paths of values.

use std::collections::BTreeSet;

use ucp_model::pointer;

use super::shape::{Shape, Shapes};
use crate::{PropertyPath, Segment};

/// The maximum length of a path, both of listed paths and of search results.
const MAX_LENGTH: usize = 64;

/// The maximum number of steps for all paths of a schema together, hundreds of times the need of any public schema.
pub(super) const MAX_STEPS: usize = 100_000;

/// Parses a path as a schema lists it, for display.
pub(super) fn listed(text: &str) -> PropertyPath {
    let Ok(path) = text.parse();
    path
}

impl Shapes {
    /// Returns the paths that `text` stands for: one for `/properties/A/*/B` in any spelling, none if it does not
    /// resolve, and for `/definitions/X/properties/B` one for each location that uses X. Finds nothing once no steps
    /// are left.
    pub(super) fn resolve(&self, text: &str, steps_left: &mut usize) -> Vec<Vec<Segment>> {
        let steps: Vec<String> = text
            .strip_prefix('/')
            .unwrap_or(text)
            .split('/')
            .map(pointer::unescape)
            .collect();
        if let [first, name, rest @ ..] = steps.as_slice()
            && first == "definitions"
        {
            let mut search = Search {
                shapes: self,
                targets: self.of_definition(name),
                path: Vec::new(),
                above: Vec::new(),
                found: Vec::new(),
                steps_left,
            };
            search.below(self.root());
            let found = search.found;
            let paths = found.into_iter().filter_map(|(place, id)| {
                let end = self.follow(self.at(id), rest, steps_left)?;
                Some([place, end].concat())
            });
            return paths.collect();
        }
        let steps = match steps.as_slice() {
            [first, rest @ ..] if first == "properties" && !rest.is_empty() => rest,
            all => all,
        };
        let path = self.follow(self.root(), steps, steps_left).or_else(|| {
            let dotted = steps.iter().flat_map(|step| step.split('.'));
            let steps: Vec<String> = dotted.map(str::to_owned).collect();
            self.follow(self.root(), &steps, steps_left)
        });
        path.into_iter().collect()
    }

    /// Returns the canonical path along `steps`, or `None` if it leads to no property. A path to the elements of a list
    /// becomes the path of the list.
    fn follow(
        &self,
        shape: &Shape,
        steps: &[String],
        steps_left: &mut usize,
    ) -> Option<Vec<Segment>> {
        if steps.len() > MAX_LENGTH {
            return None;
        }
        let mut walk = Walk {
            shapes: self,
            path: Vec::new(),
            seen: BTreeSet::new(),
            steps_left,
        };
        if !walk.on(shape, steps) {
            return None;
        }
        let mut path = walk.path;
        if self.ends_in_element(shape, &path) {
            path.pop();
        }
        Some(path)
    }

    fn ends_in_element(&self, shape: &Shape, path: &[Segment]) -> bool {
        let Some((Segment::Any, above)) = path.split_last() else {
            return false;
        };
        let holder = above
            .iter()
            .try_fold(shape, |shape, segment| match segment {
                Segment::Key(name) => shape
                    .members
                    .get(name.as_str())
                    .map(|edge| self.at(edge.shape)),
                Segment::Any => self.any(shape).next().map(|id| self.at(id)),
            });
        holder.is_some_and(Shape::is_list)
    }
}

/// A search for the path that steps stand for.
struct Walk<'s, 'b> {
    shapes: &'s Shapes,
    path: Vec<Segment>,
    /// The shapes, with the number of remaining steps, that were already tried without success.
    seen: BTreeSet<(*const Shape, usize)>,
    steps_left: &'b mut usize,
}

impl Walk<'_, '_> {
    /// Returns whether `steps` resolve from `shape`. If so, they are appended to the path.
    fn on(&mut self, shape: &Shape, steps: &[String]) -> bool {
        let Some((step, rest)) = steps.split_first() else {
            return true;
        };
        let is_new = self.seen.insert((std::ptr::from_ref(shape), steps.len()));
        if !is_new || *self.steps_left == 0 || self.path.len() >= MAX_LENGTH {
            return false;
        }
        *self.steps_left -= 1;
        let shapes = self.shapes;
        if let Some(edge) = shape.members.get(step.as_str())
            && self.by(Segment::Key(step.clone()), shapes.at(edge.shape), rest)
        {
            return true;
        }
        let is_any = matches!(step.as_str(), "*" | "[*]" | "items") || is_index(step);
        // Some schemas omit the `*`.
        let below = if is_any { rest } else { steps };
        if shapes
            .any(shape)
            .any(|next| self.by(Segment::Any, shapes.at(next), below))
        {
            return true;
        }
        if step == "properties" {
            return self.on(shape, rest);
        }
        let segment = if is_any {
            Segment::Any
        } else {
            Segment::Key(step.clone())
        };
        shape.takes_anything() && self.by(segment, shape, rest)
    }

    fn by(&mut self, segment: Segment, shape: &Shape, steps: &[String]) -> bool {
        self.path.push(segment);
        let leads_on = self.on(shape, steps);
        if !leads_on {
            self.path.pop();
        }
        leads_on
    }
}

/// A search for the locations that use a definition. Cycles are not followed.
struct Search<'s, 'b> {
    shapes: &'s Shapes,
    targets: &'s [usize],
    path: Vec<Segment>,
    /// The shapes along the path.
    above: Vec<usize>,
    found: Vec<(Vec<Segment>, usize)>,
    steps_left: &'b mut usize,
}

impl Search<'_, '_> {
    fn below(&mut self, shape: &Shape) {
        let named = shape
            .members
            .iter()
            .map(|(name, edge)| (Segment::Key(name.to_string()), edge.shape));
        let any = self.shapes.any(shape).map(|id| (Segment::Any, id));
        let next: Vec<(Segment, usize)> = named.chain(any).collect();
        for (segment, id) in next {
            let is_deep = self.path.len() >= MAX_LENGTH;
            if is_deep || self.above.contains(&id) || *self.steps_left == 0 {
                continue;
            }
            *self.steps_left -= 1;
            self.path.push(segment);
            self.above.push(id);
            if self.targets.contains(&id) {
                *self.steps_left = self.steps_left.saturating_sub(self.path.len());
                self.found.push((self.path.clone(), id));
            }
            self.below(self.shapes.at(id));
            self.above.pop();
            self.path.pop();
        }
    }
}

fn is_index(step: &str) -> bool {
    !step.is_empty() && step.bytes().all(|byte| byte.is_ascii_digit())
}
