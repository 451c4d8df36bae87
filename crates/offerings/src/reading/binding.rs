//! The table `binding`.

use std::time::Duration;

use crate::fields::Fields;
use crate::problem::Problems;
use crate::source::{Content, Member, Node};
use crate::{duration, fields};

/// What the table has.
#[derive(Default)]
pub(super) struct Table<'n> {
    /// Whether it says when a binding expires, rightly or not.
    pub(super) expires: bool,
    pub(super) is_rotatable: bool,
    pub(super) requires_app: bool,
    pub(super) expires_after: Option<Duration>,
    pub(super) renew_after: Option<Duration>,
    pub(super) credentials: Option<&'n [Member]>,
    pub(super) endpoints: Option<&'n Node>,
    pub(super) resources: &'n [Member],
    pub(super) parameters: &'n [Member],
}

pub(super) fn read<'n>(member: &'n Member, problems: &mut Problems) -> Option<Table<'n>> {
    let mut fields = Fields::of(&member.node, member.line, "`binding`", problems)?;
    let renew_line = fields.find("renew_after").map(|member| member.line);
    let expires = fields.find("expires_after").is_some();
    let table = Table {
        expires,
        is_rotatable: fields.flag("rotatable", false, problems),
        requires_app: fields.flag("requires_app", false, problems),
        expires_after: duration_of(&mut fields, "expires_after", problems),
        renew_after: duration_of(&mut fields, "renew_after", problems),
        credentials: fields.given_table("credentials", problems),
        endpoints: fields.take("endpoints").map(|member| &member.node),
        resources: fields.table("resources", problems),
        parameters: fields.table("parameters", problems),
    };
    if let Some(line) = renew_line {
        match (table.renew_after, table.expires_after) {
            (Some(renew), Some(expires)) if renew >= expires => {
                problems.add(
                    line,
                    "`renew_after` is before `expires_after`; make it shorter",
                );
            }
            (Some(_), None) if !expires => {
                let message = "`renew_after` is of no use without `expires_after`";
                problems.add(line, message);
            }
            _ => {}
        }
    }
    if let Some(endpoints) = table.endpoints {
        judge_endpoints(endpoints, problems);
    }
    fields.finish(problems);
    Some(table)
}

fn duration_of(
    fields: &mut Fields<'_>,
    name: &'static str,
    problems: &mut Problems,
) -> Option<Duration> {
    let (text, line) = fields.text(name, problems)?;
    match duration::read(text) {
        Ok(duration) => Some(duration),
        Err(why) => {
            problems.add(line, format!("`{name}` {why}"));
            None
        }
    }
}

/// Tells of endpoints that are not as platforms read them.
fn judge_endpoints(node: &Node, problems: &mut Problems) {
    let Some(endpoints) = node.elements() else {
        problems.add(node.line, "`endpoints` is a list of tables");
        return;
    };
    for endpoint in endpoints {
        let Some(mut fields) = Fields::of(endpoint, endpoint.line, "an endpoint", problems) else {
            continue;
        };
        fields.needed("host", problems);
        let ports = fields.take("ports");
        let is_right = ports.is_some_and(|ports| {
            let ports = ports.node.elements().unwrap_or_default();
            !ports.is_empty() && ports.iter().all(|port| port.text().is_some())
        });
        if !is_right {
            let line = ports.map_or(endpoint.line, |ports| ports.line);
            problems.add(
                line,
                "an endpoint has `ports`: texts such as \"443\" or \"8000-8010\"",
            );
        }
        if let Some(protocol) = fields.take("protocol") {
            const PROTOCOLS: [&str; 3] = ["tcp", "udp", "all"];
            let is_known = match &protocol.node.content {
                Content::Scalar(value) => {
                    value.as_str().is_some_and(|name| PROTOCOLS.contains(&name))
                }
                Content::List(_) | Content::Table(_) => false,
            };
            if !is_known {
                let message = format!("`protocol` is one of {}", fields::listed(&PROTOCOLS));
                problems.add(protocol.line, message);
            }
        }
        fields.finish(problems);
    }
}
