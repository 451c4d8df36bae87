//! What holds of all parameters that are accepted.

#![expect(
    clippy::unwrap_used,
    reason = "the helpers are test code too, which panics on failure"
)]

use std::collections::{BTreeMap, BTreeSet};
use std::sync::LazyLock;

use proptest::prelude::*;
use serde_json::{Map, Value, json};
use ucp_offerings::{
    Context, Edge, Offering, Offerings, Plan, Randoms, Refusal, Resource, SourceFile,
};
use ucp_schema::Catalogue;

static OFFERINGS: LazyLock<Offerings> = LazyLock::new(|| {
    let (name, text) = ("rich.toml".to_owned(), include_str!("rich.toml").to_owned());
    match Offerings::read(&[SourceFile { name, text }], &Catalogue::embedded()) {
        Ok(offerings) => offerings,
        Err(problems) => panic!("{problems:#?}"),
    }
});

fn offering() -> &'static Offering {
    OFFERINGS.offering("rich").unwrap()
}

fn plan(id: &str) -> &'static Plan {
    offering().plan(id).unwrap()
}

fn object(value: Value) -> Map<String, Value> {
    value.as_object().cloned().unwrap()
}

fn randoms() -> Randoms {
    let texts = [("password", "pw"), ("own", "ow")];
    Randoms(BTreeMap::from(
        texts.map(|(name, text)| (name.to_owned(), text.to_owned())),
    ))
}

fn instance(plan: &Plan, parameters: &Map<String, Value>) -> BTreeMap<String, Value> {
    let context = Context {
        instance_id: "i".to_owned(),
        space_guid: "space".to_owned(),
        ..Context::default()
    };
    let resources = plan.instance(&context, parameters, &randoms()).unwrap();
    let named = |one: Resource| (one.name, Value::Object(one.properties));
    resources.into_iter().map(named).collect()
}

/// Texts, among them such as look like names and references.
fn text() -> impl Strategy<Value = String> {
    let word = prop_oneof![
        Just("((instance_id))"),
        Just("(("),
        Just("))"),
        Just("((!"),
        Just("$reference"),
        Just("((parameters/label))"),
        Just("((bucket/Arn))"),
        Just("é"),
        Just("a"),
        Just("/"),
        Just(" "),
    ];
    prop::collection::vec(word, 1..5).prop_map(|words| words.concat())
}

fn any_value() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        (-2i64..20).prop_map(Value::from),
        Just(json!(1.5)),
        text().prop_map(Value::from),
    ];
    let name = prop_oneof![
        8 => text(),
        1 => Just("$reference".to_owned()), 1 => Just("$concat".to_owned()), 1 => Just("$unknown".to_owned()),
    ];
    leaf.prop_recursive(3, 12, 4, move |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
            prop::collection::vec((name.clone(), inner), 0..4)
                .prop_map(|members| Value::Object(members.into_iter().collect())),
        ]
    })
}

const NAMES: [&str; 10] = [
    "label", "nothing", "days", "flag", "free", "status", "policy", "display", "path", "user",
];

/// Parameters that are often valid.
fn given() -> impl Strategy<Value = Map<String, Value>> {
    let member = |name: &'static str| {
        let right: BoxedStrategy<Value> = match name {
            "days" => (1i64..20).prop_map(Value::from).boxed(),
            "flag" => any::<bool>().prop_map(Value::from).boxed(),
            "status" => prop_oneof![Just(json!("Enabled")), Just(json!("Suspended"))].boxed(),
            "free" | "policy" => any_value()
                .prop_filter("composed", |value| value.is_object())
                .boxed(),
            "path" => prop_oneof![Just(json!("/a/")), Just(json!("/((region))/"))].boxed(),
            "user" => prop_oneof![4 => Just(json!("u")), 1 => text().prop_map(Value::from)].boxed(),
            _ => text().prop_map(Value::from).boxed(),
        };
        let value = prop_oneof![20 => right, 1 => any_value()];
        prop::option::weighted(if name == "days" { 0.95 } else { 0.5 }, value)
            .prop_map(move |value| (name.to_owned(), value))
    };
    let members: Vec<_> = NAMES.into_iter().map(member).collect();
    members.prop_map(|members| {
        let members = members.into_iter();
        members
            .filter_map(|(name, value)| Some((name, value?)))
            .collect()
    })
}

