use std::fs;
use std::path::{Path, PathBuf};

use anstyle::Style;
use anyhow::{Context, bail, ensure};
use clap::Args;
use serde_json::{Map, Value, json};
use ucp_refactor::Base;

use super::place::Place;
use crate::client::{Client, Polling, Refusal, Reply, Server};
use crate::comparison::{Given, compared};
use crate::confirm::Consent;
use crate::document;
use crate::id::{self, Group};
use crate::outcome::Outcome;
use crate::output::{self, Format, Output};
use crate::progress::{Phases, Progress};
use crate::render::refactor as shown;

/// The members of a mapping file.
const MAPPING: [&str; 3] = ["moves", "exclude", "history"];

/// The arguments of `ucp refactor`.
#[derive(Debug, Args)]
pub struct Refactor {
    /// A resource group, a name or an id: the file says all that it shall hold. Without it, the file names groups.
    #[arg(short, long, conflicts_with = "plane")]
    group: Option<Group>,
    /// The radius plane.
    #[arg(long, default_value = "local")]
    plane: String,
    /// A file with all that the groups shall hold, in JSON or YAML: the body of `:refactor`; `-` is standard input.
    #[arg(
        short = 'f',
        long = "file",
        value_name = "BODY",
        required_unless_present = "undo"
    )]
    file: Option<PathBuf>,
    /// A file with `moves`, `exclude` and `history`, in JSON or YAML, which go with the body.
    #[arg(long, value_name = "FILE", conflicts_with = "undo")]
    mapping_file: Option<PathBuf>,
    /// Show what would move. Nothing moves.
    #[arg(long)]
    dry_run: bool,
    /// Put what changes, once everything has moved. If a put fails, everything moves back, unless the file says
    /// `"onFailure": "keep"`.
    #[arg(long, conflicts_with_all = ["undo", "offline"])]
    deploy: bool,
    /// Compare with another file instead of what is deployed. No server is asked, and nothing moves.
    #[arg(long, requires = "from", conflicts_with = "undo")]
    offline: bool,
    /// With --offline: the file that says what is there, a body as well.
    #[arg(long, value_name = "BODY", requires = "offline")]
    from: Option<PathBuf>,
    /// Take back what moved: the name of a refactor, or its id.
    #[arg(long, value_name = "NAME", conflicts_with = "file")]
    undo: Option<String>,
    /// Append what moves to the history of the mapping file, which must be JSON, as an event of this name. Others that use
    /// the file then move the same.
    #[arg(
        long,
        value_name = "EVENT",
        requires = "mapping_file",
        conflicts_with = "dry_run"
    )]
    record: Option<String>,
    /// With --dry-run or --offline: exit with 0 if nothing would move, and with 2 if something would.
    #[arg(long)]
    detailed_exitcode: bool,
    /// Print the record, as the server answers it.
    #[arg(long)]
    json: bool,
    /// Where resources are for which the file names no `scope`.
    #[command(flatten)]
    place: Place,
    #[command(flatten)]
    consent: Consent,
    #[command(flatten)]
    server: Server,
}

impl Refactor {
    pub(super) async fn run(self) -> anyhow::Result<Outcome> {
        ensure!(
            !self.detailed_exitcode || self.dry_run || self.offline,
            "--detailed-exitcode needs --dry-run or --offline"
        );
        if let Some(from) = &self.from {
            return self.compare(from);
        }
        let client = self.server.client()?;
        if !self.dry_run {
            self.consent.can_be_asked()?;
        }
        match &self.undo {
            Some(name) => self.take_back(name, &client).await,
            None => self.find(&client).await,
        }
    }

    fn output(&self) -> Output {
        Output {
            format: match self.json {
                true => Format::Json,
                false => Format::Text,
            },
        }
    }

