//! For tests only: a [`World`] in which the real router, the real engine and the simulated AWS meet over any store, with
//! time that moves when it is told to.
//!
//! Nothing sleeps. [`World::settle`] steps the engine and moves the clock to the next moment at which something is due,
//! until nothing is in flight. [`on_every_store`] makes a scenario one test a store, and checks afterwards that the world
//! is in order. [`crash_everywhere`] makes it die at every moment at which a process can die. A WARN or an ERROR that a
//! scenario does not expect fails it.

mod builder;
mod clock;
mod crash_everywhere;
mod crashes;
mod log;
mod reply;
mod stores;
mod world;

pub use macro_rules_attribute::apply;

pub use builder::Builder;
pub use clock::ManualClock;
pub use crash_everywhere::crash_everywhere;
pub use reply::Reply;
pub use stores::{StoreKind, Test, run, run_on};
pub use world::{ACCOUNT, GROUP, REGION, SCHEMA_TTL, World, tracked_by};
