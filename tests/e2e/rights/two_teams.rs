//! Two teams with a resource group and an account each, and an account that both use. Neither learns what the other has.

use serde_json::{Value, json};
use ucp_access::{Grant, Role};
use ucp_store::AuditOutcome;
use ucp_testkit::{Reply, StoreKind, World, apply, on_every_store};

use super::grant;

const VERSION: &str = "api-version=2023-10-01-preview";
const OURS: &str = "/planes/radius/local/resourcegroups/ours";
const THEIRS: &str = "/planes/radius/local/resourcegroups/hidden";
const OUR_ACCOUNT: &str = "/planes/aws/aws/accounts/111111111111";
const THEIR_ACCOUNT: &str = "/planes/aws/aws/accounts/222222222222";
const SHARED_ACCOUNT: &str = "/planes/aws/aws/accounts/333333333333";
const NAME: &str = "00000000-0000-4000-8000-000000000000";

fn teams() -> Vec<Grant> {
    vec![
        grant(
            "group:us",
            Role::Contributor,
            &[OURS, OUR_ACCOUNT, SHARED_ACCOUNT],
        ),
        grant(
            "bob",
            Role::Contributor,
            &[THEIRS, THEIR_ACCOUNT, SHARED_ACCOUNT],
        ),
        grant("carol", Role::Contributor, &[OURS]),
    ]
}

/// Alice is one of us.
const ALICE: &str = "alice;us";

async fn world(kind: StoreKind) -> Option<World> {
    world_granting(kind, Vec::new()).await
}

async fn world_granting(kind: StoreKind, more: Vec<Grant>) -> Option<World> {
    let grants = teams().into_iter().chain(more);
    let world = World::builder().on(kind).await?.granting(grants.collect());
    let world = world.build().await;
    for group in ["ours", "hidden"] {
        world.put_group(group).await;
    }
    Some(world)
}

fn collection(account: &str, resource_type: &str) -> String {
    format!("{account}/regions/us-west-2/providers/{resource_type}")
}

async fn post(world: &World, who: &str, path: &str, body: &Value) -> Reply {
    world.call_as(who, "POST", path, &body.to_string()).await
}

async fn get(world: &World, who: &str, path: &str) -> Reply {
    world
        .call_as(who, "GET", &format!("{path}?{VERSION}"), "")
        .await
}

async fn put_vpc(world: &World, who: &str, account: &str, group: &str, alias: &str) -> Reply {
    let path = format!("{}/:put", collection(account, "AWS.EC2/VPC"));
    let body =
        json!({"alias": alias, "trackedBy": group, "properties": {"CidrBlock": "10.0.0.0/16"}});
    let reply = post(world, who, &path, &body).await;
    world.settle().await;
    reply
}

async fn put_logs(world: &World, who: &str, group: &str, alias: &str) -> Reply {
    let path = format!("{}/:put", collection(SHARED_ACCOUNT, "AWS.Logs/LogGroup"));
    let body = json!({"alias": alias, "trackedBy": group, "properties": {"LogGroupName": "logs"}});
    post(world, who, &path, &body).await
}

/// Returns the path of the URL of an operation.
fn path_of(url: &str) -> String {
    let (_, path) = url.split_once("/planes").expect("an id");
    format!(
        "/planes{}",
        path.split_once('?').map_or(path, |(path, _)| path)
    )
}

#[apply(on_every_store)]
async fn lists_show_what_the_caller_may_read(kind: StoreKind) {
    let Some(world) = world(kind).await else {
        return;
    };
    let ids = |reply: &Reply| -> Vec<String> {
        let value = reply.body["value"].as_array().expect("a list");
        let ids = value.iter().map(|item| item["id"].as_str().expect("an id"));
        ids.map(str::to_owned).collect()
    };
    let groups = "/planes/radius/local/resourcegroups";
    assert_eq!(ids(&get(&world, ALICE, groups).await.expect(200)), [OURS]);
    assert_eq!(ids(&get(&world, "bob", groups).await.expect(200)), [THEIRS]);
    assert_eq!(ids(&get(&world, "root", groups).await.expect(200)).len(), 3);
    assert_eq!(ids(&get(&world, "dave", groups).await.expect(200)), [""; 0]);
    for planes in ["/planes", "/planes/radius", "/planes/aws"] {
        assert_eq!(ids(&get(&world, ALICE, planes).await.expect(200)), [""; 0]);
        assert!(!ids(&get(&world, "root", planes).await.expect(200)).is_empty());
    }
    world.finish().await;
}

