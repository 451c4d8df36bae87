//! For tests only: a [`World`] runs the real router, the real engine and the simulated AWS over any store, with a clock
//! that is moved by hand.
//!
//! Nothing sleeps. [`World::settle`] steps the engine and moves the clock to the next time at which something is due,
//! until nothing is in flight. [`on_every_store`] turns a scenario into a test in memory and one on a database, and checks
//! the invariants of the world afterwards. [`crash_everywhere`] crashes a scenario at every crash point, and
//! [`disturb_everywhere`] stalls a worker there too. A WARN or an ERROR that a
//! scenario does not expect fails it.

mod accounts;
mod audit;
mod aws;
mod broker;
mod builder;
mod callers;
mod clock;
mod crash_everywhere;
mod crashes;
mod draw;
mod log;
mod notes;
mod observed;
mod place;
mod record;
mod reply;
mod store_kind;
mod stores;
mod world;
pub mod worlds;

pub use macro_rules_attribute::apply;

pub use aws::FOREIGN_ACCOUNT;
pub use builder::Builder;
pub use clock::ManualClock;
pub use crash_everywhere::{crash_after_everything, crash_everywhere, disturb_everywhere};
pub use draw::Draw;
pub use place::{ACCOUNT, REGION};
pub use reply::Reply;
pub use store_kind::StoreKind;
pub use stores::{Test, cipher, run, run_kind, run_kind_on_database, run_on_database};
pub use world::{GROUP, SCHEMA_TTL, World, tracked_by};
