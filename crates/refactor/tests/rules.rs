//! A test for each sentence of what a move is.

#[path = "world/mod.rs"]
mod world;

#[path = "rules/bodies.rs"]
mod bodies;
#[path = "rules/contents.rs"]
mod contents;
#[path = "rules/histories.rs"]
mod histories;
#[path = "rules/imagined.rs"]
mod imagined;
#[path = "rules/leftovers.rs"]
mod leftovers;
#[path = "rules/pairs.rs"]
mod pairs;
#[path = "rules/puts.rs"]
mod puts;
