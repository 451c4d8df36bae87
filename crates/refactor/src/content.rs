//! The content of a resource: what is declared, in a form that does not depend on how it is written, with an open slot
//! in the place of each reference.

use std::borrow::Cow;
use std::cell::{Cell, RefCell};
use std::collections::{BTreeMap, BTreeSet, HashMap};

use serde_json::{Map, Value};
use sha2::{Digest as _, Sha256};
use ucp_model::json::{self, Step};
use ucp_model::pointer;
use ucp_schema::MAX_DECLARED_CHARS;
use ucp_set::{Address, Expression, Part, visit};

use crate::body::Declared;
use crate::names::Names;
use crate::resources::{Resources, Side};
use crate::values::{IDENTIFIER, Values, value_of};

/// How many references in a row are followed to a value: to what is declared as a reference to what is declared.
const HOPS_MAX: usize = 10;

/// How many characters of values are put in the place of references to them, in all resources together. Further
/// references stay references.
const SUBSTITUTED_CHARS_MAX: usize = 64 * 1024 * 1024;

/// A SHA-256.
pub(crate) type Sha = [u8; 32];

/// The content of a resource.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Content {
    /// The digest of everything but what references refer to. Their places and attributes are in it.
    pub(crate) digest: Sha,
    /// What the references refer to, in the order of their places in the digest.
    pub(crate) slots: Vec<Slot>,
    /// Whether a text has parts that are not known yet.
    pub(crate) is_open: bool,
}

/// The place of a reference.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Slot {
    /// The resource that is referred to.
    pub(crate) target: usize,
    /// Whether the body says so by `$reference`, and not by AWS's value. What is deployed says so too.
    pub(crate) by_reference: bool,
}

/// Returns the SHA-256 of parts, each after its length.
pub(crate) fn sha<'p>(parts: impl IntoIterator<Item = &'p [u8]>) -> Sha {
    let mut sha = Sha256::new();
    for part in parts {
        sha.update(length(part.len()));
        sha.update(part);
    }
    sha.finalize().into()
}

fn length(length: usize) -> [u8; 8] {
    u64::try_from(length).unwrap_or(u64::MAX).to_be_bytes()
}

/// Reads contents. What is known to be the same resource grows in between.
#[derive(Debug)]
pub(crate) struct Reader<'a> {
    pub(crate) resources: &'a Resources<'a>,
    pub(crate) values: &'a Values<'a>,
    pub(crate) names: &'a Names,
    room: Cell<usize>,
    /// The texts that parts were put together to, by resource and pointer.
    texts: RefCell<HashMap<(usize, String), Value>>,
}

/// What an expression stands for.
enum Meaning<'v> {
    Value(Cow<'v, Value>),
    Resource { target: usize, attribute: String },
}

impl<'a> Reader<'a> {
    pub(crate) fn new(
        resources: &'a Resources<'a>,
        values: &'a Values<'a>,
        names: &'a Names,
    ) -> Self {
        Self {
            resources,
            values,
            names,
            room: Cell::new(SUBSTITUTED_CHARS_MAX),
            texts: RefCell::new(HashMap::new()),
        }
    }

    /// Reads the content of a resource; `None` if it was never declared. `deployed_as` returns what a declared resource
    /// is known to be.
    pub(crate) fn content(
        &self,
        resource: usize,
        deployed_as: &dyn Fn(usize) -> Option<usize>,
    ) -> Option<Content> {
        let (value, defaults, write_only) = match self.resources.side(resource) {
            Side::Deployed(deployed) => (
                deployed.declared.as_ref()?,
                &deployed.default_tags,
                &deployed.write_only,
            ),
            Side::Declared(declared) => (
                &declared.properties,
                &declared.default_tags,
                &declared.write_only,
            ),
        };
        let mut writer = Writer {
            reader: self,
            resource,
            deployed_as,
            write_only,
            place: String::new(),
            sha: Sha256::new(),
            slots: Vec::new(),
            is_open: false,
        };
        writer.value(value, Some(defaults));
        Some(Content {
            digest: writer.sha.finalize().into(),
            slots: writer.slots,
            is_open: writer.is_open,
        })
    }

