//! Plans that are kept, and the operations that carry them out.

use tokio::task::JoinSet;
use ucp_model::operation::group::{Application, ApplyMember, MemberGoal, Task};
use ucp_model::operation::{Call, OnShared, Options, ReplacementPolicy, State};
use ucp_model::{
    Approval, Course, Ended, GroupBody, GroupId, Identifier, KeptPlan, NewResourceGroup,
    NotReviewed, PlanId, PlanPolicy, PlanRefusal, PlanStatus, PlanUse, RequestToken, Review,
    ReviewVerdict,
};
use ucp_store::{
    Error, Forgotten, GroupUpdate, NewOperation, PlansOf, Precondition, Reviewed, Sealed,
    StoredPlan,
};

use super::fixture::*;

pub(super) fn plan_id(number: u64) -> PlanId {
    PlanId(operation_id(number).0)
}

/// A plan of two members that change something, which expires at second 1,000.
pub(super) fn plan(number: u64) -> StoredPlan {
    StoredPlan {
        plan: KeptPlan {
            id: plan_id(number),
            plane: "local".to_owned(),
            group: Some(group("rg")),
            created_by: "ann".to_owned(),
            created_at: at(0),
            expires_at: at(1_000),
            fingerprint: "fingerprint".to_owned(),
            course: Course {
                changing: vec![0, 1],
                ..Course::default()
            },
        },
        content: sealed("content"),
        declared: Some(sealed("declared")),
        units: 1,
    }
}

/// The same as an operation carries it out, or a member of it.
pub(super) fn under(new: NewOperation, plan: PlanId, member: Option<usize>) -> NewOperation {
    let used = PlanUse {
        plan,
        member,
        is_compared: false,
    };
    with(new, |new| new.plan = Some(used))
}

/// The options of a put that may replace its resource, and leaves the old one to others.
pub(super) fn giving_up() -> Options {
    Options {
        replacement_policy: ReplacementPolicy::CreateBeforeDelete,
        on_shared: OnShared::Release,
        ..Options::default()
    }
}

pub(super) fn review(verdict: ReviewVerdict, second: i64) -> Review {
    Review {
        verdict,
        fingerprint: "fingerprint".to_owned(),
        approval: Approval {
            by: "bob".to_owned(),
            at: at(second),
            comment: Some("a comment".to_owned()),
        },
    }
}

async fn keep(store: &Engine, plan: &StoredPlan) {
    store.keep_plan(plan.clone()).await.unwrap();
}

async fn stored(store: &Engine, number: u64) -> StoredPlan {
    let plan = store.get_plan(plan_id(number)).await.unwrap();
    plan.unwrap()
}

async fn status(store: &Engine, number: u64, second: i64) -> PlanStatus {
    stored(store, number).await.plan.status(at(second))
}

async fn set_policy(store: &Engine, policy: PlanPolicy) {
    let update = GroupUpdate {
        plan_policy: Some(policy),
        ..GroupUpdate::default()
    };
    let (id, any) = (group("rg"), Precondition::NONE);
    let update = store.update_resource_group(&id, update, &any, at(1));
    assert_eq!(update.await.unwrap().after.body.policy(), policy);
}

/// Whoever may not approve plans gives up to others only what no group protects, or under a plan that was approved. The policy may
/// have come since the request has read the group.
pub async fn what_a_policy_protects_is_given_up_only_as_approved(store: Engine) {
    with_group(&store, "rg").await;
    let giving_up = |number: u64, name: &str, keeps_plan_policy| {
        let new = with(under(put(number, name), plan_id(1), Some(0)), |new| {
            new.options = giving_up();
        });
        NewOperation {
            keeps_plan_policy,
            ..new
        }
    };
    let set = |number: u64, keeps_plan_policy| {
        let member = ApplyMember {
            moved_from: None,
            symbolic_name: "c".to_owned(),
            reference: alias("c"),
            scope: scope(),
            goal: MemberGoal::Delete,
            on_shared: OnShared::Release,
            depends_on: Vec::new(),
            is_unchanged: false,
            is_compared: false,
            is_declared: false,
        };
        let task = Task::Apply(Application {
            members: vec![member],
            has_outputs: false,
            plan: Some(plan_id(2)),
            deployment: None,
            order: None,
        });
        NewOperation {
            keeps_plan_policy,
            ..on_group(number, "rg", task)
        }
    };
    keep(&store, &plan(1)).await;
    keep(&store, &plan(2)).await;
    set_policy(&store, PlanPolicy::Required).await;
    for new in [giving_up(1, "a", true), set(2, true)] {
        let refused = store.accept_operation(new).await;
        assert!(matches!(refused, Err(Error::PolicyLowered)), "{refused:?}");
    }
    for number in [1, 2] {
        let approval = review(ReviewVerdict::Approve, 2);
        store.review_plan(plan_id(number), &approval).await.unwrap();
    }
    set_policy(&store, PlanPolicy::Approved).await;
    for new in [giving_up(3, "a", true), set(4, true)] {
        accept(&store, new).await;
    }
    set_policy(&store, PlanPolicy::Required).await;
    keep(&store, &plan(3)).await;
    let by_approver = under(giving_up(5, "b", false), plan_id(3), Some(0));
    accept(&store, by_approver).await;
}

