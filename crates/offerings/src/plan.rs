use std::sync::Arc;

use serde_json::{Map, Value};

use crate::binding::BoundSet;
use crate::body::{Body, Preset};
use crate::context::{Context, Randoms};
use crate::parameter::{Parameters, Refusal};
use crate::place::to_pointer;
use crate::resource::{Owner, Resource};
use crate::schema::judge::Objection;
use crate::template::Unfilled;

/// How an instance gets from one plan to another.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Edge {
    /// Its resources are updated.
    InPlace,
    /// Its resources may be replaced, and lose what is in them.
    Replacing,
}

/// A plan of an offering.
#[derive(Debug)]
pub struct Plan {
    pub(crate) id: String,
    pub(crate) name: String,
    pub(crate) description: String,
    pub(crate) metadata: Option<Value>,
    pub(crate) is_free: bool,
    pub(crate) version: Option<String>,
    pub(crate) version_description: Option<String>,
    /// The ids of other plans.
    pub(crate) edges: Vec<(String, Edge)>,
    pub(crate) presets: Vec<Preset>,
    pub(crate) instance: Parameters,
    pub(crate) binding: Parameters,
    pub(crate) body: Arc<Body>,
}

impl Plan {
    /// Returns the id.
    pub fn id(&self) -> &str {
        &self.id
    }

    /// Returns the name.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Returns the version that new instances have, if the plan has versions.
    pub fn version(&self) -> Option<&str> {
        self.version.as_deref()
    }

    /// Returns how an instance gets from this plan to another one. `None` if it does not.
    pub fn edge_to(&self, plan_id: &str) -> Option<Edge> {
        let edge = self.edges.iter().find(|(id, _)| id == plan_id);
        edge.map(|(_, edge)| *edge)
    }

    /// Judges the parameters of a new instance, and returns them with defaults.
    pub fn judge_create(
        &self,
        given: &Map<String, Value>,
    ) -> Result<Map<String, Value>, Vec<Objection>> {
        self.instance.judge_creation(given)
    }

    /// Judges the parameters of an update of an instance, which has this plan and the parameters `current`, to the plan
    /// `new`, which may be the same. Returns all parameters that it has then, or `None` if the request changes nothing, and the
    /// instance is not brought up to the version of the plan. Whether there is an edge to that plan is not judged.
    pub fn judge_update(
        &self,
        new: &Plan,
        is_brought_up: bool,
        current: &Map<String, Value>,
        given: &Map<String, Value>,
    ) -> Result<Option<Map<String, Value>>, Refusal> {
        let how = (self.id == new.id, is_brought_up);
        (new.instance).judge_update(&self.instance, how, current, given)
    }

    /// Judges the parameters of a new binding of an instance with this plan, and returns them with defaults.
    pub fn judge_binding(
        &self,
        given: &Map<String, Value>,
    ) -> Result<Map<String, Value>, Vec<Objection>> {
        self.binding.judge_creation(given)
    }

    /// Returns the resources of an instance with judged parameters. `randoms` has a text for each of
    /// [`Offering::instance_randoms`](crate::Offering::instance_randoms).
    pub fn instance(
        &self,
        context: &Context,
        parameters: &Map<String, Value>,
        randoms: &Randoms,
    ) -> Result<Vec<Resource>, Unfilled> {
        let values = self.body.values(context, parameters, randoms);
        (self.body).resources(Owner::Instance, values, &self.instance, &self.presets)
    }

    /// Returns the resources of a binding, and what it tells. `instance_parameters` are those of the instance, and
    /// `parameters` the judged ones of the binding. `randoms` has a text for each name of the instance and for each of
    /// [`Binding::randoms`](crate::Binding::randoms).
    pub fn binding(
        &self,
        context: &Context,
        instance_parameters: &Map<String, Value>,
        parameters: &Map<String, Value>,
        randoms: &Randoms,
    ) -> Result<BoundSet, Unfilled> {
        let mut all = instance_parameters.clone();
        all.extend(
            parameters
                .iter()
                .map(|(name, value)| (name.clone(), value.clone())),
        );
        let values = self.body.values(context, &all, randoms);
        let credentials = self.body.credentials.as_ref();
        let credentials = credentials.map(|members| values.members(members));
        let endpoints = self.body.endpoints.as_ref();
        let endpoints = endpoints.map(|endpoints| values.fill(endpoints));
        Ok(BoundSet {
            resources: (self.body).resources(Owner::Binding, values, &self.binding, &[])?,
            credentials: credentials.transpose()?.map(Value::Object),
            endpoints: endpoints.transpose()?.flatten(),
        })
    }

    /// Returns the parameters of an instance without what nobody can read back.
    pub fn shown(&self, parameters: &Map<String, Value>) -> Map<String, Value> {
        self.without_write_only(&self.instance, parameters)
    }

    /// Returns the parameters of a binding without what nobody can read back.
    pub fn shown_binding(&self, parameters: &Map<String, Value>) -> Map<String, Value> {
        self.without_write_only(&self.binding, parameters)
    }

    fn without_write_only(
        &self,
        known: &Parameters,
        parameters: &Map<String, Value>,
    ) -> Map<String, Value> {
        let shown = parameters.iter().filter_map(|(name, value)| {
            let value = match &known.get(name)?.place {
                None => value.clone(),
                Some(place) => {
                    let schema = self.body.heads[place.resource].schema.as_ref()?;
                    let path = place.path.iter().rev();
                    let whole = path.fold(value.clone(), |below, name| {
                        Value::Object(Map::from_iter([(name.clone(), below)]))
                    });
                    let pointer = to_pointer(&place.path);
                    schema.without_write_only(&whole).pointer(&pointer)?.clone()
                }
            };
            Some((name.clone(), value))
        });
        shown.collect()
    }
}
