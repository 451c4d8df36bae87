//! Properties of lists that follow from schemas, or only from names.

use super::shape::{Shape, Shapes};

impl Shapes {
    /// Determines keys and order of lists from their names and elements. Must be called after all shapes are made.
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

/// Names of lists of scalars that AWS treats as sets even if their schemas do not have `insertionOrder: false`: many
/// other lists with the same names have it. Names in `SUFFIXES` may have a prefix (`VpcSecurityGroupIds`).
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

/// Exceptions. A channel may have one zone for each of its pipelines, in their order.
const NOT_SETS: [(&str, &str); 1] = [("AWS::MediaLive::Channel", "AvailabilityZones")];

/// Returns whether a list of scalars with this name is unordered.
fn is_named_set(type_name: &str, name: &str) -> bool {
    let is_named = SUFFIXES.iter().any(|suffix| name.ends_with(suffix)) || NAMES.contains(&name);
    is_named && !NOT_SETS.contains(&(type_name, name))
}

/// Names of key members.
const KEYS: [&str; 3] = ["Key", "Name", "Id"];
/// Suffixes of key members whose stem is that of the list: `PolicyName` in `Policies`.
const KEY_ENDS: [&str; 4] = ["Key", "Name", "Id", "ID"];

/// Suffixes of lists of settings. A read returns every setting of the service, whoever set it. Their schemas do not
/// require the key of an element.
const SETTINGS: [&str; 2] = ["Attributes", "Settings"];

/// Lists whose apparent key is not unique, or whose order matters more.
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

/// Returns the member that should identify the elements of the list `name`: the only required one of `Key`, `Name` and
/// `Id`, or else the only required one named after the list, or the key of a setting.
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

/// Returns the key of a setting, if elements have nothing but that and a value.
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
        // `Policies` contains `Policy` except for its last letter.
        let stem = stem.strip_suffix('y').unwrap_or(stem);
        stem.len() > 2 && list.contains(stem)
    })
}

fn only<T>(mut items: impl Iterator<Item = T>) -> Option<T> {
    let first = items.next()?;
    items.next().is_none().then_some(first)
}
