//! Plans that are kept: what a what-if has shown, until that is done or nobody may do it any more.

use serde::{Deserialize, Serialize};

use crate::{Ended, ErrorCode, Failure, GroupId, OperationId, PlanId, Timestamp};

/// The name of callers without one.
pub const ANONYMOUS: &str = "anonymous";

/// How many callers may approve a plan.
pub const APPROVALS_MAX: usize = 100;

/// A plan that is kept, without what it shows.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KeptPlan {
    /// Its id.
    pub id: PlanId,
    /// The radius plane that it is listed under.
    pub plane: String,
    /// The group whose references it is about; `None` for a resource without a reference.
    pub group: Option<GroupId>,
    /// Who has asked for it.
    pub created_by: String,
    /// When it was made.
    pub created_at: Timestamp,
    /// Until when it may be used.
    pub expires_at: Timestamp,
    /// A keyed digest of the state that it was made for, and of what it does. Plans that differ only in values that no read
    /// returns have the same.
    pub fingerprint: String,
    /// What has become of it.
    pub course: Course,
}

/// What has become of a plan so far.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub struct Course {
    /// Who has approved it, one entry for each caller.
    pub approvals: Vec<Approval>,
    /// Who has rejected it, if anybody has.
    pub rejection: Option<Approval>,
    /// The indexes of its members that change something.
    pub changing: Vec<usize>,
    /// The operations that carry it out.
    pub uses: Vec<Use>,
}

/// A caller's word on a plan.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Approval {
    /// The caller.
    pub by: String,
    /// When they said so.
    pub at: Timestamp,
    /// What they said.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub comment: Option<String>,
}

/// An operation that carries out a plan, or a member of it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Use {
    /// The index of the member; `None` for all of them.
    pub member: Option<usize>,
    /// The operation.
    pub operation: OperationId,
    /// How it ended, if it has.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub end: Option<UseEnd>,
}

/// How the operation of a [`Use`] ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct UseEnd {
    /// When it ended.
    pub at: Timestamp,
    /// What came of it.
    pub status: PlanStatus,
}

/// The plan, or the member of one, that an operation carries out.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct PlanUse {
    /// The plan.
    pub plan: PlanId,
    /// The index of the member; `None` for all of them.
    pub member: Option<usize>,
    /// Whether it belongs to the apply of a set, which has compared all that AWS shows of the member with the plan before it
    /// changed anything. What differs since may be the work of other members.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub is_compared: bool,
}

impl PlanUse {
    /// Returns the use of all members.
    pub fn whole(plan: PlanId) -> Self {
        Self {
            plan,
            member: None,
            is_compared: false,
        }
    }
}

/// The status of a plan.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum PlanStatus {
    /// Nothing has become of it yet.
    Pending,
    /// Somebody has approved it.
    Approved,
    /// Somebody has rejected it.
    Rejected,
    /// An operation carries it out, or has carried out some of it.
    Applying,
    /// It was carried out.
    Applied,
    /// It was not carried out, or not to its end.
    Failed,
    /// It was not carried out, since the state it was made for is another one.
    Stale,
    /// It was not carried out in time.
    Expired,
}

impl PlanStatus {
    /// Returns the name on the wire.
    pub fn as_str(self) -> &'static str {
        match self {
            PlanStatus::Pending => "Pending",
            PlanStatus::Approved => "Approved",
            PlanStatus::Rejected => "Rejected",
            PlanStatus::Applying => "Applying",
            PlanStatus::Applied => "Applied",
            PlanStatus::Failed => "Failed",
            PlanStatus::Stale => "Stale",
            PlanStatus::Expired => "Expired",
        }
    }

    /// Returns what the end of an operation makes of the plan that it carries out.
    pub fn after(ended: &Ended) -> Self {
        match ended {
            Ended::Succeeded => PlanStatus::Applied,
            Ended::Failed(failure) if is_stale(failure) => PlanStatus::Stale,
            Ended::Failed(_) | Ended::Canceled(_) => PlanStatus::Failed,
        }
    }
}

/// Returns whether an operation failed because its plan, or that of one of its children, was made for another state.
fn is_stale(failure: &Failure) -> bool {
    let codes = failure.details.iter().map(|detail| &detail.code);
    let mut codes = codes.chain([&failure.code]);
    codes.any(|code| code == ErrorCode::StalePlan.as_str())
}

