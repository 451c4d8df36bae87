//! What lists are to AWS, where schemas tell and where only names do.

use super::shape::{Shape, Shapes};

impl Shapes {
    /// What lists are is told by their names and their elements, so this comes after all shapes are made.
    pub(super) fn judge_lists(&mut self, type_name: &str) {
        for id in 0..self.shapes.len() {
            let members: Vec<(String, usize)> = self.shapes[id]
                .members
                .iter()
                .map(|(name, edge)| (name.clone(), edge.shape))
                .collect();
            for (name, list) in members {
                let Some(element) = self.shapes[list].element else {
                    continue;
                };
                if self.shapes[list].list.key.is_none() {
                    let key = key(type_name, &name, &self.shapes[element], self);
                    self.shapes[list].list.key = key;
                }
                if self.is_scalar(element)
                    && is_named_set(type_name, &name)
                    && let Some(edge) = self.shapes[id].members.get_mut(&name)
                {
                    edge.is_set = true;
                }
            }
        }
    }
}

/// What lists of scalars are called that are sets to AWS although their schemas do not say `insertionOrder: false`:
/// elsewhere, many lists of the same names say so. The first of each kind may have a prefix (`VpcSecurityGroupIds`).
const SUFFIXES: [&str; 9] = [
    "SubnetIds",
    "SubnetIDs",
    "SubnetArns",
    "Subnets",
    "SubnetIdList",
    "SecurityGroupIds",
    "SecurityGroupIDs",
    "SecurityGroups",
    "SecurityGroupIdList",
];
const NAMES: [&str; 4] = [
    "AvailabilityZoneIds",
    "AvailabilityZones",
    "RouteTableIds",
    "VpcEndpointIds",
];

/// A channel may have one zone for each of its pipelines, in their order.
const NOT_SETS: [(&str, &str); 1] = [("AWS::MediaLive::Channel", "AvailabilityZones")];

/// Whether the order of a list of scalars of this name means nothing.
fn is_named_set(type_name: &str, name: &str) -> bool {
    let is_named = SUFFIXES.iter().any(|suffix| name.ends_with(suffix)) || NAMES.contains(&name);
    is_named && !NOT_SETS.contains(&(type_name, name))
}

/// What elements are called by, as a whole name.
const KEYS: [&str; 3] = ["Key", "Name", "Id"];
/// The same as the end of a name whose beginning is that of the list: `PolicyName` in `Policies`.
const KEY_ENDS: [&str; 4] = ["Key", "Name", "Id", "ID"];

/// How lists of settings are called. A read returns every setting of the service, whoever set it; their schemas do not
/// say that an element must have its key.
const SETTINGS: [&str; 2] = ["Attributes", "Settings"];

/// Lists whose elements may share what looks like their key, or whose order counts more.
const NOT_KEYED: [(&str, &str); 10] = [
    ("AWS::AppMesh::GatewayRoute", "Headers"),
    ("AWS::AppMesh::Route", "Headers"),
    ("AWS::Backup::RestoreTestingSelection", "StringEquals"),
    ("AWS::EMR::Cluster", "BootstrapActions"),
    ("AWS::EMR::Cluster", "Steps"),
    ("AWS::ElasticLoadBalancingV2::TargetGroup", "Targets"),
    ("AWS::Lightsail::Domain", "DomainEntries"),
    ("AWS::QBusiness::Permission", "Conditions"),
    ("AWS::Route53::RecordSetGroup", "RecordSets"),
    ("AWS::VpcLattice::TargetGroup", "Targets"),
];

/// The member that is meant to tell the elements of the list `name` apart: the one of `Key`, `Name` and `Id` that every
/// element must have, or else the one whose name is the list's, or that of a setting.
fn key(type_name: &str, name: &str, element: &Shape, shapes: &Shapes) -> Option<String> {
    if NOT_KEYED.contains(&(type_name, name)) {
        return None;
    }
    let is_scalar = |member: &&String| {
        let edge = element.members.get(*member);
        edge.is_some_and(|edge| shapes.is_scalar(edge.shape))
    };
    let required = || element.required.iter().filter(is_scalar);
    only(required().filter(|member| KEYS.contains(&member.as_str())))
        .or_else(|| only(required().filter(|member| is_named_after(member, name))))
        .or_else(|| setting_key(name, element))
        .cloned()
}

/// What a setting is called by, where elements are nothing but that and a value.
fn setting_key<'s>(list: &str, element: &'s Shape) -> Option<&'s String> {
    let are_settings = SETTINGS.iter().any(|end| list.ends_with(end));
    let is_pair = element.members.len() == 2 && element.members.contains_key("Value");
    let mut names = element.members.keys();
    let key = names.find(|member| KEYS.contains(&member.as_str()));
    key.filter(|_| are_settings && is_pair)
}

fn is_named_after(member: &str, list: &str) -> bool {
    let stem = KEY_ENDS.iter().find_map(|end| member.strip_suffix(end));
    stem.is_some_and(|stem| {
        // `Policy` is in `Policies` all but its last letter.
        let stem = stem.strip_suffix('y').unwrap_or(stem);
        stem.len() > 2 && list.contains(stem)
    })
}

fn only<T>(mut items: impl Iterator<Item = T>) -> Option<T> {
    let first = items.next()?;
    items.next().is_none().then_some(first)
}
