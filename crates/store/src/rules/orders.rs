//! The orders of platforms: what is written when one is placed, and when it ends.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;
use ucp_model::operation::group::Task;
use ucp_model::operation::{GroupWork, Work};
use ucp_model::{
    Access, BindingId, ChangeKind, Ended, InstanceId, MAX_TAGS, Operation, Order, Reference,
    ReferenceId, ResourceGroup, ServiceBinding, ServiceInstance, Timestamp,
};

use super::ended_at;
use crate::{BINDINGS_MAX, Error, NewWork, PlaceOrder};

/// The tags that say which instance a reference is of.
const PLATFORM: &str = "osb-platform";
const INSTANCE: &str = "osb-instance";

/// Returns the order that an apply to accept carries out, if it does.
pub fn order_of(task: &Task) -> Option<&Order> {
    match task {
        Task::Apply(application) => application.order.as_deref(),
        Task::Delete | Task::DeleteUnshared | Task::Import(_) => None,
    }
}

/// Returns the instance as [`place_order`](crate::ServiceBroker::place_order) writes it, and the bindings that change.
/// `group` is the recorded group, and `current` the recorded instance.
pub fn placed(
    new: &PlaceOrder,
    group: &ResourceGroup,
    current: Option<&ServiceInstance>,
) -> Result<(ServiceInstance, Vec<ServiceBinding>), Error> {
    if current.map(|current| current.revision) != new.expected {
        return Err(Error::PreconditionFailed);
    }
    refuse_strange(new)?;
    // What is gone gives its id back, however that is spelled.
    let standing = current.filter(|current| !current.is_gone());
    let id = standing.map_or(&new.instance.id, |standing| &standing.id);
    let id = id.clone();
    let bindings = new.bindings.iter().map(|binding| {
        let mut binding = binding.clone();
        binding.id.instance = id.clone();
        if new.instance.is_gone() && !binding.is_gone() {
            binding.delete(new.placed_at);
        }
        binding
    });
    let bindings = bindings.collect();
    let instance = ServiceInstance {
        id,
        group: group.id.clone(),
        revision: new.expected.unwrap_or_default() + 1,
        ..new.instance.clone()
    };
    Ok((instance, bindings))
}

/// An order concerns one instance, in its group.
fn refuse_strange(new: &PlaceOrder) -> Result<(), Error> {
    let instance = new.instance.id.key();
    let mut bindings = new.bindings.iter();
    let are_of_instance = bindings.all(|binding| binding.id.instance.key() == instance);
    let is_carried_out = new
        .operation
        .as_ref()
        .is_none_or(|operation| match &operation.work {
            NewWork::Group { group, task, .. } => {
                let order = order_of(task);
                group.key() == new.instance.group.key()
                    && order.is_some_and(|order| order.instance.key() == instance)
            }
            NewWork::Resource(_) => false,
        });
    if are_of_instance && is_carried_out {
        Ok(())
    } else {
        let message = "an order of an instance is about another one, or another group";
        Err(Error::Corrupt(message.to_owned()))
    }
}

/// Refuses an order by which an instance gets too many bindings, given the keys of those that are not gone.
pub fn refuse_many_bindings(
    changed: &[ServiceBinding],
    mut standing: BTreeSet<String>,
) -> Result<(), Error> {
    let before = standing.len();
    for binding in changed {
        if binding.is_gone() {
            standing.remove(&binding.id.key())
        } else {
            standing.insert(binding.id.key())
        };
    }
    if standing.len() > BINDINGS_MAX.max(before) {
        Err(Error::TooManyBindings)
    } else {
        Ok(())
    }
}

/// Returns what becomes of the bindings of an instance that is gone.
pub fn gone_with_instance(
    standing: impl IntoIterator<Item = ServiceBinding>,
    now: Timestamp,
) -> Vec<ServiceBinding> {
    let standing = standing.into_iter();
    let deleted = standing.map(|mut binding| {
        binding.delete(now);
        binding
    });
    deleted.collect()
}

