//! Read-only lists that follow from other resources: the blocks of a VPC have resources of their own.

use serde_json::Value;

use super::names::Names;
use super::resource::{Resource, ResourceKey};

/// A read-only list of a resource that has an entry for each resource of another type that refers to it.
struct Following {
    owner: &'static str,
    list: &'static str,
    /// The type of the resources that have entries.
    member: &'static str,
    /// The property with which a member refers to the owner.
    by: &'static str,
    /// The properties of which a member has one; empty if any member has an entry.
    having: &'static [&'static str],
    /// The property of the member that is its entry.
    entry: &'static str,
}

/// What makes a block of IPv6 addresses.
const IPV6: &[&str] = &[
    "AmazonProvidedIpv6CidrBlock",
    "Ipv6CidrBlock",
    "Ipv6IpamPoolId",
];
/// What makes a block of IPv4 addresses.
const IPV4: &[&str] = &["CidrBlock", "Ipv4IpamPoolId"];

/// From the return values and properties in the CloudFormation template reference of the owners' types.
const FOLLOWING: [Following; 14] = [
    row(
        ["AWS::EC2::VPC", "CidrBlockAssociations"],
        ["AWS::EC2::VPCCidrBlock", "VpcId", "Id"],
        IPV4,
    ),
    row(
        ["AWS::EC2::VPC", "Ipv6CidrBlocks"],
        ["AWS::EC2::VPCCidrBlock", "VpcId", "Ipv6CidrBlock"],
        IPV6,
    ),
    row(
        ["AWS::EC2::Subnet", "Ipv6CidrBlocks"],
        ["AWS::EC2::SubnetCidrBlock", "SubnetId", "Ipv6CidrBlock"],
        IPV6,
    ),
    // A subnet that declares a block itself.
    row(
        ["AWS::EC2::Subnet", "Ipv6CidrBlocks"],
        ["AWS::EC2::Subnet", "SubnetId", "Ipv6CidrBlock"],
        IPV6,
    ),
    row(
        [
            "AWS::ElasticLoadBalancingV2::TargetGroup",
            "LoadBalancerArns",
        ],
        [
            "AWS::ElasticLoadBalancingV2::Listener",
            "DefaultActions",
            "LoadBalancerArn",
        ],
        &[],
    ),
    row(
        ["AWS::RDS::DBInstance", "ReadReplicaDBInstanceIdentifiers"],
        [
            "AWS::RDS::DBInstance",
            "SourceDBInstanceIdentifier",
            "DBInstanceIdentifier",
        ],
        &[],
    ),
    of_portal("AWS::WorkSpacesWeb::BrowserSettings", "BrowserSettingsArn"),
    of_portal(
        "AWS::WorkSpacesWeb::DataProtectionSettings",
        "DataProtectionSettingsArn",
    ),
    of_portal(
        "AWS::WorkSpacesWeb::IpAccessSettings",
        "IpAccessSettingsArn",
    ),
    of_portal("AWS::WorkSpacesWeb::NetworkSettings", "NetworkSettingsArn"),
    of_portal("AWS::WorkSpacesWeb::SessionLogger", "SessionLoggerArn"),
    of_portal("AWS::WorkSpacesWeb::TrustStore", "TrustStoreArn"),
    of_portal(
        "AWS::WorkSpacesWeb::UserAccessLoggingSettings",
        "UserAccessLoggingSettingsArn",
    ),
    of_portal("AWS::WorkSpacesWeb::UserSettings", "UserSettingsArn"),
];

const fn row(
    [owner, list]: [&'static str; 2],
    [member, by, entry]: [&'static str; 3],
    having: &'static [&'static str],
) -> Following {
    Following {
        owner,
        list,
        member,
        by,
        having,
        entry,
    }
}

/// The portals that use some settings.
const fn of_portal(owner: &'static str, by: &'static str) -> Following {
    row(
        [owner, "AssociatedPortalArns"],
        ["AWS::WorkSpacesWeb::Portal", by, "PortalArn"],
        &[],
    )
}

/// Returns the types of the resources from which lists of a type follow.
pub(super) fn members(owner: &str) -> impl Iterator<Item = &'static str> {
    let rules = FOLLOWING.iter().filter(move |rule| rule.owner == owner);
    rules.map(|rule| rule.member)
}

/// Adds to the lists of a resource what follows from others. `members_of` returns the resources of a type, with their keys.
pub(super) fn fill<'a, M>(
    key: &ResourceKey,
    resource: &Resource,
    visible: &mut Value,
    members_of: impl Fn(&'static str) -> M,
) where
    M: Iterator<Item = (&'a str, &'a Resource)>,
{
    for rule in FOLLOWING.iter().filter(|rule| rule.owner == key.0) {
        let names = Names::of(key, resource);
        let Some(Value::Array(list)) = visible.get_mut(rule.list) else {
            continue;
        };
        for (member, Resource { model, .. }) in members_of(rule.member) {
            let has = |name: &&str| !matches!(model.get(name), None | Some(Value::Bool(false)));
            let is_meant = rule.having.is_empty() || rule.having.iter().any(has);
            let refers = |value| names.are_in(rule.by, value);
            if is_meant && model.get(rule.by).is_some_and(refers) {
                let entry = model.get(rule.entry).cloned();
                let entry = entry.unwrap_or_else(|| Value::from(assigned_block(member)));
                if !list.contains(&entry) {
                    list.push(entry);
                }
            }
        }
    }
}

/// The block of IPv6 addresses that AWS chooses for an association, told by the random digits of its identifier.
fn assigned_block(association: &str) -> String {
    let identifier = association.split('|').next().unwrap_or_default();
    let digits = identifier.rsplit('-').next().unwrap_or_default();
    let at = |from: usize| digits.get(from..from + 4).unwrap_or("0000");
    let length = if identifier.starts_with("subnet-") {
        64
    } else {
        56
    };
    format!("2600:1f14:{}:{}00::/{length}", at(0), &at(4)[..2])
}

#[cfg(test)]
mod tests {
    use ucp_schema::{Catalogue, Classes};

    use super::*;

    #[test]
    fn the_rules_name_properties_that_there_are() {
        let catalogue = Catalogue::embedded();
        let schema = |name: &str| {
            let found = catalogue.type_names().find(|it| it.as_str() == name);
            found.and_then(|name| catalogue.get(name)).expect(name)
        };
        for rule in FOLLOWING {
            let owner = schema(rule.owner);
            assert!(
                owner.lists(Classes::READ_ONLY, &[rule.list]),
                "{}",
                rule.list
            );
            let member = schema(rule.member);
            let names = [rule.by, rule.entry].into_iter();
            for name in names {
                assert!(
                    member.root().member(name).is_some(),
                    "{} {name}",
                    rule.member
                );
            }
        }
    }
}
