//! Refactors that are deployed: everything moves, and then what changes is put.

use ucp_access::Role;
use ucp_simulator::faults::{Effect, Fault, fail, fault};
use ucp_simulator::{Action, HandlerErrorCode};

use super::*;
use crate::rights::grant;

const SECOND: &str = "10.0.2.0/24";

/// The split of [`split`] with a changed log group, a second subnet, and a log group that is named by that.
fn deployment() -> Value {
    let subnet = |cidr: &str| json!({"VpcId": {"$reference": "AWS.EC2/VPC/network#/VpcId"}, "CidrBlock": cidr});
    let named =
        json!({"LogGroupName": {"$concat": ["of-", {"$reference": "AWS.EC2/Subnet/second"}]}});
    let web = vec![
        resource("flow", LOGS, named),
        resource("second", SUBNET, subnet(SECOND)),
        resource("network", VPC, vpc()),
        resource("subnet", SUBNET, subnet("10.0.1.0/24")),
    ];
    let kept = json!({"LogGroupName": "main", "RetentionInDays": 7});
    let old = vec![resource("logs", LOGS, kept)];
    let split = body("apply", &[(OLD, old), ("web", web)]);
    with(split, json!({"deploy": true}))
}

/// Refuses the next create of a subnet.
fn no_subnet() -> Fault {
    let refused = fault(fail(HandlerErrorCode::InvalidRequest).saying("No."));
    let refused = refused.on(Action::CreateResource);
    refused.of_type("AWS::EC2::Subnet").times(1)
}

/// Sends it, and leaves it to the workers.
async fn begin(world: &World, body: &Value) -> Reply {
    let body = body.to_string();
    let reply = world.send_without_waiting("POST", PLANE, &body).await;
    reply.expect(202)
}

/// Sends it, and returns the record of the reply and the status at the end.
pub(super) async fn deploy(world: &World, body: &Value) -> (Value, Value) {
    let reply = begin(world, body).await;
    world.settle().await;
    let status = world.status(&reply).await;
    (reply.body, status)
}

async fn record(world: &World, record: &Value) -> Value {
    let path = record["id"].as_str().expect("an id");
    world.get(path).await.expect(200).body
}

/// The codes of the details, but for the link to the page.
pub(super) fn causes(status: &Value) -> Vec<&str> {
    let details = status["error"]["details"].as_array().expect("details");
    let codes = details
        .iter()
        .map(|it| it["code"].as_str().expect("a code"));
    codes.filter(|code| *code != "Help").collect()
}

pub(super) fn states(status: &Value) -> Vec<(String, &str)> {
    let resources = status["properties"]["resources"].as_array();
    let resources = resources.expect("resources").iter();
    resources
        .map(|it| {
            let name = it["symbolicName"].as_str().expect("a name");
            let alias = name.rsplit('/').next().expect("an alias");
            (alias.to_owned(), it["status"].as_str().expect("a status"))
        })
        .collect()
}

