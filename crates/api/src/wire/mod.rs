//! Wire types: the bodies of requests and replies, as described by the OpenAPI document.

mod audit_events;
mod credentials;
mod groups;
mod import;
mod leftovers;
mod list;
mod operations;
mod planes;
mod plans;
mod progress;
mod refactor_requests;
mod references;
mod resource_types;
mod resources;
mod role_assignments;
mod sets;
mod tags;
mod track_records;
mod warning;
mod what_if;

pub(crate) use self::credentials::{CredentialBody, PutCredentialRequest};
pub(crate) use self::groups::{
    DeleteGroup, DeletedGroup, PutResourceGroupRequest, ResourceGroupBody, UpdateResourceGroup,
};
pub(crate) use self::import::{ImportGroupRequest, ImportRequest, ImportedReference};
pub(crate) use self::leftovers::LeftoverBody;
pub(crate) use self::list::{
    AuditEventList, AwsResourceList, CredentialList, LeftoverList, List, OperationList, PlaneList,
    PlaneSummaryList, PredictionList, RefactorList, ReferenceList, ResourceGroupList,
    ResourceProviderList, RoleAssignmentList,
};
pub(crate) use self::operations::{ImportResult, OperationStatus};
pub(crate) use self::planes::SETTINGS_MAX_BYTES;
pub(crate) use self::planes::{PlaneBody, PutPlaneRequest};
pub(crate) use self::plans::{PlanBody, PlanReviewRequest};
pub(crate) use self::refactor_requests::{EVENT_ID_MAX_CHARS, EVENT_MOVES_MAX, EVENTS_MAX};
pub(crate) use self::refactor_requests::{RefactorRequest, SeenRefactor};
pub(crate) use self::references::{ReferenceBody, ReleasedBody, UpdateReference};
pub(crate) use self::resource_types::{ResourceProviderSummary, ResourceTypeBody};
pub(crate) use self::resources::{ActionRequest, AwsResource};
pub(crate) use self::role_assignments::{PutRoleAssignmentRequest, RoleAssignmentBody};
pub(crate) use self::sets::{AppliedSet, SetRequest, SetResult, Valid};
pub(crate) use self::tags::TAG_KEY_MAX_CHARS;
pub(crate) use self::track_records::PredictionBody;
pub(crate) use self::warning::WarningBody;
pub(crate) use self::what_if::{
    WhatIfRequest, WhatIfResult, WhatIfSetRequest, settings as what_if_settings,
};
