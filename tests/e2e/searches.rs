//! Creates that fail without naming anything, of types whose names AWS gives: what the handler made is searched for by its
//! mark. What each code comes to is among the `retries`.

use serde_json::json;
use ucp_simulator::faults::{Effect, Sharing, fault};
use ucp_simulator::{Action, HandlerErrorCode};
use ucp_testkit::{
    ACCOUNT, REGION, StoreKind, World, apply, crash_everywhere, on_every_store, tracked_by,
};

use crate::retries::{CODES, Class, end, fail_once, owned, show_late};

const VPC: &str = "AWS.EC2/VPC";

/// Nothing tells of what a handler made that has no tags. Where it may have made something, the alias stays, so that the same
/// template does not make a second one.
#[apply(on_every_store)]
async fn every_code_of_a_create_without_tags_that_names_nothing(world: &World) {
    const QUERY: &str = "AWS.Athena/NamedQuery";
    for (index, (code, class)) in world.sample(CODES).enumerate() {
        for is_made in [false, true] {
            let cell = format!("{code} made {is_made}");
            let (live, creates) = (world.live("AWS::Athena::NamedQuery").len(), world.creates());
            fail_once(world, Action::CreateResource, code, false, is_made);
            let alias = format!("q-{index}-{is_made}");
            let declared = json!({"Database": "d", "QueryString": "SELECT 1"});
            let status = world.put_and_settle(QUERY, &alias, declared).await;
            let told = code.to_string();
            let (end_of, creates_of) = match class {
                Class::Passes => ("Succeeded", 2),
                Class::Unknown | Class::PassesUnseen | Class::Watched => ("OutcomeUnknown", 1),
                Class::Taken => ("AlreadyExists", 1),
                Class::Gone | Class::Lasts | Class::Refused => (told.as_str(), 1),
            };
            assert_eq!(end(&status), end_of, "{cell}: {status}");
            assert_eq!(world.creates() - creates, creates_of, "{cell}");
            let live = world.live("AWS::Athena::NamedQuery").len() - live;
            let is_again = usize::from(class == Class::Passes);
            assert_eq!(live, usize::from(is_made) + is_again, "{cell}");
            if end_of == "OutcomeUnknown" {
                let declared = json!({"Database": "d", "QueryString": "SELECT 1"});
                let again = world.put(QUERY, &alias, declared).await.expect(409);
                assert_eq!(again.body["error"]["code"], "OutcomeUnknown", "{cell}");
            }
        }
    }
}

/// What it waits for is told, with AWS's error.
#[apply(on_every_store)]
async fn the_status_tells_of_a_search(world: &World) {
    let limit = HandlerErrorCode::ServiceLimitExceeded;
    fail_once(world, Action::CreateResource, limit, false, false);
    let declared = json!({"CidrBlock": "10.0.0.0/16"});
    let reply = world.put(VPC, "main", declared).await.expect(201);
    let mut waits = Vec::new();
    for _ in 0..50 {
        world.step().await;
        let status = world.status(&reply).await;
        let progress = &status["properties"]["progress"];
        let waits_for = progress["waitingFor"].as_str().unwrap_or_default();
        if status["status"] == "Failed" {
            break;
        }
        if waits_for.starts_with("a search for what the failed create may have made") {
            assert_eq!(status["status"], "Provisioning", "{status}");
            assert_eq!(progress["lastError"]["code"], "ServiceLimitExceeded");
            assert_eq!(progress["lastError"]["message"], "As ordered.");
            waits.push(waits_for.to_owned());
        }
        let due_at = world.store.next_claimable_at().await.expect("it answers");
        world.clock.move_to(due_at.expect("it goes on"));
    }
    assert_eq!(waits.len(), 2, "each can be many calls: {waits:?}");
    assert!(waits[1].contains("(2 have found nothing"), "{waits:?}");
    assert_eq!(end(&world.status(&reply).await), "ServiceLimitExceeded");
    assert_eq!(world.calls("ListResources"), waits.len() + 1);
}

/// Others have so many resources of the type that AWS throttles every search long before it is over.
pub(crate) async fn crowd(world: &World) {
    for number in 0..30 {
        let body = json!({"properties": {"CidrBlock": format!("10.{number}.0.0/16")}});
        world.post(VPC, "put", &body).await.expect(201);
    }
    world.settle().await;
}

/// AWS answers two reads a second, and eight at once.
pub(crate) fn throttle_reads(world: &World) {
    let (calls, rate, burst) = (Sharing::Reads, 2.0, 8);
    world
        .aws
        .add_fault(fault(Effect::Quota { calls, rate, burst }));
}

