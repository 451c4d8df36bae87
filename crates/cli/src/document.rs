//! Documents that people write, in JSON or YAML.

use std::fs;
use std::io::{self, Read};
use std::path::Path;

use anyhow::{Context, anyhow};
use serde::Deserialize;
use serde_json::Value;

/// Reads a file that contains one document; `-` is standard input.
pub fn read_one(path: &Path) -> anyhow::Result<Value> {
    let read = || -> anyhow::Result<Value> {
        let text = text(path)?;
        if is_yaml(path, &text) {
            yaml(|options| serde_saphyr::from_str_with_options(&text, options))
        } else {
            Ok(serde_json::from_str(&text)?)
        }
    };
    read().with_context(|| name(path))
}

/// Reads the documents in a file; `-` is standard input. YAML may contain several, of which empty ones are left out.
pub(crate) fn read_all(path: &Path) -> anyhow::Result<Vec<Value>> {
    let read = || -> anyhow::Result<Vec<Value>> {
        let text = text(path)?;
        if is_yaml(path, &text) {
            yaml(|options| serde_saphyr::from_multiple_with_options(&text, options))
        } else {
            Ok(vec![serde_json::from_str(&text)?])
        }
    };
    read().with_context(|| name(path))
}

/// Whether a path stands for standard input.
pub fn is_stdin(path: &Path) -> bool {
    path == Path::new("-")
}

/// What a file is called in messages.
pub fn name(path: &Path) -> String {
    if is_stdin(path) {
        "standard input".to_owned()
    } else {
        path.display().to_string()
    }
}

fn text(path: &Path) -> io::Result<String> {
    let mut text = String::new();
    if is_stdin(path) {
        io::stdin().lock().read_to_string(&mut text)?
    } else {
        fs::File::open(path)?.read_to_string(&mut text)?
    };
    Ok(text)
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
fn yaml<T: for<'de> Deserialize<'de>>(
    parse: impl FnOnce(serde_saphyr::Options) -> Result<T, serde_saphyr::Error>,
) -> anyhow::Result<T> {
    let options = serde_saphyr::options! {
        reject_unsupported_tags: true,
        strict_booleans: true,
        leading_zero_numbers_as_strings: true,
        underscored_numbers_as_strings: true,
        non_finite_float_policy: serde_saphyr::NonFiniteFloatPolicy::Reject,
        with_snippet: false,
    };
    parse(options).map_err(|error| anyhow!("{error}"))
}
