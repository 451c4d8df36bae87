//! Tags that are not declared, in the tag property of a type: default tags, and the mark of a reference.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Map, Value};
use ucp_model::{Mark, pointer};

use crate::{Classes, Cursor, ResourceSchema, Segment, Types};

/// The names of the key and value members in lists of tags.
const PAIRS: [(&str, &str); 4] = [
    ("Key", "Value"),
    ("key", "value"),
    ("TagKey", "TagValue"),
    ("tagKey", "tagValue"),
];

/// The form of a type's tags.
enum Form {
    /// `{"team": "platform"}`
    Map,
    /// `[{"Key": "team", "Value": "platform"}]`
    List {
        key: &'static str,
        value: &'static str,
        /// Further required members of a tag. All of them are Booleans, and set to `false`.
        switches: Vec<String>,
    },
}

impl ResourceSchema {
    /// Returns a live model as it is shown and remembered: without write-only values, and without the mark of a reference.
    pub fn shown(&self, live: &Value) -> Value {
        let mut shown = self.without_write_only(live);
        self.remove_mark(&mut shown);
        shown
    }

    /// Returns whether [`add_default_tags`](Self::add_default_tags) can add tags.
    pub fn takes_default_tags(&self) -> bool {
        self.tags_at().is_some()
    }

    /// Adds the tags in `defaults` whose keys are not declared. Does nothing if the type has no tags, if they cannot be
    /// updated (a default must not force a replacement), or if their form is not supported.
    pub fn add_default_tags(&self, properties: &mut Value, defaults: &BTreeMap<String, String>) {
        if defaults.is_empty() {
            return;
        }
        let Some((path, form)) = self.tags_at() else {
            return;
        };
        let Some((last, holders)) = path.split_last() else {
            return;
        };
        let holder = holders
            .iter()
            .try_fold(properties, |value, name| value.get_mut(name));
        if let Some(Value::Object(holder)) = holder {
            form.add(holder.entry(last).or_insert(Value::Null), defaults);
        }
    }

    /// Returns the part of a declaration that is tags which `is_default` accepts, by key and value; an empty object if
    /// [`add_default_tags`](Self::add_default_tags) adds none to the type.
    pub fn tags_among(&self, properties: &Value, is_default: impl Fn(&str, &str) -> bool) -> Value {
        let none = || Value::Object(Map::new());
        let Some((path, form)) = self.tags_at() else {
            return none();
        };
        let tags = path
            .iter()
            .try_fold(properties, |value, name| value.get(name));
        let found = match (&form, tags) {
            (Form::Map, Some(Value::Object(tags))) => {
                let found = tags.iter().filter(|(key, value)| {
                    value.as_str().is_some_and(|value| is_default(key, value))
                });
                let found = found.map(|(key, value)| (key.clone(), value.clone()));
                Value::Object(found.collect())
            }
            (Form::List { key, value, .. }, Some(Value::Array(tags))) => {
                let found = tags.iter().filter(|tag| {
                    let pair = tag[*key].as_str().zip(tag[*value].as_str());
                    pair.is_some_and(|(key, value)| is_default(key, value))
                });
                found.cloned().collect()
            }
            _ => return none(),
        };
        path.into_iter().rev().fold(found, |below, name| {
            Value::Object(Map::from_iter([(name, below)]))
        })
    }

    /// Returns the keys of the tags in a declaration, each with its value if that is a text; also of a type whose tags cannot be
    /// changed.
    pub fn tags_in(&self, properties: &Value) -> Vec<(String, Option<String>)> {
        let Some((path, _)) = self.tags() else {
            return Vec::new();
        };
        let tags = path
            .iter()
            .try_fold(properties, |value, name| value.get(name));
        let text = |value: &Value| value.as_str().map(str::to_owned);
        let found: Vec<(Option<String>, Option<String>)> = match tags {
            Some(Value::Object(tags)) => tags
                .iter()
                .map(|(key, value)| (Some(key.clone()), text(value)))
                .collect(),
            Some(Value::Array(tags)) => tags
                .iter()
                .filter_map(|tag| {
                    let (key, value) = PAIRS.iter().find(|(key, _)| tag.get(key).is_some())?;
                    Some((text(&tag[*key]), tag.get(value).and_then(text)))
                })
                .collect(),
            _ => Vec::new(),
        };
        let named = found.into_iter();
        named
            .filter_map(|(key, value)| Some((key?, value)))
            .collect()
    }

