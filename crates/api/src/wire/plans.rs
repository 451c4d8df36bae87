//! Plans that are kept.

use serde::{Deserialize, Serialize};
use ucp_app::{PlanReview, ShownPlan};
use ucp_model::ids::is_misleading;
use ucp_model::{Approval, KeptPlan, ReviewVerdict, Timestamp};
use utoipa::ToSchema;

use super::what_if::WhatIfChange;

/// The body of `:approve` and `:reject` of a plan.
#[derive(Debug, Deserialize, ToSchema)]
pub(crate) struct PlanReviewRequest {
    /// The fingerprint of the plan that was seen.
    fingerprint: String,
    /// Why.
    #[schema(max_length = 1024, example = "Looked at with the network team.")]
    comment: Option<String>,
}

/// The longest comment.
const COMMENT_MAX_CHARS: usize = 1_024;

impl PlanReviewRequest {
    /// Returns what is wrong with the comment.
    pub(crate) fn objection(&self) -> Option<String> {
        let comment = self.comment.as_deref().unwrap_or_default();
        let steers = |letter: char| is_misleading(letter) && !matches!(letter, '\n' | '\t');
        if comment.contains(steers) {
            let what =
                "has a control character, or one that changes the direction of text. Take it out.";
            return Some(format!("/comment: {what}"));
        }
        let is_longer = comment.chars().nth(COMMENT_MAX_CHARS).is_some();
        is_longer.then(|| format!("/comment: may have {COMMENT_MAX_CHARS} characters."))
    }

    /// Converts the request to the app's type.
    pub(crate) fn review(self, verdict: ReviewVerdict) -> PlanReview {
        PlanReview {
            verdict,
            fingerprint: self.fingerprint,
            comment: self.comment,
        }
    }
}

/// A plan that was kept of a what-if.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct PlanBody {
    /// The id.
    #[schema(
        example = "/planes/radius/local/providers/System.Resources/plans/2b1c5a52-93d1-4a0e-8b7c-0d6f0b1c2d3e"
    )]
    id: String,
    /// The UUID of the plan, which requests name as `planId`.
    #[schema(format = "uuid")]
    name: String,
    /// The type of all plans.
    #[schema(example = "System.Resources/plans")]
    r#type: &'static str,
    /// What the plan is, and what has become of it.
    properties: PlanProperties,
}

/// What a plan is, and what has become of it.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
struct PlanProperties {
    /// `Pending`, `Approved`, `Rejected`, `Applying`, `Applied`, `Failed`, `Stale` or `Expired`.
    #[schema(example = "Pending")]
    status: &'static str,
    /// Who has asked for it.
    #[schema(example = "anonymous")]
    created_by: String,
    /// When it was made.
    #[schema(format = DateTime, example = "2026-01-02T03:04:05Z")]
    created_at: String,
    /// Until when it may be used.
    #[schema(format = DateTime, example = "2026-01-02T04:04:05Z")]
    expires_at: String,
    /// A digest of the state that it was made for, and of what it does. Plans that differ only in values that no read
    /// returns have the same.
    fingerprint: String,
    /// Who has approved it.
    approvals: Vec<ApprovalBody>,
    /// Who has rejected it, if anybody has.
    #[serde(skip_serializing_if = "Option::is_none")]
    rejection: Option<ApprovalBody>,
    /// What would become of the resources, as the what-if has shown it.
    changes: Vec<WhatIfChange>,
}

/// A caller's word on a plan.
#[derive(Debug, Serialize, ToSchema)]
struct ApprovalBody {
    /// The caller.
    #[schema(example = "user:jane")]
    by: String,
    /// When.
    #[schema(format = DateTime, example = "2026-01-02T03:14:05Z")]
    at: String,
    /// Why.
    #[serde(skip_serializing_if = "Option::is_none")]
    comment: Option<String>,
}

impl From<Approval> for ApprovalBody {
    fn from(Approval { by, at, comment }: Approval) -> Self {
        Self {
            by,
            at: at.to_string(),
            comment,
        }
    }
}

impl PlanBody {
    /// The plan as it is at a time.
    pub(crate) fn at(now: Timestamp, shown: ShownPlan) -> Self {
        let ShownPlan { plan, changes } = shown;
        let status = plan.status(now).as_str();
        let KeptPlan {
            id,
            plane,
            created_by,
            created_at,
            expires_at,
            fingerprint,
            course,
            ..
        } = plan;
        Self {
            id: format!("/planes/radius/{plane}/providers/System.Resources/plans/{id}"),
            name: id.to_string(),
            r#type: "System.Resources/plans",
            properties: PlanProperties {
                status,
                created_by,
                created_at: created_at.to_string(),
                expires_at: expires_at.to_string(),
                fingerprint,
                approvals: course
                    .approvals
                    .into_iter()
                    .map(ApprovalBody::from)
                    .collect(),
                rejection: course.rejection.map(ApprovalBody::from),
                changes: changes.into_iter().map(WhatIfChange::from).collect(),
            },
        }
    }
}
