//! The compared resources, deployed and declared ones, by one number each.

use std::collections::HashMap;

use ucp_model::{Identifier, ReferenceId, Scope, TypeName};

use crate::body::Declared;
use crate::deployed::Deployed;

/// The resources of both sides. The deployed ones come first.
#[derive(Debug)]
pub(crate) struct Resources<'a> {
    deployed: &'a [Deployed],
    declared: &'a [Declared],
    addresses: HashMap<String, usize>,
    at: Vec<At>,
    address_of: Vec<usize>,
    environments: Vec<&'a Scope>,
    environment_of: Vec<usize>,
    types: HashMap<String, usize>,
    type_of: Vec<usize>,
}

/// What is at an address.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct At {
    pub(crate) deployed: Option<usize>,
    pub(crate) declared: Option<usize>,
}

/// A resource of one of the sides.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Side<'a> {
    Deployed(&'a Deployed),
    Declared(&'a Declared),
}

impl<'a> Resources<'a> {
    pub(crate) fn of(deployed: &'a [Deployed], declared: &'a [Declared]) -> Self {
        let mut resources = Self {
            deployed,
            declared,
            addresses: HashMap::new(),
            at: Vec::new(),
            address_of: Vec::new(),
            environments: Vec::new(),
            environment_of: Vec::new(),
            types: HashMap::new(),
            type_of: Vec::new(),
        };
        let mut environments = HashMap::new();
        for resource in 0..resources.count() {
            let address = resources.intern(resources.id(resource));
            let at = &mut resources.at[address];
            let place = if resource < deployed.len() {
                &mut at.deployed
            } else {
                &mut at.declared
            };
            place.get_or_insert(resource);
            resources.address_of.push(address);
            let scope = resources.scope(resource);
            let environment = *environments.entry(scope.key()).or_insert_with(|| {
                resources.environments.push(scope);
                resources.environments.len() - 1
            });
            resources.environment_of.push(environment);
            let next = resources.types.len();
            let type_name = type_key(&resources.id(resource).type_name);
            let type_name = *resources.types.entry(type_name).or_insert(next);
            resources.type_of.push(type_name);
        }
        resources
    }

    pub(crate) fn count(&self) -> usize {
        self.deployed.len() + self.declared.len()
    }

    pub(crate) fn all_deployed(&self) -> std::ops::Range<usize> {
        0..self.deployed.len()
    }

    pub(crate) fn all_declared(&self) -> std::ops::Range<usize> {
        self.deployed.len()..self.count()
    }

    pub(crate) fn is_declared(&self, resource: usize) -> bool {
        resource >= self.deployed.len()
    }

    pub(crate) fn side(&self, resource: usize) -> Side<'a> {
        match resource.checked_sub(self.deployed.len()) {
            None => Side::Deployed(&self.deployed[resource]),
            Some(index) => Side::Declared(&self.declared[index]),
        }
    }

    pub(crate) fn id(&self, resource: usize) -> &'a ReferenceId {
        match self.side(resource) {
            Side::Deployed(deployed) => &deployed.address,
            Side::Declared(declared) => &declared.address,
        }
    }

    pub(crate) fn ids(&self, resources: &[usize]) -> Vec<ReferenceId> {
        let ids = resources.iter().map(|resource| self.id(*resource).clone());
        ids.collect()
    }

    pub(crate) fn scope(&self, resource: usize) -> &'a Scope {
        match self.side(resource) {
            Side::Deployed(deployed) => &deployed.scope,
            Side::Declared(declared) => &declared.scope,
        }
    }

    pub(crate) fn identifier(&self, resource: usize) -> Option<&'a Identifier> {
        match self.side(resource) {
            Side::Deployed(deployed) => deployed.identifier.as_ref(),
            Side::Declared(declared) => declared.identifier.as_ref(),
        }
    }

    /// Returns the account and region of a resource, as a number.
    pub(crate) fn environment(&self, resource: usize) -> usize {
        self.environment_of[resource]
    }

    /// Returns the accounts and regions, in the order of their first resources.
    pub(crate) fn environments(&self) -> &[&'a Scope] {
        &self.environments
    }

    /// Returns the type of a resource, as a number.
    pub(crate) fn type_of(&self, resource: usize) -> usize {
        self.type_of[resource]
    }

    /// Returns the number of a type, if a resource has it.
    pub(crate) fn number_of_type(&self, name: &TypeName) -> Option<usize> {
        self.types.get(&type_key(name)).copied()
    }

    /// Returns the address of a resource, as a number.
    pub(crate) fn address(&self, resource: usize) -> usize {
        self.address_of[resource]
    }

    /// Returns the number of an address, which may be of nothing.
    pub(crate) fn intern(&mut self, id: &ReferenceId) -> usize {
        let next = self.at.len();
        let address = *self.addresses.entry(id.key()).or_insert(next);
        if address == next {
            self.at.push(At::default());
        }
        address
    }

    pub(crate) fn at(&self, address: usize) -> At {
        self.at[address]
    }

    /// Returns what is at an address.
    pub(crate) fn at_id(&self, id: &ReferenceId) -> At {
        let address = self.addresses.get(&id.key());
        address.map_or_else(At::default, |address| self.at[*address])
    }
}

fn type_key(name: &TypeName) -> String {
    name.as_str().to_ascii_lowercase()
}
