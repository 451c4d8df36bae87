//! Weighs requests by the memory that they work with, so that no caller takes all of it, nor all threads that judge.

use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use axum::body::{Body, Bytes, HttpBody};
use axum::extract::{MatchedPath, Request, State};
use axum::middleware::Next;
use axum::response::Response;
use hyper::body::{Frame, SizeHint};
use ucp_access::{ANONYMOUS, Principal};
use ucp_app::{App, Room, SET_COPIES, tree_bytes};
use ucp_cpu_pool::asked_by;
use ucp_listen::{Peer, network};

use crate::problem::Problem;
use crate::state::Api;

/// What kind of work a body makes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    /// One resource, or what the server itself stores.
    One,
    /// Several resources that refer to each other.
    Set,
}

impl Kind {
    fn of(matched: &str) -> Self {
        let is_of_group = matched.starts_with("/planes/radius/");
        let last = matched.rsplit('/').next().unwrap_or_default();
        match (is_of_group, last) {
            (true, ":apply" | ":whatIf" | ":validate") => Self::Set,
            _ => Self::One,
        }
    }

    /// Returns how often such a body is in memory, as it is read, judged and planned.
    pub(crate) fn copies(self) -> usize {
        match self {
            Self::One => 6,
            Self::Set => SET_COPIES,
        }
    }
}

/// In the extensions of a request: what it has taken.
#[derive(Clone)]
pub(crate) struct Weight {
    app: Arc<App>,
    kind: Kind,
    /// Whose it is.
    pub(crate) caller: Arc<str>,
    /// For its body.
    body: Room,
    /// For what is made of it.
    pub(crate) work: Room,
}

impl Weight {
    /// Reads a body, by a thread that keeps nobody else waiting if it is long.
    pub(crate) async fn read_aside<T: Send + 'static>(
        &self,
        is_quick: bool,
        read: impl FnOnce() -> T + Send + 'static,
    ) -> Result<T, Problem> {
        let read = self.app.judge_aside(is_quick, read);
        read.await.map_err(Problem::from)
    }

    /// Refuses a body for which there is no room now, before any of it is read. Until it has come, it takes none.
    pub(crate) fn may_come(&self, bytes: usize) -> Result<(), Problem> {
        self.has_come(bytes)?;
        self.has_come(0)
    }

    /// Counts what has arrived of the body. There is room at once or not at all.
    pub(crate) fn has_come(&self, bytes: usize) -> Result<(), Problem> {
        self.body.settle(bytes).map_err(Problem::from)
    }

    /// Waits for what a body of so many bytes and at most so many values needs.
    pub(crate) async fn reads(&self, bytes: usize, values: usize) -> Result<(), Problem> {
        let entered = self.work.enter(self.tree(bytes, values));
        entered.await.map_err(Problem::from)
    }

    /// The bytes are dropped.
    pub(crate) fn has_read(&self) -> Result<(), Problem> {
        self.body.settle(0).map_err(Problem::from)
    }

    /// Gives back what was taken for more values than there are.
    pub(crate) fn settle(&self, bytes: usize, values: usize) -> Result<(), Problem> {
        let tree = self.tree(bytes, values);
        self.work.settle(tree).map_err(Problem::from)
    }

    fn tree(&self, bytes: usize, values: usize) -> usize {
        tree_bytes(bytes, values).saturating_mul(self.kind.copies())
    }
}

/// Keeps what a request takes until its reply is taken.
pub(crate) async fn weigh(
    State(api): State<Arc<Api>>,
    mut request: Request,
    next: Next,
) -> Response {
    let extensions = request.extensions();
    let (Some(principal), Some(matched)) = (
        extensions.get::<Arc<Principal>>(),
        extensions.get::<MatchedPath>(),
    ) else {
        return next.run(request).await;
    };
    let caller: Arc<str> = match (principal.name.as_str(), extensions.get::<Peer>()) {
        // They are told apart by where they are.
        (ANONYMOUS, Some(Peer(address))) => network(address.ip()).to_string().into(),
        (name, _) => name.into(),
    };
    let weight = Weight {
        app: Arc::clone(&api.app),
        kind: Kind::of(matched.as_str()),
        caller: Arc::clone(&caller),
        body: api.bodies.room(&caller),
        work: api.work.room(&caller),
    };
    let work = weight.work.clone();
    request.extensions_mut().insert(weight);
    let response = asked_by(caller, next.run(request)).await;
    if !work.has_taken() {
        return response;
    }
    // Whoever takes long to receive it keeps no more than that.
    if let Some(bytes) = response.body().size_hint().exact() {
        work.keep(usize::try_from(bytes).unwrap_or(usize::MAX));
    }
    response.map(|reply| Body::new(Kept { reply, _work: work }))
}

/// A reply that keeps what its request has taken until it is sent.
struct Kept {
    reply: Body,
    _work: Room,
}

impl HttpBody for Kept {
    type Data = Bytes;
    type Error = axum::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, axum::Error>>> {
        Pin::new(&mut self.reply).poll_frame(context)
    }

    fn is_end_stream(&self) -> bool {
        self.reply.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.reply.size_hint()
    }
}
