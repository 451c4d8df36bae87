//! How an order becomes an apply to a group.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Map, Value};
use ucp_model::operation::group::ApplyMember;
use ucp_model::operation::{AdoptionPolicy, OnShared, Options, ReplacementPolicy};
use ucp_model::{
    ChangeKind, GroupBody, GroupId, InstanceId, OperationId, Order, Reference, ReferenceId,
    ResourceGroup, ServiceBinding, ServiceInstance, TypeName,
};
use ucp_offerings::{Edge, Resource};
use ucp_set::{DeclaredMember, renamed};
use ucp_store::PlaceOrder;

use super::wait::Impatience;
use super::{Ordered, ServiceRejection, ServiceRequest};
use crate::changes::{ChangeGoal, ChangeMember, ChangeReason, GroupChange, applied};
use crate::declaring::Purpose;
use crate::operations::awaiting::Pending;
use crate::{DeclaredSet, Mode, PutResource, ServiceCases, SetGoal, SetMember};

/// How many letters and digits a random value has.
const RANDOM_CHARS: usize = 40;
const LETTERS: &[u8; 62] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789";

/// What an order does in AWS.
pub(super) struct Works {
    members: Vec<ApplyMember>,
    declared: Vec<Option<DeclaredMember>>,
    outputs: Map<String, Value>,
    /// How many references it makes.
    more: usize,
    /// The references of the instance and its bindings, by their keys.
    recorded: BTreeMap<String, Reference>,
}

/// An order to place.
pub(super) struct NewOrder {
    /// The instance, as it is to be. Its change names no operation yet.
    pub(super) instance: ServiceInstance,
    /// The revision with which it was judged.
    pub(super) expected: Option<u64>,
    /// The bindings that change.
    pub(super) bindings: Vec<ServiceBinding>,
    /// The binding that it concerns, if it is not the instance as a whole.
    pub(super) binding: Option<String>,
    /// Tags of all references of the instance.
    pub(super) tags: BTreeMap<String, String>,
    /// Tags of what it makes, besides these.
    pub(super) own_tags: BTreeMap<String, String>,
    /// The operation that it cancels, and waits for.
    pub(super) cancels: Option<OperationId>,
}

impl NewOrder {
    /// Returns what the order is.
    fn kind(&self) -> ChangeKind {
        let binding = self.binding.as_ref();
        let mut bindings = self.bindings.iter();
        let changed = binding.and_then(|name| bindings.find(|it| it.id.binding == *name));
        changed.map_or(&self.instance.change, |it| &it.change).kind
    }
}

impl Works {
    /// Returns whether a reference is put.
    pub(super) fn puts(&self, reference: &ReferenceId) -> bool {
        let key = reference.key();
        let mut members = self.members.iter();
        members.any(|member| member.reference.key() == key)
    }

    /// Sets what is read at the end.
    pub(super) fn reads(&mut self, outputs: Map<String, Value>) {
        self.outputs = outputs;
    }

    /// Nothing is to be done but to read what is handed out.
    pub(super) fn reading(outputs: Map<String, Value>) -> Self {
        Self {
            members: Vec::new(),
            declared: Vec::new(),
            outputs,
            more: 0,
            recorded: BTreeMap::new(),
        }
    }

    /// Everything is deleted. What is `recorded` of it is given up where others stand for it too.
    pub(super) fn deleting(
        first: &[ReferenceOf],
        then: &[ReferenceOf],
        recorded: Vec<Reference>,
    ) -> Self {
        let recorded = recorded.into_iter().map(|it| (it.id.key(), it)).collect();
        let mut works = Self {
            recorded,
            ..Self::reading(Map::new())
        };
        works.delete(first, then);
        works
    }

    /// Returns the references of the instance and its bindings that it was judged with.
    pub(super) fn recorded(&self) -> impl Iterator<Item = &Reference> {
        self.recorded.values()
    }

