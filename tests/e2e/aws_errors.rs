//! Errors of AWS: codes, messages, tokens and hooks, their statuses, and the pages that explain them (contract section
//! 9, D3, D16, D20).

use std::time::Duration;

use serde_json::{Value, json};
use ucp_model::Clock as _;
use ucp_simulator::faults::{Effect, Refusal, fail, fault, refuse};
use ucp_simulator::{
    Action, ExceptionCode, FailureMode, HandlerErrorCode, HookProgressEvent, HookStatus,
};
use ucp_testkit::{ACCOUNT, REGION, Reply, World, apply, on_every_store};

const LOG_GROUP: &str = "AWS.Logs/LogGroup";

/// The 16 codes of `HandlerErrorCode`, and the status of the operation's result.
const HANDLER_ERROR_CODES: [(&str, u16); 16] = [
    ("AccessDenied", 403),
    ("AlreadyExists", 409),
    ("GeneralServiceException", 400),
    ("InternalFailure", 500),
    ("InvalidCredentials", 403),
    ("InvalidRequest", 400),
    ("NetworkFailure", 500),
    ("NotFound", 404),
    ("NotStabilized", 500),
    ("NotUpdatable", 400),
    ("ResourceConflict", 409),
    ("ServiceInternalError", 500),
    ("ServiceLimitExceeded", 400),
    ("ServiceTimeout", 500),
    ("Throttling", 429),
    ("UnauthorizedTaggingOperation", 403),
];

/// The exceptions of Cloud Control and the common AWS errors, with the status of a read that fails with them.
const EXCEPTIONS: [(&str, u16); 29] = [
    ("AccessDeniedException", 403),
    ("AlreadyExistsException", 409),
    ("CFNRegistryException", 400),
    ("ClientTokenConflictException", 400),
    ("ConcurrentModificationException", 500),
    ("ConcurrentOperationException", 409),
    ("ExpiredTokenException", 403),
    ("GeneralServiceException", 400),
    ("HandlerFailureException", 500),
    ("HandlerInternalFailureException", 500),
    ("InternalFailure", 500),
    ("InvalidAction", 400),
    ("InvalidCredentialsException", 403),
    ("InvalidRequestException", 400),
    ("NetworkFailureException", 500),
    ("NotStabilizedException", 400),
    ("NotUpdatableException", 400),
    ("PrivateTypeException", 400),
    ("RequestEntityTooLargeException", 400),
    ("RequestTokenNotFoundException", 400),
    ("ResourceConflictException", 409),
    ("ServiceInternalErrorException", 500),
    ("ServiceLimitExceededException", 400),
    ("ServiceUnavailableException", 500),
    ("ThrottlingException", 429),
    ("TypeNotFoundException", 400),
    ("UnrecognizedClientException", 403),
    ("UnsupportedActionException", 400),
    ("ValidationException", 400),
];

fn path(name: &str) -> String {
    format!("/planes/aws/aws/accounts/{ACCOUNT}/regions/{REGION}/providers/{LOG_GROUP}/{name}")
}

fn once(world: &World, call: Action, effect: impl Into<Effect>) {
    world.aws.add_fault(fault(effect).on(call).times(1));
}

/// A fault that rejects calls with the named exception.
fn refusal(exception: &str) -> Refusal {
    refuse(ExceptionCode::from_word(exception).expect("an exception")).saying("as ordered")
}

fn local(url: &str) -> &str {
    url.strip_prefix("http://localhost:8787")
        .expect("a URL of ours")
}

/// Waits for the operation of `accepted` and returns its result. Expects `status`, and the same error in the
/// operation's status.
async fn failed(world: &World, accepted: &Reply, status: u16) -> Reply {
    world.settle().await;
    let told = world.status(accepted).await;
    let result = local(accepted.header("location").expect("a Location"));
    let result = world.get(result).await.expect(status);
    assert_eq!(told["status"], "Failed");
    assert_eq!(told["error"], result.body["error"]);
    assert_eq!(result.header("retry-after").is_some(), status == 429);
    result
}

/// The last detail links to a page about the code, which this server serves.
async fn assert_explained(world: &World, refused: &Reply) {
    let details = refused.body["error"]["details"].as_array();
    let help = details.and_then(|details| details.last()).expect("details");
    assert_eq!(help["code"], "Help");
    let url = help["target"].as_str().expect("a URL");
    let page = world.get(local(url)).await.expect(200);
    assert_eq!(
        page.header("content-type"),
        Some("text/markdown; charset=utf-8")
    );
    assert!(page.text.starts_with(&format!("# {}\n", refused.code())));
}

fn assert_request(error: &Value, operation: &str, identifier: Option<&str>) {
    let info = &error["additionalInfo"][0];
    assert_eq!(info["type"], "CloudControlRequest");
    assert_eq!(info["info"]["operation"], operation);
    assert_eq!(info["info"]["typeName"], "AWS::Logs::LogGroup");
    assert_eq!(info["info"]["identifier"].as_str(), identifier);
    let token = info["info"]["requestToken"].as_str();
    assert!(token.is_some_and(|token| !token.is_empty()), "{error}");
}

