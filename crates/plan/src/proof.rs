//! Proof of a change: what AWS shows after it has reported success, compared with what was sent and with what was there
//! before. Values are compared as a plan compares them, so those that AWS stores in another form are confirmed.

use serde_json::Value;
use ucp_model::operation::{Prediction, Proof, Sent, digest_before};
use ucp_model::pointer::{self, Pointer};
use ucp_model::{Baseline, Digest, Warning};
use ucp_schema::{Classes, Cursor, Declaration, ResourceSchema};

use crate::budget::Budget;
use crate::prediction::prediction;
use crate::same::Sameness;
use crate::warning::{self, WarningCode};
use crate::{Change, ChangeKind, Desired, Mode, Plan, Reason, plan};

/// The most places of a kind that a proof names.
const PLACES_MAX: usize = 100;

/// Returns what a plan sends, with digests of the live values that it was made on.
pub fn sent(plan: &Plan, live: Option<&Value>, schema: &ResourceSchema) -> Sent {
    let before = live.map(|live| schema.shown(live));
    let mut sent = Sent::new();
    for change in &plan.changes {
        if change.reason == Reason::Tidied {
            continue;
        }
        let is_seen = change.reason == Reason::Declared
            && !change.is_write_only
            && is_told_by_reads(change, before.as_ref(), schema.root());
        match place(&change.path, before.as_ref(), schema.root()) {
            Some(place) if is_seen => {
                let value = before.as_ref().and_then(|live| live.pointer(&place));
                let digest = digest_before(value);
                sent.entry(place).or_insert(Some(digest));
            }
            Some(_) | None => {
                sent.entry(change.path.clone()).or_insert(None);
            }
        }
    }
    sent
}

/// Returns whether a read can tell that a change was made. It cannot if all that differs is write-only, such as the passwords
/// in the elements of a list.
fn is_told_by_reads(change: &Change, live: Option<&Value>, root: Cursor<'_>) -> bool {
    let Some(cursor) = cursor_at(&change.path, live, root).filter(|_| change.is_sensitive) else {
        return true;
    };
    let budget = Budget::new();
    let nothing = Value::Null;
    let same = Sameness {
        root: &nothing,
        budget: &budget,
    };
    let holds = |one: &Value, other: &Value| same.holds(one, other, cursor, &nothing);
    match (&change.before, &change.after) {
        (Some(before), Some(after)) => !(holds(after, before) && holds(before, after)),
        (None, Some(after)) => !same.holds_nothing(after, cursor),
        (_, None) => true,
    }
}

/// Returns the cursor at a path into the live model.
fn cursor_at<'a>(path: &str, mut live: Option<&Value>, root: Cursor<'a>) -> Option<Cursor<'a>> {
    let mut cursor = root;
    for token in Pointer::parse(path).ok()?.tokens() {
        let name = token.decoded();
        let elements = live.and_then(Value::as_array);
        (cursor, live) = match elements {
            Some(elements) => {
                let element = name
                    .parse()
                    .ok()
                    .and_then(|index: usize| elements.get(index));
                (cursor.element(), element)
            }
            None => {
                let member = live.and_then(|live| live.get(name.as_ref()));
                (cursor.member_or_anything(&name), member)
            }
        };
    }
    Some(cursor)
}

/// Returns the place of a change: its path up to the first list. `None` if reads may omit it.
fn place(path: &str, live: Option<&Value>, root: Cursor<'_>) -> Option<String> {
    let pointer = Pointer::parse(path).ok()?;
    let (mut cursor, mut live, mut place) = (root, live, String::new());
    for token in pointer.tokens() {
        if live.is_some_and(Value::is_array) {
            break;
        }
        let name = token.decoded();
        cursor = cursor.member_or_anything(&name);
        if cursor.is(Classes::WRITE_ONLY | Classes::DEPRECATED | Classes::NON_PUBLIC) {
            return None;
        }
        live = live.and_then(|live| live.get(name.as_ref()));
        place = pointer::join(&place, &name);
    }
    Some(place)
}

/// What AWS shows of a change.
#[derive(Clone, Debug, PartialEq)]
pub struct Proven {
    /// What has become of the places that were sent.
    pub proof: Proof,
    /// How good the plan was; `None` if the resource cannot be read.
    pub prediction: Option<Prediction>,
}

/// Compares what was sent with what AWS shows now; `None` if it cannot be read. `planned` is the [settled](crate::settled)
/// model that an update was to come to, if it is known, and `last` the baseline that the change was planned with.
pub fn prove(
    sent: &Sent,
    planned: Option<&Value>,
    desired: &Desired,
    last: Option<&Baseline>,
    live: Option<&Value>,
    schema: &ResourceSchema,
    mode: Mode,
) -> Proven {
    let mut proof = Proof::default();
    let Some(live) = live else {
        proof.unreadable = sent.keys().take(PLACES_MAX).cloned().collect();
        return Proven {
            proof,
            prediction: None,
        };
    };
    let shown = schema.shown(live);
    // What would be sent again, as after this put; and as before it, which tells what should have been removed.
    let again = plan(desired, Some(&desired.baseline), Some(live), schema, mode);
    let still = plan(desired, last, Some(live), schema, mode);
    for (place, before) in sent {
        let Some(before) = before else {
            push(&mut proof.unreadable, place);
            continue;
        };
        let is_here = |change: &&Change| {
            let path = &change.path;
            change.reason == Reason::Declared
                && !change.is_write_only
                && (pointer::is_within(path, place) || pointer::is_within(place, path))
        };
        let differs = again.changes.iter().any(|change| is_here(&change));
        let mut left = still.changes.iter().filter(is_here);
        let is_left = left.any(|change| change.kind == ChangeKind::Remove || takes_away(change));
        let is_as_before = *before == digest_before(shown.pointer(place));
        match (is_as_before, differs) {
            (true, true) => push(&mut proof.dropped, place),
            (true, false) if is_left => push(&mut proof.dropped, place),
            (false, true) => push(&mut proof.different, place),
            (_, false) => proof.confirmed = proof.confirmed.saturating_add(1),
        }
    }
    // What would change if all that was planned had been declared, with the values that the update was to leave.
    let whole = planned.map(|planned| {
        let declaration = Declaration::stored(planned.clone());
        let planned = Desired::new(declaration, schema, |_, _| Digest::default());
        plan(&planned, Some(&planned.baseline), Some(live), schema, mode)
    });
    let again = whole.as_ref().unwrap_or(&again);
    let prediction = prediction(again, &proof, desired, &shown, schema);
    Proven {
        proof,
        prediction: Some(prediction),
    }
}

/// Returns whether a change may take away parts of a value: it replaces a list or an object.
fn takes_away(change: &Change) -> bool {
    let is_composed = |value: &Value| value.is_array() || value.is_object();
    change.kind == ChangeKind::Replace && change.before.as_ref().is_some_and(is_composed)
}

fn push(places: &mut Vec<String>, place: &str) {
    if places.len() < PLACES_MAX {
        places.push(place.to_owned());
    }
}

/// Returns the warnings about what was dropped, and what is different.
pub fn unproven(proof: &Proof) -> Vec<Warning> {
    let warning = |code| move |place: &String| warning::Warning::new(code, place.clone());
    let dropped = proof.dropped.iter().map(warning(WarningCode::Dropped));
    let different = proof.different.iter().map(warning(WarningCode::Different));
    let all = dropped.chain(different);
    all.map(|warning| Warning::from(&warning)).collect()
}