/// A plan is read as it was kept: with or without a group or a declaration, small or large, alone or with others.
pub async fn a_plan_is_remembered(store: Engine) {
    assert_eq!(store.get_plan(plan_id(1)).await.unwrap(), None);
    let mut without_group = plan(2);
    without_group.plan.group = None;
    let mut without_declaration = plan(3);
    without_declaration.declared = None;
    let mut large = plan(4);
    large.content = Sealed((0..=255).cycle().take(1 << 20).collect());
    let mut largely_declared = plan(40);
    largely_declared.declared = Some(Sealed(vec![7; 1 << 20]));
    let alone = [
        plan(1),
        without_group,
        without_declaration,
        large,
        largely_declared,
    ];
    for plan in &alone {
        keep(&store, plan).await;
    }
    let together: Vec<_> = (5..40).map(plan).collect();
    let mut keeping = JoinSet::new();
    for plan in together.clone() {
        let store = store.clone();
        keeping.spawn(async move { keep(&store, &plan).await });
    }
    keeping.join_all().await;
    for plan in alone.into_iter().chain(together) {
        let found = store.get_plan(plan.plan.id).await.unwrap();
        assert_eq!(found, Some(plan));
    }
}

/// A statement whose reply was lost may be sent again.
pub async fn a_plan_is_kept_once(store: Engine) {
    for large in [false, true] {
        let number = 1 + u64::from(large);
        let mut new = plan(number);
        if large {
            new.content = Sealed(vec![7; 1 << 20]);
        }
        keep(&store, &new).await;
        let approve = review(ReviewVerdict::Approve, 5);
        store.review_plan(new.plan.id, &approve).await.unwrap();
        let reviewed = stored(&store, number).await;
        keep(&store, &new).await;
        assert_eq!(stored(&store, number).await, reviewed);
    }
}

/// A review is remembered. One that is refused leaves no trace, and a rejection erases what was declared.
pub async fn a_plan_is_reviewed(store: Engine) {
    let approve = review(ReviewVerdict::Approve, 5);
    let absent = store.review_plan(plan_id(1), &approve).await;
    assert_eq!(absent.unwrap(), Reviewed::Absent);
    keep(&store, &plan(1)).await;
    let other = Review {
        fingerprint: "another".to_owned(),
        ..approve.clone()
    };
    let refused = store.review_plan(plan_id(1), &other).await.unwrap();
    assert_eq!(refused, Reviewed::Refused(NotReviewed::OtherFingerprint));
    assert_eq!(stored(&store, 1).await, plan(1));

    let reviewed = store.review_plan(plan_id(1), &approve).await.unwrap();
    let approved = stored(&store, 1).await;
    assert_eq!(reviewed, Reviewed::Done(Box::new(approved.plan.clone())));
    assert_eq!(approved.plan.course.approvals, [approve.approval]);
    assert_eq!(approved.declared, plan(1).declared);

    let reject = review(ReviewVerdict::Reject, 6);
    store.review_plan(plan_id(1), &reject).await.unwrap();
    let rejected = stored(&store, 1).await;
    assert_eq!(rejected.plan.course.rejection, Some(reject.approval));
    assert_eq!(rejected.declared, None);
    assert_eq!(rejected.content, plan(1).content);
}

