//! Resource types that nobody may change.

use std::fmt;
use std::str::FromStr;

use ucp_model::{TypeName, excerpt};

use crate::invalid::Invalid;
use crate::scope::Scope;

/// Types of which nobody may change a resource, whatever is granted: `AWS.IAM/Role`, or `AWS.IAM/*` for all of a service.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DeniedType {
    text: String,
    /// `aws.iam/` for all of a service, `aws.iam/role` for a type.
    key: String,
}

/// Types whose resources make others, of whatever type, in AWS: by a template, as a service of AWS sets up accounts, or since they call
/// any operation of AWS that they name. The resource and property reference of AWS CloudFormation, by their descriptions; the universal
/// targets of EventBridge Scheduler; the AWS SDK integrations of Step Functions; the action `aws:executeAwsApi` of Automation.
const MAKERS: [&str; 15] = [
    "AWS.CloudFormation/ChangeSet",
    "AWS.CloudFormation/Stack",
    "AWS.CloudFormation/StackSet",
    "AWS.Config/ConformancePack",
    "AWS.Config/OrganizationConformancePack",
    "AWS.ControlTower/EnabledBaseline",
    "AWS.ControlTower/LandingZone",
    "AWS.LaunchWizard/Deployment",
    "AWS.SSM/Association",
    "AWS.SSM/MaintenanceWindowTask",
    "AWS.SSMQuickSetup/ConfigurationManager",
    "AWS.Scheduler/Schedule",
    "AWS.ServerlessRepo/Application",
    "AWS.ServiceCatalog/CloudFormationProvisionedProduct",
    "AWS.StepFunctions/StateMachine",
];

impl DeniedType {
    /// Returns whether the scope is that of one of the types.
    pub(crate) fn matches(&self, scope: &Scope) -> bool {
        scope.type_key().is_some_and(|given| self.is_of(given))
    }

    fn is_of(&self, key: &str) -> bool {
        if self.key.ends_with('/') {
            key.starts_with(&self.key)
        } else {
            key == self.key
        }
    }

    /// Returns the types that are not denied, and whose resources make others in AWS, denied ones too. Nothing if nothing is denied.
    pub fn ways_around(denied: &[Self]) -> Vec<&'static str> {
        if denied.is_empty() {
            return Vec::new();
        }
        let is_open = |maker: &&str| {
            let key = maker.to_ascii_lowercase();
            !denied.iter().any(|it| it.is_of(&key))
        };
        MAKERS.into_iter().filter(is_open).collect()
    }
}

impl fmt::Display for DeniedType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

impl FromStr for DeniedType {
    type Err = Invalid;

    fn from_str(text: &str) -> Result<Self, Invalid> {
        let (namespace, resource) = text.split_once('/').unwrap_or((text, ""));
        let known = match resource {
            "*" => TypeName::from_segments(namespace, "Type"),
            resource => TypeName::from_segments(namespace, resource),
        };
        known.map_err(|_| {
            Invalid(format!(
                "'{}' does not name types. Name one, such as AWS.IAM/Role, or all of a service, such as AWS.IAM/*.",
                excerpt(text)
            ))
        })?;
        let key = text.trim_end_matches('*').to_ascii_lowercase();
        let text = text.to_owned();
        Ok(Self { text, key })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_makes_others_is_a_way_around_unless_it_is_denied() {
        let ways = |denied: &[&str]| {
            let denied: Vec<DeniedType> = denied.iter().map(|it| it.parse().unwrap()).collect();
            DeniedType::ways_around(&denied)
        };
        assert_eq!(ways(&[]), [""; 0]);
        assert_eq!(ways(&["AWS.IAM/*"]), MAKERS);
        let left = ways(&[
            "AWS.IAM/*",
            "aws.cloudformation/*",
            "AWS.Config/ConformancePack",
        ]);
        assert_eq!(left.len(), MAKERS.len() - 4);
        assert_eq!(left[0], "AWS.Config/OrganizationConformancePack");
    }
}
