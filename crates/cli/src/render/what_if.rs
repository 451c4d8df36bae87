//! The changes of a what-if, for people.

use std::io::{self, Write};

use anstyle::Style;
use serde_json::Value;
use ucp_model::pointer::{self, is_within};
use ucp_plan::SENSITIVE;
use ucp_schema::unknown;

use super::diff::{self, LEFT_OPEN, Line};
use super::paper::{Mark, Paper};
use crate::id;

/// How many resources change, and how.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Summary {
    created: usize,
    updated: usize,
    replaced: usize,
    deleted: usize,
    moved: usize,
    unchanged: usize,
    /// Those of which it cannot be told.
    pub(crate) unknown: usize,
}

impl Summary {
    pub(crate) fn of(changes: &[Value]) -> Self {
        let mut summary = Self::default();
        for change in changes {
            let count = match Verdict::of(change) {
                Verdict::Create => &mut summary.created,
                Verdict::Update => &mut summary.updated,
                Verdict::Replace(_) => &mut summary.replaced,
                Verdict::Delete => &mut summary.deleted,
                Verdict::Move => &mut summary.moved,
                Verdict::Nothing | Verdict::Open => &mut summary.unchanged,
                Verdict::Unknown => &mut summary.unknown,
                Verdict::Ignored => continue,
            };
            *count += 1;
        }
        summary
    }

    /// How many resources change, as far as that is known.
    pub(crate) fn changes(&self) -> usize {
        self.created + self.updated + self.replaced + self.deleted + self.moved
    }

    fn sentence(&self) -> String {
        let parts = [
            (self.created, "to create"),
            (self.updated, "to update"),
            (self.replaced, "to replace"),
            (self.deleted, "to delete"),
            (self.moved, "to move"),
            (self.unknown, "of which it cannot be told"),
            (self.unchanged, "as declared"),
        ];
        let parts = parts.iter().filter(|(count, _)| *count > 0);
        let parts: Vec<String> = parts
            .map(|(count, what)| format!("{count} {what}"))
            .collect();
        match (self.changes() + self.unknown, parts.is_empty()) {
            (_, true) => "Nothing is declared: nothing to do.".to_owned(),
            (0, false) => format!("Nothing to do: {}.", parts.join(", ")),
            (_, false) => format!("Resources: {}.", parts.join(", ")),
        }
    }
}

/// What becomes of a resource.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Verdict<'c> {
    Create,
    Update,
    /// With the policy of the replacement.
    Replace(&'c str),
    Delete,
    /// Only its alias changes.
    Move,
    Nothing,
    /// Nothing, unless AWS assigns anew what it refers to.
    Open,
    Unknown,
    Ignored,
}

impl<'c> Verdict<'c> {
    fn of(change: &'c Value) -> Self {
        match change["changeType"].as_str() {
            Some("Create") => Self::Create,
            Some("Modify") => match change["replacement"].as_str() {
                Some(policy) => Self::Replace(policy),
                None => Self::Update,
            },
            Some("Delete") => Self::Delete,
            Some("Move") => Self::Move,
            Some("NoChange") => {
                if strings(&change["unknown"]).next().is_some()
                    || strings(&change["withheld"]).next().is_some()
                {
                    Self::Open
                } else {
                    Self::Nothing
                }
            }
            Some("Ignore") => Self::Ignored,
            // Also whatever later servers say.
            Some(_) | None => Self::Unknown,
        }
    }
}

/// Shows what would become of resources. Those that stay as they are are only counted.
pub(crate) fn show<W: Write>(changes: &[Value], paper: &mut Paper<W>) -> io::Result<()> {
    for change in changes {
        let verdict = Verdict::of(change);
        let is_told = !matches!(verdict, Verdict::Nothing | Verdict::Ignored);
        if is_told {
            show_title(change, verdict, paper)?;
        }
        let change = &with_left_open(change);
        match verdict {
            Verdict::Create | Verdict::Update | Verdict::Replace(_) => {
                paper.blank()?;
                show_rows(change, verdict, paper)?;
            }
            Verdict::Delete
            | Verdict::Move
            | Verdict::Nothing
            | Verdict::Open
            | Verdict::Unknown
            | Verdict::Ignored => {}
        }
        if let Some(advice) = advice(change, verdict) {
            paper.blank()?;
            paper.words(&[(Style::new(), &advice)])?;
        }
        let warnings = change["warnings"].as_array().into_iter().flatten();
        for warning in warnings {
            let message = text(&warning["message"]);
            let about = if is_told {
                message.to_owned()
            } else {
                format!("{}: {message}", title(change))
            };
            paper.blank()?;
            let style = Mark::Change.style().bold();
            paper.words(&[(style, "Warning: "), (Style::new(), &about)])?;
        }
        if is_told {
            paper.blank()?;
        }
    }
    paper.words(&[(Style::new().bold(), &Summary::of(changes).sentence())])
}

