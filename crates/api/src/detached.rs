//! Requests that change something do not depend on their connection, and what goes on without its client keeps its place.

use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use axum::extract::Request;
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use tokio::runtime::Handle;
use tracing::Instrument as _;
use ucp_app::Recipient;
use ucp_cpu_pool::keeping;
use ucp_listen::Place;

use crate::action::Effect;
use crate::audited::Asked;
use crate::problem::Problem;

/// Carries out a request that changes something even if its client hangs up meanwhile, or its time is over. It keeps its place
/// among the requests of its client until it has ended, so a client that leaves cannot begin more of them than one that stays.
/// So does what a thread of the pool does for any request.
pub(crate) async fn detach(mut request: Request, next: Next) -> Response {
    let extensions = request.extensions();
    let Some(asked) = extensions.get::<Arc<Asked>>().cloned() else {
        return Problem::internal().into_response();
    };
    let place = Arc::new(extensions.get::<Place>().cloned());
    let (_staying, recipient) = Recipient::new();
    request.extensions_mut().insert(recipient);
    let detachable = Detachable {
        request: Some(Box::pin(keeping(place, next.run(request)))),
        goes_on: move || asked.effect() == Some(Effect::Write),
    };
    detachable.await
}

/// A future that goes on in a task of its own if it is dropped before its end, and if `goes_on` says so then.
struct Detachable<F: Future<Output: Send> + Send + 'static, P: Fn() -> bool> {
    request: Option<Pin<Box<F>>>,
    goes_on: P,
}

impl<F: Future<Output: Send> + Send + 'static, P: Fn() -> bool + Unpin> Future
    for Detachable<F, P>
{
    type Output = F::Output;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<F::Output> {
        let Some(request) = &mut self.request else {
            return Poll::Pending;
        };
        let polled = request.as_mut().poll(context);
        if polled.is_ready() {
            self.request = None;
        }
        polled
    }
}

impl<F: Future<Output: Send> + Send + 'static, P: Fn() -> bool> Drop for Detachable<F, P> {
    fn drop(&mut self) {
        if let Some(request) = self.request.take()
            && (self.goes_on)()
            && let Ok(runtime) = Handle::try_current()
            && !std::thread::panicking()
        {
            runtime.spawn(request.in_current_span());
        }
    }
}

#[cfg(test)]
mod tests {
    use tokio::sync::mpsc::unbounded_channel;
    use tokio::sync::watch;

    use super::*;

    #[tokio::test]
    async fn what_must_go_on_does_without_its_client() {
        let (answer, answered) = watch::channel(false);
        let (end, mut ended) = unbounded_channel();
        for must_go_on in [false, true] {
            let (mut answered, end) = (answered.clone(), end.clone());
            let request = async move {
                answered.wait_for(|answered| *answered).await.unwrap();
                end.send(must_go_on).unwrap();
            };
            let detachable = Detachable {
                request: Some(Box::pin(request)),
                goes_on: move || must_go_on,
            };
            tokio::select! {
                biased;
                () = detachable => panic!("it waits"),
                () = std::future::ready(()) => {}
            }
        }
        answer.send_replace(true);
        assert_eq!(ended.recv().await, Some(true));
        drop(end);
        assert_eq!(ended.recv().await, None, "the other ended with its client");
    }
}
