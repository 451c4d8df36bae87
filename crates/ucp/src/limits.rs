//! `ucp limits`: the table of all limits, as `docs/limits.md` has it.

use std::fmt::Write;

use clap::{Arg, CommandFactory};
use ucp_listen::HEADERS;
use ucp_model::{Beyond, ErrorCode, Limit, Most, Place};

use crate::cli::Cli;
use crate::config;
use crate::connections::{
    HEAD_BYTES, HEAD_TIMEOUT, HTTP2, PROBE_CONNECTIONS, PROBE_TIMEOUT, REPLY_TIMEOUT,
};
use crate::plan::LINE_BYTES;

/// What is limited of clients and of their connections.
const OF_CONNECTIONS: &[Limit] = &[
    Limit {
        name: "connections",
        what: "The open connections of all clients, with the requests beside another one on a connection, and what goes on \
               without its client: changes, and what is being judged",
        most: Most::Flag("--max-connections"),
        beyond: Beyond::Told(
            "Further connections wait until others are closed. Further requests beside another one get 503 \
             [`ServiceUnavailable`](errors/ServiceUnavailable.md): over HTTP/2, and over HTTP/1.1 if what the connection has \
             asked for before goes on without an answer.",
        ),
    },
    Limit {
        name: "peer-connections",
        what: "The same of one address: by default half of `--max-connections`; over TLS there is no reply",
        most: Most::Flag("--max-connections-per-peer"),
        beyond: Beyond::refused(503, ErrorCode::ServiceUnavailable),
    },
    Limit {
        name: "streams",
        what: "The requests under way on a connection over HTTP/2; each beside another one counts as a connection too, of its \
               address and of all",
        most: Most::Number(HTTP2.streams as usize),
        beyond: Beyond::Told(
            "Further ones are refused with `REFUSED_STREAM`; clients keep them back until others have ended.",
        ),
    },
    Limit {
        name: "stream-resets",
        what: "The requests over HTTP/2 that a client takes back before they are served, on a connection and at a time",
        most: Most::Number(HTTP2.resets),
        beyond: Beyond::Told("The connection is closed."),
    },
    Limit {
        name: "stream-errors",
        what: "The requests of a connection over HTTP/2 that break off for errors of the protocol",
        most: Most::Number(HTTP2.errors),
        beyond: Beyond::Told("The connection is closed."),
    },
    Limit {
        name: "stream-frames",
        what: "The frames of a connection over HTTP/2 that ask for nothing, such as PING, SETTINGS, PRIORITY and WINDOW_UPDATE; 200 more for each second, and one for each kilobyte that the client is sent",
        most: Most::Number(HTTP2.frames),
        beyond: Beyond::Told("The connection is closed."),
    },
    Limit {
        name: "ping-time",
        what: "The time in which a client over HTTP/2 must answer a ping, which is sent as often",
        most: Most::Time(HTTP2.ping),
        beyond: Beyond::Told("The connection is closed."),
    },
    Limit {
        name: "head",
        what: "The head of a request, until its end",
        most: Most::Bytes(HEAD_BYTES),
        beyond: Beyond::Told("The reply is 431, without a body."),
    },
    Limit {
        name: "headers",
        what: "The headers of a request",
        most: Most::Number(HEADERS),
        beyond: Beyond::Told("The reply is 431, without a body."),
    },
    Limit {
        name: "head-time",
        what: "The time in which a head must arrive, and that a connection may be idle",
        most: Most::Time(HEAD_TIMEOUT),
        beyond: Beyond::Told("The connection is closed."),
    },
    Limit {
        name: "write-time",
        what: "The time in which a client must take some bytes of a reply",
        most: Most::Flag("--write-timeout"),
        beyond: Beyond::Told(
            "The connection is reset; over HTTP/2 the request alone, if the client takes others.",
        ),
    },
    Limit {
        name: "reply-time",
        what: "The time in which a client must take the whole of a reply",
        most: Most::Time(REPLY_TIMEOUT),
        beyond: Beyond::Told(
            "The connection is reset; over HTTP/2 the request alone, if the client takes others.",
        ),
    },
    Limit {
        name: "probe-connections",
        what: "The open connections to `--probe-listen`",
        most: Most::Number(PROBE_CONNECTIONS),
        beyond: Beyond::Told("Further ones wait until others are closed."),
    },
    Limit {
        name: "probe-time",
        what: "The time of a probe to send its request, and to take the reply",
        most: Most::Time(PROBE_TIMEOUT),
        beyond: Beyond::Told("The connection is closed."),
    },
    Limit {
        name: "plan-line",
        what: "A line of `ucp plan --offline`",
        most: Most::Bytes(LINE_BYTES),
        beyond: Beyond::Told("The answer to the line is an error."),
    },
];

