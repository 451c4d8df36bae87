//! Roles that callers give to others.

use std::convert::Infallible;
use std::sync::Arc;
use std::time::Duration;

use axum::body::Body;
use axum::http::Request;
use futures_util::stream;
use serde_json::{Value, json};
use tokio::sync::oneshot;
use ucp_access::{Grant, Role};
use ucp_store::AuditOutcome;
use ucp_store::holding::Hold;
use ucp_testkit::{Reply, StoreKind, World, apply, on_every_store};

use super::grant;

const VERSION: &str = "api-version=2023-10-01-preview";
const LIST: &str = "/planes/radius/local/providers/System.Resources/roleAssignments";
const OURS: &str = "/planes/radius/local/resourcegroups/ours";
const THEIRS: &str = "/planes/radius/local/resourcegroups/theirs";
const ACCOUNT: &str = "/planes/aws/aws/accounts/123456789012";

/// Alice owns a group and an account, Carol another group.
fn owners() -> Vec<Grant> {
    vec![
        grant("alice", Role::Owner, &[OURS, ACCOUNT]),
        grant("carol", Role::Owner, &[THEIRS]),
    ]
}

async fn world(kind: StoreKind) -> Option<World> {
    let world = World::builder().on(kind).await?.granting(owners());
    let world = world.build().await;
    for group in ["ours", "theirs"] {
        world.put_group(group).await;
    }
    Some(world)
}

/// Another process over the same store.
async fn another(world: &World) -> World {
    let another = World::builder().over(&world.store).granting(owners());
    another.build().await
}

fn body(user: &str, role: &str, scopes: &[&str]) -> String {
    json!({"properties": {"user": user, "role": role, "scopes": scopes}}).to_string()
}

fn path(name: &str) -> String {
    format!("{LIST}/{name}?{VERSION}")
}

async fn put(world: &World, who: &str, name: &str, body: &str) -> Reply {
    world.call_as(who, "PUT", &path(name), body).await
}

async fn get(world: &World, who: &str, name: &str) -> Reply {
    world.call_as(who, "GET", &path(name), "").await
}

async fn delete(world: &World, who: &str, name: &str) -> Reply {
    world.call_as(who, "DELETE", &path(name), "").await
}

