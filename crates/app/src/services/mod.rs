//! Service instances and bindings that platforms order from a service broker.
//!
//! An instance is a set of references in a resource group, and each change of it, or of a binding, is an apply to that group.
//! What offerings and parameters come to is `ucp-offerings`; here it is decided what may be done now, and ordered in one
//! transaction with the operation.

mod bindings;
mod instances;
mod last_operation;
mod ordering;
mod refused;
mod renewal;
mod rows;
mod state;
mod tries;
mod wait;

pub use bindings::{BindService, BoundService};
pub use instances::{ProvisionService, ProvisionedService, UpdateService};
pub use last_operation::{LastOperation, Progress};
pub use refused::ServiceRejection;

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Duration;

use serde_json::{Map, Value};
use ucp_access::BROKER_PREFIX;
use ucp_model::{GroupId, InstanceId, OperationId, Originator, Scope};
use ucp_offerings::{Offering, Offerings, Plan};

use crate::{
    Allowances, Caller, ChangeCases, Ground, OperationCases, Rejection, SetCases, TypeCases,
};

/// The plane of the groups that instances live in.
const PLANE: &str = "local";
/// The size of parameters that are judged where the request is served.
const QUICK_MAX_BYTES: usize = 4 * 1024;

/// The service instances and bindings of platforms.
pub struct ServiceCases {
    pub(crate) ground: Arc<Ground>,
    pub(crate) allowances: Arc<Allowances>,
    pub(crate) types: Arc<TypeCases>,
    pub(crate) operations: Arc<OperationCases>,
    pub(crate) changes: Arc<ChangeCases>,
    pub(crate) sets: Arc<SetCases>,
}

/// A platform that orders services, as the configuration has it.
#[derive(Clone, Debug)]
pub struct Platform {
    /// Its name.
    pub name: String,
    /// The account and region of its resources.
    pub scope: Scope,
    /// The names of the offerings that it may order; all if `None`.
    pub offerings: Option<BTreeSet<String>>,
}

/// A request of a platform.
pub struct ServiceRequest<'a> {
    /// The platform.
    pub platform: &'a Platform,
    /// What is on offer.
    pub offerings: &'a Arc<Offerings>,
    /// Who is calling, for the operation and its events.
    pub caller: &'a Caller,
    /// The person at whose request the platform calls.
    pub originator: Option<Originator>,
    /// Whether the platform polls for the end.
    pub accepts_incomplete: bool,
    /// How long a platform that does not poll waits for the end.
    pub sync_wait: Duration,
}

/// What has come of an order.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Ordered {
    /// The operation is under way.
    UnderWay(OperationId),
    /// It has been done while the platform waited, with what there is to say of it.
    Done(Option<String>),
    /// It was so already.
    Unchanged,
}

impl Platform {
    /// Returns who calls, if it does. Nobody else has such a name.
    pub fn caller(&self) -> String {
        format!("{BROKER_PREFIX}{}", self.name)
    }

    /// Returns whether it may order the offering.
    pub fn may_order(&self, offering: &Offering) -> bool {
        let offerings = self.offerings.as_ref();
        offerings.is_none_or(|names| names.contains(offering.name()))
    }
}

impl ServiceCases {
    /// Judges parameters. Large ones take CPU time.
    async fn judge_parameters<T: Send + 'static>(
        &self,
        request: &ServiceRequest<'_>,
        given: &Map<String, Value>,
        judge: impl FnOnce(&Offerings) -> Option<T> + Send + 'static,
    ) -> Result<T, ServiceRejection> {
        let is_quick = serde_json::to_vec(given).is_ok_and(|text| text.len() <= QUICK_MAX_BYTES);
        let offerings = Arc::clone(request.offerings);
        let judged = self
            .ground
            .judge_aside(is_quick, move || judge(&offerings))
            .await?;
        judged.ok_or_else(|| Rejection::Internal("an offering was lost".into()).into())
    }
}

impl<'a> ServiceRequest<'a> {
    fn instance_id(&self, instance: &str) -> InstanceId {
        InstanceId {
            platform: self.platform.name.clone(),
            instance: instance.to_owned(),
        }
    }

    fn offering(&self, service: &str) -> Result<&'a Offering, ServiceRejection> {
        let offering = self.offerings.offering(service);
        let offering = offering.filter(|offering| self.platform.may_order(offering));
        offering.ok_or_else(|| {
            ServiceRejection::Invalid(format!(
                "service_id: the catalog has no service '{}'. Fetch the catalog again.",
                ucp_model::excerpt(service)
            ))
        })
    }

    fn plan(&self, offering: &'a Offering, plan: &str) -> Result<&'a Plan, ServiceRejection> {
        offering.plan(plan).ok_or_else(|| {
            ServiceRejection::Invalid(format!(
                "plan_id: the service '{}' has no plan '{}'. Fetch the catalog again.",
                offering.name(),
                ucp_model::excerpt(plan)
            ))
        })
    }

    /// Returns the group that instances of a space live in.
    fn group(&self, space: &str) -> Result<GroupId, ServiceRejection> {
        let name = format!("{}-{space}", self.platform.name);
        GroupId::new(PLANE, &name)
            .map_err(|invalid| ServiceRejection::Invalid(format!("space_guid: {invalid}.")))
    }
}
