//! What moves where.

use std::collections::{BTreeMap, BTreeSet};
use std::io::{self, Write};

use anstyle::Style;
use ucp_model::TypeName;
use ucp_wire::{AmbiguityBody, MoveBody, RefactorBody, RefactorFindings, RefusedBody};

use super::paper::Paper;
use super::table::table;
use crate::id;

const HEAD: [&str; 3] = ["Resource Type", "Old Alias", "New Alias"];

/// Shows what was found, for each account and region: what moves, what is ambiguous, and what is refused. Then what changes.
pub(crate) fn plan<W: Write>(paper: &mut Paper<W>, plan: &RefactorFindings) -> io::Result<()> {
    let found = environments(plan);
    if found.is_empty() {
        plain(paper, "Nothing to refactor.")?;
    }
    for (name, found) in &found {
        if !name.is_empty() {
            bold(paper, name)?;
        }
        if !found.moves.is_empty() {
            moves(paper, &found.moves, false)?;
            paper.blank()?;
        }
        if !found.ambiguities.is_empty() {
            bold(paper, "Detected ambiguities:")?;
            for AmbiguityBody {
                from, to, reason, ..
            } in &found.ambiguities
            {
                both(paper, from, to)?;
                plain(paper, &format!("    {reason}"))?;
            }
            paper.blank()?;
        }
        if !found.refused.is_empty() {
            bold(paper, "Refused:")?;
            for RefusedBody {
                from,
                to,
                code,
                message,
                ..
            } in &found.refused
            {
                both(paper, from, to)?;
                plain(paper, &format!("    {code}: {message}"))?;
            }
            paper.blank()?;
        }
    }
    let RefactorFindings {
        changes, groups, ..
    } = plan;
    for (title, names) in [
        ("New groups:", &groups.create),
        ("Removed groups:", &groups.remove),
        ("Not deployed:", &changes.create),
        ("Changed:", &changes.update),
        ("Not declared:", &changes.undeclared),
    ] {
        if !names.is_empty() {
            bold(paper, title)?;
            for name in names {
                plain(paper, &format!("  {}", address(name)))?;
            }
            paper.blank()?;
        }
    }
    let types = |names: &[String]| -> BTreeSet<String> {
        let names = names.iter();
        names.filter_map(|name| Some(split(name)?.1)).collect()
    };
    if !types(&changes.create).is_disjoint(&types(&changes.undeclared)) {
        let hint = "If something here was renamed and changed at once, say it in `moves`.";
        plain(paper, hint)?;
        paper.blank()?;
    }
    Ok(())
}

/// Shows what would move back.
pub(crate) fn back<W: Write>(paper: &mut Paper<W>, plan: &RefactorFindings) -> io::Result<()> {
    for (name, found) in environments(plan) {
        bold(paper, &name)?;
        moves(paper, &found.moves, true)?;
        paper.blank()?;
    }
    Ok(())
}

/// Shows what has moved, a line each.
pub(crate) fn moved<W: Write>(paper: &mut Paper<W>, record: &RefactorBody) -> io::Result<()> {
    let moves = &record.found.moves;
    // The time of day, in UTC.
    let time = record.changed_at.split('T').nth(1).unwrap_or_default();
    let time: String = time.chars().take(8).collect();
    for (index, it) in moves.iter().enumerate() {
        let parts = [
            format!("{}/{}", index + 1, moves.len()),
            time.clone(),
            "MOVED".to_owned(),
            type_of(it),
            alias(&it.from),
            alias(&it.to),
        ];
        plain(paper, &parts.join(" | "))?;
    }
    Ok(())
}

/// What was found in an account and region.
#[derive(Default)]
struct Found<'a> {
    moves: Vec<&'a MoveBody>,
    ambiguities: Vec<&'a AmbiguityBody>,
    refused: Vec<&'a RefusedBody>,
}

/// Returns what was found by account and region; under no name what is about none.
fn environments(plan: &RefactorFindings) -> BTreeMap<String, Found<'_>> {
    let mut environments: BTreeMap<String, Found<'_>> = BTreeMap::new();
    for it in &plan.moves {
        let found = environments.entry(environment(Some(&it.scope)));
        found.or_default().moves.push(it);
    }
    for it in &plan.ambiguities {
        let found = environments.entry(environment(it.scope.as_deref()));
        found.or_default().ambiguities.push(it);
    }
    for it in &plan.refused {
        let found = environments.entry(environment(it.scope.as_deref()));
        found.or_default().refused.push(it);
    }
    environments
}

fn environment(scope: Option<&str>) -> String {
    let scope = scope.unwrap_or_default();
    let segments: Vec<&str> = scope.split('/').collect();
    match segments[..] {
        ["", _, _, _, _, account, _, region, ..] => format!("aws://{account}/{region}"),
        _ => scope.to_owned(),
    }
}

/// Shows moves as a table.
fn moves<W: Write>(paper: &mut Paper<W>, moves: &[&MoveBody], is_back: bool) -> io::Result<()> {
    let row = |it: &&MoveBody| {
        let (old, new) = if is_back {
            (&it.to, &it.from)
        } else {
            (&it.from, &it.to)
        };
        vec![type_of(it), alias(old), alias(new)]
    };
    let rows: Vec<Vec<String>> = moves.iter().map(row).collect();
    for line in table(&HEAD, &rows).lines() {
        plain(paper, line)?;
    }
    Ok(())
}

fn both<W: Write>(paper: &mut Paper<W>, from: &[String], to: &[String]) -> io::Result<()> {
    for (sign, names) in [("-", from), ("+", to)] {
        for name in names {
            plain(paper, &format!("  {sign} {}", address(name)))?;
        }
    }
    Ok(())
}