#[apply(on_every_store)]
async fn what_changes_is_put_once_everything_has_moved(world: &World) {
    deployed(world).await;
    let plan = refactor(world, &with(deployment(), json!({"mode": "plan"}))).await;
    assert_eq!(plan["status"], "Planned");
    assert_eq!(plan["changes"]["create"].as_array().map(Vec::len), Some(2));
    assert_eq!(plan["changes"]["update"].as_array().map(Vec::len), Some(1));
    let calls = world.calls_on_resources().len();

    let seen = json!({"fingerprint": plan["fingerprint"]});
    let reply = begin(world, &with(deployment(), seen)).await;
    let applied = reply.body.clone();
    assert_eq!(applied["status"], "Applied");
    assert_eq!(moves(&applied), was_split());
    assert_eq!(
        world.calls_on_resources().len(),
        calls,
        "nothing was sent yet"
    );
    reference(world, "web", VPC, "network").await.expect(200);
    let status = world.status(&reply).await;
    assert_eq!(status["name"], applied["operationId"]);
    world.settle().await;
    let status = world.status(&reply).await;
    assert_eq!(status["status"], "Succeeded", "{status}");
    let succeeded = |alias: &str| (alias.to_owned(), "Succeeded");
    let expected = ["logs", "second", "flow"].map(succeeded);
    assert_eq!(states(&status), expected);
    let location = reply.header("location").expect("a location").to_owned();
    let result = world.get(&location).await.expect(200).body;
    assert_eq!(
        result["resources"].as_array().map(Vec::len),
        Some(3),
        "{result}"
    );

    // The same again is nothing.
    let again = refactor(world, &deployment()).await;
    assert_eq!(moves(&again), []);
    assert_eq!(again["changes"]["create"], json!([]));
    assert!(again.get("operationId").is_none(), "{again}");
    assert_eq!(world.creates(), 5);
    reference(world, "web", SUBNET, "second").await.expect(200);
    let groups = world.live("AWS::Logs::LogGroup");
    let name = groups
        .into_iter()
        .find(|name| name.starts_with("of-subnet-"));
    let name = name.expect("a log group that is named by the subnet");
    put(world, "web", LOGS, "flow", logs(&name))
        .await
        .expect(200);
}

#[apply(on_every_store)]
async fn declarations_are_judged_before_anything_moves(world: &World) {
    deployed(world).await;
    let before = world.references().await;
    let calls = world.calls_on_resources().len();
    let second = |properties: Value| {
        let mut wrong = deployment();
        wrong["groups"][1]["resources"][1]["properties"] = properties;
        wrong
    };
    let cidr = |reference: &str| json!({"VpcId": {"$reference": reference}, "CidrBlock": SECOND});
    let place = "/groups/1/resources/1/properties";
    let flow = "/groups/1/resources/0/properties/LogGroupName";
    for (properties, at) in [
        (
            json!({"CidrBlock": 5, "VpcId": "x"}),
            format!("{place}/CidrBlock"),
        ),
        (
            json!({"CidrBlock": SECOND, "VpcId": "x", "Unknown": 1}),
            format!("{place}/Unknown"),
        ),
        (
            cidr("AWS.EC2/VPC/network#/Nothing"),
            format!("{place}/VpcId"),
        ),
        // A circle is told where it begins.
        (cidr("AWS.Logs/LogGroup/flow"), flow.to_owned()),
    ] {
        for mode in ["plan", "apply"] {
            let wrong = with(second(properties.clone()), json!({"mode": mode}));
            let refused = post(world, PLANE, &wrong).await.expect(400);
            let target = &refused.body["error"]["details"][0]["target"];
            assert_eq!(*target, at, "{}", refused.text);
        }
    }
    assert_eq!(world.references().await, before);
    assert_eq!(world.calls_on_resources().len(), calls);
    world
        .get(&format!("{}?{API}", group("web")))
        .await
        .expect(404);
}

#[apply(on_every_store)]
async fn when_a_put_fails_everything_moves_back(world: &World) {
    deployed(world).await;
    let before = world.references().await.len();
    world.aws.add_fault(no_subnet());
    let (applied, status) = deploy(world, &deployment()).await;
    assert_eq!(status["status"], "Failed", "{status}");
    assert_eq!(status["error"]["code"], "RefactorFailed");
    assert_eq!(causes(&status), ["InvalidRequest"], "{status}");
    let expected = [
        ("logs", "Succeeded"),
        ("second", "Failed"),
        ("flow", "Skipped"),
    ];
    let expected = expected.map(|(alias, state)| (alias.to_owned(), state));
    assert_eq!(states(&status), expected);

    assert_eq!(record(world, &applied).await["status"], "Undone");
    reference(world, OLD, VPC, "net").await.expect(200);
    reference(world, OLD, SUBNET, "sub").await.expect(200);
    assert_eq!(world.references().await.len(), before);
    // It was made for what moved there.
    world
        .get(&format!("{}?{API}", group("web")))
        .await
        .expect(404);
    let list =
        format!("/planes/radius/local/providers/System.Resources/refactors?{API}&group={OLD}");
    let listed = world.get(&list).await.expect(200).body;
    let undo = &listed["value"][0];
    assert_eq!(undo["undoes"], applied["id"], "{listed}");
    assert_eq!(undo["operationId"], applied["operationId"]);
    assert_eq!(world.live("AWS::EC2::VPC").len(), 1);

    // What was changed is found.
    let (_, status) = deploy(world, &deployment()).await;
    assert_eq!(status["status"], "Succeeded", "{status}");
    assert_eq!(states(&status).len(), 2);
    assert_eq!(world.live("AWS::EC2::Subnet").len(), 2);
}

