//! The end of a world, and what must be true then.

use std::time::Duration;

use serde_json::{Value, json};
use ucp_model::{CallClass, ProvisioningState, Reference};
use ucp_simulator::Action;

use super::alias::{
    ALIASES, Alias, ELSEWHERE, NAMES, RENAMED, RENAMING_GROUP, REPLACED, ROLES, role,
};
use super::coverage::Coverage;
use super::play::{Play, is_of};
use super::story::{Act, Wish};
use crate::place::REGION;
use crate::world::path_of;

/// How many calls of a class may come before their time: what the bucket holds, what processes have taken ahead, what their
/// clocks are apart, and the second calls of operations, which are taken from the bucket afterwards.
fn owed_max(class: CallClass) -> f64 {
    match class {
        CallClass::Mutations => 7.0,
        CallClass::Reads => 10.0,
    }
}

/// The class of a call; `None` for those that have no budget.
fn class_of(call: Action) -> Option<CallClass> {
    match call {
        Action::CreateResource | Action::UpdateResource | Action::DeleteResource => {
            Some(CallClass::Mutations)
        }
        Action::GetResource
        | Action::ListResources
        | Action::GetResourceRequestStatus
        | Action::ListResourceRequests => Some(CallClass::Reads),
        _ => None,
    }
}

