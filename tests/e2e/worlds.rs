//! Seeded worlds (D15, D29, D31, D52): what `ucp_testkit::worlds` draws, over each store. `docs/reliability.md` says how to run
//! many, and how to run one again.

use ucp_model::CallClass;
use ucp_testkit::worlds::{Plant, Story, replay, tell};

// `tests/nightly` tells more.
ucp_testkit::seeded_worlds! {
    memory_1: Memory 0..125;
    memory_2: Memory 125..250;
    memory_3: Memory 250..375;
    memory_4: Memory 375..500;
    sqlite: Sqlite 2_000..2_002;
    postgres: Postgres 2_009..2_011;
}

/// A create fails, names nothing and has made a log group, which reads show late (found by seed 652).
#[test]
fn what_a_failed_create_of_a_name_has_made_is_not_given_up_after_one_look() {
    replay(
        r#"{
  "seed": 652, "aheadMs": [-360], "weave": 50,
  "faults": [
    {"match":{},"probability":1.0,"effect":{"kind":"lag","leastMillis":669,"mostMillis":8899}},
    {"match":{"operation":"CreateResource"},"probability":0.2,"effect":{"kind":"fail","errorCode":"ResourceConflict","message":"","identifier":"hidden","change":"notMade"}},
    {"match":{"operation":"CreateResource"},"probability":0.2,"effect":{"kind":"fail","errorCode":"NotStabilized","message":"","identifier":"hidden","change":"made"}},
    {"match":{"operation":"CreateResource"},"probability":0.2,"effect":{"kind":"fail","errorCode":"NotFound","message":"","identifier":"hidden","change":"notMade"}}
  ],
  "acts": [
    {"ask":{"what":{"put":{"alias":"other/s1","properties":{"Name":"another","SecretString":"a"},"owned":false}},"by":0,"way":"toTheEnd"}},
    {"ask":{"what":{"put":{"alias":"l3","properties":{"LogGroupName":"one","RetentionInDays":14},"owned":false}},"by":0,"way":"toTheEnd"}}
  ]
}"#,
    );
}

/// A create of unknown outcome, whose log group an import does not find since AWS is still making it (found by seed 5635).
#[test]
fn an_import_that_finds_nothing_does_not_take_the_name_from_an_undecided_create() {
    replay(
        r#"{
  "seed": 5635, "aheadMs": [28], "weave": 50,
  "faults": [
    {"match":{"operation":"CreateResource"},"probability":0.2,"effect":{"kind":"fail","errorCode":"ServiceTimeout","message":"","identifier":"hidden","change":"notMade"}},
    {"match":{"operation":"CreateResource"},"probability":0.2,"effect":{"kind":"refuse","exception":"ClientTokenConflictException","message":""}},
    {"match":{"operation":"CreateResource"},"probability":0.2,"effect":{"kind":"dropReply"}}
  ],
  "acts": [
    {"ask":{"what":{"put":{"alias":"l3","properties":{"LogGroupName":"one","RetentionInDays":7},"owned":false}},"by":0,"way":"toTheEnd"}},
    {"ask":{"what":{"import":{"alias":"l3","place":4,"owned":true}},"by":0,"way":"toTheEnd"}}
  ]
}"#,
    );
}

/// An alias that owns nothing is put while its resource, which another alias owns, vanishes (found by seed 176575).
#[test]
fn what_is_created_in_place_of_a_lost_resource_is_not_forgotten() {
    replay(
        r#"{
  "seed": 176575, "aheadMs": [0], "weave": 0,
  "faults": [],
  "acts": [
    {"ask":{"what":{"put":{"alias":"v2","properties":{"CidrBlock":"10.2.0.0/16"},"owned":false}},"by":0,"way":"toTheEnd"}},
    {"ask":{"what":{"import":{"alias":"imported","place":4,"owned":false}},"by":0,"way":"toTheEnd"}},
    {"ask":{"what":{"put":{"alias":"imported","properties":{"Tags":[{"Key":"team","Value":"net"}]},"owned":false}},"by":0,"way":"meanwhile"}},
    {"vanish":8},
    "settle",
    {"ask":{"what":{"forget":"imported"},"by":0,"way":"toTheEnd"}}
  ]
}"#,
    );
}