/// An operation uses the plan that it carries out, and its end is that of the plan.
pub async fn a_plan_follows_its_operation(store: Engine) {
    with_group(&store, "rg").await;
    for (number, ended, after) in [
        (1, Ended::Succeeded, PlanStatus::Applied),
        (2, failed(), PlanStatus::Failed),
    ] {
        keep(&store, &plan(number)).await;
        let new = under(put(number, &format!("a{number}")), plan_id(number), None);
        let claimed = accept_and_claim(&store, new).await;
        assert_eq!(status(&store, number, 2).await, PlanStatus::Applying);
        assert_eq!(stored(&store, number).await.declared, None);
        let finished = match ended {
            Ended::Succeeded => applied(&claimed.operation, "x", true),
            Ended::Failed(_) | Ended::Canceled(_) => end(
                &claimed.operation,
                ended,
                ucp_model::operation::ReferenceChange::Removed,
                None,
            ),
        };
        finish(&store, &claimed.lease, finished).await;
        assert_eq!(status(&store, number, 4).await, after);
        assert_eq!(stored(&store, number).await.plan.over_at(), Some(at(3)));
    }
}

/// A plan that must not be used is refused, and nothing is written.
pub async fn a_plan_is_used_once(store: Engine) {
    with_group(&store, "rg").await;
    refused!(
        store.accept_operation(under(put(1, "a"), plan_id(1), None)),
        Error::NoSuchPlan
    );
    keep(&store, &plan(1)).await;
    accept(&store, under(put(1, "a"), plan_id(1), None)).await;
    let used = PlanRefusal::Used(operation_id(1));
    refused!(
        store.accept_operation(under(put(2, "b"), plan_id(1), None)),
        Error::PlanRefused(refusal) if refusal == used
    );
    let mut late = plan(3);
    late.plan.expires_at = at(1);
    keep(&store, &late).await;
    refused!(
        store.accept_operation(under(put(2, "b"), plan_id(3), None)),
        Error::PlanRefused(PlanRefusal::Expired)
    );
    keep(&store, &plan(4)).await;
    let reject = review(ReviewVerdict::Reject, 1);
    store.review_plan(plan_id(4), &reject).await.unwrap();
    refused!(
        store.accept_operation(under(put(2, "b"), plan_id(4), None)),
        Error::PlanRefused(PlanRefusal::Rejected)
    );
    assert_eq!(store.get_operation(operation_id(2)).await.unwrap(), None);
    assert_eq!(store.get_reference(&alias("b")).await.unwrap(), None);
}

/// The members of a plan are used one by one. What was declared stays until all have been.
pub async fn the_members_of_a_plan_are_used_one_by_one(store: Engine) {
    with_group(&store, "rg").await;
    keep(&store, &plan(9)).await;
    accept(&store, under(put(1, "a"), plan_id(9), Some(0))).await;
    refused!(
        store.accept_operation(under(put(2, "b"), plan_id(9), Some(0))),
        Error::PlanRefused(PlanRefusal::Used(_))
    );
    assert_eq!(stored(&store, 9).await.declared, plan(9).declared);
    accept(&store, under(put(2, "b"), plan_id(9), Some(1))).await;
    assert_eq!(stored(&store, 9).await.declared, None);
    for claimed in claim(&store, at(2)).await {
        let name = claimed.operation.header.id.to_string();
        let end = applied(&claimed.operation, &name, true);
        finish(&store, &claimed.lease, end).await;
    }
    assert_eq!(status(&store, 9, 5).await, PlanStatus::Applied);
}

/// A member that has failed keeps what was declared of the others.
pub async fn a_failed_member_is_in_nobody_elses_way(store: Engine) {
    with_group(&store, "rg").await;
    keep(&store, &plan(9)).await;
    let claimed = accept_and_claim(&store, under(put(1, "a"), plan_id(9), Some(0))).await;
    let removed = ucp_model::operation::ReferenceChange::Removed;
    finish(
        &store,
        &claimed.lease,
        end(&claimed.operation, failed(), removed, None),
    )
    .await;
    assert_eq!(status(&store, 9, 4).await, PlanStatus::Applying);
    assert_eq!(stored(&store, 9).await.declared, plan(9).declared);
    accept(&store, under(put(2, "b"), plan_id(9), Some(1))).await;
    assert_eq!(stored(&store, 9).await.declared, None);
    let claimed = claim_one(&store, at(5)).await;
    finish(
        &store,
        &claimed.lease,
        applied(&claimed.operation, "x", true),
    )
    .await;
    assert_eq!(status(&store, 9, 6).await, PlanStatus::Failed);
}

