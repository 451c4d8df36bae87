//! What a body comes to once it is deployed, for who compares two bodies without a server.

use std::cell::RefCell;
use std::collections::{BTreeMap, HashMap};

use serde_json::Value;
use ucp_model::{Detail, Identifier, ReferenceId, Scope, json};
use ucp_set::{DetailCode, Link, resolve, visit};

use crate::body::{Body, Declared};
use crate::check;
use crate::deployed::{Deployed, LastSecrets, State};
use crate::puts::puts;
use crate::resources::Resources;

/// Returns what is known of a resource that is only referred to.
fn stub((address, scope): (ReferenceId, &Scope)) -> Deployed {
    Deployed {
        identifier: Some(Identifier::new(stand_in(&address, ""))),
        address,
        scope: scope.clone(),
        declared: None,
        attributes: BTreeMap::new(),
        default_tags: Value::Null,
        secrets: LastSecrets::None,
        write_only: Default::default(),
    }
}

/// A resource as it is imagined.
struct Imagined {
    identifier: Identifier,
    /// The property that is the identifier.
    identified_by: Option<String>,
    properties: Value,
    /// What is referred to, and AWS has to say. Each is a text of its own, so that it tells its resource.
    attributes: RefCell<BTreeMap<String, Value>>,
}

impl Imagined {
    fn value(&self, link: &Link) -> Value {
        let declared = link.value_in(&self.identifier, Some(&self.properties));
        let place = link.pointer.as_ref().map_or("", |pointer| pointer.as_str());
        declared.filter(is_known).unwrap_or_else(|| {
            if self.identified_by.as_deref() == Some(place) {
                return Value::from(self.identifier.as_str());
            }
            let value = Value::from(stand_in(&link.reference, place));
            let mut attributes = self.attributes.borrow_mut();
            attributes.insert(place.to_owned(), value.clone());
            value
        })
    }
}

/// Returns what its groups hold once a body is deployed there, where nothing was before, and what this body and the `next` one refer
/// to in groups that neither names. A text of its own stands for each identifier and property that AWS would have to say.
///
/// Fails with all that is wrong with the body.
pub fn imagine(body: &Body, next: &Body) -> Result<State, Vec<Detail>> {
    let alone = Body {
        moves: Vec::new(),
        exclude: Vec::new(),
        history: None,
        deploy: false,
        ..body.clone()
    };
    let (mut outside, here) = (body.outside(), body.named());
    for (key, it) in next.outside() {
        // What the body declares is no stranger.
        if !here.contains(&it.0.group.key()) {
            outside.entry(key).or_insert(it);
        }
    }
    let outside: Vec<Deployed> = outside.into_values().map(stub).collect();
    let mut resources = Resources::of(&outside, &alone.resources);
    let checked = check::check(&State::default(), &alone, &mut resources)?;
    let all: Vec<usize> = resources.all_declared().collect();
    let mut imagined: HashMap<String, Imagined> = HashMap::new();
    let (mut state, mut problems) = (State::default(), Vec::new());
    let puts = puts(&resources, &checked.names, &all, |_| false);
    for put in &puts {
        let Declared {
            address,
            identifier,
            identified_by,
            ..
        } = &alone.resources[put.resource];
        let named = || Identifier::new(stand_in(address, ""));
        let resource = Imagined {
            identifier: identifier.clone().unwrap_or_else(named),
            identified_by: identified_by.clone(),
            properties: put.properties.clone(),
            attributes: RefCell::default(),
        };
        imagined.insert(address.key(), resource);
    }
    for Deployed { address, .. } in &outside {
        let resource = Imagined {
            identifier: Identifier::new(stand_in(address, "")),
            identified_by: None,
            properties: Value::Null,
            attributes: RefCell::default(),
        };
        imagined.insert(address.key(), resource);
    }
    for put in puts {
        let Declared { place, address, .. } = &alone.resources[put.resource];
        let value_of = |link: &Link| Some(imagined.get(&link.reference.key())?.value(link));
        match resolve(&put.properties, value_of) {
            Ok(properties) => {
                if let Some(resource) = imagined.get_mut(&address.key()) {
                    resource.properties = properties;
                }
            }
            Err(unresolved) => {
                let place = format!("{place}/properties");
                let message = format!("It cannot be resolved: {unresolved}.");
                problems.push(Detail::at(DetailCode::InvalidReference, message, place));
            }
        }
    }
    if !problems.is_empty() {
        return Err(problems);
    }
    for declared in &alone.resources {
        let Some(resource) = imagined.remove(&declared.address.key()) else {
            continue;
        };
        let mut attributes = resource.attributes.into_inner();
        if let Some(place) = resource.identified_by {
            attributes.insert(place, Value::from(resource.identifier.as_str()));
        }
        state.resources.push(Deployed {
            address: declared.address.clone(),
            scope: declared.scope.clone(),
            identifier: Some(resource.identifier),
            declared: Some(resource.properties),
            attributes,
            default_tags: declared.default_tags.clone(),
            secrets: if declared.write_only.is_empty() {
                LastSecrets::None
            } else {
                LastSecrets::Known
            },
            write_only: declared.write_only.clone(),
        });
    }
    let named = next.named();
    for deployed in outside {
        let resource = imagined.remove(&deployed.address.key());
        if let Some(resource) = resource.filter(|_| !named.contains(&deployed.address.group.key()))
        {
            state.resources.push(Deployed {
                attributes: resource.attributes.into_inner(),
                ..deployed
            });
        }
    }
    state.events = body.history.clone().unwrap_or_default();
    Ok(state)
}

/// Returns whether the write-only values of a declaration are those of what was imagined, which has them as they were declared.
/// `properties` are those of the declaration with values in the place of references in these.
pub fn has_same_values(deployed: &Deployed, declared: &Declared, properties: &Value) -> bool {
    let mut places = deployed.write_only.union(&declared.write_only);
    places.all(|place| {
        let old = deployed
            .declared
            .as_ref()
            .and_then(|old| old.pointer(place));
        match (old, properties.pointer(place)) {
            (Some(old), Some(new)) => json::equal(old, new),
            (None, None) => true,
            (Some(_), None) | (None, Some(_)) => false,
        }
    })
}

/// Whether a declared value is all there. On a circle it may still refer to another resource.
fn is_known(value: &Value) -> bool {
    let mut is_known = true;
    visit(value, |_, _| is_known = false);
    is_known
}

fn stand_in(id: &ReferenceId, place: &str) -> String {
    format!("{id}#{place}")
}

/// Returns whether a text stands for an identifier or a property of a resource.
pub(crate) fn is_stand_in(id: &ReferenceId, text: &str) -> bool {
    let place = text.split_once('#').filter(|(at, _)| *at == id.to_string());
    place.is_some()
}