/// A watch sees that a request is in flight, which AWS never ends. Its operation is to cancel it in the end (found by seed 2321).
#[test]
fn a_watched_request_that_takes_too_long_is_cancelled() {
    replay(
        r#"{
  "seed": 2321, "aheadMs": [0], "weave": 50, "pace": "unpaced",
  "faults": [
    {"match":{"operation":"CreateResource"},"probability":0.1,"effect":{"kind":"stayPending","cancel":"accepted"}},
    {"match":{},"probability":1.0,"effect":{"kind":"delay","leastMillis":1,"mostMillis":3474}},
    {"match":{},"probability":0.02,"effect":{"kind":"hang","carriedOut":false}}
  ],
  "acts": [
    {"ask":{"what":{"put":{"alias":"imported","properties":{"Tags":[{"Key":"team","Value":"net"}]},"owned":false}},"by":0,"way":"meanwhile"}},
    {"ask":{"what":{"putByName":{"name":"one","properties":{"RetentionInDays":14}}},"by":0,"way":"waiting"}},
    {"ask":{"what":{"apply":{"tag":"b","subnet":true}},"by":0,"way":"toTheEnd"}}
  ]
}"#,
    );
}

/// An import names what a create of unknown outcome has made, and does not say that it is to be owned (found by seed 162705).
#[test]
fn an_import_owns_what_the_undecided_create_has_made() {
    replay(
        r#"{
  "seed": 162705, "aheadMs": [0], "weave": 0, "pace": "ceilings",
  "faults": [
    {"match":{},"probability":1.0,"effect":{"kind":"lag","leastMillis":58,"mostMillis":14857}},
    {"match":{},"probability":0.15,"effect":{"kind":"refuse","exception":"ThrottlingException","message":""}},
    {"match":{},"probability":0.1,"effect":{"kind":"dropReply"}},
    {"match":{"operation":"GetResource"},"probability":0.3,"effect":{"kind":"refuse","exception":"ResourceNotFoundException","message":""}},
    {"match":{"operation":"CreateResource"},"probability":0.2,"effect":{"kind":"fail","errorCode":"ServiceTimeout","message":"","identifier":"hidden","change":"made"}},
    {"match":{"operation":"CreateResource"},"probability":0.2,"effect":{"kind":"fail","errorCode":"ServiceTimeout","message":"","identifier":"hidden","change":"notMade"}},
    {"match":{"operation":"CreateResource"},"probability":0.2,"effect":{"kind":"refuse","exception":"ClientTokenConflictException","message":""}},
    {"match":{"operation":"CreateResource"},"probability":0.2,"effect":{"kind":"dropReply"}}
  ],
  "acts": [
    {"ask":{"what":{"put":{"alias":"l3","properties":{"LogGroupName":"one"},"owned":false}},"by":0,"way":"meanwhile"}},
    {"ask":{"what":{"put":{"alias":"other/v1","properties":{"CidrBlock":"10.3.0.0/16","Tags":[{"Key":"team","Value":"net"}]},"owned":false}},"by":0,"way":"toTheEnd"}},
    {"ask":{"what":{"apply":{"tag":"a","subnet":true}},"by":0,"way":"notWaiting"}},
    {"ask":{"what":{"put":{"alias":"l3","properties":{"LogGroupName":"one","RetentionInDays":14},"owned":false}},"by":0,"way":"meanwhile"}},
    {"vanish":7},
    {"ask":{"what":{"put":{"alias":"other/v1","properties":{"CidrBlock":"10.3.0.0/16","Tags":[{"Key":"team","Value":"net"}]},"owned":false}},"by":0,"way":"toTheEnd"}},
    {"ask":{"what":{"import":{"alias":"l3","place":9,"owned":false}},"by":0,"way":"toTheEnd"}},
    {"ask":{"what":{"forget":"l3"},"by":0,"way":"toTheEnd"}}
  ]
}"#,
    );
}

