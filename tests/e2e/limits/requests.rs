//! For each limit that a request can meet alone, the request with a value.

use serde_json::{Map, Value, json};
use ucp_testkit::{ACCOUNT, GROUP, REGION, World, tracked_by};

use super::{API, Sent, VPC};

const LOGS: &str = "AWS.Logs/LogGroup";
const REPORT: &str = "Initech.TPS/Report";

fn collection(resource_type: &str) -> String {
    format!("/planes/aws/aws/accounts/{ACCOUNT}/regions/{REGION}/providers/{resource_type}")
}

fn get(path: String) -> Sent {
    Sent {
        method: "GET",
        path,
        body: String::new(),
    }
}

fn put(path: String, body: &Value) -> Sent {
    Sent {
        method: "PUT",
        path,
        body: body.to_string(),
    }
}

/// A put of a log group, with this policy.
fn put_policy(policy: Value) -> Sent {
    let body = json!({"properties": {"DataProtectionPolicy": policy}});
    put(format!("{}/logs", collection(LOGS)), &body)
}

fn put_vpc(more: &[(&str, Value)]) -> Sent {
    let mut body =
        json!({"trackedBy": tracked_by(VPC, "main"), "properties": {"CidrBlock": "10.0.0.0/16"}});
    for (member, value) in more {
        body[*member] = value.clone();
    }
    Sent {
        method: "POST",
        path: format!("{}/:put", collection(VPC)),
        body: body.to_string(),
    }
}

/// Registers a private type, and puts it.
fn put_report(world: &World, schema: &Value, properties: Value) -> Sent {
    let registered = world.aws.register_type(&schema.to_string());
    registered.expect("the simulator takes the schema");
    let body = json!({"trackedBy": tracked_by(REPORT, "main"), "properties": properties});
    Sent {
        method: "POST",
        path: format!("{}/:put", collection(REPORT)),
        body: body.to_string(),
    }
}

fn report(more: Value) -> Value {
    json!({
        "typeName": "Initech::TPS::Report",
        "description": "A report.",
        "properties": {"Name": {"type": "string"}, "More": more},
        "additionalProperties": false,
        "primaryIdentifier": ["/properties/Name"],
        "createOnlyProperties": ["/properties/Name"],
        "handlers": {"create": {"permissions": []}, "read": {"permissions": []}, "update": {"permissions": []},
            "delete": {"permissions": []}, "list": {"permissions": []}},
    })
}

pub(super) fn url(_: &World, bytes: usize) -> Sent {
    let start = format!("/planes?{API}&x=");
    let rest = bytes - start.len();
    get(format!("{start}{}", "x".repeat(rest)))
}

pub(super) fn body(_: &World, bytes: usize) -> Sent {
    let mut sent = put(format!("{GROUP}?{API}"), &json!({"location": "global"}));
    sent.body += &" ".repeat(bytes - sent.body.len());
    sent
}

pub(super) fn body_depth(_: &World, levels: usize) -> Sent {
    // Above it are the body and its properties.
    let depth = levels - 2;
    put_policy((1..depth).fold(json!({}), |below, _| json!({"x": below})))
}

pub(super) fn body_values(_: &World, values: usize) -> Sent {
    // Besides the elements, there are the body, the properties, the policy and its list.
    put_policy(json!({"x": vec![0; values - 4]}))
}

pub(super) fn member_name(_: &World, characters: usize) -> Sent {
    put_policy(json!({"é".repeat(characters): 1}))
}

pub(super) fn page(_: &World, top: usize) -> Sent {
    get(format!("/planes?{API}&top={top}"))
}

pub(super) fn text(_: &World, characters: usize) -> Sent {
    let location = "é".repeat(characters);
    put(format!("{GROUP}?{API}"), &json!({"location": location}))
}

