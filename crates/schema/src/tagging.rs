//! Tags that a resource gets without declaring them, put where its type keeps tags.

use std::collections::BTreeMap;

use serde_json::{Map, Value};

use crate::{Classes, Cursor, ResourceSchema, Segment, Types};

/// What the elements of a list of tags call key and value.
const PAIRS: [(&str, &str); 4] = [
    ("Key", "Value"),
    ("key", "value"),
    ("TagKey", "TagValue"),
    ("tagKey", "tagValue"),
];

/// How a type keeps tags.
enum Form {
    /// `{"team": "platform"}`
    Map,
    /// `[{"Key": "team", "Value": "platform"}]`
    List {
        key: &'static str,
        value: &'static str,
        /// Further members that every tag must have, all of them switches, off.
        switches: Vec<String>,
    },
}

impl ResourceSchema {
    /// Adds the tags among `defaults` whose keys are not declared. Nothing happens where the type has no tags, where they
    /// cannot be changed later (a default must not force a replacement), or where it keeps them in no usual form.
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

    /// Where tags are kept that can be changed, and how.
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
        // Some schemas say of a map no more than that it is an object.
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

    /// A value of another form than the type's is left for validation to refuse.
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