/// A read that did not stabilize said that nothing was made (found by seed 661753).
#[test]
fn a_new_resource_is_read_again_after_a_read_that_did_not_stabilize() {
    replay(
        r#"{
  "seed": 661753, "aheadMs": [0], "weave": 20, "pace": "ceilings",
  "faults": [
    {"match":{},"probability":0.3,"effect":{"kind":"refuse","exception":"NotStabilizedException","message":""}},
    {"match":{"operation":"CreateResource"},"probability":0.3,"effect":{"kind":"runTwice"}}
  ],
  "acts": [
    {"ask":{"what":{"put":{"alias":"l3","properties":{"LogGroupName":"one","RetentionInDays":14},"owned":false}},"by":0,"way":"meanwhile"}},
    {"ask":{"what":{"putByName":{"name":"three","properties":{}}},"by":0,"way":"waiting"}},
    {"ask":{"what":{"putByName":{"name":"three","properties":{}}},"by":0,"way":"toTheEnd"}}
  ]
}"#,
    );
}

/// A read that did not stabilize said that a failed create had left something (found by seed 729433).
#[test]
fn nothing_is_believed_of_a_failed_create_after_a_read_that_did_not_stabilize() {
    replay(
        r#"{
  "seed": 729433, "aheadMs": [0], "weave": 0, "pace": "unpaced",
  "faults": [
    {"match":{},"probability":0.3,"effect":{"kind":"refuse","exception":"NotStabilizedException","message":""}},
    {"match":{"operation":"CreateResource"},"probability":0.2,"effect":{"kind":"fail","errorCode":"Throttling","message":"","identifier":"revealed","change":"notMade"}}
  ],
  "acts": [
    {"ask":{"what":{"put":{"alias":"s1","properties":{"Name":"secret","SecretString":"a"},"owned":false}},"by":0,"way":"toTheEnd"}},
    {"ask":{"what":{"put":{"alias":"s1","properties":{"Name":"secret","SecretString":"a"},"owned":false}},"by":0,"way":"toTheEnd"}},
    {"ask":{"what":{"apply":{"tag":"b","subnet":true}},"by":0,"way":"toTheEnd"}}
  ]
}"#,
    );
}

/// AWS refuses a create because of what it has made, while a delete by name works on that one (found by seed 517423).
#[test]
fn what_a_refused_create_names_waits_for_its_other_operation() {
    replay(
        r#"{
  "seed": 517423, "aheadMs": [0], "weave": 50, "pace": "unpaced",
  "faults": [
    {"match":{},"probability":0.15,"effect":{"kind":"refuse","exception":"ThrottlingException","message":""}},
    {"match":{"operation":"CreateResource"},"probability":0.2,"effect":{"kind":"fail","errorCode":"ServiceInternalError","message":"","identifier":"hidden","change":"notMade"}},
    {"match":{"operation":"CreateResource"},"probability":0.2,"effect":{"kind":"fail","errorCode":"AlreadyExists","message":"","identifier":"revealed","change":"made"}}
  ],
  "acts": [
    {"ask":{"what":{"put":{"alias":"v2","properties":{"CidrBlock":"10.2.0.0/16","EnableDnsSupport":false,"Tags":[{"Key":"team","Value":"net"}]},"owned":false}},"by":0,"way":"waiting"}},
    {"pass":51200},
    {"ask":{"what":{"deleteVpc":0},"by":0,"way":"notWaiting"}}
  ]
}"#,
    );
}

