//! The output of a plan for people.

use std::io::{self, Write};

use anstyle::Style;
use serde_json::Value;
use ucp_cli::render::{Line, Mark, Paper, diff};
use ucp_model::operation::ReplacementOrder;
use ucp_model::pointer::{self, is_within};
use ucp_plan::{Action, Change, Plan, Reason};
use ucp_schema::ResourceSchema;

use super::judged::{Judged, Outcome};
use super::objection::Objection;

/// Shows a plan. Its changes contain no secrets.
pub(super) fn show<W: Write>(
    judged: &Judged,
    live: Option<&Value>,
    schema: &ResourceSchema,
    paper: &mut Paper<W>,
) -> io::Result<()> {
    let Judged { plan, outcome } = judged;
    let (mark, verdict) = match outcome {
        Outcome::Create => (Mark::Add, "will be created"),
        Outcome::Update => (Mark::Change, "will be updated"),
        Outcome::Replace(_) => (Mark::Replace, "will be replaced"),
        Outcome::NeedsReplacement { .. } => (Mark::Replace, "must be replaced"),
        Outcome::Nothing => (Mark::Keep, "is as declared: nothing to do"),
        Outcome::Refused(_) if plan.action == Action::Error => {
            (Mark::Keep, "can never be as declared: nothing is sent")
        }
        Outcome::Refused(_) => (Mark::Keep, "cannot become as declared: nothing is sent"),
    };
    let sign = match mark {
        Mark::Keep => String::new(),
        _ => format!("{} ", mark.sign()),
    };
    let name = format!("{} ", schema.type_name());
    paper.words(&[
        (mark.style(), &sign),
        (Style::new().bold(), &name),
        (Style::new(), verdict),
    ])?;
    match outcome {
        Outcome::Create
        | Outcome::Update
        | Outcome::Replace(_)
        | Outcome::NeedsReplacement { .. } => show_changes(plan, live, paper)?,
        Outcome::Nothing | Outcome::Refused(_) => {}
    }
    if let Some(advice) = advice(plan, outcome) {
        paper.blank()?;
        paper.words(&[(Style::new(), &advice)])?;
    }
    let warnings = plan
        .warnings
        .iter()
        .map(|warning| (Mark::Change, "Warning: ", &warning.message));
    let reasons: &[Objection] = match outcome {
        Outcome::Refused(reasons) => reasons,
        Outcome::Create
        | Outcome::Update
        | Outcome::Replace(_)
        | Outcome::NeedsReplacement { .. }
        | Outcome::Nothing => &[],
    };
    let errors = reasons
        .iter()
        .map(|reason| (Mark::Remove, "Error: ", &reason.message));
    for (mark, what, message) in warnings.chain(errors) {
        paper.blank()?;
        paper.words(&[(mark.style().bold(), what), (Style::new(), message)])?;
    }
    Ok(())
}

/// What to know of a replacement.
fn advice(plan: &Plan, outcome: &Outcome) -> Option<String> {
    let fixed = plan.replace_paths.join(", ");
    let needed = format!("Only a new resource can have another {fixed}.");
    match outcome {
        Outcome::NeedsReplacement {
            same_identifier: false,
        } => Some(format!(
            "{needed} A put is refused unless it has \"replacementPolicy\": \"createBeforeDelete\" or \"deleteBeforeCreate\". Or declare what is live."
        )),
        Outcome::NeedsReplacement {
            same_identifier: true,
        } => Some(format!(
            "{needed} It would have the same identifier, so a put is refused unless it has \"replacementPolicy\": \"deleteBeforeCreate\". Or declare what is live."
        )),
        Outcome::Replace(ReplacementOrder::CreateBeforeDelete) => Some(format!(
            "{needed} It is created before the old one is deleted."
        )),
        Outcome::Replace(ReplacementOrder::DeleteBeforeCreate) => Some(format!(
            "{needed} It is created after the old one is deleted."
        )),
        Outcome::Create | Outcome::Update | Outcome::Nothing | Outcome::Refused(_) => None,
    }
}

/// A change, shown on one or more lines.
struct Row<'p> {
    path: &'p str,
    mark: Mark,
    before: Option<&'p Value>,
    after: Option<&'p Value>,
    note: &'static str,
}

fn show_changes<W: Write>(
    plan: &Plan,
    live: Option<&Value>,
    paper: &mut Paper<W>,
) -> io::Result<()> {
    let unknown = ucp_schema::unknown();
    let changes = plan.changes.iter().map(|change| row(change, plan));
    let assigned = plan.unknown.iter().filter(|path| !is_shown(path, plan));
    let mut rows: Vec<Row<'_>> = changes
        .chain(assigned.map(|path| Row {
            path,
            mark: match live.and_then(|live| live.pointer(path)) {
                Some(_) => Mark::Change,
                None => Mark::Add,
            },
            before: None,
            after: Some(&unknown),
            note: "",
        }))
        .collect();
    rows.sort_by_key(|row| row.path);
    paper.blank()?;
    for row in &rows {
        let label = format!("{}: ", row.path);
        let place = Line {
            depth: 0,
            label: &label,
            note: row.note,
        };
        match (row.before, row.after) {
            (Some(before), Some(after)) => diff::changed(paper, place, before, after)?,
            (Some(value), None) | (None, Some(value)) => {
                diff::whole(paper, place, row.mark, value)?;
            }
            (None, None) => {}
        }
    }
    let members = live.and_then(Value::as_object).into_iter().flatten();
    let is_shown = |name: &str| {
        let pointer = pointer::join("", name);
        rows.iter().any(|row| is_within(row.path, &pointer))
    };
    let (kept, lost): (Vec<&String>, Vec<&String>) = members
        .map(|(name, _)| name)
        .filter(|name| !is_shown(name))
        .partition(|name| plan.planned.get(name.as_str()).is_some());
    let kept_ones = [
        "unchanged property not shown",
        "unchanged properties not shown",
    ];
    diff::left_out(paper, 0, kept.len(), kept_ones)?;
    let lost_ones = [
        "undeclared property is not taken over",
        "undeclared properties are not taken over",
    ];
    diff::left_out(paper, 0, lost.len(), lost_ones)
}

fn row<'p>(change: &'p Change, plan: &Plan) -> Row<'p> {
    Row {
        path: &change.path,
        mark: match (&change.before, &change.after) {
            (_, None) => Mark::Remove,
            // A read does not show whether it had a value.
            (None, Some(_)) if change.is_write_only && plan.action != Action::Create => {
                Mark::Change
            }
            (None, Some(_)) => Mark::Add,
            (Some(_), Some(_)) => Mark::Change,
        },
        before: change.before.as_ref(),
        after: change.after.as_ref(),
        note: match change.reason {
            Reason::Declared if forces_replacement(change, plan) => "forces replacement",
            Reason::Declared => "",
            Reason::Resent => "sent again with every update",
            Reason::Tidied => "AWS would refuse what its read returned",
        },
    }
}

/// Whether the change, or a change of the property it is in, requires a replacement.
fn forces_replacement(change: &Change, plan: &Plan) -> bool {
    let mut properties = plan.replace_paths.iter();
    change.forces_replacement
        || properties.any(|path| {
            path.strip_prefix("/properties")
                .is_some_and(|property| is_within(&change.path, property))
        })
}

/// Whether one of the changes contains the unknown value.
fn is_shown(path: &str, plan: &Plan) -> bool {
    plan.changes.iter().any(|change| {
        let after = change
            .after
            .as_ref()
            .filter(|_| is_within(path, &change.path));
        after.is_some_and(|after| after.pointer(&path[change.path.len()..]).is_some())
    })
}
