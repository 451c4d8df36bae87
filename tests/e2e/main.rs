//! Black-box tests of the whole product, with a module for each family of scenarios.
//!
//! Most scenarios run in a `World` (real router, real engine, simulated AWS, each store in turn), where the test
//! controls time. `processes` runs the real binary. A module that covers rows of the HTTP contract names their sections
//! and decisions (D1 to D53) in its first lines.

mod absence;
mod audit;
mod aws_errors;
mod azure_credentials;
mod bad_input;
mod by_name;
mod cancels;
mod conventions;
mod crashes;
mod credentials;
mod default_tags;
mod deletes;
mod describes_itself;
mod draw;
mod etags;
mod examples;
mod exceptions;
mod group_deletes;
mod group_imports;
mod group_names;
mod groups;
mod handlers;
mod identifiers;
mod imports;
mod judging;
mod leftovers;
mod limits;
mod looks;
mod matrix;
mod odd_requests;
mod operation_lists;
mod operations;
mod ownership;
mod paging;
mod planes;
mod plans;
mod private_types;
mod processes;
mod proof;
mod puts;
mod quotas;
mod reads;
mod reference_states;
mod references;
mod refusals;
mod regions;
mod replacements;
mod resealing;
mod resolving;
mod resource_types;
mod retries;
mod rights;
mod schema_source;
mod searches;
mod unknown_outcomes;
mod untracked;
mod upgrades;
mod waits;
mod warnings;
mod workers;
mod worlds;
mod write_only;
