//! For tests only: a [`World`] in which the real router, the real engine and the simulated AWS meet over any store, with
//! time that moves when it is told to.
//!
//! Nothing sleeps. [`World::settle`] steps the engine and moves the clock to the next moment at which something is due,
//! until nothing is in flight. [`on_every_store`] runs a scenario on each engine and checks afterwards that the world is
//! in order.

mod clock;
mod reply;
mod world;

pub use clock::ManualClock;
pub use reply::Reply;
pub use world::{ACCOUNT, GROUP, REGION, SCHEMA_TTL, World, on_every_store, tracked_by};
