//! Plans that are kept: what a what-if has shown, for those who approve it and carry it out.

use std::sync::Arc;
use std::time::Duration;

use serde::Serialize;
use serde::de::DeserializeOwned;
use ucp_access::{Right, Scope};
use ucp_look::{PLAN_MAX_BYTES, PlanContent, PlanRead, PlannedMember, pack, stale, unpack};
use ucp_model::{
    Approval, Course, Detail, Entropy, ErrorCode, Failure, GroupId, KeptPlan, NotReviewed, PlanId,
    PlanPolicy, PlanUse, Review, ReviewVerdict, Timestamp, TypeName, Warning,
};
use ucp_seal::{AssociatedData, Keys};
use ucp_store::{Reviewed, Sealed, StoredPlan};
use zeroize::Zeroizing;

use crate::allowances::quotas::plan_units;
use crate::changes::{ChangeKind, ResourceChange, WhatIf};
use crate::in_flight::taken_by;
use crate::plans::plan_to_apply::{DeclaredPlan, PlanToApply};
use crate::plans::withholding::judge_shown;
use crate::{Caller, PlanCases, Rejection};

/// How long a plan may be used, unless the request says otherwise.
pub const PLAN_LIFETIME: Duration = Duration::from_secs(60 * 60);
/// The shortest and the longest time that a request may say.
pub const PLAN_LIFETIMES: [Duration; 2] = [
    Duration::from_secs(1),
    Duration::from_secs(7 * 24 * 60 * 60),
];
/// The longest time that a plan may be used that a caller has asked for who may not carry it out themselves.
pub(crate) const READERS_PLAN_LIFETIME: Duration = Duration::from_secs(24 * 60 * 60);
/// How often a plan is in memory when it is shown or reviewed: opened, as it is read, and in the reply.
const CONTENT_COPIES: usize = 6;
/// How often what a what-if reads is in memory, and a plan that is carried out or compared: as it was read, compared, shown, and
/// kept.
pub(crate) const READ_COPIES: usize = 4;
/// What is shorter is read at once.
const QUICK_BYTES: usize = 64 << 10;
/// The plane of plans that are about no group.
const PLANE: &str = "local";

/// A plan with what it shows.
#[derive(Debug)]
pub struct ShownPlan {
    /// The plan.
    pub plan: KeptPlan,
    /// What it shows.
    pub changes: Vec<ResourceChange>,
}

/// What a what-if is about.
pub(crate) struct Prepared {
    pub(crate) group: Option<GroupId>,
    pub(crate) members: Vec<PlannedMember>,
    /// The resources that it refers to.
    pub(crate) reads: Vec<PlanRead>,
    pub(crate) declared: DeclaredPlan,
}

impl PlanCases {
    /// Keeps the plan of a what-if that has ended well, and notes that in its reply.
    pub(crate) async fn keep(
        &self,
        what_if: WhatIf,
        prepared: Option<Prepared>,
        lifetime: Duration,
        caller: &Caller,
    ) -> Result<WhatIf, Rejection> {
        let is_known = |change: &ResourceChange| !matches!(change.kind, ChangeKind::Unsupported(_));
        let Some(prepared) =
            prepared.filter(|_| what_if.error.is_none() && what_if.changes.iter().all(is_known))
        else {
            return Ok(what_if);
        };
        let id = PlanId(self.ground.entropy.uuid("plan"));
        let now = self.ground.now();
        let lifetime = if caller.may_carry_out(&prepared) {
            lifetime
        } else {
            lifetime.min(READERS_PLAN_LIFETIME)
        };
        let kept = Kept {
            id,
            created_by: caller.name.clone(),
            created_at: now,
            expires_at: now.after(lifetime),
        };
        let is_quick = prepared.members.len() <= 1 && shown_by(&what_if) <= QUICK_BYTES;
        let (keys, entropy) = (
            Arc::clone(&self.ground.keys),
            Arc::clone(&self.ground.entropy),
        );
        let write = move || {
            let written = written(kept, prepared, &what_if.changes, &keys, entropy.as_ref());
            written.map(|written| (what_if, written))
        };
        let written = self.ground.pool.run_unless_quick(is_quick, write).await?;
        let (mut what_if, stored) = written?;
        let Some(stored) = stored else {
            tell_not_kept(&mut what_if.changes);
            return Ok(what_if);
        };
        let group = stored.plan.group.as_ref();
        self.allowances
            .admit_plan(&caller.name, group, stored.units)
            .await?;
        let plan = stored.plan.clone();
        self.ground.store.keep_plan(stored).await?;
        what_if.plan = Some(plan);
        Ok(what_if)
    }