/// An apply to a group uses the whole plan. Its children do not use it again.
pub async fn an_apply_uses_the_whole_plan(store: Engine) {
    with_group(&store, "rg").await;
    keep(&store, &plan(9)).await;
    let application = Application {
        plan: Some(plan_id(9)),
        deployment: None,
        order: None,
        ..no_members()
    };
    let apply = on_group(1, "rg", Task::Apply(application));
    let parent = accept(&store, apply).await.operation;
    let parent = {
        let mut claimed = claim(&store, at(11)).await;
        assert_eq!(claimed[0].operation, parent);
        claimed.remove(0)
    };
    let child = NewOperation {
        parent: Some(operation_id(1)),
        ..under(put(2, "a"), plan_id(9), Some(0))
    };
    store.accept_child(&parent.lease, child).await.unwrap();
    assert_eq!(stored(&store, 9).await.plan.course.uses.len(), 1);
    refused!(
        store.accept_operation(under(put(3, "b"), plan_id(9), Some(1))),
        Error::PlanRefused(PlanRefusal::Used(_))
    );
    let child = claim_one(&store, at(11)).await;
    finish(&store, &child.lease, applied(&child.operation, "x", true)).await;
    assert_eq!(status(&store, 9, 12).await, PlanStatus::Applying);
    let end = end_on_group(&parent.operation, Ended::Succeeded, at(30));
    finish(&store, &parent.lease, end).await;
    assert_eq!(status(&store, 9, 31).await, PlanStatus::Applied);
}

/// Who has asked for a plan, and callers without a name, approve nothing where the group says so. Without that it is one approval as any.
pub async fn another_caller_approves_where_the_group_says_so(store: Engine) {
    with_group(&store, "rg").await;
    keep(&store, &plan(1)).await;
    let update = async |self_approval, keeps_plan_policy| {
        let update = GroupUpdate {
            plan_policy: Some(PlanPolicy::Approved),
            self_approval,
            ..GroupUpdate::default()
        };
        let precondition = Precondition {
            keeps_plan_policy,
            ..Precondition::NONE
        };
        let id = group("rg");
        let update = store.update_resource_group(&id, update, &precondition, at(1));
        update.await.map(|written| written.after.body.policy())
    };
    let strictest = update(Some(false), true).await.unwrap();
    assert_eq!(strictest, PlanPolicy::ApprovedByAnother);
    assert_eq!(update(None, true).await.unwrap(), strictest, "it is kept");
    let planned = under(put(2, "a"), plan_id(1), None);
    for by in ["ann", ucp_model::ANONYMOUS] {
        let mut own = review(ReviewVerdict::Approve, 1);
        own.approval.by = by.to_owned();
        store.review_plan(plan_id(1), &own).await.unwrap();
        refused!(
            store.accept_operation(planned.clone()),
            Error::ApprovalRequired
        );
    }
    refused!(update(Some(true), true), Error::PolicyLowered);
    let lowered = update(Some(true), false).await.unwrap();
    assert_eq!(lowered, PlanPolicy::Approved);
    update(Some(false), false).await.unwrap();
    let approve = review(ReviewVerdict::Approve, 1);
    store.review_plan(plan_id(1), &approve).await.unwrap();
    accept(&store, planned).await;
}

