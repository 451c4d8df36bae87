//! The protocol for programs: one question per line, one answer per line.

use std::io::{self, BufRead, BufReader, BufWriter, Read, Write};

use ucp_model::operation::ReplacementPolicy;
use ucp_plan::Plan;

use super::answer::Answer;
use super::judged::{self, Judged, judged};
use super::objection::Objection;
use super::problem::Problem;
use super::question::Members;
use super::schemas::Schemas;

/// The maximum length of a line, in bytes.
pub(crate) const MOST_BYTES: usize = 64 * 1024 * 1024;

const BUFFER_BYTES: usize = 64 * 1024;

/// How a run ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Outcome {
    /// All lines were answered.
    AllGood,
    /// Some lines could not be answered.
    SomeBad,
}

/// Answers the questions of `input` in order.
pub(super) fn answer(
    schemas: &mut Schemas,
    input: impl Read,
    output: impl Write,
) -> io::Result<Outcome> {
    let mut lines = Lines::new(input);
    let mut output = BufWriter::with_capacity(BUFFER_BYTES, output);
    let mut outcome = Outcome::AllGood;
    let mut number = 0;
    loop {
        // The caller may wait for the answers before the next question.
        if !lines.has_next() {
            output.flush()?;
        }
        let Some(line) = lines.next()? else {
            return Ok(outcome);
        };
        number += 1;
        let answer = match line {
            Line::Whole(line) if line.trim_ascii().is_empty() => continue,
            Line::Whole(line) => answer_line(number, line, schemas),
            Line::TooLong => {
                let problem = format!("longer than {MOST_BYTES} bytes");
                Answer::bad(number, None, &Problem::Unreadable(problem))
            }
        };
        if answer.is_bad() {
            outcome = Outcome::SomeBad;
        }
        serde_json::to_writer(&mut output, &answer)?;
        output.write_all(b"\n")?;
    }
}

fn answer_line<'l>(number: u64, line: &'l [u8], schemas: &mut Schemas) -> Answer<'l> {
    let members = match Members::of(line) {
        Ok(members) => members,
        Err(problem) => return Answer::bad(number, None, &problem),
    };
    match planned(&members, schemas) {
        Ok((plan, reasons)) => Answer::of(members.id, plan, reasons),
        Err(problem) => Answer::bad(number, members.id, &problem),
    }
}

/// Returns the plan, and why the declaration is refused.
fn planned(
    members: &Members<'_>,
    schemas: &mut Schemas,
) -> Result<(Plan, Vec<Objection>), Problem> {
    let (schema, is_judged) = (members.schema(schemas)?, members.is_judged()?);
    let question = members.question()?;
    if !is_judged {
        let mut plan = question.plan(&schema);
        let errors = std::mem::take(&mut plan.errors);
        return Ok((plan, errors.into_iter().map(Objection::from).collect()));
    }
    let Judged { plan, outcome } = judged(question, &schema, ReplacementPolicy::Refuse);
    let reasons = match outcome {
        judged::Outcome::Refused(reasons) => reasons,
        judged::Outcome::Nothing
        | judged::Outcome::Create
        | judged::Outcome::Update
        | judged::Outcome::Replace(_)
        | judged::Outcome::NeedsReplacement { .. } => Vec::new(),
    };
    Ok((plan, reasons))
}

/// Reads lines from a stream.
struct Lines<R> {
    input: BufReader<R>,
    line: Vec<u8>,
}

enum Line<'a> {
    Whole(&'a [u8]),
    /// Longer than [`MOST_BYTES`]; skipped.
    TooLong,
}

impl<R: Read> Lines<R> {
    fn new(input: R) -> Self {
        Self {
            input: BufReader::with_capacity(BUFFER_BYTES, input),
            line: Vec::new(),
        }
    }

    /// Whether a complete line is buffered.
    fn has_next(&self) -> bool {
        self.input.buffer().contains(&b'\n')
    }

    fn next(&mut self) -> io::Result<Option<Line<'_>>> {
        self.line.clear();
        let most = MOST_BYTES as u64 + 1;
        let mut bounded = self.input.by_ref().take(most);
        if bounded.read_until(b'\n', &mut self.line)? == 0 {
            return Ok(None);
        }
        if self.line.ends_with(b"\n") {
            self.line.pop();
        } else if self.line.len() > MOST_BYTES {
            self.input.skip_until(b'\n')?;
            return Ok(Some(Line::TooLong));
        }
        Ok(Some(Line::Whole(&self.line)))
    }
}
