//! A client of the HTTP API of `ucp`.
//!
//! A [`Client`] sends requests to one server. A request that the server asks to send later is sent again, a bounded number of times.
//! What an accepted change is doing is told by [`Client::follow`], and lists are read page by page by [`Client::list`]. Bodies are JSON
//! values; `ucp-wire` has types for some of them. What the server refuses is a [`Refusal`] with the details of its error.
//!
//! ```no_run
//! # async fn apply() -> Result<(), ucp_client::Failure> {
//! use std::time::Duration;
//!
//! use serde_json::json;
//! use ucp_client::{Client, Polling, ClientSettings};
//!
//! let server = "http://127.0.0.1:8787".parse().expect("a URL");
//! let client = Client::new(server, ClientSettings::default())?;
//! let group = "/planes/radius/local/resourceGroups/demo";
//! let set = json!({"resources": []});
//! let reply = client.post(&format!("{group}/:apply"), &set).await?;
//! if let Some(polling) = Polling::of(&reply) {
//!     let status = client.follow(&polling, reply.retry_after(), |_| {}).await?;
//!     println!("{}", status["status"]);
//! }
//! # Ok(())
//! # }
//! ```

mod failure;
mod http;
mod operation;
mod pages;
mod refusal;
mod url;

pub use hyper::header;
pub use hyper::{Method, StatusCode};

pub use failure::Failure;
pub use http::{Client, ClientSettings, Reply};
pub use operation::{Polling, is_over};
pub use refusal::Refusal;
pub use url::BaseUrl;

/// The version of the API that this client speaks, as a query.
pub const API_VERSION: &str = "api-version=2023-10-01-preview";
