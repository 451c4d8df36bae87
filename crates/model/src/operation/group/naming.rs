//! References between resources, found in their properties. They determine the order of deletion, and what is kept.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;

use crate::{Identifier, Reference, TypeName};

/// Longer strings are taken for documents and compared only as a whole.
const NAME_MAX_BYTES: usize = 2048;
/// The maximum number of consecutive parts of a name that are joined to match an identifier of several parts.
const PARTS_MAX: usize = 16;

/// Resources by their identifiers. Resources of different types may share one.
#[derive(Debug, Default)]
pub(super) struct Names<'a>(BTreeMap<&'a str, Vec<Named<'a>>>);

#[derive(Clone, Copy, Debug)]
struct Named<'a> {
    resource: usize,
    type_name: &'a TypeName,
}

impl<'a> Names<'a> {
    pub(super) fn of(references: impl Iterator<Item = &'a Reference>) -> Self {
        let mut names: BTreeMap<&str, Vec<Named<'_>>> = BTreeMap::new();
        for (resource, reference) in references.enumerate() {
            let Some(identifier) = &reference.identifier else {
                continue;
            };
            let type_name = &reference.id.type_name;
            let named = Named {
                resource,
                type_name,
            };
            names.entry(identifier.as_str()).or_default().push(named);
        }
        Self(names)
    }

    /// Returns the resources that a string in the live or declared properties of `reference` may name, either as a whole or as a part
    /// of something like an ARN (`arn:aws:iam::1:role/r` names `r`). Parts of a string with white space do not count: it is
    /// probably prose. Nor do tags, or its own `Name` and `Arn`, which another resource may have too.
    pub(super) fn named_in(&self, reference: &Reference) -> BTreeSet<usize> {
        let members = live(reference).chain(declared(reference));
        self.of_members(reference, members, Meaning::Any)
    }

    /// Returns the resources that have to be deleted after `reference`: those that its declared properties name, as they are live,
    /// or as they were declared if they cannot be read. AWS itself adds what uses the resource, such as the `LoadBalancerArns` of a
    /// target group, and names that are put together. All live properties count if nothing was declared: an imported resource.
    ///
    /// Where several resources have a name, the place tells which one is meant, if one of them is called after it (`Roles`), or a
    /// word of the string after its service. AWS refuses a delete that comes too early, so a guess is good enough.
    pub(super) fn declared_in(&self, reference: &Reference) -> BTreeSet<usize> {
        if reference.baseline.is_none() {
            return self.of_members(reference, live(reference), Meaning::ByPlace);
        }
        let observed = reference.observed.as_ref();
        let members = declared(reference).map(|(name, declared)| {
            let live = observed.and_then(|live| live.get(name));
            (name, live.unwrap_or(declared))
        });
        self.of_members(reference, members, Meaning::ByPlace)
    }

    fn of_members<'v>(
        &self,
        reference: &Reference,
        members: impl Iterator<Item = (&'v String, &'v Value)>,
        meaning: Meaning,
    ) -> BTreeSet<usize> {
        let own = reference.identifier.as_ref().map(Identifier::as_str);
        let mut search = Search {
            names: self,
            own: own.into_iter().flat_map(runs).collect(),
            meaning,
            found: BTreeSet::new(),
        };
        for (name, member) in members {
            if !is_of_tags(name) && !is_own_name(name, member, reference) {
                search.collect(name, member);
            }
        }
        search.found
    }
}

/// Which resources of a name are meant.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Meaning {
    /// Whichever have it.
    Any,
    /// Those that its place tells.
    ByPlace,
}

fn live(reference: &Reference) -> impl Iterator<Item = (&String, &Value)> {
    let live = reference.observed.as_ref().and_then(Value::as_object);
    live.into_iter().flatten()
}

fn declared(reference: &Reference) -> impl Iterator<Item = (&String, &Value)> {
    let declared = reference.baseline.as_ref().map(|last| &last.declared);
    let declared = declared.and_then(Value::as_object);
    declared.into_iter().flatten()
}

impl Named<'_> {
    /// Returns whether the member in which its name stands is called after its type, as `TaskRoleArn` is after a role.
    fn is_told_by(&self, member: &str) -> bool {
        let noun = self.type_name.resource().to_ascii_lowercase();
        member.to_ascii_lowercase().contains(&noun)
    }

    /// Returns whether the text in which its name stands, such as an ARN or a URL, has the name of its service as a word.
    fn is_of_service_in(&self, text: &str) -> bool {
        let service = self.type_name.service().to_ascii_lowercase();
        // The second version of an interface has the ARNs of the first.
        let service = service.strip_suffix("v2").unwrap_or(&service);
        let mut words = text.split(|letter: char| !letter.is_alphanumeric());
        words.any(|word| word.eq_ignore_ascii_case(service))
    }

    /// Returns whether its type is a part of the other's, as `AWS::S3::BucketPolicy` is of `AWS::S3::Bucket`, and bears its name.
    fn is_part_of(&self, other: &Self) -> bool {
        let (one, other) = (self.type_name, other.type_name);
        let is_longer = one.resource().len() > other.resource().len();
        is_longer
            && one.service() == other.service()
            && one.resource().starts_with(other.resource())
    }
}

