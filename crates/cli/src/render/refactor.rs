//! What moves where.

use std::collections::BTreeMap;
use std::io::{self, Write};

use anstyle::Style;
use serde_json::Value;
use ucp_model::TypeName;

use super::paper::Paper;
use super::table::table;
use crate::id;

const HEAD: [&str; 3] = ["Resource Type", "Old Alias", "New Alias"];

/// Shows what was found, for each account and region: what moves, what is ambiguous, and what is refused. And what changes, if
/// something moves or that is put.
pub(crate) fn plan<W: Write>(paper: &mut Paper<W>, plan: &Value, is_put: bool) -> io::Result<()> {
    let found = environments(plan);
    if found.is_empty() {
        plain(paper, "Nothing to refactor.")?;
        if !is_put {
            return Ok(());
        }
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
    for (title, names) in [
        ("Not deployed:", &plan["changes"]["create"]),
        ("Changed:", &plan["changes"]["update"]),
        ("Not declared:", &plan["changes"]["undeclared"]),
    ] {
        let names = list(names);
        if !names.is_empty() {
            bold(paper, title)?;
            for name in names {
                plain(paper, &format!("  {}", alias(name)))?;
            }
            paper.blank()?;
        }
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
            plain(paper, &format!("  {sign} {}", alias(name)))?;
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
            "changes": {"create": [], "update": [id("web", "logs")], "undeclared": []}})
    }

    #[test]
    fn each_environment_has_its_moves_and_ambiguities() {
        assert_eq!(
            shown(|paper| plan(paper, &record(), false)),
            "Refused:\n    HistoryDiverged: No.\n\n\
             aws://123456789012/eu-west-1\n\
             Detected ambiguities:\n  - a/y\n  + b/y\n    Identical\n\n\
             aws://123456789012/us-east-1\n\
             Resource Type    Old Alias        New Alias\n\
             AWS::S3::Bucket  my-stack/bucket  web/origin\n\n\
             Detected ambiguities:\n  - a/x\n  + b/x\n    Identical\n\n\
             Changed:\n  web/logs\n\n"
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
            shown(|paper| plan(paper, &nothing, true)),
            "Nothing to refactor.\n"
        );
    }
}
