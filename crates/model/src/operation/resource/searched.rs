use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};

use crate::{Fault, Identifier, Timestamp};

/// How far a search has come that is not over. The next one goes on from here.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Searched {
    /// When it began.
    pub began_at: Timestamp,
    /// How many pages are done.
    pub pages: usize,
    /// The token for the page that is not done; `None` for the first one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub next_token: Option<String>,
    /// The resources of that page that do not bear the mark, or cannot be read.
    #[serde(default, skip_serializing_if = "BTreeSet::is_empty")]
    pub read: BTreeSet<Identifier>,
    /// How many resources of all pages were read.
    #[serde(default)]
    pub reads: usize,
    /// Why the first of those that cannot be read cannot.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub unread: Option<Fault>,
    /// Whether it has begun again, because AWS did not know the token any more.
    #[serde(default)]
    pub began_again: bool,
}

impl Searched {
    /// Returns a search that begins.
    pub fn since(began_at: Timestamp) -> Self {
        Self {
            began_at,
            pages: 0,
            next_token: None,
            read: BTreeSet::new(),
            reads: 0,
            unread: None,
            began_again: false,
        }
    }

    /// Returns whether it has done anything yet.
    pub fn has_begun(&self) -> bool {
        self.pages > 0 || self.reads > 0 || self.began_again
    }
}
