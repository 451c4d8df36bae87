//! Binding instances, and rotating bindings.

use std::time::Duration;

use serde_json::{Value, json};
use ucp_model::Clock as _;
use ucp_simulator::faults::{fail, fault, refuse};
use ucp_simulator::{Action, ExceptionCode, HandlerErrorCode};
use ucp_testkit::{World, apply, on_every_store};

use super::*;

const SECRET: &str = "AWS.SecretsManager/Secret";

#[apply(on_every_store)]
async fn a_binding_without_resources_is_made_at_once(world: &World) {
    logs(world, "one", json!({})).await;
    let made = wait(world, "PUT", &bound("one", "b"), &bind_logs())
        .await
        .expect(201)
        .body;
    let credentials = &made["credentials"];
    assert!(
        credentials["arn"]
            .as_str()
            .unwrap()
            .starts_with("arn:aws:logs:"),
        "{made}"
    );
    assert_eq!(credentials["days"], 7);
    for random in ["password", "user"] {
        let random = credentials[random].as_str().unwrap();
        assert_eq!(random.len(), 40);
        assert!(random.bytes().all(|byte| byte.is_ascii_alphanumeric()));
    }
    let again = ask(world, "PUT", &bound("one", "b"), &bind_logs())
        .await
        .expect(200)
        .body;
    assert_eq!(again, made);
    let mut shown = get(world, &bound("one", "b")).await.expect(200).body;
    assert_eq!(shown["parameters"].take(), json!({}));
    assert_eq!(shown["credentials"], made["credentials"]);
    // The password is the instance's, and the user the binding's.
    let other = wait(world, "PUT", &bound("one", "c"), &bind_logs())
        .await
        .expect(201)
        .body;
    assert_eq!(other["credentials"]["password"], credentials["password"]);
    assert_ne!(other["credentials"]["user"], credentials["user"]);
    let path = format!("{}?service_id={LOGS}&plan_id={SMALL}", bound("one", "b"));
    assert_eq!(
        ask(world, "DELETE", &path, &Value::Null)
            .await
            .expect(200)
            .body,
        json!({})
    );
    assert_eq!(
        ask(world, "DELETE", &path, &Value::Null)
            .await
            .expect(410)
            .body,
        json!({})
    );
    refused(&get(world, &bound("one", "b")).await, 404, "NotFound");
    get(world, &bound("one", "c")).await.expect(200);
}

#[apply(on_every_store)]
async fn a_binding_with_resources_takes_a_while(world: &World) {
    bucket(world, "one").await;
    refused(
        &ask(world, "PUT", &bound("one", "b"), &bind_bucket()).await,
        422,
        "AsyncRequired",
    );
    let operation = begin(world, "PUT", &bound("one", "b"), &bind_bucket()).await;
    assert_eq!(
        begin(world, "PUT", &bound("one", "b"), &bind_bucket()).await,
        operation
    );
    refused(&get(world, &bound("one", "b")).await, 404, "NotFound");
    let path = format!("{}?accepts_incomplete=true", at("one"));
    let update = ask(
        world,
        "PATCH",
        &path,
        &json!({"service_id": BUCKET, "plan_id": GOLD}),
    )
    .await;
    refused(&update, 422, "ConcurrencyError");
    world.settle().await;
    assert_eq!(
        last(world, &bound("one", "b"), &operation).await,
        succeeded()
    );
    let shown = get(world, &bound("one", "b")).await.expect(200).body;
    assert_eq!(shown["credentials"]["bucket"], "osb-one");
    assert!(
        shown["credentials"]["role"]
            .as_str()
            .unwrap()
            .starts_with("arn:aws:iam::"),
        "{shown}"
    );
    assert_eq!(shown["parameters"], json!({"principal": PRINCIPAL}));
    assert_eq!(shown["endpoints"][0]["ports"], json!(["443"]));
    let (expires, renew) = (
        &shown["metadata"]["expires_at"],
        &shown["metadata"]["renew_before"],
    );
    assert!(renew.as_str() < expires.as_str(), "{shown}");
    let role = live(world, "AWS::IAM::Role").remove(0);
    assert!(
        role.to_string().contains(expires.as_str().unwrap()),
        "{role}"
    );
    let other =
        json!({"service_id": BUCKET, "plan_id": DEV, "parameters": {"principal": "arn:other"}});
    let path = format!("{}?accepts_incomplete=true", bound("one", "b"));
    refused(&ask(world, "PUT", &path, &other).await, 409, "Conflict");
    // Its outputs are shown to the platform alone.
    let status = format!(
        "/planes/radius/local/providers/System.Resources/locations/global/operationStatuses/{operation}?api-version=2023-10-01-preview"
    );
    let status = world.get(&status).await.expect(200);
    assert!(
        !status
            .text
            .contains(shown["credentials"]["salt"].as_str().unwrap()),
        "{}",
        status.text
    );
    let gone = format!("{}?service_id={BUCKET}&plan_id={DEV}", bound("one", "b"));
    assert_eq!(
        change(world, "DELETE", &gone, &Value::Null).await,
        succeeded()
    );
    assert!(live(world, "AWS::IAM::Role").is_empty());
    assert_eq!(live(world, "AWS::S3::Bucket").len(), 1);
}

