//! Files of properties, in JSON or YAML.

use std::path::Path;

use anyhow::Context;
use serde_json::{Map, Value};
use ucp_cli::document;

use super::question;

/// Reads the properties in a file; `None` if it contains `null`.
pub(super) fn properties(path: &Path) -> anyhow::Result<Option<Map<String, Value>>> {
    let properties = question::object(document::read_one(path)?);
    properties.with_context(|| document::name(path))
}
