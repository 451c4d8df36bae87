//! Edits of a live value, as a tree with the structure of the value.

use json_patch::{AddOperation, Patch, PatchOperation, RemoveOperation, ReplaceOperation};
use serde_json::{Map, Value};
use ucp_model::pointer::PointerBuf;

/// The reason for an edit. The greater one wins.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Why {
    /// The read returned a value that AWS would refuse in an update.
    Tidy,
    /// No read returns the value, so it is sent with every update.
    Resend,
    /// The declaration differs. Only this is a reason to send an update.
    Change,
}

#[derive(Clone, Debug)]
pub(crate) enum Edit {
    Keep,
    /// Adds or replaces the value.
    Set(Value, Why),
    Remove(Why),
    /// Edits some members of an object.
    Members(Vec<(String, Edit)>),
    /// Edits the element at an index of a list.
    Element(usize, Box<Edit>),
    /// Inserts an element before an index of a list.
    Insert(usize, Value, Why),
}

impl Edit {
    pub(crate) fn members(edits: Vec<(String, Edit)>) -> Self {
        if edits.is_empty() {
            Self::Keep
        } else {
            Self::Members(edits)
        }
    }

    pub(crate) fn is_keep(&self) -> bool {
        matches!(self, Self::Keep)
    }

    /// Returns the greatest reason in it, or `None` if it changes nothing.
    pub(crate) fn why(&self) -> Option<Why> {
        match self {
            Self::Keep => None,
            Self::Set(_, why) | Self::Remove(why) | Self::Insert(_, _, why) => Some(*why),
            Self::Members(edits) => edits.iter().filter_map(|(_, edit)| edit.why()).max(),
            Self::Element(_, edit) => edit.why(),
        }
    }

    pub(crate) fn is_change(&self) -> bool {
        self.why() == Some(Why::Change)
    }

    /// Returns whether it leaves an empty list.
    pub(crate) fn empties(&self) -> bool {
        matches!(self, Self::Set(Value::Array(elements), Why::Change) if elements.is_empty())
    }

    /// Returns the number of patch operations.
    pub(crate) fn operations(&self) -> usize {
        match self {
            Self::Keep => 0,
            Self::Set(..) | Self::Remove(_) | Self::Insert(..) => 1,
            Self::Members(edits) => edits.iter().map(|(_, edit)| edit.operations()).sum(),
            Self::Element(_, edit) => edit.operations(),
        }
    }

    /// Returns the value after the edit, or `None` if it is removed.
    pub(crate) fn apply(self, live: &Value) -> Option<Value> {
        match self {
            Self::Keep => Some(live.clone()),
            Self::Set(value, _) => Some(value),
            Self::Remove(_) => None,
            Self::Members(edits) => {
                let mut members = live.as_object().cloned().unwrap_or_default();
                for (name, edit) in edits {
                    apply_to_member(&mut members, name, edit);
                }
                Some(Value::Object(members))
            }
            Self::Element(index, edit) => {
                let mut elements = live.as_array().cloned().unwrap_or_default();
                if let Some(element) = elements.get(index) {
                    match edit.apply(element) {
                        Some(value) => elements[index] = value,
                        None => drop(elements.remove(index)),
                    }
                }
                Some(Value::Array(elements))
            }
            Self::Insert(index, value, _) => {
                let mut elements = live.as_array().cloned().unwrap_or_default();
                elements.insert(index.min(elements.len()), value);
                Some(Value::Array(elements))
            }
        }
    }

    /// Returns the patch against `live`. The order of operations does not depend on the order of members.
    pub(crate) fn patch(&self, live: &Value) -> Patch {
        let mut operations = Vec::new();
        self.write(Some(live), &mut PointerBuf::root(), &mut operations);
        Patch(operations)
    }

    fn write(
        &self,
        live: Option<&Value>,
        path: &mut PointerBuf,
        operations: &mut Vec<PatchOperation>,
    ) {
        match self {
            Self::Keep => {}
            Self::Set(value, _) => {
                let (path, value) = (path.clone(), value.clone());
                operations.push(match live {
                    Some(_) => PatchOperation::Replace(ReplaceOperation { path, value }),
                    None => PatchOperation::Add(AddOperation { path, value }),
                });
            }
            Self::Remove(_) => {
                operations.push(PatchOperation::Remove(RemoveOperation {
                    path: path.clone(),
                }));
            }
            Self::Members(edits) => {
                let mut edits: Vec<&(String, Self)> = edits.iter().collect();
                edits.sort_unstable_by_key(|(name, _)| name);
                for (name, edit) in edits {
                    path.push_back(name.as_str());
                    edit.write(live.and_then(|live| live.get(name)), path, operations);
                    path.pop_back();
                }
            }
            Self::Element(index, edit) => {
                path.push_back(*index);
                edit.write(live.and_then(|live| live.get(*index)), path, operations);
                path.pop_back();
            }
            Self::Insert(index, value, _) => {
                path.push_back(*index);
                operations.push(PatchOperation::Add(AddOperation {
                    path: path.clone(),
                    value: value.clone(),
                }));
                path.pop_back();
            }
        }
    }
}

fn apply_to_member(members: &mut Map<String, Value>, name: String, edit: Edit) {
    let live = members.get(&name).unwrap_or(&Value::Null);
    match edit.apply(live) {
        Some(value) => {
            members.insert(name, value);
        }
        None => {
            members.shift_remove(&name);
        }
    }
}
