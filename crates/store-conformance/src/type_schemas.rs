//! Schemas from the CloudFormation registry.

use ucp_model::{Scope, TypeName};
use ucp_store::TypeSchema;

use super::fixture::*;

fn report() -> TypeName {
    TypeName::from_cloudformation("Initech::TPS::Report").unwrap()
}

fn place(account: &str, region: &str) -> Scope {
    Scope::new("aws", account, region).unwrap()
}

fn schema(fingerprint: &str, second: i64) -> TypeSchema {
    TypeSchema {
        text: format!("{{\"é\": \"{fingerprint}\"}}"),
        fingerprint: fingerprint.to_owned(),
        is_provisioned: true,
        fetched_at: at(second),
    }
}

async fn remember(store: &Engine, scope: &Scope, schema: &TypeSchema) {
    store
        .put_type_schema(scope, &report(), schema.clone())
        .await
        .unwrap();
}

async fn current(store: &Engine, scope: &Scope) -> Option<TypeSchema> {
    store.get_type_schema(scope, &report(), None).await.unwrap()
}

/// A schema is found only in its account and region, by any casing of the type name.
pub async fn a_type_schema_belongs_to_an_account_and_a_region(store: Engine) {
    let here = place("1234", "us-west-2");
    assert_eq!(current(&store, &here).await, None);
    let one = schema("one", 1);
    remember(&store, &here, &one).await;
    let shouted = TypeName::from_cloudformation("INITECH::tps::report").unwrap();
    let elsewhere = Scope::new("other", "1234", "us-west-2").unwrap();
    let found = store.get_type_schema(&elsewhere, &shouted, None).await;
    assert_eq!(found.unwrap(), Some(one));
    assert_eq!(current(&store, &place("1234", "us-east-1")).await, None);
    assert_eq!(current(&store, &place("5678", "us-west-2")).await, None);
    let other = TypeName::from_cloudformation("Initech::TPS::Reports").unwrap();
    let found = store.get_type_schema(&here, &other, None).await;
    assert_eq!(found.unwrap(), None);
}

/// The schema fetched last is the current one, even if it was current before.
pub async fn the_type_schema_fetched_last_is_current(store: Engine) {
    let here = place("1234", "us-west-2");
    for expected in [
        schema("one", 1),
        schema("two", 2),
        schema("one", 3),
        TypeSchema {
            is_provisioned: false,
            ..schema("one", 4)
        },
    ] {
        remember(&store, &here, &expected).await;
        assert_eq!(current(&store, &here).await, Some(expected));
    }
    let gone = store.get_type_schema(&here, &report(), Some("two")).await;
    assert_eq!(gone.unwrap(), None);
}

/// The schema that a live operation was validated with is kept.
pub async fn a_type_schema_stays_while_a_live_operation_needs_it(store: Engine) {
    with_group(&store, "rg").await;
    let here = place("1234", "us-west-2");
    let one = schema("one", 1);
    remember(&store, &here, &one).await;
    let new = with(put(1, "a"), |new| new.schema_fingerprint = "one".to_owned());
    let claimed = accept_and_claim(&store, new).await;
    remember(&store, &here, &schema("two", 2)).await;
    let kept = store.get_type_schema(&here, &report(), Some("one")).await;
    assert_eq!(kept.unwrap(), Some(one));
    assert_eq!(current(&store, &here).await, Some(schema("two", 2)));

    let end = applied(&claimed.operation, "x", true);
    finish(&store, &claimed.lease, end).await;
    remember(&store, &here, &schema("three", 3)).await;
    for gone in ["one", "two"] {
        let found = store.get_type_schema(&here, &report(), Some(gone)).await;
        assert_eq!(found.unwrap(), None, "{gone}");
    }
}
