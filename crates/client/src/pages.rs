//! Lists, page by page.

use serde_json::Value;

use crate::failure::Failure;
use crate::http::Client;

/// More pages than any list has: a page has four megabytes, and a group so many references.
const PAGES_MAX: usize = 20_000;

impl Client {
    /// Reads all pages of a list.
    pub async fn list(&self, target: &str) -> Result<Vec<Value>, Failure> {
        let first = self.get(target).await?.body;
        self.list_from(first).await
    }

    /// The same from its first page on.
    pub async fn list_from(&self, first: Value) -> Result<Vec<Value>, Failure> {
        let (mut items, mut page, mut target) = (Vec::new(), first, String::new());
        for _ in 0..PAGES_MAX {
            if let Value::Array(value) = page["value"].take() {
                items.extend(value);
            }
            let Some(next) = page["nextLink"].as_str() else {
                return Ok(items);
            };
            if next == target {
                return Err(Failure::Circular { url: target });
            }
            next.clone_into(&mut target);
            page = self.get(&target).await?.body;
        }
        Err(Failure::Endless {
            pages: PAGES_MAX,
            url: target,
        })
    }
}