    /// Returns the path and the form of the tags, if they can be updated.
    fn tags_at(&self) -> Option<(Vec<String>, Form)> {
        if !(self.may_tag("taggable") && self.may_tag("tagUpdatable") && self.is_updatable()) {
            return None;
        }
        let (names, cursor) = self.tags()?;
        if cursor.is(Classes::FIXED) || cursor.is(Classes::READ_ONLY) {
            return None;
        }
        Some((names, Form::of(cursor)?))
    }

    /// Returns the properties of a create with the mark of a reference. `None` if the type has no tags that a create can
    /// set, or if the schema does not permit this one beside those declared.
    pub fn with_mark(&self, properties: &Value, mark: &Mark) -> Option<Value> {
        if !(self.may_tag("taggable") && self.may_tag("tagOnCreate")) {
            return None;
        }
        let (path, cursor) = self.tags()?;
        if cursor.is(Classes::READ_ONLY) {
            return None;
        }
        let form = Form::of(cursor)?;
        let mut marked = properties.clone();
        let (last, holders) = path.split_last()?;
        let holder = holders
            .iter()
            .try_fold(&mut marked, |value, name| value.get_mut(name));
        let holder = holder?.as_object_mut()?;
        let tag = BTreeMap::from([(Mark::KEY.to_owned(), mark.to_string())]);
        form.add(holder.entry(last).or_insert(Value::Null), &tag);
        let is_worse = self.validate_model(&marked).len() > self.validate_model(properties).len();
        (!is_worse).then_some(marked)
    }

    /// Returns whether reads of the type show the mark of a reference.
    pub fn shows_marks(&self) -> bool {
        let is_shown = |(_, cursor): (_, Cursor<'_>)| !cursor.is(Classes::WRITE_ONLY);
        self.handlers().read && self.tags().is_some_and(is_shown)
    }

    /// Returns whether a model shows tags, the mark of a reference among them if it has one. A list may show no more than
    /// the identifier.
    pub fn has_tags_in(&self, model: &Value) -> bool {
        let tags = self
            .tags()
            .and_then(|(path, _)| path.iter().try_fold(model, |value, name| value.get(name)));
        tags.is_some_and(|tags| !tags.is_null())
    }

    /// Returns the mark that a model carries, if any.
    pub fn mark_in<'v>(&self, model: &'v Value) -> Option<&'v str> {
        let (path, _) = self.tags()?;
        let tags = path.iter().try_fold(model, |value, name| value.get(name))?;
        match tags {
            Value::Array(tags) => tags.iter().filter(|tag| is_mark(tag)).find_map(|tag| {
                let mut names = PAIRS.iter().map(|(_, value)| *value);
                names.find_map(|value| tag.get(value)?.as_str())
            }),
            Value::Object(tags) => {
                let mark = tags.iter().find(|(key, _)| Mark::is_key(key));
                mark.and_then(|(_, value)| value.as_str())
            }
            Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => None,
        }
    }

    /// Returns the places of the marks that a declaration contains.
    pub(crate) fn declared_marks(&self, declared: &Value) -> Vec<String> {
        let Some((path, _)) = self.tags() else {
            return Vec::new();
        };
        let at = path
            .iter()
            .fold(String::new(), |at, name| pointer::join(&at, name));
        match declared.pointer(&at) {
            Some(Value::Array(tags)) => {
                let marks = tags.iter().enumerate().filter(|(_, tag)| is_mark(tag));
                marks.map(|(index, _)| format!("{at}/{index}")).collect()
            }
            Some(Value::Object(tags)) => {
                let marks = tags.keys().filter(|key| Mark::is_key(key));
                marks.map(|key| pointer::join(&at, key)).collect()
            }
            _ => Vec::new(),
        }
    }

    /// Removes the mark from a model that is to be shown. Tags that consisted of it alone are removed too.
    pub(crate) fn remove_mark(&self, model: &mut Value) {
        if self.mark_in(model).is_none() {
            return;
        }
        let Some((path, _)) = self.tags() else {
            return;
        };
        let Some((last, holders)) = path.split_last() else {
            return;
        };
        let holder = holders
            .iter()
            .try_fold(model, |value, name| value.get_mut(name));
        let Some(Value::Object(holder)) = holder else {
            return;
        };
        let is_left = match holder.get_mut(last) {
            Some(Value::Array(tags)) => {
                tags.retain(|tag| !is_mark(tag));
                !tags.is_empty()
            }
            Some(Value::Object(tags)) => {
                tags.retain(|key, _| !Mark::is_key(key));
                !tags.is_empty()
            }
            _ => true,
        };
        if !is_left {
            holder.shift_remove(last);
        }
    }

    /// Returns whether the schema's `tagging` permits `what`. It does if it does not say.
    fn may_tag(&self, what: &str) -> bool {
        let tagging = self.document().get("tagging");
        tagging.and_then(|tagging| tagging.get(what)) != Some(&false.into())
    }

    /// Returns the path of the tags, and the cursor there.
    fn tags(&self) -> Option<(Vec<String>, Cursor<'_>)> {
        let mut cursor = self.root();
        let mut names = Vec::new();
        for segment in self.tag_property()?.segments() {
            let Segment::Key(name) = segment else {
                return None;
            };
            cursor = cursor.member(name)?;
            names.push(name.clone());
        }
        Some((names, cursor))
    }
}

