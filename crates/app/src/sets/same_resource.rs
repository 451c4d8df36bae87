//! What the members of a set do with one AWS resource: only one of them may have it.

use std::collections::{BTreeMap, BTreeSet};

use ucp_model::operation::ReplacementPolicy;
use ucp_model::{Detail, Identifier};

use crate::changes::{ChangeGoal, ChangeMember, CustomName};

/// What a set does with a resource.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Use {
    /// It declares it.
    Declares,
    /// It deletes it.
    Deletes,
    /// It deletes it, unless others stand for it.
    Releases,
    /// It replaces it by another one.
    Replaces,
}

/// Returns the resources that a member is about, as far as they are known before AWS is asked: the one that a put declares, and
/// the one that its reference stands for, which it may replace by that. Two that differ in letter case only may be one.
fn uses(member: &ChangeMember) -> Vec<(Use, &Identifier)> {
    let recorded = member.recorded.as_ref();
    let ChangeGoal::Put(put) = &member.goal else {
        let deletes = if member.on_shared().refuses() {
            Use::Deletes
        } else {
            Use::Releases
        };
        return recorded.map(|it| (deletes, it)).into_iter().collect();
    };
    let declared = member.declared.as_ref();
    let is_other = |it: &&Identifier| declared.is_some_and(|declared| declared != *it);
    let folded = |it: &Identifier| it.as_str().to_lowercase();
    let replaced = match (recorded.filter(is_other), declared) {
        (Some(recorded), Some(declared)) if folded(recorded) == folded(declared) => {
            Some((Use::Declares, recorded))
        }
        (Some(recorded), _) => {
            let replaces = put.options.replacement_policy != ReplacementPolicy::Refuse;
            replaces.then_some((Use::Replaces, recorded))
        }
        (None, _) => None,
    };
    let declared = declared.or(recorded).map(|it| (Use::Declares, it));
    declared.into_iter().chain(replaced).collect()
}

/// Returns what is wrong with members that are about one AWS resource: two declare it, or one does that another one deletes.
pub(super) fn one_for_each(members: &[ChangeMember]) -> Vec<Detail> {
    let mut first: BTreeMap<String, (Use, &ChangeMember)> = BTreeMap::new();
    let mut details = Vec::new();
    for member in members {
        for (used, name) in uses(member) {
            let key = member.key_of(name);
            let Some((other_used, other)) = first.get(&key).copied() else {
                first.insert(key, (used, member));
                continue;
            };
            let is_right = match (other_used, used) {
                // Of several that stand for what is deleted, those that own nothing are forgotten first.
                (Use::Deletes | Use::Releases, Use::Deletes | Use::Releases) => true,
                // The put comes first. It stands for the resource then, or if it fails, what it may be about is kept.
                (Use::Releases, Use::Declares) => member.can_stand_for(name),
                (Use::Declares, Use::Releases) => other.can_stand_for(name),
                (Use::Releases, Use::Replaces) | (Use::Replaces, Use::Releases) => true,
                (Use::Declares | Use::Replaces, Use::Declares | Use::Replaces | Use::Deletes)
                | (Use::Deletes, Use::Declares | Use::Replaces) => false,
            };
            if !is_right {
                let (code, message) = met_twice((other_used, other), (used, member), name.as_str());
                let both = [other, member];
                details.extend(both.map(|it| Detail::at(code, message.clone(), it.target())));
            }
            if other_used == Use::Releases {
                first.insert(key, (used, member));
            }
        }
    }
    details.extend(same_names(members));
    details
}

