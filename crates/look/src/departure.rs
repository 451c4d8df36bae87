//! What a worker that carries out a plan may do: what was planned, once, or nothing.

use serde_json::{Map, Value};
use ucp_model::operation::{PlanOutcome, Presence, ResourceWork, State};
use ucp_model::{Action, Baseline, Detail, ErrorCode, Failure, Ownership};
use ucp_plan::{
    Plan, Transition, first_departure, first_difference, first_difference_in, settled, taken_back,
};
use ucp_schema::ResourceSchema;

use crate::plan_basis::{ANOTHER_VALUE, digest, live_state_changed};
use crate::{LiveBasis, Mapping, PlanBasis, Planned, PlannedMember, PlannedStep, stale};

const NOT_AS_PLANNED: &str = "AWS shows something else than what was planned.";

impl PlannedMember {
    /// Returns why a worker that carries out the plan must not do what it has found out to be done: it may do what was
    /// planned, or nothing.
    pub fn departed(
        &self,
        work: &ResourceWork,
        baseline: Option<&Baseline>,
        schema: &ResourceSchema,
        presence: &Presence,
        planned: &Planned,
    ) -> Option<Failure> {
        let step = step(&planned.outcome);
        if let State::Submitting(intent) | State::Missing(Some(intent)) = &work.state
            && intent.unanswered > 0
        {
            let is_second = intent.action() != Action::Delete
                && matches!(
                    step,
                    Some(PlannedStep::Create | PlannedStep::Update | PlannedStep::Replace)
                );
            return is_second.then(after_lost_reply);
        }
        if work.replacing.is_some() {
            // One of the two calls of a replacement that was planned.
            return None;
        }
        // What stood in the way of a create may be somebody else's, and look the same.
        let is_in_the_way = matches!(work.state, State::Adopting(_))
            && work.retrying.is_none()
            && !is_ours(work, presence);
        if was_sent(work) && !is_in_the_way && step == Some(PlannedStep::Nothing) {
            // What was sent has come out as planned, although AWS reports an error.
            return None;
        }
        let differences = self.differences(work, baseline, schema, presence, (step, planned));
        if differences.is_empty() {
            None
        } else {
            Some(departure(work, differences))
        }
    }

    fn differences(
        &self,
        work: &ResourceWork,
        baseline: Option<&Baseline>,
        schema: &ResourceSchema,
        presence: &Presence,
        (step, planned): (Option<PlannedStep>, &Planned),
    ) -> Vec<Detail> {
        let Some(live) = LiveBasis::of(presence, schema) else {
            return Vec::new();
        };
        let mut now = PlanBasis {
            mapping: mapping(work),
            last_applied: baseline.map(digest),
            schema: schema.fingerprint().to_owned(),
            live,
        };
        let plan = planned.plan.as_deref();
        if was_sent(work) {
            // The operation has the alias, and notes there what it sends.
            now.mapping = self.basis.mapping.clone();
            now.last_applied = self.basis.last_applied.clone();
            if let (PlannedStep::Create, LiveBasis::Model(found)) = (self.step, &now.live)
                && is_ours(work, presence)
            {
                return self.rest_of_create(found, plan, schema);
            }
            now.live = self.without_what_was_made(now.live);
        }
        let is_compared = work.plan.is_some_and(|used| used.is_compared);
        if is_compared && let (Some(before), LiveBasis::Model(found)) = (self.live(), &now.live) {
            let place = step.and_then(|_| {
                let after = plan.map(|plan| settled(&plan.planned, schema));
                self.departure_from(before, (found, after.as_ref()), baseline)
            });
            now.live = self.basis.live.clone();
            let mut differences = self.basis_differences(&now);
            differences.extend(place.map(|place| live_state_changed(ANOTHER_VALUE, &place)));
            // What an update changes was compared.
            let plan = plan.filter(|_| step != Some(PlannedStep::Update));
            return self.or_step(differences, step, plan, schema);
        }
        // What is gone need not be deleted.
        if step == Some(PlannedStep::Nothing) && self.step == PlannedStep::Delete {
            now.live = self.basis.live.clone();
        }
        self.or_step(self.basis_differences(&now), step, plan, schema)
    }

