//! Default tags, added to the tag property of a type.

use std::collections::BTreeMap;

use serde_json::{Map, Value};

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

    /// Returns the path and the form of the tags, if they can be updated.
    fn tags_at(&self) -> Option<(Vec<String>, Form)> {
        let tagging = self.document().get("tagging");
        let may = |what: &str| tagging.and_then(|tagging| tagging.get(what)) != Some(&false.into());
        if !(may("taggable") && may("tagUpdatable") && self.is_updatable()) {
            return None;
        }
        let mut cursor = self.root();
        let mut names = Vec::new();
        for segment in self.tag_property()?.segments() {
            let Segment::Key(name) = segment else {
                return None;
            };
            cursor = cursor.member(name)?;
            names.push(name.clone());
        }
        if cursor.is(Classes::FIXED) || cursor.is(Classes::READ_ONLY) {
            return None;
        }
        Some((names, Form::of(cursor)?))
    }
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

    /// Adds the tags. A declared value of another form is left for validation to refuse.
    fn add(self, tags: &mut Value, defaults: &BTreeMap<String, String>) {
        match self {
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
            Form::List {
                key: key_name,
                value: value_name,
                switches,
            } => {
                if tags.is_null() {
                    *tags = Value::Array(Vec::new());
                }
                let Some(tags) = tags.as_array_mut() else {
                    return;
                };
                for (key, value) in defaults {
                    let is_declared = tags.iter().any(|tag| tag[key_name] == key.as_str());
                    if is_declared {
                        continue;
                    }
                    let mut tag = Map::new();
                    tag.insert(key_name.to_owned(), key.as_str().into());
                    tag.insert(value_name.to_owned(), value.as_str().into());
                    tag.extend(switches.iter().map(|name| (name.clone(), false.into())));
                    tags.push(Value::Object(tag));
                }
            }
        }
    }
}
