//! AWS's values: which resource a text stands for, and under which attribute.

use std::borrow::Cow;
use std::collections::{BTreeSet, HashMap, HashSet};

use serde_json::Value;
use ucp_model::json;

use crate::deployed::Deployed;
use crate::imagined::is_stand_in;
use crate::resources::{Resources, Side};

/// The attribute that is the identifier. No property has this pointer.
pub(crate) const IDENTIFIER: &str = "";

/// By environment and text: the one resource that has it, and the attribute.
type Owners<'a> = HashMap<(usize, &'a str), Option<(usize, &'a str)>>;

/// The identifiers and read-only properties of what is deployed.
#[derive(Debug)]
pub(crate) struct Values<'a> {
    owners: Owners<'a>,
    /// By type and pointer: the first attribute that has the same value on all resources of the type.
    names: HashMap<(usize, &'a str), &'a str>,
}

impl<'a> Values<'a> {
    /// A value that something in a named group has is that of no resource outside.
    pub(crate) fn of(resources: &Resources<'a>, is_outside: &[bool]) -> Self {
        let all = || resources.all_deployed();
        let mut values = Self {
            owners: HashMap::new(),
            names: names(resources),
        };
        let among = |outside: bool| all().filter(move |it| is_outside[*it] == outside);
        let mut owners = values.owners_among(resources, among(true));
        owners.extend(values.owners_among(resources, among(false)));
        values.owners = owners;
        values
    }

    fn owners_among(
        &self,
        resources: &Resources<'a>,
        among: impl Iterator<Item = usize>,
    ) -> Owners<'a> {
        let mut owners = Owners::new();
        for resource in among {
            let Side::Deployed(deployed) = resources.side(resource) else {
                continue;
            };
            let own = texts(deployed);
            let told = told(deployed, &own);
            for (attribute, text) in own {
                let attribute = self.attribute(resources.type_of(resource), attribute);
                let owner = (!told.contains(text)).then_some((resource, attribute));
                let environment = resources.environment(resource);
                let known = owners.entry((environment, text)).or_insert(owner);
                if known.is_none_or(|(other, _)| other != resource) {
                    *known = None;
                }
            }
        }
        owners
    }

    /// Returns the only resource of an environment that has this text as its identifier or as a read-only property,
    /// and the attribute. What a resource has in its own declaration is no such text: AWS did not assign it.
    pub(crate) fn owner(&self, environment: usize, text: &str) -> Option<(usize, &'a str)> {
        self.owners.get(&(environment, text)).copied().flatten()
    }

    /// Returns the one name of an attribute that has several.
    pub(crate) fn attribute<'p>(&self, type_number: usize, pointer: &'p str) -> &'p str
    where
        'a: 'p,
    {
        let name = self.names.get(&(type_number, pointer));
        name.copied().unwrap_or(pointer)
    }
}

/// Returns the value of an attribute.
pub(crate) fn value_of<'d>(deployed: &'d Deployed, pointer: &str) -> Option<Cow<'d, Value>> {
    if pointer == IDENTIFIER {
        let identifier = deployed.identifier.as_ref()?;
        return Some(Cow::Owned(Value::from(identifier.as_str())));
    }
    deployed.attributes.get(pointer).map(Cow::Borrowed)
}

/// Returns the texts that AWS knows a resource by, each with its attribute, the identifier first.
fn texts(deployed: &Deployed) -> Vec<(&str, &str)> {
    let identifier = deployed.identifier.as_ref();
    let identifier = identifier.map(|identifier| (IDENTIFIER, identifier.as_str()));
    let attributes = deployed.attributes.iter();
    let attributes = attributes.filter_map(|(at, value)| Some((at.as_str(), value.as_str()?)));
    identifier.into_iter().chain(attributes).collect()
}

/// Returns those of a resource's texts that its own declaration has, and that AWS did not assign.
fn told<'d>(deployed: &'d Deployed, own: &[(&str, &'d str)]) -> HashSet<&'d str> {
    let own: HashSet<&str> = own.iter().map(|(_, text)| *text).collect();
    let mut told = HashSet::new();
    if let Some(declared) = &deployed.declared {
        json::walk(declared, |_, value| {
            let told_here = |text: &&str| own.contains(text) && !is_assigned(deployed, text);
            told.extend(value.as_str().filter(told_here));
        });
    }
    told
}

/// Returns whether a text that a resource has in its own declaration can only be AWS's: an ARN, or an identifier that is a read-only
/// property too. What declares it refers to itself.
fn is_assigned(deployed: &Deployed, text: &str) -> bool {
    let is_identifier = deployed
        .identifier
        .as_ref()
        .is_some_and(|identifier| identifier.as_str() == text);
    let mut attributes = deployed.attributes.values();
    text.starts_with("arn:")
        || is_identifier && attributes.any(|value| value.as_str() == Some(text))
        || is_stand_in(&deployed.address, text)
}

/// Finds attributes that have the same value on all resources of their type.
fn names<'a>(resources: &Resources<'a>) -> HashMap<(usize, &'a str), &'a str> {
    let mut by_type: Vec<Vec<HashMap<&str, &str>>> = Vec::new();
    let mut attributes: Vec<BTreeSet<&str>> = Vec::new();
    for resource in resources.all_deployed() {
        let type_number = resources.type_of(resource);
        if by_type.len() <= type_number {
            by_type.resize_with(type_number + 1, Vec::new);
            attributes.resize_with(type_number + 1, BTreeSet::new);
        }
        if let Side::Deployed(deployed) = resources.side(resource)
            && deployed.identifier.is_some()
        {
            let texts = texts(deployed);
            attributes[type_number].extend(texts.iter().map(|(attribute, _)| *attribute));
            by_type[type_number].push(texts.into_iter().collect());
        }
    }
    let mut names = HashMap::new();
    for (type_number, attributes) in attributes.into_iter().enumerate() {
        let mut first: HashMap<Vec<&str>, &str> = HashMap::new();
        for attribute in attributes {
            let column = by_type[type_number].iter();
            let column: Option<Vec<&str>> =
                column.map(|texts| texts.get(attribute).copied()).collect();
            if let Some(column) = column {
                let name = *first.entry(column).or_insert(attribute);
                names.insert((type_number, attribute), name);
            }
        }
    }
    names
}