/// What was made in a new group keeps the group, although what moved there has gone.
#[apply(on_every_store)]
async fn what_was_made_stays(world: &World) {
    deployed(world).await;
    world.aws.add_fault(no_subnet());
    let mut body = deployment();
    let more = resource("more", LOGS, logs("more"));
    body["groups"][1]["resources"]
        .as_array_mut()
        .expect("resources")
        .push(more);
    let (_, status) = deploy(world, &body).await;
    assert_eq!(status["error"]["code"], "RefactorFailed", "{status}");
    reference(world, OLD, VPC, "net").await.expect(200);
    reference(world, "web", LOGS, "more").await.expect(200);
    reference(world, "web", VPC, "network").await.expect(404);
    assert!(
        world
            .live("AWS::Logs::LogGroup")
            .contains(&"more".to_owned())
    );
}

#[apply(on_every_store)]
async fn the_moves_stay_if_that_is_asked_for(world: &World) {
    deployed(world).await;
    world.aws.add_fault(no_subnet());
    let body = with(deployment(), json!({"onFailure": "keep"}));
    let (applied, status) = deploy(world, &body).await;
    assert_eq!(status["error"]["code"], "RefactorFailed", "{status}");
    assert_eq!(record(world, &applied).await["status"], "Applied");
    reference(world, "web", VPC, "network").await.expect(200);
    let (again, status) = deploy(world, &body).await;
    assert_eq!(status["status"], "Succeeded", "{status}");
    assert_eq!(moves(&again), []);
}

/// Nothing is overwritten by what moves back.
#[apply(on_every_store)]
async fn what_cannot_move_back_stays_and_the_status_says_so(world: &World) {
    deployed(world).await;
    world.aws.add_fault(no_subnet());
    let reply = begin(world, &deployment()).await;
    let other = json!({"CidrBlock": "10.9.0.0/16"});
    let taken = json!({"trackedBy": address(OLD, VPC, "net"), "properties": other}).to_string();
    let path = format!("{}/providers/{VPC}/:put", scope());
    let taken = world.send_without_waiting("POST", &path, &taken).await;
    taken.expect(201);
    world.settle().await;
    let status = world.status(&reply).await;
    assert_eq!(status["error"]["code"], "RefactorFailed", "{status}");
    assert_eq!(causes(&status), ["InvalidRequest", "Conflict"], "{status}");
    assert_eq!(record(world, &reply.body).await["status"], "Applied");
    reference(world, "web", VPC, "network").await.expect(200);
    reference(world, "web", SUBNET, "subnet").await.expect(200);
}