    /// Returns what a reference of `user` stands for: the value that its target declares; AWS's value, if the target is
    /// known and the value does not tell it from others; or else the target.
    fn meaning(
        &self,
        user: usize,
        address: &Address,
        deployed_as: &dyn Fn(usize) -> Option<usize>,
    ) -> Option<Meaning<'a>> {
        let mut address = Cow::Borrowed(address);
        let mut target = self.names.get(user, &address.name)?;
        for _ in 0..HOPS_MAX {
            let Some(place) = &address.pointer else {
                break;
            };
            let Side::Declared(declared) = self.resources.side(target) else {
                break;
            };
            let Some(value) = declared.properties.pointer(place.as_str()) else {
                break;
            };
            match Expression::read(value) {
                None if value.is_null() => break,
                None => {
                    if self.take(value) {
                        return Some(Meaning::Value(Cow::Borrowed(value)));
                    } else {
                        break;
                    }
                }
                Some(Ok(Expression::Reference(next))) => {
                    target = self.names.get(target, &next.name)?;
                    address = Cow::Owned(next);
                }
                Some(_) => {
                    let key = (target, place.as_str().to_owned());
                    match self.texts.borrow().get(&key) {
                        Some(text) if self.take(text) => {
                            return Some(Meaning::Value(Cow::Owned(text.clone())));
                        }
                        _ => break,
                    }
                }
            }
        }
        let pointer = address.pointer.as_ref();
        let pointer = pointer.map_or(IDENTIFIER, |pointer| pointer.as_str());
        let attribute = self
            .values
            .attribute(self.resources.type_of(target), pointer);
        let known = if self.resources.is_declared(target) {
            deployed_as(target)
        } else {
            Some(target)
        };
        if let Some(known) = known
            && let Side::Deployed(deployed) = self.resources.side(known)
            && let Some(value) = value_of(deployed, attribute)
        {
            let environment = self.resources.environment(user);
            let owner = (value.as_str()).and_then(|text| self.values.owner(environment, text));
            if owner != Some((known, attribute)) && self.take(&value) {
                return Some(Meaning::Value(value));
            }
        }
        // What stays is as it was declared.
        if let Side::Deployed(deployed) = self.resources.side(target)
            && value_of(deployed, attribute).is_none()
            && let Some(declared) = &deployed.declared
            && let Some(value) = declared.pointer(pointer).filter(|_| !pointer.is_empty())
            && self.take(value)
        {
            return Some(Meaning::Value(Cow::Borrowed(value)));
        }
        Some(Meaning::Resource {
            target,
            attribute: attribute.to_owned(),
        })
    }

    /// Returns the value that a reference of `user` stands for. Fails with the declared resource that has to be known first, if
    /// that is why there is none.
    fn value(
        &self,
        user: usize,
        address: &Address,
        deployed_as: &dyn Fn(usize) -> Option<usize>,
    ) -> Result<Cow<'a, Value>, Option<usize>> {
        match self.meaning(user, address, deployed_as).ok_or(None)? {
            Meaning::Value(value) => Ok(value),
            Meaning::Resource { target, attribute } => {
                let known = if self.resources.is_declared(target) {
                    deployed_as(target).ok_or(Some(target))?
                } else {
                    target
                };
                let Side::Deployed(deployed) = self.resources.side(known) else {
                    return Err(None);
                };
                let value = value_of(deployed, &attribute).ok_or(None)?;
                Ok(Cow::Owned(value.into_owned()))
            }
        }
    }

    /// Returns the properties of a declared resource with values in the place of the references in its write-only ones. Fails
    /// with the resources that have to be known first.
    pub(crate) fn with_secrets(
        &self,
        resource: usize,
        declared: &'a Declared,
        deployed_as: &dyn Fn(usize) -> Option<usize>,
    ) -> Result<Cow<'a, Value>, Vec<usize>> {
        let mut properties = Cow::Borrowed(&declared.properties);
        let (mut is_known, mut awaited) = (true, Vec::new());
        for place in &declared.write_only {
            let Some(value) = declared.properties.pointer(place) else {
                continue;
            };
            let (mut is_plain, mut resolved) = (true, BTreeMap::new());
            visit(value, |at, expression| {
                is_plain = false;
                let value = match expression {
                    Ok(Expression::Reference(address)) => self
                        .value(resource, &address, deployed_as)
                        .map(Cow::into_owned),
                    Ok(Expression::Concat(parts)) => {
                        self.joined(resource, &parts, deployed_as).map(Value::from)
                    }
                    Ok(Expression::Unknown) | Err(_) => Err(None),
                };
                match value {
                    Ok(value) => {
                        resolved.insert(at.to_string(), value);
                    }
                    Err(first) => {
                        is_known = false;
                        awaited.extend(first);
                    }
                }
            });
            if is_plain || !is_known {
                continue;
            }
            for (at, value) in resolved {
                if let Some(there) = properties.to_mut().pointer_mut(&format!("{place}{at}")) {
                    *there = value;
                }
            }
        }
        if is_known {
            Ok(properties)
        } else {
            Err(awaited)
        }
    }

    /// Returns the text that parts come to. Fails as [`Self::value`] does.
    fn joined(
        &self,
        user: usize,
        parts: &[Part],
        deployed_as: &dyn Fn(usize) -> Option<usize>,
    ) -> Result<String, Option<usize>> {
        let mut text = String::new();
        for part in parts {
            match part {
                Part::Text(part) => text.push_str(part),
                Part::Reference(address) => {
                    let value = self.value(user, address, deployed_as)?;
                    push(&mut text, &value).ok_or(None)?;
                }
            }
        }
        if self.take_chars(text.len()) {
            Ok(text)
        } else {
            Err(None)
        }
    }

    /// Takes room for a value in the place of a reference. There is none for one that has references in it.
    fn take(&self, value: &Value) -> bool {
        let mut is_plain = self.room.get() > 0 && self.take_chars(value.to_string().len());
        if is_plain {
            visit(value, |_, _| is_plain = false);
        }
        is_plain
    }

    fn take_chars(&self, count: usize) -> bool {
        let left = self.room.get().checked_sub(count);
        self.room.set(left.unwrap_or(0));
        left.is_some()
    }
}

