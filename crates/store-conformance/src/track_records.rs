//! How good the plans of the puts of each type were.

use std::sync::Arc;

use ucp_model::TrackRecord;
use ucp_model::operation::Prediction;
use ucp_store::holding::Hold;
use ucp_store::{Claimed, FinishOperation};

use super::fixture::*;
use super::racing::Database;

/// The end of a put whose plan was exact, or was not.
fn predicted(claimed: &Claimed, resource: &str, is_exact: bool) -> FinishOperation {
    let end = applied(&claimed.operation, resource, false);
    let prediction = Prediction {
        exact: is_exact,
        confirmed: 1,
        differences: Vec::new(),
        unreadable: Vec::new(),
    };
    FinishOperation {
        operation: stepped(&end.operation, |work| work.prediction = Some(prediction)),
        ..end
    }
}

/// Puts an alias, from start to end.
async fn put_exactly(store: &Engine, number: u64, is_exact: bool) {
    let name = format!("alias-{number}");
    let claimed = accept_and_claim(store, put(number, &name)).await;
    finish(store, &claimed.lease, predicted(&claimed, &name, is_exact)).await;
}

/// The same with a type of this name.
async fn put_of_type(store: &Engine, number: u64, type_name: &str) {
    let name = format!("alias-{number}");
    let type_name = ucp_model::TypeName::from_cloudformation(type_name).unwrap();
    let claimed = accept_and_claim(store, put(number, &name)).await;
    let end = predicted(&claimed, &name, true);
    let operation = stepped(&end.operation, |work| work.type_name = type_name);
    finish(store, &claimed.lease, FinishOperation { operation, ..end }).await;
}

fn record(applies: u64, exact: u64) -> TrackRecord {
    TrackRecord {
        type_name: type_name(),
        applies,
        exact,
    }
}

async fn records(store: &Engine) -> Vec<TrackRecord> {
    let listed = store.list_track_records("AWS", None, 10).await.unwrap();
    let types = [type_name(), type_name()];
    let found = store.get_track_records("aws", &types);
    assert_eq!(found.await.unwrap(), listed);
    listed
}

/// What sent nothing has none.
pub async fn a_prediction_is_part_of_the_track_record(store: Engine) {
    with_group(&store, "rg").await;
    assert_eq!(records(&store).await, []);
    map(&store, 1, "unpredicted", "resource", false).await;
    assert_eq!(records(&store).await, []);
    put_exactly(&store, 2, true).await;
    assert_eq!(records(&store).await, [record(1, 1)]);
    put_exactly(&store, 3, false).await;
    assert_eq!(records(&store).await, [record(2, 1)]);
    let elsewhere = store.list_track_records("other", None, 10).await.unwrap();
    assert_eq!(elsewhere, []);
}

/// That what is noted is added up changes no track record.
pub async fn what_was_predicted_is_counted_once(store: Engine) {
    with_group(&store, "rg").await;
    for number in 1..=5 {
        put_exactly(&store, number, number != 3).await;
    }
    while store.count_predictions(2).await.unwrap() > 0 {
        assert_eq!(records(&store).await, [record(5, 4)]);
    }
    put_exactly(&store, 6, false).await;
    assert_eq!(records(&store).await, [record(6, 4)]);
    store.count_predictions(10).await.unwrap();
    assert_eq!(store.count_predictions(10).await.unwrap(), 0);
    assert_eq!(records(&store).await, [record(6, 4)]);
}

/// Some of them are added up, and others are not.
pub async fn track_records_are_listed_by_page(store: Engine) {
    with_group(&store, "rg").await;
    for (number, name) in [
        (1, "AWS::EC2::VPC"),
        (2, "AWS::S3::Bucket"),
        (3, "AWS::A2::Z"),
    ] {
        put_of_type(&store, number, name).await;
    }
    store.count_predictions(10).await.unwrap();
    for (number, name) in [(4, "aws::s3::bucket"), (5, "AWS::EC2::Subnet")] {
        put_of_type(&store, number, name).await;
    }
    let mut told = Vec::new();
    let mut after = None;
    loop {
        let page = store.list_track_records("aws", after.as_ref(), 2);
        let page = page.await.unwrap();
        let Some(last) = page.last() else {
            break;
        };
        after = Some(last.type_name.clone());
        let counts = |record: &TrackRecord| (record.type_name.to_string(), record.applies);
        told.extend(page.iter().map(counts));
    }
    let expected = [
        "AWS::A2::Z",
        "AWS::EC2::Subnet",
        "AWS::EC2::VPC",
        "AWS::S3::Bucket",
    ];
    let expected = expected.map(|name| (name.to_owned(), 1 + u64::from(name.contains("S3"))));
    assert_eq!(told, expected);
}

/// An operation ends while another one of its type is about to commit its end.
pub async fn ends_of_one_type(store: Engine, database: &dyn Database) {
    if database.is_anyone_waiting().await {
        // It runs one transaction at a time.
        return;
    }
    with_group(&store, "rg").await;
    let claimed = accept_and_claim(&store, put(1, "alias-1")).await;
    let counting = Hold::nowhere();
    let end = finish(&store, &claimed.lease, predicted(&claimed, "alias-1", true));
    Arc::clone(&counting).over(end).await;
    let claimed = accept_and_claim(&store, put(2, "alias-2")).await;
    let end = predicted(&claimed, "alias-2", true);
    let held = Hold::before(counting.passed() - 1);
    let holding = tokio::spawn({
        let (store, held) = (Arc::clone(&store), Arc::clone(&held));
        async move { held.over(store.finish_operation(&claimed.lease, end)).await }
    });
    held.reached().await;
    let claimed = accept_and_claim(&store, put(3, "alias-3")).await;
    // It would fail if it waited: nobody releases the other one meanwhile.
    finish(&store, &claimed.lease, predicted(&claimed, "alias-3", true)).await;
    held.release();
    holding.await.unwrap().unwrap();
    assert_eq!(records(&store).await, [record(3, 3)]);
}