    /// Returns a plan of a plane, to those who may read what it shows.
    pub async fn get_plan(
        &self,
        plane: &str,
        id: PlanId,
        caller: &Caller,
    ) -> Result<ShownPlan, Rejection> {
        let (shown, _) = self.shown_plan(plane, id, caller).await?;
        Ok(shown)
    }

    /// The same, with what was declared, unless that is erased, and its bytes once it is opened, at most.
    async fn shown_plan(
        &self,
        plane: &str,
        id: PlanId,
        caller: &Caller,
    ) -> Result<(ShownPlan, Option<(Sealed, usize)>), Rejection> {
        caller.room.before_read(PLAN_MAX_BYTES).await?;
        let stored = self.stored_plan(id, caller).await?;
        let opened_bytes = stored.opened_bytes();
        caller.room.has_read(opened_bytes * CONTENT_COPIES)?;
        let StoredPlan {
            plan,
            content,
            declared,
            units: _,
        } = stored;
        if !plan.plane.eq_ignore_ascii_case(plane) {
            return Err(caller.no_such_plan(id));
        }
        let place = AssociatedData::PlanContent(id);
        let shown: PlanContent<ResourceChange> = self.opened(place, content, opened_bytes).await?;
        caller.judge_plan(&plan, &shown)?;
        let PlanContent { changes, .. } = shown;
        let declared = declared.map(|sealed| (sealed, opened_bytes));
        Ok((ShownPlan { plan, changes }, declared))
    }

    /// Approves a plan of a plane, or rejects it.
    pub async fn review_plan(
        &self,
        plane: &str,
        id: PlanId,
        review: PlanReview,
        caller: &Caller,
    ) -> Result<ShownPlan, Rejection> {
        let (ShownPlan { plan, changes }, declared) = self.shown_plan(plane, id, caller).await?;
        let verb = match review.verdict {
            ReviewVerdict::Approve => "approve",
            ReviewVerdict::Reject => "reject",
        };
        let action = format!("System.Resources/plans/{verb}/action");
        match &plan.group {
            Some(group) => {
                caller.judge_group(Right::Approve, group, &action)?;
                if review.verdict == ReviewVerdict::Approve && !plan.is_of_another(&caller.name) {
                    self.judge_self_approval(group).await?;
                }
            }
            None => {
                for change in &changes {
                    let scope = Scope::resource_type(&change.scope, &change.type_name);
                    caller.rights.judge(Right::Approve, &action, &scope)?;
                }
            }
        }
        if let (ReviewVerdict::Approve, Some((sealed, bytes))) = (review.verdict, declared) {
            let place = AssociatedData::PlanDeclared(id);
            let declared: DeclaredPlan = self.opened(place, sealed, bytes).await?;
            judge_shown(&changes, &declared)?;
        }
        let review = Review {
            verdict: review.verdict,
            fingerprint: review.fingerprint,
            approval: Approval {
                by: caller.name.clone(),
                at: self.ground.now(),
                comment: review.comment,
            },
        };
        match self.ground.store.review_plan(id, &review).await? {
            Reviewed::Absent => Err(caller.no_such_plan(id)),
            Reviewed::Done(plan) => Ok(ShownPlan {
                plan: *plan,
                changes,
            }),
            Reviewed::Refused(refused) => Err(not_reviewed(refused, &review)),
        }
    }

