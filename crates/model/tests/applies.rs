//! Applying a set: which members start, wait and are skipped.

#![expect(
    clippy::unwrap_used,
    reason = "the helpers are test code too, which panics on failure"
)]

use std::collections::BTreeMap;

use serde_json::{Value, json};
use ucp_model::operation::group::{
    self, Application, ApplyMember, ChildGoal, Decision, Deployment, Finish, GroupWork,
    MEMBERS_AT_ONCE, MemberGoal, MemberState, Next, OnFailure, Refusal, Survey, Task,
};
use ucp_model::operation::{
    self, Chance, Header, Kind, Observation, OnShared, Options, ResourceWork, State, Work,
};
use ucp_model::{
    Action, AdditionalInfo, ChangeKind, ClientToken, CloudControlRequest, CorrelationId, Ended,
    Failure, GroupId, Identifier, InstanceId, Lineage, Operation, Order, ProvisioningState,
    RefactorId, Reference, ReferenceId, RequestToken, Scope, Timestamp, TypeName,
};
use uuid::Uuid;

fn at(seconds: i64) -> Timestamp {
    Timestamp::from_millis(seconds * 1_000)
}

fn id(alias: &str) -> ReferenceId {
    let type_name = TypeName::from_cloudformation("AWS::EC2::VPC").unwrap();
    ReferenceId::new(GroupId::new("local", "rg").unwrap(), type_name, alias).unwrap()
}

fn scope() -> Scope {
    Scope::new("aws", "1234", "us-west-2").unwrap()
}

fn member(alias: &str, goal: MemberGoal, depends_on: &[usize]) -> ApplyMember {
    ApplyMember {
        moved_from: None,
        on_shared: OnShared::default(),
        symbolic_name: alias.to_owned(),
        reference: id(alias),
        scope: scope(),
        goal,
        depends_on: depends_on.to_vec(),
        is_unchanged: false,
        is_compared: false,
        is_declared: false,
    }
}

fn put(alias: &str, depends_on: &[usize]) -> ApplyMember {
    member(alias, MemberGoal::Put(Options::default()), depends_on)
}

fn work(members: Vec<ApplyMember>) -> GroupWork {
    let task = Task::Apply(Application {
        members,
        has_outputs: false,
        plan: None,
        deployment: None,
        order: None,
    });
    GroupWork::new(GroupId::new("local", "rg").unwrap(), task, 0)
}

/// An operation on `alias`, under way unless it has an end.
fn child(alias: &str, kind: Kind, ended: Option<Ended>) -> Operation {
    let header = Header {
        id: format!("{:0>32x}", alias.len()).parse().unwrap(),
        parent: None,
        correlation_id: CorrelationId::new("deployment"),
        caller: "caller".to_owned(),
        accepted_at: at(1),
        due_at: at(1),
        waits_for: None,
        cancel_requested_at: None,
        ended_at: ended.as_ref().map(|_| at(2)),
    };
    let work = ResourceWork {
        reference: Some(id(alias)),
        created: kind == Kind::Put,
        state: ended.map_or(State::Accepted, State::Ended),
        ..ResourceWork::new(kind, scope(), id(alias).type_name, at(1))
    };
    Operation {
        header,
        work: Work::Resource(Box::new(work)),
    }
}