/// AWS goes on failing until the operation gives up. `retries.rs` tells what a failure that passes comes to.
#[apply(on_every_store)]
async fn s9_every_handler_error_code_of_a_create_an_update_and_a_delete_is_told(world: &World) {
    for (index, (code, status)) in world.sample(HANDLER_ERROR_CODES).enumerate() {
        let failure = HandlerErrorCode::from_word(code).map(fail);
        let failure = failure.expect("a code").saying("As ordered.");
        let always = |call: Action, effect: Effect| {
            world.aws.clear_faults();
            world.aws.add_fault(fault(effect).on(call));
        };
        // AWS names resources of this type, so that AlreadyExists leaves nothing to adopt.
        always(Action::CreateResource, failure.clone().hidden().into());
        let alias = format!("unborn-{index}");
        let vpc = json!({"CidrBlock": "10.0.0.0/16"});
        let create = world.put("AWS.EC2/VPC", &alias, vpc).await.expect(201);
        // Nothing tells whether AWS has made it.
        let (told_code, told_status) = match code {
            "ServiceTimeout" => ("OutcomeUnknown", 500),
            _ => (code, status),
        };
        let refused = failed(world, &create, told_status).await;
        assert_eq!(refused.code(), told_code);
        let message = refused.body["error"]["message"].as_str().expect("text");
        assert!(message.contains("As ordered."), "{message}");
        // Only a failure of tags may be that of the mark.
        let told_of_tag = message.contains("--ownership-tags");
        assert_eq!(
            told_of_tag,
            code == "UnauthorizedTaggingOperation",
            "{message}"
        );
        assert_explained(world, &refused).await;
        world.aws.clear_faults();

        let name = format!("g{index}");
        let declared = json!({"LogGroupName": name});
        world.put_and_settle(LOG_GROUP, &name, declared).await;
        always(Action::UpdateResource, failure.clone().into());
        let changed = json!({"LogGroupName": name, "RetentionInDays": 7});
        let update = world.put(LOG_GROUP, &name, changed).await.expect(201);
        let refused = failed(world, &update, status).await;
        assert_eq!(refused.code(), code);
        assert_request(&refused.body["error"], "update", Some(&name));

        always(Action::DeleteResource, failure.into());
        let delete = world.delete(LOG_GROUP, &name).await.expect(202);
        if code == "NotFound" {
            // Looks show it, whatever the delete says.
            let refused = failed(world, &delete, status).await;
            assert_eq!(refused.code(), code);
        } else {
            let refused = failed(world, &delete, status).await;
            assert_eq!(refused.code(), code);
            assert_request(&refused.body["error"], "delete", Some(&name));
        }
        world.aws.clear_faults();
    }
    // An alias whose create may stand is kept.
    let unborn = world.references().await;
    let unborn = unborn.iter().filter(|reference| {
        let name = reference["name"].as_str().expect("a name");
        name.contains("unborn")
    });
    let states: Vec<_> = unborn.map(|it| &it["provisioningState"]).collect();
    let unknown = world.sample(HANDLER_ERROR_CODES);
    let unknown = unknown.filter(|(code, _)| *code == "ServiceTimeout");
    let unknown: Vec<_> = unknown.map(|_| "Unknown").collect();
    assert_eq!(states, unknown);
}

#[apply(on_every_store)]
async fn d20_every_exception_that_a_read_meets_has_its_status(world: &World) {
    world.expect_log("AWS did not answer a read");
    for (exception, status) in EXCEPTIONS {
        once(world, Action::GetResource, refusal(exception));
        let refused = world.get(&path("g1")).await.expect(status);
        assert_eq!(refused.code(), exception);
        assert_eq!(refused.body["error"]["message"], "as ordered");
        assert_eq!(refused.header("retry-after").is_some(), status == 429);
        assert_explained(world, &refused).await;
    }
    for (exception, message) in [
        ("ResourceNotFoundException", "as ordered"),
        (
            "InvalidRequestException",
            "The specified log group does not exist.",
        ),
        ("InvalidRequestException", "Log Group g1 cannot be found"),
    ] {
        once(
            world,
            Action::GetResource,
            refusal(exception).saying(message),
        );
        let missing = world.get(&path("g1")).await.expect(404);
        assert_eq!(missing.code(), "NotFound");
        assert_explained(world, &missing).await;
    }
}

#[apply(on_every_store)]
async fn d20_a_change_that_aws_refuses_outright_fails_with_the_exceptions_status(world: &World) {
    world.expect_log("the call did not succeed");
    let declared = json!({"LogGroupName": "g1"});
    world.put_and_settle(LOG_GROUP, "g1", declared).await;
    for (exception, status) in EXCEPTIONS {
        // The others lead to a wait, a look or an unknown outcome; the tests of `decide` cover them.
        let is_final = status != 500
            && ![
                "ClientTokenConflictException",
                "ConcurrentOperationException",
                "ExpiredTokenException",
                "InvalidCredentialsException",
                "NotStabilizedException",
                "ResourceConflictException",
                "ThrottlingException",
            ]
            .contains(&exception);
        if !is_final {
            continue;
        }
        once(world, Action::UpdateResource, refusal(exception));
        let changed = json!({"LogGroupName": "g1", "RetentionInDays": 7});
        let update = world.put(LOG_GROUP, "g1", changed).await.expect(201);
        let refused = failed(world, &update, status).await;
        assert_eq!(refused.code(), exception);
        assert_explained(world, &refused).await;
    }
    assert_eq!(world.references().await.len(), 1, "the reference stays");
}

