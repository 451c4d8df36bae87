//! Operations that began to wait for a request under an earlier version.

use ucp_model::{OperationId, Timestamp};
use ucp_store::Watches as _;

use super::upgraded;
use crate::Sql;

/// An operation as in version 46, which does not say by when it asks itself.
const OLD_WAIT: &str = "INSERT INTO operations (id, kind, status, schema_fingerprint, accepted_at, due_at, body, generation,
        scope_key, request_key)
    VALUES ('00000000-0000-0000-0000-000000000001', 'put', 'Provisioning', '', 1, 100, '{}', 1, 'scope', 'scope/request')";

#[tokio::test]
async fn what_waits_under_an_earlier_version_is_not_put_off() {
    let (sqlite, _folder, postgres) = upgraded(46, OLD_WAIT).await;
    it_is_not_put_off(sqlite).await;
    if let Some((postgres, _database)) = postgres {
        it_is_not_put_off(postgres).await;
    }
}

async fn it_is_not_put_off(store: Sql) {
    let id: OperationId = format!("{:032x}", 1).parse().unwrap();
    for (due_at, changed, expected) in [(200, 0, 100), (50, 1, 50), (300, 0, 50)] {
        let (now, due_at) = (Timestamp::from_millis(10), Timestamp::from_millis(due_at));
        let rescheduled = store.reschedule_waiting(&[id], now, due_at).await;
        assert_eq!(rescheduled.unwrap(), changed);
        let waiting = store.list_waiting_operations("scope", None, 9).await;
        let due: Vec<_> = waiting.unwrap().iter().map(|it| it.due_at).collect();
        assert_eq!(due, [Timestamp::from_millis(expected)]);
    }
}
