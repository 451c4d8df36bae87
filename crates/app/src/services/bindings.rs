//! Service bindings.

use std::collections::BTreeMap;

use serde_json::{Map, Value, json};
use ucp_model::{
    Access, BindingId, Change, ChangeKind, ServiceBinding, ServiceInstance, Timestamp,
};
use ucp_offerings::{BoundSet, Edge, Offering, Offerings};

use super::instances::{
    Named, invalid, judge_named, judge_plan, judge_service, no_such_instance, reference_tags,
    running, tags, without_null,
};
use super::ordering::{NewOrder, ReferenceOf, Works, linked, refuse_busy};
use super::renewal::{evaluated, handed_out};
use super::{Ordered, ServiceRejection, ServiceRequest};
use crate::ServiceCases;

/// The tag that tells the binding.
const BINDING: &str = "osb-binding";

/// A binding to make.
#[derive(Clone)]
pub struct BindService {
    /// The instance.
    pub instance: String,
    /// Its id.
    pub binding: String,
    /// The id of the offering, unless a predecessor says it.
    pub service: Option<String>,
    /// The id of the plan, unless a predecessor says it.
    pub plan: Option<String>,
    /// The application that it is for, if the platform names one.
    pub app: Option<String>,
    /// What it is for, as the request has it.
    pub bind_resource: Option<Value>,
    /// The parameters.
    pub parameters: Map<String, Value>,
    /// The binding that it succeeds.
    pub predecessor: Option<String>,
}

/// A binding that stands.
pub struct BoundService {
    /// What it hands out.
    pub access: Access,
    /// The parameters. Write-only values are not among them.
    pub parameters: Map<String, Value>,
    /// When it expires.
    pub expires_at: Option<Timestamp>,
    /// When it should be renewed.
    pub renew_before: Option<Timestamp>,
}

impl ServiceCases {
    /// Makes a binding.
    pub async fn bind_service(
        &self,
        request: &ServiceRequest<'_>,
        new: &BindService,
    ) -> Result<Ordered, ServiceRejection> {
        self.judged_anew(|| self.bind(request, new)).await
    }

