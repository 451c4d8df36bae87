//! Service instances.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Map, Value};
use ucp_model::{Change, ChangeKind, Provision, ReferenceId, ServiceBinding, ServiceInstance};
use ucp_offerings::{Edge, Offering, Offerings, Plan, Randoms, Refusal};

use super::ordering::{NewOrder, ReferenceOf, Works, linked, refuse_busy};
use super::renewal::{context, unfilled};
use super::{Ordered, ServiceRejection, ServiceRequest};
use crate::ServiceCases;

/// The maximum length of a tag of a reference, in characters. It is that of AWS. A longer name is cut.
const TAG_VALUE_MAX_CHARS: usize = 256;

/// An instance to make.
#[derive(Clone)]
pub struct ProvisionService {
    /// Its id.
    pub instance: String,
    /// The id of the offering.
    pub service: String,
    /// The id of the plan.
    pub plan: String,
    /// The organization.
    pub organization: String,
    /// The space.
    pub space: String,
    /// The parameters.
    pub parameters: Map<String, Value>,
    /// The version of the plan, if the platform names one.
    pub version: Option<String>,
    /// The name of the instance, if the context has one.
    pub name: Option<String>,
}

/// A change of an instance.
#[derive(Clone)]
pub struct UpdateService {
    /// Its id.
    pub instance: String,
    /// The id of the offering.
    pub service: String,
    /// The id of the plan, if it is named.
    pub plan: Option<String>,
    /// The parameters that are named. Null is back to the default.
    pub parameters: Map<String, Value>,
    /// The version of the plan, if the platform names one.
    pub version: Option<String>,
    /// Whether it has a context.
    pub has_context: bool,
    /// The name of the instance, if the context has one.
    pub name: Option<String>,
}

/// The ids of the service and the plan, as far as a request to read names them.
pub(super) type Named<'a> = (Option<&'a str>, Option<&'a str>);

/// An instance that stands.
pub struct ProvisionedService {
    /// The id of its offering.
    pub service: String,
    /// What the last change that has succeeded asked for. Write-only values are not in the parameters.
    pub applied: Provision,
}

impl ServiceCases {
    /// Makes an instance.
    pub async fn provision_service(
        &self,
        request: &ServiceRequest<'_>,
        new: &ProvisionService,
    ) -> Result<Ordered, ServiceRejection> {
        self.judged_anew(|| self.provision(request, new)).await
    }

    async fn provision(
        &self,
        request: &ServiceRequest<'_>,
        new: &ProvisionService,
    ) -> Result<Ordered, ServiceRejection> {
        let offering = request.offering(&new.service)?;
        let plan = request.plan(offering, &new.plan)?;
        let group = request.group(&new.space)?;
        judge_version(plan, new.version.as_deref())?;
        let id = request.instance_id(&new.instance);
        let found = self.service_instance(&id).await?;
        let row = found.as_ref().filter(|row| !row.is_gone());
        let asked = row.map(|row| [Some(&row.wanted), row.applied.as_ref()]);
        let mut asked = asked.into_iter().flatten().flatten();
        // What it was asked for by is known, whatever the files say of that by now.
        let given = without_null(&new.parameters);
        let known = asked.clone().find(|it| it.is_given(plan.id(), &given));
        let mut wanted = match known {
            Some(known) => known.clone(),
            None => self.judged_creation(request, plan, new).await?,
        };
        if let Some(row) = row {
            let known = asked.find(|it| it.asks_the_same(&wanted));
            let is_of =
                row.id == id && row.service == new.service && row.group.key() == group.key();
            let Some(known) = known.filter(|_| is_of) else {
                return Err(ServiceRejection::Conflict(format!(
                    "There is an instance '{}' already, with another service, plan, space or parameters.",
                    new.instance
                )));
            };
            match (&row.change.kind, row.change.is_running()) {
                (ChangeKind::Create, true) => return self.same_again(request, offering, row).await,
                (ChangeKind::Update | ChangeKind::Delete, true) => return Err(running(row)),
                (_, false) if row.change.has_succeeded() => return Ok(Ordered::Unchanged),
                (_, false) => {}
            }
            self.refuse_changing(row).await?;
            // It has stood: what has failed since goes on as an update.
            if let Some(base) = &row.applied {
                let current = offering.plan(&base.plan);
                let edge = edge(current, row, plan)?;
                let change = Changed {
                    plan,
                    wanted: known.clone(),
                    edge,
                    name: new.name.clone().or_else(|| row.name.clone()),
                };
                return self.change(request, offering, row.clone(), change).await;
            }
            // It begins anew, by what the files say now.
            wanted = self.judged_creation(request, plan, new).await?;
        }
        let randoms = row.map(|row| row.randoms.clone()).unwrap_or_default();
        let names = offering.instance_randoms();
        let randoms = self.drawn(names.iter().cloned(), &randoms);
        let instance = ServiceInstance {
            group: group.clone(),
            service: new.service.clone(),
            organization: new.organization.clone(),
            space: new.space.clone(),
            name: new.name.clone(),
            wanted,
            applied: row.and_then(|row| row.applied.clone()),
            randoms,
            may_be_replaced: row.is_some_and(|row| row.may_be_replaced),
            change: self.begins(ChangeKind::Create),
            revision: found.as_ref().map_or(0, |found| found.revision),
            id,
        };
        let edge = if instance.may_be_replaced {
            Edge::Replacing
        } else {
            Edge::InPlace
        };
        let mut works = self.comes_to(request, plan, &instance, edge).await?;
        if row.is_some() {
            works.delete_what_left(&instance.id);
        }
        let order = NewOrder {
            expected: found.as_ref().map(|found| found.revision),
            tags: reference_tags(&instance),
            instance,
            bindings: Vec::new(),
            binding: None,
            own_tags: BTreeMap::new(),
            cancels: None,
        };
        self.order(request, order, works, offering.is_sync()).await
    }

