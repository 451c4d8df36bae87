//! Tests which credentials sign which call (contract: section 6, D32), on the wire against the simulator.

#![expect(clippy::unwrap_used, reason = "a test that cannot continue panics")]

mod wire;

use std::sync::Arc;
use std::time::Duration;

use ucp_cloud::{CloudControl, Fault, FaultClass};
use ucp_cloud_aws::{Account, Accounts, AssumedRole, Aws, BaseCredential, SigningCredentials};
use ucp_model::{Identifier, Timestamp};
use ucp_simulator::faults::{fault, refuse};
use ucp_simulator::{Action, ExceptionCode, LogEntry, Simulator, Trust};

use crate::wire::{
    FAR_AHEAD, Hand, LONG_AGO, Stored, connect, connect_as, scope, simulator, token, type_name,
};

const HOME: &str = "111111111111";
const GUEST: &str = "222222222222";
const ROLE: &str = "arn:aws:iam::222222222222:role/ucp";
const SERVICE_ROLE: &str = "arn:aws:iam::222222222222:role/cloud-control";

struct Cloud {
    aws: Aws,
    stored: Stored,
    simulator: Simulator,
    clock: Arc<Hand>,
}

/// `GUEST` is reached through a role, every other account with an access key of `HOME`.
fn guest_by_role() -> Accounts {
    let account = Account {
        role: Some(AssumedRole {
            arn: ROLE.to_owned(),
            external_id: Some("x-1".to_owned()),
            session_name: "ucp".to_owned(),
            plane: None,
        }),
        cloud_control_role_arn: Some(SERVICE_ROLE.to_owned()),
    };
    Accounts {
        by_id: [(GUEST.to_owned(), account)].into(),
        verify: true,
    }
}

async fn cloud(now: Timestamp) -> Cloud {
    let (endpoint, simulator, clock) = simulator(now).await;
    simulator.trust(Trust {
        role_arn: ROLE.to_owned(),
        external_id: Some("x-1".to_owned()),
        session_millis: None,
    });
    let stored = Stored::default();
    stored.put_access_key(HOME);
    let credentials = SigningCredentials::PerAccount(guest_by_role());
    Cloud {
        aws: connect(&endpoint, credentials, &stored).await,
        stored,
        simulator,
        clock,
    }
}

/// Reads a resource that does not exist: the simplest call for `account`.
async fn read(aws: &Aws, account: &str) -> Result<(), Fault> {
    let (scope, vpc) = (scope(account), type_name("AWS::EC2::VPC"));
    let id = Identifier::new("vpc-1");
    match aws.get_resource(&scope, &vpc, &id).await {
        Err(Fault {
            class: FaultClass::Missing,
            ..
        }) => Ok(()),
        other => other.map(|_| panic!("it exists")),
    }
}

impl Cloud {
    async fn read(&self, account: &str) -> Result<(), Fault> {
        read(&self.aws, account).await
    }

    fn calls(&self, operation: &str) -> Vec<LogEntry> {
        let calls = self.simulator.log().into_iter();
        let named = calls.filter(|call| call.operation.as_str() == operation);
        named.collect()
    }
}

fn code(result: Result<(), Fault>) -> String {
    result.unwrap_err().code
}

/// Whoever has a plane of their own would learn the external id from the log of their credential.
#[tokio::test]
async fn an_external_id_is_sent_with_the_credential_of_its_plane_alone() {
    for (plane, only, is_assumed) in [
        ("aws", None, true),
        ("AWS", None, true),
        ("mine", None, false),
        ("mine", Some("Mine"), true),
        ("aws", Some("mine"), false),
    ] {
        let (endpoint, simulator, _) = simulator(FAR_AHEAD).await;
        simulator.trust(Trust {
            role_arn: ROLE.to_owned(),
            external_id: Some("x-1".to_owned()),
            session_millis: None,
        });
        let stored = Stored::default();
        stored.put_access_key(HOME);
        let mut accounts = guest_by_role();
        let role = accounts
            .by_id
            .get_mut(GUEST)
            .and_then(|it| it.role.as_mut());
        role.unwrap().plane = only.map(str::to_owned);
        let credentials = SigningCredentials::PerAccount(accounts);
        let aws = connect(&endpoint, credentials, &stored).await;
        let scope = ucp_model::Scope::new(plane, GUEST, "us-west-2").unwrap();
        let id = Identifier::new("vpc-1");
        let read = aws
            .get_resource(&scope, &type_name("AWS::EC2::VPC"), &id)
            .await;
        let fault = read.unwrap_err();
        let assumed = simulator.log().into_iter();
        let assumed = assumed
            .filter(|call| call.operation.as_str() == "AssumeRole")
            .count();
        assert_eq!(
            assumed,
            usize::from(is_assumed),
            "{plane} {only:?}: {fault:?}"
        );
        assert_eq!(fault.class == FaultClass::Denied, !is_assumed, "{fault:?}");
    }
}