/// Chooses those that are meant by a name in this text of a member, which several resources may have. None if nothing tells.
fn told<'n, 'a>(named: &'n [Named<'a>], member: &str, text: &str) -> Vec<&'n Named<'a>> {
    let length = |it: &&Named<'_>| it.type_name.resource().len();
    let by_member = named.iter().filter(|it| it.is_told_by(member));
    let longest = by_member.clone().map(|it| length(&it)).max();
    let by_member: Vec<&Named<'_>> = by_member.filter(|it| Some(length(it)) == longest).collect();
    let is_of_service = |it: &&Named<'_>| it.is_of_service_in(text);
    let by_both: Vec<&Named<'_>> = by_member.iter().copied().filter(is_of_service).collect();
    if !by_both.is_empty() {
        return by_both;
    }
    if !by_member.is_empty() {
        return by_member;
    }
    let of_service: Vec<&Named<'_>> = named.iter().filter(is_of_service).collect();
    let is_whole = |it: &&Named<'_>| !of_service.iter().any(|other| it.is_part_of(other));
    of_service.iter().copied().filter(is_whole).collect()
}

/// Returns whether the properties of one reference may name the resource of the other.
pub fn are_related(one: &Reference, other: &Reference) -> bool {
    let is_named = |named: &Reference, by: &Reference| {
        let names = Names::of(std::iter::once(named));
        !names.named_in(by).is_empty()
    };
    is_named(one, other) || is_named(other, one)
}

/// Returns whether a member of a model is a name of the resource itself: it is called after the type, such as the `BucketName` of
/// a bucket and its `Arn`, or it is the identifier.
fn is_own_name(name: &str, member: &Value, reference: &Reference) -> bool {
    let resource = reference.id.type_name.resource().to_ascii_lowercase();
    let is_of_type = |noun: &str| resource.ends_with(&noun.to_ascii_lowercase());
    let names = ["Name", "Arn"]
        .iter()
        .find_map(|suffix| name.strip_suffix(suffix));
    let ids = ["Identifier", "Id", "Url"];
    let mut ids = ids.iter().filter_map(|suffix| name.strip_suffix(suffix));
    let identifier = reference.identifier.as_ref().map(Identifier::as_str);
    names.is_some_and(is_of_type)
        || ids.any(is_of_type) && member.as_str().is_some_and(|id| Some(id) == identifier)
}

/// Returns whether a member of a model has the tags of the resource, which are anybody's words. Types call them `Tags` or, for
/// example, `HostedZoneTags`.
pub fn is_of_tags(member: &str) -> bool {
    member.contains("Tags") || member == "tags"
}

/// A search for names in a model.
struct Search<'n, 'a> {
    names: &'n Names<'a>,
    /// What the resource itself is called.
    own: BTreeSet<&'n str>,
    meaning: Meaning,
    found: BTreeSet<usize>,
}

impl Search<'_, '_> {
    /// Looks at what stands below the member of this name.
    fn collect(&mut self, member: &str, value: &Value) {
        match value {
            Value::String(text) => self.collect_text(member, text),
            Value::Array(elements) => {
                for element in elements {
                    self.collect(member, element);
                }
            }
            Value::Object(members) => {
                for (name, value) in members.iter().filter(|(name, _)| !is_of_tags(name)) {
                    self.collect(name, value);
                }
            }
            Value::Null | Value::Bool(_) | Value::Number(_) => {}
        }
    }

    fn collect_text(&mut self, member: &str, text: &str) {
        let is_whole = self.find(member, text, text) && self.meaning == Meaning::ByPlace;
        if is_whole || text.len() > NAME_MAX_BYTES || text.contains(char::is_whitespace) {
            return;
        }
        let parts = parts(text);
        let mut first = 0;
        while first < parts.len() {
            // The longest one is meant: `/shop/service` is no `service`.
            let last = parts.len().min(first + PARTS_MAX);
            let found = (first..last).rev().find(|last| {
                let runs = run(text, &parts, first, *last);
                let is_found = runs.map(|name| self.find(member, text, name));
                is_found.contains(&true) && self.meaning == Meaning::ByPlace
            });
            first = found.unwrap_or(first) + 1;
        }
    }

