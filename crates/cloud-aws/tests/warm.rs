//! Tests how often the stored credential is asked for, on the wire against the simulator. It does not grow old here.

#![expect(clippy::unwrap_used, reason = "a test that cannot continue panics")]

mod wire;

use std::sync::Arc;
use std::time::Duration;

use tokio::time::Instant;
use ucp_cloud::{CloudControl, Fault, FaultClass};
use ucp_cloud_aws::{Accounts, Aws, Settings, SigningCredentials};
use ucp_model::Identifier;
use ucp_simulator::faults::{fault, refuse};
use ucp_simulator::{Action, ExceptionCode, Simulator};

use crate::wire::{FAR_AHEAD, Stored, scope, settings, simulator, type_name};

const HOME: &str = "111111111111";
const OTHER: &str = "333333333333";

struct Cloud {
    aws: Aws,
    stored: Stored,
    simulator: Simulator,
}

async fn cloud() -> Cloud {
    let (endpoint, simulator, _) = simulator(FAR_AHEAD).await;
    let stored = Stored::default();
    stored.put_access_key(HOME);
    let credentials = SigningCredentials::PerAccount(Accounts {
        verify: true,
        ..Accounts::default()
    });
    let settings = Settings {
        credential_max_age: Duration::from_secs(3_600),
        ..settings(&endpoint, credentials)
    };
    let aws = Aws::connect(settings, Arc::new(stored.clone())).await;
    Cloud {
        aws,
        stored,
        simulator,
    }
}

impl Cloud {
    async fn verify(&self, account: &str) -> Result<(), Fault> {
        self.aws.verify(&scope(account)).await
    }

    /// Reads a resource that does not exist.
    async fn read(&self, account: &str) -> Result<(), Fault> {
        let (scope, vpc) = (scope(account), type_name("AWS::EC2::VPC"));
        let id = Identifier::new("vpc-1");
        match self.aws.get_resource(&scope, &vpc, &id).await {
            Err(fault) if fault.class == FaultClass::Missing => Ok(()),
            other => other.map(|_| panic!("it exists")),
        }
    }

    fn identified(&self) -> usize {
        let log = self.simulator.log();
        let asked = log
            .iter()
            .filter(|call| call.operation.as_str() == "GetCallerIdentity");
        asked.count()
    }
}

/// Lets the time pass after which another denied call may have the credential read again.
async fn a_second_passes() {
    tokio::time::pause();
    tokio::time::advance(Duration::from_secs(1)).await;
    tokio::time::resume();
}

fn code(result: Result<(), Fault>) -> String {
    result.unwrap_err().code
}

#[tokio::test]
async fn a_warm_check_and_a_warm_call_ask_for_nothing() {
    let cloud = cloud().await;
    for _ in 0..10 {
        cloud.verify(HOME).await.unwrap();
        cloud.read(HOME).await.unwrap();
    }
    assert_eq!((cloud.stored.queries(), cloud.identified()), (1, 1));
}

#[tokio::test]
async fn cold_checks_ask_once_together() {
    let cloud = Arc::new(cloud().await);
    let checks = (0..50).map(|_| {
        let cloud = Arc::clone(&cloud);
        tokio::spawn(async move { cloud.verify(HOME).await })
    });
    for check in checks.collect::<Vec<_>>() {
        check.await.unwrap().unwrap();
    }
    assert_eq!((cloud.stored.queries(), cloud.identified()), (1, 1));
}

/// Nobody tells of the change.
#[tokio::test]
async fn a_credential_is_read_again_before_it_is_refused() {
    let cloud = cloud().await;
    cloud.verify(HOME).await.unwrap();
    cloud.stored.put_access_key(OTHER);
    cloud.verify(OTHER).await.unwrap();
    assert_eq!((cloud.stored.queries(), cloud.identified()), (2, 2));
    a_second_passes().await;
    cloud.stored.put_access_key(HOME);
    cloud.read(HOME).await.unwrap();
    assert_eq!((cloud.stored.queries(), cloud.identified()), (3, 3));
    a_second_passes().await;
    // Once: it has not changed.
    assert_eq!(code(cloud.verify(OTHER).await), "AccountMismatch");
    assert_eq!((cloud.stored.queries(), cloud.identified()), (4, 3));
}

