//! The `propertyTransform`s of the embedded schemas.
#![expect(clippy::unwrap_used, reason = "a test may panic")]

use std::collections::BTreeSet;
use std::sync::Arc;

use serde_json::{Value, json};
use ucp_model::TypeName;
use ucp_schema::{Catalogue, PropertyPath, ResourceSchema, Segment, Transform};

struct Known {
    schema: Arc<ResourceSchema>,
    path: PropertyPath,
    text: String,
    transform: Transform,
    problems: Vec<String>,
}

impl Known {
    /// Returns the objects in `root` that may contain the property.
    fn parents<'a>(&self, root: &'a Value) -> Vec<&'a Value> {
        let (_, above) = self.path.segments().split_last().unwrap();
        above.iter().fold(vec![root], |parents, segment| {
            let below = |parent: &'a Value| -> Vec<&'a Value> {
                match (segment, parent) {
                    (Segment::Key(name), parent) => parent.get(name).into_iter().collect(),
                    (Segment::Any, Value::Array(items)) => items.iter().collect(),
                    (Segment::Any, _) => Vec::new(),
                }
            };
            parents.into_iter().flat_map(below).collect()
        })
    }

    /// Returns the expression with its property renamed to `P`: many types share one.
    fn shape(&self) -> String {
        let pointer = self.path.pointer();
        let names: Vec<&str> = pointer.split('/').collect();
        let shape = self.text.replace(names[names.len() - 1], "P");
        match names[names.len() - 2] {
            "" => shape,
            above => shape.replace(&format!("{above}.P"), "P"),
        }
    }

    fn label(&self) -> String {
        format!("{} {}", self.schema.type_name(), self.path.pointer())
    }
}

fn embedded() -> Vec<Known> {
    let catalogue = Catalogue::embedded();
    let schemas = catalogue
        .type_names()
        .filter_map(|name| catalogue.get(name));
    schemas.flat_map(|schema| all_of(&schema)).collect()
}

fn all_of(schema: &Arc<ResourceSchema>) -> Vec<Known> {
    let Some(transforms) = schema.document().get("propertyTransform") else {
        return Vec::new();
    };
    let transforms = transforms.as_object().unwrap().iter();
    let known = |(path, text): (&String, &Value)| {
        let text = text.as_str().unwrap().to_owned();
        let (transform, problems) = Transform::parse(&text);
        Known {
            schema: Arc::clone(schema),
            path: path.parse().unwrap(),
            text,
            transform,
            problems,
        }
    };
    transforms.map(known).collect()
}

/// The expected results of one embedded transform, written by hand.
struct Case {
    known: Known,
    declared: Value,
    stored: Vec<Value>,
    other: Vec<Value>,
}

fn cases() -> Vec<Case> {
    let case = |line: &str| {
        let case: Value = serde_json::from_str(line).unwrap();
        let name = TypeName::from_cloudformation(case["type"].as_str().unwrap()).unwrap();
        let schema = Catalogue::embedded().get(&name).unwrap();
        let is_meant = |known: &Known| known.path.pointer() == case["path"];
        Case {
            known: all_of(&schema).into_iter().find(is_meant).expect(line),
            declared: case["declared"].clone(),
            stored: case["stored"].as_array().unwrap().clone(),
            other: case["other"].as_array().unwrap().clone(),
        }
    };
    include_str!("transforms/cases.jsonl")
        .lines()
        .map(case)
        .collect()
}

#[test]
fn every_embedded_alternative_parses() {
    let known = embedded();
    let alternatives = known
        .iter()
        .map(|known| known.text.split("$OR").count())
        .sum::<usize>();
    let problems: Vec<&String> = known.iter().flat_map(|known| &known.problems).collect();
    println!("{} transforms, {alternatives} alternatives", known.len());
    assert_eq!(problems, [""; 0]);
    assert_eq!((known.len(), alternatives), (204, 251));
}

#[test]
fn every_kind_of_embedded_expression_says_what_it_should() {
    let cases = cases();
    for case in &cases {
        let label = case.known.label();
        let parents = case.known.parents(&case.declared);
        assert_eq!(parents.len(), 1, "{label}: {}", case.declared);
        let gives = |live| case.known.transform.gives(&case.declared, parents[0], live);
        for live in &case.stored {
            assert!(gives(live), "{label}: {} is {live}", case.declared);
        }
        for live in &case.other {
            assert!(!gives(live), "{label}: {} is not {live}", case.declared);
        }
    }
    let tried: BTreeSet<String> = cases.iter().map(|case| case.known.shape()).collect();
    let all: BTreeSet<String> = embedded().iter().map(Known::shape).collect();
    let untried: Vec<&String> = all.difference(&tried).collect();
    assert_eq!(untried, [""; 0]);
    println!("{} cases of {} expressions", cases.len(), all.len());
}

