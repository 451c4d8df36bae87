//! Tests the AWS SDK against the simulator, on the wire: both must agree on protocols, errors and lost replies.

#![expect(clippy::unwrap_used, reason = "a test that cannot continue panics")]

mod wire;

use std::collections::BTreeSet;

use serde_json::json;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpListener;
use ucp_cloud::{CloudControl, Fault, FaultClass, TypeRegistry};
use ucp_cloud_aws::{Aws, SigningCredentials};
use ucp_model::{
    ClientToken, Entropy, Identifier, Progress, ProgressStatus, RequestToken, ResourcePage, Scope,
    SeededEntropy,
};
use ucp_simulator::faults::{Cancelling, Effect, fail, fault, refuse};
use ucp_simulator::{
    Action, ExceptionCode, FailureMode, HandlerErrorCode, HookProgressEvent, HookStatus, Simulator,
};

use crate::wire::{LONG_AGO, Stored, connect, scope, simulator, token, type_name};

struct Wire {
    aws: Aws,
    simulator: Simulator,
    scope: Scope,
    entropy: SeededEntropy,
}

async fn wire() -> Wire {
    let (endpoint, simulator, _) = simulator(LONG_AGO).await;
    let credentials = SigningCredentials::AccountAsAccessKey;
    Wire {
        aws: connect(&endpoint, credentials, &Stored::default()).await,
        simulator,
        scope: scope("123456789012"),
        entropy: SeededEntropy::new(2),
    }
}

impl Wire {
    fn token(&self) -> ClientToken {
        ClientToken(self.entropy.uuid("token"))
    }

    async fn settled(&self, progress: Progress) -> Progress {
        self.aws
            .get_resource_request_status(&self.scope, &progress.request_token)
            .await
            .unwrap()
    }
}

/// Something between answers each request itself, with a page of this status.
async fn page(status: &'static str) -> Aws {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let endpoint = format!("http://{}", listener.local_addr().unwrap());
    tokio::spawn(async move {
        loop {
            let (mut client, _) = listener.accept().await.unwrap();
            let mut request = Vec::new();
            while !request.windows(4).any(|end| end == b"\r\n\r\n") {
                client.read_buf(&mut request).await.unwrap();
            }
            let body = "<html>Sign in</html>";
            let reply = format!(
                "HTTP/1.1 {status}\r\ncontent-type: text/html\r\ncontent-length: {}\r\nconnection: close\r\n\r\n{body}",
                body.len()
            );
            client.write_all(reply.as_bytes()).await.unwrap();
        }
    });
    let credentials = SigningCredentials::AccountAsAccessKey;
    connect(&endpoint, credentials, &Stored::default()).await
}

/// The page says nothing of what AWS has done, unless its status says that the request was not passed on.
#[tokio::test]
async fn a_page_is_no_reply_of_aws() {
    let (vpc, scope) = (type_name("AWS::EC2::VPC"), scope("123456789012"));
    let expected = [
        ("200 OK", FaultClass::OutcomeUnknown, FaultClass::Transient),
        (
            "408 Request Timeout",
            FaultClass::OutcomeUnknown,
            FaultClass::Transient,
        ),
        (
            "502 Bad Gateway",
            FaultClass::OutcomeUnknown,
            FaultClass::Transient,
        ),
        (
            "429 Too Many Requests",
            FaultClass::Throttled,
            FaultClass::Throttled,
        ),
        ("403 Forbidden", FaultClass::Rejected, FaultClass::Rejected),
    ];
    for (status, of_create, of_read) in expected {
        let aws = page(status).await;
        let created = aws.create_resource(&scope, &vpc, "{}", token(3)).await;
        let fault = created.unwrap_err();
        assert_eq!(fault.class, of_create, "{status}: {fault}");
        assert!(fault.message.contains(&status[..3]), "{status}: {fault}");
        let read = aws
            .get_resource(&scope, &vpc, &Identifier::new("vpc-1"))
            .await;
        assert_eq!(read.unwrap_err().class, of_read, "{status}");
    }
}

