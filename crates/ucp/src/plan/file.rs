//! Files of properties, in JSON or YAML.

use std::fs;
use std::io::{self, Read};
use std::path::Path;

use anyhow::{Context, anyhow};
use serde_json::{Map, Value};

use super::question;

/// Reads the properties in a file; `None` if it contains `null`.
pub(super) fn properties(path: &Path) -> anyhow::Result<Option<Map<String, Value>>> {
    let read = || -> anyhow::Result<Option<Map<String, Value>>> {
        let mut text = String::new();
        match is_stdin(path) {
            true => io::stdin().lock().read_to_string(&mut text)?,
            false => fs::File::open(path)?.read_to_string(&mut text)?,
        };
        match is_yaml(path, &text) {
            true => Ok(question::object(yaml(&text)?)?),
            false => Ok(question::properties(&text)?),
        }
    };
    read().with_context(|| name(path))
}

pub(super) fn is_stdin(path: &Path) -> bool {
    path == Path::new("-")
}

pub(super) fn name(path: &Path) -> String {
    match is_stdin(path) {
        true => "standard input".to_owned(),
        false => path.display().to_string(),
    }
}

/// Whether a text is read as YAML: by the name of its file, or else because it does not begin as JSON does. (JSON is
/// YAML too, but its own parser keeps numbers as they are written.)
fn is_yaml(path: &Path, text: &str) -> bool {
    match path.extension().and_then(|ending| ending.to_str()) {
        Some("json") => false,
        Some("yaml" | "yml") => true,
        Some(_) | None => !matches!(
            text.trim_start().as_bytes().first(),
            None | Some(b'{' | b'[')
        ),
    }
}

/// Parses YAML 1.2. What other parsers read as something else is refused or stays text: tags such as `!Ref`, `yes`,
/// `0123`.
fn yaml(text: &str) -> anyhow::Result<Value> {
    let options = serde_saphyr::options! {
        reject_unsupported_tags: true,
        strict_booleans: true,
        leading_zero_numbers_as_strings: true,
        underscored_numbers_as_strings: true,
        non_finite_float_policy: serde_saphyr::NonFiniteFloatPolicy::Reject,
        with_snippet: false,
    };
    serde_saphyr::from_str_with_options(text, options).map_err(|error| anyhow!("{error}"))
}