#[tokio::test]
async fn a_role_leads_to_its_account_by_one_session() {
    let cloud = cloud(FAR_AHEAD).await;
    let both = tokio::join!(cloud.read(GUEST), cloud.read(GUEST));
    both.0.and(both.1).unwrap();
    cloud.read(GUEST).await.unwrap();
    let assumed = cloud.calls("AssumeRole");
    assert_eq!(assumed.len(), 1, "{assumed:?}");
    assert_eq!(assumed[0].account, HOME);
    assert_eq!(assumed[0].role_arn.as_deref(), Some(ROLE));
    assert_eq!(assumed[0].external_id.as_deref(), Some("x-1"));
    let reads = cloud.calls("GetResource");
    assert_eq!(reads.len(), 3);
    assert!(reads.iter().all(|read| read.account == GUEST), "{reads:?}");
}

#[tokio::test]
async fn cloud_control_is_told_which_role_to_work_as() {
    let cloud = cloud(FAR_AHEAD).await;
    let (scope, logs) = (scope(GUEST), type_name("AWS::Logs::LogGroup"));
    let name = Identifier::new("g");
    let aws = &cloud.aws;
    let declared = r#"{"LogGroupName":"g"}"#;
    let created = aws.create_resource(&scope, &logs, declared, token(1)).await;
    let token_of = created.unwrap().request_token;
    aws.get_resource_request_status(&scope, &token_of)
        .await
        .unwrap();
    let patch = r#"[{"op":"add","path":"/RetentionInDays","value":7}]"#;
    let updated = aws.update_resource(&scope, &logs, &name, patch, token(2));
    let token_of = updated.await.unwrap().request_token;
    aws.get_resource_request_status(&scope, &token_of)
        .await
        .unwrap();
    aws.get_resource(&scope, &logs, &name).await.unwrap();
    aws.delete_resource(&scope, &logs, &name, token(3))
        .await
        .unwrap();
    for operation in [
        "CreateResource",
        "UpdateResource",
        "GetResource",
        "DeleteResource",
    ] {
        let calls = cloud.calls(operation);
        assert_eq!(calls.len(), 1, "{operation}");
        assert_eq!(calls[0].role_arn.as_deref(), Some(SERVICE_ROLE));
    }
    cloud.read(HOME).await.unwrap();
    let reads = cloud.calls("GetResource");
    assert_eq!(reads.last().unwrap().role_arn, None);
}

#[tokio::test]
async fn a_session_is_renewed_before_it_ends() {
    // A session that expires an hour after then has expired by the SDK's clock, which is the machine's.
    let cloud = cloud(LONG_AGO).await;
    cloud.read(GUEST).await.unwrap();
    cloud.read(GUEST).await.unwrap();
    assert_eq!(cloud.calls("AssumeRole").len(), 2);
}

#[tokio::test]
async fn a_session_that_aws_ended_early_is_begun_anew() {
    let cloud = cloud(FAR_AHEAD).await;
    cloud.read(GUEST).await.unwrap();
    cloud.clock.pass(Duration::from_secs(3_600));
    let over = cloud.read(GUEST).await.unwrap_err();
    assert!(
        matches!(
            over,
            Fault {
                class: FaultClass::Transient,
                ..
            }
        ),
        "{over:?}"
    );
    cloud.read(GUEST).await.unwrap();
    assert_eq!(cloud.calls("AssumeRole").len(), 2);
}

#[tokio::test]
async fn a_role_that_cannot_be_assumed_is_a_refusal_with_awss_reason() {
    let cloud = cloud(FAR_AHEAD).await;
    cloud.simulator.trust(Trust {
        role_arn: ROLE.to_owned(),
        external_id: Some("another".to_owned()),
        session_millis: None,
    });
    let refused = cloud.read(GUEST).await.unwrap_err();
    let Fault {
        class: FaultClass::Denied,
        code,
        message,
        ..
    } = refused
    else {
        panic!("{refused:?}")
    };
    assert_eq!(code, "AccessDenied");
    assert!(message.contains(ROLE), "{message}");
}

#[tokio::test]
async fn a_call_that_could_not_be_signed_now_was_never_sent() {
    let cloud = cloud(FAR_AHEAD).await;
    cloud.simulator.add_fault(
        fault(refuse(ExceptionCode::ServiceUnavailable))
            .on(Action::AssumeRole)
            .times(1),
    );
    let (scope, vpc) = (scope(GUEST), type_name("AWS::EC2::VPC"));
    let declared = r#"{"CidrBlock":"10.0.0.0/16"}"#;
    let create = || cloud.aws.create_resource(&scope, &vpc, declared, token(1));
    let unsigned = create().await.unwrap_err();
    assert!(
        matches!(
            unsigned,
            Fault {
                class: FaultClass::Transient,
                ..
            }
        ),
        "{unsigned:?}"
    );
    create().await.unwrap();
}

