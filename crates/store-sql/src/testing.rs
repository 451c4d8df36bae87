//! A Postgres for tests.