    /// Refuses the approval of a plan by who asked for it, if its group has no `selfApproval`.
    async fn judge_self_approval(&self, group: &GroupId) -> Result<(), Rejection> {
        match self.ground.policy_of(group).await? {
            PlanPolicy::ApprovedByAnother => {
                let message = "The resource group takes only changes whose plan another caller has approved than who asked for it. Let somebody else approve it; both have to sign in.";
                let failure = Failure::new(ErrorCode::Conflict, message);
                Err(Rejection::Conflict(failure))
            }
            PlanPolicy::Optional | PlanPolicy::Required | PlanPolicy::Approved => Ok(()),
        }
    }

    /// Returns a plan that a request is to carry out. It must not be over.
    pub(crate) async fn plan_to_apply(
        &self,
        id: PlanId,
        caller: &Caller,
    ) -> Result<PlanToApply, Rejection> {
        let stored = self.stored_plan(id, caller).await?;
        let opened_bytes = stored.opened_bytes();
        caller.room.take(opened_bytes * READ_COPIES)?;
        let StoredPlan {
            plan,
            content,
            declared,
            units: _,
        } = stored;
        let place = AssociatedData::PlanContent(id);
        let shown: PlanContent<ResourceChange> = self.opened(place, content, opened_bytes).await?;
        caller.judge_plan(&plan, &shown)?;
        if shown.reads.is_none() {
            return Err(of_earlier_version());
        }
        let declared: Option<DeclaredPlan> = match declared {
            Some(sealed) => Some(
                self.opened(AssociatedData::PlanDeclared(id), sealed, opened_bytes)
                    .await?,
            ),
            None => None,
        };
        // A server of an earlier version may have let somebody approve it.
        if let (true, Some(declared)) = (plan.is_approved(), &declared) {
            judge_shown(&shown.changes, declared)?;
        }
        Ok(PlanToApply {
            plan,
            members: shown.members,
            declared,
        })
    }

    /// Returns why a request that carries out a plan is refused. That another request has used the plan meanwhile says more
    /// than that the resource is busy since, or is not as planned.
    pub(crate) async fn refused_under(&self, used: PlanUse, refused: Rejection) -> Rejection {
        let (Rejection::Busy(_) | Rejection::PreconditionFailed(_)) = refused else {
            return refused;
        };
        let stored = match self.ground.store.get_plan(used.plan).await {
            Ok(stored) => stored,
            Err(error) => return error.into(),
        };
        let judged = stored.map(|stored| stored.plan.judge_use(used.member, self.ground.now()));
        match judged {
            Some(Err(refusal)) => Rejection::plan_not_used(refusal),
            Some(Ok(())) | None => refused,
        }
    }

    async fn stored_plan(&self, id: PlanId, caller: &Caller) -> Result<StoredPlan, Rejection> {
        let stored = self.ground.store.get_plan(id).await?;
        let reads = |stored: &StoredPlan| match &stored.plan.group {
            Some(group) => caller.reads_group(group),
            None => true,
        };
        stored.filter(reads).ok_or_else(|| caller.no_such_plan(id))
    }

    async fn opened<T: DeserializeOwned + Send + 'static>(
        &self,
        place: AssociatedData<'static>,
        sealed: Sealed,
        bytes: usize,
    ) -> Result<T, Rejection> {
        let keys = Arc::clone(&self.ground.keys);
        let is_quick = bytes <= QUICK_BYTES;
        let open = move || {
            let opened = keys.sealing.open(place, &sealed.0);
            let opened = opened.map_err(|error| Rejection::Internal(error.into()))?;
            let opened = unpack(opened).map_err(|error| Rejection::Internal(error.into()))?;
            serde_json::from_slice(&opened).map_err(|error| Rejection::Internal(error.into()))
        };
        self.ground.pool.run_unless_quick(is_quick, open).await?
    }
}

/// What is kept with a plan.
struct Kept {
    id: PlanId,
    created_by: String,
    created_at: Timestamp,
    expires_at: Timestamp,
}

