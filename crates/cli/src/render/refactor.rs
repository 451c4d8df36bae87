//! What moves where.

use std::collections::{BTreeMap, BTreeSet};
use std::io::{self, Write};

use anstyle::Style;
use serde_json::Value;
use ucp_model::TypeName;

use super::paper::Paper;
use super::table::table;
use crate::id;

const HEAD: [&str; 3] = ["Resource Type", "Old Alias", "New Alias"];

/// Shows what was found, for each account and region: what moves, what is ambiguous, and what is refused. Then what changes.
pub(crate) fn plan<W: Write>(paper: &mut Paper<W>, plan: &Value) -> io::Result<()> {
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
            for it in &found.ambiguities {
                both(paper, it)?;
                plain(paper, &format!("    {}", text(&it["reason"])))?;
            }
            paper.blank()?;
        }
        if !found.refused.is_empty() {
            bold(paper, "Refused:")?;
            for it in &found.refused {
                both(paper, it)?;
                plain(
                    paper,
                    &format!("    {}: {}", text(&it["code"]), text(&it["message"])),
                )?;
            }
            paper.blank()?;
        }
    }
    let (changes, groups) = (&plan["changes"], &plan["groups"]);
    for (title, names) in [
        ("New groups:", &groups["create"]),
        ("Removed groups:", &groups["remove"]),
        ("Not deployed:", &changes["create"]),
        ("Changed:", &changes["update"]),
        ("Not declared:", &changes["undeclared"]),
    ] {
        let names = list(names);
        if !names.is_empty() {
            bold(paper, title)?;
            for name in names {
                plain(paper, &format!("  {}", address(name)))?;
            }
            paper.blank()?;
        }
    }
    let types = |names: &Value| -> BTreeSet<String> {
        let names = list(names).iter();
        names.filter_map(|name| Some(split(name)?.1)).collect()
    };
    let (created, undeclared) = (types(&changes["create"]), types(&changes["undeclared"]));
    if !created.is_disjoint(&undeclared) {
        let hint = "If something here was renamed and changed at once, say it in `moves`.";
        plain(paper, hint)?;
        paper.blank()?;
    }
    Ok(())
}

/// Shows what would move back.
pub(crate) fn back<W: Write>(paper: &mut Paper<W>, record: &Value) -> io::Result<()> {
    for (name, found) in environments(record) {
        bold(paper, &name)?;
        moves(paper, &found.moves, true)?;
        paper.blank()?;
    }
    Ok(())
}

/// Shows what has moved, a line each.
pub(crate) fn moved<W: Write>(paper: &mut Paper<W>, record: &Value) -> io::Result<()> {
    let moves = list(&record["moves"]);
    // The time of day, in UTC.
    let time = text(&record["changedAt"]);
    let time = time.split('T').nth(1).unwrap_or_default();
    let time: String = time.chars().take(8).collect();
    for (index, it) in moves.iter().enumerate() {
        let parts = [
            format!("{}/{}", index + 1, moves.len()),
            time.clone(),
            "MOVED".to_owned(),
            type_of(it),
            alias(&it["from"]),
            alias(&it["to"]),
        ];
        plain(paper, &parts.join(" | "))?;
    }
    Ok(())
}

/// What was found in an account and region.
#[derive(Default)]
struct Found<'a> {
    moves: Vec<&'a Value>,
    ambiguities: Vec<&'a Value>,
    refused: Vec<&'a Value>,
}

/// Returns what was found by account and region; under no name what is about none.
fn environments(record: &Value) -> BTreeMap<String, Found<'_>> {
    let mut environments: BTreeMap<String, Found<'_>> = BTreeMap::new();
    for it in list(&record["moves"]) {
        environments
            .entry(environment(it))
            .or_default()
            .moves
            .push(it);
    }
    for it in list(&record["ambiguities"]) {
        let found = environments.entry(environment(it)).or_default();
        found.ambiguities.push(it);
    }
    for it in list(&record["refused"]) {
        environments
            .entry(environment(it))
            .or_default()
            .refused
            .push(it);
    }
    environments
}

fn environment(it: &Value) -> String {
    let scope = text(&it["scope"]);
    let segments: Vec<&str> = scope.split('/').collect();
    match segments[..] {
        ["", _, _, _, _, account, _, region, ..] => format!("aws://{account}/{region}"),
        _ => scope.to_owned(),
    }
}

