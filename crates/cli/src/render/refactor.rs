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

/// Shows what was found: the moves of each account and region, what is ambiguous, and what is refused.
pub(crate) fn plan<W: Write>(paper: &mut Paper<W>, plan: &Value) -> io::Result<()> {
    let by_environment = environments(plan);
    let ambiguities = list(&plan["ambiguities"]);
    let refused = list(&plan["refused"]);
    if by_environment.is_empty() && ambiguities.is_empty() && refused.is_empty() {
        return plain(paper, "Nothing to refactor.");
    }
    tables(paper, &by_environment, false)?;
    if !ambiguities.is_empty() {
        bold(paper, "Detected ambiguities:")?;
        for it in ambiguities {
            both(paper, it)?;
            plain(paper, &format!("    {}", text(&it["reason"])))?;
        }
        paper.blank()?;
    }
    if !refused.is_empty() {
        bold(paper, "Refused:")?;
        for it in refused {
            both(paper, it)?;
            plain(
                paper,
                &format!("    {}: {}", text(&it["code"]), text(&it["message"])),
            )?;
        }
        paper.blank()?;
    }
    for (title, names) in [
        ("Not deployed:", &plan["changes"]["create"]),
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
    tables(paper, &environments(record), true)
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

type Environments<'a> = BTreeMap<String, Vec<&'a Value>>;

fn environments(record: &Value) -> Environments<'_> {
    let mut environments = Environments::new();
    for it in list(&record["moves"]) {
        let scope = text(&it["scope"]);
        let segments: Vec<&str> = scope.split('/').collect();
        let name = match segments[..] {
            ["", _, _, _, _, account, _, region, ..] => format!("aws://{account}/{region}"),
            _ => scope.to_owned(),
        };
        environments.entry(name).or_default().push(it);
    }
    environments
}

fn tables<W: Write>(
    paper: &mut Paper<W>,
    environments: &Environments<'_>,
    is_back: bool,
) -> io::Result<()> {
    for (name, moves) in environments {
        bold(paper, name)?;
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
        paper.blank()?;
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
        json!({"changedAt": "2026-01-02T03:04:05.678Z", "moves": [{
            "from": id("my-stack", "bucket"), "to": id("web", "origin"), "type": "AWS.S3/Bucket",
            "scope": "/planes/aws/aws/accounts/123456789012/regions/us-east-1", "reason": "Digest"}],
            "ambiguities": [{"from": [id("a", "x")], "to": [id("a", "y")], "reason": "Identical"}],
            "refused": [], "changes": {"create": [], "undeclared": []}})
    }

    #[test]
    fn moves_are_tables_of_their_environments() {
        assert_eq!(
            shown(|paper| plan(paper, &record())),
            "aws://123456789012/us-east-1\n\
             Resource Type    Old Alias        New Alias\n\
             AWS::S3::Bucket  my-stack/bucket  web/origin\n\n\
             Detected ambiguities:\n  - a/x\n  + a/y\n    Identical\n\n"
        );
        let back = shown(|paper| back(paper, &record()));
        assert!(
            back.contains("web/origin  my-stack/bucket") || back.contains("web/origin "),
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
}
