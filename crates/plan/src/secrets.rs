//! Write-only values, which are compared by digest.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;
use ucp_model::{Baseline, Digest};
use ucp_schema::{Classes, Cursor};

use crate::desired::without_fixed;
use crate::edit::{Edit, Why};
use crate::merge::Merge;
use crate::same::{coerced, is_hollow};
use crate::warning::WarningCode;

/// The result of comparing digests of a write-only value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Secret {
    Same,
    Changed,
    /// There is no comparable digest.
    Unknown,
}

impl<'a> Merge<'a> {
    pub(crate) fn write_only(&mut self, declared: &'a Value, cursor: Cursor<'a>) -> Edit {
        let secret = self.secret(cursor);
        if cursor.is(Classes::CREATE_ONLY) {
            self.fixed_secret(secret, declared, cursor);
            return Edit::Keep;
        }
        if cursor.is(Classes::CONDITIONAL_CREATE_ONLY)
            || secret == Secret::Unknown && !self.is_updatable
        {
            return match secret {
                Secret::Same => Edit::Keep,
                Secret::Unknown => {
                    self.warn(WarningCode::NotComparable);
                    Edit::Keep
                }
                Secret::Changed => Edit::Set(coerced(declared, cursor), Why::Change),
            };
        }
        let mut sent = without_fixed(declared, cursor).into_owned();
        let holds_changed = self.add_changed_below(declared, &mut sent, cursor);
        if is_hollow(&sent) && !is_hollow(declared) {
            return Edit::Keep;
        }
        let is_changed = secret != Secret::Same || holds_changed;
        let why = if is_changed { Why::Change } else { Why::Resend };
        Edit::Set(coerced(&sent, cursor), why)
    }

    /// Adds the changed conditionally create-only values in a write-only value to `sent`, and checks the create-only
    /// values in it. Returns whether something was added.
    fn add_changed_below(
        &mut self,
        declared: &'a Value,
        sent: &mut Value,
        cursor: Cursor<'a>,
    ) -> bool {
        if !cursor.holds(Classes::FIXED) {
            return false;
        }
        let mut is_changed = false;
        match (declared, sent) {
            (Value::Object(members), Value::Object(sent)) => {
                for (name, value) in members {
                    let Some(below) = cursor.member(name) else {
                        continue;
                    };
                    self.path.push_key(name);
                    if below.is(Classes::CREATE_ONLY) {
                        let secret = self.secret(below);
                        self.fixed_secret(secret, value, below);
                    } else if below.is(Classes::CONDITIONAL_CREATE_ONLY) {
                        if self.secret(below) == Secret::Changed {
                            sent.insert(name.clone(), value.clone());
                            is_changed = true;
                        }
                    } else if let Some(sent) = sent.get_mut(name) {
                        is_changed |= self.add_changed_below(value, sent, below);
                    }
                    self.path.pop();
                }
            }
            (Value::Array(elements), Value::Array(sent)) => {
                for (index, (value, sent)) in elements.iter().zip(sent).enumerate() {
                    self.path.push_element(index, Some(index));
                    is_changed |= self.add_changed_below(value, sent, cursor.element());
                    self.path.pop();
                }
            }
            _ => {}
        }
        is_changed
    }

    /// Handles a value that is both write-only and create-only. It is never sent again.
    fn fixed_secret(&mut self, secret: Secret, declared: &Value, cursor: Cursor<'a>) {
        match secret {
            Secret::Same => {}
            Secret::Unknown => self.warn(WarningCode::NotComparable),
            Secret::Changed => self.replace(declared, None, cursor),
        }
    }

    /// Compares the write-only value at this path with the last applied one. A value that may have been sent since then
    /// counts as changed.
    fn secret(&self, cursor: Cursor<'_>) -> Secret {
        let Some(last) = self.last else {
            return Secret::Unknown;
        };
        let known = self
            .path
            .last_pointer()
            .and_then(|at| last.digests.get(&at));
        match (known, self.digests.get(&self.path.pointer())) {
            (Some(known), Some(declared)) if known.key_id != declared.key_id => Secret::Unknown,
            (known, declared) if known == declared && !self.may_have_been_sent(last, cursor) => {
                Secret::Same
            }
            _ => Secret::Changed,
        }
    }

    /// Returns whether the value at this path may have been sent since it was last applied. A create-only value never
    /// is.
    fn may_have_been_sent(&self, last: &Baseline, cursor: Cursor<'_>) -> bool {
        !cursor.is(Classes::CREATE_ONLY) && last.is_unconfirmed(&self.path.pointer())
    }

    /// Compares all write-only values below this path, ignoring the order of lists. Values that may have been sent since
    /// they were last applied count as changed.
    pub(crate) fn secrets_below(&self, cursor: Cursor<'_>) -> Secret {
        let Some(last) = self.last else {
            return Secret::Unknown;
        };
        fn below<'d>(digests: &'d BTreeMap<String, Digest>, at: &str) -> Vec<&'d Digest> {
            let prefix = format!("{at}/");
            let from_here = digests.range(prefix.clone()..);
            let below = from_here.take_while(|(place, _)| place.starts_with(&prefix));
            below.map(|(_, digest)| digest).collect()
        }
        let known = self.path.last_pointer().map(|at| below(&last.digests, &at));
        let known = known.unwrap_or_default();
        let declared = below(self.digests, &self.path.pointer());
        let keys = |digests: &[&Digest]| -> BTreeSet<String> {
            digests.iter().map(|digest| digest.key_id.clone()).collect()
        };
        let hmacs = |digests: &[&Digest]| -> Vec<String> {
            let mut hmacs: Vec<String> = digests.iter().map(|digest| digest.hmac.clone()).collect();
            hmacs.sort_unstable();
            hmacs
        };
        let is_comparable =
            known.is_empty() || declared.is_empty() || keys(&known) == keys(&declared);
        match is_comparable {
            false => Secret::Unknown,
            true if hmacs(&known) == hmacs(&declared) && !self.may_have_been_sent(last, cursor) => {
                Secret::Same
            }
            true => Secret::Changed,
        }
    }
}