    /// Deletes what is of the instance itself, and is not put any more.
    pub(super) fn delete_what_left(&mut self, instance: &InstanceId) {
        let left = self.recorded().filter(|it| {
            let is_own = !instance.is_of_binding(&it.id.alias);
            is_own && !self.puts(&it.id)
        });
        let left: Vec<ReferenceOf> = left.map(ReferenceOf::from).collect();
        self.delete(&[], &left);
    }

    /// Returns whether a reference is one of these, and stands for a resource.
    pub(super) fn is_recorded(&self, reference: &ReferenceId) -> bool {
        let recorded = self.recorded.get(&reference.key());
        recorded.is_some_and(|it| it.identifier.is_some())
    }

    /// Adds resources to delete. Those of the first list go before those of the second.
    pub(super) fn delete(&mut self, first: &[ReferenceOf], then: &[ReferenceOf]) {
        let begin = self.members.len();
        for (index, of) in first.iter().chain(then).enumerate() {
            let goal = ChangeGoal::Delete(OnShared::default());
            let deleted = ChangeMember {
                depends_on: if index < first.len() {
                    Vec::new()
                } else {
                    (begin..begin + first.len()).collect()
                },
                has_reference: true,
                ..ChangeMember::new(of.id.clone(), of.scope.clone(), goal)
            };
            self.members.push(applied(&deleted, false));
            self.declared.push(None);
        }
    }
}

/// Refuses an order while a resource of it is changed otherwise.
pub(super) fn refuse_busy<'a>(
    references: impl IntoIterator<Item = &'a Reference>,
) -> Result<(), ServiceRejection> {
    let mut operations = references.into_iter().filter_map(|it| it.operation);
    operations
        .next()
        .map_or(Ok(()), |operation| Err(ServiceRejection::busy(operation)))
}

/// Returns outputs whose references name tracking ids in the group, as the end of an apply reads them.
pub(super) fn linked(group: &GroupId, outputs: &Map<String, Value>) -> Map<String, Value> {
    let link = |value: &Value| {
        renamed(value, |address| match reference_of(group, &address.name) {
            Some(reference) => reference.to_string(),
            None => address.name.clone(),
        })
    };
    outputs
        .iter()
        .map(|(name, value)| (name.clone(), link(value)))
        .collect()
}

/// Returns the reference that offerings name by its type and alias.
pub(super) fn reference_of(group: &GroupId, name: &str) -> Option<ReferenceId> {
    let (type_name, alias) = name.rsplit_once('/')?;
    let (namespace, resource) = type_name.split_once('/')?;
    let type_name = TypeName::from_segments(namespace, resource).ok()?;
    ReferenceId::new(group.clone(), type_name, alias).ok()
}

/// A reference, as far as its deletion needs it.
#[derive(Clone)]
pub(super) struct ReferenceOf {
    pub(super) id: ReferenceId,
    pub(super) scope: ucp_model::Scope,
}

impl From<&Reference> for ReferenceOf {
    fn from(reference: &Reference) -> Self {
        Self {
            id: reference.id.clone(),
            scope: reference.scope.clone(),
        }
    }
}

impl From<&ApplyMember> for ReferenceOf {
    fn from(member: &ApplyMember) -> Self {
        Self {
            id: member.reference.clone(),
            scope: member.scope.clone(),
        }
    }
}

