//! Mutually exclusive members: AWS accepts only one in an update, while a read may return both. Most are known from the
//! schema; a table lists the others.

use serde_json::{Map, Value};
use ucp_schema::{Classes, Cursor};

use crate::edit::{Edit, Why};
use crate::removal;

/// When the other member of a pair is removed.
#[derive(Clone, Copy, PartialEq, Eq)]
enum When {
    /// With every update: AWS refuses both together.
    Always,
    /// When exactly one of them is declared: AWS fills in a default for the other.
    Declared,
    /// When the declared one changes: AWS accepts both as long as they agree.
    Changed,
}

/// A pair that the schema does not describe.
struct Pair {
    type_name: &'static str,
    /// The member that stays if neither is declared.
    keep: &'static str,
    other: &'static str,
    when: When,
}

const fn pair(
    type_name: &'static str,
    keep: &'static str,
    other: &'static str,
    when: When,
) -> Pair {
    Pair {
        type_name,
        keep,
        other,
        when,
    }
}

/// Each pair applies to every object of the type that can have both members.
///
/// Failing updates were reported in aws-controllers-k8s/community#2645 (node group), boto3#2644 (job),
/// cloudformation-coverage-roadmap#2537 (byte match, see [`TWIN`]) and cfn-lint#4153 (detector). The others follow from
/// the API references of the services: both members are refused together, or one of them is a default.
static PAIRS: [Pair; 17] = [
    pair(
        "AWS::AutoScaling::AutoScalingGroup",
        "VPCZoneIdentifier",
        "AvailabilityZones",
        When::Changed,
    ),
    pair(
        "AWS::AutoScaling::AutoScalingGroup",
        "VPCZoneIdentifier",
        "AvailabilityZoneIds",
        When::Changed,
    ),
    pair(
        "AWS::CloudTrail::Trail",
        "AdvancedEventSelectors",
        "EventSelectors",
        When::Declared,
    ),
    pair("AWS::EKS::Nodegroup", "Id", "Name", When::Always),
    pair(
        "AWS::EKS::Nodegroup",
        "MaxUnavailable",
        "MaxUnavailablePercentage",
        When::Declared,
    ),
    pair(
        "AWS::ElasticLoadBalancing::LoadBalancer",
        "Subnets",
        "AvailabilityZones",
        When::Always,
    ),
    pair(
        "AWS::ElasticLoadBalancingV2::Listener",
        "ForwardConfig",
        "TargetGroupArn",
        When::Changed,
    ),
    pair(
        "AWS::ElasticLoadBalancingV2::ListenerRule",
        "ForwardConfig",
        "TargetGroupArn",
        When::Changed,
    ),
    pair(
        "AWS::ElasticLoadBalancingV2::ListenerRule",
        "HostHeaderConfig",
        "Values",
        When::Always,
    ),
    pair(
        "AWS::ElasticLoadBalancingV2::ListenerRule",
        "PathPatternConfig",
        "Values",
        When::Always,
    ),
    pair(
        "AWS::Glue::Job",
        "NumberOfWorkers",
        "MaxCapacity",
        When::Always,
    ),
    pair(
        "AWS::Glue::Job",
        "NumberOfWorkers",
        "AllocatedCapacity",
        When::Always,
    ),
    pair("AWS::Glue::Job", "WorkerType", "MaxCapacity", When::Always),
    pair(
        "AWS::Glue::Job",
        "MaxCapacity",
        "AllocatedCapacity",
        When::Always,
    ),
    pair(
        "AWS::Glue::MLTransform",
        "NumberOfWorkers",
        "MaxCapacity",
        When::Always,
    ),
    pair(
        "AWS::GuardDuty::Detector",
        "Features",
        "DataSources",
        When::Always,
    ),
    pair(
        "AWS::SQS::Queue",
        "KmsMasterKeyId",
        "SqsManagedSseEnabled",
        When::Declared,
    ),
];

/// The suffix of a member that repeats another one encoded, in any type: a read returns `SearchStringBase64` with
/// `SearchString`.
const TWIN: &str = "Base64";

/// A member that would have to be removed but cannot, since it is or contains a create-only value.
pub(crate) struct Blocking<'a> {
    pub(crate) name: &'a str,
    pub(crate) value: &'a Value,
    pub(crate) cursor: Cursor<'a>,
}

/// Adds the removal of undeclared members of pairs to `edits` of the object `live`. Returns the members that cannot be
/// removed.
pub(crate) fn settle<'a>(
    declared: &'a Value,
    live: &'a Map<String, Value>,
    cursor: Cursor<'a>,
    edits: &mut Vec<(String, Edit)>,
) -> Vec<Blocking<'a>> {
    let mut object = Object {
        declared,
        live,
        cursor,
        edits,
        blocking: Vec::new(),
    };
    for alternatives in &cursor.shape().exclusive {
        object.choose(alternatives, When::Always);
    }
    for alternatives in &cursor.shape().exclusive_in_templates {
        object.choose(alternatives, When::Changed);
    }
    object.switch_marker();
    let members = cursor.shape();
    let twins = live
        .keys()
        .filter_map(|name| Some((name.strip_suffix(TWIN)?, name.as_str())));
    for (plain, twin) in twins.filter(|(plain, _)| cursor.shape().has_member(plain)) {
        object.settle_pair(plain, twin, When::Always);
    }
    for pair in &PAIRS {
        let is_here = pair.type_name == cursor.type_name()
            && members.has_member(pair.keep)
            && members.has_member(pair.other);
        if is_here {
            object.settle_pair(pair.keep, pair.other, pair.when);
        }
    }
    object.blocking
}