    /// Returns what a creation asks for.
    async fn judged_creation(
        &self,
        request: &ServiceRequest<'_>,
        plan: &Plan,
        new: &ProvisionService,
    ) -> Result<Provision, ServiceRejection> {
        let given = new.parameters.clone();
        let (service, plan_id) = (new.service.clone(), plan.id().to_owned());
        let judge = move |offerings: &Offerings| {
            let plan = offerings.offering(&service)?.plan(&plan_id)?;
            Some(plan.judge_create(&given))
        };
        let parameters = self.judge_parameters(request, &new.parameters, judge);
        Ok(Provision {
            plan: plan.id().to_owned(),
            version: plan.version().map(str::to_owned),
            parameters: parameters.await?.map_err(invalid)?,
            given: Some(without_null(&new.parameters)),
        })
    }

    /// Changes an instance.
    pub async fn update_service(
        &self,
        request: &ServiceRequest<'_>,
        update: &UpdateService,
    ) -> Result<Ordered, ServiceRejection> {
        self.judged_anew(|| self.update(request, update)).await
    }

    async fn update(
        &self,
        request: &ServiceRequest<'_>,
        update: &UpdateService,
    ) -> Result<Ordered, ServiceRejection> {
        let offering = request.offering(&update.service)?;
        let named = match &update.plan {
            Some(plan) => Some(request.plan(offering, plan)?),
            None => None,
        };
        let id = request.instance_id(&update.instance);
        let row = self.service_instance(&id).await?;
        let row = row.filter(|row| !row.is_gone() && row.id == id);
        let row = row.ok_or_else(|| no_such_instance(&update.instance))?;
        judge_service(&row, &update.service)?;
        // Its creation has failed, so there is nothing to change: the platform orders it again, or deletes it.
        if row.applied.is_none() && !row.change.is_running() {
            return Err(no_such_instance(&update.instance));
        }
        let base = row.applied.as_ref().unwrap_or(&row.wanted);
        let current = offering.plan(&base.plan);
        let plan = match (named, current) {
            (Some(named), _) => named,
            (None, Some(current)) => current,
            (None, None) => {
                return Err(ServiceRejection::Invalid(
                    "plan_id: the plan of the instance is not in the catalog any more. Name another one."
                        .to_owned(),
                ));
            }
        };
        judge_version(plan, update.version.as_deref())?;
        let name = update.name.clone().or_else(|| row.name.clone());
        let is_asked_for =
            update.version.is_some() || !update.parameters.is_empty() || plan.id() != base.plan;
        // It is about the context alone, whatever version the plan has by now. One without a context repeats what has failed.
        let has_context_only = update.has_context && update.plan.is_none() && !is_asked_for;
        let is_noted = row.change.has_succeeded() || has_context_only && !row.change.is_running();
        if !is_asked_for && is_noted {
            return self.rename(row, name).await;
        }
        if update.version.is_none()
            && !has_context_only
            && plan.version().is_some()
            && current.is_some_and(|it| it.version() != base.version.as_deref())
        {
            return Err(ServiceRejection::MaintenanceInfoConflict(format!(
                "The instance is behind its plan: it has version {}. Send maintenance_info with version {}.",
                shown(base.version.as_deref()),
                shown(plan.version())
            )));
        }
        let edge = edge(current, &row, plan)?;
        let is_brought_up = update.version.is_some() && update.version != base.version;
        let given = update.parameters.clone();
        let kept = base.parameters.clone();
        let (service, from, to) = (row.service.clone(), base.plan.clone(), plan.id().to_owned());
        let judge = move |offerings: &Offerings| {
            let offering = offerings.offering(&service)?;
            let to = offering.plan(&to)?;
            let from = offering.plan(&from).unwrap_or(to);
            Some(from.judge_update(to, is_brought_up, &kept, &given))
        };
        let parameters = self.judge_parameters(request, &update.parameters, judge);
        let wanted = match parameters.await?.map_err(refused)? {
            Some(parameters) => Provision {
                plan: plan.id().to_owned(),
                version: plan.version().map(str::to_owned),
                given: given_by_then(base, &update.parameters, &parameters),
                parameters,
            },
            None => base.clone(),
        };
        let applied = row.applied.as_ref();
        let is_applied = applied.is_some_and(|applied| applied.is_same(&wanted));
        let is_context_only = row.change.has_succeeded() && is_applied;
        let is_same = row.change.kind == ChangeKind::Update
            && row.wanted.version == wanted.version
            && row.wanted.asks_the_same(&wanted);
        if row.change.is_running() && is_same {
            return self.same_again(request, offering, &row).await;
        }
        if is_context_only {
            return self.rename(row, name).await;
        }
        let change = Changed {
            plan,
            wanted,
            edge,
            name,
        };
        self.change(request, offering, row, change).await
    }