/// Results that follow from the schema, although they are probably not intended.
#[test]
fn exceptions() {
    let rule = |kind: &str| {
        let details = json!([{"EventSource": "aws.config", "MessageType": kind}]);
        json!({"Source": {"Owner": "CUSTOM_LAMBDA", "SourceIdentifier": "f", "SourceDetails": details}})
    };
    let case = |path: &str| {
        let mut cases = cases().into_iter();
        cases
            .find(|case| case.known.label() == path)
            .unwrap()
            .known
            .transform
    };

    // It results in the whole model with the other detail added instead of the property, so it never matches.
    let source = case("AWS::Config::ConfigRule /Source");
    let declared = rule("ConfigurationItemChangeNotification");
    let mut live = declared.clone();
    let details = live["Source"]["SourceDetails"].as_array_mut().unwrap();
    details.push(json!({"EventSource": "aws.config", "MessageType": "OversizedConfigurationItemChangeNotification"}));
    assert!(!source.gives(&declared, &declared, &live["Source"]));
    assert!(source.gives(&declared, &declared, &live));

    // It misspells `icmp` as `imcp`, so every port of icmp matches -1.
    let port = case("AWS::EC2::SecurityGroup /SecurityGroupIngress/*/FromPort");
    let declared = json!({"IpProtocol": "icmp", "FromPort": 8});
    assert!(port.gives(&declared, &declared, &json!(-1)));

    // It has the principal in brackets, which makes it a character class.
    let principal = case("AWS::Lambda::LayerVersionPermission /Principal");
    let declared = json!({"Principal": "111122223333"});
    assert!(principal.gives(&declared, &declared, &json!("{AWS=444455551111}")));
}

#[test]
fn what_is_not_declared_says_nothing_unless_it_never_mattered() {
    let lives = json!([
        "vpc",
        "text",
        "",
        0,
        -1,
        true,
        false,
        [],
        {},
        null,
        "arn:aws:kms:us-east-1:111122223333:key/k",
    ]);
    let lives = lives.as_array().unwrap();
    for nothing in [json!(null), json!({"$unknown": true})] {
        let says = |known: &Known| {
            let root = filled(known, &nothing);
            let parents = known.parents(&root);
            lives
                .iter()
                .any(|live| known.transform.gives(&root, parents[0], live))
        };
        let saying: Vec<String> = embedded()
            .iter()
            .filter(|known| says(known))
            .map(Known::label)
            .collect();
        assert_eq!(
            saying,
            [
                "AWS::DirectConnect::Connection /Location",
                "AWS::DirectConnect::Lag /Location",
                "AWS::EC2::EIP /Domain",
                "AWS::EFS::FileSystem /Encrypted",
                "AWS::EFS::FileSystem /KmsKeyId",
                "AWS::KinesisAnalyticsV2::Application /ApplicationConfiguration/ApplicationEncryptionConfiguration/KeyId",
                "AWS::S3Files::FileSystem /KmsKeyId",
            ],
            "{nothing}"
        );
    }
}

/// Returns a model in which every name in an expression has `value`, both beside the property and at the root.
fn filled(known: &Known, value: &Value) -> Value {
    let is_name = |letter: char| letter.is_ascii_alphanumeric();
    let names: BTreeSet<&str> = known.text.split(|letter| !is_name(letter)).collect();
    let members: serde_json::Map<String, Value> = names
        .iter()
        .map(|name| ((*name).to_owned(), value.clone()))
        .collect();
    let (_, above) = known.path.segments().split_last().unwrap();
    let parent = Value::Object(members.clone());
    let mut root = above
        .iter()
        .rev()
        .fold(parent, |below, segment| match segment {
            Segment::Key(name) => json!({name: below}),
            Segment::Any => json!([below]),
        });
    for (name, value) in members {
        root.as_object_mut().unwrap().entry(name).or_insert(value);
    }
    root
}

#[test]
fn nothing_that_is_declared_stops_an_embedded_transform() {
    let mut values = json!([
        null, true, 1.5, 9_007_199_254_740_993_u64, "", "(", "[a|b", "\\", "*", "\u{fdd0}(", "é\u{1f600}/:.-", [],
        [[null]], ["a", 1], {}, {"a": {"b": []}}, {"$unknown": true}, "a+".repeat(100),
    ]);
    let values = values.as_array_mut().unwrap();
    values.push(serde_json::from_str("1e400").unwrap());
    for known in embedded() {
        for declared in &*values {
            let root = filled(&known, declared);
            for live in [declared, &json!("text"), &json!(1), &json!([{}])] {
                known.transform.gives(&root, known.parents(&root)[0], live);
                known.transform.gives(declared, declared, live);
            }
        }
    }
}

#[test]
fn every_embedded_transform_takes_sampled_declarations() {
    let (mut evaluated, mut declared) = (0, 0);
    for known in embedded() {
        for seed in 0..8 {
            let root = ucp_sample::declaration(&known.schema, seed);
            let parents = known.parents(&root);
            for parent in parents.into_iter().chain([&root]) {
                let name = known.path.pointer();
                let value = parent.get(name.rsplit('/').next().unwrap());
                declared += usize::from(value.is_some());
                evaluated += 1;
                known
                    .transform
                    .gives(&root, parent, value.unwrap_or(&Value::Null));
                known.transform.gives(&root, parent, &json!("another"));
            }
        }
    }
    println!("{evaluated} evaluations, {declared} with a value");
    assert!(declared > 200, "{declared}");
}