    /// The differences, or if there are none, those of the change.
    fn or_step(
        &self,
        differences: Vec<Detail>,
        step: Option<PlannedStep>,
        plan: Option<&Plan>,
        schema: &ResourceSchema,
    ) -> Vec<Detail> {
        match step {
            Some(step) if differences.is_empty() => self.step_differences(step, plan, schema),
            Some(_) | None => differences,
        }
    }

    /// Compares what is left to do for a resource that the planned create has made, but not all of it.
    fn rest_of_create(
        &self,
        found: &Value,
        plan: Option<&Plan>,
        schema: &ResourceSchema,
    ) -> Vec<Detail> {
        let nothing = Value::Object(Map::new());
        let place = || {
            let planned = Transition {
                before: &nothing,
                after: self.planned.as_ref()?,
            };
            let rest = Transition {
                before: &taken_back(planned, found),
                after: &settled(&plan?.planned, schema),
            };
            first_departure(planned, rest)
        };
        let place = place().into_iter();
        place
            .map(|place| live_state_changed(NOT_AS_PLANNED, &place))
            .collect()
    }

    /// Returns what AWS shows without what the planned change has made of it.
    fn without_what_was_made(&self, live: LiveBasis) -> LiveBasis {
        match (self.live(), &self.planned, live) {
            (Some(before), Some(after), LiveBasis::Model(found)) => {
                LiveBasis::Model(taken_back(Transition { before, after }, &found))
            }
            (_, _, live) => live,
        }
    }

    /// Returns the live model that it was planned for.
    fn live(&self) -> Option<&Value> {
        match &self.basis.live {
            LiveBasis::Model(live) => Some(live),
            LiveBasis::Absent | LiveBasis::Unreadable | LiveBasis::Unread => None,
        }
    }

    /// Compares what the change of a member concerns, and leaves out what other members of its set may have changed since.
    /// A put must make the same change. What is deleted must be as it was last declared, and in
    /// whole as it was if it was never declared.
    fn departure_from(
        &self,
        before: &Value,
        (found, after): (&Value, Option<&Value>),
        baseline: Option<&Baseline>,
    ) -> Option<String> {
        match self.step {
            PlannedStep::Delete | PlannedStep::Replace => match baseline {
                Some(baseline) => first_difference_in(&baseline.declared, before, found),
                None => first_difference(before, found),
            },
            PlannedStep::Nothing | PlannedStep::Create | PlannedStep::Update => {
                let planned = Transition {
                    before,
                    after: self.planned.as_ref()?,
                };
                let found = Transition {
                    before: found,
                    after: after?,
                };
                first_departure(planned, found)
            }
        }
    }
}

/// Returns whether something of the plan was sent, or is recorded to be.
fn was_sent(work: &ResourceWork) -> bool {
    work.has_recorded_change()
        || work.retrying.is_some()
        || matches!(work.state, State::Adopting(_))
}

/// Returns whether it is proven that the create of the operation has made the resource.
fn is_ours(work: &ResourceWork, presence: &Presence) -> bool {
    let bears_mark = matches!(
        presence,
        Presence::Present {
            ownership: Ownership::Ours | Ownership::Made,
            ..
        }
    );
    work.named || bears_mark
}

fn step(outcome: &PlanOutcome) -> Option<PlannedStep> {
    match outcome {
        PlanOutcome::Create { .. } => Some(PlannedStep::Create),
        PlanOutcome::Update { .. } => Some(PlannedStep::Update),
        PlanOutcome::Replace { .. } => Some(PlannedStep::Replace),
        PlanOutcome::Delete(_) => Some(PlannedStep::Delete),
        PlanOutcome::Nothing => Some(PlannedStep::Nothing),
        PlanOutcome::Impossible(_) => None,
    }
}

