//! The example of the documentation: its catalog, its parameters, and what it declares.

#![expect(
    clippy::unwrap_used,
    reason = "the helpers are test code too, which panics on failure"
)]

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use serde_json::{Map, Value, json};
use ucp_model::{GroupId, ReferenceId};
use ucp_offerings::{
    Context, Edge, Objection, Offering, Offerings, Plan, Randoms, Refusal, Resource, SourceFile,
};
use ucp_schema::Catalogue;
use ucp_set::{Draft, Goal, Member, Outside, Set};

const EXAMPLE: &str = include_str!("../../../api/examples/broker/offerings/bucket.toml");
const CATALOG: &str = include_str!("catalog.json");
const SERVICE: &str = "5d0f6a1e-93a5-4c2c-8a52-0c5b6c1f0a01";
const DEV: &str = "5d0f6a1e-93a5-4c2c-8a52-0c5b6c1f0a02";
const GOLD: &str = "5d0f6a1e-93a5-4c2c-8a52-0c5b6c1f0a03";

fn offerings() -> Offerings {
    let name = "bucket.toml".to_owned();
    let text = EXAMPLE.to_owned();
    Offerings::read(&[SourceFile { name, text }], &Catalogue::embedded()).unwrap()
}

fn plan<'o>(offering: &'o Offering, id: &str) -> &'o Plan {
    offering.plan(id).unwrap()
}

fn object(value: Value) -> Map<String, Value> {
    value.as_object().cloned().unwrap()
}

fn context() -> Context {
    Context {
        instance_id: "i-1".to_owned(),
        binding_id: None,
        organization_guid: "org".to_owned(),
        space_guid: "space".to_owned(),
        platform: "cf".to_owned(),
        account: "123456789012".to_owned(),
        region: "us-west-2".to_owned(),
        expires_at: None,
    }
}

fn binding_context() -> Context {
    Context {
        binding_id: Some("b-1".to_owned()),
        expires_at: Some("2027-01-01T00:00:00Z".to_owned()),
        ..context()
    }
}

fn randoms() -> Randoms {
    Randoms(BTreeMap::from([("salt".to_owned(), "s3cr3t".to_owned())]))
}

#[test]
fn the_catalog_is_the_expected_one() {
    let catalog = offerings().catalog(|_| true);
    let expected: Value = serde_json::from_str(CATALOG).unwrap();
    assert_eq!(catalog, expected, "{catalog:#}");
    // The order of members is the same with every process too.
    assert_eq!(catalog.to_string(), expected.to_string());
    for plan in catalog["services"][0]["plans"].as_array().unwrap() {
        for schema in [
            "/schemas/service_instance/create/parameters",
            "/schemas/service_instance/update/parameters",
            "/schemas/service_binding/create/parameters",
        ] {
            let schema = plan.pointer(schema).unwrap();
            assert!(jsonschema::draft4::meta::is_valid(schema), "{schema}");
        }
    }
    let nothing = offerings().catalog(|offering| offering.name() != "bucket");
    assert_eq!(nothing, json!({"services": []}));
}

#[test]
fn what_the_file_says_is_told() {
    let offerings = offerings();
    assert!(offerings.offering("other").is_none());
    let offering = offerings.offering(SERVICE).unwrap();
    assert_eq!(offering.id(), SERVICE);
    assert!(!offering.is_sync() && offering.merges_into_bindings());
    assert!(offering.instance_randoms().is_empty());
    let binding = offering.binding().unwrap();
    assert!(binding.is_rotatable() && binding.has_resources() && !binding.requires_app());
    let days = |days: u64| Some(Duration::from_secs(days * 86_400));
    assert_eq!(
        (binding.expires_after(), binding.renew_after()),
        (days(90), days(60))
    );
    assert_eq!(binding.randoms(), &BTreeSet::from(["salt".to_owned()]));
    let (dev, gold) = (plan(offering, DEV), plan(offering, GOLD));
    assert_eq!((dev.name(), dev.version()), ("dev", Some("1.0.0")));
    assert_eq!((gold.name(), gold.version()), ("gold", None));
    assert_eq!(dev.edge_to(GOLD), Some(Edge::InPlace));
    assert_eq!((dev.edge_to(DEV), gold.edge_to(DEV)), (None, None));
}

fn parts(resources: &[Resource]) -> Vec<(&str, String, Value)> {
    let part = |one: &Resource| {
        let properties = Value::Object(one.properties.clone());
        (one.type_name.as_str().to_owned(), properties)
    };
    let parts = resources.iter().map(|one| (one.alias.as_str(), part(one)));
    parts
        .map(|(alias, (name, properties))| (alias, name, properties))
        .collect()
}

