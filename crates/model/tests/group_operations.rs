//! The state machine of operations on groups.

#![expect(
    clippy::unwrap_used,
    reason = "the helpers are test code too, which panics on failure"
)]

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use proptest::prelude::*;
use serde_json::{Value, json};
use ucp_model::operation::group::{self, Decision, GroupWork, Next, Refusal, Survey, Task};
use ucp_model::operation::{Header, Kind, ResourceWork, State, Work};
use ucp_model::{
    Baseline, CorrelationId, Ended, Failure, GroupId, Identifier, Leftover, LeftoverId,
    LeftoverReason, Lineage, Operation, OperationId, ProvisioningState, Reference, ReferenceId,
    Register, Scope, Timestamp, TypeName,
};

fn at(seconds: i64) -> Timestamp {
    Timestamp::from_millis(seconds * 1_000)
}

fn operation_id(number: i64) -> OperationId {
    format!("{number:032x}").parse().unwrap()
}

fn group() -> GroupId {
    GroupId::new("local", "rg").unwrap()
}

fn scope() -> Scope {
    Scope::new("aws", "1234", "us-west-2").unwrap()
}

fn reference_id(alias: &str) -> ReferenceId {
    let type_name = TypeName::from_cloudformation("AWS::EC2::VPC").unwrap();
    ReferenceId::new(group(), type_name, alias).unwrap()
}

/// An owned reference whose identifier is its alias.
fn owned(alias: &str, live: Value) -> Reference {
    Reference {
        id: reference_id(alias),
        lineage: Lineage::of(&reference_id(alias)),
        scope: scope(),
        identifier: Some(Identifier::new(alias)),
        owned: true,
        told_to_own: false,
        marked: false,
        tags: BTreeMap::new(),
        operation: None,
        provisioning_state: ProvisioningState::Succeeded,
        baseline: None,
        observed: Some(live),
        observed_at: Some(at(0)),
        created_at: at(0),
        updated_at: at(0),
        revision: 1,
        moves: 0,
    }
}

/// A delete of `alias` from second `from`; in progress unless it has an end.
fn child(alias: &str, from: i64, end: Option<(i64, Ended)>) -> Operation {
    let id = reference_id(alias);
    let (ended_at, ended) = end.unzip();
    let header = Header {
        id: operation_id(from),
        parent: None,
        correlation_id: CorrelationId::new("deployment"),
        caller: "caller".to_owned(),
        accepted_at: at(from),
        due_at: at(from),
        waits_for: None,
        cancel_requested_at: None,
        ended_at: ended_at.map(at),
    };
    let type_name = id.type_name.clone();
    let work = ResourceWork {
        reference: Some(id),
        identifier: Some(Identifier::new(alias)),
        spelled: None,
        was_referenced: true,
        was_owned: true,
        state: ended.map_or(State::Accepted, State::Ended),
        ..ResourceWork::new(Kind::Delete, scope(), type_name, at(from))
    };
    Operation {
        header,
        work: Work::Resource(Box::new(work)),
    }
}

fn failed(code: &str, message: &str) -> Ended {
    Ended::Failed(Failure::new(code, message))
}

fn deletion(total: u32) -> GroupWork {
    GroupWork::new(group(), Task::Delete, total as usize)
}

fn next(references: &[Reference], children: &[Operation], now: i64) -> Decision {
    let survey = Survey {
        references: references.to_vec(),
        children: children.to_vec(),
        ..Survey::default()
    };
    group::decide(&deletion(3), false, &survey, at(now))
}

fn started(decision: &Decision) -> Vec<&str> {
    match &decision.next {
        Next::Start(children) => children
            .iter()
            .map(|child| child.reference.alias.as_str())
            .collect(),
        other => panic!("expected a start, got {other:?}"),
    }
}

fn details(decision: &Decision) -> Vec<(String, String)> {
    match &decision.next {
        Next::Finish(finish) => match &finish.ended {
            Ended::Failed(failure) => {
                assert_eq!(failure.code, "ResourceGroupDeletionBlocked");
                let details = failure.details.iter();
                details
                    .map(|detail| (detail.code.clone(), detail.message.clone()))
                    .collect()
            }
            other => panic!("expected a failure, got {other:?}"),
        },
        other => panic!("expected an end, got {other:?}"),
    }
}

