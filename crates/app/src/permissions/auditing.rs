use ucp_access::{GrantChange, Right, Rights};
use ucp_model::{PlaneId, Timestamp};
use ucp_store::{AuditEvent, AuditOutcome, AuditPlace, StoredAuditEvent};

use crate::{Permissions, Rejection};

/// The number of events that a filter looks at in one statement, and in one request.
const LOOKED_AT_ONCE: usize = 1_000;
const LOOKED_AT: usize = 5 * LOOKED_AT_ONCE;

/// Which events of the audit are meant. Nothing means any.
#[derive(Clone, Debug, Default)]
pub struct AuditFilter {
    /// Those about this plane and what is in it.
    pub plane: Option<PlaneId>,
    /// Those of this caller.
    pub caller: Option<String>,
    /// Those with this action, in any letter case.
    pub action: Option<String>,
    /// Those with this outcome.
    pub outcome: Option<AuditOutcome>,
    /// Those about this id and what is below it, in any letter case.
    pub id: Option<String>,
    /// Those from this time on.
    pub from: Option<Timestamp>,
    /// Those from before this time.
    pub to: Option<Timestamp>,
}

impl AuditFilter {
    /// Returns whether an event is meant, as far as the store does not judge it.
    fn admits(&self, event: &AuditEvent) -> bool {
        let is = |wanted: &Option<String>, given: &str| {
            wanted.as_ref().is_none_or(|wanted| wanted == given)
        };
        let is_alike = |wanted: &Option<String>, given: &str| {
            let wanted = wanted.as_ref();
            wanted.is_none_or(|wanted| wanted.to_lowercase() == given.to_lowercase())
        };
        is(&self.caller, &event.caller)
            && is_alike(&self.action, &event.action)
            && self.outcome.is_none_or(|outcome| outcome == event.outcome)
            && self.id.as_ref().is_none_or(|id| is_within(id, &event.id))
            && self
                .plane
                .as_ref()
                .is_none_or(|plane| is_within(&plane.to_string(), &event.id))
    }

    /// Returns whether the store reads only what is meant.
    fn is_by_time(&self) -> bool {
        let Self {
            plane,
            caller,
            action,
            outcome,
            id,
            from: _,
            to: _,
        } = self;
        plane.is_none() && caller.is_none() && action.is_none() && outcome.is_none() && id.is_none()
    }
}

/// Returns whether `id` is `within` or below it.
fn is_within(within: &str, id: &str) -> bool {
    let (within, id) = (within.to_lowercase(), id.to_lowercase());
    let within = within.trim_end_matches('/');
    let rest = id.strip_prefix(within);
    rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
}

/// A page of the audit.
#[derive(Clone, Debug, Default)]
pub struct AuditPage {
    /// The events, latest first. There may be none before the last page.
    pub events: Vec<StoredAuditEvent>,
    /// Where the next page begins; `None` on the last one.
    pub next: Option<AuditPlace>,
}

impl Permissions {
    /// Returns up to `top` events that `filter` admits, from before `before`, about what the caller may give rights over. It
    /// looks at a bounded number of events. If too few of them are meant, the next page goes on behind them.
    pub async fn list_audit_events(
        &self,
        rights: &Rights,
        filter: &AuditFilter,
        before: Option<AuditPlace>,
        top: usize,
    ) -> Result<AuditPage, Rejection> {
        let since = filter.from.unwrap_or(Timestamp::from_millis(i64::MIN));
        let until = filter.to.map_or(AuditPlace::END, AuditPlace::begin);
        let mut before = before.map_or(until, |before| before.min(until));
        let limit = if filter.is_by_time() && rights.are_unlimited() {
            top + 1
        } else {
            LOOKED_AT_ONCE
        };
        let mut page = AuditPage::default();
        for _ in 0..LOOKED_AT / LOOKED_AT_ONCE {
            let looked = self.ground.store.list_audit_events(since, before, limit);
            let looked = looked.await?;
            let is_end = looked.len() < limit;
            for mut stored in looked {
                before = stored.place;
                let is_theirs = rights.permits_at(Right::ManageAccess, &stored.event.id);
                if !is_theirs || !filter.admits(&stored.event) {
                    continue;
                }
                // Who may not read the role assignment does not read here what it gives.
                let change = stored.event.change.take();
                stored.event.change = change.filter(|change| manages(rights, change));
                if page.events.len() == top {
                    page.next = page.events.last().map(|last| last.place);
                    return Ok(page);
                }
                page.events.push(stored);
            }
            if is_end {
                return Ok(page);
            }
        }
        page.next = Some(before);
        Ok(page)
    }
}

/// Returns whether all scopes of a change are among those that roles may be given over.
fn manages(rights: &Rights, change: &GrantChange) -> bool {
    let grants = change.before.iter().chain(&change.after);
    let mut scopes = grants.flat_map(|grant| &grant.scopes);
    scopes.all(|scope| rights.permits(Right::ManageAccess, scope))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_id_is_within_itself_and_those_above_it() {
        let id = "/planes/radius/local/resourcegroups/Demo/leftovers/1";
        for within in [
            "/planes/radius/local/resourceGroups/demo",
            "/planes/",
            "/",
            id,
        ] {
            assert!(is_within(within, id), "{within}");
        }
        for within in ["/planes/radius/local/resourcegroups/dem", "planes", "/x"] {
            assert!(!is_within(within, id), "{within}");
        }
    }
}
