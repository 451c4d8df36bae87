use std::collections::HashMap;

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