fn show_title<W: Write>(
    change: &Value,
    verdict: Verdict<'_>,
    paper: &mut Paper<W>,
) -> io::Result<()> {
    let (mark, words) = match verdict {
        Verdict::Create => (Mark::Add, "will be created"),
        Verdict::Update => (Mark::Change, "will be updated"),
        Verdict::Replace("refuse") => (Mark::Replace, "must be replaced"),
        Verdict::Replace(_) => (Mark::Replace, "will be replaced"),
        Verdict::Delete => (Mark::Remove, "will be deleted"),
        Verdict::Move => (Mark::Change, "will be moved, and stays as it is in AWS"),
        Verdict::Open => (
            Mark::Keep,
            "stays as it is, unless what it refers to changes",
        ),
        Verdict::Unknown => (Mark::Change, "may change: that cannot be told"),
        Verdict::Nothing | Verdict::Ignored => (Mark::Keep, "stays as it is"),
    };
    let sign = format!("{} ", mark.sign());
    let name = format!("{} ", title(change));
    let style = mark.style();
    let moved = change["movedFrom"].as_str();
    let moved = moved.map_or_else(String::new, |from| {
        format!("; until now its alias was '{}'", id::last(from))
    });
    paper.words(&[
        (style, &sign),
        (Style::new().bold(), &name),
        (Style::new(), &format!("{words}{moved}")),
    ])
}

/// The name of a resource: its type and alias, and what AWS calls it.
fn title(change: &Value) -> String {
    let in_aws = change["resourceId"].as_str();
    match change["trackedBy"].as_str() {
        Some(reference) => {
            let other = in_aws.filter(|id| *id != reference);
            let name = other.map_or_else(String::new, |id| format!(" ({})", id::last(id)));
            format!("{}{name}", id::short(reference))
        }
        None => id::short(in_aws.unwrap_or_default()),
    }
}

/// What else to know of the verdict.
fn advice(change: &Value, verdict: Verdict<'_>) -> Option<String> {
    let paths = change["replacePaths"].as_array().into_iter().flatten();
    let paths: Vec<&str> = paths.filter_map(Value::as_str).collect();
    let needed = format!("Only a new resource can have another {}.", paths.join(", "));
    match verdict {
        Verdict::Replace("createBeforeDelete") => Some(format!(
            "{needed} It is created before the old one is deleted."
        )),
        Verdict::Replace("deleteBeforeCreate") => Some(format!(
            "{needed} It is created after the old one is deleted."
        )),
        Verdict::Replace(_) => Some(format!(
            "{needed} That is refused unless the resource has \"replacementPolicy\": \"createBeforeDelete\" or \"deleteBeforeCreate\". Or declare what is live."
        )),
        Verdict::Unknown => Some(text(&change["unsupportedReason"]).to_owned()),
        Verdict::Update if change["unreadable"] == true => Some(
            "AWS cannot be asked for a resource of this type: it is compared with what was declared last.".to_owned(),
        ),
        Verdict::Create
        | Verdict::Update
        | Verdict::Delete
        | Verdict::Move
        | Verdict::Nothing => None,
        Verdict::Open => {
            let places = |of: &str| strings(&change[of]).collect::<Vec<&str>>().join(", ");
            let told = [
                ("Known after apply", places("unknown")),
                ("Left open by the declaration", places("withheld")),
            ];
            let told = told.iter().filter(|(_, places)| !places.is_empty());
            let told: Vec<String> = told.map(|(what, at)| format!("{what}: {at}.")).collect();
            Some(told.join(" "))
        }
        Verdict::Ignored => None,
    }
}