const HEAD: &str = "\
# Limits

Everything that a caller can send, hold or leave behind has a limit. This page is generated from the code that enforces
them (`ucp limits` prints it); a test compares the two, and another one sends the last value of each that is allowed, and
the first that is not.

A limit that is not fixed is set by a flag of `ucp serve` or `ucp dev`, or by the environment variable beside it. An error
is an [error of ARM's shape](errors/README.md); text in braces stands for a part that depends on the request.

How often and how long calls to AWS are repeated is in [retry classes](errors/retry-classes.md).

| limit | what is limited | at most | set by | beyond it |
|---|---|---|---|---|
";

/// All limits, in the order of the table.
fn all() -> impl Iterator<Item = &'static Limit> {
    let lists = [
        ucp_api::LIMITS,
        ucp_broker::LIMITS,
        ucp_offerings::LIMITS,
        ucp_authentication::LIMITS,
        ucp_model::LIMITS,
        ucp_app::LIMITS,
        ucp_schema::LIMITS,
        ucp_set::LIMITS,
        ucp_look::LIMITS,
        ucp_engine::LIMITS,
        ucp_oidc::LIMITS,
        ucp_cloud_aws::LIMITS,
        OF_CONNECTIONS,
        config::LIMITS,
    ];
    lists.into_iter().flatten()
}

/// Returns the page.
pub(crate) fn page() -> anyhow::Result<String> {
    let cli = Cli::command();
    let serve = cli.find_subcommand("serve");
    let flags: Vec<&Arg> = serve
        .into_iter()
        .flat_map(clap::Command::get_arguments)
        .collect();
    let mut page = HEAD.to_owned();
    for limit in all() {
        let (most, set_by) = match limit.most {
            Most::Number(number) => (counted(number), "fixed".to_owned()),
            Most::Bytes(bytes) => (format!("{} bytes", counted(bytes)), "fixed".to_owned()),
            Most::Characters(characters) => (
                format!("{} characters", counted(characters)),
                "fixed".to_owned(),
            ),
            Most::Time(time) => (
                humantime::format_duration(time).to_string(),
                "fixed".to_owned(),
            ),
            Most::Flag(flag) => set_by(flag, &flags)?,
        };
        let Limit { name, what, .. } = limit;
        let beyond = beyond(limit.beyond);
        writeln!(page, "| `{name}` | {what} | {most} | {set_by} | {beyond} |")?;
    }
    Ok(page)
}

/// Returns the default of a flag, and its name with that of its environment variable.
fn set_by(flag: &str, flags: &[&Arg]) -> anyhow::Result<(String, String)> {
    let is_meant = |known: &&&Arg| known.get_long() == flag.strip_prefix("--");
    let known = flags
        .iter()
        .find(is_meant)
        .ok_or_else(|| anyhow::anyhow!("there is no flag {flag}"))?;
    let default = known.get_default_values().first();
    let default = default.map_or_else(String::new, |default| default.to_string_lossy().into());
    let default = default.parse().map_or(default, counted);
    let variable = known.get_env().unwrap_or_default().to_string_lossy();
    Ok((default, format!("`{flag}`, `{variable}`")))
}

fn beyond(beyond: Beyond) -> String {
    match beyond {
        Beyond::Refused {
            status,
            code,
            place,
        } => {
            let named = match place {
                Place::Request => String::new(),
                Place::Target(target) => format!(", `target` `{target}`"),
                Place::Detail(target) => format!(", `details` with the `target` `{target}`"),
            };
            format!("{status} [`{code}`](errors/{code}.md){named}")
        }
        Beyond::Failed(code) => format!("The operation fails with [`{code}`](errors/{code}.md)."),
        Beyond::Told(sentence) => sentence.to_owned(),
    }
}

/// Writes a number with commas.
fn counted(number: usize) -> String {
    let digits = number.to_string();
    let mut text = String::new();
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}
