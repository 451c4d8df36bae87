//! What resource types there are, and what a type has.

use serde_json::{Value, json};
use ucp_testkit::{ACCOUNT, REGION, World, apply, on_every_store};

fn providers() -> String {
    format!("/planes/aws/aws/accounts/{ACCOUNT}/regions/{REGION}/providers")
}

fn path_of(url: &str) -> String {
    let (_, rest) = url.split_once("://").expect("an absolute URL");
    format!("/{}", rest.split_once('/').expect("a path").1)
}

#[apply(on_every_store)]
async fn all_types_are_listed_page_by_page(world: &World) {
    let mut next = Some(format!("{}?top=20", providers()));
    let (mut namespaces, mut types, mut pages) = (Vec::new(), 0, 0);
    while let Some(path) = next {
        let page = world.get(&path).await.expect(200).body;
        let listed = page["value"].as_array().expect("a list");
        assert!((1..=20).contains(&listed.len()), "{}", listed.len());
        for provider in listed {
            namespaces.push(provider["name"].as_str().expect("a name").to_owned());
            types += provider["resourceTypes"].as_object().expect("types").len();
        }
        next = page["nextLink"].as_str().map(path_of);
        pages += 1;
    }
    assert!(pages > 5, "{pages}");
    assert!(types > 1_000, "{types}");
    let mut sorted = namespaces.clone();
    sorted.sort_by_key(|name| name.to_ascii_lowercase());
    sorted.dedup();
    assert_eq!(namespaces, sorted);
    assert!(namespaces.contains(&"AWS.EC2".to_owned()));

    let foreign = format!("{}?skipToken=x", providers());
    assert_eq!(world.get(&foreign).await.expect(400).code(), "BadRequest");
}

#[apply(on_every_store)]
async fn a_namespace_names_its_types(world: &World) {
    let ec2 = world.get(&format!("{}/aws.ec2", providers())).await;
    let ec2 = ec2.expect(200).body;
    assert_eq!(ec2["name"], "AWS.EC2");
    assert!(ec2["locations"][REGION].is_object());
    let id = ec2["resourceTypes"]["VPC"]["id"].as_str().expect("an id");
    assert_eq!(id, format!("{}/AWS.EC2/resourceTypes/VPC", providers()));
    let vpc = world.get(id).await.expect(200).body;
    assert_eq!(vpc["id"], id);
    let unknown = world.get(&format!("{}/AWS.EC3", providers())).await;
    assert_eq!(unknown.expect(404).code(), "NotFound");
    let nowhere = providers().replace(REGION, "Nowhere!");
    world.get(&nowhere).await.expect(400);
    world.get(&format!("{nowhere}/AWS.EC2")).await.expect(400);
}

fn property<'a>(described: &'a Value, path: &str) -> &'a Value {
    let properties = described["properties"].as_array().expect("properties");
    let mut properties = properties.iter();
    let found = properties.find(|property| property["path"] == path);
    found.unwrap_or_else(|| panic!("{path} is not in {described}"))
}

#[apply(on_every_store)]
async fn a_type_tells_its_properties_and_what_can_be_done(world: &World) {
    let path = format!("{}/AWS.EC2/RESOURCETYPES/vpc", providers());
    let vpc = world.get(&path).await.expect(200).body;
    assert_eq!(vpc["name"], "VPC");
    assert_eq!(vpc["type"], "AWS.EC2/VPC");
    assert_eq!(vpc["typeName"], "AWS::EC2::VPC");
    assert_eq!(vpc["primaryIdentifier"], json!(["/properties/VpcId"]));
    assert_eq!(vpc["tagProperty"], "/properties/Tags");
    assert_eq!(
        vpc["handlers"],
        json!(["create", "read", "update", "delete", "list"])
    );
    let cidr = property(&vpc, "/properties/CidrBlock");
    assert_eq!(cidr["classes"], json!(["createOnly"]));
    assert_eq!(cidr["types"], json!(["string"]));
    let assigned = property(&vpc, "/properties/VpcId");
    assert_eq!(assigned["classes"], json!(["readOnly", "createOnly"]));
    let dns = property(&vpc, "/properties/EnableDnsSupport");
    assert_eq!(
        (&dns["classes"], &dns["types"]),
        (&json!([]), &json!(["boolean"]))
    );

    // The listing of the resources of a type keeps its place.
    let listed = world.get(&format!("{}/AWS.EC2/VPC", providers())).await;
    assert_eq!(listed.expect(200).body["value"], json!([]));

    let table = world
        .get(&format!("{}/AWS.DynamoDB/resourceTypes/Table", providers()))
        .await
        .expect(200)
        .body;
    assert_eq!(property(&table, "/properties/KeySchema")["required"], true);

    let instance = world
        .get(&format!("{}/AWS.EC2/resourceTypes/Instance", providers()))
        .await
        .expect(200)
        .body;
    let nested = property(&instance, "/properties/BlockDeviceMappings/*/NoDevice");
    assert_eq!(
        nested["classes"],
        json!(["conditionalCreateOnly", "writeOnly"])
    );
}

#[apply(on_every_store)]
async fn a_private_type_is_described_in_the_words_of_the_registry(world: &World) {
    world.expect_log("no schema");
    let path = format!("{}/Initech.TPS/resourceTypes/Report", providers());
    let unknown = world.get(&path).await.expect(400);
    assert_eq!(unknown.code(), "TypeNotFoundException");
    let schema = json!({
        "typeName": "Initech::TPS::Report",
        "description": "A report with a cover sheet",
        "documentationUrl": "https://initech.example/tps",
        "definitions": {"Sheet": {"type": "object", "description": "Any sheet",
            "properties": {"Secret": {"type": ["string", "integer"], "description": "The memo"}}}},
        "properties": {
            "Name": {"type": "string", "description": "Its name"},
            "Cover": {"$ref": "#/definitions/Sheet"},
            "Back": {"$ref": "#/definitions/Sheet", "description": "The last sheet"},
        },
        "required": ["Name"],
        "createOnlyProperties": ["/properties/Name"],
        "writeOnlyProperties": ["/properties/Cover/Secret"],
        "primaryIdentifier": ["/properties/Name"],
        "handlers": {"create": {}, "read": {}},
    });
    let registered = world.aws.register_type(&schema.to_string());
    registered.expect("the simulator takes the schema");
    world.clock.advance(std::time::Duration::from_secs(5));
    let report = world.get(&path).await.expect(200).body;
    assert_eq!(report["description"], "A report with a cover sheet");
    assert_eq!(report["documentationUrl"], "https://initech.example/tps");
    assert_eq!(report["handlers"], json!(["create", "read"]));
    assert!(report.get("tagProperty").is_none());
    assert_eq!(
        property(&report, "/properties/Name"),
        &json!({"path": "/properties/Name", "types": ["string"], "classes": ["createOnly"], "required": true,
            "description": "Its name"})
    );
    let of = |path: &str| property(&report, path)["description"].clone();
    assert_eq!(of("/properties/Cover"), "Any sheet");
    assert_eq!(of("/properties/Back"), "The last sheet");
    let secret = property(&report, "/properties/Cover/Secret");
    assert_eq!(secret["classes"], json!(["writeOnly"]));
    assert_eq!(secret["types"], json!(["string", "integer"]));
    assert_eq!(secret["description"], "The memo");
}
