//! Histories: files of moves that are made on one state and applied to others. And the list of records.

use super::*;

fn event(id: &str, from: &str, to: &str) -> Value {
    let moves = json!([{"from": format!("rg/{LOGS}/{from}"), "to": format!("rg/{LOGS}/{to}")}]);
    json!({"id": id, "moves": moves})
}

fn renamed(alias: &str, history: &[Value]) -> Value {
    let resources = vec![resource(alias, LOGS, logs("main"))];
    with(
        body("apply", &[(OLD, resources)]),
        json!({ "history": history }),
    )
}

#[apply(on_every_store)]
async fn groups_remember_what_they_have_had(world: &World) {
    world.put_and_settle(LOGS, "a", logs("main")).await;
    let (first, second) = (event("e1", "a", "b"), event("e2", "b", "c"));
    let applied = refactor(world, &renamed("b", std::slice::from_ref(&first))).await;
    assert_eq!(
        moves(&applied),
        moved(&[(
            "rg/aws.logs/loggroup/a",
            "rg/aws.logs/loggroup/b",
            "Mapping"
        )])
    );
    assert_eq!(
        applied["history"],
        json!({"environment": [], "common": null, "pending": ["e1"]})
    );
    let applied = refactor(world, &renamed("c", &[first.clone(), second.clone()])).await;
    assert_eq!(
        applied["history"],
        json!({"environment": ["e1"], "common": "e1", "pending": ["e2"]})
    );
    // The same again moves nothing, and brings nothing.
    let again = refactor(world, &renamed("c", &[first.clone(), second])).await;
    assert_eq!(
        again["history"],
        json!({"environment": ["e1", "e2"], "common": "e2", "pending": []})
    );
    assert_eq!(moves(&again), []);

    let parted = renamed("d", &[first, event("e3", "b", "d")]);
    let refused = post(world, PLANE, &parted).await.expect(409);
    assert_eq!(refused.code(), "RefactorRefused");
    assert_eq!(
        refused.body["error"]["details"][0]["code"],
        "HistoryDiverged"
    );
    reference(world, OLD, LOGS, "c").await.expect(200);
}

/// What is undone was not had, and what is done again was.
#[apply(on_every_store)]
async fn an_event_goes_with_an_undo_and_comes_back(world: &World) {
    world.put_and_settle(LOGS, "a", logs("main")).await;
    let history = [event("e1", "a", "b")];
    let mut record = refactor(world, &renamed("b", &history)).await;
    for had in [json!([]), json!(["e1"]), json!([])] {
        let undo = format!("{}/:undo", record["id"].as_str().expect("an id"));
        record = post(world, &undo, &json!({})).await.expect(200).body;
        let plan = with(renamed("b", &history), json!({"mode": "plan"}));
        let plan = refactor(world, &plan).await;
        assert_eq!(plan["history"]["environment"], had);
    }
}

/// So that the next request with that history goes on from there.
#[apply(on_every_store)]
async fn events_that_moved_nothing_may_differ(world: &World) {
    world.put_and_settle(LOGS, "a", logs("main")).await;
    let nothing = |id: &str| json!({"id": id, "moves": []});
    refactor(world, &renamed("a", &[nothing("e1"), nothing("e2")])).await;
    let other = refactor(world, &renamed("a", &[nothing("e1"), nothing("e3")])).await;
    assert_eq!(other["history"]["environment"], json!(["e1", "e2"]));
    let on = [nothing("e1"), nothing("e3"), event("e4", "a", "b")];
    let applied = refactor(world, &renamed("b", &on)).await;
    assert_eq!(applied["history"]["environment"], json!(["e1", "e3"]));
    assert_eq!(moves(&applied).len(), 1);
}

/// Without a history, what moved something is an event of its own name.
#[apply(on_every_store)]
async fn records_are_listed_latest_first(world: &World) {
    world.put_and_settle(LOGS, "a", logs("main")).await;
    let mut names = Vec::new();
    for alias in ["b", "c", "d"] {
        let resources = vec![resource(alias, LOGS, logs("main"))];
        let applied = refactor(world, &body("apply", &[(OLD, resources)])).await;
        assert_eq!(applied["history"]["environment"], json!(names.clone()));
        names.push(applied["name"].as_str().expect("a name").to_owned());
        world.clock.advance(std::time::Duration::from_secs(1));
    }
    names.reverse();
    let records = "/planes/radius/local/providers/System.Resources/refactors";
    for query in ["", "&group=rg", &format!("&group={GROUP}")] {
        let mut next = format!("{records}?{API}&top=2{query}");
        let mut listed = Vec::new();
        for _ in 0..2 {
            let page = world.get(&next).await.expect(200).body;
            let of_page = page["value"].as_array().expect("records").iter();
            listed
                .extend(of_page.map(|record| record["name"].as_str().expect("a name").to_owned()));
            let Some(link) = page["nextLink"].as_str() else {
                break;
            };
            next = link[link.find("/planes").expect("a path")..].to_owned();
        }
        assert_eq!(listed, names, "{query}");
    }
    let none = world
        .get(&format!("{records}?{API}&group=other"))
        .await
        .expect(200);
    assert_eq!(none.body["value"], json!([]));
}