    /// Finds the resources of this name, which stands in the text of a member.
    fn find(&mut self, member: &str, text: &str, name: &str) -> bool {
        let Some(named) = self.names.0.get(name) else {
            return false;
        };
        let told = match self.meaning {
            Meaning::Any => named.iter().collect(),
            Meaning::ByPlace => told(named, member, text),
        };
        match told.is_empty() {
            false => self.found.extend(told.iter().map(|it| it.resource)),
            // It may have given a part of it its own name.
            true if self.own.contains(name) => {}
            true => self.found.extend(named.iter().map(|it| it.resource)),
        }
        true
    }
}

/// Returns a name and its parts, and what consecutive parts are together.
fn runs(text: &str) -> Vec<&str> {
    let parts = parts(text);
    let mut runs = vec![text];
    for first in 0..parts.len() {
        for last in first..parts.len().min(first + PARTS_MAX) {
            runs.extend(run(text, &parts, first, last));
        }
    }
    runs
}

/// Returns what these parts of a name are together, with and without a slash before it: an identifier that is a path begins with
/// one.
fn run<'a>(text: &'a str, parts: &[(usize, usize)], first: usize, last: usize) -> [&'a str; 2] {
    let (start, end) = (parts[first].0, parts[last].1);
    let from = start.saturating_sub(usize::from(text[..start].ends_with('/')));
    [&text[from..end], &text[start..end]]
}

