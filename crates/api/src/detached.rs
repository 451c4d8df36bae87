//! Requests that change something do not depend on their connection.

use tracing::Instrument as _;
use ucp_app::Rejection;

use crate::problem::Problem;

/// Carries out a request even if its client hangs up meanwhile.
pub(crate) async fn to_the_end<T: Send + 'static>(
    request: impl Future<Output = Result<T, Rejection>> + Send + 'static,
) -> Result<T, Problem> {
    match tokio::spawn(request.in_current_span()).await {
        Ok(outcome) => Ok(outcome?),
        Err(ended) => Err(Rejection::Internal(ended.into()).into()),
    }
}
