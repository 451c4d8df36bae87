//! A simulated AWS with a manual clock and seeded randomness.

#![allow(
    clippy::unwrap_used,
    dead_code,
    unreachable_pub,
    reason = "each test binary uses its share, and a test may panic"
)]

use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use rand_chacha::ChaCha12Rng;
use rand_chacha::rand_core::{Rng, SeedableRng};
use serde_json::Value;
use ucp_model::{Entropy, Timestamp};
use ucp_schema::Catalogue;
use ucp_simulator::{
    Caller, CreateResource, DeleteResource, Exception, GetResource, ListResourceRequests,
    ListResources, OperationStatus, Outcome, ProgressEvent, Reply, Request, RequestToken, Settings,
    UpdateResource, World,
};

pub const VPC: &str = "AWS::EC2::VPC";
pub const LOG_GROUP: &str = "AWS::Logs::LogGroup";

pub struct Seeded(Mutex<ChaCha12Rng>);

impl Seeded {
    pub fn new(seed: u64) -> Self {
        Self(Mutex::new(ChaCha12Rng::seed_from_u64(seed)))
    }
}

impl Entropy for Seeded {
    fn draw(&self, _label: &'static str) -> [u8; 16] {
        let mut bytes = [0; 16];
        let mut generator = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        generator.fill_bytes(&mut bytes);
        bytes
    }
}

pub struct Aws {
    pub world: World,
    pub caller: Caller,
    pub now: Timestamp,
    pub entropy: Seeded,
}

impl Aws {
    pub fn new() -> Self {
        Self::with(Catalogue::embedded())
    }

    pub fn with(catalogue: Catalogue) -> Self {
        Self {
            world: World::new(catalogue, Settings::default()),
            caller: Caller::new("123456789012", "us-west-2"),
            now: Timestamp::from_millis(1_767_323_045_000),
            entropy: Seeded::new(7),
        }
    }

    pub fn pass(&mut self, duration: Duration) {
        self.now = self.now.after(duration);
    }

    pub fn step(&mut self, request: &Request) -> Outcome {
        self.world
            .step(&self.caller, request, self.now, self.now, &self.entropy)
    }

    pub fn call(&mut self, request: &Request) -> Result<Reply, Exception> {
        match self.step(request) {
            Outcome::Replied(reply) => Ok(reply),
            Outcome::Refused(exception) => Err(exception),
            lost @ (Outcome::Dropped | Outcome::Hung) => panic!("no reply: {lost:?}"),
        }
    }

    /// Makes a call whose reply is a progress event.
    pub fn change(&mut self, request: &Request) -> Result<ProgressEvent, Exception> {
        self.call(request).map(|reply| match reply {
            Reply::Progress(event) => event,
            other => panic!("not progress: {other:?}"),
        })
    }

    pub fn status(&mut self, request_token: &str) -> Result<ProgressEvent, Exception> {
        self.change(&Request::GetResourceRequestStatus(RequestToken {
            request_token: request_token.to_owned(),
        }))
    }

    pub fn cancel(&mut self, request_token: &str) -> Result<ProgressEvent, Exception> {
        self.change(&Request::CancelResourceRequest(RequestToken {
            request_token: request_token.to_owned(),
        }))
    }

    /// Makes a change that is accepted, and waits for its end.
    pub fn finish(&mut self, request: &Request) -> ProgressEvent {
        let accepted = self.change(request).unwrap();
        assert_eq!(accepted.operation_status, OperationStatus::Pending);
        self.pass(Duration::from_secs(1));
        self.status(&accepted.request_token).unwrap()
    }

    /// Makes a change that succeeds. Returns the identifier of its resource.
    pub fn succeed(&mut self, request: &Request) -> String {
        let event = self.finish(request);
        assert_eq!(
            event.operation_status,
            OperationStatus::Success,
            "{event:?}"
        );
        event.identifier.unwrap()
    }

    pub fn get(&mut self, type_name: &str, identifier: &str) -> Result<Value, Exception> {
        let request = Request::GetResource(GetResource {
            type_name: type_name.to_owned(),
            identifier: identifier.to_owned(),
            role_arn: None,
        });
        self.call(&request).map(|reply| match reply {
            Reply::Resource { resource, .. } => serde_json::from_str(&resource.properties).unwrap(),
            other => panic!("not a resource: {other:?}"),
        })
    }

    pub fn list(
        &mut self,
        request: &ListResources,
    ) -> Result<(Vec<String>, Option<String>), Exception> {
        self.call(&Request::ListResources(request.clone()))
            .map(|reply| match reply {
                Reply::Resources {
                    resources,
                    next_token,
                    ..
                } => (
                    resources
                        .into_iter()
                        .map(|resource| resource.identifier)
                        .collect(),
                    next_token,
                ),
                other => panic!("not resources: {other:?}"),
            })
    }

    pub fn requests(
        &mut self,
        request: &ListResourceRequests,
    ) -> Result<(Vec<ProgressEvent>, Option<String>), Exception> {
        self.call(&Request::ListResourceRequests(request.clone()))
            .map(|reply| match reply {
                Reply::Requests {
                    requests,
                    next_token,
                } => (requests, next_token),
                other => panic!("not requests: {other:?}"),
            })
    }
}

pub fn create(type_name: &str, desired_state: &Value) -> Request {
    Request::CreateResource(CreateResource {
        type_name: type_name.to_owned(),
        desired_state: desired_state.to_string(),
        client_token: None,
        role_arn: None,
    })
}

pub fn update(type_name: &str, identifier: &str, patch: &Value) -> Request {
    Request::UpdateResource(UpdateResource {
        type_name: type_name.to_owned(),
        identifier: identifier.to_owned(),
        patch_document: patch.to_string(),
        client_token: None,
        role_arn: None,
    })
}

pub fn delete(type_name: &str, identifier: &str) -> Request {
    Request::DeleteResource(DeleteResource {
        type_name: type_name.to_owned(),
        identifier: identifier.to_owned(),
        client_token: None,
        role_arn: None,
    })
}

/// Adds a client token to a call.
pub fn with_token(mut request: Request, token: &str) -> Request {
    let client_token = match &mut request {
        Request::CreateResource(input) => &mut input.client_token,
        Request::UpdateResource(input) => &mut input.client_token,
        Request::DeleteResource(input) => &mut input.client_token,
        other => panic!("{:?} takes no client token", other.action()),
    };
    *client_token = Some(token.to_owned());
    request
}
