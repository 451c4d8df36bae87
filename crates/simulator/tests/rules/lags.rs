use std::time::Duration;

use serde_json::{Value, json};
use ucp_simulator::faults::{Effect, Fault, fault};
use ucp_simulator::{Action, ExceptionCode, ListResources};

use crate::aws::{Aws, LOG_GROUP, VPC, create, delete, update};

const SECOND: Duration = Duration::from_secs(1);

fn lag(least_millis: u64, most_millis: u64) -> Fault {
    among(1, least_millis, most_millis)
}

fn among(replicas: u8, least_millis: u64, most_millis: u64) -> Fault {
    fault(Effect::Lag {
        least_millis,
        most_millis,
        replicas,
    })
}

/// The retention that a read shows. `None` if the log group is not found.
fn retention(aws: &mut Aws, name: &str) -> Option<Value> {
    match aws.get(LOG_GROUP, name) {
        Ok(model) => Some(model["RetentionInDays"].clone()),
        Err(refused) => {
            assert_eq!(refused.code, ExceptionCode::ResourceNotFound);
            None
        }
    }
}

fn listed(aws: &mut Aws) -> Vec<String> {
    let list = ListResources {
        type_name: LOG_GROUP.to_owned(),
        ..ListResources::default()
    };
    aws.list(&list).unwrap().0
}

fn set(aws: &mut Aws, days: u32) {
    let patch = json!([{"op": "add", "path": "/RetentionInDays", "value": days}]);
    aws.succeed(&update(LOG_GROUP, "a", &patch));
}

#[test]
fn reads_lag_behind_creates_updates_and_deletes() {
    let mut aws = Aws::new();
    aws.succeed(&create(LOG_GROUP, &json!({"LogGroupName": "b"})));
    aws.world.add_fault(lag(10_000, 10_000));
    // Each change ends within a second.
    let declared = json!({"LogGroupName": "a", "RetentionInDays": 1});
    aws.succeed(&create(LOG_GROUP, &declared));
    assert_eq!(retention(&mut aws, "a"), None);
    assert_eq!(listed(&mut aws), ["b"]);
    aws.pass(10 * SECOND);
    assert_eq!(retention(&mut aws, "a"), Some(json!(1)));
    assert_eq!(listed(&mut aws), ["a", "b"]);

    set(&mut aws, 7);
    assert_eq!(retention(&mut aws, "a"), Some(json!(1)));
    aws.pass(10 * SECOND);
    assert_eq!(retention(&mut aws, "a"), Some(json!(7)));

    aws.finish(&delete(LOG_GROUP, "a"));
    assert_eq!(retention(&mut aws, "a"), Some(json!(7)));
    assert_eq!(listed(&mut aws), ["a", "b"]);
    assert_eq!(aws.world.resources(aws.now, &aws.entropy).len(), 1);
    aws.pass(10 * SECOND);
    assert_eq!(retention(&mut aws, "a"), None);
    assert_eq!(listed(&mut aws), ["b"]);
}

#[test]
fn reads_lag_behind_changes_out_of_band() {
    let mut aws = Aws::new();
    let declared = json!({"LogGroupName": "a", "RetentionInDays": 1});
    aws.succeed(&create(LOG_GROUP, &declared));
    aws.world.add_fault(lag(10_000, 10_000));
    let place = (LOG_GROUP, "a");
    let (now, patch) = (aws.now, json!({"RetentionInDays": 7}));
    let patched = aws
        .world
        .patch_out_of_band(None, None, place, &patch, now, &aws.entropy);
    assert_eq!(patched.unwrap().properties["RetentionInDays"], 7);
    assert_eq!(retention(&mut aws, "a"), Some(json!(1)));
    aws.pass(5 * SECOND);
    let now = aws.now;
    aws.world
        .delete_out_of_band(None, None, place, now, &aws.entropy)
        .unwrap();
    assert_eq!(retention(&mut aws, "a"), Some(json!(1)));
    aws.pass(5 * SECOND);
    assert_eq!(retention(&mut aws, "a"), Some(json!(7)));
    aws.pass(5 * SECOND);
    assert_eq!(retention(&mut aws, "a"), None);
}

