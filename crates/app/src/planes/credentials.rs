use std::sync::Arc;

use tracing::Instrument;
use ucp_model::{Credential, CredentialId, ErrorCode, Failure, NewCredential, PlaneId, Warning};
use ucp_seal::AssociatedData;
use ucp_store::{Sealed, StoredCredential, Written};
use zeroize::Zeroizing;

use crate::{Accounts, Listed, PlaneCases, Precondition, Rejection};

/// A credential that was written.
#[derive(Debug)]
pub struct CredentialPut {
    /// The credential, and the one that it replaced, without their secrets.
    pub written: Written<Credential>,
    /// Whether it has another secret than before.
    pub is_secret_changed: bool,
    /// What the caller should know.
    pub warnings: Vec<Warning>,
}

/// A credential to write. Not `Debug`, so that the secret cannot be printed.
pub struct PutCredential {
    /// The credential.
    pub new: NewCredential,
    /// The secret of an access key.
    pub secret: Option<String>,
}

impl PlaneCases {
    /// Creates the credential, or replaces it and its secret. From then on the identity of the process does not sign for
    /// the plane any more. One that replaces another must be accepted by AWS.
    pub async fn put_credential(
        &self,
        put: PutCredential,
        precondition: &Precondition,
    ) -> Result<CredentialPut, Rejection> {
        let id = put.new.id.clone();
        let admitted = self.roles.admit(&put.new.body);
        admitted.map_err(Rejection::Forbidden)?;
        self.allowances.admit_credential(&id).await?;
        let warnings = if id.signs() {
            self.judge_credential(&put).await?
        } else {
            Vec::new()
        };
        let given = put.secret.map(Zeroizing::new);
        let secret = given.as_ref().map(|secret| {
            let (place, entropy) = (
                AssociatedData::Credential(&id),
                self.ground.entropy.as_ref(),
            );
            let sealing = &self.ground.keys.sealing;
            Sealed(sealing.seal(place, secret.as_bytes(), entropy))
        });
        let store = Arc::clone(&self.ground.store);
        let (precondition, now) = (precondition.clone(), self.ground.now());
        let put = async move {
            let put = store.put_credential(put.new, secret, &precondition, now);
            put.await
        };
        let put = change(&id, &self.ground.accounts, put).await?;
        if id.signs() {
            self.end_ambient(&id.plane).await?;
        }
        let was = put
            .before
            .as_ref()
            .and_then(|before| before.secret.as_ref());
        let is_secret_changed = !self.is_secret(&id, was, given.as_ref().map(|it| it.as_str()));
        for warning in &warnings {
            tracing::warn!(credential.id = %id, error = warning.message, "a credential was stored although AWS has not accepted it");
        }
        let without_secret = |stored: StoredCredential| stored.credential;
        Ok(CredentialPut {
            written: Written {
                before: put.before.map(without_secret),
                after: without_secret(put.after),
            },
            is_secret_changed,
            warnings,
        })
    }

    /// Refuses a credential that AWS does not accept, if it takes the place of what works: of another credential, or of the
    /// identity of the process. Where there is neither, it is told.
    async fn judge_credential(&self, put: &PutCredential) -> Result<Vec<Warning>, Rejection> {
        let (id, accounts) = (&put.new.id, &self.ground.accounts);
        let is_first = self.ground.store.get_credential(id).await?.is_none();
        let replaces = match is_first {
            false => Some("The stored one was kept."),
            true if self.signs_itself(&id.plane).await? && accounts.may_accept_ambient().await => {
                Some("Nothing was stored, and the identity of the process goes on signing.")
            }
            true => None,
        };
        let identified = accounts.identify(&put.new.body, put.secret.as_deref());
        match (identified.await, replaces) {
            (Ok(()), _) => Ok(Vec::new()),
            (Err(refused), Some(kept)) => Err(with_words(refused, kept)),
            (Err(refused), None) => {
                let message = format!(
                    "It was stored, and there is nothing else to sign with. {refused} Put another one, or delete it and let the identity of the process sign: {} && {}",
                    ask("DELETE", &id.to_string(), ""),
                    way_back(&id.plane)
                );
                Ok(vec![Warning {
                    code: "CredentialNotAccepted".to_owned(),
                    target: id.to_string(),
                    message,
                }])
            }
        }
    }

    /// Returns whether a sealed secret is the one given. One that was sealed under a key that is not known any more is not.
    fn is_secret(&self, id: &CredentialId, sealed: Option<&Sealed>, given: Option<&str>) -> bool {
        let (sealed, given) = match (sealed, given) {
            (Some(sealed), Some(given)) => (sealed, given),
            (sealed, given) => return sealed.is_none() && given.is_none(),
        };
        let place = AssociatedData::Credential(id);
        let opened = self.ground.keys.sealing.open(place, &sealed.0);
        opened.is_ok_and(|opened| opened[..] == *given.as_bytes())
    }