#[apply(on_every_store)]
async fn a_binding_is_rotated(world: &World) {
    bucket(world, "one").await;
    assert_eq!(
        change(world, "PUT", &bound("one", "b"), &bind_bucket()).await,
        succeeded()
    );
    let successor = json!({"predecessor_binding_id": "b"});
    assert_eq!(
        change(world, "PUT", &bound("one", "c"), &successor).await,
        succeeded()
    );
    let shown = get(world, &bound("one", "c")).await.expect(200).body;
    assert_eq!(shown["parameters"], json!({"principal": PRINCIPAL}));
    assert_eq!(live(world, "AWS::IAM::Role").len(), 2);
    let path = format!("{}?accepts_incomplete=true", bound("one", "d"));
    let unknown = ask(world, "PUT", &path, &json!({"predecessor_binding_id": "x"})).await;
    refused(&unknown, 400, "BadRequest");
    world.clock.advance(Duration::from_secs(91 * 24 * 60 * 60));
    let expired = ask(world, "PUT", &path, &successor).await;
    refused(&expired, 400, "BadRequest");
    assert!(expired.text.contains("expired"), "{}", expired.text);
    logs(world, "two", json!({})).await;
    wait(world, "PUT", &bound("two", "b"), &bind_logs())
        .await
        .expect(201);
    let path = format!("{}?accepts_incomplete=true", bound("two", "c"));
    let fixed = ask(world, "PUT", &path, &successor).await;
    refused(&fixed, 400, "BadRequest");
    assert!(fixed.text.contains("cannot be rotated"), "{}", fixed.text);
}

#[apply(on_every_store)]
async fn what_cannot_be_bound_is_refused(world: &World) {
    let path = format!("{}?accepts_incomplete=true", bound("one", "b"));
    refused(
        &ask(world, "PUT", &path, &bind_logs()).await,
        404,
        "NotFound",
    );
    begin(world, "PUT", &at("one"), &order(LOGS, SMALL, json!({}))).await;
    refused(
        &ask(world, "PUT", &path, &bind_logs()).await,
        422,
        "ConcurrencyError",
    );
    world.settle().await;
    let nobody = json!({"service_id": LOGS, "plan_id": SMALL});
    refused(&ask(world, "PUT", &path, &nobody).await, 422, "RequiresApp");
    let old_way = json!({"service_id": LOGS, "plan_id": SMALL, "app_guid": "app"});
    wait(world, "PUT", &bound("one", "b"), &old_way)
        .await
        .expect(201);
    let wrong = json!({"service_id": LOGS, "plan_id": SMALL, "bind_resource": {"app_guid": "app"}, "parameters": {"x": 1}});
    let path = format!("{}?accepts_incomplete=true", bound("one", "c"));
    refused(&ask(world, "PUT", &path, &wrong).await, 400, "BadRequest");
    for wrong in [
        json!({"service_id": BUCKET, "plan_id": DEV}),
        json!({"service_id": LOGS, "plan_id": LARGE}),
        json!({"service_id": LOGS}),
        json!({"plan_id": SMALL}),
    ] {
        refused(&ask(world, "PUT", &path, &wrong).await, 400, "BadRequest");
    }
}