/// Pages name only what is granted, whether or not it exists.
#[apply(on_every_store)]
async fn pages_of_what_may_be_read_lead_to_all_of_it(kind: StoreKind) {
    let scopes =
        ["a", "absent", "b", "c"].map(|name| format!("/planes/radius/local/resourcegroups/{name}"));
    let scopes: Vec<&str> = scopes
        .iter()
        .map(String::as_str)
        .chain(["/planes/aws/aws"])
        .collect();
    let grants = vec![grant("erin", Role::Reader, &scopes)];
    let Some(builder) = World::builder().on(kind).await else {
        return;
    };
    let world = builder.granting(grants).build().await;
    for group in ["a", "b", "c", "d"] {
        world.put_group(group).await;
    }
    let mut path = format!("/planes/radius/local/resourcegroups?{VERSION}&top=1");
    let mut names = Vec::new();
    for _ in 0..10 {
        let page = world.call_as("erin", "GET", &path, "").await.expect(200);
        let value = page.body["value"].as_array().expect("a list").clone();
        names.extend(
            value
                .iter()
                .map(|group| group["name"].as_str().expect("a name").to_owned()),
        );
        match page.body["nextLink"].as_str() {
            Some(next) => {
                path = format!("/planes{}", next.split_once("/planes").expect("a path").1)
            }
            None => break,
        }
    }
    assert_eq!(names, ["a", "b", "c"]);
    let planes = world
        .call_as("erin", "GET", &format!("/planes?{VERSION}"), "")
        .await
        .expect(200);
    assert_eq!(planes.body["value"].as_array().expect("a list").len(), 1);
    world.finish().await;
}

/// An operation of others is not told from one that does not exist.
#[apply(on_every_store)]
async fn operations_of_others_do_not_exist(kind: StoreKind) {
    let Some(world) = world(kind).await else {
        return;
    };
    let put = put_vpc(&world, "bob", THEIR_ACCOUNT, THEIRS, "their-vpc")
        .await
        .expect(201);
    let statuses = path_of(put.status_url());
    let id = statuses.rsplit('/').next().expect("an id").to_owned();
    let on_plane = format!(
        "/planes/radius/local/providers/System.Resources/locations/global/operationStatuses/{id}"
    );
    for path in [
        &statuses,
        &on_plane,
        &statuses.replace("Statuses", "Results"),
        &on_plane.replace("Statuses", "Results"),
    ] {
        get(&world, "bob", path).await.expect(200);
        let there = get(&world, ALICE, path).await.expect(404);
        let absent = get(&world, ALICE, &path.replace(&id, NAME))
            .await
            .expect(404);
        assert_eq!(there.text.replace(&id, NAME), absent.text);
    }
    for path in [&statuses, &on_plane] {
        let there = post(&world, ALICE, &format!("{path}/:cancel"), &json!({}))
            .await
            .expect(404);
        let path = format!("{}/:cancel", path.replace(&id, NAME));
        let absent = post(&world, ALICE, &path, &json!({})).await.expect(404);
        assert_eq!(there.text.replace(&id, NAME), absent.text);
    }
    // Each is recorded, whether there is something to hide or not: the audit takes the same time for both.
    let asked = world.audited().await;
    let asked = asked.iter().filter(|event| event.status == Some(404));
    let asked: Vec<_> = asked
        .map(|event| (event.caller.as_str(), event.outcome))
        .collect();
    assert_eq!(asked, [("alice", AuditOutcome::Refused); 12]);
    // Who may read it may not cancel it.
    let put = put_vpc(&world, ALICE, OUR_ACCOUNT, OURS, "our-vpc")
        .await
        .expect(201);
    let ours = path_of(put.status_url());
    get(&world, "carol", &ours).await.expect(200);
    let refused = post(&world, "carol", &format!("{ours}/:cancel"), &json!({}))
        .await
        .expect(403);
    assert_eq!(refused.code(), "AuthorizationFailed");
    world.finish().await;
}

