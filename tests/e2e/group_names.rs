//! The names of resource groups (contract section 3, D43).

use serde_json::json;
use ucp_testkit::{World, apply, on_every_store};

const API_VERSION: &str = "api-version=2023-10-01-preview";

/// Names are as wide as ARM's, and a group is found in every case and normalisation of its name.
#[apply(on_every_store)]
async fn a_group_name_has_letters_of_any_script(world: &World) {
    const NAME: &str = "-Größe_(1).東京";
    const ID: &str = "/planes/radius/local/resourcegroups/-Gr%C3%B6%C3%9Fe_(1).%E6%9D%B1%E4%BA%AC";
    let path = |name: &str| format!("/planes/radius/local/resourceGroups/{name}?{API_VERSION}");
    let body = r#"{"location":"global"}"#;
    let created = world.call("PUT", &path(NAME), body).await.expect(200);
    assert_eq!(created.body["name"], NAME);
    assert_eq!(created.body["id"], ID);
    let spellings = [
        NAME,
        "-GRÖSSE_(1).東京",
        "-gro\u{308}ße_(1).東京",
        "-Gr%C3%96SSE_%281%29%2E%E6%9D%B1%E4%BA%AC",
        "-gro%CC%88%C3%9Fe_(1).%e6%9d%b1%e4%ba%ac",
    ];
    for spelling in spellings {
        let seen = world.get(&path(spelling)).await.expect(200);
        assert_eq!(seen.body, created.body, "{spelling}");
    }
    let names = async || -> Vec<String> {
        let mut names = Vec::new();
        let mut next = Some(format!("{}&top=1", path("").replace("/?", "?")));
        while let Some(page) = next {
            let page = world.get(&page).await.expect(200).body;
            let groups = page["value"].as_array().unwrap().iter();
            names.extend(groups.map(|group| group["name"].as_str().unwrap().to_owned()));
            let link = page["nextLink"].as_str();
            next = link.map(|link| link.replace("http://localhost:8787", ""));
        }
        names
    };
    world.call("PUT", &path("ÿ"), body).await.expect(200);
    assert_eq!(names().await, [NAME, "rg", "ÿ"]);

    let reference = |group: &str| {
        format!("/planes/radius/local/resourceGroups/{group}/providers/AWS.EC2/VPC:reference/main")
    };
    for spelling in spellings {
        let put =
            json!({"trackedBy": reference(spelling), "properties": {"CidrBlock": "10.0.0.0/16"}});
        let reply = world.post("AWS.EC2/VPC", "put", &put).await;
        world.settle().await;
        if spelling == NAME {
            let status = world.status(&reply.expect(201)).await;
            assert_eq!(status["status"], "Succeeded", "{status}");
        } else {
            reply.expect(200);
        }
        let seen = world.get(&reference(spelling)).await.expect(200);
        let id = format!("{ID}/providers/AWS.EC2/VPC:reference/main");
        assert_eq!(seen.body["id"], id);
    }
    let operations = async |spelling: &str| {
        let list = path(spelling).replace('?', "/operations?");
        world.get(&list).await.expect(200).body["value"].clone()
    };
    let all = operations(NAME).await;
    assert_eq!(all[0]["status"], "Succeeded", "{all}");
    for spelling in spellings {
        assert_eq!(operations(spelling).await, all, "{spelling}");
    }
    let name = path(spellings[3]);
    let deleted = world.send_without_waiting("DELETE", &name, "").await;
    world.settle().await;
    assert_eq!(
        world.status(&deleted.expect(202)).await["status"],
        "Succeeded"
    );
    assert_eq!(names().await, ["rg", "ÿ"]);
}

#[apply(on_every_store)]
async fn a_refused_group_name_is_told_what_is_allowed(world: &World) {
    for name in [
        "rg.",
        "a%20b",
        "a%2Fb",
        "a%E2%80%8Bb",
        "x%CC%82",
        "%F0%9F%A6%80",
        &"a".repeat(91),
    ] {
        let path = format!("/planes/radius/local/resourceGroups/{name}?{API_VERSION}");
        for (method, body) in [
            ("PUT", r#"{"location":"global"}"#),
            ("GET", ""),
            ("DELETE", ""),
        ] {
            let refused = world.call(method, &path, body).await.expect(400);
            let message = refused.body["error"]["message"].as_str().unwrap();
            let allowed = "is not a resource group name: 1 to 90 letters and digits of any script, underscores, \
                           periods, parentheses and hyphens, not ending with a period";
            assert!(message.ends_with(allowed), "{method} {name}: {message}");
        }
    }
    // No path has bidirectional characters.
    let path = format!("/planes/radius/local/resourceGroups/a%E2%80%AEb?{API_VERSION}");
    let refused = world.call("GET", &path, "").await.expect(400);
    assert!(refused.text.contains("bidirectional"), "{}", refused.text);
    let longest = format!(
        "/planes/radius/local/resourceGroups/{}?{API_VERSION}",
        "a".repeat(90)
    );
    let put = world
        .call("PUT", &longest, r#"{"location":"global"}"#)
        .await;
    put.expect(200);
    let tracked_by = "/planes/radius/local/resourceGroups/rg./providers/AWS.EC2/VPC:reference/main";
    let put = json!({"trackedBy": tracked_by, "properties": {"CidrBlock": "10.0.0.0/16"}});
    let refused = world.post("AWS.EC2/VPC", "put", &put).await.expect(400);
    assert!(
        refused.text.contains("'rg.' is not a resource group name"),
        "{}",
        refused.text
    );
}