#[apply(on_every_store)]
async fn a_failed_binding_is_made_anew(world: &World) {
    bucket(world, "one").await;
    let refusal = fault(fail(HandlerErrorCode::ServiceLimitExceeded).saying("Too many."));
    world
        .aws
        .add_fault(refusal.on(Action::CreateResource).times(1));
    let failed = change(world, "PUT", &bound("one", "b"), &bind_bucket()).await;
    assert_eq!(failed["state"], "failed");
    assert!(
        failed["description"]
            .as_str()
            .unwrap()
            .contains("Too many."),
        "{failed}"
    );
    assert_eq!(failed.get("instance_usable"), None);
    refused(&get(world, &bound("one", "b")).await, 404, "NotFound");
    assert_eq!(
        change(world, "PUT", &bound("one", "b"), &bind_bucket()).await,
        succeeded()
    );
    assert_eq!(live(world, "AWS::IAM::Role").len(), 1);
}

/// What is made anew after a failed deletion hands out what it did, also if that fails.
#[apply(on_every_store)]
async fn a_binding_that_is_not_made_anew_hands_out_what_it_did(world: &World) {
    bucket(world, "one").await;
    let made = change(world, "PUT", &bound("one", "b"), &bind_bucket()).await;
    assert_eq!(made, succeeded());
    let before = get(world, &bound("one", "b")).await.expect(200).body;
    let refusal = fault(fail(HandlerErrorCode::AccessDenied).saying("Not yours."));
    world.aws.add_fault(refusal.on(Action::DeleteResource));
    let gone = format!("{}?service_id={BUCKET}&plan_id={DEV}", bound("one", "b"));
    let failed = change(world, "DELETE", &gone, &Value::Null).await;
    assert_eq!(failed["state"], "failed");
    world.aws.clear_faults();
    world.clock.advance(Duration::from_secs(24 * 3600));
    let hidden = fault(refuse(ExceptionCode::AccessDenied).saying("Not now."));
    world.aws.add_fault(hidden.on(Action::GetResource));
    let failed = change(world, "PUT", &bound("one", "b"), &bind_bucket()).await;
    assert_eq!(failed["state"], "failed");
    world.aws.clear_faults();
    let after = get(world, &bound("one", "b")).await.expect(200).body;
    assert_eq!(after, before);
}

#[apply(on_every_store)]
async fn a_successor_is_the_same_once_its_predecessor_is_gone(world: &World) {
    bucket(world, "one").await;
    assert_eq!(
        change(world, "PUT", &bound("one", "b"), &bind_bucket()).await,
        succeeded()
    );
    let successor = json!({"predecessor_binding_id": "b", "bind_resource": {"app_guid": "other"}});
    assert_eq!(
        change(world, "PUT", &bound("one", "c"), &successor).await,
        succeeded()
    );
    let gone = format!("{}?service_id={BUCKET}&plan_id={DEV}", bound("one", "b"));
    assert_eq!(
        change(world, "DELETE", &gone, &Value::Null).await,
        succeeded()
    );
    ask(world, "PUT", &bound("one", "c"), &successor)
        .await
        .expect(200);
}

#[apply(on_every_store)]
async fn bindings_are_ordered_at_the_same_time(world: &World) {
    bucket(world, "one").await;
    let paths: Vec<String> = (0..10)
        .map(|number| bound("one", &format!("b{number}")))
        .collect();
    let asked: Vec<String> = paths
        .iter()
        .map(|path| format!("{path}?accepts_incomplete=true"))
        .collect();
    let body = bind_bucket();
    let orders = asked.iter().map(|path| ask(world, "PUT", path, &body));
    for ordered in futures_util::future::join_all(orders).await {
        ordered.expect(202);
    }
    world.settle().await;
    for path in paths {
        get(world, &path).await.expect(200);
    }
    assert_eq!(live(world, "AWS::IAM::Role").len(), 10);
}

#[apply(on_every_store)]
async fn what_is_secret_is_shown_to_the_platform_alone(world: &World) {
    logs(world, "one", json!({})).await;
    let made = wait(world, "PUT", &bound("one", "b"), &bind_logs())
        .await
        .expect(201)
        .body;
    let secrets =
        ["password", "user"].map(|it| made["credentials"][it].as_str().unwrap().to_owned());
    let api = "api-version=2023-10-01-preview";
    let operations = format!("/planes/radius/local/resourceGroups/cf-space/operations?{api}");
    let events = format!("/planes/radius/local/providers/System.Resources/auditEvents?{api}");
    for path in [operations, events] {
        let told = world.get(&path).await.expect(200).text;
        for secret in &secrets {
            assert!(!told.contains(secret), "{path}: {told}");
        }
    }
}