/// A body may name the group or the account of others. That is refused before anything is looked up.
#[apply(on_every_store)]
async fn bodies_cannot_name_what_is_others(kind: StoreKind) {
    let Some(world) = world(kind).await else {
        return;
    };
    put_vpc(&world, "bob", THEIR_ACCOUNT, THEIRS, "their-vpc")
        .await
        .expect(201);
    let ours = collection(OUR_ACCOUNT, "AWS.EC2/VPC");
    let tracked = |group: &str| {
        json!({"trackedBy": format!("{group}/providers/AWS.EC2/VPC:reference/their-vpc"),
            "properties": {"CidrBlock": "10.0.0.0/16", "VpcId": "vpc-1"}})
    };
    for action in ["put", "get", "delete", "import", "validate", "whatIf"] {
        let path = format!("{ours}/:{action}");
        let before = world.asked_of_store();
        let there = post(&world, ALICE, &path, &tracked(THEIRS))
            .await
            .expect(403);
        assert_eq!(there.code(), "AuthorizationFailed");
        let absent = post(
            &world,
            ALICE,
            &path,
            &tracked(&THEIRS.replace("hidden", "absent")),
        )
        .await;
        assert_eq!(
            there.text.replace("hidden", "absent"),
            absent.expect(403).text
        );
        let mut after = world.asked_of_store();
        // The workers look for what is due meanwhile, and the refusal is recorded.
        after.retain(|method, count| {
            before.get(method) != Some(count)
                && *method != "claim_due_operations"
                && *method != "append_audit_events"
        });
        assert!(after.is_empty(), "{action}: {after:?}");
    }
    let item = |account: &str| {
        json!({"resources": [{"scope": format!("{account}/regions/us-west-2"), "type": "AWS.EC2/VPC",
            "alias": "x", "primaryIdentifier": "vpc-1"}]})
    };
    let import = post(
        &world,
        ALICE,
        &format!("{OURS}/:import"),
        &item(THEIR_ACCOUNT),
    )
    .await;
    assert_eq!(import.expect(403).code(), "AuthorizationFailed");
    post(
        &world,
        ALICE,
        &format!("{OURS}/:import"),
        &item(OUR_ACCOUNT),
    )
    .await
    .expect(202);
    world.settle().await;
    world.finish().await;
}

/// What is in the way of a request is named only to who may read it.
#[apply(on_every_store)]
async fn conflicts_with_others_do_not_name_them(kind: StoreKind) {
    let Some(world) = world(kind).await else {
        return;
    };
    put_logs(&world, "bob", THEIRS, "their-logs")
        .await
        .expect(201);
    let busy = put_logs(&world, ALICE, OURS, "our-logs").await.expect(409);
    assert!(
        busy.text.contains("Another operation on the resource"),
        "{}",
        busy.text
    );
    world.settle().await;
    let owned = json!({"alias": "our-logs", "trackedBy": OURS, "primaryIdentifier": "logs", "ownedResource": true});
    let path = format!(
        "{}/:import",
        collection(SHARED_ACCOUNT, "AWS.Logs/LogGroup")
    );
    let owned = post(&world, ALICE, &path, &owned).await.expect(409);
    assert!(
        owned.text.contains("Another reference owns"),
        "{}",
        owned.text
    );
    for reply in [busy, owned] {
        for hidden in ["hidden", "their-logs", "bob", "222222222222"] {
            assert!(!reply.text.contains(hidden), "{}", reply.text);
        }
    }
    let told = json!({"alias": "more", "trackedBy": THEIRS, "primaryIdentifier": "logs", "ownedResource": true});
    let told = post(&world, "bob", &path, &told).await.expect(409);
    assert!(told.text.contains("hidden"), "{}", told.text);
    world.finish().await;
}