/// Returns what the properties that are shown take.
pub(crate) fn shown_by(what_if: &WhatIf) -> usize {
    let changes = what_if.changes.iter();
    let shown = changes.flat_map(|change| [&change.before, &change.after]);
    let shown = shown.flatten().flat_map(|properties| properties.values());
    shown.map(taken_by).sum()
}

/// Returns a plan as it is stored. `None` if it is too large.
fn written(
    kept: Kept,
    prepared: Prepared,
    changes: &[ResourceChange],
    keys: &Keys,
    entropy: &dyn Entropy,
) -> Result<Option<StoredPlan>, Rejection> {
    let Kept {
        id,
        created_by,
        created_at,
        expires_at,
    } = kept;
    let Prepared {
        group,
        members,
        reads,
        declared,
    } = prepared;
    let changing = members
        .iter()
        .enumerate()
        .filter(|(_, member)| member.may_change())
        .map(|(index, _)| index);
    let course = Course {
        changing: changing.collect(),
        ..Course::default()
    };
    let declared = text(&declared)?;
    // Without the declarations: whoever sees the fingerprint could find out by guessing what no read returns.
    let fingerprint = keys.digest.fingerprint(&text(&members)?);
    let content = text(&PlanContent {
        members,
        changes: changes.iter().collect(),
        reads: Some(reads),
    })?;
    let bytes = content.len() + declared.len();
    if bytes > PLAN_MAX_BYTES {
        return Ok(None);
    }
    let seal = |place, text: &str| {
        let packed = pack(text).map_err(|error| Rejection::Internal(error.into()))?;
        Ok::<_, Rejection>(Sealed(keys.sealing.seal(place, &packed, entropy)))
    };
    Ok(Some(StoredPlan {
        content: seal(AssociatedData::PlanContent(id), &content)?,
        declared: Some(seal(AssociatedData::PlanDeclared(id), &declared)?),
        units: plan_units(bytes),
        plan: KeptPlan {
            id,
            plane: group
                .as_ref()
                .map_or_else(|| PLANE.to_owned(), |group| group.plane.clone()),
            group,
            created_by,
            created_at,
            expires_at,
            fingerprint,
            course,
        },
    }))
}

/// What a caller says of a plan.
#[derive(Clone, Debug)]
pub struct PlanReview {
    /// Whether it may be carried out.
    pub verdict: ReviewVerdict,
    /// The fingerprint of the plan that they have seen.
    pub fingerprint: String,
    /// Their comment, if any.
    pub comment: Option<String>,
}

impl Caller {
    /// Returns whether the caller could carry out such a plan themselves.
    fn may_carry_out(&self, prepared: &Prepared) -> bool {
        let may_write = |scope: &Scope| self.rights.permits(Right::Write, scope);
        let members = prepared.members.iter();
        let mut types =
            members.map(|member| Scope::resource_type(&member.scope, &member.type_name));
        let group = prepared.group.as_ref().map(Scope::group);
        group.is_none_or(|group| may_write(&group)) && types.all(|scope| may_write(&scope))
    }

    /// Hides a plan from those who may not read the types of what it shows, and from those who may not read what it refers
    /// to: it has values of that. They are judged as who asks for such a plan.
    fn judge_plan(
        &self,
        plan: &KeptPlan,
        shown: &PlanContent<ResourceChange>,
    ) -> Result<(), Rejection> {
        let reads_type = |scope: &ucp_model::Scope, type_name: &TypeName| {
            let scope = Scope::resource_type(scope, type_name);
            self.rights.permits(Right::Read, &scope)
        };
        let shows = |change: &ResourceChange| reads_type(&change.scope, &change.type_name);
        let own = plan.group.as_ref().map(GroupId::key);
        let reads = |read: &PlanRead| {
            let PlanRead { reference, scope } = read;
            let is_own = own.as_ref() == Some(&reference.group.key());
            (is_own || self.reads_group(&reference.group))
                && reads_type(scope, &reference.type_name)
        };
        let may_read = match &shown.reads {
            Some(referred) => referred.iter().all(reads),
            // It may show anything that its maker could read.
            None => plan.created_by == self.name,
        };
        if shown.changes.iter().all(shows) && may_read {
            Ok(())
        } else {
            Err(self.no_such_plan(plan.id))
        }
    }
}