/// What the alias stood for when the operation was accepted.
fn mapping(work: &ResourceWork) -> Option<Mapping> {
    work.reference.as_ref()?;
    work.state_before?;
    let identifier = work.spelled.as_ref().or(work.identifier.as_ref());
    Some(Mapping {
        identifier: identifier.filter(|_| work.was_referenced).cloned(),
        owned: work.was_owned || work.gives_up_old,
    })
}

/// Returns the failure of an operation that must not go on with its plan.
pub fn departure(work: &ResourceWork, differences: Vec<Detail>) -> Failure {
    let failure = stale(differences);
    if work.has_recorded_change() {
        let message = "The resource is not in the state any more that the plan was made for. A change was sent before that was seen, and nothing more was. Look at the resource, and ask for a new plan.";
        Failure::new(ErrorCode::StalePlan, message).with_details(failure.details)
    } else {
        failure
    }
}

/// The failure of a change whose reply was lost, and which does not show.
fn after_lost_reply() -> Failure {
    let message = "The reply to the change was lost, and the resource is not as planned. A plan is carried out once, so nothing more was sent. Ask for a new plan, which shows what is left to do.";
    let detail = live_state_changed(NOT_AS_PLANNED, "");
    Failure::new(ErrorCode::StalePlan, message).with_details(vec![detail])
}

#[cfg(test)]
mod tests {
    use serde_json::json;
    use ucp_model::operation::{Call, Change, Intent, Kind};
    use ucp_model::{
        ClientToken, Digest, Identifier, Ownership, PlanId, PlanUse, ProvisioningState, Scope,
        Timestamp, TypeName,
    };
    use ucp_plan::{Action as Planning, Desired, Mode, plan};
    use ucp_schema::Declaration;

    use super::*;

    fn schema() -> ResourceSchema {
        let text = json!({"type": "string"});
        let schema = json!({
            "typeName": "AWS::IAM::Role",
            "description": "A role",
            "properties": {
                "RoleName": text, "Description": text, "Note": text, "Arn": text,
                "Policies": {"type": "array", "insertionOrder": false, "items": {"type": "string"}}
            },
            "additionalProperties": false,
            "primaryIdentifier": ["/properties/RoleName"],
            "readOnlyProperties": ["/properties/Arn"],
            "handlers": { "create": {}, "read": {}, "update": {}, "delete": {}, "list": {} }
        });
        ResourceSchema::parse(&schema.to_string()).unwrap()
    }

    fn desired(declared: &Value) -> Desired {
        let declared = Declaration::stored(declared.clone());
        Desired::new(declared, &schema(), |_, _| Digest::default())
    }

    fn last() -> Baseline {
        desired(&json!({"RoleName": "r", "Description": "before"})).baseline
    }

    fn role(description: &str, policies: &[&str]) -> Value {
        json!({"RoleName": "r", "Description": description, "Arn": "arn", "Policies": policies})
    }

    fn present(live: &Value) -> Presence {
        Presence::Present {
            identifier: Identifier::new("r"),
            live: live.clone(),
            digest: String::new(),
            ownership: Ownership::Unmarked,
        }
    }

    fn plan_id() -> PlanId {
        "6f1b0a6e-7f39-4b27-9f6a-3f4e5a6b7c8d".parse().unwrap()
    }

    fn scope() -> Scope {
        Scope::new("aws", "123456789012", "us-west-2").unwrap()
    }

    fn type_name() -> TypeName {
        TypeName::from_cloudformation("AWS::IAM::Role").unwrap()
    }