/// What a caller says of a plan.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Review {
    /// What they want.
    pub verdict: ReviewVerdict,
    /// The fingerprint of the plan that they have seen.
    pub fingerprint: String,
    /// Who they are, when they say so, and their comment.
    pub approval: Approval,
}

/// Whether a plan may be carried out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ReviewVerdict {
    /// It may.
    Approve,
    /// It may not.
    Reject,
}

/// Why a [`Review`] was refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NotReviewed {
    /// The plan has another fingerprint.
    OtherFingerprint,
    /// The plan is in this status.
    In(PlanStatus),
    /// [`APPROVALS_MAX`] callers have approved it.
    TooMany,
}

/// Why a plan must not be used.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PlanRefusal {
    /// It has expired.
    Expired,
    /// Somebody has rejected it.
    Rejected,
    /// This operation has used it.
    Used(OperationId),
}

impl KeptPlan {
    /// Returns its status.
    pub fn status(&self, now: Timestamp) -> PlanStatus {
        let Course {
            approvals,
            rejection,
            uses,
            ..
        } = &self.course;
        let is_expired = self.expires_at <= now;
        if rejection.is_some() {
            return PlanStatus::Rejected;
        }
        if uses.is_empty() {
            return match approvals.is_empty() {
                _ if is_expired => PlanStatus::Expired,
                true => PlanStatus::Pending,
                false => PlanStatus::Approved,
            };
        }
        let is = |status| {
            uses.iter()
                .filter_map(|it| it.end)
                .any(|end| end.status == status)
        };
        match () {
            () if self.is_running() => PlanStatus::Applying,
            () if !self.is_used_up() && !is_expired => PlanStatus::Applying,
            () if is(PlanStatus::Stale) => PlanStatus::Stale,
            () if is(PlanStatus::Failed) => PlanStatus::Failed,
            () if self.is_used_up() => PlanStatus::Applied,
            () => PlanStatus::Expired,
        }
    }

    /// Returns whether an operation is carrying it out.
    fn is_running(&self) -> bool {
        self.course.uses.iter().any(|used| used.end.is_none())
    }

    /// Returns whether every member that changes something has been used.
    fn is_used_up(&self) -> bool {
        let Course { uses, changing, .. } = &self.course;
        let is_used = |member: &usize| {
            let mut uses = uses.iter();
            uses.any(|used| used.member.is_none_or(|used| used == *member))
        };
        changing.iter().all(is_used)
    }

    /// Returns when it is over, and must not be used any more. `None` while an operation carries it out.
    pub fn over_at(&self) -> Option<Timestamp> {
        if self.is_running() {
            return None;
        }
        let Course {
            rejection, uses, ..
        } = &self.course;
        let ended_at = uses.iter().filter_map(|used| Some(used.end?.at)).max();
        Some(match (rejection, ended_at) {
            (Some(rejection), _) => rejection.at,
            (None, Some(ended_at)) if self.is_used_up() => ended_at,
            (None, Some(ended_at)) => ended_at.max(self.expires_at),
            (None, None) => self.expires_at,
        })
    }

    /// Returns whether somebody has relied on it: it was reviewed, or carried out, if only in part.
    pub fn is_relied_on(&self) -> bool {
        let Course {
            approvals,
            rejection,
            uses,
            changing: _,
        } = &self.course;
        !approvals.is_empty() || rejection.is_some() || !uses.is_empty()
    }

    /// Returns whether its declarations are needed: somebody may still use it.
    pub fn is_open(&self, now: Timestamp) -> bool {
        match self.status(now) {
            PlanStatus::Pending | PlanStatus::Approved => true,
            PlanStatus::Applying => !self.is_used_up(),
            PlanStatus::Rejected
            | PlanStatus::Applied
            | PlanStatus::Failed
            | PlanStatus::Stale
            | PlanStatus::Expired => false,
        }
    }

    /// Returns whether somebody has approved it, and nobody has rejected it.
    pub fn is_approved(&self) -> bool {
        !self.course.approvals.is_empty() && self.course.rejection.is_none()
    }

    /// Returns whether another caller than who asked for it has approved it, and nobody has rejected it. Callers without a name are no
    /// others.
    pub fn is_approved_by_another(&self) -> bool {
        let mut approvals = self.course.approvals.iter();
        approvals.any(|approval| self.is_of_another(&approval.by)) && self.is_approved()
    }