    async fn find(&self, client: &Client) -> anyhow::Result<Outcome> {
        let output = self.output();
        let mut body = self.body()?;
        let path = match &self.group {
            Some(group) => format!("{group}/:refactor"),
            None => format!("/planes/radius/{}/:refactor", id::segment(&self.plane)),
        };
        if self.deploy {
            body.insert("deploy".to_owned(), Value::from(true));
        }
        let mut plan = client.post(&path, &Value::Object(body.clone())).await?.body;
        if let Some(outcome) = self.judge(&plan, &body)? {
            return Ok(outcome);
        }
        let changes = &plan["changes"];
        let is_put = self.deploy && !(is_empty(&changes["create"]) && is_empty(&changes["update"]));
        let is_known = is_empty(&plan["moves"]) && is_empty(&plan["history"]["pending"]);
        if is_known && !is_put || self.dry_run {
            self.print(&plan)?;
            let moves = self.detailed_exitcode && !is_empty(&plan["moves"]);
            return Ok(match moves {
                true => Outcome::Changes,
                false => Outcome::Done,
            });
        }
        if !self
            .consent
            .asked("Do you want to refactor these resources?")?
        {
            output::show(output, |paper| {
                paper.words(&[(Style::new(), "Nothing moves.")])
            })?;
            return Ok(Outcome::Failed);
        }
        let recorded = match (&self.record, &self.mapping_file) {
            (Some(event), Some(file)) if !is_empty(&plan["moves"]) => {
                let history = recorded(&body, event, &plan)?;
                body.insert("history".to_owned(), history.clone());
                let sent = Value::Object(body.clone());
                let again = client.post(&path, &sent).await?.body;
                ensure!(
                    same_moves(&plan, &again),
                    "something has changed since the moves were shown, so nothing moves; run the command again"
                );
                plan = again;
                Some((file, history))
            }
            _ => None,
        };
        let reply = match self.deploy {
            true => {
                body.insert("mode".to_owned(), Value::from("apply"));
                body.insert("fingerprint".to_owned(), plan["fingerprint"].clone());
                client.post(&path, &Value::Object(body)).await?
            }
            false => {
                let apply = format!("{}/:apply", text(&plan["id"])?);
                let seen = json!({"fingerprint": plan["fingerprint"]});
                client.post(&apply, &seen).await?
            }
        };
        output::show(output, |paper| shown::moved(paper, &reply.body))?;
        let refused = self.follow(&reply, client).await?;
        let record = match &refused {
            // What has moved is perhaps back.
            Some(_) => client.get(text(&reply.body["id"])?).await?.body,
            None => reply.body,
        };
        self.print(&record)?;
        if let (Some((file, history)), Some("Applied")) = (recorded, record["status"].as_str()) {
            append(file, &history)?;
        }
        match refused {
            Some(refusal) => Err(refusal.into()),
            None => Ok(Outcome::Done),
        }
    }

    /// Follows the operation that puts what changes, if there is one. Returns why it failed.
    async fn follow(&self, reply: &Reply, client: &Client) -> anyhow::Result<Option<Refusal>> {
        let Some(polling) = Polling::of(reply) else {
            return Ok(None);
        };
        let words = format!("Operation {}", polling.operation());
        let output = self.output();
        output::show(output, |paper| {
            paper.words(&[(Style::new().dimmed(), &words)])
        })?;
        let mut progress = Progress::new(output, Phases::Untold);
        let told = |status: &Value| progress.observe(status);
        let status = client.follow(&polling, reply.retry_after(), told).await?;
        Ok(match status["status"].as_str() {
            Some("Succeeded") => None,
            _ => Some(client.refusal(&status["error"])),
        })
    }