/// Whoever reads the resources of an instance at ARM does not see what was drawn for it, wherever AWS shows it.
#[apply(on_every_store)]
async fn what_was_drawn_is_masked_at_arm(world: &World) {
    world.offer(&[(
        "logs.toml",
        "properties.SecretString = \"((random/password))\"",
        "properties.SecretString = \"((random/password))\"\nproperties.Description = \"pass ((random/password))\"",
    )]);
    let made = wait(world, "PUT", &at("one"), &order(LOGS, SMALL, json!({}))).await;
    made.expect(201);
    let bound_to = wait(world, "PUT", &bound("one", "b"), &bind_logs()).await;
    let bound_to = bound_to.expect(201).body;
    let password = bound_to["credentials"]["password"].as_str().unwrap();
    let secrets = live(world, "AWS::SecretsManager::Secret");
    assert_eq!(secrets[0]["Description"], format!("pass {password}"));

    let api = "api-version=2023-10-01-preview";
    let group = "/planes/radius/local/resourceGroups/cf-space";
    let operations = world.get(&format!("{group}/operations?{api}")).await;
    let operations = operations.expect(200);
    let secret = format!("{group}/providers/{SECRET}:reference/one:secret");
    let mut told = vec![
        operations.text,
        world
            .get(&format!("{group}/resources?{api}"))
            .await
            .expect(200)
            .text,
        world.get(&format!("{secret}?{api}")).await.expect(200).text,
    ];
    let listed = operations.body["value"].as_array().unwrap();
    for operation in listed {
        let status = operation["id"].as_str().unwrap();
        told.push(world.get(&format!("{status}?{api}")).await.expect(200).text);
        let result = status.replace("operationStatuses", "operationResults");
        told.push(world.get(&format!("{result}?{api}")).await.text);
    }
    let what_if = json!({"trackedBy": secret, "properties": {"Name": "osb-one-secret", "Description": "other"}});
    told.push(world.post(SECRET, "whatIf", &what_if).await.text);
    let same = json!({"trackedBy": secret, "updateMode": "merge",
        "properties": {"Name": "osb-one-secret", "Description": format!("pass {password}")}});
    told.push(world.post(SECRET, "put", &same).await.expect(201).text);
    world.settle().await;
    for text in &told {
        assert!(!text.contains(password), "{text}");
    }
    let masked = told.iter().filter(|text| text.contains("pass (sensitive)"));
    assert!(masked.count() >= 7, "{told:#?}");
}

/// AWS quotes what it refuses.
#[apply(on_every_store)]
async fn what_was_drawn_is_masked_in_words_of_aws(world: &World) {
    logs(world, "one", json!({})).await;
    let path = at("one");
    let bound_to = wait(world, "PUT", &bound("one", "b"), &bind_logs()).await;
    let bound_to = bound_to.expect(201).body;
    let password = bound_to["credentials"]["password"].as_str().unwrap();
    let words = format!("The value '{password}' is not allowed.");
    let refusal = fault(fail(HandlerErrorCode::InvalidRequest).saying(&words));
    world.aws.add_fault(refusal.on(Action::DeleteResource));
    let gone = format!("{path}?service_id={LOGS}&plan_id={SMALL}");
    let failed = change(world, "DELETE", &gone, &Value::Null).await;
    assert_eq!(failed["state"], "failed", "{failed}");
    let said = failed["description"].as_str().unwrap();
    assert!(said.contains("'(sensitive)' is not allowed"), "{said}");
    let api = "api-version=2023-10-01-preview";
    let group = "/planes/radius/local/resourceGroups/cf-space";
    let operations = world.get(&format!("{group}/operations?{api}")).await;
    let operations = operations.expect(200).text;
    assert!(operations.contains("(sensitive)") && !operations.contains(password));
}