    /// Returns whether a caller is known to be another one than who asked for it: both have a name.
    pub fn is_of_another(&self, caller: &str) -> bool {
        caller != self.created_by && ![caller, &self.created_by].contains(&ANONYMOUS)
    }

    /// Refuses a use of the plan, or of a member of it, at a time. Each member is used once, whatever becomes of the others.
    pub fn judge_use(&self, member: Option<usize>, now: Timestamp) -> Result<(), PlanRefusal> {
        let Course {
            rejection, uses, ..
        } = &self.course;
        let is_in_the_way = |used: &&Use| match (used.member, member) {
            (Some(used), Some(member)) => used == member,
            (None, _) | (_, None) => true,
        };
        if let Some(used) = uses.iter().find(is_in_the_way) {
            return Err(PlanRefusal::Used(used.operation));
        }
        if rejection.is_some() {
            return Err(PlanRefusal::Rejected);
        }
        if self.expires_at <= now {
            Err(PlanRefusal::Expired)
        } else {
            Ok(())
        }
    }

    /// Returns the plan that an operation carries out from now on.
    #[must_use]
    pub fn used_by(mut self, operation: OperationId, member: Option<usize>) -> Self {
        self.course.uses.push(Use {
            member,
            operation,
            end: None,
        });
        self
    }

    /// Returns the plan after the end of an operation that carries it out. `None` if that does not.
    pub fn ended_by(
        mut self,
        operation: OperationId,
        ended: &Ended,
        at: Timestamp,
    ) -> Option<Self> {
        let mut uses = self.course.uses.iter_mut();
        let used = uses.find(|used| used.operation == operation && used.end.is_none())?;
        used.end = Some(UseEnd {
            at,
            status: PlanStatus::after(ended),
        });
        Some(self)
    }

