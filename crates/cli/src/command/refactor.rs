use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use anstyle::Style;
use anyhow::{Context, bail, ensure};
use clap::Args;
use serde::Deserialize;
use serde_json::{Map, Value, json};
use ucp_client::{Client, Failure, Polling, Refusal};
use ucp_refactor::Base;
use ucp_wire::{RefactorBody, RefactorFindings};

use super::place::Place;
use super::preview::located;
use crate::comparison::{Given, compared};
use crate::confirm::Consent;
use crate::document;
use crate::id::{self, Group};
use crate::outcome::Outcome;
use crate::output::{self, Format, Output};
use crate::progress::{Phases, Progress};
use crate::render::refactor as shown;
use crate::server::Server;
use crate::set::Set;

/// The status of a refactor that was taken back.
const UNDONE: &str = "Undone";
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
    /// A file with all that the groups shall hold, in JSON or YAML: the body of `:refactor`, or for a group the file that `ucp apply`
    /// takes; `-` is standard input.
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
    /// Put what changes, once everything has moved, as `"deploy": true` in the file does. If a put fails, everything moves back, unless the file says
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
    /// Exit with 0 if nothing moves, and with 2 if something does, or would with --dry-run or --offline.
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
        if let (Some(_), Some(file)) = (&self.record, &self.mapping_file) {
            ensure!(
                !document::is_stdin(file),
                "--record writes into the mapping file, which cannot be standard input"
            );
            let text = fs::read_to_string(file).with_context(|| document::name(file))?;
            let read: Result<Map<String, Value>, _> = serde_json::from_str(&text);
            read.with_context(|| {
                format!("{}: --record needs a file in JSON", document::name(file))
            })?;
        }
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

    /// What addresses begin at.
    fn base(&self) -> (&str, Option<&Group>) {
        let plane = match &self.group {
            Some(group) => group.plane(),
            None => &self.plane,
        };
        (plane, self.group.as_ref())
    }

    fn output(&self) -> Output {
        Output {
            format: if self.json {
                Format::Json
            } else {
                Format::Text
            },
        }
    }

    async fn find(&self, client: &Client) -> anyhow::Result<Outcome> {
        let output = self.output();
        let (mut body, set) = self.body()?;
        let path = match &self.group {
            Some(group) => format!("{group}/:refactor"),
            None => format!("/planes/radius/{}/:refactor", id::segment(&self.plane)),
        };
        if self.deploy {
            body.insert("deploy".to_owned(), Value::from(true));
        }
        // The file may say it too.
        let deploy = body.get("deploy").and_then(Value::as_bool) == Some(true);
        let asked = client.post(&path, &Value::Object(body.clone())).await;
        let asked = asked.map_err(|failure| located(failure, &set))?;
        let mut plan = Record::read(asked.body)?;
        if let Some(outcome) = self.judge(&plan.body.found, &plan.json, &body)? {
            return Ok(outcome);
        }
        let RefactorFindings {
            moves,
            changes,
            history,
            ..
        } = &plan.body.found;
        let is_put = deploy && !(changes.create.is_empty() && changes.update.is_empty());
        let is_known = moves.is_empty() && history.pending.is_empty();
        if is_known && !is_put || self.dry_run {
            self.print(&plan.json)?;
            return Ok(self.moved(&plan.body.found));
        }
        if !self
            .consent
            .asked("Do you want to refactor these resources?")
            .await?
        {
            output::show(output, |paper| {
                paper.words(&[(Style::new(), "Nothing moves.")])
            })?;
            return Ok(Outcome::Failed);
        }
        let written = match (&self.record, &self.mapping_file) {
            (Some(event), Some(file)) if !moves.is_empty() => {
                let history = recorded(&body, event, &plan.body.found, self.base())?;
                body.insert("history".to_owned(), history.clone());
                let sent = Value::Object(body.clone());
                let again = Record::read(client.post(&path, &sent).await?.body)?;
                ensure!(
                    same_moves(&plan.body.found, &again.body.found),
                    "something has changed since the moves were shown, so nothing moves; run the command again"
                );
                plan = again;
                Some((record(file, &history)?, event, sent))
            }
            _ => None,
        };
        let outcome = self.moved(&plan.body.found);
        let reply = if deploy {
            body.insert("mode".to_owned(), Value::from("apply"));
            body.insert("fingerprint".to_owned(), plan.body.fingerprint.into());
            client.post(&path, &Value::Object(body)).await
        } else {
            let apply = format!("{}/:apply", plan.body.id);
            let seen = json!({"fingerprint": plan.body.fingerprint});
            client.post(&apply, &seen).await
        };
        let reply = match (reply, &written) {
            (Ok(reply), _) => reply,
            (Err(failure @ Failure::Refused(_)), Some((written, event, sent))) => {
                // Also a server that goes on may refuse, and one that is asked again. So it is asked what is done.
                let now = client.post(&path, sent).await;
                let now = now.ok().and_then(|now| Record::read(now.body).ok());
                if now.is_some_and(|now| !now.body.found.history.environment.contains(event)) {
                    written.take_back()?;
                }
                return Err(failure.into());
            }
            // Of a reply that is lost nobody knows.
            (Err(failure), _) => return Err(failure.into()),
        };
        let polling = Polling::of(&reply);
        let wait = reply.retry_after();
        let mut record = Record::read(reply.body)?;
        output::show(output, |paper| shown::moved(paper, &record.body))?;
        let refused = match &polling {
            Some(polling) => self.follow(polling, wait, client).await?,
            None => None,
        };
        if refused.is_some() {
            // What has moved is perhaps back.
            record = Record::read(client.get(&record.body.id).await?.body)?;
        }
        self.print(&record.json)?;
        if let (Some((written, ..)), UNDONE) = (&written, record.body.status.as_str()) {
            written.take_back()?;
        }
        match refused {
            Some(refusal) => Err(refusal.into()),
            None => Ok(outcome),
        }
    }

    /// Follows the operation that puts what changes. Returns why it failed.
    async fn follow(
        &self,
        polling: &Polling,
        wait: Option<Duration>,
        client: &Client,
    ) -> anyhow::Result<Option<Refusal>> {
        let words = format!("Operation {}", polling.operation());
        let output = self.output();
        output::show(output, |paper| {
            paper.words(&[(Style::new().dimmed(), &words)])
        })?;
        let mut progress = Progress::new(output, Phases::Untold);
        let told = |status: &Value| progress.observe(status);
        let status = client.follow(polling, wait, told).await?;
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
        let (body, _) = self.body()?;
        let mut old = self.declared(from)?.body;
        if let Some(scope) = self.place.scope() {
            old.entry("scope").or_insert_with(|| Value::from(scope));
        }
        let base = match &self.group {
            Some(group) => Base::Group(group.to_string().parse()?),
            None => Base::Plane(self.plane.clone()),
        };
        let given = |file, members| Given { file, members };
        let plan = compared(&base, &given(from, &old), &given(file, &body))?;
        let mut json = json!({"status": "Planned"});
        if let (Value::Object(json), Value::Object(found)) =
            (&mut json, serde_json::to_value(&plan)?)
        {
            json.extend(found);
        }
        if let Some(outcome) = self.judge(&plan, &json, &body)? {
            return Ok(outcome);
        }
        self.print(&json)?;
        let moves = !plan.moves.is_empty();
        if let (Some(event), Some(file), true) = (&self.record, &self.mapping_file, moves) {
            record(file, &recorded(&body, event, &plan, self.base())?)?;
        }
        Ok(self.moved(&plan))
    }

    /// Shows a plan. Returns the outcome if nothing moves because of what it says.
    fn judge(
        &self,
        plan: &RefactorFindings,
        json: &Value,
        body: &Map<String, Value>,
    ) -> anyhow::Result<Option<Outcome>> {
        output::show(self.output(), |paper| shown::plan(paper, plan))?;
        if !plan.refused.is_empty() {
            self.print(json)?;
            bail!("some moves cannot be, so nothing moves; correct what is refused above");
        }
        let leaves = body.get("onAmbiguity").and_then(Value::as_str) == Some("leave");
        if !plan.ambiguities.is_empty() && !leaves {
            self.print(json)?;
            output::tell(
                "ucp: nothing tells what moves where, so nothing moves; say it in `moves`, or set `onAmbiguity` to `leave`",
            );
            return Ok(Some(Outcome::Unknown));
        }
        Ok(None)
    }

    async fn take_back(&self, name: &str, client: &Client) -> anyhow::Result<Outcome> {
        let output = self.output();
        let path = if name.starts_with('/') {
            name.to_owned()
        } else {
            format!(
                "/planes/radius/{}/providers/System.Resources/refactors/{}",
                id::segment(self.base().0),
                id::segment(name)
            )
        };
        let record = Record::read(client.get(&path).await?.body)?;
        output::show(output, |paper| shown::back(paper, &record.body.found))?;
        if self.dry_run {
            self.print(&record.json)?;
            return Ok(self.moved(&record.body.found));
        }
        if !self
            .consent
            .asked("Do you want to take these moves back?")
            .await?
        {
            output::show(output, |paper| {
                paper.words(&[(Style::new(), "Nothing moves.")])
            })?;
            return Ok(Outcome::Failed);
        }
        let seen = json!({"fingerprint": record.body.fingerprint});
        let undone = client.post(&format!("{path}/:undo"), &seen).await?.body;
        let undone = Record::read(undone)?;
        output::show(output, |paper| shown::moved(paper, &undone.body))?;
        self.print(&undone.json)?;
        Ok(self.moved(&undone.body.found))
    }

    /// Returns what came of what was done, as the exit status tells it.
    fn moved(&self, plan: &RefactorFindings) -> Outcome {
        if self.detailed_exitcode && !plan.moves.is_empty() {
            Outcome::Changes
        } else {
            Outcome::Done
        }
    }

    /// Prints a record for programs.
    fn print(&self, record: &Value) -> anyhow::Result<()> {
        if self.json {
            output::print_json(record)?;
        }
        Ok(())
    }

    /// Reads what the groups shall hold. For one group, that is a set: all that `ucp apply` takes.
    fn declared(&self, file: &Path) -> anyhow::Result<Set> {
        match self.group {
            Some(_) => {
                let set = Set::read([file].into_iter())?;
                ensure!(
                    set.has_resources,
                    "{}: resources is required, with all that the group shall hold",
                    document::name(file)
                );
                Ok(set)
            }
            None => Ok(Set::of_all(object(file)?)),
        }
    }

    /// Reads the body, with what the mapping file says, and the set that it is, if it is one.
    fn body(&self) -> anyhow::Result<(Map<String, Value>, Set)> {
        let file = self.file.as_ref().context("--file is required")?;
        let mut set = self.declared(file)?;
        let mut body = std::mem::take(&mut set.body);
        ensure!(
            self.record.is_none() || body.get("history").is_none_or(Value::is_null),
            "{}: history is given here, and --record appends to that of the mapping file; move it to the mapping file",
            document::name(file)
        );
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
        // That of a set says nothing of a refactor.
        body.insert("mode".to_owned(), Value::from("plan"));
        Ok((body, set))
    }
}

