//! What happens between the reads of a request and its decision.

use serde_json::json;
use ucp_testkit::{World, apply, on_every_store};

use super::{
    LOG_GROUP, Request, VPC, accepted, change_outside, changes, logs, stored, stray, until,
};

/// Sends a request, lets `meanwhile` happen after its look, and returns the reply.
async fn overtaken(
    world: &World,
    request: &Request,
    meanwhile: impl AsyncFnOnce(),
) -> ucp_testkit::Reply {
    world.hold_next_read();
    let meanwhile = async {
        world.is_read_held().await;
        meanwhile().await;
        world.release_reads();
    };
    tokio::join!(request.alone(world), meanwhile).0
}

#[apply(on_every_store)]
async fn a_refusal_is_checked_again_against_what_is_recorded(world: &World) {
    stray(world, "logs").await;
    let put = |more| Request::put_with(LOG_GROUP, "main", &logs(7), more);
    let refusing = put(json!({"adoptionPolicy": "fail"}));
    let adopting = put(json!({}));
    let reply = overtaken(world, &refusing, async || {
        adopting.alone(world).await.expect(200);
    });
    // The alias stands for the resource now, so there is nothing to adopt.
    reply.await.expect(200);
    assert_eq!(world.references().await.len(), 1);
    assert_eq!(world.events(LOG_GROUP, "main").await.len(), 1);

    // An import of what was not there when it looked.
    let import = Request::import(LOG_GROUP, "imported", "other");
    let reply = overtaken(world, &import, async || stray(world, "other").await);
    reply.await.expect(201);
    assert_eq!(accepted(world), 2, "of the strays");
}

#[apply(on_every_store)]
async fn a_put_that_changes_nothing_starts_over_if_its_reference_has_changed(world: &World) {
    world.put_and_settle(LOG_GROUP, "logs", logs(7)).await;
    let same = Request::put(LOG_GROUP, "logs", &logs(7));
    let other = json!({"Tags": [{"Key": "is", "Value": "new"}]});
    change_outside(world, "AWS::Logs::LogGroup", "logs", &other);
    // What it has seen is news, but the update is newer: the put is refused as one after it.
    let reply = overtaken(world, &same, async || {
        let update = Request::put(LOG_GROUP, "logs", &logs(14));
        update.alone(world).await.expect(201);
    });
    assert_eq!(reply.await.expect(409).code(), "Conflict");
    world.settle().await;
    assert_eq!(
        world.references().await[0]["properties"]["RetentionInDays"],
        14
    );

    // If AWS was as the reference remembers it, there is nothing to write, and the put came first.
    let same = Request::put(LOG_GROUP, "logs", &logs(14));
    let reply = overtaken(world, &same, async || {
        let update = Request::put(LOG_GROUP, "logs", &logs(30));
        update.alone(world).await.expect(201);
        world.settle().await;
    });
    reply.await.expect(200);
    let reference = &world.references().await[0];
    assert_eq!(reference["properties"]["RetentionInDays"], 30);
    assert_eq!(changes(world), [1, 2, 0]);
}

#[apply(on_every_store)]
async fn an_adoption_starts_over_if_the_resource_was_deleted_and_made_anew(world: &World) {
    stray(world, "logs").await;
    let put = Request::put(LOG_GROUP, "main", &logs(7));
    let reply = overtaken(world, &put, async || {
        let delete = Request::delete_by_name(LOG_GROUP, "logs");
        delete.attended(world).await.expect(202);
        world.settle().await;
    });
    reply.await.expect(201);
    world.settle().await;
    let reference = &world.references().await[0];
    assert_eq!(
        reference["ownedResource"], true,
        "it is created, not adopted"
    );
    assert_eq!(changes(world), [2, 0, 1]);
}

#[apply(on_every_store)]
async fn a_delete_by_name_sees_the_reference_that_was_adopted_meanwhile(world: &World) {
    let delete = Request::delete_by_name(LOG_GROUP, "logs");
    world.hold_next_read();
    let meanwhile = async {
        world.is_read_held().await;
        stray(world, "logs").await;
        let adopt = Request::put(LOG_GROUP, "main", &logs(7));
        adopt.alone(world).await.expect(200);
        world.release_reads();
    };
    let (reply, ()) = tokio::join!(delete.attended(world), meanwhile);
    let reply = reply.expect(202);
    world.settle().await;
    assert_eq!(world.status(&reply).await["status"], "Succeeded");
    assert!(world.references().await.is_empty());
    assert!(world.live("AWS::Logs::LogGroup").is_empty());
}

/// Sends a request whose client hangs up while it looks.
async fn abandoned(world: &World, request: &Request) {
    world.hold_next_read();
    tokio::select! {
        reply = request.alone(world) => panic!("answered without a look: {}", reply.text),
        () = world.is_read_held() => {}
    }
    world.release_reads();
}

#[apply(on_every_store)]
async fn a_request_is_carried_out_though_its_client_hangs_up_during_the_look(world: &World) {
    world.put_and_settle(LOG_GROUP, "logs", logs(7)).await;
    let is_accepted = async || world.store.next_claimable_at().await.unwrap().is_some();
    abandoned(world, &Request::put(LOG_GROUP, "logs", &logs(14))).await;
    until("the put is accepted", is_accepted).await;
    world.settle().await;
    assert_eq!(
        world.references().await[0]["properties"]["RetentionInDays"],
        14
    );

    let changed = json!({"RetentionInDays": 30});
    abandoned(world, &Request::patch(LOG_GROUP, "logs", &changed)).await;
    until("the patch is accepted", is_accepted).await;
    world.settle().await;

    abandoned(world, &Request::import(LOG_GROUP, "imported", "logs")).await;
    let is_imported = async || world.references().await.len() == 2;
    until("the reference is written", is_imported).await;

    abandoned(world, &Request::delete(LOG_GROUP, "logs")).await;
    until("the delete is accepted", is_accepted).await;
    world.settle().await;
    assert!(world.references().await.is_empty());
    assert_eq!(changes(world), [1, 2, 1]);
    let before = stored(world, VPC, "main").await;
    abandoned(world, &Request::delete_by_name(LOG_GROUP, "logs")).await;
    assert_eq!(stored(world, VPC, "main").await, before);
}
