//! The client of the HTTP API.
//!
//! [`server`] says which server is meant, [`http`] sends requests, [`operation`] follows operations to their end,
//! [`pages`] reads lists. [`refusal`] is what the server says when it refuses.

mod http;
mod operation;
mod pages;
mod refusal;
mod server;
mod url;

pub(crate) use http::{Client, Failure, Method};
pub(crate) use operation::Polling;
pub(crate) use refusal::Refusal;
pub(crate) use server::Server;

/// The version of the API that this client speaks, as a query.
pub(crate) const API_VERSION: &str = "api-version=2023-10-01-preview";