/// Nothing else works on any of its groups as a whole until it has ended.
#[apply(on_every_store)]
async fn it_holds_its_groups(world: &World) {
    deployed(world).await;
    let reply = begin(world, &deployment()).await;
    let send = async |method: &str, path: &str, body: &Value| {
        let body = body.to_string();
        world.send_without_waiting(method, path, &body).await
    };
    let set = json!({"scope": scope(), "resources": [resource("x", LOGS, logs("x"))]});
    let undo = format!("{}/:undo", reply.body["id"].as_str().expect("an id"));
    for (method, path, body) in [
        ("POST", PLANE.to_owned(), split("apply")),
        ("POST", undo.clone(), json!({})),
        ("POST", format!("{}/:apply", group("web")), set.clone()),
        ("POST", format!("{}/:apply", group(OLD)), set.clone()),
        ("DELETE", format!("{}?{API}", group("web")), json!(null)),
        ("DELETE", format!("{}?{API}", group(OLD)), json!(null)),
    ] {
        let refused = send(method, &path, &body).await.expect(409);
        assert_eq!(refused.code(), "Conflict", "{method} {path}");
    }
    // A resource by itself is nobody's business.
    put(world, "web", LOGS, "own", logs("own"))
        .await
        .expect(201);
    world.settle().await;
    assert_eq!(world.status(&reply).await["status"], "Succeeded");
    let applied = send("POST", &format!("{}/:apply", group("web")), &set).await;
    applied.expect(202);
    world.settle().await;
    let undone = post(world, &undo, &json!({})).await;
    assert_eq!(undone.expect(200).body["status"], "Applied");
}

/// A cancel stops what has not begun, and moves nothing back.
#[apply(on_every_store)]
async fn a_cancel_leaves_the_moves(world: &World) {
    deployed(world).await;
    let reply = begin(world, &deployment()).await;
    let status = world.status(&reply).await;
    let cancel = format!("{}/:cancel", status["id"].as_str().expect("an id"));
    world.send_without_waiting("POST", &cancel, "{}").await;
    world.settle().await;
    let status = world.status(&reply).await;
    assert_eq!(status["status"], "Canceled", "{status}");
    let message = status["error"]["message"].as_str().expect("a message");
    assert!(message.contains("undo the refactor"), "{message}");
    reference(world, "web", VPC, "network").await.expect(200);
    assert_eq!(record(world, &reply.body).await["status"], "Applied");
}

/// An update that is under way when another put fails is waited for, and then moves back with what it has written.
#[apply(on_every_store)]
async fn what_a_put_has_written_moves_back_too(world: &World) {
    deployed(world).await;
    world.aws.add_fault(no_subnet());
    let slow = fault(Effect::Latency {
        least_millis: 60_000,
        most_millis: 60_000,
    });
    let slow = slow.on(Action::UpdateResource).of_type("AWS::EC2::VPC");
    world.aws.add_fault(slow.times(1));
    let mut body = deployment();
    let network = json!({"CidrBlock": "10.0.0.0/16", "EnableDnsHostnames": true});
    body["groups"][1]["resources"][2]["properties"] = network.clone();
    let moves = json!({"moves": [{"from": "rg/AWS.EC2/VPC/net", "to": "web/AWS.EC2/VPC/network"}]});
    let (_, status) = deploy(world, &with(body, moves)).await;
    assert_eq!(status["error"]["code"], "RefactorFailed", "{status}");
    assert!(states(&status).contains(&("network".to_owned(), "Succeeded")));
    // As it is now, not as it was.
    put(world, OLD, VPC, "net", network).await.expect(200);
}