    /// What a worker finds to be done with a live resource; `None` for a delete.
    fn found(declared: Option<&Value>, live: &Value) -> Planned {
        let plan = declared.map(|declared| {
            let last = last();
            let live = (!live.is_null()).then_some(live);
            plan(
                &desired(declared),
                Some(&last),
                live,
                &schema(),
                Mode::Merge,
            )
        });
        let identifier = Identifier::new("r");
        let changes = Vec::new();
        let outcome = match plan.as_ref().map(|plan| plan.action) {
            None => PlanOutcome::Delete(identifier),
            Some(Planning::Create) => PlanOutcome::Create {
                identifier: Some(identifier),
                changes,
            },
            Some(Planning::Update) => PlanOutcome::Update {
                identifier,
                changes,
            },
            Some(_) => PlanOutcome::Nothing,
        };
        Planned {
            plan: plan.map(Box::new),
            ..outcome.into()
        }
    }

    /// The plan of such a change.
    fn member(declared: Option<&Value>, live: &Value) -> PlannedMember {
        let planned = found(declared, live);
        let schema = schema();
        PlannedMember {
            scope: scope(),
            type_name: type_name(),
            reference: None,
            moved_from: None,
            name: None,
            identifier: None,
            put: declared.map(|_| ucp_model::operation::Options::default()),
            on_shared: ucp_model::operation::OnShared::default(),
            step: step(&planned.outcome).unwrap(),
            is_remembered: false,
            basis: PlanBasis {
                mapping: None,
                last_applied: Some(digest(&last())),
                schema: schema.fingerprint().to_owned(),
                live: match live {
                    Value::Null => LiveBasis::Absent,
                    live => LiveBasis::Model(settled(live, &schema)),
                },
            },
            planned: planned.plan.map(|plan| settled(&plan.planned, &schema)),
        }
    }

    fn work(is_compared: bool) -> ResourceWork {
        ResourceWork {
            state_before: Some(ProvisioningState::Succeeded),
            plan: Some(PlanUse {
                plan: plan_id(),
                member: Some(0),
                is_compared,
            }),
            ..ResourceWork::new(Kind::Put, scope(), type_name(), Timestamp::from_millis(0))
        }
    }

    /// The codes and targets of why a worker must not do what it finds to be done with `live`.
    fn codes(
        member: &PlannedMember,
        declared: Option<&Value>,
        live: &Value,
        work: &ResourceWork,
    ) -> Vec<(String, String)> {
        let planned = found(declared, live);
        let presence = match live {
            Value::Null => Presence::Absent,
            live => present(live),
        };
        let failure = member.departed(work, Some(&last()), &schema(), &presence, &planned);
        let details = failure.into_iter().flat_map(|failure| failure.details);
        details
            .map(|detail| (detail.code, detail.target.unwrap_or_default()))
            .collect()
    }

    fn changed(place: &str) -> Vec<(String, String)> {
        vec![("LiveStateChanged".to_owned(), format!("/properties{place}"))]
    }

    #[test]
    fn what_differs_is_not_carried_out() {
        let (before, declared) = (role("before", &["a"]), role_of("after"));
        let member = member(Some(&declared), &before);
        let codes =
            |live: &Value, is_compared| codes(&member, Some(&declared), live, &work(is_compared));
        for is_compared in [false, true] {
            assert_eq!(codes(&before, is_compared), []);
            let fixed = role("hot fix", &["a"]);
            assert_eq!(codes(&fixed, is_compared), changed("/Description"));
            assert_eq!(codes(&Value::Null, is_compared), changed(""));
        }
        // What the change leaves as it is, other members of the set may have changed.
        let touched = role("before", &["a", "b"]);
        assert_eq!(codes(&touched, true), []);
        assert_eq!(codes(&touched, false), changed("/Policies"));
    }

    #[test]
    fn another_schema_is_told() {
        let (before, declared) = (role("before", &["a"]), role_of("after"));
        let mut member = member(Some(&declared), &before);
        member.basis.schema = "another one".to_owned();
        for is_compared in [false, true] {
            let work = work(is_compared);
            let codes = codes(&member, Some(&declared), &before, &work);
            assert_eq!(codes, [("SchemaChanged".to_owned(), String::new())]);
        }
    }