/// Warns that the plan is too large to be kept.
pub(crate) fn tell_not_kept(changes: &mut [ResourceChange]) {
    if let Some(change) = changes.first_mut() {
        change.warnings.push(Warning {
            code: "PlanNotKept".to_owned(),
            target: String::new(),
            message: format!(
                "The plan has more than {PLAN_MAX_BYTES} bytes, so it was not kept. Ask for fewer resources at once to have a plan."
            ),
        });
    }
}

impl Caller {
    /// There is no such plan, or the caller may not read what it shows. The audit, too, does not tell them apart.
    fn no_such_plan(&self, id: PlanId) -> Rejection {
        let message = format!("There is no plan {id}, or you may not read what it shows.");
        let failure = Failure::new(ErrorCode::NotFound, message);
        if self.rights.are_unlimited() {
            Rejection::Missing(failure)
        } else {
            Rejection::Hidden(failure)
        }
    }
}

/// A plan of an earlier version does not say what it refers to, so nobody can tell whether that is as it was.
pub(crate) fn of_earlier_version() -> Rejection {
    let message = "The plan was made by an earlier version of the server. Ask for a new one.";
    let detail = Detail {
        code: "Expired".to_owned(),
        message: message.to_owned(),
        target: None,
    };
    Rejection::PreconditionFailed(stale(vec![detail]))
}

fn not_reviewed(refused: NotReviewed, review: &Review) -> Rejection {
    let conflict =
        |message: String| Rejection::Conflict(Failure::new(ErrorCode::Conflict, message));
    match refused {
        NotReviewed::OtherFingerprint => {
            let message = "The plan has another fingerprint than the request. Read the plan again, and send the fingerprint of what you have seen.";
            Rejection::PreconditionFailed(Failure::new(ErrorCode::PreconditionFailed, message))
        }
        NotReviewed::In(status) => {
            let verb = match review.verdict {
                ReviewVerdict::Approve => "approved",
                ReviewVerdict::Reject => "rejected",
            };
            conflict(format!(
                "The plan is {}, and can no longer be {verb}. Ask for a new one.",
                status.as_str()
            ))
        }
        NotReviewed::TooMany => conflict(
            "So many have approved the plan that no more are remembered. It is approved."
                .to_owned(),
        ),
    }
}

fn text<T: Serialize>(value: &T) -> Result<Zeroizing<String>, Rejection> {
    let text = serde_json::to_string(value);
    let text = text.map_err(|error| Rejection::Internal(error.into()))?;
    Ok(Zeroizing::new(text))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::caller;

    /// Such a plan does not say what it refers to, so only its maker is known to be allowed to read it.
    #[test]
    fn a_plan_of_an_earlier_version_is_for_its_maker() {
        let plan = KeptPlan {
            id: format!("{:032x}", 1).parse().unwrap(),
            plane: PLANE.to_owned(),
            group: None,
            created_by: "ann".to_owned(),
            created_at: Timestamp::from_millis(1),
            expires_at: Timestamp::from_millis(2),
            fingerprint: String::new(),
            course: Course::default(),
        };
        for (content, ann, bob) in [
            (r#"{"members":[],"changes":[]}"#, true, false),
            (r#"{"members":[],"changes":[],"reads":[]}"#, true, true),
        ] {
            let shown: PlanContent<ResourceChange> = serde_json::from_str(content).unwrap();
            assert_eq!(caller("ann").judge_plan(&plan, &shown).is_ok(), ann);
            assert_eq!(caller("bob").judge_plan(&plan, &shown).is_ok(), bob);
        }
    }
}