/// The policy of a group is judged with the operation.
pub async fn a_group_takes_what_its_policy_says(store: Engine) {
    with_group(&store, "rg").await;
    keep(&store, &plan(1)).await;
    let planned = under(put(2, "a"), plan_id(1), None);
    for policy in [PlanPolicy::Required, PlanPolicy::Approved] {
        set_policy(&store, policy).await;
        refused!(store.accept_operation(put(1, "a")), Error::PlanRequired);
        let apply = on_group(1, "rg", Task::Apply(no_members()));
        refused!(store.accept_operation(apply), Error::PlanRequired);
        let deletion = on_group(1, "rg", Task::Delete);
        refused!(
            store.delete_resource_group(deletion, &Precondition::NONE, None),
            Error::PlanRequired
        );
    }
    refused!(
        store.accept_operation(planned.clone()),
        Error::ApprovalRequired
    );
    assert_eq!(stored(&store, 1).await, plan(1), "it is not used");
    let approve = review(ReviewVerdict::Approve, 1);
    store.review_plan(plan_id(1), &approve).await.unwrap();
    accept(&store, planned).await;
    // What changes nothing in AWS needs no plan.
    let import = with(named(put(3, "b"), "y"), |new| {
        new.kind = ucp_model::operation::Kind::Import;
    });
    accept(&store, import).await;

    // A PUT that does not name it keeps it, and whoever may not approve plans cannot lower it.
    let put = async |policy, keeps_plan_policy| {
        let put = NewResourceGroup {
            body: GroupBody {
                plan_policy: policy,
                ..GroupBody::default()
            },
            ..put_group(group("rg"), "global", "")
        };
        let precondition = Precondition {
            keeps_plan_policy,
            ..Precondition::NONE
        };
        let put = store.put_resource_group(put, &precondition, at(5)).await;
        put.map(|written| written.after.body.policy())
    };
    assert_eq!(put(None, true).await.unwrap(), PlanPolicy::Approved);
    for lower in [PlanPolicy::Required, PlanPolicy::Optional] {
        refused!(put(Some(lower), true), Error::PolicyLowered);
    }
    let update = GroupUpdate {
        plan_policy: Some(PlanPolicy::Optional),
        ..GroupUpdate::default()
    };
    let bound = Precondition {
        keeps_plan_policy: true,
        ..Precondition::NONE
    };
    let id = group("rg");
    refused!(
        store.update_resource_group(&id, update, &bound, at(5)),
        Error::PolicyLowered
    );
    let optional = put(Some(PlanPolicy::Optional), false).await;
    assert_eq!(optional.unwrap(), PlanPolicy::Optional);
    assert_eq!(
        put(Some(PlanPolicy::Required), true).await.unwrap(),
        PlanPolicy::Required
    );
}

/// A group protects what its references stand for, also from changes by name and under aliases of other groups.
pub async fn a_policy_holds_for_the_resource(store: Engine) {
    with_group(&store, "rg").await;
    with_group(&store, "other").await;
    map(&store, 1, "a", "mydb", false).await;
    keep(&store, &plan(9)).await;
    let approve = review(ReviewVerdict::Approve, 1);
    store.review_plan(plan_id(9), &approve).await.unwrap();
    let elsewhere = |number| {
        with(named(put(number, "b"), "mydb"), |new| {
            new.reference = Some(alias_in("other", "b"));
        })
    };
    let apply = NewOperation {
        accepted_at: at(3),
        ..on_group(2, "other", Task::Apply(no_members()))
    };
    accept(&store, apply).await;
    let parent = claim_one(&store, at(3)).await;
    let protected = reference(&store, "a").await;
    let target = protected.target().unwrap();
    for policy in [PlanPolicy::Required, PlanPolicy::Approved] {
        set_policy(&store, policy).await;
        for (own, told) in [
            (None, policy),
            (Some(group("other")), policy),
            (Some(group("rg")), PlanPolicy::Optional),
        ] {
            let found = store.policy_elsewhere(&target, own.as_ref()).await;
            assert_eq!(found.unwrap(), told, "{own:?}");
        }
        for new in [
            untracked(put(3, "-"), "mydb"),
            untracked(delete(3, "-"), "mydb"),
            elsewhere(3),
        ] {
            refused!(
                store.accept_operation(new),
                Error::PolicyElsewhere(refused) if refused == policy
            );
        }
        let child = NewOperation {
            parent: Some(operation_id(2)),
            ..elsewhere(3)
        };
        refused!(
            store.accept_child(&parent.lease, child),
            Error::PolicyElsewhere(_)
        );
    }
    // What was approved was not approved for this group.
    let planned = |new| under(new, plan_id(9), None);
    for new in [untracked(put(3, "-"), "mydb"), elsewhere(3)] {
        refused!(
            store.accept_operation(planned(new)),
            Error::PolicyElsewhere(PlanPolicy::Approved)
        );
    }
    assert_eq!(status(&store, 9, 2).await, PlanStatus::Approved);
    accept(&store, untracked(put(4, "-"), "another")).await;
    let import = with(elsewhere(5), |new| {
        new.kind = ucp_model::operation::Kind::Import;
        new.identifier = identifier("third");
    });
    accept(&store, import).await;

    // AWS spells the name as it is in the reference.
    accept(&store, untracked(put(6, "-"), "MyDB")).await;
    let claimed = claim(&store, at(4)).await;
    let claimed = claimed
        .into_iter()
        .find(|claimed| claimed.operation.header.id == operation_id(6))
        .unwrap();
    let update = intent(Call::Update(Identifier::new("mydb")), None);
    let first = stepped(&super::respelling::respelled(&claimed.operation), |work| {
        work.state = State::Submitting(update.clone());
    });
    let commit = store.commit_step(&claimed.lease, &first, None, at(4), TERM);
    refused!(commit, Error::PolicyElsewhere(PlanPolicy::Approved));

    set_policy(&store, PlanPolicy::Required).await;
    let commit = store.commit_step(&claimed.lease, &first, None, at(4), TERM);
    refused!(commit, Error::PolicyElsewhere(PlanPolicy::Required));
    set_policy(&store, PlanPolicy::Optional).await;
    let commit = store.commit_step(&claimed.lease, &first, None, at(4), TERM);
    let lease = commit.await.unwrap();
    // It is not judged again once something may have been sent.
    set_policy(&store, PlanPolicy::Required).await;
    let unanswered = stepped(&first, |work| work.attempt = 1);
    let commit = store.commit_step(&lease, &unanswered, None, at(5), TERM);
    let lease = commit.await.unwrap();
    let sent = stepped(&first, |work| {
        work.state = State::Waiting(update.clone(), RequestToken::new("token"));
    });
    let commit = store.commit_step(&lease, &sent, None, at(5), TERM);
    let lease = commit.await.unwrap();
    finish(&store, &lease, applied(&sent, "mydb", false)).await;
    accept(&store, planned(untracked(put(7, "-"), "mydb"))).await;
    assert_eq!(status(&store, 9, 2).await, PlanStatus::Applying);
}