/// Returns the ranges of the parts of a name, which are separated by colons, slashes and other characters that simple
/// identifiers do not contain.
fn parts(text: &str) -> Vec<(usize, usize)> {
    let is_part = |letter: char| letter.is_alphanumeric() || matches!(letter, '-' | '_' | '.');
    let mut parts = Vec::new();
    let mut start = None;
    for (at, letter) in text.char_indices() {
        match (is_part(letter), start) {
            (true, None) => start = Some(at),
            (false, Some(from)) => {
                parts.push((from, at));
                start = None;
            }
            (true, Some(_)) | (false, None) => {}
        }
    }
    if let Some(from) = start {
        parts.push((from, text.len()));
    }
    parts
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::{GroupId, Lineage, ProvisioningState, ReferenceId, Scope, Timestamp, TypeName};

    fn reference(type_name: &str, identifier: &str, model: Value) -> Reference {
        let type_name = TypeName::from_cloudformation(type_name).unwrap();
        let group = GroupId::new("local", "rg").unwrap();
        let id = ReferenceId::new(group, type_name, "a").unwrap();
        let now = Timestamp::from_millis(0);
        Reference {
            lineage: Lineage::of(&id),
            id,
            scope: Scope::new("aws", "1", "us-west-2").unwrap(),
            identifier: Some(Identifier::new(identifier)),
            owned: true,
            told_to_own: false,
            marked: false,
            tags: BTreeMap::new(),
            operation: None,
            provisioning_state: ProvisioningState::Succeeded,
            baseline: None,
            observed: Some(model),
            observed_at: None,
            created_at: now,
            updated_at: now,
            revision: 1,
            moves: 0,
        }
    }

    /// Whether a bucket with this model names a resource.
    fn names(identifier: &str, model: Value) -> bool {
        let bucket = reference("AWS::S3::Bucket", "b", model);
        let named = reference("AWS::EC2::VPC", identifier, json!({}));
        !Names::of(std::iter::once(&named))
            .named_in(&bucket)
            .is_empty()
    }

    /// The types of the resources called `shop` that one names.
    fn named(type_name: &str, identifier: &str, model: Value) -> Vec<&'static str> {
        const TYPES: [&str; 6] = [
            "AWS::DynamoDB::Table",
            "AWS::ECS::Cluster",
            "AWS::IAM::Role",
            "AWS::RDS::DBInstance",
            "AWS::S3::Bucket",
            "AWS::S3::BucketPolicy",
        ];
        let shops = TYPES.map(|type_name| reference(type_name, "shop", json!({})));
        let user = reference(type_name, identifier, model);
        let names = Names::of(shops.iter());
        assert_eq!(
            names.named_in(&user).len(),
            TYPES.len(),
            "any of them may be meant"
        );
        let named = names.declared_in(&user);
        named.into_iter().map(|index| TYPES[index]).collect()
    }

    #[test]
    fn a_name_of_many_is_told_by_its_place() {
        let all = |model: Value| named("AWS::Lambda::Function", "f", model).len();
        assert_eq!(all(json!({"Environment": {"NAME": "shop"}})), 6);
        for (model, meant) in [
            (json!({"Role": "shop"}), "AWS::IAM::Role"),
            (json!({"Roles": ["shop"]}), "AWS::IAM::Role"),
            (
                json!({"Roles": ["arn:aws:iam::1:role/shop"]}),
                "AWS::IAM::Role",
            ),
            (json!({"Code": {"S3Bucket": "shop"}}), "AWS::S3::Bucket"),
            (json!({"BucketPolicy": "shop"}), "AWS::S3::BucketPolicy"),
            (json!({"Of": "arn:aws:s3:::shop/*"}), "AWS::S3::Bucket"),
            (
                json!({"Of": "arn:aws:ecs:eu-west-1:1:cluster/shop"}),
                "AWS::ECS::Cluster",
            ),
            (
                json!({"Of": "https://dynamodb.eu-west-1.amazonaws.com/shop"}),
                "AWS::DynamoDB::Table",
            ),
        ] {
            assert_eq!(
                named("AWS::Lambda::Function", "f", model.clone()),
                [meant],
                "{model}"
            );
        }
    }

    #[test]
    fn a_part_that_bears_the_name_of_the_whole_names_nothing() {
        let task = "arn:aws:ecs:eu-west-1:1:task-definition/shop:1";
        let model = json!({"Family": "shop", "ContainerDefinitions": [{"Name": "shop"}]});
        assert_eq!(named("AWS::ECS::TaskDefinition", task, model), [""; 0]);
        let service = "arn:aws:ecs:eu-west-1:1:service/shop/s|arn:aws:ecs:eu-west-1:1:cluster/shop";
        let model = json!({"Cluster": "shop", "LoadBalancers": [{"ContainerName": "shop"}]});
        assert_eq!(
            named("AWS::ECS::Service", service, model),
            ["AWS::ECS::Cluster"]
        );
    }

    #[test]
    fn the_longest_name_is_meant() {
        let one = reference("AWS::Logs::LogGroup", "/shop/service", json!({}));
        let other = reference("AWS::RDS::DBInstance", "shop", json!({}));
        let names = Names::of([&one, &other].into_iter());
        for text in [
            "/shop/service",
            "arn:aws:logs:eu-west-1:1:log-group:/shop/service:*",
        ] {
            let user = reference("AWS::ECS::TaskDefinition", "t", json!({"Options": text}));
            assert_eq!(names.declared_in(&user), BTreeSet::from([0]), "{text}");
        }
        let user = reference(
            "AWS::ECS::TaskDefinition",
            "t",
            json!({"Options": "/shop/other"}),
        );
        assert_eq!(names.declared_in(&user), BTreeSet::from([1]));
    }

    #[test]
    fn whole_values_and_parts_of_arns_name_a_resource() {
        for (identifier, text) in [
            ("vpc-1", "vpc-1"),
            ("my-role", "arn:aws:iam::1:role/my-role"),
            (
                "/aws/lambda/f",
                "arn:aws:logs:eu-west-1:1:log-group:/aws/lambda/f:*",
            ),
            ("arn:aws:sns:eu-west-1:1:t", "arn:aws:sns:eu-west-1:1:t"),
            ("a b", "a b"),
            ("api|stage", "api|stage"),
            ("queue", "https://sqs.eu-west-1.amazonaws.com/1/queue"),
            ("vpc-1", "${vpc-1}"),
        ] {
            assert!(
                names(identifier, json!({"a": [{"b": text}]})),
                "{identifier} in {text}"
            );
        }
    }

    #[test]
    fn a_part_of_another_word_or_of_prose_names_nothing() {
        for (identifier, text) in [
            ("vpc-1", "vpc-12"),
            ("role", "my-role"),
            ("web", "the web tier"),
            ("logs", "logs.example"),
        ] {
            assert!(
                !names(identifier, json!({"a": text})),
                "{identifier} in {text}"
            );
        }
        assert!(!names("a", json!({"a": 1})), "a member's name");
    }

    #[test]
    fn tags_and_a_name_of_its_own_name_nothing() {
        for model in [
            json!({"Tags": [{"Key": "app", "Value": "shop"}]}),
            json!({"HostedZoneTags": {"app": "shop"}}),
            json!({"BucketName": "shop", "Arn": "arn:aws:s3:::shop"}),
            json!({"Name": "shop"}),
        ] {
            assert!(!names("shop", model.clone()), "{model}");
        }
        assert!(names("shop", json!({"Bucket": "shop"})));
        assert!(names("shop", json!({"RoleName": "shop"})));
        // It uses another one of its name.
        assert!(names(
            "shop",
            json!({"BucketName": "shop", "Role": "arn:aws:iam::1:role/shop"})
        ));
    }
}