impl Play<'_> {
    /// Lifts the faults, lets everything end, and checks what must be true then.
    pub(super) async fn end(mut self) -> Coverage {
        self.spare().await;
        self.resolve().await;
        self.tell(|| "everything is decided".to_owned());
        self.check_references().await;
        self.check_standing().await;
        self.check_ceilings();
        let ended = self.ended().await;
        self.check_deletes(&ended);
        let results = self.world().accepted().await;
        for alias in ALIASES {
            let references = self.references().await;
            let known = references.iter().find(|reference| is_of(reference, alias));
            if known.is_some_and(|it| it.provisioning_state != ProvisioningState::Unknown) {
                self.put_once_more(alias).await;
            }
        }
        self.rename_once_more().await;
        self.replace_once_more().await;
        self.apply_once_more().await;
        self.share_role_once_more().await;
        self.deprovision_once_more().await;
        self.check_references().await;
        self.check_standing().await;
        let again = self.world().accepted().await;
        let is_same = results.iter().all(|result| again.contains(result));
        assert!(is_same, "what has ended has changed: {results:?} {again:?}");
        let coverage = self.coverage().clone();
        let (world, _dead) = self.close();
        world.finish().await;
        coverage
    }

    /// What came of every create is found out, except for one of a name that somebody else may have used.
    async fn resolve(&mut self) {
        for _ in 0..8 {
            if self.world().store.count_leftovers(1).await.unwrap_or(1) == 0 {
                break;
            }
            self.world().clock.advance(Duration::from_secs(6 * 3600));
            self.keep_anywhere().await;
            self.settle().await;
        }
        for reference in self.references().await {
            let is_unknown = reference.provisioning_state == ProvisioningState::Unknown;
            let target = reference.target();
            let is_decidable =
                !target.is_some_and(|target| NAMES.contains(&target.identifier.as_str()));
            assert!(!is_unknown || !is_decidable, "undecided: {reference:?}");
        }
    }

    /// Every accepted operation ends. Returns their statuses.
    async fn ended(&self) -> Vec<Value> {
        let mut statuses = Vec::new();
        for asked in self.asked() {
            let Some(url) = asked.accepted() else {
                continue;
            };
            let reply = self.world().get(path_of(url)).await;
            assert_eq!(reply.status, 200, "it is lost: {url} {}", reply.text);
            let status = reply.body["status"].as_str().unwrap_or_default();
            let has_ended = matches!(status, "Succeeded" | "Failed" | "Canceled");
            assert!(has_ended, "does not end: {}", reply.text);
            statuses.push(reply.body);
        }
        statuses
    }

    /// AWS is called no faster than the operator says, in the long run.
    fn check_ceilings(&self) {
        let ceilings = self.story().pace.ceilings().into_iter();
        let ceilings = ceilings.flat_map(|it| [REGION, ELSEWHERE].map(|region| (region, it)));
        for (region, (class, per_second)) in ceilings {
            let mut log = self.world().aws.log();
            log.retain(|entry| entry.region == region && class_of(entry.operation) == Some(class));
            log.sort_by_key(|entry| entry.time);
            let Some(first) = log.first() else { continue };
            let (mut owed, mut settled_at) = (0.0_f64, first.time);
            for entry in &log {
                let paid = entry.time.since(settled_at).as_secs_f64() * per_second;
                owed = (owed - paid).max(0.0) + 1.0;
                settled_at = entry.time;
                let at = entry.time;
                assert!(
                    owed <= owed_max(class),
                    "too fast: {owed} {class:?} too early, at {at}"
                );
            }
        }
    }

    /// What a successful delete was of is gone.
    fn check_deletes(&self, ended: &[Value]) {
        let resources = self.world().aws.resources();
        let accepted = self.asked().iter().filter(|it| it.accepted().is_some());
        for (asked, status) in accepted.zip(ended) {
            let is_there = resources
                .iter()
                .any(|resource| asked.deletes.as_ref() == Some(&resource.identifier));
            let is_deleted = status["status"] == "Succeeded";
            assert!(!(is_there && is_deleted), "deleted, and there: {status}");
        }
    }

    /// A complete set can be applied under either alias, and one reference stands for what it lists.
    async fn rename_once_more(&mut self) {
        let mut asked = self.asked().iter();
        if !asked.any(|asked| matches!(asked.what, Wish::Rename { .. })) {
            return;
        }
        for to in ["a", "b"] {
            let rename = Wish::Rename {
                to: to.to_owned(),
                complete: true,
                release: false,
            };
            let is_renamed = |it: &&Reference| {
                let target = it.target();
                it.id.group.name == RENAMING_GROUP
                    && target.is_some_and(|target| target.identifier.as_str() == RENAMED)
            };
            let references = self.references().await;
            let standing = references.iter().filter(is_renamed).count();
            let reply = self.answer(&rename).await;
            // Several aliases may stand for it: then it is not told which is meant to go.
            if standing > 1 && reply.status == 400 && reply.text.contains("ResourceShared") {
                continue;
            }
            assert!(matches!(reply.status, 200 | 202), "{}", reply.text);
            self.settle().await;
            if reply.status == 202 {
                let status = self.world().status(&reply).await;
                assert_eq!(status["status"], "Succeeded", "rename once more: {status}");
            }
            let references = self.references().await;
            let of_group = references
                .iter()
                .filter(|it| it.id.group.name == RENAMING_GROUP);
            let aliases: Vec<&str> = of_group.map(|it| it.id.alias.as_str()).collect();
            let owner = references.iter().filter(is_renamed).find(|it| it.owned);
            // What is not owned, and listed no more, stays under its alias.
            assert!(aliases.contains(&to), "{aliases:?} without {to}");
            assert!(owner.is_none_or(|it| it.id.alias == to), "{references:?}");
        }
    }

    /// A topic can be replaced, if the old one goes first: the new one has its name.
    async fn replace_once_more(&mut self) {
        let mut asked = self.asked().iter();
        let references = self.references().await;
        let known = references.iter().find(|it| is_of(it, REPLACED));
        let is_unknown =
            known.is_some_and(|it| it.provisioning_state == ProvisioningState::Unknown);
        if is_unknown || !asked.any(|asked| matches!(asked.what, Wish::Replace { .. })) {
            return;
        }
        for (fifo, create_first) in [(true, false), (false, true), (false, false)] {
            let replace = Wish::Replace { fifo, create_first };
            let status = self.status_of(&replace).await;
            let expected = if create_first { "Failed" } else { "Succeeded" };
            assert_eq!(status, expected, "replace once more: {fifo} {create_first}");
            let live = self.world().aws.resources();
            let mut topics = live
                .iter()
                .filter(|it| it.type_name == REPLACED.type_name());
            let topic = topics.next().expect("a topic stands");
            // Unless it was replaced, it is as it was.
            assert_eq!(topic.properties["FifoTopic"], fifo != create_first);
        }
    }

    /// A set can be applied, whatever its documents refer to, and then nothing differs.
    async fn apply_once_more(&mut self) {
        let mut asked = self.asked().iter().rev().map(|asked| &asked.what);
        let last = asked
            .find(|what| matches!(what, Wish::Apply { .. }))
            .cloned();
        let Some(apply) = last else {
            return;
        };
        // What is in a VPC goes with it, and cannot be put into another one.
        let mut asked = self.asked().iter();
        let goes = |act: &Act| matches!(act, Act::Vanish(_));
        let is_undecided = |it: &Reference| it.provisioning_state == ProvisioningState::Unknown;
        if asked.any(|asked| matches!(asked.what, Wish::DeleteVpc(_)))
            || self.story().acts.iter().any(goes)
            || self.references().await.iter().any(is_undecided)
        {
            return;
        }
        assert_eq!(self.status_of(&apply).await, "Succeeded", "apply once more");
        let mutations = |play: &Self| {
            let aws = &play.world().aws;
            aws.count(|entry| class_of(entry.operation) == Some(CallClass::Mutations))
        };
        let before = mutations(self);
        assert_eq!(self.status_of(&apply).await, "Succeeded", "apply it again");
        assert_eq!(mutations(self), before, "an apply again changes something");
    }

    /// A role can be put from both regions, and is one. It is not deleted from one of them while the other one declares it.
    async fn share_role_once_more(&mut self) {
        let mut asked = self.asked().iter();
        let is_role = |it: &Reference| ROLES.iter().any(|role| is_of(it, *role));
        let mut references = self.references().await;
        references.retain(is_role);
        let mut states = references.iter().map(|it| it.provisioning_state);
        if !asked.any(|asked| matches!(asked.what, Wish::PutRole { .. }))
            || states.any(|state| state == ProvisioningState::Unknown)
        {
            return;
        }
        for elsewhere in [false, true] {
            let status = self.status_of(&Wish::PutRole { elsewhere }).await;
            assert_eq!(status, "Succeeded", "put the role once more: {elsewhere}");
        }
        let mut live = self.world().aws.resources();
        live.retain(|it| Some(it.identifier.as_str()) == role(false).mark);
        assert_eq!(live.len(), 1, "a role of each region: {live:?}");
        let mut references = self.references().await;
        references.retain(|it| is_role(it) && it.owned);
        assert_eq!(references.len(), 1, "owners of a role: {references:?}");
        let elsewhere = is_of(&references[0], role(true));
        let reply = self.answer(&Wish::DropRole { elsewhere }).await;
        assert_eq!(reply.status, 409, "a shared role goes: {}", reply.text);
    }

    /// Sends a request, and returns what came of it.
    async fn status_of(&mut self, what: &Wish) -> String {
        let reply = self.answer(what).await;
        if reply.status == 200 {
            return "Succeeded".to_owned();
        }
        assert!(
            matches!(reply.status, 201 | 202),
            "{what:?}: {}",
            reply.text
        );
        self.settle().await;
        let status = self.world().status(&reply).await;
        self.tell(|| format!("  {status}"));
        status["status"].as_str().unwrap_or_default().to_owned()
    }

    /// The last declaration of an alias can be put, and then nothing differs.
    async fn put_once_more(&mut self, alias: Alias) {
        let properties = match self.declared.get(&alias) {
            Some(properties) => properties.clone(),
            None => match alias.mark {
                None => json!({"EnableDnsSupport": true}),
                Some(mark) => json!({alias.marked(): mark}),
            },
        };
        let put = Wish::Put {
            alias,
            properties: properties.clone(),
            owned: false,
        };
        let reply = self.answer(&put).await;
        if reply.status != 200 {
            let reply = reply.expect(201);
            self.settle().await;
            let status = self.world().status(&reply).await;
            assert_eq!(status["status"], "Succeeded", "put once more: {status}");
        }
        self.answer(&put).await.expect(200);
        let references = self.references().await;
        let reference = references.iter().find(|reference| is_of(reference, alias));
        let reference = reference.expect("it is tracked");
        let target = reference.target().expect("it stands for something");
        let resources = self.world().aws.resources();
        let live = resources.iter().find(|resource| {
            resource.type_name == alias.type_name()
                && resource.identifier == target.identifier.as_str()
        });
        let live = &live.expect("it exists").properties;
        let declared = properties.as_object().expect("properties");
        for (name, value) in declared.iter().filter(|(name, _)| *name != "SecretString") {
            let mut live = live[name].clone();
            if let Some(tags) = live.as_array_mut() {
                // Another alias may have declared others.
                let declared = value.as_array().map(Vec::as_slice).unwrap_or_default();
                tags.retain(|tag| declared.contains(tag));
            }
            let restated = value.as_str().map(|text| format!("{text}."));
            let is_restated = restated.is_some() && live.as_str() == restated.as_deref();
            assert!(
                live == *value || is_restated,
                "{name} is not as declared: {live}, {value}"
            );
        }
    }
}
