//! The core of `ucp`: ids, references, operations and the state machine that drives operations.
//!
//! Nothing here performs I/O, reads a clock or draws a random number; the current time and random draws are arguments.
//! Start at [`operation::decide`]: it is total, and everything the engine does follows from what it returns.

#![warn(clippy::wildcard_enum_match_arm)]

mod ambient;
mod arm_resource;
mod aws_code;
mod cloud;
mod default_tags;
mod ended;
mod error_code;
mod etag;
mod excerpt;
mod failure;
pub mod ids;
pub mod json;
mod kept_plan;
mod leftover;
mod limit;
mod limits;
mod mark;
pub mod operation;
pub mod pointer;
mod rate;
mod refactor;
mod reference;
pub mod retry;
mod secrets;
mod service_broker;
mod signing;
mod time;
mod track_record;
mod warning;

pub use ambient::{Clock, Entropy, MAX_SKEW, SeededEntropy};
pub use arm_resource::{
    ArmResource, Credential, CredentialKind, GroupBody, NewArmResource, NewCredential, NewPlane,
    NewResourceGroup, PlanPolicy, Plane, ResourceGroup,
};
pub use aws_code::{Exception, HandlerErrorCode};
pub use cloud::{
    Action, Fault, FaultClass, HookFailure, Progress, ProgressStatus, RequestPage,
    ResourceDescription, ResourcePage, RetryClass,
};
pub use default_tags::{
    DefaultTags, MAX_TAGS, TAG_KEY_MAX_CHARS, TAG_VALUE_MAX_CHARS, TagError, valid_tag,
};
pub use ended::{Ended, Setback};
pub use error_code::ErrorCode;
pub use etag::ETag;
pub use excerpt::excerpt;
pub use failure::{
    AdditionalInfo, CloudControlRequest, Detail, Failure, MAX_DETAILS, Reason, chain,
};
pub use ids::{
    ArmId, ClientToken, CorrelationId, CredentialId, GLOBAL_SERVICES, GroupId, Identifier, Lineage,
    OperationId, PlanId, PlaneId, PlaneKind, RefactorId, ReferenceId, RequestToken,
    RoleAssignmentId, Scope, Target, TypeName,
};
pub use kept_plan::{
    ANONYMOUS, APPROVALS_MAX, Approval, Course, KeptPlan, NotReviewed, PlanRefusal, PlanStatus,
    PlanUse, Review, ReviewVerdict, Use, UseEnd,
};
pub use leftover::{Leftover, LeftoverId, LeftoverReason, NewLeftover, Register, UnknownCreate};
pub use limit::{Beyond, Limit, Most, Place};
pub use limits::LIMITS;
pub use mark::{Creation, Mark, Ownership};
pub use operation::{Operation, State};
pub use rate::{
    CallClass, CallReport, InvalidRateKey, RELEASE_INTERVAL, RateBucket, RateKey, Served,
};
pub use refactor::{
    EventMove, EventsElsewhere, GroupChanges, Refactor, RefactorAmbiguity, RefactorChanges,
    RefactorContent, RefactorEnvironment, RefactorEvent, RefactorGroup, RefactorHistory,
    RefactorMove, RefactorStatus, RefusedMove,
};
pub use reference::{Baseline, Digest, Outline, ProvisioningState, Reference};
pub use secrets::{SENSITIVE, Secrets};
pub use service_broker::{
    Access, BindingId, Change, ChangeEnd, ChangeKind, InstanceId, Order, Originator, Provision,
    ServiceBinding, ServiceInstance,
};
pub use signing::{SIGNING, ambient_settings, is_ambient, without_ambient};
pub use time::{InvalidTime, Timestamp};
pub use track_record::TrackRecord;
pub use warning::Warning;
