//! The table of results.

use std::fmt::Write as _;
use std::time::Duration;

use ucp_store_sql::testing::Statements;

use crate::client::Outcome;
use crate::process::Machine;
use crate::site::{Kind, Surroundings};

/// What is measured in a row.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Row {
    pub(crate) surroundings: Surroundings,
    pub(crate) kind: Kind,
    pub(crate) connections: usize,
}

impl Row {
    /// The row that it is compared with.
    pub(crate) fn base(self) -> Self {
        let kind = match self.kind {
            Kind::PutAgainWithToken => Kind::PutAgainByAlias,
            Kind::WhatIfByAlias | Kind::WhatIfSet => Kind::GetByAlias,
            Kind::GetByName
            | Kind::GetByAlias
            | Kind::Status
            | Kind::PutAgainByName
            | Kind::PutAgainByAlias
            | Kind::CreateByName => Kind::GetByName,
        };
        Self { kind, ..self }
    }

    pub(crate) fn name(&self) -> String {
        let surroundings = match self.surroundings {
            Surroundings::Postgres => "postgres",
            Surroundings::PostgresFarFromAws => "far",
            Surroundings::Sqlite => "sqlite",
        };
        let kind = match self.kind {
            Kind::GetByName => "get-by-name",
            Kind::GetByAlias => "get-by-alias",
            Kind::Status => "status",
            Kind::PutAgainByName => "put-again-by-name",
            Kind::PutAgainByAlias => "put-again-by-alias",
            Kind::PutAgainWithToken => "put-again-with-token",
            Kind::WhatIfByAlias => "what-if-by-alias",
            Kind::WhatIfSet => "what-if-set",
            Kind::CreateByName => "create-by-name",
        };
        format!("{surroundings} {kind} {}", self.connections)
    }
}

/// CPU seconds. `None` if they are unknown.
#[derive(Clone, Copy)]
pub(crate) struct Cpu {
    pub(crate) ucp: Option<f64>,
    pub(crate) postgres: Option<f64>,
    pub(crate) aws: Option<f64>,
    pub(crate) client: Option<f64>,
    pub(crate) machine: Option<Machine>,
}

impl Cpu {
    fn parts(&self) -> [Option<f64>; 4] {
        [self.ucp, self.postgres, self.aws, self.client]
    }

    /// The share of the machine that other processes have used since `before`.
    fn others_since(&self, before: &Self) -> Option<f64> {
        let ours = |cpu: &Self| -> Option<f64> { cpu.parts().into_iter().sum() };
        let (machine, machine_before) = (self.machine?, before.machine?);
        let used = machine.used - machine_before.used;
        let by_others = used - (ours(self)? - ours(before)?);
        Some(by_others / (machine.available - machine_before.available))
    }
}

/// What a site has used so far.
#[derive(Clone, Copy)]
pub(crate) struct Spent {
    pub(crate) statements: Option<Statements>,
    pub(crate) cpu: Cpu,
}

/// A measurement of a row.
#[derive(Clone)]
pub(crate) struct Round {
    /// Replies per second.
    pub(crate) rate: f64,
    p50: Duration,
    p99: Duration,
    refused: usize,
    unexpected: usize,
    /// Reads, writes and other statements, per request.
    statements: Option<[f64; 3]>,
    /// CPU milliseconds per request: `ucp`, Postgres, AWS, client.
    cpu: [Option<f64>; 4],
    /// The share of the machine that other processes used.
    pub(crate) others: Option<f64>,
}

impl Round {
    pub(crate) fn new(outcome: &Outcome, time: Duration, before: &Spent, after: &Spent) -> Self {
        let quantile = |share: f64| {
            let at = as_f64(outcome.latencies.len()) * share;
            let at = outcome.latencies.get(floor(at));
            at.copied().unwrap_or_default()
        };
        let replies = as_f64(outcome.replies);
        let statements = before.statements.zip(after.statements);
        let statements = statements.map(|(before, after)| {
            let counts = [
                after.reads - before.reads,
                after.writes - before.writes,
                after.others - before.others,
            ];
            counts.map(|count| as_f64(usize::try_from(count).unwrap_or_default()) / replies)
        });
        let (cpu_before, cpu_after) = (before.cpu.parts(), after.cpu.parts());
        let cpu = std::array::from_fn(|part| {
            let seconds = cpu_after[part]? - cpu_before[part]?;
            Some(seconds * 1000.0 / replies)
        });
        Self {
            rate: as_f64(outcome.latencies.len()) / time.as_secs_f64(),
            p50: quantile(0.5),
            p99: quantile(0.99),
            refused: outcome.refused,
            unexpected: outcome.unexpected,
            statements,
            cpu,
            others: after.cpu.others_since(&before.cpu),
        }
    }
}

#[expect(clippy::cast_precision_loss, reason = "counts are far below 2^52")]
fn as_f64(count: usize) -> f64 {
    count as f64
}