/// What an operation says is read by all who read its group, so it does not name what is in another one.
#[apply(on_every_store)]
async fn operations_do_not_name_what_is_in_other_groups(kind: StoreKind) {
    let Some(world) = world(kind).await else {
        return;
    };
    put_logs(&world, "bob", THEIRS, "their-logs")
        .await
        .expect(201);
    world.settle().await;
    let item = |alias: &str| {
        json!({"resources": [{"scope": format!("{SHARED_ACCOUNT}/regions/us-west-2"), "type": "AWS.Logs/LogGroup",
            "alias": alias, "primaryIdentifier": "logs", "ownedResource": true}]})
    };
    for (who, group, named) in [(ALICE, OURS, false), ("bob", THEIRS, true)] {
        let import = post(&world, who, &format!("{group}/:import"), &item("mine")).await;
        let status = path_of(import.expect(202).status_url());
        world.settle().await;
        let result = status.replace("Statuses", "Results");
        for path in [&status, &result, &format!("{group}/operations")] {
            let told = get(&world, who, path).await.expect(200);
            assert!(told.text.contains("OwnedElsewhere"), "{}", told.text);
            let is_named = told.text.contains("their-logs") && told.text.contains("hidden");
            assert_eq!(is_named, named, "{}", told.text);
        }
    }
    world.finish().await;
}

/// What a reference or a group owns is deleted only by who may delete it in AWS.
#[apply(on_every_store)]
async fn what_is_owned_is_deleted_with_rights_over_aws_only(kind: StoreKind) {
    let Some(world) = world(kind).await else {
        return;
    };
    put_vpc(&world, ALICE, OUR_ACCOUNT, OURS, "vpc")
        .await
        .expect(201);
    let reference = format!("{OURS}/providers/AWS.EC2/VPC:reference/vpc");
    let group = format!("{OURS}?{VERSION}");
    for path in [&reference, &group] {
        let refused = world.call_as("carol", "DELETE", path, "").await.expect(403);
        assert!(
            refused.text.contains("'AWS.EC2/VPC/delete'"),
            "{}",
            refused.text
        );
    }
    get(&world, "carol", &reference).await.expect(200);
    let release = json!({"ownedResource": false}).to_string();
    let refused = world.call_as("carol", "PATCH", &reference, &release).await;
    refused.expect(403);
    world
        .call_as(ALICE, "PATCH", &reference, &release)
        .await
        .expect(200);
    world
        .call_as("carol", "DELETE", &reference, "")
        .await
        .expect(200);
    world
        .call_as("carol", "DELETE", &group, "")
        .await
        .expect(200);
    world.lets_go(&world.live("AWS::EC2::VPC")[0]);
    world.finish().await;
}

/// What a group gets to own while its deletion is accepted is judged, too.
#[apply(on_every_store)]
async fn what_comes_to_a_group_meanwhile_is_not_deleted_without_rights(kind: StoreKind) {
    let Some(world) = world(kind).await else {
        return;
    };
    let group = format!("{OURS}?{VERSION}");
    world.hold_next_accept();
    let carol = [("authorization", "Bearer carol")];
    let deleting = world.send_with(&carol, "DELETE", &group, "");
    let meanwhile = async {
        world.is_accept_held().await;
        let put = put_vpc(&world, ALICE, OUR_ACCOUNT, OURS, "vpc").await;
        put.expect(201);
        world.release_accepts();
    };
    let (refused, ()) = tokio::join!(deleting, meanwhile);
    let refused = refused.expect(403);
    assert!(
        refused.text.contains("'AWS.EC2/VPC/delete'"),
        "{}",
        refused.text
    );
    assert_eq!(world.live("AWS::EC2::VPC").len(), 1);
    world.finish().await;
}