/// The type of a move as CloudFormation writes it.
fn type_of(it: &MoveBody) -> String {
    let name = &it.r#type;
    TypeName::parse(name).map_or_else(|_| name.clone(), |name| name.as_str().to_owned())
}

/// The group and the alias of a reference.
fn alias(id: &str) -> String {
    let group = id.split('/').nth(5).unwrap_or_default();
    format!("{group}/{}", id::last(id))
}

/// The address of a reference, as `moves` have it. Of a group its name.
fn address(id: &str) -> String {
    match split(id) {
        Some((group, type_name, alias)) => format!("{group}/{type_name}/{alias}"),
        None => id::last(id).to_owned(),
    }
}

/// The group, the type and the alias of a reference.
fn split(id: &str) -> Option<(&str, String, &str)> {
    let segments: Vec<&str> = id.split('/').collect();
    let ["", _, _, _, _, group, _, namespace, resource, alias] = segments[..] else {
        return None;
    };
    let resource = resource.trim_end_matches(":reference");
    Some((group, format!("{namespace}/{resource}"), alias))
}

fn bold<W: Write>(paper: &mut Paper<W>, text: &str) -> io::Result<()> {
    paper.words(&[(Style::new().bold(), text)])
}

fn plain<W: Write>(paper: &mut Paper<W>, text: &str) -> io::Result<()> {
    paper.words(&[(Style::new(), text)])
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn shown(show: impl FnOnce(&mut Paper<Vec<u8>>) -> io::Result<()>) -> String {
        let mut paper = Paper::new(Vec::new(), false);
        show(&mut paper).expect("memory");
        String::from_utf8(paper.into_inner()).expect("UTF-8")
    }

    fn record() -> RefactorBody {
        let id = |group: &str, alias: &str| {
            format!(
                "/planes/radius/local/resourcegroups/{group}/providers/AWS.S3/Bucket:reference/{alias}"
            )
        };
        let scope =
            |region: &str| format!("/planes/aws/aws/accounts/123456789012/regions/{region}");
        let ambiguous = |region: &str, alias: &str| json!({"scope": scope(region), "from": [id("a", alias)], "to": [id("b", alias)], "reason": "Identical"});
        let record = json!({"id": "", "name": "", "type": "", "status": "", "createdBy": "", "createdAt": "", "fingerprint": "",
            "environments": [], "history": {"environment": [], "common": null, "pending": []},
            "changedAt": "2026-01-02T03:04:05.678Z", "moves": [{
            "from": id("my-stack", "bucket"), "to": id("web", "origin"), "type": "AWS.S3/Bucket",
            "scope": scope("us-east-1"), "reason": "Digest"}],
            "ambiguities": [ambiguous("us-east-1", "x"), ambiguous("eu-west-1", "y")],
            "refused": [{"from": [], "to": [], "code": "HistoryDiverged", "message": "No."}],
            "groups": {"create": ["/planes/radius/local/resourcegroups/web"], "remove": []},
            "changes": {"create": [], "update": [id("web", "logs")], "undeclared": []}});
        serde_json::from_value(record).expect("a record")
    }

    #[test]
    fn each_environment_has_its_moves_and_ambiguities() {
        assert_eq!(
            shown(|paper| plan(paper, &record().found)),
            "Refused:\n    HistoryDiverged: No.\n\n\
             aws://123456789012/eu-west-1\n\
             Detected ambiguities:\n  - a/AWS.S3/Bucket/y\n  + b/AWS.S3/Bucket/y\n    Identical\n\n\
             aws://123456789012/us-east-1\n\
             Resource Type    Old Alias        New Alias\n\
             AWS::S3::Bucket  my-stack/bucket  web/origin\n\n\
             Detected ambiguities:\n  - a/AWS.S3/Bucket/x\n  + b/AWS.S3/Bucket/x\n    Identical\n\n\
             New groups:\n  web\n\n\
             Changed:\n  web/AWS.S3/Bucket/logs\n\n"
        );
    }

    #[test]
    fn what_moves_back_has_its_new_alias_first() {
        let mut found = record().found;
        found.ambiguities.clear();
        found.refused.clear();
        let back = shown(|paper| back(paper, &found));
        let row: Vec<&str> = back
            .lines()
            .nth(2)
            .unwrap_or_default()
            .split_whitespace()
            .collect();
        assert_eq!(
            row,
            ["AWS::S3::Bucket", "web/origin", "my-stack/bucket"],
            "{back}"
        );
    }

    #[test]
    fn what_has_moved_is_a_line_each() {
        assert_eq!(
            shown(|paper| moved(paper, &record())),
            "1/1 | 03:04:05 | MOVED | AWS::S3::Bucket | my-stack/bucket | web/origin\n"
        );
    }

    #[test]
    fn that_nothing_moves_is_told() {
        assert_eq!(
            shown(|paper| plan(paper, &RefactorFindings::default())),
            "Nothing to refactor.\n"
        );
    }

    /// A put of it would make a double.
    #[test]
    fn what_was_renamed_and_changed_is_shown_although_nothing_moves() {
        let changed = record().found.changes.update.remove(0);
        let id = |alias: &str| vec![changed.replace("logs", alias)];
        let mut found = RefactorFindings::default();
        found.changes.create = id("new");
        found.changes.undeclared = id("old");
        assert_eq!(
            shown(|paper| plan(paper, &found)),
            "Nothing to refactor.\n\
             Not deployed:\n  web/AWS.S3/Bucket/new\n\n\
             Not declared:\n  web/AWS.S3/Bucket/old\n\n\
             If something here was renamed and changed at once, say it in `moves`.\n\n"
        );
    }
}
