use std::borrow::Cow;

use serde::Serialize;
use ucp_wire::RefactorBody;
use utoipa::openapi::schema::{ArrayBuilder, SchemaType};
use utoipa::openapi::{ObjectBuilder, Ref, RefOr, Schema, Type};
use utoipa::{PartialSchema, ToSchema};

use super::audit_events::AuditEventBody;
use super::credentials::CredentialBody;
use super::groups::ResourceGroupBody;
use super::leftovers::LeftoverBody;
use super::operations::OperationStatus;
use super::planes::{PlaneBody, PlaneSummary};
use super::references::ReferenceBody;
use super::resource_types::ResourceProviderSummary;
use super::resources::AwsResource;
use super::role_assignments::RoleAssignmentBody;
use super::track_records::PredictionBody;

pub(crate) type AuditEventList = List<AuditEventBody>;
pub(crate) type AwsResourceList = List<AwsResource>;
pub(crate) type CredentialList = List<CredentialBody>;
pub(crate) type LeftoverList = List<LeftoverBody>;
pub(crate) type OperationList = List<OperationStatus>;
pub(crate) type PlaneList = List<PlaneBody>;
pub(crate) type PlaneSummaryList = List<PlaneSummary>;
pub(crate) type PredictionList = List<PredictionBody>;
pub(crate) type RefactorList = List<RefactorBody>;
pub(crate) type ReferenceList = List<ReferenceBody>;
pub(crate) type ResourceGroupList = List<ResourceGroupBody>;
pub(crate) type ResourceProviderList = List<ResourceProviderSummary>;
pub(crate) type RoleAssignmentList = List<RoleAssignmentBody>;

/// A list, or a page of one.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct List<T> {
    pub(crate) value: Vec<T>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) next_link: Option<String>,
}

impl<T> List<T> {
    /// The items of a page, without the link to the next one.
    pub(crate) fn of<I: IntoIterator<Item: Into<T>>>(items: I) -> Self {
        Self {
            value: items.into_iter().map(Into::into).collect(),
            next_link: None,
        }
    }
}

/// Implemented by hand, since the derived schema would inline the item's schema instead of referring to it.
impl<T: ToSchema> PartialSchema for List<T> {
    fn schema() -> RefOr<Schema> {
        let value = ArrayBuilder::new()
            .items(Ref::from_schema_name(T::name()))
            .description(Some("The items of this page."));
        let next_link = ObjectBuilder::new()
            .schema_type(SchemaType::Type(Type::String))
            .format(Some(utoipa::openapi::SchemaFormat::Custom(
                "uri".to_owned(),
            )))
            .description(Some("The URL of the next page; absent on the last page."));
        let list = ObjectBuilder::new()
            .description(Some("A list, or a page of one."))
            .property("value", value)
            .property("nextLink", next_link)
            .required("value");
        list.into()
    }
}

impl<T: ToSchema> ToSchema for List<T> {
    fn name() -> Cow<'static, str> {
        format!("{}List", T::name()).into()
    }

    fn schemas(schemas: &mut Vec<(String, RefOr<Schema>)>) {
        schemas.push((T::name().into_owned(), T::schema()));
        T::schemas(schemas);
    }
}