#[test]
fn an_instance_is_a_set() {
    let offerings = offerings();
    let offering = offerings.offering(SERVICE).unwrap();
    let instance = |plan: &Plan| {
        let parameters = plan.judge_create(&Map::new()).unwrap();
        plan.instance(&context(), &parameters, &Randoms::default())
            .unwrap()
    };
    let dev = instance(plan(offering, DEV));
    let policy = json!({
        "Bucket": {"$reference": "AWS.S3/Bucket/i-1:bucket#/BucketName"},
        "PolicyDocument": {"Statement": [{
            "Effect": "Allow", "Principal": {"AWS": "123456789012"}, "Action": "s3:GetObject",
            "Resource": {"$concat": [{"$reference": "AWS.S3/Bucket/i-1:bucket#/Arn"}, "/*"]},
        }]},
    });
    let bucket = |status: &str| json!({"BucketName": "osb-i-1", "VersioningConfiguration": {"Status": status}});
    let expected = |status: &str| {
        vec![
            ("i-1:bucket", "AWS::S3::Bucket".to_owned(), bucket(status)),
            (
                "i-1:policy",
                "AWS::S3::BucketPolicy".to_owned(),
                policy.clone(),
            ),
        ]
    };
    assert_eq!(parts(&dev), expected("Suspended"));
    assert_eq!(parts(&instance(plan(offering, GOLD))), expected("Enabled"));
    assert_eq!(
        format!("{dev:?}"),
        "[Resource(AWS::S3::Bucket i-1:bucket), Resource(AWS::S3::BucketPolicy i-1:policy)]"
    );
    linked(&dev, Map::new(), &[], &[0, 1]);
}

/// Links resources and outputs as those of a set, as an apply does, and compares the order. `known` are the resources
/// outside of it.
fn linked(
    resources: &[Resource],
    outputs: Map<String, Value>,
    known: &[&Resource],
    order: &[usize],
) {
    let group = GroupId::new("local", "cf-space").unwrap();
    let id = |one: &Resource| {
        ReferenceId::new(group.clone(), one.type_name.clone(), &one.alias).unwrap()
    };
    let members = resources.iter().enumerate().map(|(index, one)| Member {
        place: format!("/resources/{index}"),
        reference: id(one),
        symbolic_name: None,
        depends_on: Vec::new(),
        goal: Goal::Put(one.properties.clone()),
    });
    let draft = Draft::of(Set {
        group: group.clone(),
        members: members.collect(),
        is_complete: true,
        may_be_unknown: false,
        outputs,
    });
    let outside: BTreeSet<Outside> = known
        .iter()
        .map(|one| Outside::Reference(id(one)))
        .collect();
    assert_eq!(draft.outside(), outside);
    let all = resources.iter().chain(known.iter().copied());
    let schemas = all.map(|one| {
        let schema = Catalogue::embedded().get(&one.type_name).unwrap();
        (id(one).key(), schema)
    });
    let found = known
        .iter()
        .map(|one| (Outside::Reference(id(one)), vec![id(one)]));
    let linked = draft.link(&found.collect(), &schemas.collect(), &BTreeSet::new());
    assert!(linked.problems.is_empty(), "{:?}", linked.problems);
    assert_eq!(linked.order, order);
}

#[test]
fn a_binding_is_a_set_and_what_it_tells() {
    let offerings = offerings();
    let offering = offerings.offering(SERVICE).unwrap();
    let dev = plan(offering, DEV);
    let given = object(json!({"principal": "arn:aws:iam::1:role/((account))"}));
    let parameters = dev.judge_binding(&given).unwrap();
    let bound = dev
        .binding(&binding_context(), &Map::new(), &parameters, &randoms())
        .unwrap();
    let role = json!({"AssumeRolePolicyDocument": {"Statement": [{
        "Effect": "Allow", "Action": "sts:AssumeRole",
        "Principal": {"AWS": "arn:aws:iam::1:role/((account))"},
        "Condition": {"DateLessThan": {"aws:CurrentTime": "2027-01-01T00:00:00Z"}},
    }]}});
    let expected = vec![("i-1:b-1:role", "AWS::IAM::Role".to_owned(), role)];
    assert_eq!(parts(&bound.resources), expected);
    let credentials = json!({
        "bucket": {"$reference": "AWS.S3/Bucket/i-1:bucket#/BucketName"},
        "role": {"$reference": "AWS.IAM/Role/i-1:b-1:role#/Arn"},
        "salt": "s3cr3t",
    });
    assert_eq!(bound.credentials, Some(credentials));
    let endpoints = json!([{
        "host": {"$reference": "AWS.S3/Bucket/i-1:bucket#/RegionalDomainName"}, "ports": ["443"],
    }]);
    assert_eq!(bound.endpoints, Some(endpoints));
    let instance = dev
        .instance(&context(), &Map::new(), &Randoms::default())
        .unwrap();
    let told = object(json!({"credentials": bound.credentials, "endpoints": bound.endpoints}));
    linked(&bound.resources, told, &[&instance[0]], &[0]);
    let shown = format!("{bound:?} {:?} {dev:?}", randoms());
    assert!(
        !shown.contains("s3cr3t") && !shown.contains("iam::1"),
        "{shown}"
    );
}