/// A VPC, a subnet in it, and an instance in that.
fn chain() -> Vec<Reference> {
    vec![
        owned("instance", json!({"SubnetId": "subnet", "VpcId": "vpc"})),
        owned("subnet", json!({"VpcId": "vpc"})),
        owned("vpc", json!({"VpcId": "vpc"})),
    ]
}

#[test]
fn what_is_named_goes_after_what_names_it() {
    let mut left = chain();
    assert_eq!(started(&next(&left, &[], 1)), ["instance"]);
    let gone = child("instance", 1, Some((2, Ended::Succeeded)));
    left.remove(0);
    assert_eq!(started(&next(&left, &[gone], 2)), ["subnet"]);
}

/// A reference whose last put declared these properties of its live ones.
fn declared(alias: &str, live: Value, declared: Value) -> Reference {
    Reference {
        baseline: Some(Baseline {
            declared,
            digests: BTreeMap::new(),
            unconfirmed: BTreeSet::new(),
            shown: BTreeMap::new(),
            is_seen: true,
            is_made: false,
            is_undecided: false,
        }),
        ..owned(alias, live)
    }
}

/// A balancer, its target group and the listener that has declared both. AWS tells the target group which balancers use it, and
/// puts a name together in which the cluster's stands by chance.
fn balanced() -> [Reference; 4] {
    let port = json!({"Port": 80});
    let balancers = json!({"Port": 80, "LoadBalancerArns": ["balancer"]});
    let full_name = json!({"Port": 80, "LoadBalancerFullName": "app/cluster/50dc6c495c0c9188"});
    let uses = json!({"LoadBalancerArn": "balancer", "TargetGroupArn": "targets"});
    [
        declared("balancer", full_name, port.clone()),
        declared("cluster", json!({}), json!({})),
        declared("listener", uses.clone(), uses),
        declared("targets", balancers, port),
    ]
}

#[test]
fn what_aws_adds_to_a_declaration_decides_no_order() {
    let left = balanced();
    assert_eq!(started(&next(&left, &[], 1)), ["cluster", "listener"]);
    let gone = ["cluster", "listener"].map(|alias| child(alias, 1, Some((2, Ended::Succeeded))));
    let left = [left[0].clone(), left[3].clone()];
    assert_eq!(started(&next(&left, &gone, 2)), ["balancer", "targets"]);
    // Of what was imported, nothing was declared.
    let imported = left.map(|reference| Reference {
        baseline: None,
        ..reference
    });
    assert_eq!(started(&next(&imported, &gone, 2)), ["targets"]);
}

#[test]
fn what_stays_needs_what_aws_says_it_uses() {
    let enough = Ended::Canceled(Failure::new("Canceled", "enough"));
    let cancelled = child("targets", 1, Some((2, enough)));
    let [balancer, _, _, targets] = balanced();
    let decision = next(&[balancer, targets], &[cancelled], 3);
    let [(code, _), _] = &details(&decision)[..] else {
        panic!("two details of {decision}")
    };
    assert_eq!(code, "DependentNotDeleted");
}

#[test]
fn what_stays_and_cannot_be_read_needs_what_it_has_declared() {
    let enough = Ended::Canceled(Failure::new("Canceled", "enough"));
    let cancelled = child("policy", 1, Some((2, enough)));
    let unread = Reference {
        observed: None,
        ..declared("policy", json!({}), json!({"Roles": ["role"]}))
    };
    let decision = next(&[unread, owned("role", json!({}))], &[cancelled], 3);
    assert_eq!(details(&decision).len(), 2, "{decision}");
}

#[test]
fn what_cannot_be_read_goes_before_what_it_has_declared() {
    let unread = Reference {
        observed: None,
        ..declared("policy", json!({}), json!({"Roles": ["role"]}))
    };
    let left = [unread, owned("role", json!({}))];
    assert_eq!(started(&next(&left, &[], 1)), ["policy"]);
}

/// A declaration may name what it uses otherwise than AWS does.
#[test]
fn what_is_declared_in_another_form_is_named_as_it_is_live() {
    let live = json!({"KmsKeyId": "arn:aws:kms:us-west-2:1234:key/key"});
    let left = [
        owned("key", json!({})),
        declared("volume", live, json!({"KmsKeyId": "alias/data"})),
    ];
    assert_eq!(started(&next(&left, &[], 1)), ["volume"]);
}

