//! What a plan changes, as a reader wants to know it: each difference with its cause.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

use serde::{Deserialize, Serialize};
use serde_json::Value;
use ucp_model::pointer::{Pointer, PointerBuf};
use ucp_model::{Baseline, Digest, json, pointer};
use ucp_schema::{Classes, Cursor, ResourceSchema};

use crate::budget::Budget;
use crate::change::{Change, ChangeKind, Reason};
use crate::same::Sameness;
use crate::{Plan, WarningCode, tags};

/// The longest list that is told element by element.
const TOLD_MAX: usize = 1_000;
/// The most elements that each element of a list is compared with in part. Beyond that, only equal ones and tags count.
const COMPARED_MAX: usize = 50;

/// A difference between a live resource and what is declared.
#[derive(Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Delta {
    /// The place, as a JSON Pointer into the live model.
    pub pointer: String,
    /// What happens there.
    pub effect: Effect,
    /// The value before; `None` if there is none, or nobody may see it.
    pub before: Option<Value>,
    /// The value after; `None` if there is none, or nobody may see it.
    pub after: Option<Value>,
    /// The value that the last successful put declared there.
    pub last_applied: Option<Value>,
    /// Whose change it is.
    pub cause: Cause,
    /// Whether values are left out because no read returns them.
    pub is_sensitive: bool,
}

/// What happens at the place of a [`Delta`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Effect {
    /// A value is added.
    Create,
    /// The value is removed.
    Delete,
    /// The value is replaced by another.
    Modify,
    /// Something is declared, and a put leaves it as it is.
    None,
}

/// Whose change a [`Delta`] is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Cause {
    /// The declaration is another one than the last that was applied, or the first.
    Declaration,
    /// AWS showed what was applied, and shows something else now: somebody else changed it.
    Drift,
    /// It was sent before, and AWS has shown something else ever since.
    NotApplied,
    /// The schema asks for it: a value that no read returns is sent again, or one that AWS does not accept is left out.
    Schema,
}

/// What is known of a live resource.
#[derive(Clone, Copy)]
pub struct Known<'a> {
    /// The live model.
    pub live: &'a Value,
    /// The baseline that the declaration would leave.
    pub declared: &'a Baseline,
    /// The baseline of the last successful put.
    pub last_applied: Option<&'a Baseline>,
    /// The live model as it was after that.
    pub observed: Option<&'a Value>,
}

/// Returns what a plan changes of a live resource, in the order of the plan, and then what it leaves.
pub fn deltas(plan: &Plan, known: &Known<'_>, schema: &ResourceSchema) -> Vec<Delta> {
    let budget = Budget::new();
    let nothing = Value::Null;
    let same = Sameness {
        root: known.last_applied.map_or(&nothing, |last| &last.declared),
        budget: &budget,
    };
    let mut teller = Teller {
        known,
        same,
        root: schema.root(),
        judged: None,
    };
    let mut deltas = Vec::with_capacity(plan.changes.len());
    for change in &plan.changes {
        teller.tell(change, &mut deltas);
    }
    deltas.extend(plan.warnings.iter().filter_map(|warning| {
        let is_sensitive = match warning.code {
            WarningCode::NotComparable => true,
            WarningCode::ReadOnly => false,
            _ => return None,
        };
        // The path is that of the declaration, whose lists may have another order.
        let is_known = !is_sensitive && !is_in_list(known.live, &warning.path);
        let value = known.live.pointer(&warning.path).filter(|_| is_known);
        Some(Delta {
            pointer: warning.path.clone(),
            effect: Effect::None,
            before: value.cloned(),
            after: value.cloned(),
            last_applied: None,
            cause: Cause::Declaration,
            is_sensitive,
        })
    }));
    deltas
}

/// Returns whether a place is in a list.
fn is_in_list(live: &Value, place: &str) -> bool {
    let mut above = place.rmatch_indices('/').map(|(at, _)| &place[..at]);
    above.any(|above| live.pointer(above).is_some_and(Value::is_array))
}

struct Teller<'a> {
    known: &'a Known<'a>,
    same: Sameness<'a>,
    root: Cursor<'a>,
    /// What was found out about the place that was judged last. The elements of a list come one after the other.
    judged: Option<(String, Judged<'a>)>,
}

