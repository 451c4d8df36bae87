//! A simulated AWS behind a socket, and the SDK connected to it.

#![allow(
    clippy::unwrap_used,
    dead_code,
    unreachable_pub,
    reason = "each test binary uses its share, and a test may panic"
)]

use std::path::PathBuf;
use std::sync::atomic::{AtomicI64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use async_trait::async_trait;
use tokio::net::TcpListener;
use ucp_cloud::Fault;
use ucp_cloud_aws::{Aws, BaseCredential, CredentialSource, Settings, SigningCredentials};
use ucp_model::{ClientToken, Clock, Entropy, Scope, SeededEntropy, Timestamp, TypeName};
use ucp_schema::Catalogue;
use ucp_simulator::Simulator;

/// 2026-01-01. For the SDK, a session that expires then has expired.
pub const LONG_AGO: Timestamp = Timestamp::from_millis(1_767_225_600_000);
/// 2200-01-01. For the SDK, a session that expires then is valid.
pub const FAR_AHEAD: Timestamp = Timestamp::from_millis(7_258_118_400_000);

/// AWS's clock, moved by hand. Without latency, so every change completes at once.
pub struct Hand(AtomicI64);

impl Hand {
    pub fn pass(&self, duration: Duration) {
        let millis = i64::try_from(duration.as_millis()).unwrap();
        self.0.fetch_add(millis, Ordering::Relaxed);
    }
}

impl Clock for Hand {
    fn now(&self) -> Timestamp {
        Timestamp::from_millis(self.0.load(Ordering::Relaxed))
    }
}

/// The stored credential, the same for every plane.
#[derive(Clone, Default)]
pub struct Stored {
    credential: Arc<Mutex<Option<BaseCredential>>>,
    queries: Arc<AtomicUsize>,
}

impl Stored {
    pub fn put(&self, credential: Option<BaseCredential>) {
        *self.credential.lock().unwrap() = credential;
    }

    /// How often it was asked for.
    pub fn queries(&self) -> usize {
        self.queries.load(Ordering::Relaxed)
    }

    /// An access key of a user of `account`.
    pub fn put_access_key(&self, account: &str) {
        self.put(Some(BaseCredential::AccessKey {
            access_key_id: format!("AKIA{account}"),
            secret_access_key: "secret".to_owned().into(),
        }));
    }
}

#[async_trait]
impl CredentialSource for Stored {
    async fn base_credential(&self, _: &str) -> Result<Option<BaseCredential>, Fault> {
        self.queries.fetch_add(1, Ordering::Relaxed);
        let credential = self.credential.lock().unwrap().clone();
        // Others may ask meanwhile.
        tokio::task::yield_now().await;
        Ok(credential)
    }
}

/// Starts a simulator. Returns its endpoint, the simulator and its clock.
pub async fn simulator(now: Timestamp) -> (String, Simulator, Arc<Hand>) {
    let settings = ucp_simulator::Settings {
        latency: Duration::ZERO..=Duration::ZERO,
        ..ucp_simulator::Settings::default()
    };
    let entropy = Arc::new(SeededEntropy::new(1));
    let clock = Arc::new(Hand(AtomicI64::new(now.as_millis())));
    let simulator = Simulator::new(Catalogue::embedded(), settings, clock.clone(), entropy);
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let endpoint = format!("http://{}", listener.local_addr().unwrap());
    tokio::spawn(simulator.clone().serve(listener, std::future::pending()));
    (endpoint, simulator, clock)
}

pub async fn connect(endpoint: &str, credentials: SigningCredentials, stored: &Stored) -> Aws {
    connect_as(endpoint, credentials, stored, "/nonexistent/token".into()).await
}

/// Connects with the web identity in `token_file`.
pub async fn connect_as(
    endpoint: &str,
    credentials: SigningCredentials,
    stored: &Stored,
    token_file: PathBuf,
) -> Aws {
    let settings = Settings {
        web_identity_token_file: token_file,
        ..settings(endpoint, credentials)
    };
    Aws::connect(settings, Arc::new(stored.clone())).await
}

/// Every call asks for the credential.
pub fn settings(endpoint: &str, credentials: SigningCredentials) -> Settings {
    Settings {
        endpoint_url: Some(endpoint.to_owned()),
        credentials,
        web_identity_token_file: "/nonexistent/token".into(),
        credential_max_age: Duration::ZERO,
        call_timeout: Duration::from_secs(20),
    }
}

pub fn type_name(name: &str) -> TypeName {
    TypeName::from_cloudformation(name).unwrap()
}

pub fn scope(account: &str) -> Scope {
    Scope::new("aws", account, "eu-west-1").unwrap()
}

pub fn token(seed: u64) -> ClientToken {
    ClientToken(SeededEntropy::new(seed).uuid("token"))
}