/// A difference, shown on one or more lines.
struct Row {
    pointer: String,
    mark: Mark,
    before: Option<Value>,
    after: Option<Value>,
    note: &'static str,
}

fn show_rows<W: Write>(
    change: &Value,
    verdict: Verdict<'_>,
    paper: &mut Paper<W>,
) -> io::Result<()> {
    let (mut rows, mut ineffective) = (Vec::new(), 0);
    let replaced: Vec<&str> = strings(&change["replacePaths"]).collect();
    match verdict {
        Verdict::Create => rows.extend(members(&change["after"]["properties"])),
        _ => gather(&change["delta"], &replaced, &mut rows, &mut ineffective),
    }
    let unknown = strings(&change["unknown"]).map(|pointer| (pointer, unknown()));
    let left_open = strings(&change["withheld"]).map(|pointer| (pointer, LEFT_OPEN.into()));
    for (pointer, value) in unknown.chain(left_open) {
        if !is_shown(pointer, &rows) {
            rows.push(Row {
                pointer: pointer.to_owned(),
                mark: match change["before"]["properties"].pointer(pointer) {
                    Some(_) => Mark::Change,
                    None => Mark::Add,
                },
                before: None,
                after: Some(value),
                note: "",
            });
        }
    }
    rows.sort_by(|one, other| one.pointer.cmp(&other.pointer));
    for row in &rows {
        let label = format!("{}: ", row.pointer);
        let line = Line {
            depth: 0,
            label: &label,
            note: row.note,
        };
        match (&row.before, &row.after) {
            (Some(before), Some(after)) => diff::changed(paper, line, before, after)?,
            (Some(value), None) | (None, Some(value)) => {
                diff::whole(paper, line, row.mark, value)?;
            }
            (None, None) => {}
        }
    }
    let texts = [
        "declared value that the put leaves as it is",
        "declared values that the put leaves as they are",
    ];
    diff::left_out(paper, 0, ineffective, texts)?;
    if verdict != Verdict::Update {
        return Ok(());
    }
    let live = change["before"]["properties"].as_object();
    let names = live.into_iter().flatten().map(|(name, _)| name);
    let kept = names.filter(|name| {
        let pointer = pointer::join("", name);
        !rows.iter().any(|row| is_within(&row.pointer, &pointer))
    });
    let texts = [
        "unchanged property not shown",
        "unchanged properties not shown",
    ];
    diff::left_out(paper, 0, kept.count(), texts)
}

/// The members of what is created, a row each.
fn members(properties: &Value) -> impl Iterator<Item = Row> {
    let members = properties.as_object().into_iter().flatten();
    members.map(|(name, value)| Row {
        pointer: pointer::join("", name),
        mark: Mark::Add,
        before: None,
        after: Some(value.clone()),
        note: "",
    })
}

/// Collects the differences of a delta, and of the lists in it.
fn gather(delta: &Value, replaced: &[&str], rows: &mut Vec<Row>, ineffective: &mut usize) {
    for change in delta.as_array().into_iter().flatten() {
        if change["children"].is_array() {
            gather(&change["children"], replaced, rows, ineffective);
            continue;
        }
        let mark = match change["propertyChangeType"].as_str() {
            Some("Create") => Mark::Add,
            Some("Delete") => Mark::Remove,
            Some("NoEffect") => {
                *ineffective += 1;
                continue;
            }
            Some(_) | None => Mark::Change,
        };
        let pointer = text(&change["pointer"]).to_owned();
        let is_sensitive = change["sensitive"] == true;
        let value = |name: &str| change.get(name).cloned();
        let (before, after) = match (is_sensitive, mark) {
            (false, _) => (value("before"), value("after")),
            (true, Mark::Remove) => (Some(Value::from(SENSITIVE)), None),
            (true, _) => (None, Some(Value::from(SENSITIVE))),
        };
        let is_forcing = replaced.iter().any(|path| {
            path.strip_prefix("/properties")
                .is_some_and(|property| is_within(&pointer, property))
        });
        rows.push(Row {
            mark,
            before,
            after,
            note: match change["cause"].as_str() {
                _ if is_forcing => "forces replacement",
                Some("Drift") => "changed by somebody else",
                Some("NotApplied") => "sent before, but AWS shows otherwise",
                Some("Schema") => "the type asks for it",
                Some(_) | None => "",
            },
            pointer,
        });
    }
}

