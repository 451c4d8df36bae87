//! How long the errors of a change are put up with.

use super::retry_class::{Class, UNNAMED_QUEUE, names_a_change, names_what_is_in_the_way};
use super::step::Step;
use super::tries::Retrying;
use crate::{Action, Failure, HandlerErrorCode, Timestamp, retry};

impl Retrying {
    /// Returns what is recorded of a failure; `None` if it is not put up with any longer.
    pub(super) fn after(
        step: &Step<'_>,
        action: Action,
        class: Class,
        failure: Failure,
        is_named: bool,
    ) -> Option<Self> {
        let is_conflict = failure.code == HandlerErrorCode::ResourceConflict.as_str();
        // A refusal in other words among such is no other one.
        let named_before = step.operation.retrying.as_ref();
        let named_before = named_before.filter(|before| before.class == class);
        let is_told = |names: fn(&str) -> bool| {
            names(&failure.message)
                || named_before.is_some_and(|before| names(&before.failure.message))
        };
        // AWS may go on refusing for a moment when it has ended.
        let last_at = step.operation.last_in_the_way_at;
        let is_in_the_way = last_at.is_some_and(|at| step.now.since(at) < UNNAMED_QUEUE);
        let may_pass = !is_conflict || is_in_the_way;
        let is_awaited = may_pass || is_told(names_what_is_in_the_way);
        let bound = class.bound_of(action, is_awaited)?;
        if class == Class::Queue
            && action == Action::Update
            && !may_pass
            && !is_told(names_a_change)
        {
            // Its condition does not hold, which no time changes.
            let mut changes = step.operation.changes.iter();
            if changes.any(|change| change.conditional) {
                return None;
            }
        }
        let before = step.operation.retrying.as_ref();
        let before = before.filter(|before| before.action == action);
        let mut others = before.map(Self::by_class).unwrap_or_default();
        let of_class = others.remove(&class);
        let (tries, since) = of_class.map_or((0, step.now), |tries| (tries.count, tries.since));
        let is_over = tries >= bound.tries && step.now.since(since) >= bound.time;
        let is_denied = class == Class::Permission && !step.may_be_permitted_soon();
        let is_parents = class == Class::Queue && step.operation.options.parent_retries;
        (!is_over && !is_parents && !is_denied).then(|| Self {
            action,
            class,
            tries: tries.saturating_add(1),
            since,
            others,
            failure,
            is_named,
        })
    }

    /// Returns when the next try is due.
    pub(super) fn due_at(&self, step: &Step<'_>) -> Timestamp {
        let Some(bound) = self.class.bound() else {
            return step.now;
        };
        let tries = self.tries.saturating_sub(1);
        step.now.after(retry::backoff(
            tries,
            bound.first,
            bound.longest,
            step.chance.jitter,
        ))
    }
}

/// Adds to the message how often it was tried, if more than once.
pub(super) fn told(step: &Step<'_>, action: Action, failure: Failure) -> Failure {
    let before = step.operation.retrying.as_ref();
    let Some(before) = before.filter(|before| before.action == action) else {
        return failure;
    };
    let message = match before.class {
        Class::KeepWatching => format!(
            "{} ucp watched the resource since {}.",
            as_sentence(&failure.message),
            before.first_failed_at()
        ),
        Class::Again
        | Class::LookThenAgain
        | Class::Queue
        | Class::Unknown
        | Class::Prove
        | Class::Absent
        | Class::Soon
        | Class::Permission
        | Class::Follow
        | Class::Overdue
        | Class::MayLeave
        | Class::Terminal => format!(
            "{} ucp tried the {action} {} times since {}.",
            as_sentence(&failure.message),
            before.tries_in_all().saturating_add(1),
            before.first_failed_at()
        ),
    };
    Failure { message, ..failure }
}

pub(super) fn as_sentence(message: &str) -> String {
    match message.chars().last() {
        Some('.' | '!' | '?') => message.to_owned(),
        Some(_) => format!("{message}."),
        None => "AWS gives no reason.".to_owned(),
    }
}
