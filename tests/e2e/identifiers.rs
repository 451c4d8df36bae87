//! Identifiers as AWS spells them: types that do not keep the letter case of names, and `|` within a part (contract
//! D15, D18, D22, D29).

use serde_json::{Value, json};
use ucp_model::ids::encode_segment;
use ucp_testkit::{ACCOUNT, REGION, Reply, World, apply, on_every_store, tracked_by};

/// AWS stores its names in lower case, and a transform in the schema says so.
const DATABASE: &str = "AWS.RDS/DBInstance";
/// AWS stores its names in lower case, and the schema does not say so.
const SUBNETS: &str = "AWS.ElastiCache/SubnetGroup";
/// AWS keeps the letter case of its names.
const LOG_GROUP: &str = "AWS.Logs/LogGroup";
const LOG_STREAM: &str = "AWS.Logs/LogStream";

fn collection(resource_type: &str) -> String {
    format!("/planes/aws/aws/accounts/{ACCOUNT}/regions/{REGION}/providers/{resource_type}")
}

fn database(name: &str, storage: &str) -> Value {
    json!({"DBInstanceIdentifier": name, "DBInstanceClass": "db.t3.micro", "Engine": "postgres", "AllocatedStorage": storage})
}

fn subnets(name: &str, description: &str) -> Value {
    json!({"CacheSubnetGroupName": name, "Description": description, "SubnetIds": ["subnet-1"]})
}

/// A declaration under `name`, as `version`.
fn declared(resource_type: &str, name: &str, version: &str) -> Value {
    match resource_type {
        DATABASE => database(name, version),
        _ => subnets(name, version),
    }
}

async fn by_name(world: &World, method: &str, resource_type: &str, name: &str) -> Reply {
    let path = format!("{}/{name}", collection(resource_type));
    world.call(method, &path, "").await
}

async fn put_by_name(world: &World, resource_type: &str, name: &str, properties: Value) -> Reply {
    let path = format!("{}/{name}", collection(resource_type));
    let body = json!({"properties": properties}).to_string();
    world.call("PUT", &path, &body).await
}

/// Imports a database under an alias of a group of that name, as its owner.
async fn import_as_owner(world: &World, group: &str, resource_type: &str, name: &str) -> Reply {
    let body = json!({
        "trackedBy": format!("/planes/radius/local/resourceGroups/{group}/providers/{resource_type}:reference/main"),
        "primaryIdentifier": name,
        "ownedResource": true,
    });
    world.post(resource_type, "import", &body).await
}

async fn references(world: &World, group: &str) -> Vec<Value> {
    let path =
        format!("/planes/radius/local/resourceGroups/{group}?api-version=2023-10-01-preview");
    let group = world.get(&path).await.expect(200).body;
    group["resources"].as_array().cloned().unwrap_or_default()
}

#[apply(on_every_store)]
async fn two_groups_that_import_it_under_two_spellings_come_to_one_owner(world: &World) {
    world.put_group("other").await;
    for (first, second) in [("MyDB", "mydb"), ("mydb", "MyDB"), ("MyDB", "MYDB")] {
        put_by_name(world, DATABASE, "MyDB", database("MyDB", "20"))
            .await
            .expect(201);
        world.settle().await;
        let imported = import_as_owner(world, "rg", DATABASE, first)
            .await
            .expect(201);
        assert_eq!(
            imported.body["mapsTo"]["primaryIdentifier"], "mydb",
            "as AWS spells it"
        );
        assert_eq!(imported.body["ownedResource"], true);

        let refused = import_as_owner(world, "other", DATABASE, second)
            .await
            .expect(409);
        assert_eq!(refused.code(), "Conflict");
        let detail = &refused.body["error"]["details"][0];
        assert_eq!(detail["code"], "OwnedElsewhere", "{first}, then {second}");
        assert!(
            detail["target"]
                .as_str()
                .unwrap()
                .contains("/resourcegroups/rg/")
        );
        assert!(
            references(world, "other").await.is_empty(),
            "its alias is free"
        );

        // The group that does not own it does not delete it.
        let path = "/planes/radius/local/resourceGroups/other?api-version=2023-10-01-preview";
        world
            .call_until_settled("DELETE", path, "")
            .await
            .expect(200);
        assert_eq!(world.live("AWS::RDS::DBInstance"), ["mydb"]);
        world.put_group("other").await;

        world.delete(DATABASE, "main").await.expect(202);
        world.settle().await;
        assert!(world.live("AWS::RDS::DBInstance").is_empty());
    }
}

