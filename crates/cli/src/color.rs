//! When output is coloured.

use std::io::IsTerminal;

/// Whether output to `stream` is coloured: on a terminal that can show colours, unless `NO_COLOR` is set.
pub fn suits(stream: &impl IsTerminal) -> bool {
    let is_dumb = std::env::var_os("TERM").is_none_or(|term| term == "dumb");
    let is_refused = std::env::var_os("NO_COLOR").is_some_and(|value| !value.is_empty());
    stream.is_terminal() && !is_dumb && !is_refused
}