/// Whoever may not read all of its groups does not see it, in no list either.
#[apply(on_every_store)]
async fn who_may_not_read_all_groups_does_not_see_it(kind: StoreKind) {
    let Some(builder) = World::builder().on(kind).await else {
        return;
    };
    let old = group(OLD);
    let aws = "/planes/aws/aws";
    let world = builder
        .granting(vec![grant("bob", Role::Contributor, &[&old, aws])])
        .build()
        .await;
    world.put_group_as("root", "web").await.expect(200);
    let web = vec![resource("hidden", LOGS, logs("hidden"))];
    let own = vec![resource("own", LOGS, logs("own"))];
    let body = with(
        super::body("apply", &[(OLD, own), ("web", web)]),
        json!({"deploy": true}),
    );
    let body = body.to_string();
    let reply = world
        .call_as("root", "POST", PLANE, &body)
        .await
        .expect(202);
    world.settle().await;
    let polled = reply.header("azure-asyncoperation").expect("a URL");
    let path = polled
        .split_once("/planes")
        .map(|(_, path)| format!("/planes{path}"));
    let path = path.expect("a path");
    let status = world.call_as("root", "GET", &path, "").await.expect(200);
    assert_eq!(status.body["status"], "Succeeded", "{}", status.text);
    world.call_as("bob", "GET", &path, "").await.expect(404);
    let list = format!("{}/operations?{API}", group(OLD));
    for (who, is_seen) in [("root", true), ("bob", false)] {
        let listed = world.call_as(who, "GET", &list, "").await.expect(200);
        assert_eq!(listed.text.contains("applyGroup"), is_seen, "{who}");
        assert!(!listed.text.contains("hidden"), "{who}");
    }
}

#[apply(on_every_store)]
async fn a_group_that_takes_plans_only_takes_no_deployment(world: &World) {
    deployed(world).await;
    let strict = json!({"location": "global", "properties": {"planPolicy": "approved"}});
    let path = format!("{}?{API}", group("web"));
    let put = world.call("PUT", &path, &strict.to_string()).await;
    put.expect(200);
    let refused = post(world, PLANE, &deployment()).await.expect(409);
    assert_eq!(refused.code(), "PlanRequired");
    reference(world, OLD, VPC, "net").await.expect(200);
}

/// Whatever crashes, each resource is made once, and everything has moved or is back.
#[apply(on_every_store)]
async fn a_crash_anywhere_loses_and_doubles_nothing(kind: StoreKind) {
    let points = crash_everywhere(kind, async |world| {
        deployed(world).await;
        world.may_crash();
        let body = deployment().to_string();
        let status = world.see_through("POST", PLANE, &body);
        if let Some(status) = status.await {
            assert_eq!(status["status"], "Succeeded", "{status}");
        }
        assert_eq!(world.live("AWS::EC2::Subnet").len(), 2);
        assert_eq!(world.live("AWS::Logs::LogGroup").len(), 2);
        reference(world, "web", SUBNET, "second").await.expect(200);
    });
    let points = points.await;
    assert!(
        points.is_empty() || points.iter().any(|point| point.contains("move")),
        "{points:?}"
    );
}

#[apply(on_every_store)]
async fn a_crash_anywhere_leaves_everything_back(kind: StoreKind) {
    let points = crash_everywhere(kind, async |world| {
        deployed(world).await;
        let refused = fault(fail(HandlerErrorCode::InvalidRequest).saying("No."));
        let refused = refused.on(Action::CreateResource);
        world.aws.add_fault(refused.of_type("AWS::EC2::Subnet"));
        world.may_crash();
        let body = deployment().to_string();
        let status = world.see_through("POST", PLANE, &body);
        let status = status.await.expect("something to do");
        assert_eq!(status["error"]["code"], "RefactorFailed", "{status}");
        reference(world, OLD, VPC, "net").await.expect(200);
        reference(world, OLD, SUBNET, "sub").await.expect(200);
        reference(world, "web", VPC, "network").await.expect(404);
    });
    points.await;
}

/// The network of [`deployed`] under another alias and with another setting, and a group `sec` that has it too.
async fn shared(world: &World) -> Value {
    deployed(world).await;
    world.put_group("sec").await;
    let id = world.live("AWS::EC2::VPC").remove(0);
    let import = json!({"trackedBy": address("sec", VPC, "net"), "primaryIdentifier": id});
    world.post(VPC, "import", &import).await.expect(201);
    let mut body = split("apply");
    let network = json!({"CidrBlock": "10.0.0.0/16", "EnableDnsHostnames": true});
    body["groups"][1]["resources"][0]["properties"] = network;
    let moves = json!([{"from": "rg/AWS.EC2/VPC/net", "to": "web/AWS.EC2/VPC/network"}]);
    with(body, json!({"deploy": true, "moves": moves}))
}