/// An object and its edits.
struct Object<'a, 'e> {
    declared: &'a Value,
    live: &'a Map<String, Value>,
    cursor: Cursor<'a>,
    edits: &'e mut Vec<(String, Edit)>,
    blocking: Vec<Blocking<'a>>,
}

impl Object<'_, '_> {
    /// Keeps one of several alternatives that exclude each other.
    fn choose(&mut self, alternatives: &[Vec<String>], when: When) {
        let given: Vec<&Vec<String>> = alternatives
            .iter()
            .filter(|names| names.iter().all(|name| self.will_have(name)))
            .collect();
        if given.len() < 2 {
            return;
        }
        // A member that all alternatives require does not distinguish them.
        let is_shared = |name: &String| given.iter().all(|names| names.contains(name));
        let is_declared = |names: &&&Vec<String>| {
            let mut own = names.iter().filter(|name| !is_shared(name));
            own.any(|name| self.declares(name))
        };
        let kept = match given.iter().find(is_declared) {
            None if when != When::Always => return,
            declared => declared.or_else(|| given.first()).copied(),
        };
        let Some(kept) = kept else {
            return;
        };
        let takes_over = kept.iter().any(|name| self.changes(name));
        if when == When::Changed && !takes_over {
            return;
        }
        // A constraint that only templates are validated against is no reason to replace a resource.
        let blocks = takes_over && when == When::Always;
        for names in given {
            for name in names {
                if !kept.contains(name) && !self.declares(name) {
                    self.take_out(name, blocks);
                }
            }
        }
    }

    fn settle_pair(&mut self, keep: &str, other: &str, when: When) {
        if !self.will_have(keep) || !self.will_have(other) {
            return;
        }
        let (declared, undeclared) = match (self.declares(keep), self.declares(other)) {
            (true, true) => return,
            (false, true) => (other, keep),
            (true, false) => (keep, other),
            (false, false) if when == When::Always => return self.take_out(other, false),
            (false, false) => return,
        };
        let takes_over = self.changes(declared);
        if when != When::Changed || takes_over {
            self.take_out(undeclared, takes_over);
        }
    }

    /// In a union, an empty object selects a branch: the declared one replaces the live one.
    fn switch_marker(&mut self) {
        let only = |members: &Map<String, Value>| match members.len() {
            1 => members.keys().next().cloned(),
            _ => None,
        };
        let declared = self.declared.as_object().and_then(only);
        let (Some(declared), Some(live)) = (declared, only(self.live)) else {
            return;
        };
        let is_marker = self.live[&live].as_object().is_some_and(Map::is_empty);
        let shape = self.cursor.shape();
        if is_marker && declared != live && shape.has_member(&declared) && shape.has_member(&live) {
            self.take_out(&live, true);
        }
    }

    fn declares(&self, name: &str) -> bool {
        self.declared.get(name).is_some()
    }

    fn edit(&self, name: &str) -> Option<&Edit> {
        let edit = self.edits.iter().find(|(edited, _)| edited == name);
        edit.map(|(_, edit)| edit)
    }

    fn changes(&self, name: &str) -> bool {
        self.edit(name).is_some_and(Edit::is_change)
    }

    /// Returns whether the object has the member after the edits. `false` and an empty list count as absent.
    fn will_have(&self, name: &str) -> bool {
        let is_given = |value: &Value| match value {
            Value::Null | Value::Bool(false) => false,
            Value::Array(elements) => !elements.is_empty(),
            Value::Bool(true) | Value::Number(_) | Value::String(_) | Value::Object(_) => true,
        };
        match self.edit(name) {
            Some(Edit::Remove(_)) => false,
            Some(Edit::Set(value, _)) => is_given(value),
            Some(_) | None => self.live.get(name).is_some_and(is_given),
        }
    }

    /// Removes a member. `blocks` says that the other member requires the removal.
    fn take_out(&mut self, name: &str, blocks: bool) {
        let Some((name, value)) = self.live.get_key_value(name) else {
            return;
        };
        let cursor = self.cursor.member_or_anything(name);
        if cursor.is(Classes::READ_ONLY) || self.cursor.shape().requires(name) {
            return;
        }
        if cursor.is(Classes::CREATE_ONLY) || removal::has_fixed(value, cursor) {
            if blocks && cursor.is_or_holds(Classes::CREATE_ONLY) {
                self.blocking.push(Blocking {
                    name,
                    value,
                    cursor,
                });
            }
            return;
        }
        let why = self.edit(name).and_then(Edit::why);
        let why = why.unwrap_or(Why::Tidy);
        self.edits.retain(|(edited, _)| edited != name);
        self.edits.push((name.clone(), Edit::Remove(why)));
    }
}