/// Returns whether an element of a list of tags is a mark.
fn is_mark(tag: &Value) -> bool {
    let mut names = PAIRS.iter().map(|(key, _)| *key);
    let key = names.find_map(|key| tag.get(key)?.as_str());
    key.is_some_and(Mark::is_key)
}

impl Form {
    fn of(cursor: Cursor<'_>) -> Option<Self> {
        let shape = cursor.shape();
        // Some schemas describe a map only as an object.
        let is_object = shape.types.names(Types::OBJECT) && shape.is_marker();
        if shape.is_map() || is_object {
            return Some(Form::Map);
        }
        if !shape.types.names(Types::ARRAY) {
            return None;
        }
        let element = cursor.element();
        let tag = element.shape();
        let (key, value) = PAIRS
            .into_iter()
            .find(|(key, value)| tag.has_member(key) && tag.has_member(value))?;
        let others = tag
            .required
            .iter()
            .filter(|name| *name != key && *name != value);
        let switches: Vec<String> = others.cloned().collect();
        let is_switch = |name: &String| {
            let member = element.member(name);
            member.is_some_and(|member| member.shape().types == Types::BOOLEAN)
        };
        switches.iter().all(is_switch).then_some(Form::List {
            key,
            value,
            switches,
        })
    }

    /// Returns a tag as an element of a list; `None` if tags are a map.
    fn element(&self, tag_key: &str, tag_value: &str) -> Option<Value> {
        let Form::List {
            key,
            value,
            switches,
        } = self
        else {
            return None;
        };
        let mut tag = Map::new();
        tag.insert((*key).to_owned(), tag_key.into());
        tag.insert((*value).to_owned(), tag_value.into());
        tag.extend(switches.iter().map(|name| (name.clone(), false.into())));
        Some(Value::Object(tag))
    }

    /// Adds the tags. A declared value of another form is left for validation to refuse.
    fn add(self, tags: &mut Value, defaults: &BTreeMap<String, String>) {
        match &self {
            Form::Map => {
                if tags.is_null() {
                    *tags = Value::Object(Map::new());
                }
                let Some(tags) = tags.as_object_mut() else {
                    return;
                };
                for (key, value) in defaults {
                    let entry = tags.entry(key.clone());
                    entry.or_insert_with(|| Value::from(value.as_str()));
                }
            }
            Form::List { key: key_name, .. } => {
                if tags.is_null() {
                    *tags = Value::Array(Vec::new());
                }
                let Some(tags) = tags.as_array_mut() else {
                    return;
                };
                let declared = tags.iter().filter_map(|tag| tag[*key_name].as_str());
                let declared: BTreeSet<String> = declared.map(str::to_owned).collect();
                let missing = defaults.iter().filter(|(key, _)| !declared.contains(*key));
                tags.extend(missing.filter_map(|(key, value)| self.element(key, value)));
            }
        }
    }
}
