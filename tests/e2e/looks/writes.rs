//! What requests without an operation write: references that come to stand for a resource. And what refused ones do
//! not.

use serde_json::{Value, json};
use ucp_testkit::{ACCOUNT, FOREIGN_ACCOUNT, World, apply, on_every_store, tracked_by};

use super::{LOG_GROUP, Request, VPC, accepted, changes, logs, stored, stray};

const IMPORTS: [(&str, usize); 3] = [("adopt", 1), ("recorded_alias", 1), ("recorded_target", 1)];
/// The first one in a group.
const FIRST_IMPORTS: [(&str, usize); 5] = [
    ("adopt", 1),
    ("count_references", 1),
    ("get_reference", 1),
    ("recorded_alias", 1),
    ("recorded_target", 1),
];

/// Expects the first event of `alias`: of this kind, without an operation.
async fn expect_first_event(world: &World, alias: &str, kind: &str) {
    let events = world.events(LOG_GROUP, alias).await;
    let [event] = &events[..] else {
        panic!("expected one event: {events:?}")
    };
    assert_eq!(event.kind, kind);
    assert_eq!(event.operation, None);
    assert_eq!(
        (event.caller.as_str(), event.outcome.as_str()),
        ("anonymous", "Succeeded")
    );
    assert!(
        event
            .reference
            .as_deref()
            .is_some_and(|id| id.ends_with(alias))
    );
    assert!(
        event
            .resource
            .as_deref()
            .is_some_and(|id| id.ends_with("/logs")),
        "{event:?}"
    );
    assert!(event.changes.is_empty());
    assert!(!event.correlation_id.as_str().is_empty());
}

#[apply(on_every_store)]
async fn an_import_writes_its_reference_at_once(world: &World) {
    stray(world, "logs").await;
    let before = stored(world, LOG_GROUP, "main").await;
    let absent = Request::import(LOG_GROUP, "main", "nowhere");
    let reads = [("recorded_alias", 2), ("recorded_target", 2)];
    let refused = absent.costs(world, 404, 1, &reads).await;
    assert_eq!(refused.code(), "NotFound");
    assert_eq!(stored(world, LOG_GROUP, "main").await, before);

    let import = Request::import(LOG_GROUP, "main", "logs");
    let imported = import.costs(world, 201, 1, &FIRST_IMPORTS).await;
    assert!(imported.header("azure-asyncoperation").is_none());
    let reference = &world.references().await[0];
    assert_eq!(reference["mapsTo"]["primaryIdentifier"], "logs");
    assert_eq!(reference["ownedResource"], false);
    assert_eq!(reference["properties"]["RetentionInDays"], 7);
    expect_first_event(world, "main", "import").await;

    let before = stored(world, LOG_GROUP, "main").await;
    for name in ["logs", "nowhere"] {
        let taken = Request::import(LOG_GROUP, "main", name);
        let refused = taken.costs(world, 409, 0, &[("recorded_alias", 1)]).await;
        assert!(
            refused.text.contains("already stands for"),
            "{}",
            refused.text
        );
    }
    assert_eq!(stored(world, LOG_GROUP, "main").await, before);
    assert_eq!((accepted(world), changes(world)), (1, [1, 0, 0]));
}

#[apply(on_every_store)]
async fn a_put_under_a_new_alias_adopts_what_is_as_declared(world: &World) {
    stray(world, "logs").await;
    let before = stored(world, LOG_GROUP, "main").await;
    let refusing = json!({"adoptionPolicy": "fail"});
    let refused = Request::put_with(LOG_GROUP, "main", &logs(7), refusing)
        .costs(
            world,
            409,
            1,
            &[("recorded_alias", 2), ("recorded_target", 2)],
        )
        .await;
    assert_eq!(refused.code(), "Conflict");
    assert_eq!(stored(world, LOG_GROUP, "main").await, before);

    let put = Request::put(LOG_GROUP, "main", &logs(7));
    put.costs(world, 200, 1, &FIRST_IMPORTS).await;
    expect_first_event(world, "main", "put").await;
    assert_eq!(world.references().await[0]["ownedResource"], false);
    put.costs(world, 200, 1, &[("recorded_alias", 1)]).await;

    let own = |alias| {
        let more = json!({"ownedResource": true});
        Request::put_with(LOG_GROUP, alias, &logs(7), more)
    };
    // What the other reference was put with is compared, too.
    let second = [IMPORTS.as_slice(), &[("references_to", 1)]].concat();
    own("owner").costs(world, 200, 1, &second).await;
    expect_first_event(world, "owner", "put").await;
    let owned = |reference: &Value| reference["ownedResource"].as_bool().unwrap();
    let references = world.references().await;
    assert_eq!(
        references.iter().map(owned).collect::<Vec<_>>(),
        [false, true]
    );

    let before = stored(world, LOG_GROUP, "main").await;
    for alias in ["main", "third"] {
        let refused = own(alias).alone(world).await.expect(409);
        assert_eq!(
            refused.body["error"]["details"][0]["code"],
            "OwnedElsewhere"
        );
    }
    assert_eq!(stored(world, LOG_GROUP, "main").await, before);
    assert!(world.events(LOG_GROUP, "third").await.is_empty());
    assert_eq!((accepted(world), changes(world)), (1, [1, 0, 0]));
}

