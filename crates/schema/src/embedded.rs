//! The schemas that come with the program, as written by `scripts/generate-schema-facts`.

use std::sync::LazyLock;

const PACKED: &[u8] = include_bytes!("../data/us-east-1.jsonl.zst");

/// What every line starts with, so that its type is known without parsing it.
const TYPE_NAME: &str = r#"{"typeName":""#;

static UNPACKED: LazyLock<String> = LazyLock::new(|| {
    let bytes = zstd::decode_all(PACKED).unwrap_or_default();
    String::from_utf8(bytes).unwrap_or_default()
});

/// The name and the schema text of each embedded type.
pub(crate) fn schemas() -> impl Iterator<Item = (&'static str, &'static str)> {
    UNPACKED.lines().filter_map(|line| {
        let (name, _) = line.strip_prefix(TYPE_NAME)?.split_once('"')?;
        Some((name, line))
    })
}