/// Shows moves as a table.
fn moves<W: Write>(paper: &mut Paper<W>, moves: &[&Value], is_back: bool) -> io::Result<()> {
    let row = |it: &&Value| {
        let (old, new) = match is_back {
            false => (&it["from"], &it["to"]),
            true => (&it["to"], &it["from"]),
        };
        vec![type_of(it), alias(old), alias(new)]
    };
    let rows: Vec<Vec<String>> = moves.iter().map(row).collect();
    for line in table(&HEAD, &rows).lines() {
        plain(paper, line)?;
    }
    Ok(())
}

fn both<W: Write>(paper: &mut Paper<W>, it: &Value) -> io::Result<()> {
    for (sign, names) in [("-", &it["from"]), ("+", &it["to"])] {
        for name in list(names) {
            plain(paper, &format!("  {sign} {}", address(name)))?;
        }
    }
    Ok(())
}

fn list(value: &Value) -> &[Value] {
    value.as_array().map(Vec::as_slice).unwrap_or_default()
}

fn text(value: &Value) -> &str {
    value.as_str().unwrap_or_default()
}

/// The type of a move as CloudFormation writes it.
fn type_of(it: &Value) -> String {
    let name = text(&it["type"]);
    TypeName::parse(name).map_or_else(|_| name.to_owned(), |name| name.as_str().to_owned())
}

/// The group and the alias of a reference.
fn alias(id: &Value) -> String {
    let id = text(id);
    let group = id.split('/').nth(5).unwrap_or_default();
    format!("{group}/{}", id::last(id))
}

/// The address of a reference, as `moves` have it. Of a group its name.
fn address(id: &Value) -> String {
    match split(id) {
        Some((group, type_name, alias)) => format!("{group}/{type_name}/{alias}"),
        None => id::last(text(id)).to_owned(),
    }
}

/// The group, the type and the alias of a reference.
fn split(id: &Value) -> Option<(&str, String, &str)> {
    let segments: Vec<&str> = text(id).split('/').collect();
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

    fn record() -> Value {
        let id = |group: &str, alias: &str| {
            format!(
                "/planes/radius/local/resourcegroups/{group}/providers/AWS.S3/Bucket:reference/{alias}"
            )
        };
        let scope =
            |region: &str| format!("/planes/aws/aws/accounts/123456789012/regions/{region}");
        let ambiguous = |region: &str, alias: &str| json!({"scope": scope(region), "from": [id("a", alias)], "to": [id("b", alias)], "reason": "Identical"});
        json!({"changedAt": "2026-01-02T03:04:05.678Z", "moves": [{
            "from": id("my-stack", "bucket"), "to": id("web", "origin"), "type": "AWS.S3/Bucket",
            "scope": scope("us-east-1"), "reason": "Digest"}],
            "ambiguities": [ambiguous("us-east-1", "x"), ambiguous("eu-west-1", "y")],
            "refused": [{"from": [], "to": [], "code": "HistoryDiverged", "message": "No."}],
            "groups": {"create": ["/planes/radius/local/resourcegroups/web"], "remove": []},
            "changes": {"create": [], "update": [id("web", "logs")], "undeclared": []}})
    }

    #[test]
    fn each_environment_has_its_moves_and_ambiguities() {
        assert_eq!(
            shown(|paper| plan(paper, &record())),
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
        let mut record = record();
        record["ambiguities"] = json!([]);
        record["refused"] = json!([]);
        let back = shown(|paper| back(paper, &record));
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
        let nothing = json!({"moves": [], "ambiguities": [], "refused": []});
        assert_eq!(
            shown(|paper| plan(paper, &nothing)),
            "Nothing to refactor.\n"
        );
    }

    /// A put of it would make a double.
    #[test]
    fn what_was_renamed_and_changed_is_shown_although_nothing_moves() {
        let mut record = record();
        for name in ["moves", "ambiguities", "refused"] {
            record[name] = json!([]);
        }
        record["groups"] = json!({"create": [], "remove": []});
        let changed = record["changes"]["update"].take();
        let id = |alias: &str| json!([text(&changed[0]).replace("logs", alias)]);
        record["changes"] = json!({"create": id("new"), "update": [], "undeclared": id("old")});
        assert_eq!(
            shown(|paper| plan(paper, &record)),
            "Nothing to refactor.\n\
             Not deployed:\n  web/AWS.S3/Bucket/new\n\n\
             Not declared:\n  web/AWS.S3/Bucket/old\n\n\
             If something here was renamed and changed at once, say it in `moves`.\n\n"
        );
    }
}
