//! Looks that prove nothing: an operation is accepted, and its worker decides.

use std::time::Duration;

use serde_json::json;
use ucp_simulator::ExceptionCode;
use ucp_testkit::{Reply, StoreKind, World, apply, on_every_store};

use super::{
    LOG_GROUP, Request, VPC, accepted, changes, logs, reads, reads_since, refuse_reads, stray,
};

/// Sends a request whose look proves nothing, and expects that it is an operation whose worker looks for itself.
/// Returns the reply.
async fn doubted(world: &World, request: &Request, status: u16) -> Reply {
    let (operations, before) = (accepted(world), reads(world));
    let reply = request.attended(world).await.expect(status);
    assert_eq!(accepted(world), operations + 1, "{request:?}");
    assert_eq!(reads_since(world, before), 2, "{request:?}");
    world.settle().await;
    reply
}

/// Expects that the operation of the reply has succeeded.
async fn succeeded(world: &World, reply: &Reply) {
    let status = world.status(reply).await;
    assert_eq!(status["status"], "Succeeded", "{status}");
}

#[apply(on_every_store)]
async fn what_seems_to_be_absent_once_is_not_created_anew(world: &World) {
    world.put_and_settle(LOG_GROUP, "logs", logs(7)).await;
    let absent_once = || refuse_reads(world, ExceptionCode::ResourceNotFound, 1);
    absent_once();
    doubted(world, &Request::put(LOG_GROUP, "logs", &logs(7)), 200).await;
    let same = json!({"RetentionInDays": 7});
    for request in [
        Request::put_by_name(LOG_GROUP, "logs", &same),
        Request::patch(LOG_GROUP, "logs", &same),
    ] {
        absent_once();
        doubted(world, &request, 200).await;
    }
    assert_eq!(changes(world), [1, 0, 0]);

    let other = json!({"RetentionInDays": 30});
    for (request, status) in [
        (Request::put(LOG_GROUP, "logs", &logs(14)), 201),
        (Request::put_by_name(LOG_GROUP, "logs", &other), 201),
        (Request::patch(LOG_GROUP, "logs", &same), 202),
    ] {
        absent_once();
        let reply = doubted(world, &request, status).await;
        succeeded(world, &reply).await;
    }
    assert_eq!(changes(world), [1, 3, 0]);
    assert_eq!(world.references().await.len(), 1);
}

#[apply(on_every_store)]
async fn what_seems_to_be_absent_once_is_deleted_nevertheless(world: &World) {
    for (index, delete) in [
        Request::delete(LOG_GROUP, "logs"),
        Request::delete_by_name(LOG_GROUP, "logs"),
    ]
    .into_iter()
    .enumerate()
    {
        world.put_and_settle(LOG_GROUP, "logs", logs(7)).await;
        refuse_reads(world, ExceptionCode::ResourceNotFound, 1);
        let reply = doubted(world, &delete, 202).await;
        succeeded(world, &reply).await;
        assert!(world.live("AWS::Logs::LogGroup").is_empty());
        assert!(world.references().await.is_empty());
        assert_eq!(changes(world), [index + 1, 0, index + 1]);
    }
}

#[apply(on_every_store)]
async fn a_delete_by_name_of_what_is_gone_takes_the_reference_along(world: &World) {
    world.put_and_settle(LOG_GROUP, "logs", logs(7)).await;
    let resource = ("AWS::Logs::LogGroup", "logs");
    world.vanish(resource.0, resource.1);
    let delete = Request::delete_by_name(LOG_GROUP, "logs");
    let reply = delete.attended(world).await.expect(202);
    world.settle().await;
    succeeded(world, &reply).await;
    assert!(world.references().await.is_empty());
    let events = world.events(LOG_GROUP, "logs").await;
    delete.costs(world, 204, 1, &[("recorded_target", 2)]).await;
    assert_eq!(world.events(LOG_GROUP, "logs").await, events);
    assert_eq!(world.store.next_claimable_at().await.unwrap(), None);
    assert_eq!(changes(world), [1, 0, 1]);
}

#[apply(on_every_store)]
async fn a_look_that_aws_does_not_answer_is_left_to_the_worker(world: &World) {
    world.put_and_settle(LOG_GROUP, "logs", logs(7)).await;
    stray(world, "other").await;
    for exception in [
        ExceptionCode::Throttling,
        ExceptionCode::AccessDenied,
        ExceptionCode::ServiceInternalError,
    ] {
        for (request, status) in [
            (Request::put(LOG_GROUP, "logs", &logs(7)), 200),
            (Request::put(LOG_GROUP, "logs", &logs(14)), 201),
            (Request::put(LOG_GROUP, "logs", &logs(7)), 201),
            (Request::import(LOG_GROUP, "other", "other"), 201),
        ] {
            refuse_reads(world, exception, 1);
            let reply = doubted(world, &request, status).await;
            if request.path.ends_with(":put") && status == 201 {
                succeeded(world, &reply).await;
            }
        }
        let forgotten = ucp_testkit::tracked_by(LOG_GROUP, "other");
        world.call("DELETE", &forgotten, "").await.expect(200);
    }
    for request in [
        Request::delete(LOG_GROUP, "logs"),
        Request::delete_by_name(LOG_GROUP, "other"),
    ] {
        refuse_reads(world, ExceptionCode::Throttling, 1);
        let reply = doubted(world, &request, 202).await;
        succeeded(world, &reply).await;
    }
    assert_eq!(changes(world), [2, 6, 2]);
}

#[apply(on_every_store)]
async fn a_late_look_is_left_to_the_worker(kind: StoreKind) {
    let Some(builder) = World::builder().on(kind).await else {
        return;
    };
    let builder = builder.verdict_wait(Duration::from_millis(50));
    let world = &builder.build().await;
    let created = world
        .put(VPC, "main", json!({"CidrBlock": "10.0.0.0/16"}))
        .await;
    created.expect(201);
    world.settle().await;
    for (declared, updates) in [
        (json!({"CidrBlock": "10.0.0.0/16"}), 0),
        (
            json!({"CidrBlock": "10.0.0.0/16", "EnableDnsSupport": false}),
            1,
        ),
    ] {
        let operations = accepted(world);
        let put = Request::put(VPC, "main", &declared);
        world.hold_next_read();
        // The read itself would be given up after ten seconds.
        let reply = tokio::time::timeout(Duration::from_secs(5), put.alone(world)).await;
        let reply = reply.expect("the look is given up").expect(201);
        assert_eq!(accepted(world), operations + 1);
        world.is_read_held().await;
        world.release_reads();
        world.settle().await;
        succeeded(world, &reply).await;
        assert_eq!(changes(world), [1, updates, 0]);
    }
}
