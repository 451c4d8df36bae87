use std::collections::{HashMap, HashSet};

use ucp_model::{GroupId, ReferenceId, excerpt};
use ucp_set::address;

use crate::address::in_words;
use crate::body::Body;
use crate::resources::Resources;

/// What a name in a reference means.
pub(crate) enum Meaning<'a> {
    /// What is declared, or is excluded and so stays.
    Resource(usize),
    /// Several of these.
    Ambiguous(&'a [usize]),
    /// What is to be deleted.
    Deleted,
    /// Nothing, for this reason.
    Nothing(String),
}

/// What there is to refer to. Names are read as those of a set are: a symbolic name or an alias in the same group, or an
/// [address](fn@address).
pub(crate) struct Vocabulary<'a> {
    resources: &'a Resources<'a>,
    is_excluded: &'a [bool],
    plane: &'a str,
    /// What is declared, by the keys of the groups and by symbolic name and alias, in lower case.
    declared: ByName,
    /// What is excluded, by alias.
    excluded: ByName,
    /// The keys of what is to be deleted, and of the groups with its names.
    deleted: HashSet<String>,
    deleted_names: HashSet<(String, String)>,
}

type ByName = HashMap<(String, String), Vec<usize>>;

impl<'a> Vocabulary<'a> {
    pub(crate) fn of(
        body: &'a Body,
        resources: &'a Resources<'a>,
        is_excluded: &'a [bool],
    ) -> Self {
        let [mut declared, mut excluded] = [ByName::new(), ByName::new()];
        let key = |id: &ReferenceId, name: &str| (id.group.key(), name.to_lowercase());
        for (resource, it) in resources.all_declared().zip(&body.resources) {
            let known = declared.entry(key(&it.address, &it.address.alias));
            known.or_default().push(resource);
        }
        let mut symbolic = HashSet::new();
        for (resource, it) in resources.all_declared().zip(&body.resources) {
            let Some(name) = &it.symbolic_name else {
                continue;
            };
            // One that has the name of one before it is refused.
            let key = key(&it.address, name);
            if symbolic.insert(key.clone()) {
                let known = declared.entry(key).or_default();
                if !known.contains(&resource) {
                    known.push(resource);
                }
            }
        }
        for resource in resources.all_deployed() {
            let id = resources.id(resource);
            if is_excluded[resource] && resources.at_id(id).declared.is_none() {
                let known = excluded.entry(key(id, &id.alias)).or_default();
                known.push(resource);
            }
        }
        let names = body.deleted.iter().flat_map(|it| {
            let names = [Some(&it.address.alias), it.symbolic_name.as_ref()];
            let names = names.into_iter().flatten();
            names.map(|name| key(&it.address, name))
        });
        Self {
            resources,
            is_excluded,
            plane: body.base.plane(),
            declared,
            excluded,
            deleted_names: names.collect(),
            deleted: body.deleted.iter().map(|it| it.address.key()).collect(),
        }
    }

    /// Returns what a name means in the declaration of a resource in `group`.
    pub(crate) fn meaning(&self, name: &str, group: &GroupId) -> Meaning<'_> {
        let key = (group.key(), name.to_lowercase());
        let mut known = [&self.declared, &self.excluded].into_iter();
        match known.find_map(|known| known.get(&key)).map(Vec::as_slice) {
            Some([one]) => return Meaning::Resource(*one),
            Some(several) => return Meaning::Ambiguous(several),
            None if self.deleted_names.contains(&key) => return Meaning::Deleted,
            None if !name.contains('/') => {
                let name = excerpt(name);
                return Meaning::Nothing(format!(
                    "Nothing of the name '{name}' is declared in the group '{}', and nothing that is excluded has that alias. Refer to something that is.",
                    group.name
                ));
            }
            None => {}
        }
        let id = match address(name, self.plane, Some(group)) {
            Ok(id) => id,
            Err(why) => return Meaning::Nothing(why),
        };
        let at = self.resources.at_id(&id);
        let stays = at.deployed.filter(|deployed| self.is_excluded[*deployed]);
        match at.declared.or(stays) {
            Some(one) => Meaning::Resource(one),
            None if self.deleted.contains(&id.key()) => Meaning::Deleted,
            None => Meaning::Nothing(format!(
                "Nothing is declared at {}, and nothing that is excluded, or in a group that the body does not name, is there. Refer to something that is.",
                in_words(&id)
            )),
        }
    }
}

/// What names in references mean: a resource, if anything. They may differ from group to group.
#[derive(Debug, Default)]
pub(crate) struct Names {
    groups: HashMap<String, usize>,
    group_of: HashMap<usize, usize>,
    known: Vec<HashMap<String, Option<usize>>>,
}

impl Names {
    /// Returns the resource that a name in a reference of `user` means.
    pub(crate) fn get(&self, user: usize, name: &str) -> Option<usize> {
        let group = self.group_of.get(&user)?;
        self.known[*group].get(name).copied().flatten()
    }

    /// Notes the group of a user, by its key, and returns its number.
    pub(crate) fn group(&mut self, user: usize, key: String) -> usize {
        let next = self.known.len();
        let group = *self.groups.entry(key).or_insert(next);
        if group == next {
            self.known.push(HashMap::new());
        }
        self.group_of.insert(user, group);
        group
    }

    /// Returns the resource that a name means in a group, which `find` looks up the first time.
    pub(crate) fn get_or_add(
        &mut self,
        group: usize,
        name: &str,
        find: impl FnOnce() -> Option<usize>,
    ) -> Option<usize> {
        if let Some(known) = self.known[group].get(name) {
            return *known;
        }
        let found = find();
        self.known[group].insert(name.to_owned(), found);
        found
    }
}