/// A record, as the server has sent it, and as it is read.
struct Record {
    json: Value,
    body: RefactorBody,
}

impl Record {
    fn read(json: Value) -> anyhow::Result<Self> {
        let body = RefactorBody::deserialize(&json);
        let body = body.context("the server answers with something else than a refactor")?;
        Ok(Self { json, body })
    }
}

fn object(file: &Path) -> anyhow::Result<Map<String, Value>> {
    match document::read_one(file)? {
        Value::Object(members) => Ok(members),
        _ => bail!("{}: it is not an object", document::name(file)),
    }
}

/// Returns the history with one more event, of the moves of a plan: what the events do not move that the plan still has to make.
fn recorded(
    body: &Map<String, Value>,
    event: &str,
    plan: &RefactorFindings,
    (radius, group): (&str, Option<&Group>),
) -> anyhow::Result<Value> {
    let mut history = match body.get("history") {
        None | Some(Value::Null) => Vec::new(),
        Some(Value::Array(events)) => events.clone(),
        Some(_) => bail!("history is no list"),
    };
    let group = group.map(ToString::to_string);
    let group = group.as_deref().map_or("", id::last);
    // As files have it, and as it is compared.
    let address = |text: &str| match text.split('/').count() {
        3 => format!("{group}/{text}"),
        _ => id::address(text, radius),
    };
    let is_pending = |name: &Value| plan.history.pending.iter().any(|it| *name == **it);
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let mut moves = Vec::new();
    for it in &plan.moves {
        let mut from = address(&it.from);
        let to = address(&it.to);
        for event in history.iter().filter(|event| is_pending(&event["id"])) {
            let mut steps = event["moves"].as_array().into_iter().flatten();
            let is_here = |step: &&Value| address(&text(&step["from"])).eq_ignore_ascii_case(&from);
            if let Some(step) = steps.find(is_here) {
                from = address(&text(&step["to"]));
            }
        }
        if !from.eq_ignore_ascii_case(&to) {
            moves.push(json!({"from": from, "to": to}));
        }
    }
    history.push(json!({"id": event, "moves": moves}));
    Ok(Value::from(history))
}

