//! Requests that change something do not depend on their connection.

use std::pin::Pin;
use std::task::{Context, Poll};

use tokio::runtime::Handle;
use tracing::Instrument as _;
use ucp_app::Rejection;

use crate::problem::Problem;

/// Carries out a request even if its client hangs up meanwhile.
pub(crate) async fn to_the_end<T: Send + 'static>(
    request: impl Future<Output = Result<T, Rejection>> + Send + 'static,
) -> Result<T, Problem> {
    Ok(Detachable(Some(Box::pin(request))).await?)
}

/// A future that goes on in a task of its own if it is dropped before its end.
struct Detachable<F: Future<Output: Send> + Send + 'static>(Option<Pin<Box<F>>>);

impl<F: Future<Output: Send> + Send + 'static> Future for Detachable<F> {
    type Output = F::Output;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<F::Output> {
        let Some(request) = &mut self.0 else {
            return Poll::Pending;
        };
        let polled = request.as_mut().poll(context);
        if polled.is_ready() {
            self.0 = None;
        }
        polled
    }
}

impl<F: Future<Output: Send> + Send + 'static> Drop for Detachable<F> {
    fn drop(&mut self) {
        if let Some(request) = self.0.take()
            && let Ok(runtime) = Handle::try_current()
            && !std::thread::panicking()
        {
            runtime.spawn(request.in_current_span());
        }
    }
}