#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "positions in a list"
)]
fn floor(position: f64) -> usize {
    position as usize
}

const HEAD: &str = "| | connections | per second | of its base | p50 | p99 | refused | no verdict | statements | writes | \
`BEGIN` etc. | CPU ms: ucp, Postgres, AWS, client |\n|---|---:|---:|---:|---:|---:|---:|---:|---:|---:|---:|---:|\n";

/// Returns the table in Markdown: medians of the rounds, and sums of what should be zero.
pub(crate) fn table(rows: &[Row], measured: &[Vec<Round>]) -> String {
    let mut table = HEAD.to_owned();
    let rate = |row: &Row| {
        let at = rows.iter().position(|other| other == row)?;
        Some(median(&measured[at], |round| round.rate))
    };
    for (row, rounds) in rows.iter().zip(measured) {
        let of_base = rate(row).zip(rate(&row.base()));
        let of_base = of_base.map(|(rate, base)| format!("{:.2}", rate / base));
        let milliseconds = |of: fn(&Round) -> Duration| {
            format!(
                "{:.1} ms",
                median(rounds, |round| of(round).as_secs_f64() * 1000.0)
            )
        };
        let sum = |of: fn(&Round) -> usize| rounds.iter().map(of).sum::<usize>();
        let statements = |of: fn([f64; 3]) -> f64| {
            let is_known = rounds.iter().all(|round| round.statements.is_some());
            let median = median(rounds, |round| of(round.statements.unwrap_or_default()));
            if is_known {
                format!("{median:.2}")
            } else {
                String::new()
            }
        };
        let cpu = |part: usize| {
            let is_known = rounds.iter().all(|round| round.cpu[part].is_some());
            let median = median(rounds, |round| round.cpu[part].unwrap_or_default());
            if is_known {
                format!("{median:.2}")
            } else {
                "?".to_owned()
            }
        };
        let cells = [
            label(row),
            row.connections.to_string(),
            thousands(median(rounds, |round| round.rate)),
            of_base.unwrap_or_default(),
            milliseconds(|round| round.p50),
            milliseconds(|round| round.p99),
            sum(|round| round.refused).to_string(),
            sum(|round| round.unexpected).to_string(),
            statements(|[reads, writes, _]| reads + writes),
            statements(|[_, writes, _]| writes),
            statements(|[_, _, others]| others),
            [0, 1, 2, 3].map(cpu).join(", "),
        ];
        // Writing to a string does not fail.
        let _ = writeln!(table, "| {} |", cells.join(" | "));
    }
    table
}

/// Says how much of the machine others used, so that a table from a busy machine is not mistaken for one from an idle one.
pub(crate) fn disturbance(measured: &[Vec<Round>]) -> String {
    let rounds: Vec<Round> = measured.iter().flatten().cloned().collect();
    let known: Option<Vec<f64>> = rounds.iter().map(|round| round.others).collect();
    let Some(known) = known else {
        return "How much of the CPU other processes used is unknown.".to_owned();
    };
    let most = known.into_iter().fold(0.0, f64::max);
    let usual = median(&rounds, |round| round.others.unwrap_or_default());
    format!(
        "Other processes used {:.0} % of the CPU (median of the measurements), at most {:.0} %.",
        usual * 100.0,
        most * 100.0
    )
}

fn label(row: &Row) -> String {
    let surroundings = match row.surroundings {
        Surroundings::Postgres => "Postgres",
        Surroundings::PostgresFarFromAws => "Postgres, 80 ms to AWS and back",
        Surroundings::Sqlite => "SQLite",
    };
    let kind = match row.kind {
        Kind::GetByName => "GET by name",
        Kind::GetByAlias => "`:get` by alias",
        Kind::Status => "status of an operation",
        Kind::PutAgainByName => "same put again, by name",
        Kind::PutAgainByAlias => "same put again, by alias",
        Kind::PutAgainWithToken => "the same, with a token",
        Kind::WhatIfByAlias => "what-if of the same put, by alias",
        Kind::WhatIfSet => "what-if of a set of 100",
        Kind::CreateByName => "accepted creates, by name",
    };
    format!("{surroundings}: {kind}")
}

fn median(rounds: &[Round], of: impl Fn(&Round) -> f64) -> f64 {
    let mut values: Vec<f64> = rounds.iter().map(of).collect();
    values.sort_unstable_by(f64::total_cmp);
    let middle = values.len() / 2;
    values.get(middle).copied().unwrap_or_default()
}

/// Writes a number like 12,345, and one below 100 with a decimal.
fn thousands(number: f64) -> String {
    if number < 100.0 {
        return format!("{number:.1}");
    }
    let digits = format!("{number:.0}");
    let mut written = String::new();
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at) % 3 == 0 {
            written.push(',');
        }
        written.push(digit);
    }
    written
}
