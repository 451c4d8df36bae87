//! Requests that change something do not depend on their connection.

use std::pin::Pin;
use std::task::{Context, Poll};

use tokio::runtime::Handle;
use tokio::sync::Semaphore;
use tracing::Instrument as _;
use ucp_app::Rejection;

use crate::problem::Problem;

/// How many requests may go on without their clients. Connections are limited, but a client may open the next one as soon
/// as it has left the last.
static ROOM: Semaphore = Semaphore::const_new(1_000);

/// Carries out a request even if its client hangs up meanwhile. When too many go on in that way, it ends with its
/// connection, as if it had been lost on the way.
pub(crate) async fn to_the_end<T: Send + 'static>(
    request: impl Future<Output = Result<T, Rejection>> + Send + 'static,
) -> Result<T, Problem> {
    let request = Detachable {
        request: Some(Box::pin(request)),
        room: &ROOM,
    };
    Ok(request.await?)
}

/// A future that goes on in a task of its own if it is dropped before its end, and if there is room.
struct Detachable<F: Future<Output: Send> + Send + 'static> {
    request: Option<Pin<Box<F>>>,
    room: &'static Semaphore,
}

impl<F: Future<Output: Send> + Send + 'static> Future for Detachable<F> {
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

impl<F: Future<Output: Send> + Send + 'static> Drop for Detachable<F> {
    fn drop(&mut self) {
        if let Some(request) = self.request.take()
            && let Ok(runtime) = Handle::try_current()
            && let Ok(permit) = self.room.try_acquire()
            && !std::thread::panicking()
        {
            let rest = async move {
                request.await;
                drop(permit);
            };
            runtime.spawn(rest.in_current_span());
        }
    }
}

#[cfg(test)]
mod tests {
    use tokio::sync::mpsc::unbounded_channel;
    use tokio::sync::watch;

    use super::*;

    #[tokio::test]
    async fn a_request_goes_on_without_its_client_if_there_is_room() {
        static ROOM_FOR_ONE: Semaphore = Semaphore::const_new(1);
        let (answer, answered) = watch::channel(false);
        let (end, mut ended) = unbounded_channel();
        let request = |number: u32| {
            let (mut answered, end) = (answered.clone(), end.clone());
            let request = async move {
                answered.wait_for(|answered| *answered).await.unwrap();
                end.send(number).unwrap();
            };
            Detachable {
                request: Some(Box::pin(request)),
                room: &ROOM_FOR_ONE,
            }
        };
        for number in [1, 2] {
            tokio::select! {
                biased;
                () = request(number) => panic!("it waits"),
                () = std::future::ready(()) => {}
            }
        }
        answer.send_replace(true);
        assert_eq!(ended.recv().await, Some(1));
        // The room is free again.
        let _permit = ROOM_FOR_ONE.acquire().await.unwrap();
        drop(end);
        assert_eq!(ended.recv().await, None, "the second ended with its client");
    }
}