#[apply(on_every_store)]
async fn a_resource_may_be_shared_under_two_spellings_without_a_second_owner(world: &World) {
    for (alias, name) in [("a", "MyDB"), ("b", "mydb"), ("c", "MYDB")] {
        let reply = world.put(DATABASE, alias, database(name, "20")).await;
        assert_eq!(
            reply.status,
            if alias == "a" { 201 } else { 200 },
            "{}",
            reply.text
        );
        world.settle().await;
    }
    let shown = |reference: &Value| {
        let owned = reference["ownedResource"].as_bool().unwrap();
        (
            reference["mapsTo"]["primaryIdentifier"]
                .as_str()
                .unwrap()
                .to_owned(),
            owned,
        )
    };
    let references: Vec<_> = world.references().await.iter().map(shown).collect();
    let [owner, other] = [("mydb".to_owned(), true), ("mydb".to_owned(), false)];
    assert_eq!(references, [owner, other.clone(), other]);
    assert_eq!(world.creates(), 1);

    // A delete under any spelling takes all of them.
    by_name(world, "DELETE", DATABASE, "MyDb").await.expect(202);
    world.settle().await;
    assert!(world.references().await.is_empty());
    assert!(world.live("AWS::RDS::DBInstance").is_empty());
}

#[apply(on_every_store)]
async fn the_same_declaration_is_no_change_however_it_spells_the_name(world: &World) {
    for (resource_type, version, next) in [(DATABASE, "20", "30"), (SUBNETS, "a", "b")] {
        let ended = world
            .put_and_settle(
                resource_type,
                "main",
                declared(resource_type, "MyDB", version),
            )
            .await;
        assert_eq!(ended["status"], "Succeeded");
        assert!(
            ended["resourceId"].as_str().unwrap().ends_with("/mydb"),
            "{ended}"
        );
        for name in ["MyDB", "mydb", "MYDB", "MyDB"] {
            let again = world
                .put(
                    resource_type,
                    "main",
                    declared(resource_type, name, version),
                )
                .await
                .expect(200);
            assert_eq!(again.body["name"], "mydb");
        }
        let updates = world.calls("UpdateResource");
        for (count, (name, version)) in [("MyDB", next), ("MYDB", version)].into_iter().enumerate()
        {
            let ended = world
                .put_and_settle(
                    resource_type,
                    "main",
                    declared(resource_type, name, version),
                )
                .await;
            assert_eq!(ended["status"], "Succeeded", "{ended}");
            assert_eq!(world.calls("UpdateResource"), updates + count + 1);
        }
        // Another name is another resource.
        let refused = world
            .put(
                resource_type,
                "main",
                declared(resource_type, "Other", version),
            )
            .await
            .expect(409);
        assert_eq!(refused.code(), "RequiresReplacement");
        world.delete(resource_type, "main").await.expect(202);
        world.settle().await;
    }
}

/// What was put last is known, so nothing has to be asked about it.
#[apply(on_every_store)]
async fn the_spelling_is_remembered(world: &World) {
    world
        .put_and_settle(SUBNETS, "main", subnets("MyDB", "a"))
        .await;
    let reads = || world.calls("GetResource");
    let before = reads();
    world
        .put(SUBNETS, "main", subnets("MyDB", "a"))
        .await
        .expect(200);
    assert_eq!(reads(), before + 1, "only the look");
}

#[apply(on_every_store)]
async fn an_imported_resource_is_put_under_the_callers_spelling(world: &World) {
    put_by_name(world, SUBNETS, "MyDB", subnets("MyDB", "a"))
        .await
        .expect(201);
    world.settle().await;
    import_as_owner(world, "rg", SUBNETS, "mydb")
        .await
        .expect(201);
    world
        .put(SUBNETS, "main", subnets("MyDB", "a"))
        .await
        .expect(200);
    let ended = world
        .put_and_settle(SUBNETS, "main", subnets("MyDB", "b"))
        .await;
    assert_eq!(ended["status"], "Succeeded", "{ended}");
    assert_eq!(ended["properties"]["CacheSubnetGroupName"], "mydb");
}

#[apply(on_every_store)]
async fn a_name_in_a_url_finds_the_resource_in_any_spelling(world: &World) {
    let created = put_by_name(world, SUBNETS, "MyDB", subnets("MyDB", "a"))
        .await
        .expect(201);
    world.settle().await;
    let ended = world.status(&created).await;
    assert_eq!(ended["status"], "Succeeded", "{ended}");
    let id = format!("{}/mydb", collection(SUBNETS));
    assert_eq!(ended["resourceId"], id);
    for name in ["MyDB", "mydb", "MYDB"] {
        let read = by_name(world, "GET", SUBNETS, name).await.expect(200);
        assert_eq!(
            (&read.body["id"], &read.body["name"]),
            (&json!(id), &json!("mydb"))
        );
        let parts = json!({"properties": {"CacheSubnetGroupName": name}});
        let read = world.post(SUBNETS, "get", &parts).await.expect(200);
        assert_eq!(read.body["id"], id);
        put_by_name(world, SUBNETS, name, subnets(name, "a"))
            .await
            .expect(200);
    }
    by_name(world, "DELETE", SUBNETS, "MYDB").await.expect(202);
    world.settle().await;
    assert!(world.live("AWS::ElastiCache::SubnetGroup").is_empty());
}

