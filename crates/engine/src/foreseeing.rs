//! What a step expects of the request that it follows, and learns from it.

use ucp_model::ProgressStatus;
use ucp_model::operation::{Forecast, Observation, State, Work};

use crate::stepper::Stepper;

impl Stepper<'_> {
    /// Tells the operation what to expect of the request that `observation` is about, and learns from it.
    pub(crate) fn foresee(&mut self, observation: &Observation) {
        let (Observation::Submitted(reply)
        | Observation::Polled(reply)
        | Observation::CancelAsked(reply)) = observation
        else {
            return;
        };
        let Work::Resource(work) = &mut self.claimed.operation.work else {
            return;
        };
        let (Some(action), Ok(progress)) = (work.state.action(), reply) else {
            return;
        };
        let (forecasts, now) = (&self.engine.forecasts, self.engine.now());
        let has_waited = matches!(work.state, State::Waiting(..));
        match progress.status {
            ProgressStatus::Running => {
                let scope = work.scope.key();
                if !has_waited {
                    forecasts.began(scope.clone(), now);
                }
                work.forecast = Forecast {
                    usual: forecasts.usual(&work.type_name, action),
                    watch: forecasts.who_watches(&scope, now),
                };
            }
            ProgressStatus::Success if has_waited => {
                let took = now.since(work.state_since);
                forecasts.took(&work.type_name, action, took);
            }
            ProgressStatus::Success | ProgressStatus::Failed { .. } | ProgressStatus::Canceled => {}
        }
    }
}
