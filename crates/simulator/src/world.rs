//! The pure core: accounts, regions, resources and the changes in flight.

mod change;
mod dropped;
mod following;
mod lists;
mod model;
mod moment;
mod mutations;
mod names;
mod needs;
mod out_of_band;
mod past;
mod region;
mod registry;
mod resource;
mod resources;
mod sessions;
mod state;
mod stored;

use std::time::Duration;

use ucp_model::{Entropy, Timestamp};

use crate::chance::Chance;
use crate::exception::Exception;
use crate::faults::Call;
use crate::log::LogEntry;
use crate::request::{Caller, Reply, Request, RequestToken};
use moment::Moment;
use state::places;

pub use out_of_band::{NotInWorld, ResourceSnapshot};
pub use sessions::Trust;
pub use state::World;

/// The outcome of a call.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// A reply.
    Replied(Reply),
    /// An exception.
    Refused(Exception),
    /// The call was carried out or refused, but its reply is lost.
    Dropped,
    /// The call is not answered; a fault decides whether it was carried out.
    Hung,
}

impl World {
    /// Carries out a call, which may have been received earlier.
    pub fn step(
        &mut self,
        caller: &Caller,
        request: &Request,
        received: Timestamp,
        now: Timestamp,
        entropy: &dyn Entropy,
    ) -> Outcome {
        let moment = Moment {
            caller,
            now,
            entropy,
        };
        let call = Call::new(caller, request);
        let hang = self.faults.hang(&call, entropy);
        let answer = match hang {
            Some(false) => None,
            Some(true) | None => Some(self.answer(request, &moment)),
        };
        let is_dropped = hang.is_none() && self.faults.drops_reply(&call, entropy);
        let request_token = match (&answer, request) {
            (Some(Ok(Reply::Progress(event))), _) => Some(event.request_token.clone()),
            (
                _,
                Request::GetResourceRequestStatus(RequestToken { request_token })
                | Request::CancelResourceRequest(RequestToken { request_token }),
            ) => Some(request_token.clone()),
            _ => None,
        };
        let outcome = match answer {
            Some(_) if is_dropped => Outcome::Dropped,
            Some(Ok(reply)) if hang.is_none() => Outcome::Replied(reply),
            Some(Err(exception)) if hang.is_none() => Outcome::Refused(exception),
            Some(_) | None => Outcome::Hung,
        };
        self.log.record(LogEntry {
            operation: request.action(),
            type_name: request.type_name().map(str::to_owned),
            identifier: request.identifier().map(str::to_owned),
            client_token: request.client_token().map(str::to_owned),
            request_token,
            role_arn: request.role_arn().map(str::to_owned),
            external_id: request.external_id().map(str::to_owned),
            time: received,
            account: caller.account.clone(),
            region: caller.region.clone(),
            outcome: match &outcome {
                Outcome::Replied(_) => "replied",
                Outcome::Dropped => "dropped",
                Outcome::Hung => "hung",
                Outcome::Refused(exception) => exception.code.as_str(),
            },
            faults: self.faults.struck(),
        });
        outcome
    }

    /// Returns how long a call takes before it is carried out, as a fault orders. Otherwise it takes no time.
    pub fn delay(
        &mut self,
        caller: &Caller,
        request: &Request,
        entropy: &dyn Entropy,
    ) -> Option<Duration> {
        let call = Call::new(caller, request);
        let takes = self.faults.delay(&call, entropy)?;
        Some(Chance::new(entropy, "simulator.delay").duration(&takes))
    }

    /// Returns the signer of a call with the access key `access_key_id`: the account of the role for a session, and
    /// otherwise the account that the key names, as in [`Caller::new`]. Unsigned calls have no access key.
    pub fn caller(
        &self,
        access_key_id: &str,
        region: &str,
        now: Timestamp,
    ) -> Result<Caller, Exception> {
        let account = self.sessions.account(access_key_id, now)?;
        Ok(Caller::new(account, region))
    }

    fn answer(&mut self, request: &Request, moment: &Moment<'_>) -> Result<Reply, Exception> {
        let lags = self.faults.lags();
        for place in places(moment.caller) {
            if let Some(region) = self.regions.get_mut(&place) {
                region.settle(&place, moment.now, lags, moment.entropy);
            }
        }
        let call = Call::new(moment.caller, request);
        if let Some(exception) = self.faults.refusal(&call, moment.now, moment.entropy) {
            return Err(exception);
        }
        self.refuse_fresh_role(request, &call, moment)?;
        match request {
            Request::CreateResource(input) => {
                let reply = self.create_resource(input, request, moment)?;
                self.unless_conflicting(reply, request, moment)
            }
            Request::UpdateResource(input) => {
                let reply = self.update_resource(input, request, moment)?;
                self.unless_conflicting(reply, request, moment)
            }
            Request::DeleteResource(input) => {
                let reply = self.delete_resource(input, request, moment)?;
                self.unless_conflicting(reply, request, moment)
            }
            Request::GetResource(input) => self.get_resource(input, moment),
            Request::ListResources(input) => self.list_resources(input, moment),
            Request::GetResourceRequestStatus(input) => {
                let (_, change) = self.change(&input.request_token, moment)?;
                Ok(Reply::Progress(change.event()))
            }
            Request::CancelResourceRequest(input) => self.cancel_resource_request(input, moment),
            Request::ListResourceRequests(input) => self.list_resource_requests(input, moment),
            Request::DescribeType(input) => self.describe_type(input, moment),
            Request::ListTypes(input) => self.list_types(input, moment),
            Request::GetCallerIdentity(input) => Ok(self.sessions.identity(input, moment)),
            Request::AssumeRole(input) => {
                let lasts = self.faults.session_life(&call, moment.entropy);
                self.sessions.assume_role(input, lasts, moment)
            }
            Request::AssumeRoleWithWebIdentity(input) => {
                let lasts = self.faults.session_life(&call, moment.entropy);
                self.sessions
                    .assume_role_with_web_identity(input, lasts, moment)
            }
        }
    }
}