/// Whose a change at a place is.
enum Judged<'a> {
    /// The caller's: the declaration has changed, and AWS shows what was applied before.
    Caller,
    /// Somebody else's: the declaration has not changed.
    Others,
    /// A list that both have changed.
    Both(Elements<'a>),
}

/// What has been declared of a list.
struct Elements<'a> {
    /// The elements that were declared before.
    last: &'a [Value],
    /// Those that still are.
    unchanged: Vec<&'a Value>,
    /// The texts of these.
    texts: BTreeSet<String>,
    /// These by the keys of tags.
    by_key: BTreeMap<&'a str, &'a Value>,
}

impl<'a> Elements<'a> {
    fn of(last: &'a Value, declared: &Value) -> Self {
        let elements = |list: &'a Value| list.as_array().map(Vec::as_slice).unwrap_or_default();
        let declared: BTreeSet<String> = declared
            .as_array()
            .into_iter()
            .flatten()
            .map(json::canonical)
            .collect();
        let last = elements(last);
        let mut found = Self {
            last,
            unchanged: Vec::new(),
            texts: BTreeSet::new(),
            by_key: BTreeMap::new(),
        };
        for element in last {
            let text = json::canonical(element);
            if declared.contains(&text) {
                found.texts.insert(text);
                found.unchanged.push(element);
                if let Some(key) = tags::key(element) {
                    found.by_key.insert(key, element);
                }
            }
        }
        found
    }

    /// Returns whether an element is declared as it was before.
    fn keeps(&self, element: &Value) -> bool {
        if self.texts.contains(&json::canonical(element)) {
            return true;
        }
        match tags::key(element) {
            Some(key) => self
                .by_key
                .get(key)
                .is_some_and(|declared| has(element, declared)),
            None if self.unchanged.len() > COMPARED_MAX => false,
            None => self.unchanged.iter().any(|declared| has(element, declared)),
        }
    }

    /// Returns whether an element was declared before.
    fn had(&self, element: &Value) -> bool {
        let key = tags::key(element);
        let mut last = self.last.iter().take(TOLD_MAX);
        last.any(|last| match key {
            Some(key) => tags::key(last) == Some(key),
            None => has(element, last),
        })
    }
}

/// A place in a list of the live model.
struct Listed {
    list: PointerBuf,
    index: usize,
    /// The place in the element.
    rest: PointerBuf,
}

impl fmt::Debug for Delta {
    /// Formats it without values: they may be long, or a secret in a property that is not write-only.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Delta")
            .field("pointer", &self.pointer)
            .field("effect", &self.effect)
            .field("cause", &self.cause)
            .finish_non_exhaustive()
    }
}