    /// Returns the plan after a review. One that says what was said before changes nothing.
    pub fn reviewed(mut self, review: &Review) -> Result<Self, NotReviewed> {
        let Review {
            verdict,
            fingerprint,
            approval,
        } = review;
        if *fingerprint != self.fingerprint {
            return Err(NotReviewed::OtherFingerprint);
        }
        let status = self.status(approval.at);
        let approvals = &mut self.course.approvals;
        let has_approved = approvals.iter().any(|other| other.by == approval.by);
        match (verdict, status) {
            (ReviewVerdict::Reject, PlanStatus::Rejected) => {}
            (ReviewVerdict::Approve, PlanStatus::Rejected) => return Err(NotReviewed::In(status)),
            (ReviewVerdict::Approve, _) if has_approved => {}
            (ReviewVerdict::Approve, PlanStatus::Pending | PlanStatus::Approved) => {
                if approvals.len() >= APPROVALS_MAX {
                    return Err(NotReviewed::TooMany);
                }
                approvals.push(approval.clone());
            }
            (ReviewVerdict::Reject, PlanStatus::Pending | PlanStatus::Approved) => {
                self.course.rejection = Some(approval.clone());
            }
            (
                ReviewVerdict::Approve | ReviewVerdict::Reject,
                PlanStatus::Applying
                | PlanStatus::Applied
                | PlanStatus::Failed
                | PlanStatus::Stale
                | PlanStatus::Expired,
            ) => return Err(NotReviewed::In(status)),
        }
        Ok(self)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(second: i64) -> Timestamp {
        Timestamp::from_millis(second * 1_000)
    }

    fn operation(number: u64) -> OperationId {
        format!("{number:032x}").parse().unwrap()
    }

    /// A plan of three members, of which the first two change something, that expires after 100 s.
    fn plan() -> KeptPlan {
        KeptPlan {
            id: format!("{:032x}", 1).parse().unwrap(),
            plane: "local".to_owned(),
            group: None,
            created_by: "ann".to_owned(),
            created_at: at(0),
            expires_at: at(100),
            fingerprint: "f".to_owned(),
            course: Course {
                changing: vec![0, 1],
                ..Course::default()
            },
        }
    }

    fn review(verdict: ReviewVerdict, by: &str, second: i64) -> Review {
        Review {
            verdict,
            fingerprint: "f".to_owned(),
            approval: Approval {
                by: by.to_owned(),
                at: at(second),
                comment: Some(format!("{by} at {second}")),
            },
        }
    }

    fn failed(code: ErrorCode) -> Ended {
        Ended::Failed(Failure::new(code, "why"))
    }

    #[test]
    fn nobody_is_another_than_a_caller_without_a_name() {
        let named = plan();
        assert!(named.is_of_another("bob"));
        assert!(!named.is_of_another("ann") && !named.is_of_another(ANONYMOUS));
        let unnamed = KeptPlan {
            created_by: ANONYMOUS.to_owned(),
            ..plan()
        };
        assert!(!unnamed.is_of_another("bob") && !unnamed.is_of_another(ANONYMOUS));
    }

    #[test]
    fn a_plan_is_pending_until_it_is_approved_or_expires() {
        assert_eq!(plan().status(at(99)), PlanStatus::Pending);
        assert_eq!(plan().status(at(100)), PlanStatus::Expired);
        let approved = plan().reviewed(&review(ReviewVerdict::Approve, "bob", 1));
        let approved = approved.unwrap();
        assert_eq!(approved.status(at(99)), PlanStatus::Approved);
        assert_eq!(approved.status(at(100)), PlanStatus::Expired);
        assert_eq!(approved.over_at(), Some(at(100)));
    }

    #[test]
    fn who_asks_for_a_plan_and_who_has_no_name_is_no_other() {
        let mut plan = plan();
        for (by, is_by_another) in [("ann", false), (ANONYMOUS, false), ("bob", true)] {
            plan = plan
                .reviewed(&review(ReviewVerdict::Approve, by, 1))
                .unwrap();
            assert!(plan.is_approved());
            assert_eq!(plan.is_approved_by_another(), is_by_another, "{by}");
        }
        let rejected = plan
            .reviewed(&review(ReviewVerdict::Reject, "cy", 2))
            .unwrap();
        assert!(!rejected.is_approved_by_another());
    }

    #[test]
    fn a_review_is_of_what_was_seen() {
        let other = Review {
            fingerprint: "g".to_owned(),
            ..review(ReviewVerdict::Approve, "bob", 1)
        };
        assert_eq!(plan().reviewed(&other), Err(NotReviewed::OtherFingerprint));
    }

    #[test]
    fn a_review_said_again_changes_nothing() {
        let approved = plan().reviewed(&review(ReviewVerdict::Approve, "bob", 1));
        let approved = approved.unwrap();
        let again = review(ReviewVerdict::Approve, "bob", 200);
        assert_eq!(approved.clone().reviewed(&again), Ok(approved.clone()));
        let rejected = approved.reviewed(&review(ReviewVerdict::Reject, "eve", 2));
        let rejected = rejected.unwrap();
        assert_eq!(rejected.status(at(3)), PlanStatus::Rejected);
        assert_eq!(rejected.over_at(), Some(at(2)));
        assert!(!rejected.is_approved());
        let again = review(ReviewVerdict::Reject, "bob", 3);
        assert_eq!(rejected.clone().reviewed(&again), Ok(rejected.clone()));
        let refused = rejected.reviewed(&review(ReviewVerdict::Approve, "bob", 3));
        assert_eq!(refused, Err(NotReviewed::In(PlanStatus::Rejected)));
    }

    #[test]
    fn what_is_over_or_under_way_is_not_reviewed() {
        let used = plan().used_by(operation(1), None);
        for verdict in [ReviewVerdict::Approve, ReviewVerdict::Reject] {
            let refused = plan().reviewed(&review(verdict, "bob", 100));
            assert_eq!(refused, Err(NotReviewed::In(PlanStatus::Expired)));
            let refused = used.clone().reviewed(&review(verdict, "bob", 1));
            assert_eq!(refused, Err(NotReviewed::In(PlanStatus::Applying)));
        }
    }

    #[test]
    fn so_many_approve_and_no_more() {
        let mut plan = plan();
        for number in 0..APPROVALS_MAX {
            let approval = review(ReviewVerdict::Approve, &number.to_string(), 1);
            plan = plan.reviewed(&approval).unwrap();
        }
        let one_more = review(ReviewVerdict::Approve, "bob", 1);
        assert_eq!(plan.clone().reviewed(&one_more), Err(NotReviewed::TooMany));
        let again = review(ReviewVerdict::Approve, "7", 2);
        assert_eq!(plan.clone().reviewed(&again), Ok(plan));
    }

    #[test]
    fn a_plan_is_used_once() {
        let used = plan().used_by(operation(1), None);
        assert_eq!(plan().judge_use(None, at(99)), Ok(()));
        assert_eq!(plan().judge_use(None, at(100)), Err(PlanRefusal::Expired));
        for member in [None, Some(0)] {
            let refused = used.judge_use(member, at(1));
            assert_eq!(refused, Err(PlanRefusal::Used(operation(1))));
        }
        let rejected = plan().reviewed(&review(ReviewVerdict::Reject, "eve", 2));
        let refused = rejected.unwrap().judge_use(None, at(3));
        assert_eq!(refused, Err(PlanRefusal::Rejected));
    }

    #[test]
    fn members_are_used_one_by_one() {
        let one = plan().used_by(operation(1), Some(0));
        let of_first = Err(PlanRefusal::Used(operation(1)));
        assert_eq!(one.judge_use(Some(0), at(1)), of_first);
        assert_eq!(one.judge_use(None, at(1)), of_first);
        assert_eq!(one.judge_use(Some(1), at(1)), Ok(()));
        let one = one
            .ended_by(operation(1), &Ended::Succeeded, at(5))
            .unwrap();
        assert_eq!(one.status(at(6)), PlanStatus::Applying);
        assert!(one.is_open(at(6)));
        assert_eq!(one.status(at(100)), PlanStatus::Expired);
        assert_eq!(one.over_at(), Some(at(100)));
        let both = one.clone().used_by(operation(2), Some(1));
        assert_eq!(both.over_at(), None);
        let both = both
            .ended_by(operation(2), &Ended::Succeeded, at(7))
            .unwrap();
        assert_eq!(both.status(at(200)), PlanStatus::Applied);
        assert_eq!(both.over_at(), Some(at(7)));

        let failed = one.used_by(operation(2), Some(1));
        let failed = failed.ended_by(
            operation(2),
            &super::tests::failed(ErrorCode::NotFound),
            at(7),
        );
        assert_eq!(failed.unwrap().status(at(8)), PlanStatus::Failed);
    }

    /// A member that failed is not used again, and does not keep the others from being used.
    #[test]
    fn a_failed_member_is_in_nobody_elses_way() {
        let failed = plan().used_by(operation(1), Some(0));
        let ended = super::tests::failed(ErrorCode::NotFound);
        let failed = failed.ended_by(operation(1), &ended, at(5)).unwrap();
        assert_eq!(failed.status(at(6)), PlanStatus::Applying);
        assert!(failed.is_open(at(6)));
        for member in [None, Some(0)] {
            let refused = failed.judge_use(member, at(6));
            assert_eq!(refused, Err(PlanRefusal::Used(operation(1))));
        }
        assert_eq!(failed.judge_use(Some(1), at(6)), Ok(()));
        assert_eq!(failed.status(at(100)), PlanStatus::Failed);
        assert_eq!(failed.over_at(), Some(at(100)));

        let both = failed.used_by(operation(2), Some(1));
        let both = both.ended_by(operation(2), &Ended::Succeeded, at(7));
        let both = both.unwrap();
        assert_eq!(both.status(at(8)), PlanStatus::Failed);
        assert_eq!(both.over_at(), Some(at(7)));
        assert!(!both.is_open(at(8)));
    }

    #[test]
    fn a_plan_follows_its_operation() {
        let used = plan().used_by(operation(1), None);
        assert_eq!(used.status(at(200)), PlanStatus::Applying);
        assert_eq!(used.over_at(), None);
        assert_eq!(
            used.clone()
                .ended_by(operation(2), &Ended::Succeeded, at(5)),
            None
        );
        for (ended, status) in [
            (Ended::Succeeded, PlanStatus::Applied),
            (failed(ErrorCode::StalePlan), PlanStatus::Stale),
            (failed(ErrorCode::NotFound), PlanStatus::Failed),
            (
                Ended::Canceled(Failure::new(ErrorCode::Canceled, "why")),
                PlanStatus::Failed,
            ),
        ] {
            let ended = used.clone().ended_by(operation(1), &ended, at(5)).unwrap();
            assert_eq!(ended.status(at(6)), status);
            assert_eq!(ended.over_at(), Some(at(5)));
            assert!(!ended.is_open(at(6)));
            let refused = ended.judge_use(None, at(6));
            assert_eq!(refused, Err(PlanRefusal::Used(operation(1))));
        }
    }
}
