//! What a binding hands out, as its instance is now.

use serde_json::{Map, Value, json};
use ucp_model::{ChangeKind, GroupId, ReferenceId, ServiceBinding, ServiceInstance};
use ucp_offerings::{BoundSet, Context, Offering, Plan, Randoms, Unfilled};
use ucp_set::{Expression, visit};

use super::ordering::reference_of;
use super::{Platform, ServiceRejection, ServiceRequest};
use crate::{Rejection, ServiceCases};

impl ServiceCases {
    /// Returns the bindings of an instance that is updated, with the random values that they lack, and what they hand out
    /// afterwards.
    pub(super) fn renewed(
        &self,
        request: &ServiceRequest<'_>,
        offering: &Offering,
        plan: &Plan,
        instance: &ServiceInstance,
        bindings: Vec<ServiceBinding>,
        is_there: impl Fn(&ReferenceId) -> bool,
    ) -> Result<(Vec<ServiceBinding>, Map<String, Value>), ServiceRejection> {
        let Some(template) = offering.binding() else {
            return Ok((Vec::new(), Map::new()));
        };
        let mut outputs = Map::new();
        let mut changed = Vec::new();
        for mut binding in bindings {
            if !binding.has_stood() {
                continue;
            }
            let randoms = self.drawn(template.randoms().iter().cloned(), &binding.randoms);
            let has_drawn = randoms != binding.randoms;
            binding.randoms = randoms;
            // It keeps what it has, where an older binding has not what the files name now.
            let Ok(bound) = evaluated(request, plan, instance, &binding) else {
                continue;
            };
            let met = |value: &Value| is_met(&instance.group, value, &is_there);
            let credentials = bound.credentials.map(|credentials| match credentials {
                Value::Object(members) => {
                    Value::Object(members.into_iter().filter(|(_, it)| met(it)).collect())
                }
                other => other,
            });
            let handed_out = handed_out(credentials, bound.endpoints.filter(met));
            outputs.insert(binding.id.binding.clone(), handed_out);
            if has_drawn {
                changed.push(binding);
            }
        }
        Ok((changed, outputs))
    }
}

/// Returns what a binding comes to.
pub(super) fn evaluated(
    request: &ServiceRequest<'_>,
    plan: &Plan,
    instance: &ServiceInstance,
    binding: &ServiceBinding,
) -> Result<BoundSet, ServiceRejection> {
    let base = instance.applied.as_ref().unwrap_or(&instance.wanted);
    let base = match instance.change.kind {
        ChangeKind::Update if instance.change.is_running() => &instance.wanted,
        ChangeKind::Create | ChangeKind::Update | ChangeKind::Delete => base,
    };
    let mut randoms = binding.randoms.clone();
    randoms.extend(instance.randoms.clone());
    let expires_at = binding.expires_at.map(|at| at.to_string());
    let context = ucp_offerings::Context {
        binding_id: Some(binding.id.binding.clone()),
        expires_at,
        ..context(instance, request.platform)
    };
    let (instance, own) = (&base.parameters, &binding.parameters);
    let bound = plan.binding(&context, instance, own, &Randoms(randoms));
    bound.map_err(unfilled)
}

/// Returns the shape in which the end of an apply is read.
pub(super) fn handed_out(credentials: Option<Value>, endpoints: Option<Value>) -> Value {
    let mut access = json!({});
    if let Some(credentials) = credentials {
        access["credentials"] = credentials;
    }
    if let Some(endpoints) = endpoints {
        access["endpoints"] = endpoints;
    }
    access
}

/// Returns whether there is all that a value refers to.
pub(super) fn is_met(
    group: &GroupId,
    value: &Value,
    is_there: impl Fn(&ReferenceId) -> bool,
) -> bool {
    let mut is_met = true;
    visit(value, |_, expression| {
        for address in expression.iter().flat_map(Expression::addresses) {
            let reference = reference_of(group, &address.name);
            is_met &= reference.is_some_and(|reference| is_there(&reference));
        }
    });
    is_met
}

pub(super) fn context(instance: &ServiceInstance, platform: &Platform) -> Context {
    Context {
        instance_id: instance.id.instance.clone(),
        binding_id: None,
        organization_guid: instance.organization.clone(),
        space_guid: instance.space.clone(),
        platform: platform.name.clone(),
        account: platform.scope.account.clone(),
        region: platform.scope.region.clone(),
        expires_at: None,
    }
}

/// A random value was not drawn.
pub(super) fn unfilled(unfilled: Unfilled) -> ServiceRejection {
    Rejection::Internal(unfilled.into()).into()
}