/// Writes the content of one resource.
struct Writer<'r, 'a> {
    reader: &'r Reader<'a>,
    resource: usize,
    deployed_as: &'r dyn Fn(usize) -> Option<usize>,
    write_only: &'r BTreeSet<String>,
    place: String,
    sha: Sha256,
    slots: Vec<Slot>,
    is_open: bool,
}

impl<'a> Writer<'_, 'a> {
    /// Writes a value. Each kind begins with a letter of its own, and what varies in length with its length.
    fn value(&mut self, value: &Value, defaults: Option<&Value>) {
        match value {
            Value::Null => self.sha.update(b"n"),
            Value::Bool(false) => self.sha.update(b"f"),
            Value::Bool(true) => self.sha.update(b"t"),
            Value::Number(_) => {
                self.sha.update(b"d");
                self.bytes(json::canonical(value).as_bytes());
            }
            Value::String(text) => self.text(text),
            Value::Array(elements) => self.array(elements, defaults),
            Value::Object(members) => match self.expression(value) {
                Some(expression) => self.expressed(&expression),
                None => self.object(members, defaults),
            },
        }
    }

    fn bytes(&mut self, bytes: &[u8]) {
        self.sha.update(length(bytes.len()));
        self.sha.update(bytes);
    }

    /// Writes a text, or the reference that it is.
    fn text(&mut self, text: &str) {
        let resources = self.reader.resources;
        let environment = resources.environment(self.resource);
        match self.reader.values.owner(environment, text) {
            Some((target, attribute)) => {
                let by_reference = !resources.is_declared(self.resource);
                self.slot(target, attribute, by_reference);
            }
            None => {
                self.sha.update(b"s");
                self.bytes(text.as_bytes());
            }
        }
    }

    fn slot(&mut self, target: usize, attribute: &str, by_reference: bool) {
        self.sha.update(b"r");
        self.bytes(attribute.as_bytes());
        self.slots.push(Slot {
            target,
            by_reference,
        });
    }

    fn array(&mut self, elements: &[Value], defaults: Option<&Value>) {
        let defaults = defaults.and_then(Value::as_array);
        let mut kept = Vec::with_capacity(elements.len());
        for (index, element) in elements.iter().enumerate() {
            if !self.is_write_only(Step::Element(index)) && !is_among(element, defaults) {
                kept.push((index, element));
            }
        }
        self.sha.update(b"a");
        self.sha.update(length(kept.len()));
        for (index, element) in kept {
            self.below(Step::Element(index), |writer| writer.value(element, None));
        }
    }

    fn object(&mut self, members: &Map<String, Value>, defaults: Option<&Value>) {
        let default = |name: &str| defaults.and_then(|defaults| defaults.get(name));
        let mut kept = Vec::with_capacity(members.len());
        for (name, member) in members {
            let is_left_out = member.is_null()
                || self.is_write_only(Step::Member(name))
                || default(name).is_some_and(|default| is_default(member, default));
            if !is_left_out {
                kept.push((name, member));
            }
        }
        kept.sort_unstable_by_key(|(name, _)| *name);
        self.sha.update(b"o");
        self.sha.update(length(kept.len()));
        for (name, member) in kept {
            self.bytes(name.as_bytes());
            self.below(Step::Member(name), |writer| {
                writer.value(member, default(name));
            });
        }
    }

    /// Reads a value of the body as an expression. What is deployed has none.
    fn expression(&self, value: &Value) -> Option<Expression> {
        let is_declared = self.reader.resources.is_declared(self.resource);
        is_declared.then(|| Expression::read(value))??.ok()
    }

    fn expressed(&mut self, expression: &Expression) {
        match expression {
            Expression::Reference(address) => match self.meaning(address) {
                Some(Meaning::Value(value)) => self.value(&value, None),
                Some(Meaning::Resource { target, attribute }) => {
                    self.slot(target, &attribute, true);
                }
                None => self.sha.update(b"u"),
            },
            Expression::Concat(parts) => self.concat(parts),
            Expression::Unknown => self.sha.update(b"u"),
        }
    }

    fn meaning(&self, address: &Address) -> Option<Meaning<'a>> {
        self.reader
            .meaning(self.resource, address, self.deployed_as)
    }

    /// Writes a text of several parts: as a text, if all of them are known.
    fn concat(&mut self, parts: &[Part]) {
        let text = (self.reader).joined(self.resource, parts, self.deployed_as);
        if let Ok(text) = text {
            let key = (self.resource, self.place.clone());
            let known = Value::from(text.as_str());
            self.reader.texts.borrow_mut().insert(key, known);
            return self.text(&text);
        }
        self.is_open = true;
        self.sha.update(b"c");
        self.sha.update(length(parts.len()));
        for part in parts {
            match part {
                Part::Text(text) => {
                    self.sha.update(b"s");
                    self.bytes(text.as_bytes());
                }
                Part::Reference(address) => {
                    self.expressed(&Expression::Reference(address.clone()));
                }
            }
        }
    }

    fn below(&mut self, step: Step<'_>, write: impl FnOnce(&mut Self)) {
        let length = self.place.len();
        push_step(&mut self.place, step);
        write(self);
        self.place.truncate(length);
    }

    fn is_write_only(&mut self, step: Step<'_>) -> bool {
        if self.write_only.is_empty() {
            return false;
        }
        let length = self.place.len();
        push_step(&mut self.place, step);
        let is_write_only = self.write_only.contains(&self.place);
        self.place.truncate(length);
        is_write_only
    }
}

