//! The in-memory reference engine.
