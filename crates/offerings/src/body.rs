//! What the plans of an offering share: resources and their properties, and what a binding tells.

use serde_json::{Map, Value};

use crate::context::{Context, Randoms};
use crate::layers::put;
use crate::parameter::Parameters;
use crate::place::Place;
use crate::resource::{Head, Owner, Resource};
use crate::template::{Template, Unfilled, Values};

/// The resources of an offering.
#[derive(Debug, Default)]
pub(crate) struct Body {
    pub(crate) heads: Vec<Head>,
    /// The properties of each.
    pub(crate) properties: Vec<Vec<(String, Template)>>,
    pub(crate) credentials: Option<Vec<(String, Template)>>,
    pub(crate) endpoints: Option<Template>,
}

/// A value that a plan sets.
#[derive(Debug)]
pub(crate) struct Preset {
    pub(crate) place: Place,
    pub(crate) template: Template,
    pub(crate) line: usize,
}

impl Body {
    pub(crate) fn values<'a>(
        &'a self,
        context: &'a Context,
        parameters: &'a Map<String, Value>,
        randoms: &'a Randoms,
    ) -> Values<'a> {
        Values {
            heads: &self.heads,
            context,
            parameters,
            randoms,
        }
    }

    /// Returns the resources of an instance or a binding: over their properties the values of parameters, and over these
    /// the presets.
    pub(crate) fn resources(
        &self,
        owner: Owner,
        values: Values<'_>,
        parameters: &Parameters,
        presets: &[Preset],
    ) -> Result<Vec<Resource>, Unfilled> {
        let mut resources = Vec::new();
        for (index, head) in self.heads.iter().enumerate() {
            let Some(schema) = head.schema.as_ref().filter(|_| head.owner == owner) else {
                continue;
            };
            let mut properties = values.members(&self.properties[index])?;
            for parameter in &parameters.0 {
                let place = parameter.place.as_ref();
                let value = values.parameters.get(&parameter.name);
                if let (Some(place), Some(value)) =
                    (place.filter(|place| place.resource == index), value)
                {
                    put(&mut properties, &place.path, value.clone());
                }
            }
            for preset in presets
                .iter()
                .filter(|preset| preset.place.resource == index)
            {
                if let Some(value) = values.fill(&preset.template)? {
                    put(&mut properties, &preset.place.path, value);
                }
            }
            resources.push(Resource {
                name: head.name.clone(),
                alias: head.alias(values.context),
                type_name: schema.type_name().clone(),
                properties,
            });
        }
        Ok(resources)
    }
}