    /// Orders a change of an instance that is there.
    async fn change(
        &self,
        request: &ServiceRequest<'_>,
        offering: &Offering,
        row: ServiceInstance,
        change: Changed<'_>,
    ) -> Result<Ordered, ServiceRejection> {
        let Changed {
            plan,
            wanted,
            edge,
            name,
        } = change;
        let bindings = self.ground.store.list_service_bindings(&row.id).await;
        let bindings = bindings.map_err(ServiceRejection::of_store)?;
        let applied = row.applied.as_ref();
        let is_same = applied.is_some_and(|applied| applied.is_same(&wanted));
        if !bindings.is_empty() && !is_same && !offering.merges_into_bindings() {
            return Err(ServiceRejection::BindingsExist(format!(
                "The instance has {} bindings, which would not see the change. Delete them first.",
                bindings.len()
            )));
        }
        if row.change.is_running() {
            return Err(running(&row));
        }
        refuse_changing_bindings(&bindings)?;
        let names = offering.instance_randoms();
        let randoms = self.drawn(names.iter().cloned(), &row.randoms);
        let expected = Some(row.revision);
        let instance = ServiceInstance {
            name,
            wanted,
            randoms,
            may_be_replaced: row.may_be_replaced || edge == Edge::Replacing,
            change: self.begins(ChangeKind::Update),
            ..row
        };
        let mut works = self.comes_to(request, plan, &instance, edge).await?;
        let is_there =
            |reference: &ReferenceId| works.puts(reference) || works.is_recorded(reference);
        let (bindings, outputs) =
            self.renewed(request, offering, plan, &instance, bindings, is_there)?;
        works.reads(linked(&instance.group, &outputs));
        works.delete_what_left(&instance.id);
        let order = NewOrder {
            expected,
            tags: reference_tags(&instance),
            instance,
            bindings,
            binding: None,
            own_tags: BTreeMap::new(),
            cancels: None,
        };
        self.order(request, order, works, offering.is_sync()).await
    }

    /// Returns what an instance comes to. Refuses to change what ARM is changing.
    async fn comes_to(
        &self,
        request: &ServiceRequest<'_>,
        plan: &Plan,
        instance: &ServiceInstance,
        edge: Edge,
    ) -> Result<Works, ServiceRejection> {
        let context = context(instance, request.platform);
        let randoms = Randoms(instance.randoms.clone());
        let resources = plan.instance(&context, &instance.wanted.parameters, &randoms);
        let resources = resources.map_err(unfilled)?;
        let tags = tags(instance);
        let works = self.judged_services(request, instance, resources, &tags, edge);
        let works = works.await?;
        refuse_busy(works.recorded())?;
        Ok(works)
    }