impl ServiceCases {
    /// Judges what resources come to, without a look at AWS. They refer to what is of the instance alone.
    pub(super) async fn judged_services(
        &self,
        request: &ServiceRequest<'_>,
        instance: &ServiceInstance,
        resources: Vec<Resource>,
        default_tags: &BTreeMap<String, String>,
        edge: Edge,
    ) -> Result<Works, ServiceRejection> {
        self.refuse_own_tags(&resources, default_tags)?;
        let group = self.service_group(&instance.group).await?;
        let recorded = self.references_of(&instance.id, &instance.group).await?;
        let members = resources.into_iter().map(|resource| {
            let replacement_policy = match edge {
                Edge::InPlace => ReplacementPolicy::Refuse,
                Edge::Replacing => self.replacement_of(&resource),
            };
            let put = PutResource {
                scope: request.platform.scope.clone(),
                type_name: resource.type_name.clone(),
                name: None,
                tracked_by: None,
                label: None,
                properties: resource.properties,
                default_tags: default_tags.clone(),
                tags: BTreeMap::new(),
                options: Options {
                    adoption_policy: AdoptionPolicy::Fail,
                    replacement_policy,
                    ..Options::default()
                },
                plan: None,
            };
            Ok(SetMember {
                scope: request.platform.scope.clone(),
                type_name: resource.type_name,
                alias: resource.alias,
                symbolic_name: None,
                depends_on: Vec::new(),
                goal: SetGoal::Put(Box::new(put)),
            })
        });
        let set = DeclaredSet {
            mode: Mode::Incremental,
            on_shared: OnShared::default(),
            members: members.collect(),
            outputs: Map::new(),
        };
        let judged = self
            .sets
            .judged_set_in(group, set, recorded, request.caller, Purpose::Change);
        let judged = judged.await.map_err(ServiceRejection::of_set)?;
        let members = judged.members.iter();
        let of_members = members
            .clone()
            .filter_map(|it| judged.recorded.get(&it.reference.key()));
        refuse_busy(of_members)?;
        let more = members.clone().filter(|member| !member.has_reference);
        Ok(Works {
            more: more.count(),
            members: members
                .clone()
                .map(|member| applied(member, false))
                .collect(),
            declared: members
                .map(|member| self.changes.declared_member(member, &judged.group))
                .collect(),
            outputs: Map::new(),
            recorded: judged.recorded,
        })
    }

    /// Refuses tags that say of a resource whose it is, if they say something else: parameters may become tags.
    fn refuse_own_tags(
        &self,
        resources: &[Resource],
        own: &BTreeMap<String, String>,
    ) -> Result<(), ServiceRejection> {
        for resource in resources {
            let Some(schema) = self.types.source.catalogue().get(&resource.type_name) else {
                continue;
            };
            let properties = Value::Object(resource.properties.clone());
            let mut tags = schema.tags_in(&properties).into_iter();
            let is_taken = |(key, value): &(String, Option<String>)| {
                key.starts_with("osb-") && own.get(key) != value.as_ref()
            };
            if let Some((key, _)) = tags.find(is_taken) {
                return Err(ServiceRejection::Invalid(format!(
                    "parameters: the tag '{key}' of '{}' says whose the resource is. Use another key.",
                    resource.alias
                )));
            }
        }
        Ok(())
    }

    /// Returns how a resource is replaced. A name that it keeps is free only when the old one is gone.
    fn replacement_of(&self, resource: &Resource) -> ReplacementPolicy {
        let schema = self.types.source.catalogue().get(&resource.type_name);
        if schema.is_some_and(|schema| resource.is_named(&schema)) {
            ReplacementPolicy::DeleteBeforeCreate
        } else {
            ReplacementPolicy::CreateBeforeDelete
        }
    }

    /// Returns the group as it is, or as it will be made.
    async fn service_group(&self, id: &GroupId) -> Result<ResourceGroup, ServiceRejection> {
        match self.ground.store.get_resource_group(id).await {
            Ok(group) => match group.body.deletion {
                Some(deletion) => Err(ServiceRejection::busy(deletion)),
                None => Ok(group),
            },
            Err(ucp_store::Error::NoSuchGroup) => Ok(self.made_group(id)),
            Err(error) => Err(ServiceRejection::of_store(error)),
        }
    }

    /// Returns a group as it is made for instances.
    fn made_group(&self, id: &GroupId) -> ResourceGroup {
        let now = self.ground.now();
        ResourceGroup {
            id: id.clone(),
            location: "global".to_owned(),
            tags: BTreeMap::new(),
            body: GroupBody::default(),
            created_at: now,
            updated_at: now,
            revision: 1,
        }
    }

