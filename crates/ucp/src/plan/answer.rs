use json_patch::Patch;
use serde::Serialize;
use serde_json::Value;
use serde_json::value::RawValue;
use ucp_plan::{Action, Plan, Warning};

use super::objection::Objection;
use super::problem::Problem;

/// The answer to a line.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Answer<'l> {
    id: Option<&'l RawValue>,
    /// The line number; only for a bad line.
    #[serde(skip_serializing_if = "Option::is_none")]
    line: Option<u64>,
    action: &'static str,
    patch: Patch,
    planned: Value,
    replace_paths: Vec<String>,
    unknown: Vec<String>,
    warnings: Vec<Warning>,
    error: Option<Error>,
}

/// Why there is no plan, or why the declaration can never be satisfied.
#[derive(Serialize)]
struct Error {
    code: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    path: Option<String>,
    message: String,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    details: Vec<Detail>,
}

/// One reason why the declaration can never be satisfied.
#[derive(Serialize)]
struct Detail {
    code: String,
    path: String,
    message: String,
}

impl<'l> Answer<'l> {
    /// The answer with a plan. With `reasons` it is why there is none.
    pub(super) fn of(id: Option<&'l RawValue>, plan: Plan, reasons: Vec<Objection>) -> Self {
        Self {
            id,
            line: None,
            action: match plan.action {
                _ if !reasons.is_empty() => "error",
                Action::Create => "create",
                Action::Update => "update",
                Action::Replace => "replace",
                Action::Noop => "noop",
                Action::Error => "error",
            },
            patch: plan.patch,
            planned: plan.planned,
            replace_paths: plan.replace_paths,
            unknown: plan.unknown,
            warnings: plan.warnings,
            error: Error::of(reasons),
        }
    }

    /// The answer to a line that cannot be answered.
    pub(super) fn bad(number: u64, id: Option<&'l RawValue>, problem: &Problem) -> Self {
        // The parser sees only one line; its number is already given.
        let what = problem
            .to_string()
            .replace(" at line 1 column ", " at column ");
        Self {
            id,
            line: Some(number),
            action: "error",
            patch: Patch::default(),
            planned: Value::Null,
            replace_paths: Vec::new(),
            unknown: Vec::new(),
            warnings: Vec::new(),
            error: Some(Error {
                code: problem.code().to_owned(),
                path: None,
                message: format!("line {number}: {what}"),
                details: Vec::new(),
            }),
        }
    }

    pub(super) fn is_bad(&self) -> bool {
        self.line.is_some()
    }
}

impl Error {
    /// Combines all reasons into one error, with the code and the place of the first.
    fn of(reasons: Vec<Objection>) -> Option<Self> {
        let details: Vec<Detail> = reasons.into_iter().map(Detail::of).collect();
        let first = details.first()?;
        let messages: Vec<&str> = details.iter().map(|one| one.message.as_str()).collect();
        Some(Self {
            code: first.code.clone(),
            path: Some(first.path.clone()),
            message: messages.join("; "),
            details,
        })
    }
}

impl Detail {
    fn of(reason: Objection) -> Self {
        Self {
            code: reason.code,
            path: reason.path,
            message: reason.message,
        }
    }
}