#[test]
fn what_nothing_names_goes_at_once() {
    let independent = ["a", "b", "c"].map(|alias| owned(alias, json!({})));
    assert_eq!(started(&next(&independent, &[], 1)), ["a", "b", "c"]);
}

#[test]
fn it_waits_while_deletes_are_under_way() {
    let decision = next(&chain(), &[child("instance", 1, None)], 2);
    assert_eq!(decision.to_string(), "wait: deletes are under way");
}

#[test]
fn what_is_not_owned_is_not_touched() {
    let unowned = Reference {
        owned: false,
        ..owned("a", json!({}))
    };
    assert_eq!(
        next(&[unowned], &[], 1).to_string(),
        "succeeded: nothing owned is left"
    );
}

#[test]
fn a_dependency_refusal_is_tried_again_later_and_at_once_when_something_has_gone() {
    let left = [owned("a", json!({})), owned("b", json!({}))];
    let refused = child(
        "a",
        1,
        Some((2, failed("InvalidRequest", "a has dependencies"))),
    );
    let settled = child("b", 1, Some((2, failed("AccessDenied", "no"))));
    let children = [refused.clone(), settled];
    let Next::Wait(moved) = next(&left, &children, 2).next else {
        panic!("expected a wait")
    };
    assert_eq!(moved.due_at, at(2).after(Duration::from_secs(2)));
    assert_eq!(started(&next(&left, &children, 4)), ["a"]);
    let gone = child("b", 1, Some((3, Ended::Succeeded)));
    assert_eq!(started(&next(&left[..1], &[refused, gone], 3)), ["a"]);
}

#[test]
fn tries_are_bounded() {
    let left = [owned("a", json!({}))];
    let tries: Vec<Operation> = (1..=5)
        .map(|from| {
            child(
                "a",
                from * 100,
                Some((from * 100 + 1, failed("Throttling", "slow down"))),
            )
        })
        .collect();
    assert_eq!(started(&next(&left, &tries[..4], 1_000)), ["a"]);
    let end = next(&left, &tries, 1_000);
    assert_eq!(
        details(&end),
        [("Throttling".to_owned(), "'a' (a): slow down".to_owned())]
    );
}

/// AWS is asked about all of them, and says what it refuses.
#[test]
fn what_is_behind_a_refusal_that_nothing_mends_is_tried_last() {
    for code in [
        "AccessDenied",
        "UnsupportedActionException",
        "OutcomeUnknown",
    ] {
        let mut left = chain();
        left.push(owned("other", json!({})));
        let denied = child("instance", 1, Some((2, failed(code, "no"))));
        let running = child("other", 1, None);
        let children = [denied.clone(), running];
        let decision = next(&left, &children, 2);
        assert_eq!(decision.to_string(), "wait: deletes are under way");
        left.pop();
        let decision = next(&left, std::slice::from_ref(&denied), 9);
        assert_eq!(started(&decision), ["subnet", "vpc"]);
        let refused = |alias| {
            child(
                alias,
                9,
                Some((10, failed("InvalidRequest", "no such thing"))),
            )
        };
        let ended = next(&left, &[denied, refused("subnet"), refused("vpc")], 1_000);
        let codes: Vec<String> = details(&ended).into_iter().map(|(code, _)| code).collect();
        assert_eq!(codes, [code, "InvalidRequest", "InvalidRequest"]);
        let Next::Finish(finish) = ended.next else {
            panic!("it ends")
        };
        let Ended::Failed(failure) = finish.ended else {
            panic!("it fails")
        };
        let named = format!("could not be deleted: 'instance' ({code}), 'subnet' (InvalidRequest)");
        assert!(failure.message.contains(&named), "{}", failure.message);
    }
}

/// What refers to it stays, and needs it. So AWS is not asked.
#[test]
fn what_is_behind_one_that_ucp_keeps_is_kept() {
    let left = chain();
    let kept = Failure::new("Conflict", "Others stand for it.");
    let survey = Survey {
        references: left.clone(),
        refused: BTreeMap::from([(left[0].id.key(), Refusal::Lasting(kept.clone()))]),
        ..Survey::default()
    };
    let refused = group::decide(&deletion(3), false, &survey, at(9));
    let cancelled = child("instance", 1, Some((2, Ended::Canceled(kept))));
    for ended in [refused, next(&left, &[cancelled], 9)] {
        let codes: Vec<String> = details(&ended).into_iter().map(|(code, _)| code).collect();
        assert_eq!(
            codes,
            ["Conflict", "DependentNotDeleted", "DependentNotDeleted"]
        );
    }
}

