use std::time::Duration;

use serde_json::{Map, Value};
use tokio::time::Instant;
use ucp_access::Right;
use ucp_model::operation::SETTLING_WINDOW;
use ucp_model::{
    ErrorCode, Failure, Fault, FaultClass, Identifier, ResourceDescription, Scope, Target, TypeName,
};
use ucp_schema::ResourceSchema;

use crate::declaring::unsupported;
use crate::identifier::{named, not_found, told_by};
use crate::in_flight::taken_by;
use crate::{Caller, Rejection, ResourceCases, Room, Selector, TrackedBy};

/// How long a read by action waits for a recently created resource to become visible.
const PATIENCE: Duration = Duration::from_secs(10);
/// The first pause between its attempts. Each further pause is twice as long.
const FIRST_PAUSE: Duration = Duration::from_millis(250);

/// A read of one resource.
#[derive(Clone)]
pub struct ReadResource {
    /// The scope.
    pub scope: Scope,
    /// The type, as the caller spelled it.
    pub type_name: TypeName,
    /// The resource.
    pub resource: Selector,
}

/// A resource as AWS returns it.
#[derive(Clone, Debug)]
pub struct LiveResource {
    /// Its scope.
    pub scope: Scope,
    /// Its type, in the canonical spelling.
    pub type_name: TypeName,
    /// Its identifier.
    pub identifier: Identifier,
    /// The live properties without write-only values.
    pub properties: Map<String, Value>,
}

/// A page of a list.
#[derive(Clone, Debug)]
pub struct LivePage {
    /// The resources, in AWS's order.
    pub resources: Vec<LiveResource>,
    /// The token of the next page; `None` on the last one.
    pub next_token: Option<String>,
}

impl ResourceCases {
    /// Returns a live resource.
    pub async fn get_resource(
        &self,
        read: ReadResource,
        caller: &Caller,
    ) -> Result<LiveResource, Rejection> {
        let ReadResource {
            scope,
            type_name,
            resource,
        } = read;
        let schema = self.types.schema(&scope, &type_name).await?;
        if !schema.handlers().read {
            return Err(unsupported(&schema, "read"));
        }
        let reply = match resource {
            Selector::Name(name) => {
                let identifier = named(&schema, &name)?;
                (self.read(&schema, &scope, &identifier).await, identifier)
            }
            Selector::Reference(tracked_by) => {
                let identifier = self.identifier_of(&tracked_by, &schema, &scope, caller);
                let identifier = identifier.await?;
                let reply = self.read_patiently(&schema, &scope, &identifier).await?;
                (reply, identifier)
            }
            Selector::Parts(properties) => {
                let identifier = told_by(&schema, properties)?;
                let reply = self.read_patiently(&schema, &scope, &identifier).await?;
                (reply, identifier)
            }
        };
        match reply {
            (Ok(live), _) => {
                caller.room.take(taken_by(&live.properties))?;
                Ok(shown(&schema, &scope, &live))
            }
            (Err(fault), identifier) if fault.class == FaultClass::Missing => {
                Err(not_found(&schema, &scope, &identifier))
            }
            (Err(fault), _) => Err(Rejection::Aws(fault)),
        }
    }

    /// Returns a page of the live resources of a type.
    pub async fn list_resources(
        &self,
        scope: &Scope,
        type_name: &TypeName,
        skip_token: Option<&str>,
        room: &Room,
    ) -> Result<LivePage, Rejection> {
        let schema = self.types.schema(scope, type_name).await?;
        if !schema.handlers().list {
            return Err(unsupported(&schema, "listed"));
        }
        let live = &self.looks.live;
        let page = live.list(scope, schema.type_name(), skip_token).await;
        let page = page.map_err(Rejection::Aws)?;
        let properties = page.resources.iter().map(|listed| &listed.properties);
        room.take(properties.map(taken_by).sum())?;
        let resources = page.resources.into_iter();
        Ok(LivePage {
            resources: resources
                .map(|listed| shown(&schema, scope, &listed))
                .collect(),
            next_token: page.next_token,
        })
    }

    /// Returns the identifier that `trackedBy` stands for, in `scope`.
    pub(crate) async fn identifier_of(
        &self,
        tracked_by: &TrackedBy,
        schema: &ResourceSchema,
        scope: &Scope,
        caller: &Caller,
    ) -> Result<Identifier, Rejection> {
        let id = self
            .types
            .reference_id(tracked_by, schema, (caller, Right::Read))?;
        let store = &self.ground.store;
        if let Err(error) = store.get_resource_group(&id.group).await {
            return Err(self.ground.refusal(error, Some(&id)).await);
        }
        let reference = self.groups.get_reference(&id).await?;
        if !reference.scope.is_same_place(scope) {
            let error = ucp_store::Error::ReferencedElsewhere(reference.scope);
            return Err(self.ground.refusal(error, Some(&id)).await);
        }
        reference.identifier.ok_or_else(|| {
            let message = format!(
                "'{}' does not stand for an AWS resource yet: its creation is under way. Wait until the operation ends.",
                id.alias
            );
            Rejection::Missing(Failure::new(ErrorCode::NotFound, message).with_target(id.to_string()))
        })
    }

    async fn read(
        &self,
        schema: &ResourceSchema,
        scope: &Scope,
        identifier: &Identifier,
    ) -> Result<ResourceDescription, Fault> {
        let live = &self.looks.live;
        live.read(scope, schema.type_name(), identifier).await
    }

    /// Reads a resource, and retries for a while if it is missing but was created recently.
    async fn read_patiently(
        &self,
        schema: &ResourceSchema,
        scope: &Scope,
        identifier: &Identifier,
    ) -> Result<Result<ResourceDescription, Fault>, Rejection> {
        let deadline = Instant::now() + PATIENCE;
        let mut reply = self.read(schema, scope, identifier).await;
        let is_missing = |reply: &Result<ResourceDescription, Fault>| {
            reply
                .as_ref()
                .is_err_and(|fault| fault.class == FaultClass::Missing)
        };
        let target = Target {
            scope,
            type_name: schema.type_name(),
            identifier,
        };
        let since = self.ground.now().before(SETTLING_WINDOW);
        if !is_missing(&reply) || !self.ground.store.was_created(&target, since).await? {
            return Ok(reply);
        }
        let mut pause = FIRST_PAUSE;
        while is_missing(&reply) && Instant::now() + pause <= deadline {
            tokio::time::sleep(pause).await;
            pause *= 2;
            reply = self.read(schema, scope, identifier).await;
        }
        Ok(reply)
    }
}

/// Returns the live resource for the reply.
fn shown(schema: &ResourceSchema, scope: &Scope, live: &ResourceDescription) -> LiveResource {
    let properties = match schema.shown(&live.properties) {
        Value::Object(properties) => properties,
        _ => Map::new(),
    };
    LiveResource {
        scope: scope.clone(),
        type_name: schema.type_name().clone(),
        identifier: schema.answered(&live.identifier, &live.properties),
        properties,
    }
}