/// Also in what a request is refused with, in what a what-if cannot see, and in the register of leftovers.
#[apply(on_every_store)]
async fn what_was_drawn_is_masked_in_refusals_and_leftovers(world: &World) {
    const LOG_GROUP: &str = "AWS.Logs/LogGroup";
    world.offer(&[(
        "logs.toml",
        "properties.LogGroupName = \"osb-((instance_id))\"",
        "properties.LogGroupName = \"osb-((random/password))\"",
    )]);
    logs(world, "one", json!({})).await;
    let bound_to = wait(world, "PUT", &bound("one", "b"), &bind_logs()).await;
    let bound_to = bound_to.expect(201).body;
    let password = bound_to["credentials"]["password"].as_str().unwrap();
    let group = "/planes/radius/local/resourceGroups/cf-space";
    let api = "api-version=2023-10-01-preview";
    let tracked = format!("{group}/providers/{LOG_GROUP}:reference/one:group");
    let renamed = json!({"trackedBy": tracked, "properties": {"LogGroupName": "other"}});
    let refused = world.post(LOG_GROUP, "put", &renamed).await.expect(409);
    let what_if = world
        .post(LOG_GROUP, "whatIf", &renamed)
        .await
        .expect(200)
        .body;
    for text in [&refused.text, &what_if["error"].to_string()] {
        assert!(text.contains("'osb-(sensitive)'"), "{text}");
        assert!(!text.contains(password), "{text}");
    }

    let words = format!("The value '{password}' is not allowed.");
    let unreadable = refuse(ExceptionCode::AccessDenied).saying(&words);
    let unreadable = fault(unreadable).on(Action::GetResource);
    world.aws.add_fault(unreadable);
    let longer = json!({"trackedBy": tracked, "properties": {"RetentionInDays": 30}});
    let what_if = world.post(LOG_GROUP, "whatIf", &longer).await.expect(200);
    let change = what_if.body["properties"]["changes"][0]["unsupportedReason"].to_string();
    assert!(
        change.contains("'(sensitive)' is not allowed"),
        "{what_if:?}"
    );
    world.aws.clear_faults();

    // The old one of a replacement stays.
    let kept = fail(HandlerErrorCode::InvalidRequest).saying(&words);
    world.aws.add_fault(fault(kept).on(Action::DeleteResource));
    let mut replacing = renamed;
    replacing["replacementPolicy"] = json!("createBeforeDelete");
    world.post(LOG_GROUP, "put", &replacing).await.expect(201);
    world.settle().await;
    let leftovers = world.get(&format!("{group}/leftovers?{api}")).await;
    let leftovers = leftovers.expect(200).body;
    let error = leftovers["value"][0]["properties"]["lastError"].to_string();
    assert!(
        error.contains("'(sensitive)' is not allowed"),
        "{leftovers}"
    );
}

/// A value that AWS does not show is no member of the credentials.
#[apply(on_every_store)]
async fn what_has_no_value_is_left_out(world: &World) {
    logs(world, "one", json!({})).await;
    let more = (
        "logs.toml",
        "credentials = { arn = \"((group/Arn))\",",
        "credentials = { arn = \"((group/Arn))\", key = \"((group/KmsKeyId))\", all = { key = \"((group/KmsKeyId))\", name = \"((group/LogGroupName))\" },",
    );
    for (binding, seconds) in [("b", 15), ("c", 5), ("d", 1)] {
        let sync_wait = Duration::from_secs(seconds);
        world.offer_and_wait(&[more], sync_wait);
        let before = world.clock.now();
        let made = wait(world, "PUT", &bound("one", binding), &bind_logs()).await;
        let credentials = &made.expect(201).body["credentials"];
        assert_eq!(credentials.get("key"), None, "{credentials}");
        assert_eq!(credentials["all"], json!({"name": "osb-one"}));
        assert!(credentials["arn"].is_string(), "{credentials}");
        let took = world.clock.now().since(before);
        assert!(took < sync_wait, "{took:?}");
    }
}

/// Nobody waits for it any more.
#[apply(on_every_store)]
async fn what_only_reads_gives_up_soon(world: &World) {
    logs(world, "one", json!({})).await;
    let denied = refuse(ExceptionCode::AccessDenied).saying("No.");
    world.aws.add_fault(fault(denied).on(Action::GetResource));
    let before = world.clock.now();
    let failed = wait(world, "PUT", &bound("one", "b"), &bind_logs()).await;
    assert_eq!(failed.status, 500, "{}", failed.text);
    let took = world.clock.now().since(before);
    assert!(took < Duration::from_secs(60), "{took:?}");
    world.aws.clear_faults();
    wait(world, "PUT", &bound("one", "b"), &bind_logs())
        .await
        .expect(201);
}
