//! Lists, page by page.

use anyhow::{bail, ensure};
use serde_json::Value;

use super::http::Client;

/// More pages than any list has: a page has four megabytes, and a group so many references.
const PAGES_MAX: usize = 20_000;

impl Client {
    /// Reads all pages of a list.
    pub(crate) async fn list(&self, target: &str) -> anyhow::Result<Vec<Value>> {
        let first = self.get(target).await?.body;
        self.list_from(first).await
    }

    /// The same from its first page on.
    pub(crate) async fn list_from(&self, first: Value) -> anyhow::Result<Vec<Value>> {
        let (mut items, mut page, mut target) = (Vec::new(), first, String::new());
        for _ in 0..PAGES_MAX {
            if let Value::Array(value) = page["value"].take() {
                items.extend(value);
            }
            let Some(next) = page["nextLink"].as_str() else {
                return Ok(items);
            };
            ensure!(next != target, "the page {next} leads to itself");
            next.clone_into(&mut target);
            page = self.get(&target).await?.body;
        }
        bail!("the list has more than {PAGES_MAX} pages, the last is {target}")
    }
}