    /// Returns the credential without its secret.
    pub async fn get_credential(&self, id: &CredentialId) -> Result<Credential, Rejection> {
        let stored = self.ground.store.get_credential(id).await?;
        stored.map(|stored| stored.credential).ok_or_else(|| {
            let message = format!(
                "There is no credential '{}' on the plane '{}'.",
                id.name, id.plane
            );
            Rejection::Missing(
                Failure::new(ErrorCode::NotFound, message).with_target(id.to_string()),
            )
        })
    }

    /// Returns up to `top` credentials of an aws plane, after `after`.
    pub async fn list_credentials(
        &self,
        plane: &PlaneId,
        after: Option<&CredentialId>,
        top: usize,
    ) -> Result<Listed<Credential>, Rejection> {
        let store = &self.ground.store;
        let listed = store.list_credentials(&plane.name, after, top + 1).await?;
        Ok(Listed::of(listed, top))
    }

    /// Removes the credential with its secret. Returns whether it existed.
    pub async fn delete_credential(
        &self,
        id: &CredentialId,
        precondition: &Precondition,
    ) -> Result<bool, Rejection> {
        if id.signs() && self.ground.store.get_credential(id).await?.is_some() {
            // The put has ended it, unless its process did not live to do so.
            self.end_ambient(&id.plane).await?;
        }
        let store = Arc::clone(&self.ground.store);
        let (deleted, precondition) = (id.clone(), precondition.clone());
        let delete = async move { store.delete_credential(&deleted, &precondition).await };
        change(id, &self.ground.accounts, delete).await
    }
}

/// The command that lets the identity of the process sign for a plane that has no credential. It replaces the settings of the
/// plane.
pub fn way_back(plane: &str) -> String {
    let body = r#" -H 'Content-Type: application/json' -d '{"location":"global","properties":{"credentials":"ambient"}}'"#;
    ask("PUT", &format!("/planes/aws/{plane}"), body)
}

/// A command that sends a request, with a token if the shell has one: where nobody signs in, an empty one is refused.
fn ask(method: &str, path: &str, body: &str) -> String {
    format!(
        r#"curl -X {method} -H "${{UCP_TOKEN:+Authorization: Bearer $UCP_TOKEN}}"{body} "$UCP_SERVER{path}?api-version=2023-10-01-preview""#
    )
}

/// Says also what was kept.
fn with_words(refused: Rejection, words: &str) -> Rejection {
    let with_words = |failure: Failure| Failure {
        message: format!("{} {words}", failure.message),
        ..failure
    };
    match refused {
        Rejection::Forbidden(failure) => Rejection::Forbidden(with_words(failure)),
        Rejection::NotNow(failure) => Rejection::NotNow(with_words(failure)),
        other => other,
    }
}

/// Changes a credential and tells of it. Both happen even if the request is given up: otherwise nobody would be told of
/// a change that is committed all the same.
async fn change<T: Send + 'static>(
    id: &CredentialId,
    accounts: &Arc<dyn Accounts>,
    changing: impl Future<Output = Result<T, ucp_store::Error>> + Send + 'static,
) -> Result<T, Rejection> {
    let (accounts, plane) = (Arc::clone(accounts), id.plane.clone());
    let telling = async move {
        let changed = changing.await;
        // Even after an error, since the commit may have succeeded.
        accounts.credential_changed(&plane);
        changed
    };
    let changed = tokio::spawn(telling.in_current_span()).await;
    let changed = changed.map_err(|panic| Rejection::Internal(panic.into()))?;
    changed.map_err(|error| refusal(error, id))
}

fn refusal(error: ucp_store::Error, id: &CredentialId) -> Rejection {
    match error {
        ucp_store::Error::PreconditionFailed => Rejection::precondition_failed(id),
        other => other.into(),
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Mutex;
    use std::time::Duration;

    use async_trait::async_trait;
    use tokio::sync::mpsc::{UnboundedSender, unbounded_channel};
    use tokio::sync::oneshot;
    use ucp_model::Scope;

    use super::*;

    /// Sends the planes that it is told of.
    struct Told(Mutex<UnboundedSender<String>>);

    #[async_trait]
    impl Accounts for Told {
        async fn verify(&self, _: &Scope) -> Result<(), Rejection> {
            Ok(())
        }

        fn credential_changed(&self, plane: &str) {
            self.0.lock().unwrap().send(plane.to_owned()).unwrap();
        }
    }

    #[tokio::test(start_paused = true)]
    async fn a_change_is_told_of_even_if_the_request_is_given_up() {
        let id = CredentialId::new("mine", "default").unwrap();
        let (telling, mut told) = unbounded_channel();
        let accounts: Arc<dyn Accounts> = Arc::new(Told(Mutex::new(telling)));
        let (commit, committed) = oneshot::channel();
        let changing = async {
            committed
                .await
                .map_err(|_| ucp_store::Error::PreconditionFailed)
        };
        let request = change(&id, &accounts, changing);
        let patience = Duration::from_secs(1);
        assert!(tokio::time::timeout(patience, request).await.is_err());
        assert!(told.is_empty(), "nothing has changed");

        commit.send(()).unwrap();
        let plane = tokio::time::timeout(patience, told.recv()).await;
        assert_eq!(plane.unwrap().unwrap(), "mine");
    }
}
