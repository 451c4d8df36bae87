//! `ucp plan`: what a put would do, without AWS and without a server.
//!
//! [`lines`] is the protocol for programs, [`view`] the output for people.

mod answer;
mod diff;
mod lines;
mod paper;
mod problem;
mod question;
mod schemas;
mod view;

use std::fs;
use std::io::{self, IsTerminal, Read};
use std::path::Path;
use std::process::ExitCode;

use anyhow::{Context, bail};
use serde_json::Value;
use ucp_plan::{Action, Mode};

use crate::cli::{self, Color, Plan};
use crate::types;
use paper::Paper;
use question::Question;
use schemas::Schemas;

/// Runs the command.
pub(crate) fn run(arguments: Plan) -> anyhow::Result<ExitCode> {
    let mut schemas = Schemas::new(types::catalogue(&arguments.types)?);
    if arguments.offline {
        return match lines::answer(&mut schemas, io::stdin().lock(), io::stdout().lock()) {
            Ok(lines::Outcome::AllGood) => Ok(ExitCode::SUCCESS),
            Ok(lines::Outcome::SomeBad) => Ok(ExitCode::FAILURE),
            // The reader has closed the pipe.
            Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Ok(ExitCode::SUCCESS),
            Err(error) => Err(error).context("standard input or output"),
        };
    }
    show(&arguments, &schemas)
}

/// Shows one plan.
fn show(arguments: &Plan, schemas: &Schemas) -> anyhow::Result<ExitCode> {
    let (Some(type_name), Some(desired)) = (&arguments.type_name, &arguments.desired) else {
        bail!("give --type and --desired, or --offline");
    };
    let files = [
        Some(desired),
        arguments.current.as_ref(),
        arguments.last_applied.as_ref(),
    ];
    let from_stdin = files.into_iter().flatten().filter(|path| is_stdin(path));
    if from_stdin.count() > 1 {
        bail!("standard input can be only one of --current, --desired and --last-applied");
    }
    let schema = schemas.known(type_name)?;
    let question = Question {
        desired: properties(desired)?
            .with_context(|| format!("{}: contains null, not an object", name(desired)))?,
        current: optional(arguments.current.as_deref())?,
        last_applied: optional(arguments.last_applied.as_deref())?,
        mode: match arguments.mode {
            cli::Mode::Merge => Mode::Merge,
            cli::Mode::Replace => Mode::Replace,
        },
    };
    let live = question.current.clone();
    let plan = question.plan(&schema);
    let mut paper = Paper::new(io::stdout().lock(), is_coloured(arguments.color));
    match view::show(&plan, live.as_ref(), &schema, &mut paper) {
        Err(error) if error.kind() != io::ErrorKind::BrokenPipe => return Err(error.into()),
        Ok(()) | Err(_) => {}
    }
    Ok(match plan.action {
        Action::Error => ExitCode::FAILURE,
        Action::Create | Action::Update | Action::Replace if arguments.detailed_exitcode => {
            ExitCode::from(2)
        }
        Action::Create | Action::Update | Action::Replace | Action::Noop => ExitCode::SUCCESS,
    })
}

fn is_coloured(color: Color) -> bool {
    let is_set = |name| std::env::var_os(name).is_some_and(|value| !value.is_empty());
    match color {
        Color::Always => true,
        Color::Never => false,
        Color::Auto => {
            let is_dumb = std::env::var_os("TERM").is_none_or(|term| term == "dumb");
            io::stdout().is_terminal() && !is_dumb && !is_set("NO_COLOR")
        }
    }
}

fn optional(path: Option<&Path>) -> anyhow::Result<Option<Value>> {
    path.map_or(Ok(None), properties)
}

/// Reads the properties in a file; `None` if it contains `null`.
fn properties(path: &Path) -> anyhow::Result<Option<Value>> {
    let read = || -> anyhow::Result<Option<Value>> {
        let mut text = String::new();
        match is_stdin(path) {
            true => io::stdin().lock().read_to_string(&mut text)?,
            false => fs::File::open(path)?.read_to_string(&mut text)?,
        };
        Ok(question::properties(&text)?)
    };
    read().with_context(|| name(path))
}

fn is_stdin(path: &Path) -> bool {
    path == Path::new("-")
}

fn name(path: &Path) -> String {
    match is_stdin(path) {
        true => "standard input".to_owned(),
        false => path.display().to_string(),
    }
}