#[tokio::test]
async fn a_resource_lives_and_dies() {
    let wire = wire().await;
    let (aws, scope, logs) = (&wire.aws, &wire.scope, type_name("AWS::Logs::LogGroup"));
    let name = Identifier::new("a/b");
    let created = aws
        .create_resource(scope, &logs, r#"{"LogGroupName":"a/b"}"#, wire.token())
        .await
        .unwrap();
    let created = wire.settled(created).await;
    assert_eq!(
        (created.status, created.identifier),
        (ProgressStatus::Success, Some(name.clone()))
    );
    let patch = json!([{"op": "add", "path": "/RetentionInDays", "value": 7}]).to_string();
    let updated = aws
        .update_resource(scope, &logs, &name, &patch, wire.token())
        .await
        .unwrap();
    assert_eq!(wire.settled(updated).await.status, ProgressStatus::Success);
    assert_eq!(
        aws.get_resource(scope, &logs, &name)
            .await
            .unwrap()
            .properties["RetentionInDays"],
        7
    );
    let elsewhere = Scope::new("aws", "999999999999", "eu-west-1").unwrap();
    assert!(matches!(
        aws.get_resource(&elsewhere, &logs, &name).await,
        Err(Fault {
            class: FaultClass::Missing,
            ..
        })
    ));
    let deleted = aws
        .delete_resource(scope, &logs, &name, wire.token())
        .await
        .unwrap();
    assert_eq!(wire.settled(deleted).await.status, ProgressStatus::Success);
    assert!(matches!(
        aws.get_resource(scope, &logs, &name).await,
        Err(Fault {
            class: FaultClass::Missing,
            ..
        })
    ));
}

#[tokio::test]
async fn resources_are_listed_page_by_page() {
    let wire = wire().await;
    let (aws, scope, logs) = (&wire.aws, &wire.scope, type_name("AWS::Logs::LogGroup"));
    assert_eq!(
        aws.list_resources(scope, &logs, None).await.unwrap(),
        ResourcePage::default()
    );
    let names: Vec<String> = (10..35).map(|number| format!("group/{number}")).collect();
    for name in &names {
        let declared = json!({ "LogGroupName": name }).to_string();
        let created = aws.create_resource(scope, &logs, &declared, wire.token());
        wire.settled(created.await.unwrap()).await;
    }
    let first = aws.list_resources(scope, &logs, None).await.unwrap();
    assert_eq!(first.resources[0].properties["LogGroupName"], "group/10");
    let token = first.next_token.as_deref();
    let second = aws.list_resources(scope, &logs, token).await.unwrap();
    assert!(token.is_some() && second.next_token.is_none());
    let listed = first.resources.iter().chain(&second.resources);
    let listed: Vec<&str> = listed
        .map(|resource| resource.identifier.as_str())
        .collect();
    assert_eq!(listed, names);
    let spoilt = aws.list_resources(scope, &logs, Some("spoilt")).await;
    assert!(
        matches!(
            spoilt,
            Err(Fault {
                class: FaultClass::Rejected,
                ..
            })
        ),
        "{spoilt:?}"
    );
}

#[tokio::test]
async fn requests_in_flight_are_listed_page_by_page() {
    let wire = wire().await;
    let (aws, scope, logs) = (&wire.aws, &wire.scope, type_name("AWS::Logs::LogGroup"));
    let create = async |name: String| {
        let declared = json!({ "LogGroupName": name }).to_string();
        let created = aws.create_resource(scope, &logs, &declared, wire.token());
        created.await.unwrap()
    };
    wire.settled(create("ended".to_owned()).await).await;
    let cancel = Cancelling::Accepted;
    wire.simulator
        .add_fault(fault(Effect::StayPending { cancel }));
    let mut pending = BTreeSet::new();
    for number in 0..101 {
        let created = create(format!("group/{number}")).await;
        pending.insert(created.request_token.to_string());
    }
    let first = aws.list_resource_requests(scope, None).await.unwrap();
    assert_eq!(first.requests.len(), 100);
    let token = first.next_token.as_deref();
    let second = aws.list_resource_requests(scope, token).await.unwrap();
    assert!(token.is_some() && second.next_token.is_none());
    let listed = first.requests.into_iter().chain(second.requests);
    let listed = listed.map(|request| {
        assert_eq!(request.status, ProgressStatus::Running);
        assert_eq!(request.type_name, Some(logs.clone()));
        assert_eq!(request.action, Some(ucp_model::Action::Create));
        request.request_token.to_string()
    });
    assert_eq!(listed.collect::<BTreeSet<_>>(), pending);
}

#[tokio::test]
async fn a_failed_change_says_why() {
    let wire = wire().await;
    let vpc = type_name("AWS::EC2::VPC");
    let failure = fail(HandlerErrorCode::InvalidRequest).saying("CidrBlock is taken");
    wire.simulator.add_fault(fault(failure));
    let declared = r#"{"CidrBlock":"10.0.0.0/16"}"#;
    let begun = wire
        .aws
        .create_resource(&wire.scope, &vpc, declared, wire.token())
        .await
        .unwrap();
    let ProgressStatus::Failed {
        code,
        message,
        hooks,
    } = wire.settled(begun).await.status
    else {
        panic!("it fails")
    };
    assert_eq!(code.as_str(), "InvalidRequest");
    assert!(message.contains("CidrBlock"), "{message}");
    assert!(hooks.is_empty(), "{hooks:?}");
}

#[tokio::test]
async fn a_model_that_violates_its_schema_is_rejected() {
    let wire = wire().await;
    let vpc = type_name("AWS::EC2::VPC");
    let refused = wire
        .aws
        .create_resource(&wire.scope, &vpc, r#"{"CidrBlock":7}"#, wire.token())
        .await
        .unwrap_err();
    assert_eq!(refused.class, FaultClass::Rejected);
    assert_eq!(refused.code, "ValidationException");
    assert!(refused.message.contains("CidrBlock"), "{refused:?}");
}

#[tokio::test]
async fn hooks_that_did_not_succeed_are_told() {
    let wire = wire().await;
    let hook = |name: &str, status, mode| HookProgressEvent {
        hook_type_name: name.to_owned(),
        hook_type_arn: format!("arn:{name}"),
        hook_type_version_id: "00000001".to_owned(),
        invocation_point: "CREATE_PRE_PROVISION".to_owned(),
        hook_status: status,
        hook_status_message: "as ordered".to_owned(),
        failure_mode: mode,
    };
    let hooks = [
        hook(
            "A::B::Passed",
            HookStatus::CompleteSucceeded,
            FailureMode::Fail,
        ),
        hook(
            "A::B::Refused",
            HookStatus::CompleteFailed,
            FailureMode::Fail,
        ),
        hook("A::B::Broke", HookStatus::Failed, FailureMode::Warn),
    ];
    let refused = fail(HandlerErrorCode::AccessDenied).hooks(hooks);
    wire.simulator
        .add_fault(fault(refused).on(Action::CreateResource));
    let vpc = type_name("AWS::EC2::VPC");
    let declared = r#"{"CidrBlock":"10.0.0.0/16"}"#;
    let begun = wire
        .aws
        .create_resource(&wire.scope, &vpc, declared, wire.token());
    let ended = wire.settled(begun.await.unwrap()).await;
    let ProgressStatus::Failed { hooks, .. } = ended.status else {
        panic!("it fails")
    };
    let told: Vec<_> = hooks
        .iter()
        .map(|hook| (hook.type_name.as_deref(), hook.failure_mode.as_deref()))
        .collect();
    let expected = [
        (Some("A::B::Refused"), Some("FAIL")),
        (Some("A::B::Broke"), Some("WARN")),
    ];
    assert_eq!(told, expected);
    assert_eq!(hooks[0].type_arn.as_deref(), Some("arn:A::B::Refused"));
    let point = hooks[0].invocation_point.as_deref();
    assert_eq!(point, Some("CREATE_PRE_PROVISION"));
    assert_eq!(hooks[0].message.as_deref(), Some("as ordered"));
}

#[tokio::test]
async fn exceptions_are_told_apart() {
    let wire = wire().await;
    let (aws, scope, vpc) = (&wire.aws, &wire.scope, type_name("AWS::EC2::VPC"));
    let token = wire.token();
    aws.create_resource(scope, &vpc, r#"{"CidrBlock":"10.0.0.0/16"}"#, token)
        .await
        .unwrap();
    let conflict = aws
        .create_resource(scope, &vpc, r#"{"CidrBlock":"10.1.0.0/16"}"#, token)
        .await;
    assert!(
        matches!(
            conflict,
            Err(Fault {
                class: FaultClass::TokenConflict,
                ..
            })
        ),
        "{conflict:?}"
    );
    let unknown = aws
        .get_resource_request_status(scope, &RequestToken::new(wire.token().to_string()))
        .await;
    assert!(
        matches!(
            unknown,
            Err(Fault {
                class: FaultClass::TokenUnknown,
                ..
            })
        ),
        "{unknown:?}"
    );
    let no_type = aws
        .create_resource(scope, &type_name("AWS::EC2::Nothing"), "{}", wire.token())
        .await;
    assert!(
        matches!(no_type, Err(Fault { class: FaultClass::Rejected, code, .. }) if code == "TypeNotFoundException")
    );
    wire.simulator
        .add_fault(fault(refuse(ExceptionCode::Throttling)).on(Action::GetResource));
    let throttled = aws
        .get_resource(scope, &vpc, &Identifier::new("vpc-1"))
        .await;
    assert!(
        matches!(
            throttled,
            Err(Fault {
                class: FaultClass::Throttled,
                ..
            })
        ),
        "{throttled:?}"
    );
}

#[tokio::test]
async fn a_lost_reply_to_a_mutation_is_an_unknown_outcome() {
    let wire = wire().await;
    wire.simulator
        .add_fault(fault(Effect::DropReply {}).times(2));
    let (aws, scope, vpc) = (&wire.aws, &wire.scope, type_name("AWS::EC2::VPC"));
    let token = wire.token();
    let declared = r#"{"CidrBlock":"10.0.0.0/16"}"#;
    let lost = aws.create_resource(scope, &vpc, declared, token).await;
    assert!(
        matches!(
            lost,
            Err(Fault {
                class: FaultClass::OutcomeUnknown,
                ..
            })
        ),
        "{lost:?}"
    );
    let unread = aws
        .get_resource(scope, &vpc, &Identifier::new("vpc-1"))
        .await;
    assert!(
        matches!(
            unread,
            Err(Fault {
                class: FaultClass::Transient,
                ..
            })
        ),
        "{unread:?}"
    );
    let again = aws
        .create_resource(scope, &vpc, declared, token)
        .await
        .unwrap();
    assert_eq!(wire.settled(again).await.status, ProgressStatus::Success);
    assert_eq!(
        wire.simulator.resources().len(),
        1,
        "the same token and bytes are the same request"
    );
}

#[tokio::test]
async fn a_call_that_reaches_nobody_did_nothing() {
    // Bound, so that no other process gets the port, but not listening.
    let socket = tokio::net::TcpSocket::new_v4().unwrap();
    socket.bind("127.0.0.1:0".parse().unwrap()).unwrap();
    let endpoint = format!("http://{}", socket.local_addr().unwrap());
    let credentials = SigningCredentials::AccountAsAccessKey;
    let aws = connect(&endpoint, credentials, &Stored::default()).await;
    let fault = aws
        .create_resource(
            &scope("123456789012"),
            &type_name("AWS::EC2::VPC"),
            "{}",
            token(2),
        )
        .await
        .unwrap_err();
    assert!(
        matches!(
            fault,
            Fault {
                class: FaultClass::Transient,
                ..
            }
        ),
        "{fault:?}"
    );
}

#[tokio::test]
async fn the_registry_describes_types() {
    let wire = wire().await;
    let schema = wire
        .aws
        .describe_type(&wire.scope, &type_name("AWS::EC2::VPC"))
        .await
        .unwrap();
    let schema: serde_json::Value = serde_json::from_str(&schema.schema).unwrap();
    assert_eq!(schema["primaryIdentifier"], json!(["/properties/VpcId"]));
    assert!(
        wire.aws
            .describe_type(&wire.scope, &type_name("AWS::EC2::Nothing"))
            .await
            .is_err()
    );
}
