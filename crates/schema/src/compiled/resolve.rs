//! From a property path as schemas write it to the paths that values have.

use std::collections::BTreeSet;

use ucp_model::pointer;

use super::shape::{Shape, Shapes};
use crate::{PropertyPath, Segment};

/// The longest path that is followed, and the deepest place that is looked for.
const MAX_LENGTH: usize = 64;

/// How many steps may be taken for all paths of a schema together, hundreds of times what any public one takes.
pub(super) const MAX_STEPS: usize = 100_000;

/// A path as a schema lists it, for showing.
pub(super) fn listed(text: &str) -> PropertyPath {
    let Ok(path) = text.parse();
    path
}

impl Shapes {
    /// The paths that `text` stands for: one for `/properties/A/*/B` in any spelling, none when it leads nowhere, and
    /// for `/definitions/X/properties/B` one for each place that X describes. Nothing is found once no steps are left.
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

    /// The path along `steps`, in its one spelling; none when it leads to no property. What is said of each element of
    /// a list is said of the list.
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

/// The search for the path that steps stand for.
struct Walk<'s, 'b> {
    shapes: &'s Shapes,
    path: Vec<Segment>,
    /// From where and with how many steps to go it was tried before, in vain.
    seen: BTreeSet<(*const Shape, usize)>,
    steps_left: &'b mut usize,
}

impl Walk<'_, '_> {
    /// Whether `steps` lead on from `shape`; then the path is longer by what they stand for.
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
        // Some leave the `*` out.
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

/// The search for the places where values that a definition describes may stand, without going round in circles.
struct Search<'s, 'b> {
    shapes: &'s Shapes,
    targets: &'s [usize],
    path: Vec<Segment>,
    /// The shapes that the path leads through.
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