#[tokio::test]
async fn nothing_is_sent_to_an_account_that_the_credentials_are_not_of() {
    let cloud = cloud(FAR_AHEAD).await;
    let refused = cloud.read("333333333333").await.unwrap_err();
    let Fault {
        class: FaultClass::Denied,
        code,
        message,
        ..
    } = &refused
    else {
        panic!("{refused:?}")
    };
    assert_eq!(code, "AccountMismatch");
    for part in [HOME, "333333333333", "[accounts.333333333333]"] {
        assert!(message.contains(part), "{message}");
    }
    assert_eq!(cloud.aws.verify(&scope("333333333333")).await, Err(refused));
    cloud.aws.verify(&scope(HOME)).await.unwrap();
    cloud.aws.verify(&scope(GUEST)).await.unwrap();
    assert!(cloud.calls("GetResource").is_empty());
    assert_eq!(cloud.calls("GetCallerIdentity").len(), 1);
    assert!(cloud.calls("AssumeRole").is_empty());
}

#[tokio::test]
async fn without_the_check_the_base_credentials_sign_for_every_account() {
    let (endpoint, simulator, _) = simulator(FAR_AHEAD).await;
    let stored = Stored::default();
    stored.put_access_key(HOME);
    let credentials = SigningCredentials::PerAccount(Accounts::default());
    let aws = connect(&endpoint, credentials, &stored).await;
    aws.verify(&scope("333333333333")).await.unwrap();
    read(&aws, "333333333333").await.unwrap();
    let log = simulator.log();
    assert_eq!(log.len(), 1);
    assert_eq!(log[0].account, HOME);
}

#[tokio::test]
async fn a_changed_credential_signs_the_next_call() {
    let cloud = cloud(FAR_AHEAD).await;
    cloud.read(HOME).await.unwrap();
    cloud.stored.put_access_key(GUEST);
    assert_eq!(code(cloud.read(HOME).await), "AccountMismatch");
    cloud.stored.put_access_key("333333333333");
    cloud.read("333333333333").await.unwrap();
    // The role is assumed again with it.
    cloud.read(GUEST).await.unwrap();
    let assumed = cloud.calls("AssumeRole");
    assert_eq!(assumed.last().unwrap().account, "333333333333");
    cloud.stored.put_access_key(HOME);
    cloud.read(HOME).await.unwrap();
    assert_eq!(cloud.calls("GetCallerIdentity").len(), 4);
}

#[tokio::test]
async fn while_nobody_can_say_whose_credentials_they_are_nothing_is_sent() {
    let cloud = cloud(FAR_AHEAD).await;
    for exception in [ExceptionCode::ServiceUnavailable, ExceptionCode::Throttling] {
        cloud.simulator.add_fault(
            fault(refuse(exception))
                .on(Action::GetCallerIdentity)
                .times(1),
        );
        let unknown = cloud.aws.verify(&scope(HOME)).await.unwrap_err();
        assert!(
            matches!(
                unknown,
                Fault {
                    class: FaultClass::Transient,
                    ..
                }
            ),
            "{unknown:?}"
        );
    }
    cloud.simulator.add_fault(
        fault(refuse(ExceptionCode::UnrecognizedClient))
            .on(Action::GetCallerIdentity)
            .times(1),
    );
    assert_eq!(
        code(cloud.aws.verify(&scope(HOME)).await),
        "InvalidCredentials"
    );
    cloud.aws.verify(&scope(HOME)).await.unwrap();
}

#[tokio::test]
async fn a_web_identity_assumes_the_role_of_the_credential() {
    let (endpoint, simulator, _) = simulator(FAR_AHEAD).await;
    let directory = tempfile::tempdir().unwrap();
    let token_file = directory.path().join("token");
    let stored = Stored::default();
    stored.put(Some(BaseCredential::WebIdentity {
        role_arn: ROLE.to_owned(),
    }));
    let credentials = SigningCredentials::PerAccount(Accounts {
        verify: true,
        ..Accounts::default()
    });
    let aws = connect_as(&endpoint, credentials, &stored, token_file.clone()).await;
    let unreadable = aws.verify(&scope(GUEST)).await.unwrap_err();
    assert_eq!(unreadable.code, "InvalidCredentials");
    assert!(
        unreadable.message.contains(token_file.to_str().unwrap()),
        "{unreadable:?}"
    );
    std::fs::write(&token_file, "a token").unwrap();
    aws.verify(&scope(GUEST)).await.unwrap();
    let begun = simulator.log();
    assert_eq!(begun[0].operation.as_str(), "AssumeRoleWithWebIdentity");
    assert_eq!(begun[0].role_arn.as_deref(), Some(ROLE));
}