    /// Notes the name of an instance. Nothing is done in AWS.
    async fn rename(
        &self,
        row: ServiceInstance,
        name: Option<String>,
    ) -> Result<Ordered, ServiceRejection> {
        if row.name != name {
            let expected = Some(row.revision);
            let instance = ServiceInstance { name, ..row };
            let order = NewOrder {
                expected,
                tags: reference_tags(&instance),
                instance,
                bindings: Vec::new(),
                binding: None,
                own_tags: BTreeMap::new(),
                cancels: None,
            };
            self.place(order, None).await?;
        }
        Ok(Ordered::Unchanged)
    }

    /// Deletes an instance, with its bindings.
    pub async fn deprovision_service(
        &self,
        request: &ServiceRequest<'_>,
        instance: &str,
        service: &str,
        plan: &str,
    ) -> Result<Ordered, ServiceRejection> {
        self.judged_anew(|| self.deprovision(request, instance, service, plan))
            .await
    }

    async fn deprovision(
        &self,
        request: &ServiceRequest<'_>,
        instance: &str,
        service: &str,
        plan: &str,
    ) -> Result<Ordered, ServiceRejection> {
        let named = (service, plan);
        let row = self.deleted_from(request, instance, named).await?;
        let offering = request.offerings.offering(service);
        let is_sync = offering.is_some_and(Offering::is_sync);
        let mut cancels = None;
        if row.change.is_running() {
            match row.change.kind {
                ChangeKind::Delete => {
                    return self.again(request, &row.change, is_sync).await;
                }
                ChangeKind::Update => return Err(running(&row)),
                ChangeKind::Create => cancels = row.change.operation,
            }
        }
        let bindings = self.ground.store.list_service_bindings(&row.id).await;
        let bindings = bindings.map_err(ServiceRejection::of_store)?;
        refuse_changing_bindings(&bindings)?;
        let mut references: Vec<ReferenceOf> = Vec::new();
        if let Some(creation) = cancels
            && let Some(operation) = self.get_operation(creation).await?
            && let Some(application) = operation.work.group().and_then(|work| work.application())
        {
            // It may still make them.
            references.extend(application.members.iter().map(ReferenceOf::from));
        }
        let recorded = self.references_of(&row.id, &row.group).await?;
        if cancels.is_none() {
            refuse_busy(&recorded)?;
        }
        let listed: BTreeSet<String> = references.iter().map(|it| it.id.key()).collect();
        let others = recorded.iter().filter(|it| !listed.contains(&it.id.key()));
        references.extend(others.map(ReferenceOf::from));
        let (of_instance, of_bindings): (Vec<_>, Vec<_>) = references
            .into_iter()
            .partition(|it| !row.id.is_of_binding(&it.id.alias));
        let works = Works::deleting(&of_bindings, &of_instance, recorded);
        let order = NewOrder {
            expected: Some(row.revision),
            tags: BTreeMap::new(),
            instance: ServiceInstance {
                change: self.begins(ChangeKind::Delete),
                ..row
            },
            bindings: Vec::new(),
            binding: None,
            own_tags: BTreeMap::new(),
            cancels,
        };
        self.order(request, order, works, is_sync).await
    }

    /// Returns an instance as it stands.
    pub async fn provisioned_service(
        &self,
        request: &ServiceRequest<'_>,
        instance: &str,
        named: Named<'_>,
    ) -> Result<ProvisionedService, ServiceRejection> {
        let id = request.instance_id(instance);
        let row = self.service_instance(&id).await?;
        let row = row.filter(|row| row.id == id && !row.is_gone());
        judge_named(request, row.as_ref(), named)?;
        let row = row.filter(ServiceInstance::has_stood);
        let row = row.ok_or_else(|| no_such_instance(instance))?;
        if row.change.is_running() {
            return Err(running(&row));
        }
        let applied = row.applied.ok_or_else(|| no_such_instance(instance))?;
        let plan = request.offerings.offering(&row.service);
        let plan = plan.and_then(|offering| offering.plan(&applied.plan));
        let parameters = match plan {
            Some(plan) => plan.shown(&applied.parameters),
            // Nothing tells any more which may be shown.
            None => Map::new(),
        };
        Ok(ProvisionedService {
            service: row.service,
            applied: Provision {
                parameters,
                ..applied
            },
        })
    }