    /// A value that was not known may be another one than now. Then it is put, and nothing else is.
    #[test]
    fn what_was_open_may_be_put() {
        let before = role("before", &["a"]);
        let mut open = member(Some(&role_of("before")), &before);
        open.planned.as_mut().unwrap()["Description"] = json!({"$unknown": true});
        for is_compared in [false, true] {
            let codes = |declared: &Value, live: &Value| {
                codes(&open, Some(declared), live, &work(is_compared))
            };
            for description in ["before", "after"] {
                assert_eq!(codes(&role_of(description), &before), []);
            }
            let fixed = role("hot fix", &["a"]);
            assert_eq!(codes(&role_of("after"), &fixed), changed("/Description"));
            let other = json!({"RoleName": "r", "Description": "after", "Note": "after"});
            assert_eq!(codes(&other, &before).len(), 1);
        }
    }

    fn role_of(description: &str) -> Value {
        json!({"RoleName": "r", "Description": description})
    }

    /// A member with nothing to do stays one, whatever has been changed beside what it declares.
    #[test]
    fn what_was_to_stay_is_not_changed() {
        let (before, declared) = (role("before", &["a"]), role_of("before"));
        let member = member(Some(&declared), &before);
        let codes = |live: &Value| codes(&member, Some(&declared), live, &work(true));
        assert_eq!(codes(&role("before", &[])), []);
        assert_eq!(codes(&role("drifted", &["a"])), changed("/Description"));
    }

    #[test]
    fn what_is_deleted_is_as_it_was_declared() {
        let before = role("before", &["a"]);
        let member = member(None, &before);
        let codes = |live: &Value, is_compared| codes(&member, None, live, &work(is_compared));
        assert_eq!(codes(&role("before", &[]), true), []);
        assert_eq!(codes(&role("before", &[]), false), changed("/Policies"));
        for is_compared in [false, true] {
            let fixed = codes(&role("hot fix", &["a"]), is_compared);
            assert_eq!(fixed, changed("/Description"));
        }
    }

    /// Nobody has said of an import what matters.
    #[test]
    fn what_was_never_declared_is_deleted_as_it_was() {
        let (before, found) = (role("before", &["a"]), role("before", &[]));
        let member = member(None, &before);
        let departure = |found: &Value| member.departure_from(&before, (found, None), None);
        assert_eq!(departure(&before), None);
        assert_eq!(departure(&found).as_deref(), Some("/Policies"));
    }

    /// A change whose reply was lost is not planned anew, also not while the resource is looked for.
    #[test]
    fn a_lost_reply_never_leads_to_a_second_patch() {
        let (before, declared) = (role("before", &["a"]), role_of("after"));
        let member = member(Some(&declared), &before);
        let intent = Intent {
            call: Call::Update(Identifier::new("r")),
            client_token: ClientToken(plan_id().0),
            issued_at: Timestamp::from_millis(0),
            base: None,
            unanswered: 1,
        };
        for state in [
            State::Submitting(intent.clone()),
            State::Missing(Some(intent)),
        ] {
            let work = ResourceWork {
                state,
                ..work(false)
            };
            let codes = |live: &Value| codes(&member, Some(&declared), live, &work);
            assert_eq!(codes(&before), changed(""));
            assert_eq!(codes(&role("other", &[])), changed(""));
            assert_eq!(codes(&role("after", &[])), []);
        }
    }

    /// The work after a change was sent, and failed for a reason that passes.
    fn sent(is_compared: bool) -> ResourceWork {
        let change = Change {
            path: "/Description".to_owned(),
            op: "replace".to_owned(),
            conditional: false,
        };
        ResourceWork {
            changes: vec![change],
            ..work(is_compared)
        }
    }