fn push_step(place: &mut String, step: Step<'_>) {
    place.push('/');
    match step {
        Step::Member(name) => place.push_str(&pointer::escape(name)),
        Step::Element(index) => place.push_str(&index.to_string()),
    }
}

/// Appends a value to a text, if it can be part of one.
fn push(text: &mut String, value: &Value) -> Option<()> {
    match value {
        Value::String(part) => text.push_str(part),
        Value::Number(_) | Value::Bool(_) => text.push_str(&value.to_string()),
        Value::Null | Value::Array(_) | Value::Object(_) => return None,
    }
    (text.len() <= MAX_DECLARED_CHARS).then_some(())
}

/// Returns whether a value is nothing but default tags.
fn is_default(value: &Value, default: &Value) -> bool {
    match (value, default) {
        (Value::Object(members), Value::Object(defaults)) => {
            let mut members = members.iter();
            members.len() > 0
                && members.all(|(name, member)| {
                    (defaults.get(name)).is_some_and(|default| is_default(member, default))
                })
        }
        (Value::Array(elements), Value::Array(defaults)) => {
            let mut elements = elements.iter();
            elements.len() > 0 && elements.all(|element| is_among(element, Some(defaults)))
        }
        _ => json::equal(value, default),
    }
}

fn is_among(element: &Value, defaults: Option<&Vec<Value>>) -> bool {
    let mut defaults = defaults.into_iter().flatten();
    defaults.any(|default| json::equal(element, default))
}