/// Returns the instance that a reference with these tags belongs to, if it does.
pub fn instance_of(reference: &ReferenceId, tags: &BTreeMap<String, String>) -> Option<InstanceId> {
    let instance = InstanceId {
        platform: tags.get(PLATFORM)?.clone(),
        instance: tags.get(INSTANCE)?.clone(),
    };
    is_called_after(reference, &instance).then_some(instance)
}

/// Returns whether an order of the instance has made a reference with these tags, for itself or one of its bindings.
pub fn is_of_instance(
    reference: &ReferenceId,
    tags: &BTreeMap<String, String>,
    instance: &InstanceId,
) -> bool {
    instance_of(reference, tags).is_some_and(|of| of.key() == instance.key())
}

/// Returns new tags of a reference. They leave it of the instance that it is of.
pub(super) fn still_of_instance(
    reference: &Reference,
    mut tags: BTreeMap<String, String>,
) -> BTreeMap<String, String> {
    if instance_of(&reference.id, &reference.tags).is_some() {
        let of = [PLATFORM, INSTANCE].map(|name| (name.to_owned(), reference.tags[name].clone()));
        tags.extend(of);
    }
    tags
}

/// Returns whether the alias of a reference begins as those of the instance and its bindings do.
pub fn is_called_after(reference: &ReferenceId, instance: &InstanceId) -> bool {
    let prefix = instance.alias_prefix().to_lowercase();
    reference.alias.to_lowercase().starts_with(&prefix)
}

/// Returns a reference of the instance with these tags besides those that it has; `None` if it has them, or is not of it.
pub fn tagged<'a>(
    reference: &Reference,
    instance: &InstanceId,
    tags: impl IntoIterator<Item = (&'a String, &'a String)>,
    now: Timestamp,
) -> Result<Option<Reference>, Error> {
    if !is_of_instance(&reference.id, &reference.tags, instance) {
        return Ok(None);
    }
    let tags = with_tags(&reference.tags, tags)?;
    let is_same = tags == reference.tags;
    Ok((!is_same).then(|| Reference {
        tags,
        updated_at: now,
        revision: reference.revision + 1,
        ..reference.clone()
    }))
}

/// Returns the tags with others besides.
pub(super) fn with_tags<'a>(
    tags: &BTreeMap<String, String>,
    others: impl IntoIterator<Item = (&'a String, &'a String)>,
) -> Result<BTreeMap<String, String>, Error> {
    let before = tags.len();
    let mut tags = tags.clone();
    let others = others.into_iter();
    tags.extend(others.map(|(key, value)| (key.clone(), value.clone())));
    if tags.len() > MAX_TAGS.max(before) {
        Err(Error::TooManyTags)
    } else {
        Ok(tags)
    }
}

/// The bindings that the end of an order can change.
#[derive(Clone, Debug, PartialEq)]
pub enum Concerned {
    /// This one.
    One(BindingId),
    /// All of the instance that are not gone.
    All,
    /// None.
    None,
}

/// Returns the bindings that the end of an order can change.
pub fn concerned(order: &Order, work: &GroupWork) -> Concerned {
    match &order.binding {
        Some(binding) => Concerned::One(BindingId {
            instance: order.instance.clone(),
            binding: binding.clone(),
        }),
        None if work.ended() == Some(&Ended::Succeeded) => Concerned::All,
        None if may_leave_some(order, work) => Concerned::All,
        None => Concerned::None,
    }
}

/// Returns whether the end of an operation may have deleted a part of what its order deletes, so that it matters which
/// references are left.
pub fn may_leave_some(order: &Order, work: &GroupWork) -> bool {
    match (order.kind, work.ended()) {
        (ChangeKind::Delete, Some(Ended::Failed(_) | Ended::Canceled(_))) => true,
        (ChangeKind::Delete, Some(Ended::Succeeded) | None)
        | (ChangeKind::Create | ChangeKind::Update, _) => false,
    }
}

/// What is left of a binding after an order that deletes has failed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Left {
    /// Whatever it had.
    All,
    /// Not all of its resources.
    Some,
    /// It had resources, and none is left.
    Nothing,
}

