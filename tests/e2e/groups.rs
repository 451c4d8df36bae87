//! Resource groups (contract section 3) and how they show what they track (section 7, D10).

use serde_json::json;
use ucp_testkit::{ACCOUNT, GROUP, REGION, on_every_store};

const API_VERSION: &str = "api-version=2023-10-01-preview";

#[tokio::test]
async fn a_group_is_created_replaced_and_listed() {
    on_every_store(async |world| {
        let path = format!("/planes/Radius/local/ResourceGroups/Test-RG?{API_VERSION}");
        let created = world.call("PUT", &path, r#"{"location":"global","tags":{"a":"b"}}"#).await.expect(200);
        assert_eq!(
            created.body,
            json!({"id": "/planes/radius/local/resourcegroups/Test-RG", "name": "Test-RG",
                "type": "System.Resources/resourceGroups", "location": "global", "tags": {"a": "b"}})
        );
        let replaced = world.call("PUT", &path.to_lowercase(), r#"{"location":"west"}"#).await.expect(200);
        assert_eq!(replaced.body["name"], "Test-RG", "the casing of the first write stays");
        assert_eq!(replaced.body["tags"], json!({}));
        assert_eq!(world.get(&path.to_lowercase()).await.expect(200).body, replaced.body);
        let list = world.get(&format!("/planes/radius/local/resourcegroups?{API_VERSION}")).await.expect(200);
        let names: Vec<&str> = list.body["value"].as_array().unwrap().iter().map(|group| group["name"].as_str().unwrap()).collect();
        assert_eq!(names, ["rg", "Test-RG"]);
        assert_eq!(world.get(&format!("{GROUP}x?{API_VERSION}")).await.expect(404).code(), "NotFound");
    })
    .await;
}

#[tokio::test]
async fn the_planes_are_there_from_the_start() {
    on_every_store(async |world| {
        let planes = world
            .get(&format!("/planes?{API_VERSION}"))
            .await
            .expect(200)
            .body;
        let ids: Vec<&str> = planes["value"]
            .as_array()
            .unwrap()
            .iter()
            .map(|plane| plane["id"].as_str().unwrap())
            .collect();
        assert_eq!(ids, ["/planes/aws/aws", "/planes/radius/local"]);
    })
    .await;
}

#[tokio::test]
async fn a_group_shows_what_it_tracks() {
    on_every_store(async |world| {
        assert!(
            world.group().await.get("resources").is_none(),
            "resources appear only when there are any"
        );
        world
            .put_and_settle("AWS.EC2/VPC", "My-VPC", json!({"CidrBlock": "10.0.0.0/16"}))
            .await;
        let [vpc] = &world.live("AWS::EC2::VPC")[..] else {
            panic!("expected one VPC")
        };
        let [reference] = &world.references().await[..] else {
            panic!("expected one reference")
        };
        let id = "/planes/radius/local/resourcegroups/rg/providers/AWS.EC2/VPC:reference/My-VPC";
        assert_eq!(reference["id"], id);
        assert_eq!(reference["name"], "My-VPC");
        assert_eq!(reference["type"], "AWS.EC2/VPC:reference");
        let scope =
            format!("/planes/aws/aws/accounts/{ACCOUNT}/regions/{REGION}/providers/AWS.EC2/VPC");
        assert_eq!(
            reference["mapsTo"],
            json!({"scope": scope, "primaryIdentifier": vpc})
        );
        assert_eq!(reference["properties"]["VpcId"], vpc.as_str());
        assert_eq!(reference["properties"]["CidrBlock"], "10.0.0.0/16");

        let list = world
            .get(&format!("{GROUP}/resources?{API_VERSION}"))
            .await
            .expect(200)
            .body;
        assert_eq!(list["value"][0]["id"], id);
        let one = world
            .get(&id.to_lowercase().replace("aws.ec2/vpc", "AWS.EC2/VPC"))
            .await
            .expect(200)
            .body;
        assert_eq!(&one, reference);
        assert_eq!(one["ownedResource"], true);
        let of_type = world
            .get(&format!("{GROUP}/providers/AWS.EC2/VPC:reference"))
            .await
            .expect(200)
            .body;
        assert_eq!(of_type["value"], json!([reference]));
        let none = world
            .get(&format!("{GROUP}/providers/AWS.Logs/LogGroup:reference"))
            .await
            .expect(200)
            .body;
        assert_eq!(none["value"], json!([]));
        world
            .get(&format!("{GROUP}/providers/AWS.EC2/VPC:reference/other"))
            .await
            .expect(404);
    })
    .await;
}
