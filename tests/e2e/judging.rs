//! What takes long to judge is not judged on the threads that serve requests and renew leases. A world has one such thread,
//! whose CPU time is compared with what judging takes.

use std::sync::mpsc;
use std::time::Duration;

use axum::body::Body;
use axum::http::{Method, Request};
use serde_json::{Value, json};
use tokio::sync::oneshot;
use ucp_cpu_pool::CpuPool;
use ucp_model::{Clock, Digest};
use ucp_plan::{Desired, Mode, plan};
use ucp_sample::cpu_time;
use ucp_schema::{Catalogue, Declaration, ResourceSchema};
use ucp_testkit::{ACCOUNT, REGION, Reply, StoreKind, World, apply, on_every_store, tracked_by};

/// Returns the CPU time that `work` takes on this thread.
fn took<T>(work: impl FnOnce() -> T) -> Duration {
    let before = cpu_time();
    drop(work());
    cpu_time().saturating_sub(before)
}

/// Puts under the alias `a` without stepping the engine.
async fn put(world: &World, resource_type: &str, properties: &Value) -> Reply {
    let (provider, name) = resource_type.split_once('/').expect("a type");
    let path = format!(
        "/planes/aws/aws/accounts/{ACCOUNT}/regions/{REGION}/providers/{provider}/{name}/:put"
    );
    let body = json!({"alias": "a", "trackedBy": tracked_by(resource_type, "a"), "properties": properties});
    let request = Request::builder()
        .method(Method::POST)
        .uri(path)
        .header("host", "127.0.0.1")
        .header("content-type", "application/json")
        .body(Body::from(body.to_string()))
        .expect("a request");
    world.send(request).await
}

#[apply(on_every_store)]
async fn a_long_declaration_is_judged_on_a_thread_of_its_own(on: StoreKind) {
    let Some(builder) = World::builder().on(on).await else {
        return;
    };
    let world = builder.judged_in(CpuPool::new()).build().await;
    let name = ucp_model::TypeName::from_cloudformation("AWS::Cognito::UserPool").expect("a name");
    let schema = Catalogue::embedded().get(&name).expect("a schema");
    let properties = json!({"AliasAttributes": vec![""; 20_000]});
    let judging = took(|| schema.validate_model(&properties));
    let before = cpu_time();
    let reply = put(&world, "AWS.Cognito/UserPool", &properties).await;
    let here = cpu_time().saturating_sub(before);
    reply.expect(400);
    assert!(here < judging / 2, "{here:?} of {judging:?}");
    world.finish().await;
}

/// A type whose resources have a set.
fn thing() -> Value {
    json!({
        "typeName": "Acme::Test::Thing",
        "properties": {
            "Name": {"type": "string"},
            "Kind": {"type": "string"},
            "Members": {"type": "array", "insertionOrder": false, "items": {"type": "string"}},
        },
        "createOnlyProperties": ["/properties/Name", "/properties/Kind"],
        "primaryIdentifier": ["/properties/Name"],
        "additionalProperties": false,
        "handlers": {"create": {"permissions": []}, "read": {"permissions": []}, "update": {"permissions": []},
            "delete": {"permissions": []}, "list": {"permissions": []}},
    })
}

const THING: &str = "Acme.Test/Thing";

fn of_kind(kind: &str, letter: char) -> Value {
    let members: Vec<String> = (0..900).map(|index| format!("{letter}{index}")).collect();
    json!({"Name": "a", "Kind": kind, "Members": members})
}

/// All members of two sets are compared with each other.
#[apply(on_every_store)]
async fn a_worker_plans_on_a_thread_of_its_own(on: StoreKind) {
    // The requests do not wait for a look, so that the worker looks.
    let Some(builder) = World::builder().on(on).await else {
        return;
    };
    let builder = builder.judged_in(CpuPool::new());
    let world = builder.verdict_wait(Duration::ZERO).build().await;
    let registered = world.aws.register_type(&thing().to_string());
    registered.expect("the simulator takes the schema");
    let (live, declared) = (of_kind("old", 'a'), of_kind("new", 'b'));
    put(&world, THING, &live).await.expect(201);
    world.settle().await;
    let schema = ResourceSchema::parse(&thing().to_string()).expect("a schema");
    let planning = took(|| {
        let declaration = Declaration::stored(declared.clone());
        let desired = Desired::new(declaration, &schema, |_, _| Digest::default());
        plan(&desired, None, Some(&live), &schema, Mode::Merge)
    });
    put(&world, THING, &declared).await.expect(201);
    let before = cpu_time();
    world.step().await;
    let here = cpu_time().saturating_sub(before);
    assert!(here < planning / 2, "{here:?} of {planning:?}");
    let ended = world.references().await;
    assert_eq!(ended[0]["properties"]["Kind"], "old", "{ended:?}");
    world.finish().await;
}

