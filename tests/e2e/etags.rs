//! ETags (contract section 9): planes and resource groups handle them in the same way.

use std::time::Duration;

use ucp_testkit::{Reply, World, apply, on_every_store};

const PLANE: &str = "/planes/aws/tagged?api-version=2023-10-01-preview";
const GROUP: &str = "/planes/radius/local/resourceGroups/tagged?api-version=2023-10-01-preview";

async fn put(world: &World, path: &str, conditions: &[(&'static str, &str)]) -> Reply {
    let body = r#"{"location":"global"}"#;
    world.send_with(conditions, "PUT", path, body).await
}

async fn delete(world: &World, path: &str, conditions: &[(&'static str, &str)]) -> Reply {
    world.send_with(conditions, "DELETE", path, "").await
}

#[track_caller]
fn tag(reply: &Reply) -> String {
    let tag = reply.header("etag").expect("an ETag").to_owned();
    assert!(tag.starts_with('"') && tag.ends_with('"'), "{tag}");
    tag
}

#[track_caller]
fn failed(reply: Reply) {
    let reply = reply.expect(412);
    assert_eq!(reply.code(), "PreconditionFailed");
    let target = reply.body["error"]["target"].as_str().expect("a target");
    assert!(target.starts_with("/planes/") && target.ends_with("/tagged"));
    assert_eq!(reply.header("etag"), None);
}

#[apply(on_every_store)]
async fn a_tag_changes_with_every_write_and_with_nothing_else(world: &World) {
    for path in [PLANE, GROUP] {
        let first = tag(&put(world, path, &[]).await.expect(200));
        for _ in 0..2 {
            assert_eq!(tag(&world.get(path).await.expect(200)), first);
        }
        let second = tag(&put(world, path, &[]).await.expect(200));
        assert_ne!(second, first, "the same content is another write");
        assert_eq!(tag(&world.get(path).await.expect(200)), second);
    }
}

#[apply(on_every_store)]
async fn a_put_if_match_changes_only_what_is_there(world: &World) {
    for path in [PLANE, GROUP] {
        failed(put(world, path, &[("if-match", "*")]).await);
        failed(put(world, path, &[("if-match", "\"tag\"")]).await);
        world.get(path).await.expect(404);

        let first = tag(&put(world, path, &[]).await.expect(200));
        let second = put(world, path, &[("if-match", &first)]).await.expect(200);
        failed(put(world, path, &[("if-match", &first)]).await);
        assert_eq!(
            tag(&world.get(path).await),
            tag(&second),
            "nothing was written"
        );
        let either = format!("{first}, {}", tag(&second));
        put(world, path, &[("if-match", &either)]).await.expect(200);
        put(world, path, &[("if-match", "*")]).await.expect(200);
    }
}

#[apply(on_every_store)]
async fn a_put_if_none_match_creates_only(world: &World) {
    for path in [PLANE, GROUP] {
        put(world, path, &[("if-none-match", "*")])
            .await
            .expect(200);
        failed(put(world, path, &[("if-none-match", "*")]).await);
        put(world, path, &[("if-none-match", "\"other\"")])
            .await
            .expect(200);
    }
}

#[apply(on_every_store)]
async fn a_delete_if_match_takes_only_what_was_seen(world: &World) {
    assert_eq!(
        delete(world, PLANE, &[("if-match", "\"tag\"")])
            .await
            .expect(204)
            .text,
        ""
    );
    let first = tag(&put(world, PLANE, &[]).await.expect(200));
    let second = tag(&put(world, PLANE, &[]).await.expect(200));
    failed(delete(world, PLANE, &[("if-match", &first)]).await);
    world.get(PLANE).await.expect(200);
    assert_eq!(
        delete(world, PLANE, &[("if-match", &second)])
            .await
            .expect(200)
            .text,
        ""
    );

    world.clock.advance(Duration::from_secs(1));
    put(world, PLANE, &[]).await.expect(200);
    failed(delete(world, PLANE, &[("if-match", &first)]).await);
    assert!(
        tag(&put(world, PLANE, &[]).await) != second,
        "the tag of what is gone came back"
    );
}

#[apply(on_every_store)]
async fn a_condition_that_cannot_be_read_is_refused(world: &World) {
    for path in [PLANE, GROUP] {
        let refused = put(world, path, &[("if-match", "\"é\"")]).await.expect(400);
        assert_eq!(refused.code(), "BadRequest");
        world.get(path).await.expect(404);
    }
}