    async fn bind(
        &self,
        request: &ServiceRequest<'_>,
        new: &BindService,
    ) -> Result<Ordered, ServiceRejection> {
        let given = new.service.as_deref();
        let given = given.map(|service| request.offering(service)).transpose()?;
        if let (Some(offering), Some(plan)) = (given, &new.plan) {
            request.plan(offering, plan)?;
        }
        let instance_id = request.instance_id(&new.instance);
        let row = self.service_instance(&instance_id).await?;
        // One that is being made may come to stand.
        let may_stand = |row: &ServiceInstance| row.applied.is_some() || row.change.is_running();
        let row = row.filter(|row| !row.is_gone() && row.id == instance_id && may_stand(row));
        let row = row.ok_or_else(|| no_such_instance(&new.instance))?;
        if let Some(service) = &new.service {
            judge_service(&row, service)?;
        }
        if let Some(plan) = &new.plan {
            judge_plan(&row, plan)?;
        }
        let offering = request.offering(&row.service)?;
        let base = row.applied.as_ref().unwrap_or(&row.wanted);
        let plan = request.plan(offering, &base.plan)?;
        let Some(template) = offering.binding() else {
            return Err(ServiceRejection::Invalid(format!(
                "Instances of the service '{}' cannot be bound.",
                offering.name()
            )));
        };
        let id = BindingId {
            instance: row.id.clone(),
            binding: new.binding.clone(),
        };
        let found = self.service_binding(&id).await?;
        let existing = found.as_ref().filter(|it| !it.is_gone());
        let successor = existing.filter(|it| it.predecessor == new.predecessor);
        let predecessor = match (&new.predecessor, successor) {
            // It has them from its predecessor, which may be gone by now.
            (Some(_), Some(successor)) => Some(successor.clone()),
            (Some(name), None) => Some(self.predecessor(&row, offering, name).await?),
            (None, _) => None,
        };
        let bind_resource = match &predecessor {
            Some(predecessor) => predecessor.bind_resource.clone(),
            None => bind_resource(new),
        };
        let app = bind_resource.as_ref().and_then(|it| it.get("app_guid"));
        if template.requires_app() && app.is_none_or(|app| !app.is_string()) {
            return Err(ServiceRejection::RequiresApp);
        }
        let given = match &predecessor {
            Some(predecessor) => predecessor.given.clone(),
            None => Some(without_null(&new.parameters)),
        };
        // What it was asked for by is known, whatever the files say of that by now.
        let known = existing.filter(|it| {
            let is_there = it.has_stood() || it.change.is_running();
            is_there && given.as_ref().is_some_and(|given| it.is_given(given))
        });
        let parameters = match predecessor.as_ref().or(known) {
            Some(known) => known.parameters.clone(),
            None => {
                let given = new.parameters.clone();
                let (service, plan) = (row.service.clone(), plan.id().to_owned());
                let judge = move |offerings: &Offerings| {
                    let plan = offerings.offering(&service)?.plan(&plan)?;
                    Some(plan.judge_binding(&given))
                };
                let parameters = self.judge_parameters(request, &new.parameters, judge);
                parameters.await?.map_err(invalid)?
            }
        };
        let is_sync = offering.is_sync() || !template.has_resources();
        if let Some(existing) = existing {
            let is_same = existing.id == id
                && existing.asks_the_same(&given, &parameters)
                && existing.bind_resource == bind_resource
                && existing.predecessor == new.predecessor;
            if !is_same {
                return Err(ServiceRejection::Conflict(format!(
                    "There is a binding '{}' of the instance already, with other parameters or for something else.",
                    new.binding
                )));
            }
            match (&existing.change.kind, existing.change.is_running()) {
                (ChangeKind::Create, true) => {
                    return self.again(request, &existing.change, is_sync).await;
                }
                (_, true) => return Err(changing(existing)),
                (_, false) if existing.has_stood() && existing.change.has_succeeded() => {
                    return Ok(Ordered::Unchanged);
                }
                (_, false) => {}
            }
        }
        if row.change.is_running() {
            return Err(running(&row));
        }
        // What is on offer now may name more than when the instance was made.
        let names = offering.instance_randoms();
        let row = ServiceInstance {
            randoms: self.drawn(names.iter().cloned(), &row.randoms),
            ..row
        };
        let now = self.ground.now();
        let randoms = existing.map(|it| it.randoms.clone()).unwrap_or_default();
        // If it is not made anew, what it hands out works until it expires.
        let works = existing.filter(|it| it.has_stood());
        let works = works.filter(|it| it.expires_at.is_none_or(|at| at > now));
        let (expires_at, renew_before) = match works {
            Some(works) => (works.expires_at, works.renew_before),
            None => (
                template.expires_after().map(|after| now.after(after)),
                template.renew_after().map(|after| now.after(after)),
            ),
        };
        let binding = ServiceBinding {
            plan: plan.id().to_owned(),
            parameters,
            given,
            bind_resource,
            predecessor: new.predecessor.clone(),
            randoms: self.drawn(template.randoms().iter().cloned(), &randoms),
            expires_at,
            renew_before,
            has_resources: template.has_resources(),
            access: works.and_then(|it| it.access.clone()),
            change: self.begins(ChangeKind::Create),
            id,
        };
        let BoundSet {
            resources,
            credentials,
            endpoints,
        } = evaluated(request, plan, &row, &binding)?;
        let mut outputs = Map::new();
        outputs.insert(
            binding.id.binding.clone(),
            handed_out(credentials, endpoints),
        );
        let mut default_tags = tags(&row);
        default_tags.insert(BINDING.to_owned(), new.binding.clone());
        let has_resources = !resources.is_empty();
        let edge = Edge::InPlace;
        let works = self.judged_services(request, &row, resources, &default_tags, edge);
        let mut works = works.await?;
        // What it reads must not change meanwhile.
        let prefix = binding.id.alias_prefix().to_lowercase();
        refuse_busy(works.recorded().filter(|it| {
            !row.id.is_of_binding(&it.id.alias) || it.id.alias.to_lowercase().starts_with(&prefix)
        }))?;
        works.reads(linked(&row.group, &outputs));
        let order = NewOrder {
            expected: Some(row.revision),
            binding: Some(binding.id.binding.clone()),
            bindings: vec![binding],
            tags: reference_tags(&row),
            own_tags: BTreeMap::from([(BINDING.to_owned(), new.binding.clone())]),
            instance: row,
            cancels: None,
        };
        if has_resources {
            return self.order(request, order, works, offering.is_sync()).await;
        }
        // It only reads, so that it is done at once.
        let at_once = ServiceRequest {
            accepts_incomplete: false,
            originator: request.originator.clone(),
            ..*request
        };
        self.order(&at_once, order, works, true).await
    }