#[test]
fn an_unlikely_refusal_is_tried_again_only_when_something_has_gone() {
    let left = [owned("a", json!({}))];
    let refused = child(
        "a",
        1,
        Some((2, failed("InvalidRequest", "deletion protection"))),
    );
    assert_eq!(
        details(&next(&left, std::slice::from_ref(&refused), 9)).len(),
        1
    );
    let gone = child("b", 1, Some((3, Ended::Succeeded)));
    assert_eq!(started(&next(&left, &[refused, gone], 9)), ["a"]);
}

/// AWS refuses what is in use, which comes again once the other one is gone.
#[test]
fn what_refers_to_each_other_goes_at_the_same_time() {
    // "a" must follow the cycle of "b" and "c", which has nothing to do with "d".
    let left = [
        owned("a", json!({})),
        owned("b", json!({"Peer": "c", "Of": "a"})),
        owned("c", json!({"Peer": "b"})),
        owned("d", json!({})),
    ];
    assert_eq!(started(&next(&left, &[], 1)), ["b", "c", "d"]);
    let refused = child("b", 1, Some((2, failed("ResourceConflict", "in use by c"))));
    let [gone, running] = [Some((3, Ended::Succeeded)), None].map(|end| child("c", 1, end));
    let rest = child("d", 1, None);
    let Next::Wait(moved) = next(&left, &[refused.clone(), running, rest.clone()], 2).next else {
        panic!("expected a wait")
    };
    assert_eq!(moved.due_at, at(4));
    let left = [left[0].clone(), left[1].clone(), left[3].clone()];
    assert_eq!(started(&next(&left, &[refused, gone, rest], 3)), ["b"]);
}

/// The end of a child makes the operation due. If that is ever missed, it is not missed for long.
#[test]
fn it_looks_again_within_seconds() {
    let left = [owned("a", json!({}))];
    let Next::Wait(moved) = next(&left, &[child("a", 1, None)], 2).next else {
        panic!("expected a wait")
    };
    assert_eq!(moved.due_at, at(7));
}

#[test]
fn what_something_else_works_on_is_tried_again() {
    let left = [owned("a", json!({}))];
    let refused = BTreeMap::from([(left[0].id.key(), Refusal::Busy)]);
    let survey = Survey {
        references: left.to_vec(),
        refused,
        ..Survey::default()
    };
    let Next::Wait(moved) = group::decide(&deletion(1), false, &survey, at(1)).next else {
        panic!("expected a wait")
    };
    assert_eq!(moved.due_at, at(6));
}

#[test]
fn how_much_is_done_is_told_honestly() {
    let moved = match next(&chain()[1..], &[child("subnet", 1, None)], 2).next {
        Next::Wait(moved) => moved,
        other => panic!("expected a wait, got {other:?}"),
    };
    let running = moved.of(&deletion(3), 0);
    assert_eq!((running.done, running.percent_complete()), (1, 33));
}

#[test]
fn what_is_cancelled_starts_nothing_more() {
    let references = chain();
    let line = |children: &[Operation]| {
        let survey = Survey {
            references: references.clone(),
            children: children.to_vec(),
            ..Survey::default()
        };
        group::decide(&deletion(3), true, &survey, at(6)).to_string()
    };
    assert_eq!(line(&[]), "canceled: cancelled, and nothing is under way");
    let running = child("instance", 1, None);
    assert_eq!(
        line(&[running]),
        "wait: cancelled, but deletes are under way"
    );
}