#[tokio::test]
async fn what_was_just_read_is_not_read_again_to_be_refused() {
    let cloud = cloud().await;
    assert_eq!(code(cloud.verify(OTHER).await), "AccountMismatch");
    assert_eq!(cloud.stored.queries(), 1);
}

#[tokio::test]
async fn a_change_that_is_told_signs_the_next_call() {
    let cloud = cloud().await;
    cloud.read(HOME).await.unwrap();
    cloud.stored.put_access_key(OTHER);
    cloud.read(HOME).await.unwrap();
    cloud.aws.credential_changed("another");
    cloud.read(HOME).await.unwrap();
    cloud.aws.credential_changed("AWS");
    assert_eq!(code(cloud.read(HOME).await), "AccountMismatch");
    cloud.stored.put_access_key(HOME);
    cloud.read(OTHER).await.unwrap();
    cloud.aws.credentials_changed();
    cloud.read(HOME).await.unwrap();
}

/// With its sessions and its account.
#[tokio::test]
async fn an_unchanged_credential_keeps_its_principal() {
    let cloud = cloud().await;
    cloud.read(HOME).await.unwrap();
    cloud.aws.credentials_changed();
    cloud.read(HOME).await.unwrap();
    assert_eq!((cloud.stored.queries(), cloud.identified()), (2, 1));
}

#[tokio::test]
async fn a_call_that_is_denied_has_the_credential_read_again() {
    let cloud = cloud().await;
    cloud.read(HOME).await.unwrap();
    let denied = fault(refuse(ExceptionCode::UnrecognizedClient));
    cloud
        .simulator
        .add_fault(denied.on(Action::GetResource).times(1));
    assert_eq!(
        cloud.read(HOME).await.unwrap_err().class,
        FaultClass::Denied
    );
    assert_eq!(cloud.stored.queries(), 1);
    cloud.read(HOME).await.unwrap();
    assert_eq!(cloud.stored.queries(), 2);
}

/// One forbidden type does not make every other call ask.
#[tokio::test]
async fn denied_calls_have_the_credential_read_again_once_a_second() {
    let (cloud, began) = (cloud().await, Instant::now());
    let forbidden = fault(refuse(ExceptionCode::UnrecognizedClient));
    cloud.simulator.add_fault(forbidden.on(Action::GetResource));
    for second in 1..=3 {
        for _ in 0..10 {
            assert_eq!(
                cloud.read(HOME).await.unwrap_err().class,
                FaultClass::Denied
            );
            cloud.verify(HOME).await.unwrap();
            assert_eq!(code(cloud.verify(OTHER).await), "AccountMismatch");
        }
        let queries = cloud.stored.queries() as u64;
        let at_most = 2 + began.elapsed().as_secs();
        assert!(
            (1 + second..=at_most).contains(&queries),
            "{queries} queries"
        );
        a_second_passes().await;
    }
}

#[tokio::test]
async fn a_change_that_is_told_is_not_delayed_by_denied_calls() {
    let cloud = cloud().await;
    cloud.verify(HOME).await.unwrap();
    for (account, tell) in [
        (OTHER, (|aws| aws.credential_changed("aws")) as fn(&Aws)),
        (HOME, Aws::credentials_changed),
    ] {
        // The second one finds that the credential was just read.
        for _ in 0..2 {
            assert_eq!(code(cloud.verify(account).await), "AccountMismatch");
        }
        cloud.stored.put_access_key(account);
        tell(&cloud.aws);
        cloud.verify(account).await.unwrap();
    }
}