/// An owned reference whose identifier is its alias.
fn reference(alias: &str, live: Value) -> Reference {
    Reference {
        id: id(alias),
        lineage: Lineage::of(&id(alias)),
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

fn done(alias: &str) -> Operation {
    child(alias, Kind::Put, Some(Ended::Succeeded))
}

fn failed(alias: &str, kind: Kind) -> Operation {
    let failure = Failure::new("InvalidRequest", "No.");
    child(alias, kind, Some(Ended::Failed(failure)))
}

fn with(children: Vec<Operation>) -> Survey {
    Survey {
        children,
        ..Survey::default()
    }
}

fn decide(work: &GroupWork, survey: &Survey) -> Decision {
    group::decide(work, false, survey, at(10))
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

fn waiting(decision: &Decision) -> Vec<&'static str> {
    match &decision.next {
        Next::Wait(moved) => moved.members.iter().map(|it| it.state.name()).collect(),
        other => panic!("expected to wait, got {other:?}"),
    }
}

fn finished(decision: &Decision) -> &Finish {
    match &decision.next {
        Next::Finish(finish) => finish,
        other => panic!("expected an end, got {other:?}"),
    }
}

fn states(finish: &Finish) -> Vec<&'static str> {
    finish.members.iter().map(|it| it.state.name()).collect()
}

#[test]
fn a_member_starts_once_all_that_it_depends_on_is_there() {
    let work = work(vec![put("a", &[]), put("bb", &[]), put("ccc", &[0, 1])]);
    assert_eq!(started(&decide(&work, &Survey::default())), ["a", "bb"]);
    let one = with(vec![done("a"), child("bb", Kind::Put, None)]);
    let decision = decide(&work, &one);
    assert_eq!(waiting(&decision), ["Succeeded", "Running", "Waiting"]);
    assert_eq!(decision.to_string(), "wait: members are under way");
    let both = with(vec![done("a"), done("bb")]);
    assert_eq!(started(&decide(&work, &both)), ["ccc"]);
    let all = with(vec![done("a"), done("bb"), done("ccc")]);
    assert_eq!(finished(&decide(&work, &all)).ended, Ended::Succeeded);
}

#[test]
fn so_many_are_under_way_and_no_more() {
    let names: Vec<String> = (1..=40).map(|count| "a".repeat(count)).collect();
    let work = work(names.iter().map(|name| put(name, &[])).collect());
    let first = decide(&work, &Survey::default());
    assert_eq!(started(&first).len(), MEMBERS_AT_ONCE);
    let running = names.iter().take(MEMBERS_AT_ONCE - 1);
    let running = running.map(|name| child(name, Kind::Put, None)).collect();
    assert_eq!(started(&decide(&work, &with(running))).len(), 1);
    let running = names.iter().take(MEMBERS_AT_ONCE);
    let running = running.map(|name| child(name, Kind::Put, None)).collect();
    waiting(&decide(&work, &with(running)));
}

#[test]
fn what_depends_on_a_failure_is_skipped_and_the_rest_goes_on() {
    let work = work(vec![
        put("a", &[]),
        put("bb", &[0]),
        put("ccc", &[1]),
        put("dddd", &[]),
    ]);
    let survey = with(vec![failed("a", Kind::Put)]);
    assert_eq!(started(&decide(&work, &survey)), ["dddd"]);
    let survey = with(vec![failed("a", Kind::Put), done("dddd")]);
    let decision = decide(&work, &survey);
    let finish = finished(&decision);
    assert_eq!(
        states(finish),
        ["Failed", "Skipped", "Skipped", "Succeeded"]
    );
    let failure = finish.ended.failure().unwrap();
    assert_eq!(
        (failure.code.as_str(), failure.details.len()),
        ("ApplyFailed", 1)
    );
    let skipped = finish.members[2].state.failure().unwrap();
    assert_eq!(skipped.code, "DependencyFailed");
    assert_eq!(skipped.target, Some(id("bb").to_string()));
}

/// The deployment of a refactor whose two puts do not depend on each other.
fn deployment(on_failure: OnFailure) -> GroupWork {
    let task = Task::Apply(Application {
        members: vec![put("a", &[]), put("bb", &[])],
        has_outputs: false,
        plan: None,
        deployment: Some(Box::new(Deployment {
            refactor: RefactorId(Uuid::from_u128(7)),
            groups: vec![GroupId::new("local", "web").unwrap()],
            on_failure,
        })),
        order: None,
    });
    GroupWork::new(GroupId::new("local", "rg").unwrap(), task, 0)
}

#[test]
fn what_has_moved_is_taken_back_once_nothing_is_under_way() {
    let mut work = deployment(OnFailure::Undo);
    let running = with(vec![failed("a", Kind::Put), child("bb", Kind::Put, None)]);
    assert_eq!(waiting(&decide(&work, &running)), ["Failed", "Running"]);
    // First it is written that everything is over: after a crash nothing begins at an alias that is vacated.
    let over = with(vec![failed("a", Kind::Put), done("bb")]);
    let Next::Wait(moved) = decide(&work, &over).next else {
        panic!("it is written first");
    };
    assert_eq!(moved.due_at, at(10));
    work = moved.of(&work, 2);
    assert_eq!(decide(&work, &over).next, Next::TakeBack);
    assert_eq!(decide(&work, &Survey::default()).next, Next::TakeBack);

    let stuck = Refusal::Lasting(Failure::new("Conflict", "It is taken."));
    for (taken_back, codes, told) in [
        (Ok(()), &["InvalidRequest"][..], "at its old address again"),
        (Err(stuck), &["InvalidRequest", "Conflict"], "could not be"),
    ] {
        let survey = Survey {
            taken_back: Some(taken_back),
            ..over.clone()
        };
        let decision = decide(&work, &survey);
        let failure = finished(&decision).ended.failure().unwrap();
        assert_eq!(failure.code, "RefactorFailed");
        assert!(failure.message.contains(told), "{}", failure.message);
        let details = failure.details.iter();
        let found: Vec<&str> = details.map(|detail| detail.code.as_str()).collect();
        assert_eq!(found, codes);
    }
    let busy = Survey {
        taken_back: Some(Err(Refusal::Busy)),
        ..over
    };
    assert_eq!(waiting(&decide(&work, &busy)), ["Failed", "Succeeded"]);
    // Whoever does not want to wait cancels.
    let cancelled = group::decide(&work, true, &busy, at(10));
    let failure = finished(&cancelled).ended.failure().unwrap();
    assert_eq!(failure.details[1].code, "Canceled");
}

#[test]
fn what_has_moved_stays_if_everything_succeeds_or_that_is_asked_for() {
    let over = with(vec![failed("a", Kind::Put), done("bb")]);
    let decision = decide(&deployment(OnFailure::Keep), &over);
    let failure = finished(&decision).ended.failure().unwrap();
    assert_eq!(failure.code, "RefactorFailed");
    assert!(failure.message.contains("stays"), "{}", failure.message);
    let all = with(vec![done("a"), done("bb")]);
    let decision = decide(&deployment(OnFailure::Undo), &all);
    assert_eq!(finished(&decision).ended, Ended::Succeeded);
    // Whoever cancels decides by themselves.
    let cancelled = group::decide(&deployment(OnFailure::Undo), true, &with(vec![]), at(10));
    let failure = finished(&cancelled).ended.failure().unwrap();
    assert!(failure.message.contains("undo the refactor"));
}

#[test]
fn what_cannot_be_read_is_tried_again_for_a_while_and_what_is_busy_as_long_as_it_is() {
    let mut work = work(vec![put("a", &[])]);
    let refused = |refusal: Refusal| Survey {
        refused: BTreeMap::from([(id("a").key(), refusal)]),
        ..Survey::default()
    };
    let busy = decide(&work, &refused(Refusal::Busy));
    assert_eq!(waiting(&busy), ["Waiting"]);
    let unread = refused(Refusal::Later(Failure::new("Throttling", "Slow down.")));
    let (mut now, mut tried) = (at(10), Vec::new());
    let finish = loop {
        match group::decide(&work, false, &unread, now).next {
            Next::Wait(moved) => {
                let due_at = moved.due_at;
                let next = moved.of(&work, 0);
                if next.members[0].tries > work.members[0].tries {
                    tried.push(now);
                }
                // The end of another member is no reason to try again.
                let Next::Wait(again) = group::decide(&next, false, &unread, now).next else {
                    panic!("it waits");
                };
                assert_eq!(again.of(&next, 0), next);
                (work, now) = (next, due_at);
            }
            Next::Finish(finish) => break finish,
            other => panic!("{other:?}"),
        }
    };
    let pauses: Vec<u64> = tried
        .windows(2)
        .map(|pair| pair[1].since(pair[0]).as_secs())
        .collect();
    assert_eq!(pauses, [2, 4, 8, 16, 32, 60]);
    assert_eq!(
        finish.members[0].state.failure().unwrap().code,
        "Throttling"
    );
}

#[test]
fn outputs_that_cannot_be_read_are_read_again_for_a_while() {
    let member = ApplyMember {
        is_unchanged: true,
        ..put("a", &[])
    };
    let task = Task::Apply(Application {
        members: vec![member],
        has_outputs: true,
        plan: None,
        deployment: None,
        order: None,
    });
    let mut work = GroupWork::new(GroupId::new("local", "rg").unwrap(), task, 0);
    assert_eq!(decide(&work, &Survey::default()).next, Next::ReadOutputs);
    let unread = Survey {
        outputs: Some(Err(Refusal::Later(Failure::new(
            "Throttling",
            "Slow down.",
        )))),
        ..Survey::default()
    };
    let lasting = Survey {
        outputs: Some(Err(Refusal::Lasting(Failure::new("InvalidRequest", "No.")))),
        ..Survey::default()
    };
    assert_eq!(finished(&decide(&work, &lasting)).ended.status(), "Failed");
    let cancelled = group::decide(&work, true, &unread, at(10));
    assert_eq!(
        cancelled.to_string(),
        "canceled: cancelled, and nothing is under way"
    );
    let mut pauses = Vec::new();
    let finish = loop {
        match decide(&work, &unread).next {
            Next::Wait(moved) => {
                pauses.push(moved.due_at.since(at(10)).as_secs());
                work = moved.of(&work, 0);
            }
            Next::Finish(finish) => break finish,
            other => panic!("{other:?}"),
        }
    };
    assert_eq!(pauses, [2, 4, 8, 16, 32, 60, 60]);
    assert_eq!(finish.ended.failure().unwrap().code, "ApplyFailed");
    // Somebody waits for what only reads.
    let Task::Apply(application) = &mut work.task else {
        panic!("an apply")
    };
    application.members.clear();
    (work.members, work.output_tries) = (Vec::new(), 4);
    assert_eq!(finished(&decide(&work, &unread)).ended.status(), "Failed");
}

#[test]
fn what_is_given_up_is_under_way_no_more() {
    let mut work = work(vec![put("a", &[]), put("b", &[0])]);
    work.members[0].state = MemberState::Running;
    let operation = Operation {
        work: Work::Group(Box::new(work)),
        ..child("a", Kind::Put, None)
    };
    let chance = Chance {
        token: ClientToken(Uuid::from_u128(1)),
        jitter: 0.0,
    };
    let given_up = operation::decide(&operation, Observation::GivenUp, at(10), chance);
    let operation::Next::Finish { operation, .. } = given_up.next else {
        panic!("it ends");
    };
    let members = &operation.work.group().expect("of a group").members;
    let states: Vec<&str> = members.iter().map(|it| it.state.name()).collect();
    assert_eq!(states, ["Failed", "Failed"]);
}

#[test]
fn a_cancel_starts_nothing_more() {
    let work = work(vec![put("a", &[]), put("bb", &[])]);
    let survey = with(vec![child("a", Kind::Put, None)]);
    let decision = group::decide(&work, true, &survey, at(10));
    assert_eq!(waiting(&decision), ["Running", "Canceled"]);
    let decision = group::decide(&work, true, &with(vec![done("a")]), at(10));
    let finish = finished(&decision);
    assert!(matches!(finish.ended, Ended::Canceled(_)));
    assert_eq!(states(finish), ["Succeeded", "Canceled"]);
    // It came too late.
    let all = with(vec![done("a"), done("bb")]);
    let decision = group::decide(&work, true, &all, at(10));
    assert_eq!(finished(&decision).ended, Ended::Succeeded);
}

#[test]
fn deletes_come_last_each_after_what_refers_to_it() {
    let work = work(vec![
        put("a", &[]),
        member("vpc", MemberGoal::Delete, &[]),
        member("subnet", MemberGoal::DeleteOwned(at(0)), &[]),
        member("gone", MemberGoal::Delete, &[]),
        member("released", MemberGoal::DeleteOwned(at(0)), &[]),
        member("another", MemberGoal::DeleteOwned(at(0)), &[]),
    ]);
    let released = Reference {
        owned: false,
        ..reference("released", json!({}))
    };
    // Deleted, and made again by somebody else.
    let another = Reference {
        created_at: at(1),
        ..reference("another", json!({}))
    };
    let survey = |children: Vec<Operation>, references: &[Reference]| Survey {
        references: references.to_vec(),
        ..with(children)
    };
    let (vpc, subnet) = (
        reference("vpc", json!({})),
        reference("subnet", json!({"VpcId": "vpc"})),
    );
    let all = [vpc.clone(), subnet, released.clone(), another.clone()];
    let running = survey(vec![child("a", Kind::Put, None)], &all);
    assert_eq!(waiting(&decide(&work, &running))[1..], ["Waiting"; 5]);
    let first = decide(&work, &survey(vec![done("a")], &all));
    assert_eq!(started(&first), ["subnet"]);
    let goal = |decision: &Decision| match &decision.next {
        Next::Start(children) => children[0].goal.clone(),
        other => panic!("{other:?}"),
    };
    assert_eq!(goal(&first), ChildGoal::DeleteOwned(at(0)));
    let deleted = |alias| child(alias, Kind::Delete, Some(Ended::Succeeded));
    let left = [vpc, released.clone(), another.clone()];
    let second = decide(&work, &survey(vec![done("a"), deleted("subnet")], &left));
    assert_eq!(started(&second), ["vpc"]);
    assert_eq!(goal(&second), ChildGoal::Delete);
    let children = vec![done("a"), deleted("subnet"), deleted("vpc")];
    let last = decide(&work, &survey(children, &[released, another]));
    let expected = [
        "Succeeded",
        "Succeeded",
        "Succeeded",
        "Unchanged",
        "Unchanged",
        "Unchanged",
    ];
    assert_eq!(states(finished(&last)), expected);
}

/// A platform waits for what only reads, and no longer than it says.
#[test]
fn an_order_that_only_reads_ends_in_time() {
    let reads = |until: Option<Timestamp>| {
        let task = Task::Apply(Application {
            members: vec![],
            has_outputs: true,
            plan: None,
            deployment: None,
            order: Some(Box::new(Order {
                reads_until: until,
                ..order(ChangeKind::Create)
            })),
        });
        let mut work = GroupWork::new(GroupId::new("local", "rg").unwrap(), task, 0);
        let late = Failure::new("Throttling", "Slow down.");
        let unread = Survey {
            outputs: Some(Err(Refusal::Later(late))),
            ..Survey::default()
        };
        let mut now = at(10);
        while let Next::Wait(moved) = group::decide(&work, false, &unread, now).next {
            now = moved.due_at;
            work = moved.of(&work, 0);
        }
        now.since(at(10)).as_secs()
    };
    assert_eq!(reads(None), 30);
    assert_eq!(reads(Some(at(20))), 6);
    assert_eq!(reads(Some(at(11))), 0);
    assert_eq!(reads(Some(at(600))), 30);
}

/// AWS may show it a moment later, but only as long as somebody waits.
#[test]
fn an_order_goes_without_a_value_that_is_not_there() {
    let reads = |until: Option<Timestamp>, is_cancel_requested: bool| {
        let task = Task::Apply(Application {
            members: vec![],
            has_outputs: true,
            plan: None,
            deployment: None,
            order: Some(Box::new(Order {
                reads_until: until,
                ..order(ChangeKind::Create)
            })),
        });
        let mut work = GroupWork::new(GroupId::new("local", "rg").unwrap(), task, 0);
        let missing = Failure::new("InvalidRequest", "It has no value.");
        let lacking = Survey {
            outputs: Some(Err(Refusal::Later(missing))),
            there: Some(json!({"arn": "a"})),
            ..Survey::default()
        };
        let mut now = at(10);
        let finish = loop {
            match group::decide(&work, is_cancel_requested, &lacking, now).next {
                Next::Wait(moved) => {
                    now = moved.due_at;
                    work = moved.of(&work, 0);
                }
                Next::Finish(finish) => break finish,
                other => panic!("{other:?}"),
            }
        };
        let read = now.since(at(10)).as_secs();
        (finish.ended.status(), finish.outputs, read)
    };
    let there = Some(json!({"arn": "a"}));
    for (until, read) in [
        (None, 6),
        (Some(at(600)), 6),
        (Some(at(15)), 2),
        (Some(at(11)), 0),
    ] {
        assert_eq!(reads(until, false), ("Succeeded", there.clone(), read));
    }
    assert_eq!(reads(None, true), ("Canceled", None, 0));
}

fn order(kind: ChangeKind) -> Order {
    Order {
        kind,
        instance: InstanceId {
            platform: "cf".to_owned(),
            instance: "one".to_owned(),
        },
        binding: None,
        tags: BTreeMap::new(),
        after: None,
        reads_until: None,
        originator: None,
    }
}

/// Nothing is deleted for those of them that own nothing, so nothing has to go before them.
#[test]
fn an_order_forgets_the_other_references_of_a_resource_before_it_deletes_that() {
    let mut work = work(vec![
        member("vpc", MemberGoal::Delete, &[]),
        member("other", MemberGoal::Delete, &[]),
        member("twin", MemberGoal::Delete, &[0, 1]),
    ]);
    if let Task::Apply(application) = &mut work.task {
        application.order = Some(Box::new(order(ChangeKind::Delete)));
    }
    let twin = Reference {
        identifier: Some(Identifier::new("vpc")),
        owned: false,
        ..reference("twin", json!({}))
    };
    let survey = |references: &[Reference], children: Vec<Operation>| Survey {
        references: references.to_vec(),
        ..with(children)
    };
    let [vpc, other] = ["vpc", "other"].map(|alias| reference(alias, json!({})));
    let all = survey(&[vpc.clone(), other, twin.clone()], vec![]);
    assert_eq!(started(&decide(&work, &all)), ["other", "twin"]);
    let forgotten = child("twin", Kind::Delete, Some(Ended::Succeeded));
    let owned = survey(std::slice::from_ref(&vpc), vec![forgotten]);
    assert_eq!(started(&decide(&work, &owned)), ["vpc"]);
    // A next order would find nobody who owns it.
    let canceled = Ended::Canceled(Failure::new("Canceled", "enough"));
    let children = vec![
        child("other", Kind::Delete, Some(Ended::Succeeded)),
        child("twin", Kind::Delete, Some(canceled)),
    ];
    let kept = survey(&[vpc.clone(), twin.clone()], children);
    let expected = ["Skipped", "Succeeded", "Failed"];
    assert_eq!(states(finished(&decide(&work, &kept))), expected);
    // Neither would it if the store refuses to.
    let refusal = Refusal::Lasting(Failure::new("Conflict", "for good"));
    let refused = Survey {
        refused: BTreeMap::from([(twin.id.key(), refusal)]),
        ..survey(
            &[vpc.clone(), twin.clone()],
            vec![child("other", Kind::Delete, Some(Ended::Succeeded))],
        )
    };
    assert_eq!(states(finished(&decide(&work, &refused))), expected);
    // And what the resource uses stays with it.
    let user = Reference {
        observed: Some(json!({"Uses": "other"})),
        ..vpc
    };
    let used = Survey {
        references: vec![user, reference("other", json!({})), twin],
        children: Vec::new(),
        ..refused
    };
    let expected = ["Skipped", "Skipped", "Failed"];
    assert_eq!(states(finished(&decide(&work, &used))), expected);
}

/// The owner is deleted last, or the last one if nobody owns what they stand for.
#[test]
fn a_set_forgets_the_other_references_of_a_resource_before_it_deletes_that() {
    let work = work(vec![
        member("vpc", MemberGoal::Delete, &[]),
        member("twin", MemberGoal::Delete, &[0]),
    ]);
    let goals = |references: &[Reference], children: Vec<Operation>| {
        let survey = Survey {
            references: references.to_vec(),
            ..with(children)
        };
        match decide(&work, &survey).next {
            Next::Start(children) => children
                .into_iter()
                .map(|child| (child.reference.alias, child.goal))
                .collect::<Vec<_>>(),
            other => panic!("expected a start, got {other:?}"),
        }
    };
    let goal = |alias: &str, goal: ChildGoal| vec![(alias.to_owned(), goal)];
    let unowned = |alias: &str| Reference {
        identifier: Some(Identifier::new("vpc")),
        owned: false,
        ..reference(alias, json!({}))
    };
    let owner = reference("vpc", json!({}));
    let first = goals(&[owner.clone(), unowned("twin")], vec![]);
    assert_eq!(first, goal("twin", ChildGoal::Forget));
    let forgotten = child("twin", Kind::Delete, Some(Ended::Succeeded));
    let then = goals(&[owner], vec![forgotten]);
    assert_eq!(then, goal("vpc", ChildGoal::Delete));
    let first = goals(&[unowned("vpc"), unowned("twin")], vec![]);
    assert_eq!(first, goal("vpc", ChildGoal::Forget));
}

#[test]
fn what_a_failed_member_refers_to_is_kept() {
    let work = work(vec![
        put("subnet", &[]),
        member("vpc", MemberGoal::Delete, &[]),
    ]);
    let references = vec![
        reference("subnet", json!({"VpcId": "vpc"})),
        reference("vpc", json!({})),
    ];
    let survey = Survey {
        references,
        ..with(vec![failed("subnet", Kind::Put)])
    };
    assert_eq!(
        states(finished(&decide(&work, &survey))),
        ["Failed", "Skipped"]
    );
}

#[test]
fn what_a_create_has_met_or_may_have_met_is_kept() {
    let met = |identifier: Option<&str>| {
        let request = CloudControlRequest {
            request_token: RequestToken::new("token"),
            operation: Action::Create,
            type_name: id("new").type_name,
            identifier: identifier.map(Identifier::new),
        };
        let failure = Failure::new("AlreadyExists", "There is one.")
            .with_additional_info(vec![AdditionalInfo::CloudControlRequest(request)]);
        child("new", Kind::Put, Some(Ended::Failed(failure)))
    };
    let elsewhere = ApplyMember {
        scope: Scope::new("aws", "1234", "eu-west-1").unwrap(),
        ..member("elsewhere", MemberGoal::Delete, &[])
    };
    // What is kept uses them, directly or not.
    let used = |alias: &str| member(alias, MemberGoal::Delete, &[]);
    let work = work(vec![
        put("new", &[]),
        member("old", MemberGoal::DeleteOwned(at(0)), &[]),
        member("other", MemberGoal::Delete, &[]),
        elsewhere.clone(),
        used("used"),
        used("deeper"),
    ]);
    let references = vec![
        reference("old", json!({"Dead": "used"})),
        reference("used", json!({"Key": "deeper"})),
        reference("deeper", json!({})),
        reference("other", json!({})),
        Reference {
            scope: elsewhere.scope,
            ..reference("elsewhere", json!({}))
        },
    ];
    let deleted = |met: Operation| {
        let survey = Survey {
            references: references.clone(),
            ..with(vec![met])
        };
        let decision = decide(&work, &survey);
        started(&decision)
            .into_iter()
            .map(str::to_owned)
            .collect::<Vec<_>>()
    };
    assert_eq!(deleted(met(Some("old"))), ["other", "elsewhere"]);
    assert_eq!(deleted(met(Some("OLD"))), ["other", "elsewhere"]);
    assert_eq!(deleted(met(Some("third"))), ["elsewhere"], "another form");
    assert_eq!(deleted(met(None)), ["elsewhere"]);
    // What is called so is something else.
    let bucket: TypeName = "AWS::S3::Bucket".parse().unwrap();
    let other = reference("third", json!({}));
    let other = Reference {
        id: ReferenceId {
            type_name: bucket,
            ..other.id
        },
        ..other
    };
    let survey = Survey {
        references: [&references[..], &[other]].concat(),
        ..with(vec![met(Some("third"))])
    };
    assert_eq!(started(&decide(&work, &survey)), ["elsewhere"]);
}

/// A put that has no resource of its own may be about what leaves under another alias, whatever it failed with. What it was called
/// tells.
#[test]
fn what_a_put_that_failed_may_be_about_is_kept() {
    let work = work(vec![
        put("broken", &[]),
        put("new", &[0]),
        member("old", MemberGoal::DeleteOwned(at(0)), &[]),
        member("other", MemberGoal::Delete, &[]),
    ]);
    let references = ["broken", "old", "other"].map(|alias| reference(alias, json!({})));
    let deleted = |references: &[Reference], children: Vec<Operation>| {
        let survey = Survey {
            references: references.to_vec(),
            ..with(children)
        };
        match decide(&work, &survey).next {
            Next::Start(children) => children.into_iter().map(|it| it.reference.alias).collect(),
            Next::Finish(finish) => {
                for status in &finish.members[2..] {
                    let MemberState::Skipped(failure) = &status.state else {
                        panic!("expected a skipped one: {status:?}")
                    };
                    assert!(failure.message.contains(":refactor"), "{failure:?}");
                }
                vec![]
            }
            other => panic!("expected a start or an end, got {other:?}"),
        }
    };
    let failed = |alias: &str, identifier: Option<&str>| {
        let mut child = child(
            alias,
            Kind::Put,
            Some(Ended::Failed(Failure::new("Conflict", "No."))),
        );
        if let Work::Resource(work) = &mut child.work {
            work.identifier = identifier.map(Identifier::new);
        }
        child
    };
    let good = || child("broken", Kind::Put, Some(Ended::Succeeded));
    assert_eq!(
        deleted(&references, vec![good(), failed("new", None)]),
        [""; 0]
    );
    assert_eq!(
        deleted(&references, vec![good(), failed("new", Some("Old"))]),
        ["other"]
    );
    assert_eq!(
        deleted(&references, vec![good(), failed("new", Some("third"))]),
        ["old", "other"]
    );
    // It was never sent.
    assert_eq!(deleted(&references, vec![failed("broken", None)]), [""; 0]);
    // Nobody knows what came of its create. It may be what is called so.
    let unknown = Reference {
        identifier: Some(Identifier::new("Old")),
        provisioning_state: ProvisioningState::Unknown,
        ..reference("new", json!({}))
    };
    let undecided = [&references[..], &[unknown]].concat();
    let refusal = Refusal::Lasting(Failure::new("OutcomeUnknown", "Not yet."));
    let survey = Survey {
        references: undecided,
        refused: BTreeMap::from([(id("new").key(), refusal)]),
        ..with(vec![good()])
    };
    assert_eq!(started(&decide(&work, &survey)), ["other"], "undecided");
    // What it has made is another one.
    let made = [&references[..], &[reference("new", json!({}))]].concat();
    assert_eq!(
        deleted(&made, vec![good(), failed("new", None)]),
        ["old", "other"]
    );
}

/// What has no region may be met from each of them.
#[test]
fn what_a_create_may_have_met_in_another_region_is_kept() {
    let decision_of = |type_name: &str| {
        let id = |alias: &str| ReferenceId {
            type_name: type_name.parse().unwrap(),
            ..id(alias)
        };
        let elsewhere = Scope::new("aws", "1234", "eu-west-1").unwrap();
        let work = work(vec![
            ApplyMember {
                reference: id("new"),
                ..put("new", &[])
            },
            ApplyMember {
                reference: id("old"),
                scope: elsewhere.clone(),
                ..member("old", MemberGoal::DeleteOwned(at(0)), &[])
            },
        ]);
        let failure = Failure::new("AlreadyExists", "There is one.");
        let mut refused = child("new", Kind::Put, Some(Ended::Failed(failure)));
        if let Work::Resource(work) = &mut refused.work {
            work.reference = Some(id("new"));
        }
        let old = Reference {
            id: id("old"),
            scope: elsewhere,
            ..reference("old", json!({}))
        };
        let survey = Survey {
            references: vec![old],
            ..with(vec![refused])
        };
        decide(&work, &survey)
    };
    assert_eq!(started(&decision_of("AWS::EC2::VPC")), ["old"]);
    let kept = decision_of("AWS::IAM::ManagedPolicy");
    assert_eq!(states(finished(&kept)), ["Failed", "Skipped"]);
}