    /// What AWS made in spite of an error is ours, all of it or a part. What it did not make is made again.
    #[test]
    fn what_was_sent_is_no_departure() {
        let model = |description: &str, note: Option<&str>| {
            let mut model = role(description, &["a"]);
            if let Some(note) = note {
                model["Note"] = json!(note);
            }
            model
        };
        let declared = json!({"RoleName": "r", "Description": "after", "Note": "after"});
        let member = member(Some(&declared), &model("before", None));
        for is_compared in [false, true] {
            let codes =
                |live: &Value, work: &ResourceWork| codes(&member, Some(&declared), live, work);
            let sent = sent(is_compared);
            for (description, note) in [
                ("after", Some("after")),
                ("after", None),
                ("before", Some("after")),
                ("before", None),
            ] {
                assert_eq!(codes(&model(description, note), &sent), []);
            }
            let fixed = model("hot fix", Some("after"));
            assert_eq!(codes(&fixed, &sent), changed("/Description"));
            let fixed = model("after", Some("hot fix"));
            assert_eq!(codes(&fixed, &sent), changed("/Note"));
            assert_eq!(codes(&Value::Null, &sent), changed(""));
            // Before anything was sent, nobody but the plan was to change it.
            let place = changed("/Description");
            assert_eq!(codes(&model("after", None), &work(is_compared)), place);
        }
        let mut touched = model("after", None);
        touched["Policies"] = json!(["b"]);
        let codes = |is_compared| codes(&member, Some(&declared), &touched, &sent(is_compared));
        assert_eq!(codes(false), changed("/Policies"));
        assert_eq!(codes(true), []);
    }

    /// The rest of a create that AWS did not carry out to its end is made, if the resource is ours.
    #[test]
    fn what_a_create_has_made_is_no_departure() {
        let declared = json!({"RoleName": "r", "Description": "after", "Note": "after"});
        let member = member(Some(&declared), &Value::Null);
        let made = |description: &str, note: Option<&str>| match note {
            Some(note) => json!({"RoleName": "r", "Description": description, "Note": note}),
            None => json!({"RoleName": "r", "Description": description, "Policies": []}),
        };
        let codes = |live: &Value, named| {
            let work = ResourceWork {
                created: true,
                named,
                ..work(false)
            };
            codes(&member, Some(&declared), live, &work)
        };
        for named in [false, true] {
            assert_eq!(codes(&made("after", Some("after")), named), []);
            assert_eq!(codes(&Value::Null, named), []);
        }
        assert_eq!(codes(&made("after", None), true), []);
        assert_eq!(codes(&made("after", None), false), changed(""));
        let other = made("other", Some("after"));
        assert_eq!(codes(&other, true), changed("/Description"));
        assert_eq!(codes(&other, false), changed(""));
    }

    /// Somebody else may have made the same under the name meanwhile.
    #[test]
    fn what_stands_in_the_way_of_a_create_is_a_departure_unless_it_is_ours() {
        let declared = json!({"RoleName": "r", "Description": "after"});
        let member = member(Some(&declared), &Value::Null);
        let codes = |named| {
            let taken = Failure::new(ErrorCode::AlreadyExists, "taken");
            let work = ResourceWork {
                named,
                state: State::Adopting(taken),
                ..work(false)
            };
            codes(&member, Some(&declared), &declared, &work)
        };
        assert_eq!(codes(false), changed(""));
        assert_eq!(codes(true), []);
    }

    /// A create that has found the name taken, or has left something, has sent a change.
    #[test]
    fn it_is_told_whether_something_was_sent() {
        let declared = role_of("after");
        let member = member(Some(&declared), &Value::Null);
        let live = role("other", &[]);
        for (created, told) in [(false, "Nothing was sent."), (true, "nothing more was")] {
            let work = ResourceWork {
                created,
                ..work(false)
            };
            let planned = found(Some(&declared), &live);
            let (schema, live) = (schema(), present(&live));
            let failure = member.departed(&work, Some(&last()), &schema, &live, &planned);
            let message = failure.unwrap().message;
            assert!(message.contains(told), "{message}");
            assert_eq!(message.contains("Nothing was sent."), !created, "{message}");
        }
    }
}
