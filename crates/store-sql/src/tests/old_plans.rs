//! Plans that an earlier version kept.

use ucp_model::Timestamp;
use ucp_store::{KeptPlans as _, PlansOf};

use super::upgraded;
use crate::Sql;

/// Plans as in version 30: one was approved, one rejected, one used; one nobody has relied on.
const OLD_PLANS: &str = r#"INSERT INTO plans (id, plane, created_by, created_at, expires_at, fingerprint, course, over_at, content)
    VALUES
        ('00000000-0000-0000-0000-000000000001', 'local', 'ann', 1, 9, '',
            '{"approvals":[{"by":"bob","at":2}],"rejection":null,"changing":[0],"uses":[]}', 9, NO_BYTES),
        ('00000000-0000-0000-0000-000000000002', 'local', 'ann', 1, 9, '',
            '{"approvals":[],"rejection":{"by":"bob","at":2},"changing":[0],"uses":[]}', 2, NO_BYTES),
        ('00000000-0000-0000-0000-000000000003', 'local', 'ann', 1, 9, '',
            '{"approvals":[],"rejection":null,"changing":[0],"uses":[{"member":null,"operation":"6f1b0a6e-7f39-4b27-9f6a-3f4e5a6b7c8d","end":{"at":3,"status":"Applied"}}]}', 3, NO_BYTES),
        ('00000000-0000-0000-0000-000000000004', 'local', 'ann', 1, 9, '',
            '{"approvals":[],"rejection":null,"changing":[0,1],"uses":[]}', 9, NO_BYTES)"#;

#[tokio::test]
async fn plans_of_earlier_versions_that_were_relied_on_stay() {
    let (sqlite, _folder, postgres) = upgraded(30, OLD_PLANS).await;
    old_plans_stay(sqlite).await;
    if let Some((postgres, _database)) = postgres {
        old_plans_stay(postgres).await;
    }
}

async fn old_plans_stay(store: Sql) {
    let of = PlansOf {
        caller: "ann",
        group: None,
    };
    let removed = store
        .remove_plans_of(of, Timestamp::from_millis(10), 0)
        .await;
    assert_eq!(removed.unwrap(), 1);
    for number in 1..=4 {
        let id = format!("{number:032x}").parse().unwrap();
        let found = store.get_plan(id).await.unwrap();
        assert_eq!(found.is_some(), number != 4, "{number}: {found:?}");
        assert!(found.is_none_or(|found| found.plan.is_relied_on() && found.units == 16));
    }
}
