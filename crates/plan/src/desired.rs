use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

use serde_json::Value;
use ucp_model::{Baseline, Digest, json};
use ucp_schema::{Classes, Cursor, Declaration, ResourceSchema};

use crate::path::Path;
use crate::same::coerced;

/// The current declaration, with its digests.
#[derive(Clone, PartialEq)]
pub struct Desired {
    /// The declaration.
    pub declaration: Declaration,
    /// The baseline to store after success, with a digest for each write-only value.
    pub baseline: Baseline,
}

impl Desired {
    /// Computes the baseline of `declaration`. `digest` is called with each write-only value and the path of its
    /// property, which has `*` in place of indexes, so that elements of a list keep their digests when they move.
    pub fn new(
        declaration: Declaration,
        schema: &ResourceSchema,
        digest: impl FnMut(&str, &Value) -> Digest,
    ) -> Self {
        let properties = declaration.properties();
        let baseline = Baseline {
            declared: schema.without_write_only(properties),
            digests: digests(properties, schema, digest),
            unconfirmed: BTreeSet::new(),
            shown: BTreeMap::new(),
            is_seen: false,
            is_made: false,
            is_undecided: false,
        };
        Self {
            declaration,
            baseline,
        }
    }
}

/// Returns the digests of the write-only values in declared properties, as [`Desired::new`] has them.
pub fn digests(
    properties: &Value,
    schema: &ResourceSchema,
    digest: impl FnMut(&str, &Value) -> Digest,
) -> BTreeMap<String, Digest> {
    let mut secrets = Secrets {
        digest,
        path: Path::default(),
        digests: BTreeMap::new(),
    };
    secrets.find(properties, schema.root());
    secrets.digests
}

impl fmt::Debug for Desired {
    /// Formats it without the properties, which may contain write-only values.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Desired")
            .field("baseline", &self.baseline)
            .finish_non_exhaustive()
    }
}

/// The write-only values of a declaration.
struct Secrets<'a, D> {
    digest: D,
    path: Path<'a>,
    digests: BTreeMap<String, Digest>,
}

impl<'a, D: FnMut(&str, &Value) -> Digest> Secrets<'a, D> {
    fn find(&mut self, value: &'a Value, cursor: Cursor<'_>) {
        if cursor.is(Classes::WRITE_ONLY) {
            self.add(value, cursor);
        } else if cursor.holds(Classes::WRITE_ONLY) {
            self.each_below(value, cursor, Self::find);
        }
    }

    /// Adds the digest of a write-only value. Create-only values in it get digests of their own.
    fn add(&mut self, value: &'a Value, cursor: Cursor<'_>) {
        // The digest is of the value as sent: `1234` and `"1234"` are the same password.
        let sent = coerced(&without_fixed(value, cursor), cursor);
        let digest = (self.digest)(&self.path.pattern(), &sent);
        self.digests.insert(self.path.pointer(), digest);
        self.find_fixed(value, cursor);
    }

    fn find_fixed(&mut self, value: &'a Value, cursor: Cursor<'_>) {
        if cursor.is(Classes::FIXED) {
            return;
        }
        self.each_below(value, cursor, |secrets, value, cursor| {
            if cursor.is(Classes::FIXED) {
                secrets.add(value, cursor);
            } else {
                secrets.find_fixed(value, cursor);
            }
        });
    }

    fn each_below(
        &mut self,
        value: &'a Value,
        cursor: Cursor<'_>,
        mut visit: impl FnMut(&mut Self, &'a Value, Cursor<'_>),
    ) {
        for (step, child) in json::children(value) {
            if let Some(cursor) = cursor.below(step) {
                self.path.push(step);
                visit(self, child, cursor);
                self.path.pop();
            }
        }
    }
}

/// Returns a write-only value without the create-only values in it, conditional or not.
pub(crate) fn without_fixed<'v>(value: &'v Value, cursor: Cursor<'_>) -> Cow<'v, Value> {
    if cursor.is(Classes::FIXED) || !cursor.holds(Classes::FIXED) {
        return Cow::Borrowed(value);
    }
    Cow::Owned(json::map_children(value, |step, child| {
        let cursor = cursor.below(step)?;
        let is_fixed = matches!(step, json::Step::Member(_)) && cursor.is(Classes::FIXED);
        (!is_fixed).then(|| without_fixed(child, cursor).into_owned())
    }))
}
