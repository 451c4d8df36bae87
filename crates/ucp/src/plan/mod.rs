//! `ucp plan`: what a put would do, without AWS and without a server.
//!
//! [`lines`] is the protocol for programs. [`view`] is the output for people, who also learn how a put would judge the
//! plan ([`judged`](mod@judged)).

mod answer;
mod file;
mod judged;
mod lines;
mod objection;
mod problem;
mod question;
mod schemas;
mod view;

use std::io;
use std::path::Path;
use std::process::ExitCode;

use anyhow::{Context, bail};
use serde_json::Value;
use ucp_cli::color;
use ucp_cli::document;
use ucp_cli::render::Paper;
use ucp_model::operation::ReplacementPolicy;
use ucp_plan::Mode;

use crate::cli::{self, Color, Plan};
use crate::types;
use judged::{Outcome, judged};
use question::Question;
use schemas::Schemas;

pub(crate) use lines::MOST_BYTES as LINE_BYTES;

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
    let from_stdin = files
        .into_iter()
        .flatten()
        .filter(|path| document::is_stdin(path));
    if from_stdin.count() > 1 {
        bail!("standard input can be only one of --current, --desired and --last-applied");
    }
    let schema = schemas.known(type_name)?;
    let question = Question {
        desired: file::properties(desired)?.with_context(|| {
            format!("{}: contains null, not an object", document::name(desired))
        })?,
        default_tags: arguments.default_tags.iter().cloned().collect(),
        current: optional(arguments.current.as_deref())?,
        last_applied: optional(arguments.last_applied.as_deref())?,
        mode: match arguments.mode {
            cli::Mode::Merge => Mode::Merge,
            cli::Mode::Replace => Mode::Replace,
        },
    };
    let live = question.current.clone();
    let policy = match arguments.replacement_policy {
        None => ReplacementPolicy::Refuse,
        Some(cli::ReplacementPolicy::CreateBeforeDelete) => ReplacementPolicy::CreateBeforeDelete,
        Some(cli::ReplacementPolicy::DeleteBeforeCreate) => ReplacementPolicy::DeleteBeforeCreate,
    };
    let judged = judged(question, &schema, policy);
    let mut paper = Paper::new(io::stdout().lock(), is_coloured(arguments.color));
    match view::show(&judged, live.as_ref(), &schema, &mut paper) {
        Err(error) if error.kind() != io::ErrorKind::BrokenPipe => return Err(error.into()),
        Ok(()) | Err(_) => {}
    }
    Ok(match judged.outcome {
        Outcome::Refused(_) => ExitCode::FAILURE,
        Outcome::Nothing => ExitCode::SUCCESS,
        Outcome::Create
        | Outcome::Update
        | Outcome::Replace(_)
        | Outcome::NeedsReplacement { .. } => {
            if arguments.detailed_exitcode {
                ExitCode::from(2)
            } else {
                ExitCode::SUCCESS
            }
        }
    })
}

fn is_coloured(color: Color) -> bool {
    match color {
        Color::Always => true,
        Color::Never => false,
        Color::Auto => color::suits(&io::stdout()),
    }
}

fn optional(path: Option<&Path>) -> anyhow::Result<Option<Value>> {
    let properties = path.map_or(Ok(None), file::properties)?;
    Ok(properties.map(Value::Object))
}