fn holds_reserved(value: &Value) -> bool {
    match value {
        Value::Object(members) => members.iter().any(|(name, value)| {
            ["$reference", "$concat", "$unknown"].contains(&name.as_str()) || holds_reserved(value)
        }),
        Value::Array(elements) => elements.iter().any(holds_reserved),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => false,
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 2_000, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn what_is_accepted_is_declared_as_it_is(given in given()) {
        let plan = plan("all");
        let judged = plan.judge_create(&given);
        let is_reserved = given.values().any(holds_reserved);
        let Ok(parameters) = judged else {
            // What is refused is wrong in some way: the members that this test knows to be right are not.
            let right = object(json!({"days": 1}));
            prop_assert!(plan.judge_create(&right).is_ok());
            return Ok(());
        };
        prop_assert!(!is_reserved, "{given:?}");
        for (name, value) in &given {
            let expected = if value.is_null() { None } else { Some(value) };
            let default = ["flag", "status", "display"].contains(&name.as_str());
            prop_assert!(parameters.get(name) == expected || value.is_null() && default);
        }
        let resources = instance(plan, &parameters);
        for (name, resource, place) in [
            ("status", "bucket", "/VersioningConfiguration/Status"),
            ("policy", "topic", "/DataProtectionPolicy"),
            ("display", "topic", "/DisplayName"),
            ("user", "user", "/UserName"),
            ("label", "bucket", "/BucketName"),
            ("nothing", "bucket", "/LifecycleConfiguration/Rules/0/Prefix"),
            ("days", "bucket", "/LifecycleConfiguration/Rules/0/ExpirationInDays"),
            ("flag", "topic", "/FifoTopic"),
        ] {
            prop_assert_eq!(resources[resource].pointer(place), parameters.get(name), "{}", name);
        }
        let path = parameters.get("path").cloned().unwrap_or_else(|| json!("/p/"));
        prop_assert_eq!(&resources["user"]["Path"], &path);
        let tag = &resources["bucket"]["Tags"][0];
        match parameters.get("label").and_then(Value::as_str) {
            Some(label) => prop_assert_eq!(&tag["Value"], &json!(format!("x-{label}-i"))),
            None => prop_assert_eq!(tag, &json!({"Key": "a"})),
        }
        prop_assert_eq!(&resources["bucket"]["Tags"][1]["Value"], "((not)) a name))");
        let topic = parameters.get("free").map(|free| json!(format!("n-{}-{free}", parameters["days"])));
        prop_assert_eq!(resources["topic"].get("TopicName"), topic.as_ref());
    }

    #[test]
    fn an_update_of_nothing_changes_nothing(given in given()) {
        let plan = plan("all");
        let Ok(parameters) = plan.judge_create(&given) else { return Ok(()) };
        prop_assert_eq!(plan.judge_create(&parameters), Ok(parameters.clone()));
        for asked in [&Map::new(), &parameters, &given] {
            prop_assert_eq!(plan.judge_update(plan, false, &parameters, asked), Ok(None));
            let brought_up = plan.judge_update(plan, true, &parameters, asked);
            prop_assert_eq!(brought_up, Ok(Some(parameters.clone())));
        }
    }

    /// After an update the parameters are those of a creation, and nothing changes that is not asked to.
    #[test]
    fn an_update_leads_to_what_a_creation_accepts(before in given(), asked in given()) {
        let plan = plan("all");
        let Ok(before) = plan.judge_create(&before) else { return Ok(()) };
        match plan.judge_update(plan, false, &before, &asked) {
            Ok(None) => {
                let brought_up = plan.judge_update(plan, true, &before, &asked);
                prop_assert_eq!(brought_up, Ok(Some(before)));
            }
            Ok(Some(after)) => {
                prop_assert_ne!(&after, &before);
                prop_assert_eq!(plan.judge_create(&after), Ok(after.clone()));
                for name in NAMES {
                    if !asked.contains_key(name) {
                        prop_assert_eq!(after.get(name), before.get(name));
                    }
                    if !["status", "policy", "display", "path"].contains(&name) {
                        prop_assert_eq!(after.get(name), before.get(name));
                    }
                }
            }
            Err(Refusal::NotUpdatable(names)) => {
                for name in names {
                    prop_assert!(asked.contains_key(&name) && asked.get(&name) != before.get(&name));
                }
            }
            Err(Refusal::Invalid(objections)) => prop_assert!(!objections.is_empty()),
        }
    }
}

/// How often the properties above look at something.
#[test]
fn most_drawn_parameters_are_accepted() {
    let mut runner = proptest::test_runner::TestRunner::deterministic();
    let strategy = given();
    let mut accepted = 0;
    for _ in 0..300 {
        let given =
            proptest::strategy::ValueTree::current(&strategy.new_tree(&mut runner).unwrap());
        accepted += usize::from(plan("all").judge_create(&given).is_ok());
    }
    assert!((60..290).contains(&accepted), "{accepted}");
}

#[test]
fn what_callers_bring_is_never_an_expression() {
    let given = object(json!({
        "days": 1, "free": [{"a": {"$unknown": true}}], "policy": {"x/y": {"$concat": []}}, "label": "((region))",
    }));
    let objections = plan("all").judge_create(&given).unwrap_err();
    let told: Vec<String> = objections.iter().map(ToString::to_string).collect();
    assert_eq!(
        told,
        [
            "`/free/0/a` must not have the member `$unknown`",
            "`/policy/x~1y` must not have the member `$concat`",
        ]
    );
}

#[test]
fn an_update_follows_the_rules_of_a_patch() {
    let (all, same, few) = (plan("all"), plan("same"), plan("few"));
    let current = object(
        json!({"label": "l", "days": 3, "flag": false, "status": "Enabled", "display": "x"}),
    );
    let update = |to: &Plan, given: Value| {
        let updated = all.judge_update(to, true, &current, &object(given));
        updated.map(|parameters| Value::Object(parameters.expect("a change")))
    };
    let with = |changes: Value| {
        let mut after = current.clone();
        after.extend(object(changes));
        Ok(Value::Object(after))
    };
    let fixed = |names: &[&str]| {
        Err(Refusal::NotUpdatable(
            names.iter().map(|name| (*name).to_owned()).collect(),
        ))
    };
    let invalid = |given: Result<Value, Refusal>| match given {
        Err(Refusal::Invalid(objections)) => objections
            .iter()
            .map(ToString::to_string)
            .collect::<Vec<_>>(),
        other => panic!("{other:?}"),
    };
    assert_eq!(
        update(all, json!({"status": "Suspended"})),
        with(json!({"status": "Suspended"}))
    );
    // `null` is back to the default.
    assert_eq!(
        update(all, json!({"status": null, "display": null})),
        with(json!({"status": "Suspended", "display": "d"}))
    );
    assert_eq!(
        update(same, json!({"status": null})),
        with(json!({"status": "Enabled"}))
    );
    assert_eq!(update(all, json!({"flag": null})), with(json!({})));
    // What does not change need not be updatable, what does must.
    assert_eq!(
        update(all, json!({"days": 3, "label": "l"})).map(|after| after["label"].clone()),
        Ok(json!("l"))
    );
    assert_eq!(
        update(all, json!({"days": 4, "flag": true})),
        fixed(&["days", "flag"])
    );
    assert_eq!(update(all, json!({"label": null})), fixed(&["label"]));
    assert_eq!(update(all, json!({"user": "u"})), fixed(&["user"]));
    // What is invalid is told first.
    assert_eq!(
        invalid(update(all, json!({"days": 0, "colour": 1, "flag": true}))),
        [
            "`/days` must be at least 1",
            "`/colour` is not a parameter of the plan, which has `label`, `nothing`, `days`, `flag`, `free`, `status`, `policy`, `display`, `path`, `user`",
        ]
    );
    assert_eq!(
        invalid(update(all, json!({"days": null}))),
        ["`/days` is required; give a value"]
    );
    // What the new plan lacks goes, and what it does not allow is told.
    assert_eq!(
        update(few, json!({})),
        Ok(json!({"days": 3, "flag": false}))
    );
    assert_eq!(
        update(few, json!({"label": null})),
        Ok(json!({"days": 3, "flag": false}))
    );
    assert_eq!(
        invalid(update(few, json!({"label": "l"}))),
        ["`/label` is not a parameter of the plan, which has `days`, `flag`"]
    );
    let many = object(json!({"days": 12, "flag": false}));
    assert_eq!(
        invalid(
            all.judge_update(same, false, &many, &Map::new())
                .map(|parameters| json!(parameters))
        ),
        ["`/days` has a value that the new plan does not allow; give another one"]
    );
    // What the old plan lacked may be given with the change.
    let given = object(json!({"label": "new"}));
    let after = few.judge_update(all, false, &many, &given);
    let after = after.unwrap().expect("a change");
    assert_eq!(after["label"], "new");
    assert_eq!(
        (after.get("status"), after.get("display")),
        (Some(&json!("Suspended")), Some(&json!("d")))
    );
    // A file that lost a parameter since loses its value.
    let old = object(json!({"days": 1, "gone": 1}));
    let lose = object(json!({"gone": null}));
    let after = few.judge_update(few, true, &old, &lose).unwrap();
    assert_eq!(json!(after), json!({"days": 1, "flag": true}));
    // What a file has gained since then comes with a change, and not with a request that changes nothing.
    assert_eq!(few.judge_update(few, false, &old, &lose), Ok(None));
    let unchanged = all.judge_update(all, false, &Map::new(), &Map::new());
    assert_eq!(unchanged, Ok(None));
    let changes = object(json!({"display": "new"}));
    assert_eq!(
        invalid(
            all.judge_update(all, false, &Map::new(), &changes)
                .map(|parameters| json!(parameters))
        ),
        ["`/days` is required; give a value"]
    );
    assert_eq!(all.edge_to("few"), Some(Edge::Replacing));
}

#[test]
fn presets_are_over_parameters_and_those_over_properties() {
    let few = plan("few");
    let parameters = few.judge_create(&object(json!({"days": 2}))).unwrap();
    assert_eq!(
        Value::Object(parameters.clone()),
        json!({"days": 2, "flag": true})
    );
    let resources = instance(few, &parameters);
    let bucket = json!({
        "Tags": [{"Key": "a"}, {"Key": "b", "Value": "((not)) a name))"}],
        "LifecycleConfiguration": {"Rules": [{"Status": "Enabled", "ExpirationInDays": 2}]},
        "VersioningConfiguration": {"Status": "Enabled"},
    });
    assert_eq!(resources["bucket"], bucket);
    assert_eq!(
        resources["topic"],
        json!({"FifoTopic": true, "DisplayName": "space"})
    );
    assert_eq!(
        resources["user"],
        json!({"Path": "/p/", "LoginProfile": {"Password": "pw"}})
    );
}

#[test]
fn a_random_of_the_instance_is_the_same_in_bindings() {
    assert_eq!(
        offering().instance_randoms(),
        &BTreeSet::from(["password".to_owned()])
    );
    let binding = offering().binding().unwrap();
    assert_eq!(binding.randoms(), &BTreeSet::from(["own".to_owned()]));
    let context = Context {
        binding_id: Some("b".to_owned()),
        ..Context::default()
    };
    let of_instance = object(json!({"label": "((random/own))"}));
    let bound = plan("all")
        .binding(
            &context,
            &of_instance,
            &object(json!({"pin": 7})),
            &randoms(),
        )
        .unwrap();
    let credentials = json!({"password": "pw", "own": "ow", "label": "((random/own))", "pin": 7});
    assert_eq!(bound.credentials, Some(credentials));
    assert!(bound.resources.is_empty() && bound.endpoints.is_none());
}
