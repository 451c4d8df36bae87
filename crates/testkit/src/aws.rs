use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};

use async_trait::async_trait;
use tokio::sync::watch;
use ucp_app::{Accounts, Rejection};
use ucp_cloud::{CloudControl, Fault};
use ucp_model::{
    ClientToken, ErrorCode, Failure, Identifier, Progress, RequestPage, RequestToken,
    ResourceDescription, ResourcePage, Scope, TypeName,
};
use ucp_simulator::Simulator;

/// An account that the credentials of a world are not of.
pub const FOREIGN_ACCOUNT: &str = "999999999999";

/// Accepts every account but [`FOREIGN_ACCOUNT`].
pub(crate) struct OwnAccounts;

#[async_trait]
impl Accounts for OwnAccounts {
    async fn verify(&self, scope: &Scope) -> Result<(), Rejection> {
        if scope.account == FOREIGN_ACCOUNT {
            Err(Rejection::Forbidden(Failure::new(
                ErrorCode::AccountMismatch,
                "The credentials are of another account.",
            )))
        } else {
            Ok(())
        }
    }
}

/// What a test holds up: replies to reads, or writes of steps.
#[derive(Clone, Default)]
pub(crate) struct Held(Arc<watch::Sender<Hold>>);

#[derive(Default)]
struct Hold {
    /// How many of the next ones are held.
    next: usize,
    /// How many are held.
    held: usize,
}

impl Held {
    /// Holds the next one.
    pub(crate) fn hold_next(&self) {
        self.0.send_modify(|hold| hold.next += 1);
    }

    /// Returns once one is held.
    pub(crate) async fn is_held(&self) {
        self.are_held(1).await;
    }

    /// Returns once so many are held at the same time.
    pub(crate) async fn are_held(&self, count: usize) {
        let mut hold = self.0.subscribe();
        let held = hold.wait_for(|hold| hold.held >= count).await;
        held.expect("the sender is here");
    }

    /// Lets all go that are held.
    pub(crate) fn release(&self) {
        self.0.send_modify(|hold| hold.held = 0);
    }

    /// Returns at once, unless this one is to be held.
    pub(crate) async fn pass(&self) {
        let is_held = self.0.send_if_modified(|hold| {
            let is_held = hold.next > 0;
            hold.next -= usize::from(is_held);
            hold.held += usize::from(is_held);
            is_held
        });
        if is_held {
            let mut hold = self.0.subscribe();
            let released = hold.wait_for(|hold| hold.held == 0).await;
            released.expect("the sender is here");
        }
    }
}

/// Names under which AWS finds a resource beside its identifier.
#[derive(Clone, Default)]
pub(crate) struct OtherNames(Arc<Mutex<BTreeMap<Identifier, Identifier>>>);

impl OtherNames {
    pub(crate) fn add(&self, name: Identifier, identifier: Identifier) {
        let mut names = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        names.insert(name, identifier);
    }

    fn of(&self, name: &Identifier) -> Identifier {
        let names = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        names.get(name).unwrap_or(name).clone()
    }
}

/// The account whose creates hang.
#[derive(Clone, Default)]
pub(crate) struct Hanging(Arc<watch::Sender<Option<String>>>);

impl Hanging {
    pub(crate) fn set(&self, account: Option<&str>) {
        self.0.send_replace(account.map(str::to_owned));
    }

    /// Returns at once, unless the calls of the account hang.
    async fn pass(&self, scope: &Scope) {
        let mut account = self.0.subscribe();
        let passed = account.wait_for(|account| account.as_ref() != Some(&scope.account));
        passed.await.expect("the sender is here");
    }
}

/// The simulated AWS, with what a test orders of its calls.
pub(crate) struct Ordered {
    pub(crate) aws: Simulator,
    pub(crate) hanging: Hanging,
    pub(crate) held: Held,
    pub(crate) names: OtherNames,
}

#[async_trait]
impl CloudControl for Ordered {
    async fn create_resource(
        &self,
        scope: &Scope,
        type_name: &TypeName,
        desired_state: &str,
        client_token: ClientToken,
    ) -> Result<Progress, Fault> {
        self.hanging.pass(scope).await;
        let aws = &self.aws;
        aws.create_resource(scope, type_name, desired_state, client_token)
            .await
    }

    async fn update_resource(
        &self,
        scope: &Scope,
        type_name: &TypeName,
        identifier: &Identifier,
        patch_document: &str,
        client_token: ClientToken,
    ) -> Result<Progress, Fault> {
        let aws = &self.aws;
        aws.update_resource(scope, type_name, identifier, patch_document, client_token)
            .await
    }

    async fn delete_resource(
        &self,
        scope: &Scope,
        type_name: &TypeName,
        identifier: &Identifier,
        client_token: ClientToken,
    ) -> Result<Progress, Fault> {
        let aws = &self.aws;
        aws.delete_resource(scope, type_name, identifier, client_token)
            .await
    }

    async fn get_resource(
        &self,
        scope: &Scope,
        type_name: &TypeName,
        identifier: &Identifier,
    ) -> Result<ResourceDescription, Fault> {
        let identifier = self.names.of(identifier);
        let reply = self.aws.get_resource(scope, type_name, &identifier).await;
        self.held.pass().await;
        reply
    }

    async fn list_resources(
        &self,
        scope: &Scope,
        type_name: &TypeName,
        next_token: Option<&str>,
    ) -> Result<ResourcePage, Fault> {
        self.aws.list_resources(scope, type_name, next_token).await
    }

    async fn get_resource_request_status(
        &self,
        scope: &Scope,
        request_token: &RequestToken,
    ) -> Result<Progress, Fault> {
        let aws = &self.aws;
        aws.get_resource_request_status(scope, request_token).await
    }

    async fn list_resource_requests(
        &self,
        scope: &Scope,
        next_token: Option<&str>,
    ) -> Result<RequestPage, Fault> {
        self.aws.list_resource_requests(scope, next_token).await
    }

    async fn cancel_resource_request(
        &self,
        scope: &Scope,
        request_token: &RequestToken,
    ) -> Result<Progress, Fault> {
        let aws = &self.aws;
        aws.cancel_resource_request(scope, request_token).await
    }
}