fn left_of(binding: &ServiceBinding, work: &GroupWork, left: &BTreeSet<String>) -> Left {
    let prefix = binding.id.alias_prefix().to_lowercase();
    let members = work
        .application()
        .map_or(&[][..], |application| &application.members);
    let own = members.iter().map(|member| &member.reference);
    let own = own.filter(|it| it.alias.to_lowercase().starts_with(&prefix));
    let (mut has_some, mut lacks_some) = (false, false);
    for reference in own {
        if left.contains(&reference.key()) {
            has_some = true
        } else {
            lacks_some = true
        }
    }
    match (has_some, lacks_some) {
        (_, false) => Left::All,
        (true, true) => Left::Some,
        (false, true) => Left::Nothing,
    }
}

/// Returns what the end of an operation makes of the instance of its order, and the bindings that it changes. `None` if a
/// newer change has replaced the one that it carries out. `bindings` are those that are [concerned]. `left` has the keys of
/// the references of the instance, if it [may leave some](may_leave_some).
///
/// A binding hands out nothing any more once a deletion that fails has taken some of its resources. One that has lost all of
/// them with its instance is deleted.
pub fn ended_order(
    operation: &Operation,
    mut instance: ServiceInstance,
    bindings: Vec<ServiceBinding>,
    left: &BTreeSet<String>,
) -> Option<(ServiceInstance, Vec<ServiceBinding>)> {
    let work = operation.work.group()?;
    let (order, ended) = (work.order()?, work.ended()?);
    let (id, now) = (operation.header.id, ended_at(&operation.header));
    let has_succeeded = *ended == Ended::Succeeded;
    let mut handed_out = handed_out(work);
    let changed: Vec<ServiceBinding> = match &order.binding {
        Some(_) => {
            let bindings = bindings.into_iter();
            let changed = bindings.filter_map(|mut binding| {
                if !binding.end(id, ended, now) {
                    return None;
                }
                if may_leave_some(order, work) && left_of(&binding, work, left) != Left::All {
                    binding.access = None;
                }
                if has_succeeded && !binding.is_gone() {
                    let access = handed_out.remove(&binding.id.binding.to_lowercase());
                    binding.access = Some(access.unwrap_or_default());
                }
                Some(binding)
            });
            let changed: Vec<ServiceBinding> = changed.collect();
            if changed.is_empty() {
                return None;
            }
            changed
        }
        None => {
            if !instance.end(id, ended, now) {
                return None;
            }
            if instance.is_gone() {
                gone_with_instance(bindings, now)
            } else if may_leave_some(order, work) {
                let bindings = bindings.into_iter();
                let changed = bindings.filter_map(|mut binding| {
                    match left_of(&binding, work, left) {
                        Left::All => return None,
                        Left::Some => binding.lose(&instance.change),
                        Left::Nothing => binding.delete(now),
                    }
                    Some(binding)
                });
                changed.collect()
            } else {
                let bindings = bindings.into_iter().filter(ServiceBinding::has_stood);
                let changed = bindings.filter_map(|mut binding| {
                    let access = handed_out.remove(&binding.id.binding.to_lowercase())?;
                    binding.lay_over(access);
                    Some(binding)
                });
                changed.collect()
            }
        }
    };
    instance.revision += 1;
    Some((instance, changed))
}

/// Returns what an order that has succeeded hands out, by the ids of the bindings as they are compared.
fn handed_out(work: &GroupWork) -> BTreeMap<String, Access> {
    let outputs = match (work.ended(), &work.outputs) {
        (Some(Ended::Succeeded), Some(Value::Object(outputs))) => outputs,
        (_, _) => return BTreeMap::new(),
    };
    let accesses = outputs.iter().filter_map(|(binding, access)| {
        let access = serde_json::from_value(access.clone()).ok()?;
        Some((binding.to_lowercase(), access))
    });
    accesses.collect()
}

/// Returns an operation that has ended as its row keeps it: what an order hands out, the broker alone shows.
pub fn kept(operation: &Operation) -> Cow<'_, Operation> {
    match &operation.work {
        Work::Group(work) if work.outputs.is_some() && work.order().is_some() => {
            let work = GroupWork {
                outputs: None,
                ..(**work).clone()
            };
            Cow::Owned(Operation {
                header: operation.header.clone(),
                work: Work::Group(Box::new(work)),
            })
        }
        Work::Group(_) | Work::Resource(_) => Cow::Borrowed(operation),
    }
}
