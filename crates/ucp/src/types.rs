//! The embedded resource types, extended or replaced by those of `--schema-dir`.

use std::fs;
use std::path::PathBuf;

use anyhow::Context;
use ucp_schema::Catalogue;

use crate::cli::Types;

pub(crate) fn catalogue(types: &Types) -> anyhow::Result<Catalogue> {
    let mut catalogue = Catalogue::embedded();
    let Some(directory) = &types.schema_dir else {
        return Ok(catalogue);
    };
    let entries =
        fs::read_dir(directory).with_context(|| format!("cannot read {}", directory.display()))?;
    let paths = entries.map(|entry| entry.map(|entry| entry.path()));
    let mut paths: Vec<PathBuf> = paths.collect::<Result<_, _>>()?;
    // Of two files for the same type, the last one by name wins.
    paths.sort();
    let is_schema = |path: &&PathBuf| path.extension().is_some_and(|ending| ending == "json");
    for path in paths.iter().filter(is_schema) {
        let text =
            fs::read_to_string(path).with_context(|| format!("cannot read {}", path.display()))?;
        catalogue
            .with_schema(&text)
            .with_context(|| path.display().to_string())?;
    }
    Ok(catalogue)
}