    /// Returns the binding that another one succeeds.
    async fn predecessor(
        &self,
        row: &ServiceInstance,
        offering: &Offering,
        name: &str,
    ) -> Result<ServiceBinding, ServiceRejection> {
        let refused = |why: &str| {
            ServiceRejection::Invalid(format!(
                "predecessor_binding_id: the binding '{name}' {why}."
            ))
        };
        if !offering
            .binding()
            .is_some_and(ucp_offerings::Binding::is_rotatable)
        {
            return Err(refused(
                "cannot be rotated: its service does not provide for that",
            ));
        }
        let id = BindingId {
            instance: row.id.clone(),
            binding: name.to_owned(),
        };
        let found = self.service_binding(&id).await?;
        let found = found.filter(|it| it.id == id && it.has_stood());
        let found = found.ok_or_else(|| refused("does not exist"))?;
        match found.expires_at {
            Some(at) if at <= self.ground.now() => Err(refused("has expired. Bind anew")),
            Some(_) | None => Ok(found),
        }
    }

    /// Deletes a binding.
    pub async fn unbind_service(
        &self,
        request: &ServiceRequest<'_>,
        (instance, binding): (&str, &str),
        (service, plan): (&str, &str),
    ) -> Result<Ordered, ServiceRejection> {
        self.judged_anew(|| self.unbind(request, (instance, binding), (service, plan)))
            .await
    }

    async fn unbind(
        &self,
        request: &ServiceRequest<'_>,
        (instance, binding): (&str, &str),
        (service, plan): (&str, &str),
    ) -> Result<Ordered, ServiceRejection> {
        let named = (service, plan);
        let row = self.deleted_from(request, instance, named).await?;
        let id = BindingId {
            instance: row.id.clone(),
            binding: binding.to_owned(),
        };
        let found = self.service_binding(&id).await?;
        let found = found.filter(|it| !it.is_gone() && it.id == id);
        let found = found.ok_or(ServiceRejection::Gone)?;
        let offering = request.offerings.offering(service);
        let is_sync = offering.is_some_and(Offering::is_sync) || !found.has_resources;
        let mut cancels = None;
        if found.change.is_running() {
            match found.change.kind {
                ChangeKind::Delete => return self.again(request, &found.change, is_sync).await,
                ChangeKind::Update => return Err(changing(&found)),
                ChangeKind::Create => cancels = found.change.operation,
            }
        }
        if row.change.is_running() {
            return Err(running(&row));
        }
        let prefix = found.id.alias_prefix().to_lowercase();
        let mut recorded = self.references_of(&row.id, &row.group).await?;
        recorded.retain(|it| it.id.alias.to_lowercase().starts_with(&prefix));
        let mut own: Vec<ReferenceOf> = recorded.iter().map(ReferenceOf::from).collect();
        if let Some(creation) = cancels
            && let Some(operation) = self.get_operation(creation).await?
            && let Some(application) = operation.work.group().and_then(|work| work.application())
        {
            let members = application.members.iter().map(ReferenceOf::from);
            let more = members.filter(|it| !own.iter().any(|own| own.id.key() == it.id.key()));
            own.extend(more.collect::<Vec<_>>());
        }
        if cancels.is_none() {
            refuse_busy(&recorded)?;
        }
        let is_empty = own.is_empty() && cancels.is_none();
        let works = Works::deleting(&own, &[], recorded);
        let change = if is_empty {
            Change::done(ChangeKind::Delete, self.ground.now())
        } else {
            self.begins(ChangeKind::Delete)
        };
        let mut gone = found.clone();
        if is_empty {
            gone.delete(self.ground.now());
        } else {
            gone.change = change;
        }
        let order = NewOrder {
            expected: Some(row.revision),
            binding: Some(found.id.binding.clone()),
            bindings: vec![gone],
            tags: BTreeMap::new(),
            own_tags: BTreeMap::new(),
            instance: row,
            cancels,
        };
        if is_empty {
            self.place(order, None).await?;
            return Ok(Ordered::Done(None));
        }
        self.order(request, order, works, is_sync).await
    }

