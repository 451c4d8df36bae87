use std::future::poll_fn;
use std::pin::pin;

use ucp_simulator::faults::{Effect, Fault, fault, refuse};
use ucp_simulator::{Action, ExceptionCode};
use ucp_testkit::World;

use super::draw::Draw;

/// The faults of a world. Each kind is in about half of the worlds.
///
/// They leave out what makes the worker believe that a referenced resource is gone although it exists, since it then
/// creates another one:
/// - A false "not found" meets only reads of requests. The look of a worker is decisive, and it may be the first one at
///   a resource: that of the request may have been throttled, may be too old, or was not asked for.
/// - Reads lag without a probability, so what has been seen stays visible.
#[derive(Debug)]
pub(super) struct Faults {
    of_all: Vec<Fault>,
    of_requests: Vec<Fault>,
}

impl Faults {
    pub(super) fn drawn(draw: &Draw) -> Self {
        let mut of_all = Vec::new();
        if draw.one_in(2) {
            let least_millis = draw.below(1_000) as u64;
            of_all.push(fault(Effect::Lag {
                least_millis,
                most_millis: least_millis + draw.below(20_000) as u64,
                replicas: 1,
            }));
        }
        if draw.one_in(2) {
            of_all.push(fault(refuse(ExceptionCode::Throttling)).with_probability(0.15));
        }
        if draw.one_in(2) {
            of_all.push(fault(Effect::DropReply {}).with_probability(0.1));
        }
        let mut of_requests = Vec::new();
        if draw.one_in(2) {
            let not_found = fault(refuse(ExceptionCode::ResourceNotFound));
            of_requests.push(not_found.on(Action::GetResource).with_probability(0.3));
        }
        Self {
            of_all,
            of_requests,
        }
    }

    pub(super) fn none() -> Self {
        Self {
            of_all: Vec::new(),
            of_requests: Vec::new(),
        }
    }

    /// Puts the faults of all calls in force.
    pub(super) fn set(&self, world: &World) {
        world.aws.clear_faults();
        for fault in &self.of_all {
            world.aws.add_fault(fault.clone());
        }
    }

    /// Runs a request. The faults of requests are in force only while it runs itself, not while workers do.
    pub(super) async fn around<R>(&self, world: &World, request: impl Future<Output = R>) -> R {
        let mut request = pin!(request);
        poll_fn(|context| {
            for fault in &self.of_requests {
                world.aws.add_fault(fault.clone());
            }
            let polled = request.as_mut().poll(context);
            self.set(world);
            polled
        })
        .await
    }
}
