//! Requests in flight that are watched in bulk, where AWS does not say when to ask again.

use std::time::Duration;

use serde_json::json;
use ucp_engine::Watcher;
use ucp_model::{Clock, Timestamp};
use ucp_simulator::faults::{Effect, fault, refuse};
use ucp_simulator::{Action, ExceptionCode};
use ucp_testkit::{World, apply, on_every_store};

const LOG_GROUP: &str = "AWS.Logs/LogGroup";
/// How long each create takes.
const TAKES: Duration = Duration::from_secs(60);

/// Creates that take a minute each, and when each was put.
struct Creates {
    name: &'static str,
    put_at: Vec<Timestamp>,
}

/// What the creates have cost.
#[derive(Debug)]
struct Cost {
    /// The calls for the status of requests, lists included, for each create.
    calls: f64,
    /// The pages of lists.
    pages: usize,
    /// By how many seconds their ends were seen too late, least first.
    late: Vec<f64>,
}

impl Cost {
    fn median(&self) -> f64 {
        self.late[self.late.len() / 2]
    }

    fn worst(&self) -> f64 {
        self.late[self.late.len() - 1]
    }
}

/// Makes creates take a minute, of which AWS does not say when to ask again.
fn slowly(world: &World) {
    taking(world, TAKES);
}

/// Makes creates take so long.
fn taking(world: &World, takes: Duration) {
    let millis = u64::try_from(takes.as_millis()).expect("a short time");
    let takes = Effect::Latency {
        least_millis: millis,
        most_millis: millis,
    };
    world.aws.add_fault(fault(takes).on(Action::CreateResource));
    world.aws.add_fault(fault(Effect::NoRetryAfter {}));
}

/// Lets time pass until `until`, or until nothing is in flight, while watchers watch and workers step what is due.
async fn pass(world: &World, watchers: &mut [Watcher], until: Option<Timestamp>) {
    loop {
        let mut next = Timestamp::from_millis(i64::MAX);
        for watcher in &mut *watchers {
            let watched = watcher.watch().await;
            next = next.min(watched.expect("the store answers"));
        }
        world.step().await;
        let claimable = world.store.next_claimable_at().await;
        let claimable = claimable.expect("the store answers");
        next = next.min(claimable.unwrap_or(next));
        match until {
            None if claimable.is_none() => return,
            Some(until) if next >= until => return world.clock.move_to(until),
            None | Some(_) => world.clock.move_to(next),
        }
    }
}