    /// Returns a binding as it stands.
    pub async fn bound_service(
        &self,
        request: &ServiceRequest<'_>,
        (instance, binding): (&str, &str),
        named: Named<'_>,
    ) -> Result<BoundService, ServiceRejection> {
        let missing = || {
            ServiceRejection::Missing(format!(
                "There is no binding '{binding}' of the instance '{instance}', or it has not been made yet."
            ))
        };
        let id = BindingId {
            instance: request.instance_id(instance),
            binding: binding.to_owned(),
        };
        let row = self.service_instance(&id.instance).await?;
        let row = row.filter(|row| !row.is_gone() && row.id == id.instance);
        judge_named(request, row.as_ref(), named)?;
        let row = row.ok_or_else(missing)?;
        let found = self.service_binding(&id).await?;
        let found = found.filter(|it| it.id == id && !it.is_gone());
        let found = found.ok_or_else(missing)?;
        if !found.has_stood() {
            return Err(match (found.change.kind, found.change.is_running()) {
                (ChangeKind::Delete, false) => half_deleted(&found),
                (ChangeKind::Delete, true) | (ChangeKind::Create | ChangeKind::Update, _) => {
                    missing()
                }
            });
        }
        if found.change.is_running() {
            return Err(changing(&found));
        }
        let offering = request.offerings.offering(&row.service);
        let plan = offering.and_then(|offering| offering.plan(&found.plan));
        let parameters = match plan {
            Some(plan) => plan.shown_binding(&found.parameters),
            None => Map::new(),
        };
        Ok(BoundService {
            access: found.access.unwrap_or_default(),
            parameters,
            expires_at: found.expires_at,
            renew_before: found.renew_before,
        })
    }
}

/// Returns what a binding is for. Older platforms name the application elsewhere.
fn bind_resource(new: &BindService) -> Option<Value> {
    let given = new.bind_resource.clone();
    let Some(app) = &new.app else { return given };
    let mut resource = given.unwrap_or_else(|| json!({}));
    if resource.get("app_guid").is_none() {
        resource["app_guid"] = json!(app);
    }
    Some(resource)
}

/// A deletion has failed, and what it handed out does not work any more.
fn half_deleted(binding: &ServiceBinding) -> ServiceRejection {
    ServiceRejection::Missing(format!(
        "The binding '{}' was deleted half-way, and hands out nothing any more. Delete it again.",
        binding.id.binding
    ))
}

fn changing(binding: &ServiceBinding) -> ServiceRejection {
    ServiceRejection::Concurrency(format!(
        "The binding '{}' is being changed. Try again when that has ended.",
        binding.id.binding
    ))
}