/// Whether two plans move the same.
fn same_moves(one: &RefactorFindings, other: &RefactorFindings) -> bool {
    let ends = |plan: &RefactorFindings| -> Vec<(String, String)> {
        let moves = plan.moves.iter();
        moves.map(|it| (it.from.clone(), it.to.clone())).collect()
    };
    ends(one) == ends(other)
}

/// A mapping file with another history than before.
struct Recorded<'a> {
    file: &'a Path,
    before: String,
}

/// Writes the history into the mapping file, before anything moves: if the reply is lost, the file sent again finds out what is
/// done.
fn record<'a>(file: &'a Path, history: &Value) -> anyhow::Result<Recorded<'a>> {
    let before = fs::read_to_string(file).with_context(|| document::name(file))?;
    let mut members: Map<String, Value> = serde_json::from_str(&before)?;
    members.insert("history".to_owned(), history.clone());
    write(file, &format!("{:#}\n", Value::Object(members)))?;
    Ok(Recorded { file, before })
}

impl Recorded<'_> {
    /// Takes it back: nothing has moved.
    fn take_back(&self) -> anyhow::Result<()> {
        write(self.file, &self.before)
    }
}

/// Others see the old file or the new one.
fn write(file: &Path, text: &str) -> anyhow::Result<()> {
    let write = || -> anyhow::Result<()> {
        let new = file.with_extension(format!("{}.new", std::process::id()));
        fs::write(&new, text)?;
        fs::rename(&new, file)?;
        Ok(())
    };
    write().with_context(|| format!("the history cannot be written to {}", document::name(file)))
}