    /// Compares two files. Nothing moves, so nothing is asked.
    fn compare(&self, from: &Path) -> anyhow::Result<Outcome> {
        let file = self.file.as_ref().context("--file is required")?;
        ensure!(
            !(document::is_stdin(from) && from == file),
            "standard input can be only one of the files"
        );
        let body = self.body()?;
        let mut old = object(from)?;
        if let Some(scope) = self.place.scope() {
            old.entry("scope").or_insert_with(|| Value::from(scope));
        }
        let base = match &self.group {
            Some(group) => Base::Group(group.to_string().parse()?),
            None => Base::Plane(self.plane.clone()),
        };
        let given = |file, members| Given { file, members };
        let plan = compared(&base, &given(from, &old), &given(file, &body))?;
        if let Some(outcome) = self.judge(&plan, &body)? {
            return Ok(outcome);
        }
        self.print(&plan)?;
        let moves = !is_empty(&plan["moves"]);
        if let (Some(event), Some(file), true) = (&self.record, &self.mapping_file, moves) {
            append(file, &recorded(&body, event, &plan)?)?;
        }
        Ok(match self.detailed_exitcode && moves {
            true => Outcome::Changes,
            false => Outcome::Done,
        })
    }

    /// Shows a plan. Returns the outcome if nothing moves because of what it says.
    fn judge(&self, plan: &Value, body: &Map<String, Value>) -> anyhow::Result<Option<Outcome>> {
        output::show(self.output(), |paper| shown::plan(paper, plan, self.deploy))?;
        if !is_empty(&plan["refused"]) {
            self.print(plan)?;
            bail!("some moves cannot be, so nothing moves; correct what is refused above");
        }
        let leaves = body.get("onAmbiguity").and_then(Value::as_str) == Some("leave");
        if !is_empty(&plan["ambiguities"]) && !leaves {
            self.print(plan)?;
            eprintln!(
                "ucp: nothing tells what moves where, so nothing moves; say it in `moves`, or set `onAmbiguity` to `leave`"
            );
            return Ok(Some(Outcome::Unknown));
        }
        Ok(None)
    }

    async fn take_back(&self, name: &str, client: &Client) -> anyhow::Result<Outcome> {
        let output = self.output();
        let path = match name.starts_with('/') {
            true => name.to_owned(),
            false => format!(
                "/planes/radius/{}/providers/System.Resources/refactors/{}",
                id::segment(&self.plane),
                id::segment(name)
            ),
        };
        let record = client.get(&path).await?.body;
        output::show(output, |paper| shown::back(paper, &record))?;
        if self.dry_run {
            self.print(&record)?;
            return Ok(Outcome::Done);
        }
        if !self
            .consent
            .asked("Do you want to take these moves back?")?
        {
            output::show(output, |paper| {
                paper.words(&[(Style::new(), "Nothing moves.")])
            })?;
            return Ok(Outcome::Failed);
        }
        let seen = json!({"fingerprint": record["fingerprint"]});
        let undone = client.post(&format!("{path}/:undo"), &seen).await?.body;
        output::show(output, |paper| shown::moved(paper, &undone))?;
        self.print(&undone)?;
        Ok(Outcome::Done)
    }

    /// Prints a record for programs.
    fn print(&self, record: &Value) -> anyhow::Result<()> {
        if self.json {
            output::print_json(record)?;
        }
        Ok(())
    }

    /// Reads the body, with what the mapping file says.
    fn body(&self) -> anyhow::Result<Map<String, Value>> {
        let file = self.file.as_ref().context("--file is required")?;
        let mut body = object(file)?;
        if let Some(file) = &self.mapping_file {
            ensure!(
                !(document::is_stdin(file) && self.file.as_ref() == Some(file)),
                "standard input can be only one of the files"
            );
            for (name, value) in object(file)? {
                ensure!(
                    MAPPING.contains(&name.as_str()),
                    "{}: {name} is not one of {}",
                    document::name(file),
                    MAPPING.join(", ")
                );
                let given = body.entry(name.as_str()).or_insert(Value::Null);
                match (given, value) {
                    (Value::Array(given), Value::Array(more)) if name != "history" => {
                        given.extend(more);
                    }
                    (Value::Null, value) => {
                        body.insert(name, value);
                    }
                    _ => bail!("{name} is given in both files, or is no list in one"),
                }
            }
        }
        if let Some(scope) = self.place.scope() {
            body.entry("scope").or_insert_with(|| Value::from(scope));
        }
        body.insert("mode".to_owned(), Value::from("plan"));
        Ok(body)
    }
}

