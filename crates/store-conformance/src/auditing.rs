//! The audit.

use ucp_access::{Grant, GrantChange, Role, Scope, Subject};
use ucp_model::{CorrelationId, Timestamp};
use ucp_store::{AuditEvent, AuditOutcome, AuditPlace, Error, StoredAuditEvent};

use super::fixture::*;

/// An event of this second. Its number is the status.
fn event(number: u16, second: i64) -> AuditEvent {
    AuditEvent {
        at: at(second),
        caller: "token:ci".to_owned(),
        peer: Some("2001:db8::1".to_owned()),
        action: "System.Resources/resourceGroups/write".to_owned(),
        id: "/planes/radius/local/resourcegroups/Größe \"1\"".to_owned(),
        outcome: AuditOutcome::Allowed,
        status: Some(number),
        code: None,
        correlation_id: CorrelationId::new("deployment"),
        request_id: "request".to_owned(),
        operation: Some(operation_id(1)),
        change: Some(GrantChange {
            before: None,
            after: Some(Grant {
                who: Subject::Group("é\"team".to_owned()),
                role: Role::CredentialsAdmin,
                scopes: vec![Scope::everything()],
            }),
        }),
        paths: vec![
            "/tags/é\"~1".to_owned(),
            "/properties/planPolicy".to_owned(),
        ],
        suppressed: 0,
    }
}

async fn append(store: &Engine, events: &[AuditEvent]) {
    store.append_audit_events(events).await.unwrap();
}

/// An event that an engine cannot store is not taken for an outage, which it would be waited for.
pub async fn what_cannot_be_audited_is_no_outage(store: Engine) {
    let odd = AuditEvent {
        caller: "token:\0".to_owned(),
        ..event(200, 1)
    };
    let appended = store.append_audit_events(&[odd]).await;
    assert!(
        matches!(appended, Ok(()) | Err(Error::Corrupt(_))),
        "{appended:?}"
    );
    append(&store, &[event(201, 2)]).await;
    let all = numbers(&store, at(0), AuditPlace::END).await;
    assert_eq!(all[0], 201);
    assert_eq!(all.len(), 1 + usize::from(appended.is_ok()));

    // Clients name tags.
    let paths = vec!["/tags/\0\u{1}\"\\".to_owned()];
    let named = AuditEvent {
        paths: paths.clone(),
        ..event(202, 3)
    };
    append(&store, &[named]).await;
    let all = list(&store, at(0), AuditPlace::END).await;
    assert_eq!(all[0].event.paths, paths);
}

async fn list(store: &Engine, since: Timestamp, before: AuditPlace) -> Vec<StoredAuditEvent> {
    store.list_audit_events(since, before, 100).await.unwrap()
}

async fn numbers(store: &Engine, since: Timestamp, before: AuditPlace) -> Vec<u16> {
    let listed = list(store, since, before).await;
    let numbers = listed.iter().map(|stored| stored.event.status);
    numbers.map(Option::unwrap).collect()
}

/// Every value comes back, of every outcome. Events of the same time are in the order in which they were appended.
pub async fn what_is_audited_is_listed_latest_first(store: Engine) {
    let mut events = Vec::new();
    for (number, outcome) in (200..).zip(AuditOutcome::ALL) {
        events.push(AuditEvent {
            outcome,
            ..event(number, 2)
        });
    }
    let bare = AuditEvent {
        peer: None,
        status: None,
        code: Some("AuthenticationFailed".to_owned()),
        operation: None,
        change: None,
        paths: Vec::new(),
        suppressed: 7,
        ..event(1, 1)
    };
    append(&store, &events).await;
    append(&store, std::slice::from_ref(&bare)).await;
    append(&store, &[]).await;
    events.reverse();
    events.push(bare);
    let listed = list(&store, at(0), AuditPlace::END).await;
    let places: Vec<AuditPlace> = listed.iter().map(|stored| stored.place).collect();
    assert!(places.is_sorted_by(|one, next| one > next), "{places:?}");
    let listed: Vec<AuditEvent> = listed.into_iter().map(|stored| stored.event).collect();
    assert_eq!(listed, events);
}

/// A page starts after the last event of the page before. `since` is included, and the other end is not.
pub async fn the_audit_is_read_by_page_and_time(store: Engine) {
    let events: Vec<AuditEvent> = [(1, 1), (2, 2), (3, 2), (4, 2), (5, 3)]
        .map(|(number, second)| event(number, second))
        .into();
    append(&store, &events).await;
    let mut seen = Vec::new();
    let mut before = AuditPlace::END;
    loop {
        let page = store.list_audit_events(at(0), before, 2).await.unwrap();
        assert!(page.len() <= 2);
        let Some(last) = page.last() else { break };
        before = last.place;
        seen.extend(page.iter().map(|stored| stored.event.status.unwrap()));
    }
    assert_eq!(seen, [5, 4, 3, 2, 1]);
    let until = AuditPlace::begin;
    assert_eq!(numbers(&store, at(2), AuditPlace::END).await, [5, 4, 3, 2]);
    assert_eq!(numbers(&store, at(0), until(at(2))).await, [1]);
    assert_eq!(numbers(&store, at(2), until(at(3))).await, [4, 3, 2]);
    let nothing: [u16; 0] = [];
    assert_eq!(numbers(&store, at(2), until(at(2))).await, nothing);
    assert_eq!(numbers(&store, at(3), until(at(1))).await, nothing);
    // What is earlier comes later in the list, whenever it was appended.
    append(&store, &[event(6, 2)]).await;
    assert_eq!(
        numbers(&store, at(0), AuditPlace::END).await,
        [5, 6, 4, 3, 2, 1]
    );
}

/// The earliest are removed first, up to the limit.
pub async fn old_audit_events_are_removed(store: Engine) {
    append(&store, &[event(3, 3), event(1, 1), event(2, 2)]).await;
    let remove = async |before, limit| store.remove_audit_events(before, limit).await.unwrap();
    assert_eq!(remove(at(1), 10).await, 0);
    assert_eq!(remove(at(3), 1).await, 1);
    assert_eq!(numbers(&store, at(0), AuditPlace::END).await, [3, 2]);
    assert_eq!(remove(at(3), 10).await, 1);
    assert_eq!(remove(at(3), 10).await, 0);
    assert_eq!(numbers(&store, at(0), AuditPlace::END).await, [3]);
    // A place is never used again.
    let before = list(&store, at(0), AuditPlace::END).await[0].place;
    assert_eq!(remove(at(4), 10).await, 1);
    append(&store, &[event(4, 3)]).await;
    let after = list(&store, at(0), AuditPlace::END).await[0].place;
    assert!(after > before, "{after} after {before}");
}
