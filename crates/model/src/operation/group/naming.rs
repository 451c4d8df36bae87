//! References between resources, found in their live properties. They determine the order of deletion.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;

use crate::{Identifier, Reference};

/// Longer strings are taken for documents and compared only as a whole.
const NAME_MAX_BYTES: usize = 2048;
/// The maximum number of consecutive parts of a name that are joined to match an identifier of several parts.
const PARTS_MAX: usize = 16;

/// Resources by their identifiers. Resources of different types may share one.
#[derive(Debug, Default)]
pub(super) struct Names<'a>(BTreeMap<&'a str, Vec<usize>>);

impl<'a> Names<'a> {
    pub(super) fn insert(&mut self, identifier: &'a str, resource: usize) {
        self.0.entry(identifier).or_default().push(resource);
    }

    /// Returns the resources that a string in the live properties of `reference` names, either as a whole or as a part of
    /// something like an ARN (`arn:aws:iam::1:role/r` names `r`). Parts of a string with white space do not count: it is
    /// probably prose. Nor do tags, or its own name, which another resource may have too.
    pub(super) fn named_in(&self, reference: &Reference) -> BTreeSet<usize> {
        self.of_members(reference, members(reference.observed.as_ref()))
    }

    /// Returns the resources that the declared properties of `reference` name, as they are live, or as they were declared if they
    /// cannot be read. AWS itself adds what uses the resource, such as the `LoadBalancerArns` of a target group, and names that are
    /// put together. All live properties count if nothing was declared: an imported resource.
    pub(super) fn declared_in(&self, reference: &Reference) -> BTreeSet<usize> {
        let declared = reference.baseline.as_ref().map(|last| &last.declared);
        let Some(declared) = declared.and_then(Value::as_object) else {
            return self.named_in(reference);
        };
        let live = reference.observed.as_ref();
        let members = declared.iter().map(|(name, declared)| {
            let live = live.and_then(|live| live.get(name));
            (name, live.unwrap_or(declared))
        });
        self.of_members(reference, members)
    }

    fn of_members<'v>(
        &self,
        reference: &Reference,
        members: impl Iterator<Item = (&'v String, &'v Value)>,
    ) -> BTreeSet<usize> {
        let mut search = Search {
            names: self,
            found: BTreeSet::new(),
        };
        for (name, member) in members {
            if !is_of_tags(name) && !is_own_name(name, member, reference) {
                search.collect(member);
            }
        }
        search.found
    }
}

fn members(model: Option<&Value>) -> impl Iterator<Item = (&String, &Value)> {
    model.and_then(Value::as_object).into_iter().flatten()
}

/// Returns whether the live properties of one reference name the resource of the other.
pub fn are_related(one: &Reference, other: &Reference) -> bool {
    let is_named = |named: &Reference, by: &Reference| {
        named.identifier.as_ref().is_some_and(|identifier| {
            let mut names = Names::default();
            names.insert(identifier.as_str(), 0);
            !names.named_in(by).is_empty()
        })
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
    found: BTreeSet<usize>,
}

impl Search<'_, '_> {
    fn collect(&mut self, value: &Value) {
        match value {
            Value::String(text) => self.collect_text(text),
            Value::Array(elements) => {
                for element in elements {
                    self.collect(element);
                }
            }
            Value::Object(members) => {
                for (_, member) in members.iter().filter(|(name, _)| !is_of_tags(name)) {
                    self.collect(member);
                }
            }
            Value::Null | Value::Bool(_) | Value::Number(_) => {}
        }
    }

    fn collect_text(&mut self, text: &str) {
        let mut look_up = |name: &str| {
            let named = self.names.0.get(name);
            self.found.extend(named.into_iter().flatten());
        };
        look_up(text);
        if text.len() > NAME_MAX_BYTES || text.contains(char::is_whitespace) {
            return;
        }
        let parts: Vec<(usize, usize)> = parts(text);
        for (first, (start, _)) in parts.iter().enumerate() {
            for (_, end) in parts.iter().skip(first).take(PARTS_MAX) {
                // An identifier that is a path begins with the slash.
                let from = start.saturating_sub(usize::from(text[..*start].ends_with('/')));
                look_up(&text[*start..*end]);
                look_up(&text[from..*end]);
            }
        }
    }
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

    /// Whether a bucket with this model names a resource.
    fn names(identifier: &str, model: Value) -> bool {
        let type_name = TypeName::from_cloudformation("AWS::S3::Bucket").unwrap();
        let group = GroupId::new("local", "rg").unwrap();
        let id = ReferenceId::new(group, type_name, "a").unwrap();
        let now = Timestamp::from_millis(0);
        let bucket = Reference {
            lineage: Lineage::of(&id),
            id,
            scope: Scope::new("aws", "1", "us-west-2").unwrap(),
            identifier: None,
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
        };
        let mut names = Names::default();
        names.insert(identifier, 0);
        !names.named_in(&bucket).is_empty()
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