fn is_empty(member: &Value) -> bool {
    member.as_array().is_none_or(Vec::is_empty)
}

fn object(file: &Path) -> anyhow::Result<Map<String, Value>> {
    match document::read_one(file)? {
        Value::Object(members) => Ok(members),
        _ => bail!("{}: it is not an object", document::name(file)),
    }
}

fn text(value: &Value) -> anyhow::Result<&str> {
    value.as_str().context("the server answers without an id")
}

/// Returns the history with one more event, of the moves of a plan.
fn recorded(body: &Map<String, Value>, event: &str, plan: &Value) -> anyhow::Result<Value> {
    let mut history = match body.get("history") {
        None | Some(Value::Null) => Vec::new(),
        Some(Value::Array(events)) => events.clone(),
        Some(_) => bail!("history is no list"),
    };
    // What the history moves is in it.
    let pending: Vec<&Value> = history
        .iter()
        .filter_map(|event| event["moves"].as_array())
        .flatten()
        .collect();
    let moves = plan["moves"].as_array().into_iter().flatten();
    let moves = moves.map(|it| {
        let address = |end: &Value| end.as_str().map(id::address);
        json!({"from": address(&it["from"]), "to": address(&it["to"])})
    });
    let moves: Vec<Value> = moves.filter(|it| !pending.contains(&it)).collect();
    history.push(json!({"id": event, "moves": moves}));
    Ok(Value::from(history))
}

/// Whether two plans move the same.
fn same_moves(one: &Value, other: &Value) -> bool {
    let moves = |plan: &Value| -> Vec<(Value, Value)> {
        let moves = plan["moves"].as_array().into_iter().flatten();
        moves
            .map(|it| (it["from"].clone(), it["to"].clone()))
            .collect()
    };
    moves(one) == moves(other)
}

/// Writes the history into the mapping file. Everything has moved by then.
fn append(file: &Path, history: &Value) -> anyhow::Result<()> {
    let write = || -> anyhow::Result<()> {
        let mut members = object(file)?;
        members.insert("history".to_owned(), history.clone());
        let text = format!("{:#}\n", Value::Object(members));
        // Others see the old file or the new one.
        let new = file.with_extension("new");
        fs::write(&new, text)?;
        fs::rename(&new, file)?;
        Ok(())
    };
    write().with_context(|| {
        format!(
            "everything has moved, but the history could not be written to {}; it is {history}",
            document::name(file)
        )
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_event_has_what_the_history_does_not_move() {
        let id = |name: &str| {
            format!(
                "/planes/radius/local/resourcegroups/rg/providers/AWS.SQS/Queue:reference/{name}"
            )
        };
        let plan = json!({"moves": [
            {"from": id("a"), "to": id("b")}, {"from": id("c"), "to": id("d")}]});
        let first = json!({"id": "e1", "moves": [
            {"from": "rg/AWS.SQS/Queue/a", "to": "rg/AWS.SQS/Queue/b"}]});
        let body = Map::from_iter([("history".to_owned(), json!([first]))]);
        let history = recorded(&body, "e2", &plan).expect("a list");
        let second = json!({"id": "e2", "moves": [
            {"from": "rg/AWS.SQS/Queue/c", "to": "rg/AWS.SQS/Queue/d"}]});
        assert_eq!(history, json!([first, second]));
    }

    #[test]
    fn the_rest_of_a_mapping_file_stays() {
        let folder = tempfile::tempdir().expect("a folder");
        let file = folder.path().join("maps.json");
        fs::write(&file, r#"{"exclude":["AWS.S3/Bucket"]}"#).expect("a file");
        append(&file, &json!([{"id": "e1", "moves": []}])).expect("it is written");
        let read = Value::Object(object(&file).expect("an object"));
        let expected =
            json!({"exclude": ["AWS.S3/Bucket"], "history": [{"id": "e1", "moves": []}]});
        assert_eq!(read, expected);
    }
}
