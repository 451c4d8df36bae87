//! What is refused before it is a request. It is counted, and certificates that are not accepted are slowed and recorded like
//! other logins that fail.

use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use tokio::time::sleep;
use ucp_access::ANONYMOUS;
use ucp_audit::{AuditEvent, AuditOutcome};
use ucp_listen::{Peer, Unserved, Witness};
use ucp_model::{CorrelationId, ErrorCode};

use crate::logged;
use crate::state::Api;

/// What is asked for by a client that only connects.
const CONNECT: &str = "connect";
/// How long the place of a client is held that has tried too often.
const LONGEST: Duration = Duration::from_secs(2);
/// What it is about.
const SERVER: &str = "/";

pub(crate) struct Doorkeeper(pub(crate) Arc<Api>);

#[async_trait]
impl Witness for Doorkeeper {
    fn refused(&self, _: Peer, why: Unserved) {
        self.0.metrics.unserved(why.name());
    }

    async fn login_failed(&self, Peer(address): Peer, reason: &str) {
        let Self(api) = self;
        let (at, peer) = (api.app.time(), address.ip().to_canonical());
        api.metrics.login_failed();
        let delay = match api.authenticator.login_failed(Some(peer)) {
            Ok(delay) => delay,
            Err(again) => {
                // Whoever goes on trying must not fill the logs. There is no reply that could say so.
                api.auditor.leave_out();
                return sleep(again.min(LONGEST)).await;
            }
        };
        let reason = format!("The certificate is not accepted: {}", logged::shown(reason));
        tracing::info!(peer.address = %peer, reason, "a login failed");
        let id = api.app.fresh_id();
        api.auditor.note(AuditEvent {
            at,
            caller: ANONYMOUS.to_owned(),
            peer: Some(peer.to_string()),
            action: CONNECT.to_owned(),
            id: SERVER.to_owned(),
            outcome: AuditOutcome::Refused,
            // There is no request to reply to.
            status: None,
            code: Some(ErrorCode::AuthenticationFailed.as_str().to_owned()),
            correlation_id: CorrelationId::new(id.clone()),
            request_id: id,
            operation: None,
            change: None,
            paths: Vec::new(),
            suppressed: 0,
        });
        // Last: it ends early if the server closes.
        delay.pass().await;
    }
}