/// What is left over and ours blocks the deletion of its group; what may be somebody else's goes with it.
#[test]
fn what_is_left_over_blocks_a_deletion_if_it_is_ours() {
    let left = |name: i64, reason| Leftover {
        id: LeftoverId {
            register: Register::Group(group()),
            name: operation_id(name),
        },
        scope: scope(),
        type_name: TypeName::from_cloudformation("AWS::EC2::VPC").unwrap(),
        identifier: Some(Identifier::new(format!("vpc-{name}"))),
        reason,
        reference: None,
        lineage: None,
        operation: operation_id(name),
        since: at(0),
        tries: 2,
        last_error: Some(Failure::new("DependencyViolation", "It has subnets.")),
        next_try_at: at(9),
        create: None,
        abandoned: false,
    };
    let ended = |leftovers: Vec<Leftover>| {
        let survey = Survey {
            leftovers,
            ..Survey::default()
        };
        match group::decide(&deletion(0), false, &survey, at(1)).next {
            Next::Finish(finish) => finish.ended,
            other => panic!("expected the end, got {other:?}"),
        }
    };
    let theirs = [
        LeftoverReason::Salvage,
        LeftoverReason::Misnamed,
        LeftoverReason::OutcomeUnknown,
    ];
    let theirs: Vec<Leftover> = theirs.map(|reason| left(3, reason)).into();
    assert_eq!(ended(theirs), Ended::Succeeded);
    let Ended::Failed(failure) = ended(vec![left(1, LeftoverReason::Undeleted)]) else {
        panic!("it blocks")
    };
    assert_eq!(failure.code, "ResourceGroupDeletionBlocked");
    let [detail] = &failure.details[..] else {
        panic!("one detail: {failure:?}")
    };
    assert_eq!(detail.code, "DependencyViolation");
    for part in ["'vpc-1'", "It has subnets", "/leftovers/", "tried again"] {
        assert!(detail.message.contains(part), "{}", detail.message);
    }
    assert!(detail.target.as_ref().unwrap().ends_with("VPC/vpc-1"));
}

proptest! {
    /// A delete begins once all that must precede it, however far behind, is on a cycle with it; and if nothing can begin
    /// so, all that was not refused yet.
    #[test]
    fn what_begins_is_what_nothing_else_must_precede(
        edges in prop::collection::vec((0..7usize, 0..7usize), 0..14),
        refused in prop::collection::btree_set(0..7usize, 0..3),
    ) {
        let alias = |index: usize| format!("r{index}");
        let names = |index: usize| -> Vec<String> {
            let named = edges.iter().filter(|(user, _)| *user == index);
            named.map(|(_, other)| alias(*other)).collect()
        };
        let left: Vec<Reference> =
            (0..7).map(|index| owned(&alias(index), json!({"Of": names(index)}))).collect();
        let children: Vec<Operation> = (refused.iter())
            .map(|index| child(&alias(*index), 1, Some((2, failed("AccessDenied", "no")))))
            .collect();
        let before = |index: usize| -> std::collections::BTreeSet<usize> {
            let (mut found, mut todo) = (std::collections::BTreeSet::new(), vec![index]);
            while let Some(next) = todo.pop() {
                let users = edges.iter().filter(|(user, other)| *other == next && user != other);
                for (user, _) in users {
                    if found.insert(*user) {
                        todo.push(*user);
                    }
                }
            }
            found
        };
        let is_first = |index: &usize| {
            let mut others = before(*index).into_iter();
            others.all(|other| !refused.contains(&other) && before(other).contains(index))
        };
        let open: Vec<usize> = (0..7).filter(|index| !refused.contains(index)).collect();
        let mut expected: Vec<usize> = open.iter().copied().filter(is_first).collect();
        if expected.is_empty() {
            expected = open;
        }
        let decision = next(&left, &children, 9);
        let expected: Vec<String> = expected.into_iter().map(alias).collect();
        prop_assert_eq!(started(&decision), expected);
    }
}

/// It is told with the end of the deletion: nothing else of the group is left to tell it.
#[test]
fn what_a_deletion_gives_up_is_told() {
    let mut forgotten = child("vpc", 1, Some((2, Ended::Succeeded)));
    let Work::Resource(work) = &mut forgotten.work else {
        panic!("it is about a resource")
    };
    work.forgets = true;
    let warning = work.giving_up(work.identifier.as_ref());
    work.warnings.push(warning.clone());
    let deleted = child("subnet", 3, Some((4, Ended::Succeeded)));
    let Next::Finish(finish) = next(&[], &[forgotten, deleted], 5).next else {
        panic!("it ends")
    };
    assert_eq!(finish.of(&deletion(2)).given_up, [warning]);
}