/// Puts so many log groups, a few each second.
async fn put(
    world: &World,
    watchers: &mut [Watcher],
    (name, count, each_second): (&'static str, usize, usize),
) -> Creates {
    let mut put_at = Vec::new();
    for number in 0..count {
        let name = format!("{name}{number}");
        let put = world.put(LOG_GROUP, &name, json!({"LogGroupName": name}));
        put.await.expect(201);
        put_at.push(world.clock.now());
        if (number + 1) % each_second == 0 {
            let next = world.clock.now().after(Duration::from_secs(1));
            pass(world, watchers, Some(next)).await;
        }
    }
    Creates { name, put_at }
}

/// Lets creates end, all of which succeed.
async fn end(world: &World, watchers: &mut [Watcher], creates: Creates) -> Cost {
    pass(world, watchers, None).await;
    let mut late = Vec::new();
    for (number, put_at) in creates.put_at.iter().enumerate() {
        let alias = format!("{}{number}", creates.name);
        let events = world.events(LOG_GROUP, &alias).await;
        assert_eq!(events[0].outcome, "Succeeded", "{alias}");
        late.push(events[0].at.since(put_at.after(TAKES)).as_secs_f64());
    }
    late.sort_unstable_by(f64::total_cmp);
    let pages = world.calls("ListResourceRequests");
    let calls = world.calls("GetResourceRequestStatus") + pages;
    #[expect(clippy::cast_precision_loss, reason = "small counts")]
    let calls = calls as f64 / creates.put_at.len() as f64;
    Cost { calls, pages, late }
}

/// 500 creates of a minute each: at most 1.5 calls for each, and the ends are seen within three seconds.
#[tokio::test]
async fn many_creates_take_few_calls() {
    for each_second in [5, 500] {
        let world = World::builder().build().await;
        slowly(&world);
        let mut watchers = [world.watcher("a")];
        pass(&world, &mut watchers, Some(world.clock.now())).await;
        let creates = put(&world, &mut watchers, ("a", 500, each_second)).await;
        let cost = end(&world, &mut watchers, creates).await;
        let (median, worst) = (cost.median(), cost.worst());
        println!(
            "{each_second} a second: {:.2} calls each, {} pages; late: {median:.1} s, at most {worst:.1} s",
            cost.calls, cost.pages
        );
        assert!(cost.calls <= 1.5, "{each_second}: {cost:?}");
        assert!(median <= 3.0, "{each_second}: {cost:?}");
        assert!(worst <= 15.0, "{each_second}: {cost:?}");
        world.finish().await;
    }
}

/// Few are asked after one by one, as they were.
#[apply(on_every_store)]
async fn few_creates_are_not_listed(world: &World) {
    slowly(world);
    let mut watchers = [world.watcher("a")];
    let creates = put(world, &mut watchers, ("a", 9, 9)).await;
    let cost = end(world, &mut watchers, creates).await;
    assert_eq!(cost.pages, 0);
    assert!(cost.worst() <= 20.0, "{cost:?}");
}

/// A list that is some seconds old shows no request that is new, and shows requests that have ended.
#[apply(on_every_store)]
async fn a_list_may_lag(world: &World) {
    slowly(world);
    let lag = Effect::Lag {
        least_millis: 0,
        most_millis: 8_000,
        replicas: 1,
    };
    world
        .aws
        .add_fault(fault(lag).on(Action::ListResourceRequests));
    let mut watchers = [world.watcher("a")];
    let creates = put(world, &mut watchers, ("a", 30, 10)).await;
    let cost = end(world, &mut watchers, creates).await;
    assert!(cost.worst() <= 30.0, "{cost:?}");
    assert!(cost.calls <= 6.0, "{cost:?}");
}

/// A list that never shows a request is followed a few times. Then the operations ask by themselves.
#[apply(on_every_store)]
async fn a_list_may_lie(world: &World) {
    slowly(world);
    let lag = Effect::Lag {
        least_millis: 86_400_000,
        most_millis: 86_400_000,
        replicas: 1,
    };
    world
        .aws
        .add_fault(fault(lag).on(Action::ListResourceRequests));
    let mut watchers = [world.watcher("a")];
    let creates = put(world, &mut watchers, ("a", 30, 10)).await;
    let cost = end(world, &mut watchers, creates).await;
    assert!(cost.worst() <= 30.0, "{cost:?}");
    assert!(cost.calls <= 12.0, "{cost:?}");
}

/// Without the permission, each operation asks by itself, and the list is not tried again for a while.
#[apply(on_every_store)]
async fn a_list_may_be_denied(world: &World) {
    slowly(world);
    let denied = refuse(ExceptionCode::AccessDenied).saying("not authorized");
    world
        .aws
        .add_fault(fault(denied).on(Action::ListResourceRequests));
    let mut watchers = [world.watcher("a"), world.watcher("b")];
    let creates = put(world, &mut watchers, ("a", 30, 10)).await;
    let cost = end(world, &mut watchers, creates).await;
    assert_eq!(cost.pages, 1);
    assert!(cost.worst() <= 30.0, "{cost:?}");
}

/// A watch over them begins only after they have ended.
#[apply(on_every_store)]
async fn short_creates_are_seen_soon(world: &World) {
    taking(world, Duration::from_millis(300));
    let mut watchers = [world.watcher("a")];
    let began = world.clock.now();
    pass(world, &mut watchers, Some(began)).await;
    let creates = put(world, &mut watchers, ("a", 30, 30)).await;
    end(world, &mut watchers, creates).await;
    let took = world.clock.now().since(began);
    assert!(took <= Duration::from_secs(6), "{took:?}");
}

/// A list that is throttled, or whose reply is lost, is repeated.
#[apply(on_every_store)]
async fn a_list_may_fail(world: &World) {
    slowly(world);
    let throttled = refuse(ExceptionCode::Throttling).saying("Rate exceeded");
    let lists = |effect| fault(effect).on(Action::ListResourceRequests);
    world.aws.add_fault(lists(throttled.into()).times(3));
    world.aws.add_fault(lists(Effect::DropReply {}).times(2));
    let mut watchers = [world.watcher("a")];
    let creates = put(world, &mut watchers, ("a", 30, 10)).await;
    let cost = end(world, &mut watchers, creates).await;
    assert!(cost.pages > 5, "{cost:?}");
    assert!(cost.worst() <= 30.0, "{cost:?}");
}

/// Another process watches once the lease of one that died has run out. While both live, one of them does.
#[apply(on_every_store)]
async fn another_process_takes_a_watch_over(world: &World) {
    slowly(world);
    let mut watchers = vec![world.watcher("a"), world.watcher("b")];
    let creates = put(world, &mut watchers, ("a", 40, 10)).await;
    let before = world.store.list_waiting_scopes(1).await;
    let before = before.expect("the store answers").remove(0).watch;
    assert_eq!(before.expect("a watch").owner, "a");
    watchers.remove(0);
    let cost = end(world, &mut watchers, creates).await;
    assert!(cost.worst() <= 15.0, "{cost:?}");
    assert!(cost.pages > 5, "{cost:?}");
    for watcher in &mut watchers {
        watcher.watch().await.expect("the store answers");
    }
    let after = world.store.list_waiting_scopes(1).await;
    assert_eq!(after.expect("the store answers"), []);
}

/// Somebody who cancels does not wait for the watch.
#[apply(on_every_store)]
async fn what_is_cancelled_is_cancelled_at_once(world: &World) {
    slowly(world);
    let mut watchers = [world.watcher("a")];
    put(world, &mut watchers, ("a", 20, 20)).await;
    let declared = json!({"LogGroupName": "cancelled"});
    let reply = world
        .put(LOG_GROUP, "cancelled", declared)
        .await
        .expect(201);
    let began = world.clock.now();
    pass(world, &mut watchers, Some(began.after(TAKES / 4))).await;
    let url = reply.status_url();
    let path = &url[url.find("/planes/").expect("an absolute URL")..];
    let cancel = world.call("POST", &format!("{path}/:cancel"), "").await;
    cancel.expect(202);
    pass(world, &mut watchers, Some(began.after(TAKES / 3))).await;
    assert!(world.calls("CancelResourceRequest") > 0);
    pass(world, &mut watchers, None).await;
    assert_eq!(world.status(&reply).await["status"], "Canceled");
}