#[apply(on_every_store)]
async fn a_resource_is_busy_in_every_spelling(world: &World) {
    put_by_name(world, SUBNETS, "mydb", subnets("mydb", "a"))
        .await
        .expect(201);
    world.settle().await;
    let running = put_by_name(world, SUBNETS, "mydb", subnets("mydb", "b"))
        .await
        .expect(201);
    world.step().await;
    let alias =
        json!({"trackedBy": tracked_by(SUBNETS, "main"), "properties": subnets("MyDB", "c")});
    let calls = world.calls("UpdateResource");
    for refused in [
        put_by_name(world, SUBNETS, "MyDB", subnets("MyDB", "c")).await,
        world.post(SUBNETS, "put", &alias).await,
        by_name(world, "DELETE", SUBNETS, "MYDB").await,
        import_as_owner(world, "rg", SUBNETS, "MyDB").await,
    ] {
        let refused = refused.expect(409);
        assert_eq!(refused.code(), "Conflict");
        let detail = &refused.body["error"]["details"][0];
        assert_eq!(detail["code"], "OperationInProgress");
    }
    assert_eq!(world.calls("UpdateResource"), calls, "nothing was sent");
    assert_eq!(world.calls("DeleteResource"), 0);
    assert!(world.references().await.is_empty());
    world.settle().await;
    assert_eq!(world.status(&running).await["status"], "Succeeded");
    put_by_name(world, SUBNETS, "MyDB", subnets("MyDB", "b"))
        .await
        .expect(200);
}

#[apply(on_every_store)]
async fn names_that_aws_tells_apart_are_two_resources(world: &World) {
    for (alias, name) in [("upper", "Foo"), ("lower", "foo")] {
        let ended = world
            .put_and_settle(LOG_GROUP, alias, json!({"LogGroupName": name}))
            .await;
        assert_eq!(ended["properties"]["LogGroupName"], name);
    }
    assert_eq!(world.live("AWS::Logs::LogGroup"), ["Foo", "foo"]);
    let refused = world
        .put(LOG_GROUP, "upper", json!({"LogGroupName": "foo"}))
        .await
        .expect(409);
    assert_eq!(refused.code(), "RequiresReplacement");
}

/// The id of the log stream `a|b` in the log group `g`, whose name is a JSON object.
fn stream_id() -> String {
    let name = r#"{"LogGroupName":"g","LogStreamName":"a|b"}"#;
    format!("{}/{}", collection(LOG_STREAM), encode_segment(name))
}

#[apply(on_every_store)]
async fn a_bar_in_a_part_of_a_name_is_escaped_in_the_id(world: &World) {
    let stream = json!({"LogGroupName": "g", "LogStreamName": "a|b"});
    let name = stream.to_string();
    let ended = world
        .put_and_settle(LOG_STREAM, "main", stream.clone())
        .await;
    assert_eq!(ended["resourceId"], stream_id(), "{ended}");
    world
        .put(LOG_STREAM, "main", stream.clone())
        .await
        .expect(200);
    let reference = &world.references().await[0];
    assert_eq!(reference["mapsTo"]["primaryIdentifier"], name);
    // The id works: read, put, import, delete.
    let read = world.call("GET", &stream_id(), "").await.expect(200);
    assert_eq!(read.body["id"], stream_id());
    assert_eq!(read.body["name"], name);
    assert_eq!(read.body["properties"]["LogStreamName"], "a|b");
    let same = world
        .call("PUT", &stream_id(), r#"{"properties": {}}"#)
        .await
        .expect(200);
    assert_eq!(same.body["id"], stream_id());
    let parts = json!({"properties": stream});
    let read = world.post(LOG_STREAM, "get", &parts).await.expect(200);
    assert_eq!(read.body["id"], stream_id());
    let turned = r#"{"LogStreamName": "a|b", "LogGroupName": "g"}"#;
    let import =
        json!({"trackedBy": tracked_by(LOG_STREAM, "second"), "primaryIdentifier": turned});
    let imported = world.post(LOG_STREAM, "import", &import).await.expect(201);
    assert_eq!(imported.body["mapsTo"]["primaryIdentifier"], name);
    // Without the escape it is not known which parts are meant.
    let raw = format!("{}/g%7Ca%7Cb", collection(LOG_STREAM));
    let refused = world
        .call("PUT", &raw, r#"{"properties": {}}"#)
        .await
        .expect(400);
    assert!(refused.text.contains("JSON object"), "{}", refused.text);

    world.call("DELETE", &stream_id(), "").await.expect(202);
    world.settle().await;
    assert!(world.references().await.is_empty());
    world.call("GET", &stream_id(), "").await.expect(404);
    // It can be created by that id too.
    world
        .call("PUT", &stream_id(), r#"{"properties": {}}"#)
        .await
        .expect(201);
    world.settle().await;
    assert_eq!(world.live("AWS::Logs::LogStream"), ["g|a|b"]);
}