    /// Places an order that does something in AWS, and waits for its end if the platform does not poll.
    pub(super) async fn order(
        &self,
        request: &ServiceRequest<'_>,
        mut order: NewOrder,
        works: Works,
        is_sync: bool,
    ) -> Result<Ordered, ServiceRejection> {
        if !request.accepts_incomplete && !is_sync {
            return Err(ServiceRejection::AsyncRequired);
        }
        let group = order.instance.group.clone();
        let caller = request.caller;
        self.allowances.admit_group(&group).await?;
        let scopes = [&request.platform.scope].into_iter();
        self.changes
            .admit_members(scopes, [(&group, works.more)], caller)
            .await?;
        let mut tags = order.tags.clone();
        tags.extend(order.own_tags.clone());
        let only_reads = works.members.is_empty();
        let reads_until = only_reads.then(|| self.ground.clock.now().after(request.sync_wait));
        let reason = ChangeReason {
            order: Some(Box::new(Order {
                kind: order.kind(),
                instance: order.instance.id.clone(),
                binding: order.binding.clone(),
                tags,
                after: order.cancels,
                reads_until,
                originator: request.originator.clone(),
            })),
            ..ChangeReason::default()
        };
        let members = works.members.iter();
        let going: BTreeSet<String> = members.map(|member| member.reference.key()).collect();
        let change = GroupChange::of(works.members, works.declared, works.outputs, reason);
        let mut new = self.changes.new_change(&group, change, caller)?;
        if order.kind() == ChangeKind::Delete {
            let heirs = self.ground.heirs(works.recorded.values(), &going, caller);
            new.set_heirs(heirs.await?);
        }
        let id = new.id;
        match &order.binding {
            None => order.instance.change.operation = Some(id),
            Some(binding) => {
                let changed = order.bindings.iter_mut();
                for it in changed.filter(|it| it.id.binding == *binding) {
                    it.change.operation = Some(id);
                }
            }
        }
        let waiter = self.operations.awaiting.announce(id);
        let is_waited_for = !request.accepts_incomplete;
        self.place(order, Some(new)).await?;
        let Some(operation) = self.get_operation(id).await? else {
            return Ok(Ordered::UnderWay(id));
        };
        self.operations.group_operation_accepted(&operation, &group);
        if !is_waited_for {
            return Ok(Ordered::UnderWay(id));
        }
        let pending = Pending { operation, waiter };
        self.wait_for(request, pending, Impatience::Cancels).await
    }

    /// Places an order in one transaction.
    pub(super) async fn place(
        &self,
        order: NewOrder,
        operation: Option<ucp_store::NewOperation>,
    ) -> Result<ServiceInstance, ServiceRejection> {
        let group = self.made_group(&order.instance.group);
        let placed = self.ground.store.place_order(PlaceOrder {
            instance: order.instance,
            expected: order.expected,
            bindings: order.bindings,
            group: Some(group),
            tags: order.tags.into_iter().collect(),
            cancels: order.cancels,
            operation,
            placed_at: self.ground.now(),
        });
        placed.await.map_err(ServiceRejection::of_store)
    }

    /// Draws the random values that are not there yet.
    pub(super) fn drawn(
        &self,
        names: impl IntoIterator<Item = String>,
        known: &BTreeMap<String, String>,
    ) -> BTreeMap<String, String> {
        let mut all = known.clone();
        for name in names {
            all.entry(name).or_insert_with(|| self.draw());
        }
        all
    }

    /// Draws letters and digits, each as likely as any other.
    fn draw(&self) -> String {
        let mut drawn = String::with_capacity(RANDOM_CHARS);
        while drawn.len() < RANDOM_CHARS {
            let bytes = self.ground.entropy.draw("service-random");
            // Those beyond are dropped: they would make some letters likelier.
            let fair = bytes
                .into_iter()
                .filter(|byte| usize::from(*byte) < 4 * LETTERS.len());
            let letters = fair.map(|byte| char::from(LETTERS[usize::from(byte) % LETTERS.len()]));
            let room = RANDOM_CHARS - drawn.len();
            drawn.extend(letters.take(room));
        }
        drawn
    }
}