/// A search goes on where a throttle stopped it. Otherwise it would never come to the last page, and then a second
/// resource would be made.
#[apply(on_every_store)]
async fn a_throttled_search_goes_on_where_it_was(world: &World) {
    crowd(world).await;
    for is_made in [true, false] {
        let (creates, live) = (world.creates(), world.live("AWS::EC2::VPC").len());
        let throttling = HandlerErrorCode::Throttling;
        fail_once(world, Action::CreateResource, throttling, false, is_made);
        throttle_reads(world);
        let alias = format!("v-{is_made}");
        let declared = json!({"CidrBlock": "10.0.0.0/16"});
        let status = world.put_and_settle(VPC, &alias, declared).await;
        assert_eq!(end(&status), "Succeeded", "{status}");
        assert_eq!(world.creates() - creates, 1 + usize::from(!is_made));
        assert_eq!(world.live("AWS::EC2::VPC").len() - live, 1);
        assert_eq!(owned(world, &alias).await, Some(true));
    }
}

/// A resource that was released bears the mark of the alias for ever. No later create of the alias takes it.
#[apply(on_every_store)]
async fn what_an_earlier_create_made_is_not_taken(world: &World) {
    let declared = |net: u8| json!({"CidrBlock": format!("10.{net}.0.0/16")});
    world.put_and_settle(VPC, "main", declared(0)).await;
    let released = world.live("AWS::EC2::VPC");
    world.lets_go(&released[0]);
    let path = tracked_by(VPC, "main");
    let release = r#"{"ownedResource": false}"#;
    world.call("PATCH", &path, release).await.expect(200);
    world.call("DELETE", &path, "").await.expect(200);

    let limit = HandlerErrorCode::ServiceLimitExceeded;
    fail_once(world, Action::CreateResource, limit, false, false);
    let status = world.put_and_settle(VPC, "main", declared(1)).await;
    assert_eq!(end(&status), "ServiceLimitExceeded", "{status}");
    assert!(!status.to_string().contains(&released[0]), "{status}");
    assert!(world.references().await.is_empty());

    // Also beside an old resource, where what a failed create made is deleted.
    world.put_and_settle(VPC, "main", declared(2)).await;
    fail_once(world, Action::CreateResource, limit, false, false);
    let replace = json!({"trackedBy": path, "properties": declared(3),
        "replacementPolicy": "createBeforeDelete"});
    world.post(VPC, "put", &replace).await.expect(201);
    world.settle().await;
    assert!(world.live("AWS::EC2::VPC").contains(&released[0]));
    assert_eq!(world.calls("DeleteResource"), 0);
}

/// A cancel does not lose what the create made.
#[apply(on_every_store)]
async fn a_cancel_waits_for_what_a_search_finds(world: &World) {
    for is_made in [true, false] {
        let throttling = HandlerErrorCode::Throttling;
        fail_once(world, Action::CreateResource, throttling, false, is_made);
        show_late(world);
        let alias = format!("v-{is_made}");
        let (creates, live) = (world.creates(), world.live("AWS::EC2::VPC").len());
        let declared = json!({"CidrBlock": "10.0.0.0/16"});
        let reply = world.put(VPC, &alias, declared).await.expect(201);
        let is_searching = async || {
            let status = world.status(&reply).await;
            let waits_for = &status["properties"]["progress"]["waitingFor"];
            waits_for.as_str().is_some_and(|it| it.contains("search"))
        };
        for _ in 0..50 {
            world.step().await;
            if is_searching().await {
                break;
            }
            let due_at = world.store.next_claimable_at().await.expect("it answers");
            world.clock.move_to(due_at.expect("it goes on"));
        }
        assert!(is_searching().await);
        let url = reply.status_url();
        let path = &url[url.find("/planes/").expect("an absolute URL")..];
        let cancel = world.call("POST", &format!("{path}/:cancel"), "").await;
        cancel.expect(202);
        world.settle().await;
        let status = world.status(&reply).await;
        assert_eq!(status["status"], "Canceled", "{status}");
        assert_eq!(world.creates() - creates, 1);
        let left = world.live("AWS::EC2::VPC").len() - live;
        assert_eq!(left, usize::from(is_made));
        assert_eq!(owned(world, &alias).await, is_made.then_some(true));
    }
}

/// The search survives a crash anywhere, and so does what it finds.
#[apply(on_every_store)]
async fn a_create_that_named_nothing_survives_a_crash_anywhere(kind: StoreKind) {
    for is_made in [true, false] {
        crash_everywhere(kind, async |world| {
            let throttling = HandlerErrorCode::Throttling;
            fail_once(world, Action::CreateResource, throttling, false, is_made);
            world.may_crash();
            let body = json!({
                "trackedBy": tracked_by(VPC, "main"),
                "properties": {"CidrBlock": "10.0.0.0/16"}
            });
            let path =
                format!("/planes/aws/aws/accounts/{ACCOUNT}/regions/{REGION}/providers/{VPC}/:put");
            let ended = world.see_through("POST", &path, &body.to_string()).await;
            if let Some(ended) = ended {
                assert_eq!(end(&ended), "Succeeded", "{ended}");
            }
            assert_eq!(world.live("AWS::EC2::VPC").len(), 1);
            assert_eq!(world.creates(), 1 + usize::from(!is_made));
            assert_eq!(owned(world, "main").await, Some(true));
        })
        .await;
    }
}