fn put_credential(tags: Value) -> Sent {
    let path = format!("/planes/aws/aws/providers/System.AWS/credentials/other?{API}");
    let properties = json!({"kind": "IRSA", "roleARN": "arn:aws:iam::123456789012:role/ucp",
        "storage": {"kind": "Internal"}});
    put(
        path,
        &json!({"location": "global", "tags": tags, "properties": properties}),
    )
}

pub(super) fn arm_tags(_: &World, count: usize) -> Sent {
    put_credential(some_tags(count))
}

pub(super) fn grant_scopes(_: &World, count: usize) -> Sent {
    let scopes = (0..count).map(|number| format!("/planes/aws/aws/accounts/{number:012}"));
    let scopes: Vec<String> = scopes.collect();
    let properties = json!({"user": "alice", "role": "reader", "scopes": scopes});
    Sent {
        method: "PUT",
        path: format!("/planes/radius/local/providers/System.Resources/roleAssignments/a?{API}"),
        body: json!({"properties": properties}).to_string(),
    }
}

pub(super) fn arm_tag_key(_: &World, characters: usize) -> Sent {
    put_credential(json!({"é".repeat(characters): "v"}))
}

pub(super) fn default_tag_key(_: &World, characters: usize) -> Sent {
    let default_tags = json!({"é".repeat(characters): "v"});
    Sent {
        method: "PATCH",
        path: format!("{GROUP}?{API}"),
        body: json!({"properties": {"defaultTags": default_tags}}).to_string(),
    }
}

pub(super) fn arm_tag_value(_: &World, characters: usize) -> Sent {
    let tags = json!({"k": "é".repeat(characters)});
    let path = format!("/planes/aws/other?{API}");
    put(path, &json!({"location": "global", "tags": tags}))
}

pub(super) fn plane_settings(_: &World, bytes: usize) -> Sent {
    let mut settings = json!({"x": ""});
    let rest = bytes - settings.to_string().len();
    settings["x"] = json!("x".repeat(rest));
    let path = format!("/planes/aws/other?{API}");
    put(path, &json!({"location": "global", "properties": settings}))
}

pub(super) fn plane_name(_: &World, characters: usize) -> Sent {
    let path = format!("/planes/aws/{}?{API}", "a".repeat(characters));
    put(path, &json!({"location": "global"}))
}

pub(super) fn group_name(_: &World, characters: usize) -> Sent {
    let name = "%C3%A9".repeat(characters);
    let path = format!("/planes/radius/local/resourceGroups/{name}?{API}");
    put(path, &json!({"location": "global"}))
}

pub(super) fn alias(_: &World, characters: usize) -> Sent {
    let alias = "a".repeat(characters);
    put_vpc(&[("trackedBy", json!(GROUP)), ("alias", json!(alias))])
}

pub(super) fn identifier(_: &World, characters: usize) -> Sent {
    get(format!("{}/{}", collection(VPC), "v".repeat(characters)))
}

pub(super) fn account(_: &World, characters: usize) -> Sent {
    let path = format!("{}/vpc-1", collection(VPC));
    get(path.replace(ACCOUNT, &"1".repeat(characters)))
}

pub(super) fn region(_: &World, characters: usize) -> Sent {
    let path = format!("{}/vpc-1", collection(VPC));
    get(path.replace(REGION, &"r".repeat(characters)))
}

fn some_tags(count: usize) -> Value {
    let tags = (0..count).map(|number| (format!("k{number}"), json!("v")));
    Value::Object(Map::from_iter(tags))
}

pub(super) fn tags(_: &World, count: usize) -> Sent {
    put_vpc(&[("tags", some_tags(count))])
}

pub(super) fn tag_key(_: &World, characters: usize) -> Sent {
    put_vpc(&[("defaultTags", json!({"é".repeat(characters): "v"}))])
}

pub(super) fn tag_value(_: &World, characters: usize) -> Sent {
    put_vpc(&[("tags", json!({"k": "é".repeat(characters)}))])
}