fn protected() -> (String, String) {
    let strict = json!({"location": "global", "properties": {"planPolicy": "required"}});
    (format!("{}?{API}", group("sec")), strict.to_string())
}

#[apply(on_every_store)]
async fn what_another_group_protects_is_refused_before_anything_moves(world: &World) {
    let body = shared(world).await;
    let (path, strict) = protected();
    world.call("PUT", &path, &strict).await.expect(200);
    let refused = post(world, PLANE, &body).await.expect(409);
    assert_eq!(refused.code(), "PlanRequired");
    let target = &refused.body["error"]["details"][0]["target"];
    assert_eq!(*target, "/groups/1/resources/0", "{}", refused.text);
    reference(world, OLD, VPC, "net").await.expect(200);
}

/// A put that is refused when it is to begin does not begin anew once its alias is vacated, where it would make a double.
#[apply(on_every_store)]
async fn what_was_refused_does_not_begin_at_a_vacated_alias(kind: StoreKind) {
    crash_everywhere(kind, async |world| {
        let body = shared(world).await;
        let reply = begin(world, &body).await;
        let (path, strict) = protected();
        let protect = world.send_without_waiting("PUT", &path, &strict).await;
        protect.expect(200);
        world.may_crash();
        world.tolerate_log("crash");
        world.settle().await;
        let status = world.status(&reply).await;
        assert_eq!(status["error"]["code"], "RefactorFailed", "{status}");
        assert_eq!(world.live("AWS::EC2::VPC").len(), 1);
        reference(world, OLD, VPC, "net").await.expect(200);
        reference(world, "web", VPC, "network").await.expect(404);
    })
    .await;
}

/// What a declaration refers to is read from AWS, also if it is excluded.
#[apply(on_every_store)]
async fn what_is_referred_to_has_to_be_readable(kind: StoreKind) {
    let Some(builder) = World::builder().on(kind).await else {
        return;
    };
    let old = group(OLD);
    let vpcs = format!("{}/providers/{VPC}", scope());
    let world = builder
        .granting(vec![grant("bob", Role::Contributor, &[&old, &vpcs])])
        .build()
        .await;
    let hidden = json!({"trackedBy": address(OLD, LOGS, "hidden"), "properties": logs("hidden")});
    let hidden = hidden.to_string();
    let path = format!("{}/providers/{LOGS}/:put", scope());
    let put = world.call_as("root", "POST", &path, &hidden);
    put.await.expect(201);
    world.settle().await;
    let tags = json!([{"Key": "arn", "Value": {"$reference": "AWS.Logs/LogGroup/hidden#/Arn"}}]);
    let network = json!({"CidrBlock": "10.0.0.0/16", "Tags": tags});
    let body = super::body("apply", &[(OLD, vec![resource("net", VPC, network)])]);
    let excluded = json!({"deploy": true, "exclude": ["rg/AWS.Logs/LogGroup/hidden"]});
    let body = with(body, excluded).to_string();
    let refused = world.call_as("bob", "POST", PLANE, &body).await;
    assert_eq!(refused.expect(403).code(), "AuthorizationFailed");
    world
        .call_as("root", "POST", PLANE, &body)
        .await
        .expect(202);
    world.settle().await;
}

/// A group that is named, and neither there nor made, is none to find the operation in.
#[apply(on_every_store)]
async fn it_is_listed_in_a_group_that_is_there(world: &World) {
    world.put_group("web").await;
    let web = vec![resource("new", LOGS, logs("new"))];
    let body = super::body("apply", &[("gone", vec![]), ("web", web)]);
    let (_, status) = deploy(world, &with(body, json!({"deploy": true}))).await;
    assert_eq!(status["status"], "Succeeded", "{status}");
    let list = format!("{}/operations?{API}", group("web"));
    let listed = world.get(&list).await.expect(200).body;
    let kinds = listed["value"].as_array().expect("operations").iter();
    let kinds: Vec<&Value> = kinds.map(|it| &it["kind"]).collect();
    assert!(kinds.contains(&&json!("applyGroup")), "{listed}");
}

