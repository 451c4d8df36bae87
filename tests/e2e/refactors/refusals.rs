//! What is refused, and what has changed since it was seen.

use super::*;

/// The code and the message of the first detail of an apply that is refused.
async fn refused(world: &World, body: &Value, code: &str) -> (String, String) {
    let refused = post(world, PLANE, body).await.expect(409);
    assert_eq!(refused.code(), code, "{}", refused.text);
    let detail = &refused.body["error"]["details"][0];
    let text = |name: &str| detail[name].as_str().expect("a text").to_owned();
    (text("code"), text("message"))
}

#[apply(on_every_store)]
async fn nothing_moves_onto_what_stays_or_elsewhere(world: &World) {
    world.put_and_settle(LOGS, "a", logs("main")).await;
    world.put_and_settle(LOGS, "b", logs("other")).await;
    let before = world.references().await;
    // The name says that it is the one at `a`.
    let onto = body("apply", &[(OLD, vec![resource("b", LOGS, logs("main"))])]);
    let (code, message) = refused(world, &onto, "RefactorRefused").await;
    assert_eq!(code, "TargetTaken");
    assert!(
        message.contains("that of rg/AWS.Logs/LogGroup/b"),
        "{message}"
    );
    let plan = refactor(world, &with(onto, json!({"mode": "plan"}))).await;
    assert_eq!(
        plan["changes"],
        json!({"create": [], "update": [], "undeclared": []})
    );
    let account = format!("/planes/aws/aws/accounts/210987654321/regions/{REGION}");
    let abroad = with(resource("a", LOGS, logs("main")), json!({"scope": account}));
    let abroad = body("apply", &[(OLD, vec![abroad])]);
    let (code, _) = refused(world, &abroad, "RefactorRefused").await;
    assert_eq!(code, "AccountChanges");
    assert_eq!(world.references().await, before);
}

/// The one may have been changed, and the other be new.
#[apply(on_every_store)]
async fn a_reused_address_is_ambiguous(world: &World) {
    world.put_and_settle(VPC, "net", vpc()).await;
    let other = json!({"CidrBlock": "10.9.0.0/16"});
    let reused = vec![resource("net", VPC, other), resource("core", VPC, vpc())];
    let reused = body("apply", &[(OLD, reused)]);
    let (code, message) = refused(world, &reused, "RefactorAmbiguous").await;
    assert_eq!(code, "AddressReused");
    assert!(message.contains("rg/AWS.EC2/VPC/core"), "{message}");
}

/// Of a plan that is applied, or of what is undone: the history, and the fingerprint.
#[apply(on_every_store)]
async fn what_is_not_as_it_was_seen_is_not_done(world: &World) {
    deployed(world).await;
    let plan = refactor(world, &split("plan")).await;
    let subnet =
        json!({"VpcId": {"$reference": "AWS.EC2/VPC/net#/VpcId"}, "CidrBlock": "10.0.1.0/24"});
    let renamed = vec![
        resource("net", VPC, vpc()),
        resource("sub", SUBNET, subnet),
        resource("audit", LOGS, logs("main")),
    ];
    let applied = refactor(world, &body("apply", &[(OLD, renamed)])).await;
    assert_eq!(moves(&applied).len(), 1);
    let path = |record: &Value, action: &str| {
        format!("{}/:{action}", record["id"].as_str().expect("an id"))
    };
    // Nothing that it moves was written.
    let late = post(world, &path(&plan, "apply"), &json!({})).await;
    assert_eq!(late.expect(412).code(), "PreconditionFailed");
    let undo = path(&applied, "undo");
    let other = json!({"fingerprint": plan["fingerprint"]});
    let unseen = post(world, &undo, &other).await.expect(412);
    assert_eq!(unseen.code(), "PreconditionFailed");
    let seen = json!({"fingerprint": applied["fingerprint"]});
    post(world, &undo, &seen).await.expect(200);
    post(world, &path(&plan, "apply"), &json!({}))
        .await
        .expect(200);
}

/// A function is in its code, and a database behind its password.
#[apply(on_every_store)]
async fn write_only_values_tell_resources_apart(world: &World) {
    const DATABASE: &str = "AWS.RDS/DBInstance";
    let database = |password: &str| {
        json!({"Engine": "postgres", "DBInstanceClass": "db.t3.micro", "AllocatedStorage": "20",
            "MasterUsername": "app", "MasterUserPassword": password})
    };
    world
        .put_and_settle(DATABASE, "orders", database("Passw0rd1"))
        .await;
    world
        .put_and_settle(DATABASE, "users", database("Passw0rd2"))
        .await;
    let of = |mode: &str, all: &[(&str, &str)]| {
        let all = all.iter();
        let all = all.map(|(alias, word)| resource(alias, DATABASE, database(word)));
        body(mode, &[(OLD, all.collect())])
    };
    // One leaves, and another one comes.
    let other = [("billing", "Other0pass"), ("users", "Passw0rd2")];
    let plan = refactor(world, &of("plan", &other)).await;
    assert_eq!(moves(&plan).len(), 0, "{plan}");
    let changes = &plan["changes"];
    let address = |alias: &str| super::address(OLD, DATABASE, alias).replace("Groups", "groups");
    assert_eq!(changes["create"], json!([address("billing")]));
    assert_eq!(changes["undeclared"], json!([address("orders")]));
    // Each gets the alias that the other one does not have.
    let renamed = [("accounts", "Passw0rd2"), ("sales", "Passw0rd1")];
    let applied = refactor(world, &of("apply", &renamed)).await;
    let expected = [("orders", "sales"), ("users", "accounts")];
    let expected = expected.map(|(from, to)| {
        let [from, to] = [from, to].map(|alias| format!("rg/aws.rds/dbinstance/{alias}"));
        (from, to, "Digest".to_owned())
    });
    assert_eq!(moves(&applied), expected);
    assert_eq!(applied["changes"]["update"], json!([]));
}
