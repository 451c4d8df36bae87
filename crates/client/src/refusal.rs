//! What the server says when it refuses a request, or when an operation fails.

use std::fmt;

use hyper::StatusCode;
use serde::Deserialize;
use serde_json::Value;
use ucp_model::ids::readable;
use ucp_wire::{ErrorBody, ErrorDetail};

use crate::url::BaseUrl;

/// The code of the detail that links to the page about the error.
const HELP: &str = "Help";

/// An error of the server: its message, its details one a line, and the link to its page.
#[derive(Debug)]
pub struct Refusal {
    /// The status of the reply; `None` for the error of an operation.
    pub status: Option<StatusCode>,
    /// The kind of error.
    pub code: String,
    message: String,
    target: Option<String>,
    /// What else it says, each with its place.
    pub details: Vec<ErrorDetail>,
    link: Option<String>,
    /// What to do next, besides what the message says.
    advice: Option<String>,
}

impl Refusal {
    /// Reads ARM's error. `status` is that of the reply, if there is one.
    pub(crate) fn of(status: Option<StatusCode>, error: &Value, base: &BaseUrl) -> Self {
        let error = ErrorBody::deserialize(error).ok();
        let said = status.map_or_else(String::new, |status| format!("the server answers {status}"));
        let Some(ErrorBody {
            code,
            message,
            target,
            details,
            ..
        }) = error
        else {
            return Self {
                status,
                code: String::new(),
                message: said,
                target: None,
                details: Vec::new(),
                link: None,
                advice: None,
            };
        };
        let (help, details): (Vec<_>, Vec<_>) =
            details.into_iter().partition(|detail| detail.code == HELP);
        let link = help.into_iter().find_map(|help| help.target);
        // Where the details list places, there is no link among them.
        let link =
            link.or_else(|| (!details.is_empty()).then(|| format!("{base}/docs/errors/{code}")));
        Self {
            status,
            code,
            message,
            target,
            details,
            link,
            advice: None,
        }
    }

    /// Adds what to do next, in the words of the program that shows it.
    pub fn advise(&mut self, advice: &str) {
        self.advice = Some(advice.to_owned());
    }
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { code, message, .. } = self;
        let told = |code: &str, message: &str| {
            let parts = [readable(code).into_owned(), lines(message)];
            let parts: Vec<String> = parts.into_iter().filter(|part| !part.is_empty()).collect();
            parts.join(": ")
        };
        f.write_str(&told(code, message))?;
        if let Some(target) = &self.target
            && !message.contains(target)
        {
            write!(f, " ({})", readable(target))?;
        }
        for detail in &self.details {
            let place = detail.target.as_ref().filter(|place| {
                // Some messages begin with their place.
                !detail.message.starts_with(place.as_str())
            });
            let place = place.map_or_else(String::new, |place| format!("{}: ", readable(place)));
            write!(f, "\n  {place}{}", told(&detail.code, &detail.message))?;
        }
        if let Some(advice) = &self.advice {
            write!(f, "\n{advice}")?;
        }
        if let Some(link) = &self.link {
            write!(f, "\nSee {}", readable(link))?;
        }
        Ok(())
    }
}

impl std::error::Error for Refusal {}

/// A message, of which each line is escaped.
fn lines(message: &str) -> String {
    let lines: Vec<_> = message.lines().map(readable).collect();
    lines.join("\n  ")
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn shown(error: &Value) -> String {
        let base = "http://ucp".parse().expect("a URL");
        Refusal::of(Some(StatusCode::BAD_REQUEST), error, &base).to_string()
    }

    #[test]
    fn details_have_a_line_each_and_the_link_comes_last() {
        let error = json!({"code": "InvalidRequest", "message": "Two errors.", "details": [
            {"code": "UnknownPath", "message": "There is no Vpc.", "target": "/resources/0/properties/VpcId"},
            {"code": "WrongType", "message": "/resources/1: expected text.", "target": "/resources/1"}]});
        assert_eq!(
            shown(&error),
            "InvalidRequest: Two errors.\n  /resources/0/properties/VpcId: UnknownPath: There is no Vpc.\n  \
             WrongType: /resources/1: expected text.\nSee http://ucp/docs/errors/InvalidRequest"
        );
    }

    #[test]
    fn the_link_of_the_server_is_not_a_detail() {
        let error = json!({"code": "Conflict", "message": "Busy.", "details": [
            {"code": "Help", "message": "What the code means.", "target": "http://ucp/docs/errors/Conflict"}]});
        assert_eq!(
            shown(&error),
            "Conflict: Busy.\nSee http://ucp/docs/errors/Conflict"
        );
    }

    #[test]
    fn a_reply_without_an_error_is_told_by_its_status() {
        assert_eq!(shown(&Value::Null), "the server answers 400 Bad Request");
    }

    #[test]
    fn what_steers_a_terminal_is_escaped() {
        let error = json!({"code": "A", "message": "\u{1b}[2J\nnext", "details": [
            {"code": "B", "message": "m", "target": "/\u{202e}"}]});
        let shown = shown(&error);
        assert!(!shown.contains(['\u{1b}', '\u{202e}']), "{shown:?}");
        assert!(shown.starts_with("A: \\u{1b}[2J\n  next\n"), "{shown:?}");
    }
}
