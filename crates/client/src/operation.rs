//! Operations, until they end.

use std::time::Duration;

use hyper::StatusCode;
use serde_json::{Value, json};
use tokio::time::Instant;

use crate::failure::Failure;
use crate::http::{Client, Reply};

/// How long to wait between polls if the server does not say.
const POLL: Duration = Duration::from_secs(1);
/// How long the server may be unreachable before polling is given up. The operation goes on.
const PATIENCE: Duration = Duration::from_secs(120);

/// Where to ask for an operation.
#[derive(Debug)]
pub enum Polling {
    /// Its status: the reply is 200 in every state.
    Status(String),
    /// Its result: the reply is 202 until it has ended.
    Result(String),
}

impl Polling {
    /// Returns where a reply says to ask; `None` if there is nothing to wait for.
    pub fn of(reply: &Reply) -> Option<Self> {
        let status = reply.header("azure-asyncoperation");
        let result = reply.header("location");
        status
            .map(|url| Self::Status(url.to_owned()))
            .or_else(|| result.map(|url| Self::Result(url.to_owned())))
    }

    /// Returns the name of the operation.
    pub fn operation(&self) -> &str {
        let (Self::Status(url) | Self::Result(url)) = self;
        let path = url.split('?').next().unwrap_or_default();
        path.rsplit('/').next().unwrap_or_default()
    }
}

impl Client {
    /// Polls an operation until it ends, and shows each status to `told`. Returns the last one. `first` is how long to
    /// wait before the first poll.
    pub async fn follow(
        &self,
        polling: &Polling,
        first: Option<Duration>,
        mut told: impl FnMut(&Value),
    ) -> Result<Value, Failure> {
        tokio::time::sleep(first.unwrap_or_default()).await;
        let mut heard = Instant::now();
        loop {
            let (Polling::Status(url) | Polling::Result(url)) = polling;
            let reply = match self.get(url).await {
                Ok(reply) => reply,
                Err(failure) if failure.may_pass() && heard.elapsed() < PATIENCE => {
                    tokio::time::sleep(POLL).await;
                    continue;
                }
                // There is no such operation.
                Err(failure) if failure.refusal(StatusCode::NOT_FOUND).is_some() => {
                    return Err(failure);
                }
                Err(failure) => {
                    return Err(Failure::Lost {
                        operation: polling.operation().to_owned(),
                        source: Box::new(failure),
                    });
                }
            };
            heard = Instant::now();
            let wait = reply.retry_after().unwrap_or(POLL);
            let status = match polling {
                Polling::Status(_) => reply.body,
                Polling::Result(_) if reply.status == StatusCode::ACCEPTED => Value::Null,
                Polling::Result(_) => json!({"status": "Succeeded", "properties": reply.body}),
            };
            told(&status);
            if is_over(&status) {
                return Ok(status);
            }
            if reply.status == StatusCode::NO_CONTENT {
                return Err(Failure::NoStatus { url: url.clone() });
            }
            tokio::time::sleep(wait).await;
        }
    }
}

/// Returns whether an operation with this status has ended.
pub fn is_over(status: &Value) -> bool {
    matches!(
        status["status"].as_str(),
        Some("Succeeded" | "Failed" | "Canceled")
    )
}