/// Returns a change with what it shows of values that the declaration leaves open in words of their own.
fn with_left_open(change: &Value) -> Value {
    let mut told = change.clone();
    for place in strings(&change["withheld"]) {
        if let Some(value) = told.pointer_mut(&format!("/after/properties{place}")) {
            *value = LEFT_OPEN.into();
        }
        leave_open(told.get_mut("delta"), place);
    }
    told
}

/// The same in a delta, and in the lists in it.
fn leave_open(delta: Option<&mut Value>, place: &str) {
    let changes = delta.and_then(Value::as_array_mut);
    for change in changes.into_iter().flatten() {
        leave_open(change.get_mut("children"), place);
        let above = text(&change["pointer"]);
        if !is_within(place, above) {
            continue;
        }
        let below = format!("/after{}", &place[above.len()..]);
        if let Some(value) = change.pointer_mut(&below) {
            *value = LEFT_OPEN.into();
        }
    }
}

/// Whether a row shows what is at a pointer.
fn is_shown(pointer: &str, rows: &[Row]) -> bool {
    rows.iter().any(|row| {
        let after = row
            .after
            .as_ref()
            .filter(|_| is_within(pointer, &row.pointer));
        after.is_some_and(|after| after.pointer(&pointer[row.pointer.len()..]).is_some())
    })
}

fn strings(list: &Value) -> impl Iterator<Item = &str> {
    list.as_array()
        .into_iter()
        .flatten()
        .filter_map(Value::as_str)
}