/// An update has no answer and stays pending, and its log group vanishes (found by seed 604243).
#[test]
fn an_update_of_unknown_outcome_is_not_left_in_flight() {
    replay(
        r#"{
  "seed": 604243, "aheadMs": [-206], "weave": 20, "pace": "ceilings",
  "faults": [
    {"match":{},"probability":1.0,"effect":{"kind":"lag","leastMillis":343,"mostMillis":589,"replicas":3}},
    {"match":{"operation":"UpdateResource"},"probability":0.1,"effect":{"kind":"stayPending","cancel":"accepted"}}
  ],
  "acts": [
    {"ask":{"what":{"import":{"alias":"imported","place":1,"owned":false}},"by":0,"way":"toTheEnd"}},
    {"ask":{"what":{"put":{"alias":"l2","properties":{"LogGroupName":"two","RetentionInDays":7},"owned":false}},"by":0,"way":"toTheEnd"}},
    {"ask":{"what":{"put":{"alias":"imported","properties":{"EnableDnsSupport":true,"Tags":[{"Key":"team","Value":"net"}]},"owned":false}},"by":0,"way":"waiting"}},
    {"stall":{"of":0,"after":11}},
    {"vanish":8},
    {"ask":{"what":{"put":{"alias":"l2","properties":{"LogGroupName":"two","RetentionInDays":14},"owned":false}},"by":0,"way":"toTheEnd"}},
    {"change":7}
  ]
}"#,
    );
}

/// An update has no answer and stays pending, and the next send of the same is refused (found by seed 470544).
#[test]
fn an_update_is_followed_although_its_next_send_is_refused() {
    replay(
        r#"{
  "seed": 470544, "aheadMs": [-357], "weave": 0, "pace": "unpaced",
  "faults": [
    {"match":{},"probability":0.1,"effect":{"kind":"refuse","exception":"NotStabilizedException","message":""}},
    {"match":{"operation":"UpdateResource"},"probability":0.3,"effect":{"kind":"stayPending","cancel":"accepted"}}
  ],
  "acts": [
    {"ask":{"what":{"put":{"alias":"l1","properties":{"LogGroupName":"one","RetentionInDays":14},"owned":false}},"by":0,"way":"meanwhile"}},
    {"ask":{"what":{"put":{"alias":"other/s1","properties":{"Name":"another","SecretString":"a"},"owned":false}},"by":0,"way":"toTheEnd"}},
    {"ask":{"what":{"put":{"alias":"l1","properties":{"LogGroupName":"one","RetentionInDays":14},"owned":false}},"by":0,"way":"toTheEnd"}},
    {"ask":{"what":{"put":{"alias":"l1","properties":{"LogGroupName":"one","RetentionInDays":14},"owned":false}},"by":0,"way":"toTheEnd"}},
    {"ask":{"what":{"put":{"alias":"s1","properties":{"Name":"secret","SecretString":"b"},"owned":false}},"by":0,"way":"toTheEnd"}},
    {"ask":{"what":{"put":{"alias":"other/s1","properties":{"Name":"another","SecretString":"a"},"owned":false}},"by":0,"way":"toTheEnd"}},
    {"ask":{"what":{"delete":"l1"},"by":0,"way":"toTheEnd"}},
    {"ask":{"what":{"put":{"alias":"other/s1","properties":{"Name":"another","SecretString":"a"},"owned":false}},"by":0,"way":"toTheEnd"}},
    {"ask":{"what":{"put":{"alias":"s1","properties":{"Name":"secret","SecretString":"b"},"owned":false}},"by":0,"way":"toTheEnd"}},
    {"ask":{"what":{"put":{"alias":"l1","properties":{"LogGroupName":"one","RetentionInDays":7},"owned":false}},"by":0,"way":"toTheEnd"}},
    {"stall":{"of":0,"after":4}},
    {"ask":{"what":{"put":{"alias":"other/s1","properties":{"Name":"another","SecretString":"a"},"owned":false}},"by":0,"way":"toTheEnd"}},
    {"ask":{"what":{"put":{"alias":"l1","properties":{"LogGroupName":"one"},"owned":false}},"by":0,"way":"toTheEnd"}}
  ]
}"#,
    );
}