#[apply(on_every_store)]
async fn s9_hooks_that_refuse_a_change_are_told_one_by_one(world: &World) {
    let hook = |name: &str, status, mode| HookProgressEvent {
        hook_type_name: name.to_owned(),
        hook_type_arn: "arn:aws:cloudformation:us-west-2:123456789012:type/hook/H".to_owned(),
        hook_type_version_id: "00000001".to_owned(),
        invocation_point: "CREATE_PRE_PROVISION".to_owned(),
        hook_status: status,
        hook_status_message: format!("{name} says no"),
        failure_mode: mode,
    };
    let hooks = [
        hook(
            "My::Org::Encryption",
            HookStatus::CompleteFailed,
            FailureMode::Fail,
        ),
        hook(
            "My::Org::Naming",
            HookStatus::CompleteSucceeded,
            FailureMode::Fail,
        ),
        hook("My::Org::Cost", HookStatus::Failed, FailureMode::Warn),
    ];
    let failure = fail(HandlerErrorCode::AccessDenied).saying("hooks refuse it");
    once(world, Action::CreateResource, failure.hidden().hooks(hooks));
    let create = world
        .put(LOG_GROUP, "logs", json!({"LogGroupName": "logs"}))
        .await
        .expect(201);
    let refused = failed(world, &create, 403).await;
    let error = &refused.body["error"];
    assert_eq!(error["code"], "AccessDenied");
    assert_request(error, "create", None);
    let told = error["additionalInfo"].as_array().expect("facts");
    assert_eq!(told.len(), 3, "{error}");
    assert_eq!(
        told[1],
        json!({"type": "CloudFormationHook", "info": {
            "typeName": "My::Org::Encryption",
            "typeArn": "arn:aws:cloudformation:us-west-2:123456789012:type/hook/H",
            "typeVersionId": "00000001",
            "invocationPoint": "CREATE_PRE_PROVISION",
            "status": "HOOK_COMPLETE_FAILED",
            "failureMode": "FAIL",
            "message": "My::Org::Encryption says no",
        }})
    );
    assert_eq!(told[2]["info"]["failureMode"], "WARN");
    assert!(world.references().await.is_empty(), "nothing is referenced");
}

#[apply(on_every_store)]
async fn s9_ucps_own_refusals_are_explained_wherever_they_come_from(world: &World) {
    let unsupported = world.call("POST", &path("g1"), "{}").await.expect(405);
    let unreadable = world.call("PUT", &path("g1"), "{").await.expect(400);
    let nowhere = world.get("/nowhere").await.expect(404);
    let too_long = world.get(&path(&"x".repeat(9000))).await.expect(400);
    let no_version = world.get("/planes").await.expect(400);
    for refused in [unsupported, unreadable, nowhere, too_long, no_version] {
        assert_explained(world, &refused).await;
    }
    let index = world.get("/docs/errors/README.md").await.expect(200);
    assert!(index.text.contains("[`AlreadyExists`](AlreadyExists.md)"));
    world.get("/docs/errors/AlreadyExists.md").await.expect(200);
    let unknown = world.get("/docs/errors/nonsense").await.expect(404);
    assert_eq!(unknown.code(), "NotFound");
}

#[apply(on_every_store)]
async fn d36_places_in_the_request_stay_among_themselves(world: &World) {
    let refused = world
        .put(LOG_GROUP, "logs", json!({"Nope": 1}))
        .await
        .expect(400);
    assert_eq!(refused.code(), "InvalidRequest");
    let details = refused.body["error"]["details"]
        .as_array()
        .expect("details");
    for detail in details {
        let target = detail["target"].as_str().expect("a place");
        assert!(target.starts_with("/properties"), "{target}");
    }
}

/// The event of the failed create repeats the declared name. A request that AWS finds invalid has made nothing of that name.
#[apply(on_every_store)]
async fn a_named_create_that_is_invalid_is_told_at_once(world: &World) {
    let invalid = fault(fail(HandlerErrorCode::InvalidRequest).saying("Retention is not valid."));
    world
        .aws
        .add_fault(invalid.on(Action::CreateResource).times(1));
    let began = world.clock.now();
    let declared = json!({"LogGroupName": "logs"});
    let status = world
        .put_and_settle("AWS.Logs/LogGroup", "main", declared.clone())
        .await;
    assert_eq!(status["error"]["code"], "InvalidRequest", "{status}");
    let took = world.clock.now().since(began);
    assert!(took < Duration::from_secs(15), "{took:?}");
    let status = world
        .put_and_settle("AWS.Logs/LogGroup", "main", declared)
        .await;
    assert_eq!(status["status"], "Succeeded", "{status}");
}