/// Rights cost the put that changes nothing no statement more.
#[apply(on_every_store)]
async fn rights_cost_the_same_put_again_nothing(kind: StoreKind) {
    let mut asked = Vec::new();
    for builder in [World::builder(), World::builder().granting(teams())] {
        let Some(builder) = builder.on(kind).await else {
            return;
        };
        let world = builder.build().await;
        world.put_group("ours").await;
        put_vpc(&world, ALICE, OUR_ACCOUNT, OURS, "vpc")
            .await
            .expect(201);
        // What is given is read every few seconds.
        get(&world, ALICE, OURS).await.expect(200);
        let before = world.asked_of_store();
        let path = format!("{}/:put", collection(OUR_ACCOUNT, "AWS.EC2/VPC"));
        let body =
            json!({"alias": "vpc", "trackedBy": OURS, "properties": {"CidrBlock": "10.0.0.0/16"}});
        post(&world, ALICE, &path, &body).await.expect(200);
        let mut again = world.asked_of_store();
        again.retain(|method, count| {
            *count -= before.get(method).copied().unwrap_or_default();
            *count > 0 && !method.starts_with("claim")
        });
        asked.push(again);
        world.finish().await;
    }
    assert_eq!(asked[0], asked[1]);
}

/// Who may change what is in a plane of AWS may not say which credentials sign for it.
#[apply(on_every_store)]
async fn a_contributor_does_not_let_the_process_sign(kind: StoreKind) {
    let Some(world) = World::builder().on(kind).await else {
        return;
    };
    let world = world
        .granting(vec![
            grant("bob", Role::Contributor, &["/planes/aws/bob"]),
            grant("olga", Role::Owner, &["/planes/aws/bob"]),
        ])
        .build()
        .await;
    let path = format!("/planes/aws/bob?{VERSION}");
    let ambient =
        json!({"location": "global", "properties": {"credentials": "ambient"}}).to_string();
    let refused = world.call_as("bob", "PUT", &path, &ambient).await;
    assert_eq!(refused.expect(403).code(), "AuthorizationFailed");
    world
        .call_as("olga", "PUT", &path, &ambient)
        .await
        .expect(200);
    world.call_as("bob", "DELETE", &path, "").await.expect(403);
}

/// Who owns a plane of AWS reads what was asked for in it, and nothing else, although they own no radius plane.
#[apply(on_every_store)]
async fn the_owner_of_an_aws_plane_reads_its_audit(kind: StoreKind) {
    let Some(world) = World::builder().on(kind).await else {
        return;
    };
    let planes = ["/planes/aws/aws", "/planes/aws/other"];
    let world = world
        .granting(vec![
            grant("olga", Role::Owner, &planes[..1]),
            grant("both", Role::Owner, &planes),
            grant("bob", Role::Contributor, &planes[..1]),
        ])
        .build()
        .await;
    let collection = collection(OUR_ACCOUNT, "AWS.EC2/VPC");
    for caller in ["olga", "bob"] {
        let put = format!("{collection}/:put");
        post(&world, caller, &put, &json!({"bad": true})).await;
    }
    let other = format!("/planes/aws/other?{VERSION}");
    world.call_as("both", "DELETE", &other, "").await;
    let events = |plane: &str| format!("{plane}/providers/System.AWS/auditEvents");
    for who in ["olga", "both", "root"] {
        let listed = get(&world, who, &events(planes[0])).await.expect(200);
        let value = listed.body["value"].as_array().expect("a list");
        let shown = value.iter().map(|event| &event["properties"]["id"]);
        let shown: Vec<_> = shown.map(|id| id.as_str().expect("an id")).collect();
        assert_eq!(shown, [collection.as_str(); 2], "{who}");
    }
    let listed = get(&world, "both", &events(planes[1])).await.expect(200);
    assert_eq!(listed.body["value"].as_array().map(Vec::len), Some(1));
    let first = format!("{}?{VERSION}&top=1&caller=olga", events(planes[0]));
    let first = world.call_as("olga", "GET", &first, "").await.expect(200);
    assert_eq!(first.body["value"][0]["properties"]["caller"], "olga");
    get(&world, "bob", &events(planes[0])).await.expect(403);
    get(&world, "olga", &events(planes[1])).await.expect(403);
    let radius = "/planes/radius/local/providers/System.Resources/auditEvents";
    get(&world, "olga", radius).await.expect(403);
    world.finish().await;
}