/// A create fails, names nothing and has made a topic, whose ARN is that of the deleted old one (found by seed 3707).
#[test]
fn what_has_the_identifier_of_a_deleted_one_is_found() {
    replay(
        r#"{
  "seed": 3707, "aheadMs": [0], "weave": 0, "pace": "unpaced",
  "faults": [
    {"match":{},"probability":0.1,"effect":{"kind":"dropReply"}},
    {"match":{"operation":"CreateResource"},"probability":0.2,"effect":{"kind":"fail","errorCode":"Throttling","message":"","identifier":"hidden","change":"made"}}
  ],
  "acts": [
    {"ask":{"what":{"replace":{"fifo":true,"create_first":true}},"by":0,"way":"toTheEnd"}},
    {"ask":{"what":{"put":{"alias":"imported","properties":{},"owned":false}},"by":0,"way":"toTheEnd"}},
    {"ask":{"what":{"putByName":{"name":"three","properties":{"RetentionInDays":7}}},"by":0,"way":"toTheEnd"}},
    {"ask":{"what":{"put":{"alias":"s1","properties":{"Name":"secret","SecretString":"a"},"owned":false}},"by":0,"way":"toTheEnd"}},
    {"ask":{"what":{"replace":{"fifo":false,"create_first":false}},"by":0,"way":"toTheEnd"}}
  ]
}"#,
    );
}

/// A search that cannot fail proves nothing.
#[test]
fn a_claim_that_forgets_its_lease_is_found() {
    is_found(Plant::ForgottenLease, 0..50, &["an orphan", "doubled"]);
}

#[test]
fn a_look_that_believes_one_not_found_is_found() {
    is_found(Plant::BelievedAbsence, 70..500, &["an orphan", "doubled"]);
}

#[test]
fn a_process_that_forgets_a_ceiling_is_found() {
    is_found(
        Plant::ForgottenCeiling(CallClass::Reads),
        3_590..4_200,
        &["too fast"],
    );
}

#[test]
fn a_delete_of_what_a_refused_create_names_is_found() {
    is_found(Plant::TakenForHalfMade, 3..500, &DELETED);
}

#[test]
fn a_delete_under_the_old_alias_is_found() {
    is_found(Plant::DeletedWithItsAlias, 50..500, &DELETED);
}

#[test]
fn a_set_with_two_aliases_of_one_name_is_found() {
    let kinds = ["two aliases of one name"];
    is_found(Plant::DoubleDeclaration, 0..500, &kinds);
}

#[test]
fn a_delete_of_what_is_not_owned_is_found() {
    is_found(Plant::DeletedThoughForeign, 2_150..4_000, &DELETED);
}

#[test]
fn a_form_that_is_forgotten_is_found() {
    is_found(Plant::ForgottenForm, 36..1_000, &["unexpected reply"]);
}

#[test]
fn a_document_that_is_taken_for_known_is_found() {
    is_found(Plant::TakenForKnown, 20..500, &["stale at once"]);
}

#[test]
fn a_delete_of_all_that_an_instance_lists_is_found() {
    is_found(Plant::DeletedWithItsInstance, 170..1_000, &DELETED);
}

#[test]
fn a_delete_of_what_another_region_declares_is_found() {
    is_found(Plant::DeletedInOneRegion, 0..500, &DELETED);
}

/// What is lost although nobody asked for that.
const DELETED: [&str; 3] = [
    "what is declared was deleted",
    "what is not owned was deleted",
    "what stands was deleted",
];

fn is_found(plant: Plant, mut seeds: std::ops::Range<u64>, kinds: &[&str]) {
    let found = seeds.find_map(|seed| {
        let told = tell(&Story::drawn(seed), Some(plant));
        told.err().map(|violation| (seed, violation))
    });
    let Some((seed, violation)) = found else {
        panic!("no world finds the planted defect {plant:?}");
    };
    println!("{plant:?} is found by seed {seed}: {violation}");
    assert!(kinds.contains(&violation.kind()), "{violation}");
}

/// What was found once can be looked at again.
#[test]
fn the_same_seed_is_the_same_world_again() {
    for seed in 0..20 {
        let told = [(); 2].map(|()| tell(&Story::drawn(seed), None).expect("no violation"));
        let [once, again] = told.map(|coverage| coverage.table());
        assert_eq!(once, again, "seed {seed}");
    }
}
