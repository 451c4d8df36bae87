use serde_json::json;
use ucp_schema::Catalogue;
use ucp_simulator::faults::Fault;
use ucp_simulator::{ListResources, LogEntry, Outcome, Profile, World};

use crate::aws::{Aws, LOG_GROUP, VPC, create, delete, update};

fn with(profile: Profile) -> Aws {
    let mut aws = Aws::new();
    aws.world = World::new(Catalogue::embedded(), profile.settings());
    for fault in profile.faults() {
        aws.world.add_fault(fault);
    }
    aws
}

/// Makes some calls, and returns what was answered.
fn day(profile: Profile) -> (Vec<Outcome>, Vec<LogEntry>) {
    let mut aws = with(profile);
    let mut outcomes = Vec::new();
    let patch = json!([{"op": "add", "path": "/RetentionInDays", "value": 7}]);
    for number in 0..40 {
        let name = format!("g{number}");
        let calls = [
            create(LOG_GROUP, &json!({"LogGroupName": name})),
            create(VPC, &json!({"CidrBlock": "10.0.0.0/16"})),
            update(LOG_GROUP, &name, &patch),
            delete(LOG_GROUP, &name),
        ];
        for call in &calls {
            outcomes.push(aws.step(call));
            aws.pass(std::time::Duration::from_secs(2));
            let list = ListResources {
                type_name: VPC.to_owned(),
                ..ListResources::default()
            };
            outcomes.push(aws.step(&ucp_simulator::Request::ListResources(list)));
        }
    }
    let log = aws.world.log().cloned().collect();
    (outcomes, log)
}

#[test]
fn a_day_is_the_same_with_the_same_seed() {
    for profile in [Profile::Honest, Profile::Realistic, Profile::BadDay] {
        assert_eq!(day(profile), day(profile), "{profile:?}");
    }
    let words = |profile| -> std::collections::BTreeSet<&str> {
        let (_, log) = day(profile);
        log.into_iter().map(|entry| entry.outcome).collect()
    };
    assert!(words(Profile::BadDay).contains("dropped"));
    assert!(!words(Profile::Realistic).contains("dropped"));
}

#[test]
fn an_honest_aws_has_no_faults_and_each_fault_of_the_others_is_data() {
    assert!(Profile::Honest.faults().is_empty());
    let everyday = Profile::Realistic.faults();
    let bad = Profile::BadDay.faults();
    assert!(bad.starts_with(&everyday));
    for fault in bad {
        let document = serde_json::to_string(&fault).unwrap();
        let read: Fault = serde_json::from_str(&document).unwrap();
        assert_eq!(read, fault);
    }
}

#[test]
fn a_realistic_aws_has_a_quota_and_does_not_say_when_to_poll() {
    let mut aws = with(Profile::Realistic);
    let request = create(VPC, &json!({"CidrBlock": "10.0.0.0/16"}));
    for _ in 0..5 {
        assert_eq!(aws.change(&request).unwrap().retry_after, None);
    }
    let throttled = aws.change(&request).unwrap_err();
    assert_eq!(throttled.code.as_str(), "ThrottlingException");
}