/// Returns the plans of a caller about the group of that name, or all.
fn plans_of<'a>(caller: &'a str, group: Option<&'a GroupId>) -> PlansOf<'a> {
    PlansOf { caller, group }
}

/// Plans are counted by who has asked for them, what they are about and their size, as long as they are there.
pub async fn plans_are_counted(store: Engine) {
    with_group(&store, "rg").await;
    let [own, spelled, other] = ["rg", "RG", "other"].map(group);
    for (number, units, about) in [(1, 1, None), (2, 5, Some(&own)), (3, 2, Some(&spelled))] {
        let mut plan = plan(number);
        plan.units = units;
        plan.plan.group = about.cloned();
        plan.plan.expires_at = at(100 * i64::try_from(number).unwrap());
        keep(&store, &plan).await;
    }
    for (caller, about, limit, counted) in [
        ("ann", None, 90, 8),
        ("ann", None, 2, 2),
        ("bob", None, 90, 0),
        ("ann", Some(&own), 90, 7),
        ("ann", Some(&own), 6, 6),
        ("bob", Some(&own), 90, 0),
        ("ann", Some(&other), 90, 0),
    ] {
        let count = store.count_plans(plans_of(caller, about), limit).await;
        assert_eq!(count.unwrap(), counted, "{caller} {about:?} up to {limit}");
    }
}

/// Room is made by plans of a caller that nobody has relied on, the oldest first, as far as it is needed.
pub async fn the_oldest_plans_make_room(store: Engine) {
    with_group(&store, "rg").await;
    let own = group("rg");
    for (number, created_by, about, units) in [
        (1, "ann", Some(&own), 1),
        (2, "ann", None, 5),
        (3, "ann", Some(&own), 2),
        (4, "bob", Some(&own), 9),
        (5, "ann", Some(&own), 3),
    ] {
        let mut plan = plan(number);
        let number = i64::try_from(number).unwrap();
        plan.units = units;
        plan.plan.created_by = created_by.to_owned();
        plan.plan.group = about.cloned();
        plan.plan.created_at = at(number);
        // The oldest lives longest.
        plan.plan.expires_at = at(1_000 - 100 * number);
        keep(&store, &plan).await;
    }
    let remove = async |about, second, most| {
        let removed = store.remove_plans_of(plans_of("ann", about), at(second), most);
        let removed = removed.await.unwrap();
        let left = store.count_plans(plans_of("ann", None), 90).await;
        (removed, left.unwrap())
    };
    assert_eq!(remove(None, 400, 0).await, (0, 11), "nothing has expired");
    assert_eq!(remove(None, 2_000, 11).await, (0, 11), "it is room enough");
    let about = Some(&own);
    assert_eq!(
        remove(about, 2_000, 5).await,
        (1, 10),
        "the oldest of the group"
    );
    assert_eq!(store.get_plan(plan_id(1)).await.unwrap(), None);
    assert_eq!(remove(None, 500, 0).await, (1, 7), "what has expired");
    assert_eq!(store.get_plan(plan_id(5)).await.unwrap(), None);
    assert_eq!(remove(None, 2_000, 2).await, (1, 2), "the oldest of all");
    assert_eq!(store.get_plan(plan_id(2)).await.unwrap(), None);
    assert_eq!(remove(None, 2_000, 0).await, (1, 0));
    stored(&store, 4).await;
}