/// Reads the log group every 100 ms while it is created and changed, and checks that no read is more than `most` behind.
/// Returns the retentions that the reads showed.
fn watched(aws: &mut Aws, most: Duration) -> Vec<u64> {
    let mut made: Vec<(u64, ucp_model::Timestamp)> = Vec::new();
    let mut shown = Vec::new();
    for days in [1, 3, 5, 7, 14] {
        if days == 1 {
            aws.succeed(&create(
                LOG_GROUP,
                &json!({"LogGroupName": "a", "RetentionInDays": 1}),
            ));
        } else {
            set(aws, days);
        }
        made.push((u64::from(days), aws.now));
        for _ in 0..10 {
            let seen = retention(aws, "a").map_or(0, |days| days.as_u64().unwrap());
            let settled = made.iter().rev().find(|(_, at)| aws.now.since(*at) >= most);
            let oldest = settled.map_or(0, |(days, _)| *days);
            assert!(seen >= oldest, "{seen} shown, {oldest} at least");
            shown.push(seen);
            aws.pass(Duration::from_millis(100));
        }
    }
    shown
}

#[test]
fn reads_that_all_lag_never_go_back_in_time() {
    let mut aws = Aws::new();
    aws.world.add_fault(lag(500, 4_000));
    let shown = watched(&mut aws, 4 * SECOND);
    assert!(shown.is_sorted(), "{shown:?}");
    assert!(shown.contains(&0) && shown.contains(&3), "{shown:?}");
}

#[test]
fn reads_that_lag_sometimes_go_back_in_time() {
    let mut aws = Aws::new();
    aws.world.add_fault(lag(500, 4_000).with_probability(0.5));
    let shown = watched(&mut aws, 4 * SECOND);
    assert!(!shown.is_sorted(), "{shown:?}");
}

#[test]
fn reads_of_several_replicas_go_back_in_time() {
    let mut aws = Aws::new();
    aws.world.add_fault(among(3, 500, 4_000));
    let shown = watched(&mut aws, 4 * SECOND);
    assert!(!shown.is_sorted(), "{shown:?}");
}

#[test]
fn lists_and_reads_lag_apart_and_each_resource_by_itself() {
    let mut aws = Aws::new();
    aws.world.add_fault(among(1, 1_000, 10_000));
    let names: Vec<String> = (0..10).map(|number| format!("g{number}")).collect();
    let tokens: Vec<String> = names
        .iter()
        .map(|name| create(LOG_GROUP, &json!({"LogGroupName": name})))
        .map(|request| aws.change(&request).unwrap().request_token)
        .collect();
    aws.pass(SECOND);
    for token in tokens {
        aws.status(&token).unwrap();
    }
    let mut seen = std::collections::BTreeSet::new();
    let mut is_partial = false;
    for _ in 0..100 {
        let listed = listed(&mut aws);
        for name in &names {
            seen.insert((listed.contains(name), retention(&mut aws, name).is_some()));
        }
        is_partial |= !listed.is_empty() && listed.len() < names.len();
        aws.pass(SECOND / 10);
    }
    // A list shows what a read does not, and the other way round.
    assert_eq!(seen.len(), 4, "{seen:?}");
    assert!(is_partial);
    assert_eq!(listed(&mut aws), names);
}

#[test]
fn only_matching_reads_lag_and_only_those_that_show_something_older_count() {
    let mut aws = Aws::new();
    aws.world.add_fault(
        lag(60_000, 60_000)
            .of_type(LOG_GROUP)
            .on(Action::GetResource)
            .times(2),
    );
    let vpc = aws.succeed(&create(VPC, &json!({"CidrBlock": "10.0.0.0/16"})));
    assert!(aws.get(VPC, &vpc).is_ok());
    assert_eq!(retention(&mut aws, "other"), None);
    aws.succeed(&create(LOG_GROUP, &json!({"LogGroupName": "a"})));
    assert_eq!(listed(&mut aws), ["a"]);
    let found = [(); 4].map(|()| retention(&mut aws, "a").is_some());
    assert_eq!(found, [false, false, true, true]);
}

#[test]
fn a_lag_hides_only_what_changes_while_it_is_there() {
    let mut aws = Aws::new();
    aws.succeed(&create(
        LOG_GROUP,
        &json!({"LogGroupName": "a", "RetentionInDays": 1}),
    ));
    aws.world.add_fault(lag(60_000, 60_000));
    assert_eq!(retention(&mut aws, "a"), Some(json!(1)));
    set(&mut aws, 7);
    assert_eq!(retention(&mut aws, "a"), Some(json!(1)));
    aws.world.clear_faults();
    assert_eq!(retention(&mut aws, "a"), Some(json!(7)));
    aws.world.add_fault(lag(60_000, 60_000));
    assert_eq!(retention(&mut aws, "a"), Some(json!(7)));
}