fn text(value: &Value) -> &str {
    value.as_str().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    const NET: &str =
        "/planes/radius/local/resourcegroups/demo/providers/AWS.EC2/VPC:reference/net";

    fn shown(changes: &Value) -> String {
        let mut out = Vec::new();
        let changes = changes.as_array().expect("a list");
        show(changes, &mut Paper::new(&mut out, false)).expect("it is shown");
        String::from_utf8(out).expect("UTF-8")
    }

    #[test]
    fn a_create_shows_what_is_declared_and_what_aws_assigns() {
        let changes = json!([{"resourceId": NET, "trackedBy": NET, "changeType": "Create", "unknown": ["/Tags/0/Value", "/VpcId"],
            "after": {"properties": {"Tags": [{"Key": "of", "Value": {"$unknown": true}}], "CidrBlock": "10.0.0.0/16"}}}]);
        assert_eq!(
            shown(&changes),
            r#"+ AWS.EC2/VPC net will be created

  + /CidrBlock: "10.0.0.0/16"
  + /Tags: [{Key: "of", Value: (known after apply)}]
  + /VpcId: (known after apply)

Resources: 1 to create.
"#
        );
    }

    #[test]
    fn what_the_declaration_leaves_open_has_words_of_its_own() {
        let open = json!({"$unknown": true});
        let changes = json!([
            {"resourceId": NET, "trackedBy": NET, "changeType": "Create", "unknown": ["/VpcId"],
                "withheld": ["/Tags/0/Value", "/Secret"],
                "after": {"properties": {"Tags": [{"Key": "of", "Value": open}]}}},
            {"resourceId": NET, "trackedBy": NET, "changeType": "Modify", "withheld": ["/A", "/List/0/B"], "delta": [
                {"pointer": "/A", "propertyChangeType": "Modify", "before": 1, "after": open, "cause": "Declaration"},
                {"pointer": "/List", "propertyChangeType": "Array", "children": [
                    {"pointer": "/List/0", "propertyChangeType": "Create", "after": {"B": open}, "cause": "Declaration"}]}]},
            {"resourceId": NET, "trackedBy": NET, "changeType": "NoChange", "withheld": ["/C"]}]);
        assert_eq!(
            shown(&changes),
            r#"+ AWS.EC2/VPC net will be created

  + /Secret: (left open)
  + /Tags: [{Key: "of", Value: (left open)}]
  + /VpcId: (known after apply)

~ AWS.EC2/VPC net will be updated

  ~ /A: 1 -> (left open)
  + /List/0: {B: (left open)}

  AWS.EC2/VPC net stays as it is, unless what it refers to changes

Left open by the declaration: /C.

Resources: 1 to create, 1 to update, 1 as declared.
"#
        );
    }

    #[test]
    fn an_update_says_whose_change_it_is() {
        let id = "/planes/aws/aws/accounts/1/regions/r/providers/AWS.EC2/VPC/vpc-1";
        let changes = json!([{"resourceId": id, "trackedBy": NET, "changeType": "Modify",
            "before": {"properties": {"A": 1, "List": [1, 2], "Kept": 1, "VpcId": "vpc-1", "Password": 1}},
            "delta": [
                {"pointer": "/A", "propertyChangeType": "Modify", "before": 1, "after": 2, "cause": "Drift"},
                {"pointer": "/Gone", "propertyChangeType": "Delete", "before": "x", "cause": "Declaration"},
                {"pointer": "/Same", "propertyChangeType": "NoEffect", "before": 1, "after": 1, "cause": "NotApplied"},
                {"pointer": "/Password", "propertyChangeType": "Modify", "sensitive": true, "cause": "Schema"},
                {"pointer": "/List", "propertyChangeType": "Array", "children": [
                    {"pointer": "/List/1", "propertyChangeType": "Modify", "before": 2, "after": 3, "cause": "NotApplied"}]}],
            "warnings": [{"code": "W", "target": "/A", "message": "Mind the A."}]},
            {"resourceId": id, "changeType": "NoChange"}, {"resourceId": id, "changeType": "Ignore"}]);
        assert_eq!(
            shown(&changes),
            r#"~ AWS.EC2/VPC net (vpc-1) will be updated

  ~ /A: 1 -> 2  # changed by somebody else
  - /Gone: "x"
  ~ /List/1: 2 -> 3  # sent before, but AWS shows otherwise
  ~ /Password: (sensitive)  # the type asks for it
    # (1 declared value that the put leaves as it is)
    # (2 unchanged properties not shown)

Warning: Mind the A.

Resources: 1 to update, 1 as declared.
"#
        );
    }

    #[test]
    fn a_replacement_names_its_reason_and_its_order() {
        let change = |policy: &str| {
            json!([{"trackedBy": NET, "changeType": "Modify", "replacement": policy, "replacePaths": ["/properties/CidrBlock"],
                "delta": [{"pointer": "/CidrBlock", "propertyChangeType": "Modify", "before": "a", "after": "b", "cause": "Declaration"}]}])
        };
        let refused = shown(&change("refuse"));
        assert!(
            refused.starts_with("-/+ AWS.EC2/VPC net must be replaced\n\n  ~ /CidrBlock: \"a\" -> \"b\"  # forces replacement\n"),
            "{refused}"
        );
        assert!(refused.contains("That is refused unless"), "{refused}");
        let replaced = shown(&change("deleteBeforeCreate"));
        assert!(replaced.contains("will be replaced"), "{replaced}");
        assert!(replaced.contains("created after the old one"), "{replaced}");
    }

    #[test]
    fn what_cannot_be_told_says_why() {
        let changes = json!([{"trackedBy": NET, "changeType": "Unsupported", "unsupportedReason": "AWS is late."},
            {"trackedBy": NET, "changeType": "Delete"}]);
        let summary = Summary::of(changes.as_array().expect("a list"));
        assert_eq!((summary.changes(), summary.unknown), (1, 1));
        assert_eq!(
            shown(&changes),
            "~ AWS.EC2/VPC net may change: that cannot be told\n\nAWS is late.\n\n- AWS.EC2/VPC net will be deleted\n\n\
             Resources: 1 to delete, 1 of which it cannot be told.\n"
        );
    }

    #[test]
    fn nothing_to_do_is_said() {
        assert_eq!(
            shown(&json!([{"trackedBy": NET, "changeType": "NoChange"}])),
            "Nothing to do: 1 as declared.\n"
        );
        assert_eq!(shown(&json!([])), "Nothing is declared: nothing to do.\n");
    }
}