/// A put would make another one. The identifier is no mistake if the properties tell it: then it is that of what is made.
#[apply(on_every_store)]
async fn an_identifier_that_nothing_has_makes_no_double(world: &World) {
    deployed(world).await;
    let identified = |alias: &str, resource_type: &str, identifier: &str, properties: Value| {
        let resource = resource(alias, resource_type, properties);
        with(resource, json!({"primaryIdentifier": identifier}))
    };
    let declared = |last: Value| {
        let old = vec![
            resource("logs", LOGS, logs("main")),
            resource("net", VPC, vpc()),
            last,
        ];
        with(body("apply", &[(OLD, old)]), json!({"deploy": true}))
    };
    let changed = json!({"VpcId": "vpc-elsewhere", "CidrBlock": "10.0.1.0/24"});
    for last in [
        identified("lost", VPC, "vpc-elsewhere", vpc()),
        // Nor is another one changed in its place.
        identified("sub", SUBNET, "subnet-elsewhere", changed),
    ] {
        for mode in ["plan", "apply"] {
            let body = with(declared(last.clone()), json!({"mode": mode}));
            let refused = post(world, PLANE, &body).await.expect(400);
            let details = &refused.body["error"]["details"];
            let target = "/groups/0/resources/2/primaryIdentifier";
            let mut targets = details.as_array().expect("details").iter();
            assert!(targets.any(|it| it["target"] == target), "{details}");
        }
    }
    assert_eq!(world.live("AWS::EC2::VPC").len(), 1);
    let fresh = identified("fresh", LOGS, "fresh", logs("fresh"));
    let (_, status) = deploy(world, &declared(fresh)).await;
    assert_eq!(status["status"], "Succeeded", "{status}");
}

/// What is left as it is may be any of several, so nothing can be put that refers to one of them.
#[apply(on_every_store)]
async fn what_refers_to_what_is_left_is_not_put(world: &World) {
    world.put_and_settle(VPC, "a", vpc()).await;
    world.put_and_settle(VPC, "b", vpc()).await;
    world.put_and_settle(LOGS, "logs", logs("main")).await;
    let before = world.references().await;
    let calls = world.calls_on_resources().len();
    let subnet =
        json!({"VpcId": {"$reference": "AWS.EC2/VPC/c#/VpcId"}, "CidrBlock": "10.0.1.0/24"});
    let resources = vec![
        resource("c", VPC, vpc()),
        resource("d", VPC, vpc()),
        resource("renamed", LOGS, logs("main")),
        resource("sub", SUBNET, subnet),
    ];
    let left = json!({"deploy": true, "onAmbiguity": "leave"});
    let body = with(body("apply", &[(OLD, resources)]), left);
    let refused = post(world, PLANE, &body).await.expect(409);
    assert_eq!(refused.code(), "RefactorAmbiguous");
    let detail = &refused.body["error"]["details"][0];
    assert_eq!(
        detail["target"], "/groups/0/resources/3/properties/VpcId",
        "{detail}"
    );
    let message = detail["message"].as_str().expect("a message");
    assert!(message.contains("rg/AWS.EC2/VPC/c"), "{message}");
    assert_eq!(world.references().await, before);
    assert_eq!(world.calls_on_resources().len(), calls);

    let told = json!({"moves": [{"from": "rg/AWS.EC2/VPC/a", "to": "rg/AWS.EC2/VPC/c"}]});
    let (applied, status) = deploy(world, &with(body, told)).await;
    assert_eq!(status["status"], "Succeeded", "{status}");
    assert_eq!(moves(&applied).len(), 3);
}