pub(super) fn properties(_: &World, characters: usize) -> Sent {
    let empty = json!({"LogGroupName": "logs", "DataProtectionPolicy": {"x": ""}});
    let rest = characters - empty.to_string().len();
    put_policy(json!({"x": "x".repeat(rest)}))
}

pub(super) fn import_resources(_: &World, count: usize) -> Sent {
    let scope = format!("/planes/aws/aws/accounts/{ACCOUNT}/regions/{REGION}");
    let items = (0..count).map(|at| {
        json!({"alias": format!("a{at}"), "type": LOGS, "scope": scope, "primaryIdentifier": format!("g{at}")})
    });
    let items: Vec<Value> = items.collect();
    Sent {
        method: "POST",
        path: format!("{GROUP}/:import"),
        body: json!({"resources": items}).to_string(),
    }
}

/// A plan of a group that holds nothing, with further members.
fn refactor(members: &Value) -> Sent {
    let mut body = json!({"mode": "plan", "groups": [{"name": "none", "resources": []}]});
    let members = members.as_object().expect("an object").clone();
    body.as_object_mut().expect("an object").extend(members);
    Sent {
        method: "POST",
        path: "/planes/radius/local/:refactor".to_owned(),
        body: body.to_string(),
    }
}

pub(super) fn refactor_body(_: &World, bytes: usize) -> Sent {
    let mut sent = refactor(&json!({}));
    sent.body += &" ".repeat(bytes - sent.body.len());
    sent
}

pub(super) fn refactor_body_values(_: &World, values: usize) -> Sent {
    // Besides the elements, there are the body, the mode, the list, and the groups with one that has two members.
    refactor(&json!({"exclude": vec!["AWS.A/B"; values - 7]}))
}

pub(super) fn refactor_groups(_: &World, count: usize) -> Sent {
    let groups = (0..count).map(|at| json!({"name": format!("g{at}"), "resources": []}));
    refactor(&json!({"groups": groups.collect::<Vec<_>>()}))
}

pub(super) fn refactor_events(_: &World, count: usize) -> Sent {
    let events = (0..count).map(|at| json!({"id": format!("e{at}")}));
    refactor(&json!({"history": events.collect::<Vec<_>>()}))
}

pub(super) fn refactor_event_moves(_: &World, count: usize) -> Sent {
    let moves = (0..count).map(
        |at| json!({"from": format!("none/{LOGS}/a{at}"), "to": format!("none/{LOGS}/b{at}")}),
    );
    refactor(&json!({"history": [{"id": "e", "moves": moves.collect::<Vec<_>>()}]}))
}

pub(super) fn refactor_event_name(_: &World, characters: usize) -> Sent {
    refactor(&json!({"history": [{"id": "é".repeat(characters)}]}))
}

pub(super) fn refactor_types(_: &World, count: usize) -> Sent {
    let resources = (0..count).map(|at| {
        let scope = format!("/planes/aws/aws/accounts/{ACCOUNT}/regions/us-west-{at}");
        json!({"alias": format!("a{at}"), "type": LOGS, "scope": scope})
    });
    let resources: Vec<Value> = resources.collect();
    refactor(&json!({"groups": [{"name": "rg", "resources": resources}]}))
}

pub(super) fn refactor_puts(_: &World, count: usize) -> Sent {
    let resources = (0..count).map(|at| {
        let properties = json!({"LogGroupName": format!("logs-{at}")});
        json!({"alias": format!("a{at}"), "type": LOGS, "properties": properties})
    });
    let resources: Vec<Value> = resources.collect();
    let scope = format!("/planes/aws/aws/accounts/{ACCOUNT}/regions/us-west-2");
    let groups = json!([{"name": "rg", "resources": resources}]);
    refactor(&json!({"deploy": true, "scope": scope, "groups": groups}))
}

pub(super) fn matched_string(world: &World, characters: usize) -> Sent {
    let schema = report(json!({"type": "string", "pattern": "^é+$"}));
    let more = "é".repeat(characters);
    put_report(world, &schema, json!({"Name": "weekly", "More": more}))
}
