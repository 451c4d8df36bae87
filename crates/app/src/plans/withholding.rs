//! Values that a plan does not show although its author still chooses them. Nobody can approve those.

use ucp_model::pointer::unescape;
use ucp_model::{Detail, ErrorCode, Failure};
use ucp_set::left_open;

use crate::Rejection;
use crate::changes::{ChangeKind, ResourceChange};
use crate::plans::plan_to_apply::DeclaredPlan;

/// The code of the details that name such values.
const CODE: &str = "Withheld";
/// How many of them an error names.
const NAMED_MAX: usize = 20;

impl ResourceChange {
    /// Notes which of its values the author of the declaration leaves open, or refers to where that is so, at these `places` of the
    /// declaration. AWS assigns the others that are unknown.
    pub(crate) fn withhold(&mut self, places: Vec<String>) {
        if places.is_empty() {
            return;
        }
        let is_withheld = |shown: &String| places.iter().any(|place| concerns(place, shown));
        let unknown = std::mem::take(&mut self.unknown);
        let (mut withheld, unknown): (Vec<_>, Vec<_>) = unknown.into_iter().partition(is_withheld);
        self.unknown = unknown;
        let is_shown = |place: &String| withheld.iter().any(|shown| concerns(place, shown));
        // No read returns the rest.
        let rest: Vec<String> = places.iter().filter(|it| !is_shown(it)).cloned().collect();
        withheld.extend(rest);
        self.withheld = withheld;
    }

    /// Returns why nobody can approve it, if that is so.
    pub(crate) fn unapprovable(&self) -> Option<Failure> {
        let name = self.tracked_by.as_ref().map(|id| id.alias.as_str());
        let name = name.unwrap_or_default();
        let mut details: Vec<Detail> = withheld_at(name, &self.withheld).collect();
        let is_cut =
            matches!(self.kind, ChangeKind::Create | ChangeKind::Modify) && self.after.is_none();
        if is_cut {
            let message = format!("The plan has no room to show what '{name}' would become.");
            details.push(Detail::at(CODE, message, "/properties"));
        }
        details.truncate(NAMED_MAX);
        (!details.is_empty()).then(|| {
            let message = "Nobody can approve a plan that does not show all values that its author chooses, and the resource group takes approved plans only. Declare the values, or apply what they come from first.";
            Failure::new(ErrorCode::Conflict, message).with_details(details)
        })
    }
}

/// Refuses the approval of a plan that does not show all values that its author chooses.
pub(crate) fn judge_shown(
    changes: &[ResourceChange],
    declared: &DeclaredPlan,
) -> Result<(), Rejection> {
    // Earlier versions have not noted it in what they show.
    let shown = changes.iter().filter_map(ResourceChange::unapprovable);
    let mut details: Vec<Detail> = shown.flat_map(|failure| failure.details).collect();
    if details.is_empty() {
        details.extend(declared.left_open());
    }
    details.truncate(NAMED_MAX);
    if details.is_empty() {
        return Ok(());
    }
    let message = "Nobody can approve a plan that does not show all values that its author chooses. Ask for one of a declaration with these values.";
    let failure = Failure::new(ErrorCode::Conflict, message);
    Err(Rejection::Conflict(failure.with_details(details)))
}

impl DeclaredPlan {
    /// Returns the values that it leaves open.
    pub(crate) fn left_open(&self) -> impl Iterator<Item = Detail> {
        let members = self.declarations.members.iter().enumerate();
        members.flat_map(|(index, member)| {
            let application = self.application.as_ref();
            let name = application.and_then(|application| application.members.get(index));
            let name = name.map_or("", |member| member.symbolic_name.as_str());
            let Some(member) = member else {
                return Vec::new();
            };
            let properties = member.properties.iter();
            let places = properties.flat_map(|(name, value)| {
                let above = ucp_model::pointer::join("", name);
                let below = left_open(value, |_| false);
                below
                    .into_iter()
                    .map(move |place| format!("{above}{place}"))
            });
            let places: Vec<String> = places.collect();
            withheld_at(name, &places).collect::<Vec<_>>()
        })
    }
}

fn withheld_at<'a>(name: &'a str, places: &'a [String]) -> impl Iterator<Item = Detail> + 'a {
    places.iter().map(move |place| {
        let of = if name.is_empty() {
            String::new()
        } else {
            format!(" of '{name}'")
        };
        let message = format!("The declaration leaves the value{of} at {place} open.");
        Detail::at(CODE, message, format!("/properties{place}"))
    })
}

/// Returns whether a value at one place is, or is in, or has that at the other one. AWS may show the elements of lists in another order.
pub(crate) fn concerns(one: &str, other: &str) -> bool {
    let tokens = |place: &str| {
        place
            .split('/')
            .skip(1)
            .map(unescape)
            .collect::<Vec<String>>()
    };
    let is_index = |token: &str| token.parse::<usize>().is_ok();
    let (one, other) = (tokens(one), tokens(other));
    let mut pairs = one.iter().zip(&other);
    pairs.all(|(one, other)| one == other || is_index(one) && is_index(other))
}

#[cfg(test)]
mod tests {
    use super::concerns;

    #[test]
    fn what_is_above_or_below_is_concerned_and_what_is_beside_is_not() {
        for (one, other, expected) in [
            ("/A", "/A", true),
            ("/A", "/A/B/0", true),
            ("/A/0/B", "/A/2/B", true),
            ("/A/0/B", "/A/2/C", false),
            ("/A/B", "/A/C", false),
            ("/A", "/AB", false),
            ("", "/A", true),
        ] {
            assert_eq!(concerns(one, other), expected, "{one} {other}");
            assert_eq!(concerns(other, one), expected, "{other} {one}");
        }
    }
}