/// What the caller has to give is not left out in silence: a role without its end would be open for ever.
#[test]
fn what_was_not_given_is_told() {
    let offerings = offerings();
    let dev = plan(offerings.offering(SERVICE).unwrap(), DEV);
    let binding = |context: Context, randoms: Randoms| {
        let bound = dev.binding(&context, &Map::new(), &Map::new(), &randoms);
        bound.map(drop).map_err(|unfilled| unfilled.name)
    };
    let without_end = Context {
        expires_at: None,
        ..binding_context()
    };
    assert_eq!(
        binding(without_end, randoms()),
        Err("expires_at".to_owned())
    );
    let without_random = binding(binding_context(), Randoms::default());
    assert_eq!(without_random, Err("random/salt".to_owned()));
    // A parameter without a value leaves out the member.
    assert_eq!(binding(binding_context(), randoms()), Ok(()));
}

fn told(objections: Vec<Objection>) -> Vec<String> {
    objections.iter().map(Objection::to_string).collect()
}

#[test]
fn parameters_are_judged_all_at_once() {
    let offerings = offerings();
    let offering = offerings.offering(SERVICE).unwrap();
    let (dev, gold) = (plan(offering, DEV), plan(offering, GOLD));
    let default = object(json!({"versioning": "Suspended"}));
    assert_eq!(dev.judge_create(&Map::new()), Ok(default.clone()));
    assert_eq!(
        dev.judge_create(&object(json!({"versioning": null}))),
        Ok(default)
    );
    assert_eq!(gold.judge_create(&Map::new()), Ok(Map::new()));
    let wrong = object(json!({"versioning": "Enabled", "a/b": 1, "c": {"$reference": "x"}}));
    assert_eq!(
        told(dev.judge_create(&wrong).unwrap_err()),
        [
            "`/versioning` must be `Suspended`",
            "`/a~1b` is not a parameter of the plan, which has `versioning`",
            "`/c` is not a parameter of the plan, which has `versioning`",
        ]
    );
    assert_eq!(
        told(
            gold.judge_create(&object(json!({"versioning": "Enabled"})))
                .unwrap_err()
        ),
        ["`/versioning` is not a parameter of the plan, which has none"]
    );
    assert_eq!(
        told(dev.judge_binding(&Map::new()).unwrap_err()),
        ["`/principal` is required; give a value"]
    );
    assert_eq!(
        told(
            dev.judge_binding(&object(json!({"principal": "me"})))
                .unwrap_err()
        ),
        ["`/principal` must match the pattern `^arn:`"]
    );
    let too_many: Map<String, Value> = (0..1_000)
        .map(|index| (format!("p{index}"), json!(1)))
        .collect();
    assert_eq!(dev.judge_create(&too_many).unwrap_err().len(), 100);
}

#[test]
fn so_many_objections_are_told_and_no_more() {
    let offerings = offerings();
    let dev = plan(offerings.offering(SERVICE).unwrap(), DEV);
    for count in [100, 101] {
        let unknown = (0..count).map(|number| (format!("p{number}"), json!(1)));
        let given: Map<String, Value> = unknown.collect();
        assert_eq!(dev.judge_create(&given).unwrap_err().len(), 100);
        let Err(Refusal::Invalid(objections)) = dev.judge_update(dev, false, &Map::new(), &given)
        else {
            panic!("they are refused");
        };
        assert_eq!(objections.len(), 100);
        assert_eq!(dev.judge_binding(&given).unwrap_err().len(), 100);
    }
}

#[test]
fn what_the_new_plan_lacks_goes() {
    let offerings = offerings();
    let offering = offerings.offering(SERVICE).unwrap();
    let (dev, gold) = (plan(offering, DEV), plan(offering, GOLD));
    let current = object(json!({"versioning": "Suspended"}));
    assert_eq!(
        dev.judge_update(gold, false, &current, &Map::new()),
        Ok(Some(Map::new()))
    );
    let null = object(json!({"versioning": null}));
    let updated = dev.judge_update(gold, false, &current, &null);
    assert_eq!(updated, Ok(Some(Map::new())));
    let given = object(json!({"versioning": "Suspended"}));
    let refused = dev.judge_update(gold, false, &current, &given);
    assert!(matches!(refused, Err(Refusal::Invalid(_))), "{refused:?}");
}