    /// Returns the instance that is deleted, or of which a binding is. [`ServiceRejection::Gone`] if it is not there.
    pub(super) async fn deleted_from(
        &self,
        request: &ServiceRequest<'_>,
        instance: &str,
        (service, plan): (&str, &str),
    ) -> Result<ServiceInstance, ServiceRejection> {
        let id = request.instance_id(instance);
        let row = self.service_instance(&id).await?;
        let row = row.filter(|row| row.id == id);
        match row {
            Some(row) if !row.is_gone() => {
                judge_service(&row, service)?;
                // One that has never stood has no plan: it may have been asked for by several.
                let asked = request.offerings.offering(service);
                let is_asked = asked.is_some_and(|offering| offering.plan(plan).is_some());
                if row.applied.is_some() || !is_asked {
                    judge_plan(&row, plan)?;
                }
                Ok(row)
            }
            // What has left the files is known by its row.
            Some(gone) if gone.service == service => Err(ServiceRejection::Gone),
            Some(_) | None => {
                let offering = request.offering(service)?;
                request.plan(offering, plan)?;
                Err(ServiceRejection::Gone)
            }
        }
    }

    /// Answers the same request again, while its operation is under way.
    async fn same_again(
        &self,
        request: &ServiceRequest<'_>,
        offering: &Offering,
        row: &ServiceInstance,
    ) -> Result<Ordered, ServiceRejection> {
        self.again(request, &row.change, offering.is_sync()).await
    }

    /// Refuses a change while a binding changes.
    async fn refuse_changing(&self, row: &ServiceInstance) -> Result<(), ServiceRejection> {
        let bindings = self.ground.store.list_service_bindings(&row.id).await;
        refuse_changing_bindings(&bindings.map_err(ServiceRejection::of_store)?)
    }

    /// Returns a change that begins. Its operation is known when it is ordered.
    pub(super) fn begins(&self, kind: ChangeKind) -> Change {
        Change {
            kind,
            operation: None,
            began_at: self.ground.now(),
            ended: None,
        }
    }
}

/// What an instance is changed to.
struct Changed<'a> {
    plan: &'a Plan,
    wanted: Provision,
    edge: Edge,
    name: Option<String>,
}

/// Returns how an instance gets to a plan.
fn edge(
    current: Option<&Plan>,
    row: &ServiceInstance,
    plan: &Plan,
) -> Result<Edge, ServiceRejection> {
    let base = row.applied.as_ref().unwrap_or(&row.wanted);
    let edge_to = |plan: &str| current.and_then(|current| current.edge_to(plan));
    let edge = if plan.id() == base.plan {
        Some(Edge::InPlace)
    } else {
        edge_to(plan.id())
    };
    // A change that has failed may have replaced some of it already. From there, each way may replace.
    let edge = edge.map(|edge| {
        if row.may_be_replaced {
            Edge::Replacing
        } else {
            edge
        }
    });
    edge.ok_or_else(|| {
        ServiceRejection::PlanChangeNotSupported(format!(
            "The plan cannot be changed to '{}'. Make a new instance of that plan.",
            plan.name()
        ))
    })
}

/// Refuses a change of an instance while one of its bindings changes.
pub(super) fn refuse_changing_bindings(
    bindings: &[ServiceBinding],
) -> Result<(), ServiceRejection> {
    let mut changing = bindings
        .iter()
        .filter(|binding| binding.change.is_running());
    match changing.next() {
        None => Ok(()),
        Some(binding) => Err(ServiceRejection::Concurrency(format!(
            "The binding '{}' of the instance is being changed. Try again when that has ended.",
            binding.id.binding
        ))),
    }
}

/// Returns the parameters that are given, without those that are not.
pub(super) fn without_null(parameters: &Map<String, Value>) -> Map<String, Value> {
    let given = parameters.iter().filter(|(_, value)| !value.is_null());
    given
        .map(|(name, value)| (name.clone(), value.clone()))
        .collect()
}

/// Returns the parameters that were given in all requests so far, of those that the instance has after this one.
fn given_by_then(
    base: &Provision,
    update: &Map<String, Value>,
    parameters: &Map<String, Value>,
) -> Option<Map<String, Value>> {
    let mut given = base.given.clone()?;
    given.extend(
        update
            .iter()
            .map(|(name, value)| (name.clone(), value.clone())),
    );
    given.retain(|name, value| !value.is_null() && parameters.contains_key(name));
    Some(given)
}