async fn put_with(world: &World, header: (&'static str, &str), body: &str) -> Reply {
    let headers = [("authorization", "Bearer alice"), header];
    world.send_with(&headers, "PUT", &path("bob"), body).await
}

/// Whether the caller may change the group.
async fn changes(world: &World, who: &str, group: &str) -> bool {
    let path = format!("{group}?{VERSION}");
    let body = r#"{"tags": {"by": "them"}}"#;
    let reply = world.call_as(who, "PATCH", &path, body).await;
    match reply.status {
        200 => true,
        403 => {
            assert_eq!(reply.code(), "AuthorizationFailed");
            false
        }
        _ => panic!("{}", reply.text),
    }
}

fn names(reply: &Reply) -> Vec<&str> {
    let value = reply.body["value"].as_array().expect("a list");
    let names = value.iter().map(|item| item["name"].as_str());
    names.map(|name| name.expect("a name")).collect()
}

#[apply(on_every_store)]
async fn a_role_is_given_and_taken_away_at_once(kind: StoreKind) {
    let Some(world) = world(kind).await else {
        return;
    };
    assert!(!changes(&world, "bob", OURS).await);
    let contributor = body("bob", "contributor", &[OURS, ACCOUNT]);
    let created = put(&world, "alice", "Bob", &contributor).await.expect(201);
    assert!(changes(&world, "bob", OURS).await);
    assert!(!changes(&world, "bob", THEIRS).await);
    assert!(!changes(&world, "dave", OURS).await);
    let expected = json!({
        "id": format!("{LIST}/Bob"),
        "name": "Bob",
        "type": "System.Resources/roleAssignments",
        "systemData": {
            "createdBy": "alice", "createdAt": "2026-01-01T00:00:00Z",
            "lastModifiedBy": "alice", "lastModifiedAt": "2026-01-01T00:00:00Z",
        },
        "properties": {"user": "bob", "role": "contributor", "scopes": [OURS, ACCOUNT]},
    });
    assert_eq!(created.body, expected);
    let read = get(&world, "alice", "bob").await.expect(200);
    assert_eq!(read.body, expected);
    assert_eq!(read.header("etag"), created.header("etag"));
    let head = world.call_as("alice", "HEAD", &path("bob"), "").await;
    head.expect(204);

    // The same again writes nothing, and neither does what was read.
    let written = world.asked_store("put_role_assignment");
    let shouting = body("bob", "Contributor", &[&OURS.to_uppercase(), ACCOUNT]);
    for same in [&contributor, &shouting, &read.text] {
        let again = put(&world, "alice", "bob", same).await.expect(200);
        assert_eq!(again.body, expected);
        assert_eq!(again.header("etag"), created.header("etag"));
    }
    assert_eq!(world.asked_store("put_role_assignment"), written);

    world.clock.advance(Duration::from_secs(1));
    let reader = body("bob", "reader", &[OURS]);
    let replaced = put(&world, "root", "bob", &reader).await.expect(200);
    assert!(!changes(&world, "bob", OURS).await);
    let system = &replaced.body["systemData"];
    assert_eq!(system["createdBy"], "alice");
    assert_eq!(system["lastModifiedBy"], "root");
    assert_eq!(system["lastModifiedAt"], "2026-01-01T00:00:01Z");
    let group = format!("{OURS}?{VERSION}");
    world.call_as("bob", "GET", &group, "").await.expect(200);
    delete(&world, "alice", "BOB").await.expect(200);
    world.call_as("bob", "GET", &group, "").await.expect(404);
    delete(&world, "alice", "bob").await.expect(404);
    delete(&world, "root", "bob").await.expect(204);
    get(&world, "alice", "bob").await.expect(404);
    world.finish().await;
}

/// Names are of users, of groups, and of tokens, whose own role it is added to.
/// Who gives a role is judged when all of their request is there.
#[apply(on_every_store)]
async fn who_loses_his_role_while_he_sends_gives_none(kind: StoreKind) {
    let Some(world) = world(kind).await else {
        return;
    };
    let owner = body("eve", "owner", &[OURS]);
    put(&world, "alice", "eve", &owner).await.expect(201);
    let (read, is_read) = oneshot::channel();
    let (send, is_sent) = oneshot::channel::<()>();
    let late = stream::once(async move {
        let _ = read.send(());
        let _ = is_sent.await;
        Ok::<_, Infallible>(owner)
    });
    let request = Request::put(path("again"))
        .header("host", "localhost:8787")
        .header("authorization", "Bearer eve")
        .header("content-type", "application/json")
        .body(Body::from_stream(late));
    let taken = async {
        is_read.await.expect("the body is read");
        delete(&world, "alice", "eve").await.expect(200);
        send.send(()).expect("the body is awaited");
    };
    let (given, ()) = tokio::join!(world.send(request.expect("a request")), taken);
    given.expect(403);
    get(&world, "root", "again").await.expect(404);
    world.finish().await;
}

#[apply(on_every_store)]
async fn roles_are_given_to_groups_and_tokens_too(kind: StoreKind) {
    let Some(world) = world(kind).await else {
        return;
    };
    let of_team = json!({"properties": {"group": "team", "role": "contributor", "scopes": [OURS]}});
    let of_team = put(&world, "alice", "team", &of_team.to_string()).await;
    assert_eq!(of_team.expect(201).body["properties"]["group"], "team");
    assert!(changes(&world, "bob;team", OURS).await);
    assert!(!changes(&world, "team", OURS).await);

    let token = world.token("ci", Role::Reader, &[THEIRS], None).await;
    assert!(!changes(&world, &token, OURS).await);
    let of_token = body("token:ci", "contributor", &[OURS]);
    put(&world, "alice", "token", &of_token).await.expect(201);
    assert!(changes(&world, &token, OURS).await);
    assert!(!changes(&world, &token, THEIRS).await);
    let theirs = format!("{THEIRS}?{VERSION}");
    world.call_as(&token, "GET", &theirs, "").await.expect(200);
    world.finish().await;
}

#[apply(on_every_store)]
async fn nobody_gives_what_he_does_not_own(kind: StoreKind) {
    let Some(world) = world(kind).await else {
        return;
    };
    let of_all = body("bob", "contributor", &[OURS, ACCOUNT]);
    put(&world, "alice", "bob", &of_all).await.expect(201);
    let of_theirs = body("dave", "reader", &[THEIRS]);
    put(&world, "carol", "theirs", &of_theirs).await.expect(201);
    let both = body("erin", "reader", &[OURS, THEIRS]);
    put(&world, "root", "both", &both).await.expect(201);
    let before = get(&world, "root", "both").await.text;

    let beyond = |scope: &str| body("alice", "owner", &[OURS, scope]);
    for (who, name, body) in [
        // Above, beside, and everything.
        ("alice", "new", beyond("/")),
        ("alice", "new", beyond("/planes/radius/local")),
        ("alice", "new", beyond("/planes/aws/aws")),
        ("alice", "new", beyond(THEIRS)),
        ("alice", "new", beyond(&format!("{OURS}2"))),
        // Out of their scopes, and into them.
        ("alice", "bob", beyond(THEIRS)),
        ("alice", "theirs", body("dave", "reader", &[OURS])),
        ("alice", "both", body("erin", "reader", &[OURS])),
        ("carol", "bob", body("carol", "owner", &[THEIRS])),
        // Who changes things does not give rights, and what denies nothing is no right.
        ("bob", "new", body("bob", "owner", &[OURS])),
        ("bob", "new", body("bob", "reader", &[OURS])),
        ("dave", "theirs", body("dave", "owner", &[THEIRS])),
        ("nobody", "new", body("nobody", "reader", &[OURS])),
    ] {
        let refused = put(&world, who, name, &body).await.expect(403);
        assert_eq!(refused.code(), "AuthorizationFailed", "{who} {name} {body}");
    }
    for (who, name) in [("bob", "bob"), ("bob", "absent"), ("dave", "theirs")] {
        let refused = delete(&world, who, name).await.expect(403);
        assert_eq!(refused.code(), "AuthorizationFailed", "{who} {name}");
    }
    // What may not be read looks like what is not there, and both are recorded alike.
    for (who, name) in [("alice", "theirs"), ("alice", "both"), ("carol", "both")] {
        let there = delete(&world, who, name).await.expect(404);
        let absent = delete(&world, who, "absent").await.expect(404);
        assert_eq!(there.text, absent.text.replace("absent", name));
    }
    let audited = world.audited().await;
    let hidden = audited.iter().filter(|event| event.status == Some(404));
    let hidden: Vec<_> = hidden.map(|event| event.outcome).collect();
    assert_eq!(hidden, [AuditOutcome::Refused; 6]);
    delete(&world, "root", "absent").await.expect(204);
    let list = format!("{LIST}?{VERSION}");
    let all = world.call_as("root", "GET", &list, "").await.expect(200);
    assert_eq!(names(&all), ["bob", "both", "theirs"]);
    assert_eq!(get(&world, "root", "both").await.text, before);

    // The refusal names the scope, and who can help.
    let refused = put(&world, "alice", "new", &beyond("/planes/aws/aws")).await;
    let message = refused.body["error"]["message"].as_str().expect("a text");
    for part in [
        "'System.Resources/roleAssignments/write' over scope '/planes/aws/aws'",
        "Ask an owner of the scope",
    ] {
        assert!(message.contains(part), "{message}");
    }
    world.finish().await;
}

/// What somebody does not own is not there for them.
#[apply(on_every_store)]
async fn lists_and_ids_show_what_the_caller_owns(kind: StoreKind) {
    let Some(world) = world(kind).await else {
        return;
    };
    for (who, name, scopes) in [
        ("alice", "a", &[OURS][..]),
        ("carol", "b", &[THEIRS]),
        ("alice", "c", &[ACCOUNT, OURS]),
        ("root", "d", &[OURS, THEIRS]),
        ("root", "e", &["/"]),
        ("alice", "f", &[ACCOUNT]),
    ] {
        let given = body("hidden", "reader", scopes);
        put(&world, who, name, &given).await.expect(201);
    }
    for (who, mine) in [
        ("root", &["a", "b", "c", "d", "e", "f"][..]),
        ("alice", &["a", "c", "f"]),
        ("carol", &["b"]),
        ("hidden", &[]),
        ("nobody", &[]),
    ] {
        let list = format!("{LIST}?{VERSION}");
        let listed = world.call_as(who, "GET", &list, "").await.expect(200);
        assert_eq!(names(&listed), mine, "{who}");
        assert!(listed.body.get("nextLink").is_none());
        for name in ["a", "b", "c", "d", "e", "f"] {
            let expected = if mine.contains(&name) { 200 } else { 404 };
            let there = get(&world, who, name).await.expect(expected);
            if expected == 404 {
                let absent = get(&world, who, "x").await.expect(404);
                let quoted = |name: &str| format!("'{name}'");
                let ending = |name: &str| format!("roleAssignments/{name}\"");
                let text = absent.text.replace(&quoted("x"), &quoted(name));
                assert_eq!(there.text, text.replace(&ending("x"), &ending(name)));
            }
        }
    }
    let mut paged = Vec::new();
    let mut next = format!("{LIST}?{VERSION}&top=2");
    for _ in 0..3 {
        let page = world.call_as("alice", "GET", &next, "").await.expect(200);
        paged.push(names(&page).join(" "));
        match page.body["nextLink"].as_str() {
            Some(link) => next = link.split_once(":8787").expect("a path").1.to_owned(),
            None => break,
        }
    }
    assert_eq!(paged, ["a c", "f"]);
    world.finish().await;
}

#[apply(on_every_store)]
async fn what_another_process_takes_away_ends_within_five_seconds(kind: StoreKind) {
    let Some(world) = world(kind).await else {
        return;
    };
    let contributor = body("bob", "contributor", &[OURS]);
    put(&world, "alice", "bob", &contributor).await.expect(201);
    let owner = body("erin", "owner", &[OURS]);
    put(&world, "alice", "erin", &owner).await.expect(201);
    // It survives a restart.
    let other = another(&world).await;
    assert!(changes(&other, "bob", OURS).await);
    for name in ["bob", "erin"] {
        delete(&world, "alice", name).await.expect(200);
    }
    assert!(!changes(&world, "bob", OURS).await);
    other.clock.advance(Duration::from_millis(4_999));
    assert!(changes(&other, "bob", OURS).await);
    // Who was an owner cannot give back what was taken away, not even meanwhile.
    let mine = body("erin", "owner", &[OURS]);
    put(&other, "erin", "erin", &mine).await.expect(403);
    assert!(!changes(&other, "bob", OURS).await);

    put(&world, "alice", "bob", &contributor).await.expect(201);
    assert!(!changes(&other, "bob", OURS).await);
    other.clock.advance(Duration::from_secs(5));
    assert!(changes(&other, "bob", OURS).await);
    world.finish().await;
}

/// No statement more while what was read is fresh, however much is given.
#[apply(on_every_store)]
async fn requests_are_judged_without_a_statement(kind: StoreKind) {
    let Some(world) = world(kind).await else {
        return;
    };
    for name in ["a", "b", "c"] {
        let reader = body("bob", "reader", &[OURS]);
        put(&world, "alice", name, &reader).await.expect(201);
    }
    let group = format!("{OURS}?{VERSION}");
    let ask = async || {
        let before = world.asked_of_store();
        world.call_as("bob", "GET", &group, "").await.expect(200);
        let mut after = world.asked_of_store();
        after.retain(|method, count| {
            *count -= before.get(method).copied().unwrap_or_default();
            *count > 0 && !method.starts_with("claim")
        });
        after
    };
    let first = ask().await;
    assert_eq!(first.get("list_role_assignments"), Some(&1));
    for _ in 0..3 {
        let mut again = ask().await;
        assert!(!again.contains_key("list_role_assignments"), "{again:?}");
        again.insert("list_role_assignments", 1);
        again.insert("list_planes", 1);
        assert_eq!(again, first);
    }
    world.clock.advance(Duration::from_secs(5));
    assert_eq!(ask().await, first);
    world.finish().await;
}

/// Whoever creates a group of that name later has given nothing.
#[apply(on_every_store)]
async fn a_deleted_group_takes_the_roles_over_it(kind: StoreKind) {
    let Some(world) = world(kind).await else {
        return;
    };
    let only = body("bob", "owner", &[OURS]);
    put(&world, "alice", "only", &only).await.expect(201);
    let both = body("bob", "contributor", &[OURS, ACCOUNT]);
    put(&world, "alice", "both", &both).await.expect(201);
    let group = format!("{OURS}?{VERSION}");
    let deleted = world.call_as("alice", "DELETE", &group, "").await;
    deleted.expect(200);
    let audited = world.audited().await;
    let told = audited.iter().rev().take(3);
    let told: Vec<_> = told.map(|event| (&*event.action, &event.id)).collect();
    let [both, only] = ["both", "only"].map(|name| format!("{LIST}/{name}"));
    assert_eq!(
        told,
        [
            ("System.Resources/resourceGroups/delete", &OURS.to_owned()),
            ("System.Resources/roleAssignments/delete", &only),
            ("System.Resources/roleAssignments/write", &both),
        ]
    );
    world.put_group("ours").await;
    world.clock.advance(Duration::from_secs(5));
    assert!(!changes(&world, "bob", OURS).await);
    get(&world, "root", "only").await.expect(404);
    let left = get(&world, "alice", "both").await.expect(200);
    assert_eq!(left.body["properties"]["scopes"], json!([ACCOUNT]));
    assert_eq!(left.body["systemData"]["lastModifiedBy"], "alice");
    // What the operator has granted stays.
    assert!(changes(&world, "alice", OURS).await);
    world.finish().await;
}

/// Nobody sees what is under a plane that does not exist. So it is not put there, and what was put there before gives nothing.
#[apply(on_every_store)]
async fn what_is_under_no_plane_gives_nothing(kind: StoreKind) {
    let Some(world) = world(kind).await else {
        return;
    };
    const TEAM: &str = "/planes/radius/team";
    let plane = format!("{TEAM}?{VERSION}");
    let bob = format!("{TEAM}/providers/System.Resources/roleAssignments/bob?{VERSION}");
    let role = body("bob", "contributor", &[OURS]);
    let refused = world.call_as("alice", "PUT", &bob, &role).await.expect(404);
    assert_eq!(refused.body["error"]["target"], TEAM);
    let not_his = body("bob", "contributor", &[THEIRS]);
    world
        .call_as("alice", "PUT", &bob, &not_his)
        .await
        .expect(403);

    let settings = r#"{"location":"global","properties":{"resourceProviders":{}}}"#;
    let make = world.call_as("root", "PUT", &plane, settings);
    make.await.expect(200);
    let dave = body("dave", "contributor", &[TEAM]);
    put(&world, "root", "dave", &dave).await.expect(201);
    world.call_as("alice", "PUT", &bob, &role).await.expect(201);
    assert!(changes(&world, "bob", OURS).await);
    // It takes roles away, so who only changes things may not do it.
    let refused = world.call_as("dave", "DELETE", &plane, "").await;
    assert_eq!(refused.expect(403).code(), "AuthorizationFailed");
    world
        .call_as("root", "DELETE", &plane, "")
        .await
        .expect(200);
    assert!(!changes(&world, "bob", OURS).await, "at once");
    world.call_as("alice", "PUT", &bob, &role).await.expect(404);
    let make = world.call_as("root", "PUT", &plane, settings);
    make.await.expect(200);
    assert!(changes(&world, "bob", OURS).await, "it was kept");
    let deleted = world.call_as("alice", "DELETE", &bob, "").await;
    deleted.expect(200);
    world.finish().await;
}

#[apply(on_every_store)]
async fn conditions_are_checked_with_the_write(kind: StoreKind) {
    let Some(world) = world(kind).await else {
        return;
    };
    let reader = body("bob", "reader", &[OURS]);
    let owner = body("bob", "owner", &[OURS]);
    put_with(&world, ("if-match", "*"), &reader)
        .await
        .expect(412);
    let created = put_with(&world, ("if-none-match", "*"), &reader).await;
    let created = created.expect(201);
    let first = created.header("etag").expect("an ETag").to_owned();
    let again = put_with(&world, ("if-none-match", "*"), &reader).await;
    assert_eq!(again.expect(412).code(), "PreconditionFailed");
    let replaced = put_with(&world, ("if-match", &first), &owner).await;
    replaced.expect(200);
    put_with(&world, ("if-match", &first), &reader)
        .await
        .expect(412);
    let stale = [("authorization", "Bearer alice"), ("if-match", &first)];
    let refused = world.send_with(&stale, "DELETE", &path("bob"), "").await;
    refused.expect(412);
    let read = get(&world, "alice", "bob").await.expect(200);
    assert_eq!(read.body["properties"]["role"], "owner");
    world.finish().await;
}

#[apply(on_every_store)]
async fn everything_that_is_wrong_is_told(kind: StoreKind) {
    let Some(world) = world(kind).await else {
        return;
    };
    let scopes = json!([OURS, "/planets", 7, OURS]);
    let wrong = json!({"tags": {}, "properties": {"user": "a\nb", "group": "c", "role": "king",
        "scopes": scopes, "more": 1}});
    let refused = put(&world, "alice", "-", &wrong.to_string()).await;
    let refused = refused.expect(400);
    let details = refused.body["error"]["details"]
        .as_array()
        .expect("details");
    let details: Vec<&str> = details
        .iter()
        .filter_map(|detail| detail["message"].as_str())
        .collect();
    for part in [
        "'-' is not the name of a role assignment",
        "$['tags'] in body is not a member",
        "$.properties['more'] in body is not a member",
        "$.properties in body must have a user or a group",
        "$.properties.role in body is not valid: 'king' is not a role.",
        "$.properties.scopes[1] in body is not valid: '/planets' is not a scope",
        "$.properties.scopes[2] in body must be a string, not a number",
        "$.properties.scopes[3] in body is there twice",
    ] {
        let is_told = details.iter().any(|detail| detail.contains(part));
        assert!(is_told, "{part}: {details:#?}");
    }
    assert_eq!(details.len(), 8, "{details:#?}");
    let properties = |properties: Value| json!({ "properties": properties }).to_string();
    for (body, part) in [
        ("{}".to_owned(), "$.properties in body is required"),
        (
            properties(json!({"user": "", "role": "reader", "scopes": [OURS]})),
            "1 to 256",
        ),
        (
            properties(json!({"user": "a", "scopes": [OURS]})),
            "$.properties.role in body is required",
        ),
        (
            properties(json!({"user": "a", "role": "reader"})),
            "$.properties.scopes in body is required",
        ),
        (
            properties(json!({"user": "a", "role": "reader", "scopes": []})),
            "1 to 20 scopes, not 0",
        ),
        (
            properties(json!({"user": "a", "role": "reader", "scopes": vec!["/"; 21]})),
            "1 to 20 scopes, not 21",
        ),
        (
            properties(json!({"user": "a", "role": "reader", "scopes": "/"})),
            "must be an array",
        ),
    ] {
        let refused = put(&world, "alice", "a", &body).await.expect(400);
        assert!(refused.text.contains(part), "{}", refused.text);
    }
    assert_eq!(world.asked_store("put_role_assignment"), 0);
    world.finish().await;
}

/// What is denied to everybody stays so, and what is given over it can be taken away.
#[apply(on_every_store)]
async fn roles_do_not_reach_what_is_denied(kind: StoreKind) {
    let Some(builder) = World::builder().on(kind).await else {
        return;
    };
    let denied = ["AWS.Logs/*".parse().expect("types")];
    let world = builder.granting(owners()).denying(&denied).build().await;
    let logs = format!("{ACCOUNT}/regions/us-west-2/providers/AWS.Logs/LogGroup");
    let owner = body("bob", "owner", &[&logs]);
    put(&world, "alice", "bob", &owner).await.expect(201);
    let put_logs = json!({"properties": {"LogGroupName": "logs"}}).to_string();
    let path = format!("{logs}/:put");
    let refused = world.call_as("bob", "POST", &path, &put_logs).await;
    assert!(
        refused
            .expect(403)
            .text
            .contains("denies changes of AWS.Logs/*")
    );
    delete(&world, "alice", "bob").await.expect(200);
    world.finish().await;
}

#[apply(on_every_store)]
async fn giving_and_taking_is_audited(kind: StoreKind) {
    let Some(world) = world(kind).await else {
        return;
    };
    let built = world.audited().await.len();
    let reader = body("bob", "reader", &[OURS]);
    put(&world, "alice", "bob", &reader).await.expect(201);
    put(&world, "alice", "bob", &reader).await.expect(200);
    put(&world, "carol", "bob", &reader).await.expect(403);
    delete(&world, "nobody", "bob").await.expect(403);
    let team = json!({"group": "team", "role": "contributor", "scopes": [OURS, ACCOUNT]});
    let more = json!({"properties": team}).to_string();
    put(&world, "alice", "bob", &more).await.expect(200);
    delete(&world, "alice", "bob").await.expect(200);
    delete(&world, "alice", "bob").await.expect(404);
    let events = world.audited().await.split_off(built);
    let told: Vec<_> = events
        .iter()
        .map(|event| (&*event.caller, &*event.action, event.outcome))
        .collect();
    let write = "System.Resources/roleAssignments/write";
    let remove = "System.Resources/roleAssignments/delete";
    assert_eq!(
        told,
        [
            ("alice", write, AuditOutcome::Allowed),
            ("carol", write, AuditOutcome::Refused),
            ("nobody", remove, AuditOutcome::Refused),
            ("alice", write, AuditOutcome::Allowed),
            ("alice", remove, AuditOutcome::Allowed),
            ("alice", remove, AuditOutcome::Refused),
        ]
    );
    let reader = json!({"user": "bob", "role": "reader", "scopes": [OURS]});
    let changes = [
        json!({"after": reader}),
        Value::Null,
        Value::Null,
        json!({"before": reader, "after": team}),
        json!({"before": team}),
        Value::Null,
    ];
    for (event, change) in events.iter().zip(&changes) {
        let recorded = serde_json::to_value(&event.change).expect("a value");
        assert_eq!(recorded, *change, "{event:?}");
    }
    let listed = LIST.replace("roleAssignments", "auditEvents");
    let listed = format!("{listed}?{VERSION}&top=6");
    let listed = world.call_as("root", "GET", &listed, "").await.expect(200);
    let listed = listed.body["value"].as_array().expect("a list").iter();
    for (event, change) in listed.rev().zip(&changes) {
        assert_eq!(event["properties"]["change"], *change, "{event}");
    }
    assert!(events.iter().all(|event| event.id == format!("{LIST}/bob")));

    // Who may not read the role assignment does not read in the audit what it gives.
    let dan = body("dan", "owner", &["/planes/radius/local"]);
    put(&world, "root", "dan", &dan).await.expect(201);
    let listed = LIST.replace("roleAssignments", "auditEvents");
    let listed = format!("{listed}?{VERSION}&top=7");
    let listed = world.call_as("dan", "GET", &listed, "").await.expect(200);
    let listed = listed.body["value"].as_array().expect("a list").iter();
    let listed: Vec<&Value> = listed.rev().take(changes.len()).collect();
    for (event, change) in listed.into_iter().zip(&changes) {
        let is_his = !change.to_string().contains(ACCOUNT);
        let shown = if is_his { change } else { &Value::Null };
        assert_eq!(event["properties"]["change"], *shown, "{event}");
    }
    world.finish().await;
}

/// Nobody hides what they give by leaving before the reply.
#[tokio::test]
async fn a_change_whose_client_leaves_is_audited() {
    // Only a database has statements to be held before.
    let world = world(StoreKind::Sqlite).await.expect("SQLite is there");
    let given = body("bob", "reader", &[OURS]);
    for (method, body) in [("PUT", given.as_str()), ("DELETE", "")] {
        let hold = Hold::before(0);
        let headers = [("authorization", "Bearer alice")];
        let path = path("bob");
        let sent = world.send_with(&headers, method, &path, body);
        tokio::select! {
            reply = Arc::clone(&hold).over(sent) => panic!("{reply:?}"),
            () = hold.reached() => {}
        }
        let count = world.audited().await.len();
        hold.release();
        let event = loop {
            let mut events = world.audited().await;
            if events.len() > count {
                break events.remove(count);
            }
            tokio::task::yield_now().await;
        };
        assert_eq!(
            (event.caller.as_str(), event.outcome),
            ("alice", AuditOutcome::Allowed)
        );
        let gave = json!({"user": "bob", "role": "reader", "scopes": [OURS]});
        let change = match method {
            "PUT" => json!({"after": gave}),
            _ => json!({"before": gave}),
        };
        assert_eq!(serde_json::to_value(&event.change).expect("JSON"), change);
    }
    world.finish().await;
}
