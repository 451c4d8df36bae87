//! The catalog, as `GET /v2/catalog` tells it.

use serde_json::{Value, json};

use crate::binding::Binding;
use crate::offering::Offering;
use crate::plan::Plan;

/// Returns the body for these offerings.
pub(crate) fn of<'a>(offerings: impl Iterator<Item = &'a Offering>) -> Value {
    json!({ "services": offerings.map(service).collect::<Vec<Value>>() })
}

fn service(offering: &Offering) -> Value {
    let mut service = json!({
        "name": offering.name,
        "id": offering.id,
        "description": offering.description,
        "tags": offering.tags,
    });
    if let Some(metadata) = &offering.metadata {
        service["metadata"] = metadata.clone();
    }
    let is_updateable = offering.plans.iter().any(is_updateable);
    service["bindable"] = Value::Bool(offering.binding.is_some());
    service["instances_retrievable"] = Value::Bool(true);
    service["bindings_retrievable"] = Value::Bool(true);
    service["allow_context_updates"] = Value::Bool(true);
    service["plan_updateable"] = Value::Bool(is_updateable);
    let plans = offering
        .plans
        .iter()
        .map(|one| plan(one, offering.binding.as_ref()));
    service["plans"] = plans.collect();
    service
}

fn is_updateable(plan: &Plan) -> bool {
    !plan.edges.is_empty()
}

fn plan(plan: &Plan, binding: Option<&Binding>) -> Value {
    let mut told = json!({
        "id": plan.id,
        "name": plan.name,
        "description": plan.description,
    });
    if let Some(metadata) = &plan.metadata {
        told["metadata"] = metadata.clone();
    }
    told["free"] = Value::Bool(plan.is_free);
    told["plan_updateable"] = Value::Bool(is_updateable(plan));
    if let Some(binding) = binding {
        told["binding_rotatable"] = Value::Bool(binding.is_rotatable);
    }
    if let Some(version) = &plan.version {
        told["maintenance_info"] = json!({ "version": version });
        if let Some(description) = &plan.version_description {
            told["maintenance_info"]["description"] = Value::from(description.as_str());
        }
    }
    told["schemas"] = json!({
        "service_instance": {
            "create": { "parameters": plan.instance.creation_schema() },
            "update": { "parameters": plan.instance.update_schema() },
        },
    });
    if binding.is_some() {
        told["schemas"]["service_binding"] =
            json!({ "create": { "parameters": plan.binding.creation_schema() } });
    }
    told
}