/// Returns the tags of the references of an instance that its resources get as default tags too.
pub(super) fn tags(instance: &ServiceInstance) -> BTreeMap<String, String> {
    let tags = [
        ("osb-platform", &instance.id.platform),
        ("osb-organization", &instance.organization),
        ("osb-space", &instance.space),
        ("osb-instance", &instance.id.instance),
    ];
    let tags = tags.into_iter();
    tags.map(|(name, value)| (name.to_owned(), value.clone()))
        .collect()
}

/// Returns the tags of all references of an instance.
pub(super) fn reference_tags(instance: &ServiceInstance) -> BTreeMap<String, String> {
    let mut tags = tags(instance);
    if let Some(name) = &instance.name {
        let name = name.chars().take(TAG_VALUE_MAX_CHARS).collect();
        tags.insert("osb-instance-name".to_owned(), name);
    }
    tags
}

/// Refuses a version that is not the plan's.
fn judge_version(plan: &Plan, version: Option<&str>) -> Result<(), ServiceRejection> {
    match version {
        Some(version) if Some(version) != plan.version() => {
            Err(ServiceRejection::MaintenanceInfoConflict(format!(
                "maintenance_info.version: the plan has version {}. Fetch the catalog again.",
                shown(plan.version())
            )))
        }
        Some(_) | None => Ok(()),
    }
}

fn shown(version: Option<&str>) -> String {
    version.map_or_else(|| "none".to_owned(), |version| format!("'{version}'"))
}

/// Refuses a service that is not the instance's.
pub(super) fn judge_service(row: &ServiceInstance, service: &str) -> Result<(), ServiceRejection> {
    if row.service == service {
        Ok(())
    } else {
        Err(ServiceRejection::Invalid(format!(
            "service_id: the instance is of the service '{}'.",
            row.service
        )))
    }
}

/// Refuses a plan that is not the instance's: neither that which it has, nor that which its latest change asks for.
pub(super) fn judge_plan(row: &ServiceInstance, plan: &str) -> Result<(), ServiceRejection> {
    let applied = row.applied.as_ref();
    if row.wanted.plan == plan || applied.is_some_and(|applied| applied.plan == plan) {
        Ok(())
    } else {
        Err(ServiceRejection::Invalid(format!(
            "plan_id: the instance has the plan '{}'.",
            applied.unwrap_or(&row.wanted).plan
        )))
    }
}

/// Refuses what a request to read names, if that is unknown or not the instance's.
pub(super) fn judge_named(
    request: &ServiceRequest<'_>,
    row: Option<&ServiceInstance>,
    (service, plan): Named<'_>,
) -> Result<(), ServiceRejection> {
    match row {
        Some(row) => {
            service.map_or(Ok(()), |service| judge_service(row, service))?;
            plan.map_or(Ok(()), |plan| judge_plan(row, plan))
        }
        None => {
            let offering = service.map(|service| request.offering(service));
            if let (Some(offering), Some(plan)) = (offering.transpose()?, plan) {
                request.plan(offering, plan)?;
            }
            Ok(())
        }
    }
}

pub(super) fn no_such_instance(instance: &str) -> ServiceRejection {
    ServiceRejection::Missing(format!(
        "There is no instance '{instance}', or it has not been made yet."
    ))
}

pub(super) fn running(row: &ServiceInstance) -> ServiceRejection {
    let what = match row.change.kind {
        ChangeKind::Create => "being made",
        ChangeKind::Update => "being updated",
        ChangeKind::Delete => "being deleted",
    };
    ServiceRejection::Concurrency(format!(
        "The instance '{}' is {what}. Try again when that has ended.",
        row.id.instance
    ))
}

/// Refuses the parameters of an update.
fn refused(refusal: Refusal) -> ServiceRejection {
    match refusal {
        Refusal::Invalid(objections) => invalid(objections),
        Refusal::NotUpdatable(names) => ServiceRejection::ParameterNotUpdatable(format!(
            "parameters: {} cannot be changed once the instance is there. Leave them out, or make a new instance.",
            names.join(", ")
        )),
    }
}

pub(super) fn invalid(objections: Vec<ucp_offerings::Objection>) -> ServiceRejection {
    let objections = objections.iter().map(ToString::to_string);
    let objections = objections.collect::<Vec<_>>().join("; ");
    ServiceRejection::Invalid(format!("parameters: {objections}."))
}