/// Notes which members give up what another one declares. What a put may replace by a resource that AWS names does not count.
pub(super) fn note_declared(members: &mut [ChangeMember]) {
    let stays = |member: &&ChangeMember| match &member.goal {
        ChangeGoal::Put(put) => {
            let may_replace = put.options.replacement_policy != ReplacementPolicy::Refuse;
            member.declared.is_some() || !may_replace
        }
        ChangeGoal::Delete(_) | ChangeGoal::DeleteOwned(..) => false,
    };
    let used = members.iter().filter(stays).flat_map(|member| {
        let uses = uses(member).into_iter();
        uses.map(|(used, name)| (used, member.key_of(name)))
    });
    let declared = used.filter(|(used, _)| *used == Use::Declares);
    let declared: BTreeSet<String> = declared.map(|(_, key)| key).collect();
    for member in members {
        let mut uses = uses(member).into_iter();
        member.is_declared = uses
            .any(|(used, name)| used == Use::Releases && declared.contains(&member.key_of(name)));
    }
}

/// Returns what is wrong with members of which one declares the name that another one, which is deleted, was made with: AWS has
/// such a name once, although the identifier is another.
fn same_names(members: &[ChangeMember]) -> Vec<Detail> {
    let key = |member: &ChangeMember, name: &CustomName| {
        let type_name = &member.reference.type_name;
        let place = member.scope.place_of(type_name);
        let type_name = type_name.as_str().to_ascii_lowercase();
        format!("{place}/{type_name}/{}", name.fixed)
    };
    let goes = members.iter().filter_map(|member| {
        let is_put = matches!(member.goal, ChangeGoal::Put(_));
        let name = member.custom_name.as_ref().filter(|_| !is_put)?;
        Some((key(member, name), member))
    });
    let goes: BTreeMap<String, &ChangeMember> = goes.collect();
    let comes = members
        .iter()
        .filter(|member| matches!(member.goal, ChangeGoal::Put(_)) && !member.has_reference);
    let mut details = Vec::new();
    for member in comes {
        let Some(name) = &member.custom_name else {
            continue;
        };
        let Some(other) = goes.get(&key(member, name)) else {
            continue;
        };
        let (code, message) = met_twice((Use::Deletes, other), (Use::Declares, member), &name.name);
        details.extend([*other, member].map(|it| Detail::at(code, message.clone(), it.target())));
    }
    details
}

/// Returns the code and the message for two members that are about one resource.
fn met_twice(
    (other_used, other): (Use, &ChangeMember),
    (used, member): (Use, &ChangeMember),
    name: &str,
) -> (&'static str, String) {
    let is_put = |used: Use| used == Use::Declares;
    match (is_put(other_used), is_put(used)) {
        (true, true) => (
            "SameResource",
            format!(
                "'{}' and '{}' declare one resource, '{name}', and each would undo what the other one declares. Leave one of them out, or give it another name.",
                other.symbolic_name, member.symbolic_name
            ),
        ),
        (false, false) => (
            "SameResource",
            format!(
                "'{}' and '{}' stand for one resource, '{name}', which only one of them can delete. Leave one of them out.",
                other.symbolic_name, member.symbolic_name
            ),
        ),
        (true, false) | (false, true) => {
            let (stays, (goes_by, goes)) = if is_put(other_used) {
                (other, (used, member))
            } else {
                (member, (other_used, other))
            };
            let (what, advice) = match (goes_by, goes.place.is_empty()) {
                (Use::Replaces, _) => (
                    "replaced",
                    format!(
                        "Apply '{}' first, and then the whole set",
                        goes.symbolic_name
                    ),
                ),
                (Use::Declares | Use::Deletes | Use::Releases, true) => (
                    "deleted",
                    format!(
                        "If '{}' is its new alias, move the reference with :refactor, and apply then. Or give the old one up, with :release or with onShared release in the set, if the new one stands already",
                        stays.symbolic_name
                    ),
                ),
                (Use::Declares | Use::Deletes | Use::Releases, false) => {
                    ("deleted", "Leave one of them out".to_owned())
                }
            };
            let message = format!(
                "'{}' declares the resource '{name}', which would be {what}, since '{}' stands for it. {advice}.",
                stays.symbolic_name, goes.symbolic_name
            );
            ("ResourceShared", message)
        }
    }
}