/// What somebody has reviewed or carried out does not count and stays, also when it is over.
pub async fn plans_that_were_relied_on_do_not_count(store: Engine) {
    with_group(&store, "rg").await;
    for number in 1..=5 {
        keep(&store, &plan(number)).await;
    }
    for (number, verdict) in [(1, ReviewVerdict::Approve), (2, ReviewVerdict::Reject)] {
        let review = review(verdict, 1);
        store.review_plan(plan_id(number), &review).await.unwrap();
    }
    let claimed = accept_and_claim(&store, under(put(1, "a"), plan_id(3), None)).await;
    let done = applied(&claimed.operation, "x", true);
    finish(&store, &claimed.lease, done).await;
    accept(&store, under(put(2, "b"), plan_id(4), None)).await;
    let of = plans_of("ann", None);
    assert_eq!(store.count_plans(of, 9).await.unwrap(), 1);
    let remove = async |most| store.remove_plans_of(of, at(9_000), most).await.unwrap();
    assert_eq!(remove(1).await, 0, "the others do not count");
    assert_eq!(remove(0).await, 1);
    assert_eq!(store.get_plan(plan_id(5)).await.unwrap(), None);
    for number in 1..=4 {
        stored(&store, number).await;
    }
}

/// What was declared is erased when a plan expires. The plan is removed later, unless an operation carries it out.
pub async fn what_is_over_is_removed(store: Engine) {
    with_group(&store, "rg").await;
    for number in 1..=3 {
        let mut plan = plan(number);
        plan.plan.expires_at = at(100 + i64::try_from(number).unwrap());
        keep(&store, &plan).await;
    }
    accept(&store, under(put(1, "a"), plan_id(1), Some(0))).await;
    let erase = async |second, limit| store.erase_expired_plans(at(second), limit).await.unwrap();
    assert_eq!(erase(100, 10).await, 0);
    assert_eq!(erase(103, 2).await, 2);
    assert_eq!(erase(103, 2).await, 1);
    assert_eq!(erase(103, 2).await, 0);
    assert_eq!(stored(&store, 2).await.declared, None);

    let remove = async |second, limit| store.remove_plans(at(second), limit).await.unwrap();
    assert_eq!(remove(102, 10).await, 0);
    assert_eq!(remove(1_000, 1).await, 1);
    assert_eq!(store.get_plan(plan_id(2)).await.unwrap(), None);
    assert_eq!(remove(1_000, 10).await, 1);
    stored(&store, 1).await;
    let claimed = claim_one(&store, at(2)).await;
    finish(
        &store,
        &claimed.lease,
        applied(&claimed.operation, "x", true),
    )
    .await;
    assert_eq!(status(&store, 1, 200).await, PlanStatus::Expired);
    assert_eq!(remove(1_000, 10).await, 1);
}

/// A group with a policy protects what its references stand for, so not everybody may take one away.
pub async fn a_policy_keeps_references(store: Engine) {
    with_group(&store, "rg").await;
    for (number, name) in [(1, "a"), (2, "b")] {
        map(&store, number, name, name, false).await;
    }
    let correlation = correlation();
    let forget = async |name, keeps_plan_policy| {
        let id = alias(name);
        let forgotten =
            store.forget_reference(&id, keeps_plan_policy, "somebody", &correlation, at(30));
        forgotten.await
    };
    for policy in [PlanPolicy::Required, PlanPolicy::Approved] {
        set_policy(&store, policy).await;
        refused!(forget("a", true), Error::PolicyLowered);
        reference(&store, "a").await;
    }
    assert_eq!(forget("a", false).await.unwrap(), Forgotten::Forgotten);
    set_policy(&store, PlanPolicy::Optional).await;
    assert_eq!(forget("b", true).await.unwrap(), Forgotten::Forgotten);
}