/// Nor does an alias hide from them who changes what is in their accounts. Of groups they learn nothing.
#[apply(on_every_store)]
async fn the_owner_of_an_aws_plane_sees_who_changes_it_by_alias(kind: StoreKind) {
    let Some(world) =
        world_granting(kind, vec![grant("olga", Role::Owner, &["/planes/aws/aws"])]).await
    else {
        return;
    };
    let vpcs = collection(THEIR_ACCOUNT, "AWS.EC2/VPC");
    let logs = collection(THEIR_ACCOUNT, "AWS.Logs/LogGroup");
    let reference = format!("{THEIRS}/providers/AWS.EC2/VPC:reference/a");
    put_vpc(&world, "bob", THEIR_ACCOUNT, THEIRS, "a")
        .await
        .expect(201);
    // What changes nothing is no event.
    put_vpc(&world, "bob", THEIR_ACCOUNT, THEIRS, "a")
        .await
        .expect(200);
    let refused = put_vpc(&world, "carol", THEIR_ACCOUNT, THEIRS, "a").await;
    refused.expect(403);
    let identifier = world.live("AWS::EC2::VPC").remove(0);
    let import = json!({"alias": "b", "trackedBy": THEIRS, "primaryIdentifier": identifier});
    post(&world, "bob", &format!("{vpcs}/:import"), &import)
        .await
        .expect(201);
    world.settle().await;
    let region = format!("{THEIR_ACCOUNT}/regions/us-west-2");
    let set = json!({"scope": region, "resources": [
        {"alias": "a", "type": "AWS.EC2/VPC", "properties": {"CidrBlock": "10.0.0.0/16"}},
        {"alias": "l", "type": "AWS.Logs/LogGroup", "properties": {"LogGroupName": "l"}},
        {"alias": "m", "type": "AWS.Logs/LogGroup", "properties": {"LogGroupName": "m"}},
    ]});
    post(&world, "bob", &format!("{THEIRS}/:apply"), &set)
        .await
        .expect(202);
    world.settle().await;
    let items = json!({"resources": [{"scope": region, "type": "AWS.Logs/LogGroup", "alias": "n",
        "primaryIdentifier": "m"}]});
    post(&world, "bob", &format!("{THEIRS}/:import"), &items)
        .await
        .expect(202);
    world.settle().await;
    let delete = json!({"trackedBy": reference});
    post(&world, "bob", &format!("{vpcs}/:delete"), &delete)
        .await
        .expect(202);
    world.settle().await;
    let log = format!("{THEIRS}/providers/AWS.Logs/LogGroup:reference/l?{VERSION}");
    let deleted = world.call_as("bob", "DELETE", &log, "");
    deleted.await.expect(202);
    world.settle().await;

    let events = "/planes/aws/aws/providers/System.AWS/auditEvents";
    let listed = get(&world, "olga", events).await.expect(200);
    assert!(!listed.text.contains("hidden"), "{}", listed.text);
    let events = listed.body["value"].as_array().expect("a list");
    let told = |member: &str| {
        let told = events.iter().rev();
        let told = told.map(|event| event["properties"][member].as_str().unwrap_or_default());
        told.collect::<Vec<_>>()
    };
    let group = "System.Resources/resourceGroups";
    assert_eq!(
        told("action"),
        [
            "AWS.EC2/VPC/write",
            "AWS.EC2/VPC/write",
            "AWS.EC2/VPC/import/action",
            &format!("{group}/apply/action"),
            &format!("{group}/apply/action"),
            &format!("{group}/import/action"),
            "AWS.EC2/VPC/delete",
            "AWS.Logs/LogGroup:reference/delete",
        ]
    );
    assert_eq!(
        told("id"),
        [&vpcs, &vpcs, &vpcs, &vpcs, &logs, &logs, &vpcs, &logs]
    );
    assert_eq!(told("outcome")[..3], ["Allowed", "Refused", "Allowed"]);
    // Who owns the group as well reads both, and by what each is about.
    let events = "/planes/radius/local/providers/System.Resources/auditEvents";
    for (id, count) in [(&reference, 1), (&vpcs, 2)] {
        let filtered = format!("{events}?{VERSION}&action=AWS.EC2/VPC/write&id={id}");
        let listed = world
            .call_as("root", "GET", &filtered, "")
            .await
            .expect(200);
        assert_eq!(listed.body["value"].as_array().map(Vec::len), Some(count));
    }
    world.finish().await;
}