/// Occupies the only thread of a pool until the sender is dropped.
async fn occupy(pool: &CpuPool) -> mpsc::Sender<()> {
    let (release, released) = mpsc::channel::<()>();
    let (begin, begun) = oneshot::channel();
    let pool = pool.clone();
    let work = move || {
        let _ = begin.send(());
        let _ = released.recv();
    };
    tokio::spawn(async move { pool.run(work).await });
    begun.await.expect("the work is begun");
    release
}

/// Waits for `work` while the time passes.
pub(crate) async fn in_time<T>(work: impl Future<Output = T>) -> T {
    tokio::pin!(work);
    loop {
        tokio::select! {
            biased;
            done = &mut work => return done,
            () = tokio::time::advance(Duration::from_millis(100)) => {}
        }
    }
}

/// Who waits in vain for a thread is told to try again, and nothing is stored. An operation waits, and nothing becomes of it
/// before.
#[tokio::test(start_paused = true)]
async fn while_all_threads_are_busy_nothing_is_judged() {
    let pool = CpuPool::with_threads(1);
    let builder = World::builder().judged_in(pool.clone());
    let world = builder.verdict_wait(Duration::ZERO).build().await;
    let registered = world.aws.register_type(&thing().to_string());
    registered.expect("the simulator takes the schema");
    let small = json!({"Name": "a", "Kind": "old"});
    let busy = occupy(&pool).await;
    world.expect_log("no schema");
    let reply = in_time(put(&world, THING, &small)).await.expect(503);
    assert!(reply.text.contains("was not read"), "{}", reply.text);
    assert!(reply.header("retry-after").is_some());
    drop(busy);
    put(&world, THING, &small).await.expect(201);
    world.settle().await;

    let busy = occupy(&pool).await;
    let large = of_kind("old", 'a');
    let reply = in_time(put(&world, THING, &large)).await.expect(503);
    assert_eq!(reply.code(), "ServiceUnavailable");
    assert!(
        reply.text.contains("Nothing was stored or sent"),
        "{}",
        reply.text
    );
    assert!(reply.header("retry-after").is_some());
    let next = world.store.next_claimable_at().await;
    assert_eq!(next.expect("the store answers"), None);
    drop(busy);
    put(&world, THING, &large).await.expect(201);
    world.settle().await;

    // The declaration is small, and what is live is not.
    let less = json!({"Name": "a", "Kind": "old", "Members": ["b"]});
    let reply = put(&world, THING, &less).await.expect(201);
    let busy = occupy(&pool).await;
    world.expect_log("step not finished");
    in_time(world.step()).await;
    let next = world
        .store
        .next_claimable_at()
        .await
        .expect("the store answers");
    let wait = next.expect("it is live").since(world.clock.now());
    assert_eq!(wait, Duration::from_secs(1));
    assert_eq!(world.status(&reply).await["status"], "Accepted");
    drop(busy);
    world.settle().await;
    assert_eq!(world.status(&reply).await["status"], "Succeeded");
    world.finish().await;
}

/// A set is linked and judged by the same threads, unless it is small: nobody else waits for it.
#[tokio::test(start_paused = true)]
async fn while_all_threads_are_busy_no_large_set_is_judged() {
    let pool = CpuPool::with_threads(1);
    let world = World::builder().judged_in(pool.clone()).build().await;
    let registered = world.aws.register_type(&thing().to_string());
    registered.expect("the simulator takes the schema");
    world.put_group("rg").await;
    let path = "/planes/radius/local/resourceGroups/rg/:validate?api-version=2023-10-01-preview";
    let validate = async |output: &str| {
        let set = json!({
            "scope": format!("/planes/aws/aws/accounts/{ACCOUNT}/regions/{REGION}"),
            "resources": [{"alias": "a", "type": THING, "properties": {"Name": "a", "Kind": "old"}}],
            "outputs": {"text": output},
        });
        world.call("POST", path, &set.to_string()).await
    };
    let large = "x".repeat(20_000);
    // From now on its type is known.
    validate("x").await.expect(200);
    let busy = occupy(&pool).await;
    validate("x").await.expect(200);
    let refused = in_time(validate(&large)).await.expect(503);
    assert_eq!(refused.code(), "ServiceUnavailable");
    drop(busy);
    validate(&large).await.expect(200);
    world.finish().await;
}