#[cfg(test)]
mod tests {
    use ucp_wire::{HistoryBody, MoveBody};

    use super::*;

    fn id(plane: &str, name: &str) -> String {
        format!("/planes/radius/{plane}/resourcegroups/rg/providers/AWS.SQS/Queue:reference/{name}")
    }

    fn moved(from: (&str, &str), to: (&str, &str)) -> MoveBody {
        MoveBody {
            from: id(from.0, from.1),
            to: id(to.0, to.1),
            r#type: "AWS.SQS/Queue".to_owned(),
            scope: String::new(),
            primary_identifier: None,
            reason: String::new(),
        }
    }

    fn event(name: &str, moves: &[(&str, &str)]) -> Value {
        let moves = moves.iter().map(|(from, to)| {
            let address = |alias: &str| format!("rg/AWS.SQS/Queue/{alias}");
            json!({"from": address(from), "to": address(to)})
        });
        json!({"id": name, "moves": moves.collect::<Vec<_>>()})
    }

    fn told(history: &[Value], pending: &[&str], moves: &[(&str, &str)], plane: &str) -> Value {
        let plan = RefactorFindings {
            moves: moves
                .iter()
                .map(|(from, to)| moved((plane, from), (plane, to)))
                .collect(),
            history: HistoryBody {
                pending: pending.iter().map(|&it| it.to_owned()).collect(),
                ..HistoryBody::default()
            },
            ..RefactorFindings::default()
        };
        let body = Map::from_iter([("history".to_owned(), json!(history))]);
        let all = recorded(&body, "new", &plan, (plane, None)).expect("a list");
        all.as_array()
            .and_then(|all| all.last())
            .cloned()
            .expect("an event")
    }

    #[test]
    fn an_event_has_what_the_pending_ones_do_not_move() {
        let first = event("e1", &[("a", "b")]);
        let both = [("a", "b"), ("c", "d")];
        let new = told(std::slice::from_ref(&first), &["e1"], &both, "local");
        assert_eq!(new, event("new", &[("c", "d")]));
        // Several that are pending are made one after the other.
        let second = event("e2", &[("b", "c")]);
        let all = [first.clone(), second];
        let new = told(&all, &["e1", "e2"], &[("a", "d")], "local");
        assert_eq!(new, event("new", &[("c", "d")]));
        // What was done before is done again.
        let back = event("e2", &[("b", "a")]);
        let new = told(&[first, back], &[], &[("a", "b")], "local");
        assert_eq!(new, event("new", &[("a", "b")]));
    }

    #[test]
    fn addresses_are_those_of_any_plane() {
        let new = told(&[], &[], &[("a", "b")], "test");
        assert_eq!(new, event("new", &[("a", "b")]));
        let elsewhere = RefactorFindings {
            moves: vec![moved(("local", "a"), ("test", "b"))],
            ..RefactorFindings::default()
        };
        let new = recorded(&Map::new(), "new", &elsewhere, ("test", None)).expect("a list");
        assert_eq!(new[0]["moves"][0]["from"], id("local", "a"));
    }

    #[test]
    fn the_rest_of_a_mapping_file_stays() {
        let folder = tempfile::tempdir().expect("a folder");
        let file = folder.path().join("maps.json");
        let before = r#"{"exclude":["AWS.S3/Bucket"]}"#;
        fs::write(&file, before).expect("a file");
        let written = record(&file, &json!([{"id": "e1", "moves": []}])).expect("it is written");
        let read = Value::Object(object(&file).expect("an object"));
        let expected =
            json!({"exclude": ["AWS.S3/Bucket"], "history": [{"id": "e1", "moves": []}]});
        assert_eq!(read, expected);
        written.take_back().expect("it is taken back");
        assert_eq!(fs::read_to_string(&file).expect("a file"), before);
    }
}
