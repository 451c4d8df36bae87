//! What a change needs of other resources: that they exist, and that IAM knows its own everywhere.

use std::collections::BTreeMap;
use std::time::Duration;

use serde_json::Value;
use ucp_schema::Classes;

use super::moment::Moment;
use super::region::Region;
use super::resource::Resource;
use super::state::{World, everywhere, place};
use crate::chance::Chance;
use crate::exception::{Exception, ExceptionCode};
use crate::faults::{Call, Failure, Need, fail};
use crate::progress::HandlerErrorCode;
use crate::request::{Caller, Request};
use crate::resource_type::ResourceType;

const ROLE: &str = "AWS::IAM::Role";
/// The types of policies, which name their roles.
const POLICIES: [&str; 3] = [
    "AWS::IAM::ManagedPolicy",
    "AWS::IAM::Policy",
    "AWS::IAM::RolePolicy",
];
/// The identifiers that must exist where a property names one: their prefixes, and their types.
const IDENTIFIERS: [(&str, &str); 2] = [("subnet-", "AWS::EC2::Subnet"), ("vpc-", "AWS::EC2::VPC")];

impl World {
    /// Returns how a change to this model fails because of other resources, if a fault makes it fail.
    pub(super) fn unmet(
        &mut self,
        (resource_type, model): (&ResourceType, &Value),
        call: &Call<'_>,
        moment: &Moment<'_>,
    ) -> Option<Failure> {
        let Self {
            faults, regions, ..
        } = self;
        let failure = faults.unmet(call, moment.entropy, |need| {
            let mut declared = model.clone();
            let schema = &resource_type.schema;
            schema.remove_listed(Classes::READ_ONLY, &mut declared);
            match need {
                Need::Existing => missing(regions, moment.caller, &declared),
                // IAM knows its own at once.
                Need::Settled(_) if resource_type.name().starts_with("AWS::IAM::") => None,
                Need::Settled(takes) => {
                    let takes = Chance::new(moment.entropy, "simulator.fresh-role").duration(takes);
                    let mut texts = texts(&declared).into_iter();
                    let fresh = texts.find(|arn| is_fresh(regions, arn, takes, moment))?;
                    Some(fail(HandlerErrorCode::AccessDenied).saying(cannot_assume(fresh)))
                }
            }
        });
        failure.map(Failure::hidden)
    }

    /// Refuses a call that assumes a role which IAM does not know everywhere yet, if a fault minds that.
    pub(super) fn refuse_fresh_role(
        &mut self,
        request: &Request,
        call: &Call<'_>,
        moment: &Moment<'_>,
    ) -> Result<(), Exception> {
        let Some(arn) = request.role_arn() else {
            return Ok(());
        };
        let Self {
            faults, regions, ..
        } = self;
        let refusal = faults.unmet(call, moment.entropy, |need| match need {
            Need::Existing => None,
            Need::Settled(takes) => {
                let takes = Chance::new(moment.entropy, "simulator.fresh-role").duration(takes);
                is_fresh(regions, arn, takes, moment)
                    .then(|| Exception::new(ExceptionCode::AccessDenied, cannot_assume(arn)))
            }
        });
        refusal.map_or(Ok(()), Err)
    }
}

fn cannot_assume(arn: &str) -> String {
    format!("User is not authorized to perform: sts:AssumeRole on resource: {arn}")
}

/// Returns how a change fails whose model names a resource that does not exist.
fn missing(regions: &BTreeMap<Caller, Region>, caller: &Caller, model: &Value) -> Option<Failure> {
    let exists = |type_name: &str, key: &str| {
        let region = regions.get(&place(type_name, caller));
        let key = (type_name.to_owned(), key.to_owned());
        region.is_some_and(|region| region.resources.existing().contains_key(&key))
    };
    let own_roles = format!("arn:aws:iam::{}:role/", caller.account);
    texts(model).into_iter().find_map(|text| {
        if let Some(path) = text.strip_prefix(&own_roles) {
            let name = path.rsplit('/').next().unwrap_or(path);
            // Services make their own roles.
            let is_known = path.starts_with("aws-service-role/") || exists(ROLE, name);
            let message = || format!("The role with name {name} cannot be found.");
            return (!is_known).then(|| fail(HandlerErrorCode::NotFound).saying(message()));
        }
        let (prefix, type_name) = IDENTIFIERS.iter().find(|(prefix, _)| {
            let digits = text.strip_prefix(prefix).unwrap_or_default();
            matches!(digits.len(), 8 | 17) && digits.bytes().all(|byte| byte.is_ascii_hexdigit())
        })?;
        let kind = prefix.trim_end_matches('-');
        let message = || format!("The {kind} ID '{text}' does not exist");
        (!exists(type_name, text)).then(|| fail(HandlerErrorCode::NotFound).saying(message()))
    })
}

/// Whether the role with an ARN, or one of its policies, was made or changed less than a time ago.
fn is_fresh(
    regions: &BTreeMap<Caller, Region>,
    arn: &str,
    takes: Duration,
    moment: &Moment<'_>,
) -> bool {
    let rest = arn.strip_prefix("arn:aws:iam::");
    let Some((account, path)) = rest.and_then(|rest| rest.split_once(":role/")) else {
        return false;
    };
    let region = regions.get(&everywhere(&Caller::new(account, "")));
    let Some(region) = region else { return false };
    let name = path.rsplit('/').next().unwrap_or(path);
    let existing = region.resources.existing();
    let is_young = |resource: &Resource| moment.now.since(resource.changed_at) < takes;
    let role = existing.get(&(ROLE.to_owned(), name.to_owned()));
    let is_policy_of_role = |(type_name, _): &(String, String), policy: &Resource| {
        POLICIES.contains(&type_name.as_str()) && texts(&policy.model).contains(&name)
    };
    role.is_some_and(|role| {
        is_young(role)
            || existing
                .iter()
                .any(|(key, policy)| is_young(policy) && is_policy_of_role(key, policy))
    })
}

/// Returns the texts in a model.
fn texts(model: &Value) -> Vec<&str> {
    match model {
        Value::String(text) => vec![text],
        Value::Array(items) => items.iter().flat_map(texts).collect(),
        Value::Object(members) => members.values().flat_map(texts).collect(),
        Value::Null | Value::Bool(_) | Value::Number(_) => Vec::new(),
    }
}