/// A reference comes to own what it stands for: an event, and the rest stays.
#[apply(on_every_store)]
async fn a_put_that_takes_ownership_is_an_event(world: &World) {
    stray(world, "logs").await;
    Request::import(LOG_GROUP, "main", "logs")
        .alone(world)
        .await
        .expect(201);
    let own = json!({"ownedResource": true});
    let own = Request::put_with(LOG_GROUP, "main", &logs(7), own);
    let calls = [("adopt", 1), ("recorded_alias", 1)];
    own.costs(world, 200, 1, &calls).await;
    assert_eq!(world.references().await[0]["ownedResource"], true);
    let kinds = world.events(LOG_GROUP, "main").await;
    let kinds: Vec<&str> = kinds.iter().map(|event| event.kind.as_str()).collect();
    assert_eq!(kinds, ["import", "put"]);
    own.costs(world, 200, 1, &[("recorded_alias", 1)]).await;
    assert_eq!(accepted(world), 1);
}

#[apply(on_every_store)]
async fn a_refused_put_leaves_nothing_behind(world: &World) {
    let declared = json!({"CidrBlock": "10.0.0.0/16"});
    world.put_and_settle(VPC, "main", declared).await;
    let vpc = world.live("AWS::EC2::VPC").remove(0);
    world.put_and_settle(LOG_GROUP, "logs", logs(7)).await;
    stray(world, "stray").await;
    let other = json!({"CidrBlock": "10.1.0.0/16"});
    let wrong = |name: &str| json!({"LogGroupName": name, "RetentionInDays": 8});
    let wrong_days = json!({"RetentionInDays": 8});
    let before = [
        stored(world, VPC, "main").await,
        stored(world, LOG_GROUP, "logs").await,
    ];
    let operations = accepted(world);
    for (request, status, code) in [
        (
            Request::put(VPC, "main", &other),
            409,
            "RequiresReplacement",
        ),
        (
            Request::put_by_name(VPC, &vpc, &other),
            409,
            "RequiresReplacement",
        ),
        (
            Request::put(LOG_GROUP, "logs", &wrong("logs")),
            400,
            "InvalidRequest",
        ),
        (
            Request::put(LOG_GROUP, "new", &wrong("stray")),
            400,
            "InvalidRequest",
        ),
        (
            Request::put(LOG_GROUP, "new", &wrong("nowhere")),
            400,
            "InvalidRequest",
        ),
        (
            Request::put_by_name(LOG_GROUP, "stray", &wrong_days),
            400,
            "InvalidRequest",
        ),
        (
            Request::patch(LOG_GROUP, "stray", &wrong_days),
            400,
            "InvalidRequest",
        ),
        (
            Request::patch(LOG_GROUP, "nowhere", &wrong_days),
            400,
            "InvalidRequest",
        ),
        (
            Request::patch(LOG_GROUP, "nowhere", &json!({"RetentionInDays": 7})),
            404,
            "NotFound",
        ),
        (
            Request::put_by_name(VPC, "vpc-0123", &other),
            404,
            "NotFound",
        ),
    ] {
        let refused = request.alone(world).await.expect(status);
        assert_eq!(refused.code(), code, "{request:?}");
        assert!(refused.header("azure-asyncoperation").is_none());
        assert!(world.events(LOG_GROUP, "new").await.is_empty());
    }
    let after = [
        stored(world, VPC, "main").await,
        stored(world, LOG_GROUP, "logs").await,
    ];
    assert_eq!(after, before);
    assert_eq!((accepted(world), changes(world)), (operations, [3, 0, 0]));
}

#[apply(on_every_store)]
async fn an_account_that_cannot_be_reached_is_told_before_anything_else(world: &World) {
    let running = json!({"CidrBlock": "10.0.0.0/16"});
    Request::put(VPC, "busy", &running)
        .unwaited(world)
        .await
        .expect(201);
    for (request, at_home) in [
        (Request::put(VPC, "busy", &running), 409),
        (Request::delete(VPC, "busy"), 409),
        (Request::import(VPC, "busy", "vpc-0123"), 409),
        (Request::delete(VPC, "nobody"), 204),
        (Request::delete_by_name(VPC, "vpc-0123"), 204),
        (Request::import(VPC, "nobody", "vpc-0123"), 404),
    ] {
        request.alone(world).await.expect(at_home);
        let abroad = Request {
            path: request.path.replace(ACCOUNT, FOREIGN_ACCOUNT),
            ..request
        };
        let seen = world.calls_on_resources().len();
        let refused = abroad.alone(world).await.expect(403);
        assert_eq!(refused.code(), "AccountMismatch");
        assert_eq!(world.calls_on_resources().len(), seen, "{abroad:?}");
    }
    world.settle().await;
    assert!(world.get(&tracked_by(VPC, "busy")).await.status == 200);
}
