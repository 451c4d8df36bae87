//! What is to be done to a live value, as a tree that has the value's own form.

use json_patch::{AddOperation, Patch, PatchOperation, RemoveOperation, ReplaceOperation};
use serde_json::{Map, Value};
use ucp_model::pointer::PointerBuf;

/// Why something is written. The greater reason wins.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Why {
    /// The read made it up, and AWS would refuse it.
    Tidy,
    /// No read returns it, so it goes along with every update.
    Resend,
    /// It is declared otherwise. Only this is a reason to send an update.
    Change,
}

#[derive(Clone, Debug)]
pub(crate) enum Edit {
    Keep,
    /// This value instead, or where there was none.
    Set(Value, Why),
    Remove(Why),
    /// Edits of some members of an object.
    Members(Vec<(String, Edit)>),
    /// An edit of the element at an index of a list.
    Element(usize, Box<Edit>),
    /// One more element before an index of a list.
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

    /// The greatest reason in it; none when nothing is to be done.
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

    /// Whether it leaves an empty list.
    pub(crate) fn empties(&self) -> bool {
        matches!(self, Self::Set(Value::Array(elements), Why::Change) if elements.is_empty())
    }

    /// How many patch operations it takes.
    pub(crate) fn operations(&self) -> usize {
        match self {
            Self::Keep => 0,
            Self::Set(..) | Self::Remove(_) | Self::Insert(..) => 1,
            Self::Members(edits) => edits.iter().map(|(_, edit)| edit.operations()).sum(),
            Self::Element(_, edit) => edit.operations(),
        }
    }

    /// The value after the edit; none when it is removed.
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

    /// The operations that carry it out on `live`, in an order that does not depend on the order of members.
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