impl Teller<'_> {
    /// Tells a change. One of a whole list is told element by element, unless that is long, or only their order changes.
    fn tell(&mut self, change: &Change, deltas: &mut Vec<Delta>) {
        if let (Some(Value::Array(before)), Some(Value::Array(after))) =
            (&change.before, &change.after)
            && !change.is_sensitive
            && before.len().max(after.len()) <= TOLD_MAX
        {
            let elements = self.elements(change, before, after);
            if !elements.is_empty() {
                deltas.extend(elements);
                return;
            }
        }
        deltas.push(self.delta(change));
    }

    /// Returns the differences between the elements of two lists: those that are gone by their place before, the others
    /// by their place after. Tags with the same key are one.
    fn elements(&mut self, change: &Change, before: &[Value], after: &[Value]) -> Vec<Delta> {
        let mut gone: BTreeMap<String, Vec<usize>> = BTreeMap::new();
        let mut gone_by_key: BTreeMap<&str, usize> = BTreeMap::new();
        for (index, element) in before.iter().enumerate() {
            gone.entry(json::canonical(element))
                .or_default()
                .push(index);
            if let Some(key) = tags::key(element) {
                gone_by_key.insert(key, index);
            }
        }
        let new: Vec<usize> = (0..after.len())
            .filter(|index| {
                let same = gone.get_mut(&json::canonical(&after[*index]));
                same.and_then(Vec::pop).is_none()
            })
            .collect();
        let mut gone: BTreeSet<usize> = gone.into_values().flatten().collect();
        let mut deltas = Vec::new();
        for index in new {
            let old = tags::key(&after[index]).and_then(|key| gone_by_key.get(key));
            let old = old.filter(|old| gone.remove(old));
            let old = old.map(|old| &before[*old]);
            deltas.push(self.element(change, index, old, Some(&after[index])));
        }
        for index in gone {
            deltas.push(self.element(change, index, Some(&before[index]), None));
        }
        deltas
    }

    fn element(
        &mut self,
        change: &Change,
        index: usize,
        before: Option<&Value>,
        after: Option<&Value>,
    ) -> Delta {
        let pointer = format!("{}/{index}", change.path);
        let element = Change {
            path: pointer.clone(),
            kind: match (before, after) {
                (None, _) => ChangeKind::Add,
                (Some(_), None) => ChangeKind::Remove,
                (Some(_), Some(_)) => ChangeKind::Replace,
            },
            before: before.cloned(),
            after: after.cloned(),
            reason: change.reason,
            is_write_only: change.is_write_only,
            is_sensitive: change.is_sensitive,
            forces_replacement: change.forces_replacement,
        };
        Delta {
            pointer,
            ..self.delta(&element)
        }
    }

    fn delta(&mut self, change: &Change) -> Delta {
        let is_hidden = change.is_write_only;
        let seen = |value: &Option<Value>| value.clone().filter(|_| !is_hidden);
        let last = self.known.last_applied.map(|last| &last.declared);
        let listed = self.listed(change);
        Delta {
            pointer: match &listed {
                Some(listed) => self.shown_place(listed),
                None => change.path.clone(),
            },
            effect: match change.kind {
                // It has a value that nobody can read.
                ChangeKind::Add if is_hidden && self.was_sent(&change.path) => Effect::Modify,
                ChangeKind::Add => Effect::Create,
                ChangeKind::Remove => Effect::Delete,
                ChangeKind::Replace => Effect::Modify,
            },
            before: seen(&change.before),
            after: seen(&change.after),
            last_applied: match listed {
                // The elements of a list have no places of their own.
                Some(_) => None,
                None => last.and_then(|last| last.pointer(&change.path)).cloned(),
            },
            cause: self.cause(change),
            is_sensitive: change.is_sensitive,
        }
    }

    /// Returns whether the last successful put sent a value that no read returns.
    fn was_sent(&self, path: &str) -> bool {
        let last = self.known.last_applied;
        last.is_some_and(|last| last.digests.contains_key(path))
    }

    fn cause(&mut self, change: &Change) -> Cause {
        match change.reason {
            Reason::Resent | Reason::Tidied => return Cause::Schema,
            Reason::Declared => {}
        }
        let listed = self.listed(change);
        let place = match &listed {
            Some(listed) => listed.list.as_str(),
            None => &change.path,
        };
        if change.is_write_only || self.is_of_caller(change, listed.as_ref(), place) {
            return Cause::Declaration;
        }
        let shown = self.known.observed.map(|observed| observed.pointer(place));
        let is_shown = match (shown, self.known.live.pointer(place)) {
            (Some(Some(before)), Some(now)) => json::equal(before, now),
            (Some(before), now) => before.is_none() && now.is_none(),
            (None, _) => false,
        };
        if is_shown {
            Cause::NotApplied
        } else {
            Cause::Drift
        }
    }

    /// Returns whether a change follows from a change of the declaration. `place` is that of the change, or of the
    /// outermost list that it is in.
    fn is_of_caller(&mut self, change: &Change, listed: Option<&Listed>, place: &str) -> bool {
        let Some(last) = self.known.last_applied else {
            return true;
        };
        if change.is_sensitive && !are_secrets_equal(last, self.known.declared, place) {
            return true;
        }
        let is_judged = matches!(&self.judged, Some((judged, _)) if judged == place);
        if !is_judged {
            self.judged = Some((place.to_owned(), self.judge(last, place)));
        }
        match (&self.judged, listed) {
            (Some((_, Judged::Others)), _) => false,
            (Some((_, Judged::Both(elements))), Some(listed)) => {
                !self.is_of_others(change, listed, elements)
            }
            (Some((_, Judged::Caller | Judged::Both(_))) | None, _) => true,
        }
    }

    fn judge<'b>(&self, last: &'b Baseline, place: &str) -> Judged<'b> {
        let declared = self.known.declared.declared.pointer(place);
        let (last, declared) = match (last.declared.pointer(place), declared) {
            (None, None) => return Judged::Others,
            (Some(last), Some(declared)) if json::equal(last, declared) => return Judged::Others,
            (Some(last), Some(declared)) => (last, declared),
            (None, Some(_)) | (Some(_), None) => return Judged::Caller,
        };
        let live = self.known.live.pointer(place);
        if live.is_some_and(|live| self.is_within(last, live, place)) {
            Judged::Caller
        } else {
            Judged::Both(Elements::of(last, declared))
        }
    }

    /// Returns whether somebody else has changed an element of a list whose declaration has changed too: an element that
    /// is declared as before is not there, or one that was never declared is.
    fn is_of_others(&self, change: &Change, listed: &Listed, elements: &Elements<'_>) -> bool {
        match self.planned_element(change, listed) {
            Some(planned) => elements.keeps(&planned),
            None => {
                let before = change.before.as_ref();
                before.is_some_and(|before| !elements.had(before))
            }
        }
    }

    /// Returns an element after a change; `None` if it is removed.
    fn planned_element(&self, change: &Change, listed: &Listed) -> Option<Value> {
        if listed.rest.is_root() {
            return change.after.clone();
        }
        let place = listed.list.with_trailing_token(listed.index);
        let mut element = self.known.live.pointer(place.as_str())?.clone();
        match &change.after {
            Some(after) => drop(listed.rest.assign(&mut element, after.clone())),
            None => drop(listed.rest.delete(&mut element)),
        }
        Some(element)
    }

    /// Returns the place in a list as readers see it: without the mark of a reference.
    fn shown_place(&self, listed: &Listed) -> String {
        let Listed { list, index, rest } = listed;
        let live = self.known.live.pointer(list.as_str());
        let before = live.and_then(|live| live.as_array()?.get(..*index));
        let are_tags = self.cursor(list.as_str()).is(Classes::TAGS);
        let before = before.filter(|_| are_tags).unwrap_or_default().iter();
        let index = index - before.filter(|tag| tags::is_mark(tag)).count();
        format!("{list}/{index}{rest}")
    }

    /// Returns whether `value` has everything that `declared` has.
    fn is_within(&self, declared: &Value, value: &Value, place: &str) -> bool {
        let cursor = self.cursor(place);
        self.same.holds(declared, value, cursor, self.same.root)
    }

    fn cursor(&self, place: &str) -> Cursor<'_> {
        let mut cursor = self.root;
        let mut live = Some(self.known.live);
        let Ok(pointer) = Pointer::parse(place) else {
            return cursor;
        };
        for token in pointer.tokens() {
            let name = token.decoded();
            let is_list = live.is_some_and(Value::is_array);
            live = live.and_then(|live| match live {
                Value::Array(elements) => elements.get(name.parse::<usize>().ok()?),
                other => other.get(name.as_ref()),
            });
            cursor = if is_list {
                cursor.element()
            } else {
                cursor.member_or_anything(&name)
            };
        }
        cursor
    }

    /// Returns the outermost list that the place of a change is in.
    fn listed(&self, change: &Change) -> Option<Listed> {
        let pointer = Pointer::parse(&change.path).ok()?;
        let mut live = self.known.live;
        let mut list = PointerBuf::root();
        let mut tokens = pointer.tokens();
        while let Some(token) = tokens.next() {
            let name = token.decoded();
            if live.is_array() {
                return Some(Listed {
                    list,
                    index: name.parse().ok()?,
                    rest: PointerBuf::from_tokens(tokens),
                });
            }
            live = live.get(name.as_ref())?;
            list.push_back(token);
        }
        None
    }
}

/// Returns whether two baselines have the same values that no read returns at a place.
fn are_secrets_equal(one: &Baseline, other: &Baseline, place: &str) -> bool {
    let below = |baseline: &'_ Baseline| -> Vec<(String, Digest)> {
        let digests = baseline.digests.iter();
        let below = digests.filter(|(path, _)| pointer::is_within(path, place));
        below
            .map(|(path, digest)| (path.clone(), digest.clone()))
            .collect()
    };
    below(one) == below(other)
}

/// Returns whether an element of a list has all that `declared` has, and that is something.
fn has(element: &Value, declared: &Value) -> bool {
    match (element, declared) {
        (Value::Object(members), Value::Object(declared)) => {
            let mut declared_members = declared.iter();
            !declared.is_empty()
                && declared_members.all(|(name, value)| {
                    let member = members.get(name);
                    member.is_some_and(|member| json::equal(member, value))
                })
        }
        _ => json::equal(element, declared),
    }
}
