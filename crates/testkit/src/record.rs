//! The record of what a scenario asked, and of what was replied, so that two commits can be compared: with `UCP_RECORD_REPLIES`,
//! each test writes a file of its name into that directory. `scripts/compare-replies` reads them.

use std::fs::OpenOptions;
use std::io::Write;
use std::path::PathBuf;
use std::thread;

use axum::body::Body;
use axum::http::Request;
use http_body_util::BodyExt;
use serde_json::{Value, json};

use crate::Reply;

/// A request of which the reply is written down.
pub(crate) struct Recorded {
    file: PathBuf,
    method: String,
    path: String,
    body: String,
}

impl Recorded {
    /// Returns what is written down of a request of the running test, if anything is, and the request.
    pub(crate) async fn of(request: Request<Body>) -> (Option<Self>, Request<Body>) {
        let Some(directory) = std::env::var_os("UCP_RECORD_REPLIES") else {
            return (None, request);
        };
        // That of a test has its name. What other threads ask has no order.
        let thread = thread::current();
        let test = thread.name().filter(|name| name.contains("::"));
        let Some(test) = test.map(|name| name.replace("::", ".")) else {
            return (None, request);
        };
        let (head, body) = request.into_parts();
        let Ok(body) = body.collect().await.map(|body| body.to_bytes()) else {
            panic!("the body of a request that is recorded is in memory");
        };
        let recorded = Self {
            file: PathBuf::from(directory).join(format!("{test}.jsonl")),
            method: head.method.to_string(),
            path: head.uri.to_string(),
            body: String::from_utf8_lossy(&body).into_owned(),
        };
        (Some(recorded), Request::from_parts(head, body.into()))
    }

    /// Writes it down with its reply.
    pub(crate) fn replied(self, reply: &Reply) {
        let body = match &reply.body {
            Value::Null => json!(reply.text),
            body => body.clone(),
        };
        let line = json!({"method": self.method, "path": self.path, "body": self.body,
            "status": reply.status, "headers": reply.headers, "reply": body});
        let file = OpenOptions::new().create(true).append(true).open(self.file);
        let written = file.and_then(|mut file| writeln!(file, "{line}"));
        written.expect("the directory of UCP_RECORD_REPLIES exists");
    }
}
