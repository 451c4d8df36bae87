//! What a process counts for its operators: requests, calls to AWS, operations, failed logins. The text is in the format of
//! OpenMetrics, which Prometheus reads. The labels come from the code, never from a client, so that the number of series has
//! a bound.

mod calls;

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use prometheus_client::encoding::text::encode;
use prometheus_client::metrics::counter::Counter;
use prometheus_client::metrics::family::Family;
use prometheus_client::metrics::gauge::Gauge;
use prometheus_client::metrics::histogram::Histogram;
use prometheus_client::registry::{Registry, Unit};
use ucp_model::Operation;

/// The `Content-Type` of [`Metrics::text`].
pub const CONTENT_TYPE: &str = "application/openmetrics-text; version=1.0.0; charset=utf-8";

/// The upper bounds of the buckets of durations, in seconds.
const SECONDS: [f64; 11] = [
    0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0,
];

type Labels<const N: usize> = [(&'static str, String); N];
type Durations<const N: usize> = Family<Labels<N>, Histogram, fn() -> Histogram>;

/// The metrics of a process. Clones count together.
#[derive(Clone, Debug)]
pub struct Metrics {
    registry: Arc<Registry>,
    requests: Family<Labels<3>, Counter>,
    request_durations: Durations<2>,
    calls: Family<Labels<2>, Counter>,
    call_durations: Durations<1>,
    operations_ended: Family<Labels<2>, Counter>,
    logins_failed: Counter,
    unserved: Family<Labels<1>, Counter>,
    audit_lines_lost: Counter,
    operations_live: Gauge,
    leftovers: Gauge,
}

/// What the store has, which all processes share.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Stored {
    /// The operations that have not ended.
    pub operations_live: usize,
    /// The leftovers in all registers.
    pub leftovers: usize,
}

/// The route of what no route serves.
const UNSERVED: &str = "unserved";

/// Returns a method, if it is one that routes serve. Clients may send any other.
fn served(method: &str) -> &str {
    match method {
        "GET" | "HEAD" | "PUT" | "POST" | "PATCH" | "DELETE" => method,
        _ => "other",
    }
}

impl Metrics {
    /// Creates the metrics of a process that runs this release.
    pub fn new(version: &str, commit: &str) -> Self {
        let mut registry = Registry::with_prefix("ucp");
        let durations: fn() -> Histogram = || Histogram::new(SECONDS);
        let metrics = Self {
            registry: Arc::default(),
            requests: Family::default(),
            request_durations: Family::new_with_constructor(durations),
            calls: Family::default(),
            call_durations: Family::new_with_constructor(durations),
            operations_ended: Family::default(),
            logins_failed: Counter::default(),
            unserved: Family::default(),
            audit_lines_lost: Counter::default(),
            operations_live: Gauge::default(),
            leftovers: Gauge::default(),
        };
        let build = [
            ("version", version.to_owned()),
            ("commit", commit.to_owned()),
        ];
        registry.register(
            "build",
            "The release that runs",
            prometheus_client::metrics::info::Info::new(build),
        );
        registry.register(
            "http_requests",
            "Requests that were answered, by the template of their route",
            metrics.requests.clone(),
        );
        registry.register_with_unit(
            "http_request_duration",
            "The time until requests were answered",
            Unit::Seconds,
            metrics.request_durations.clone(),
        );
        registry.register(
            "aws_calls",
            "Calls to Cloud Control, by what came of them",
            metrics.calls.clone(),
        );
        registry.register_with_unit(
            "aws_call_duration",
            "The time until Cloud Control answered",
            Unit::Seconds,
            metrics.call_durations.clone(),
        );
        registry.register(
            "operations_ended",
            "Operations that this process has ended, by kind and status",
            metrics.operations_ended.clone(),
        );
        registry.register(
            "logins_failed",
            "Requests whose credentials are not valid, and connections whose certificates are not accepted",
            metrics.logins_failed.clone(),
        );
        registry.register(
            "unserved",
            "Connections and requests that were refused before they reached a route, by the reason",
            metrics.unserved.clone(),
        );
        registry.register(
            "audit_lines_lost",
            "Lines that the audit log does not have, since it took none for too long",
            metrics.audit_lines_lost.clone(),
        );
        registry.register(
            "operations_live",
            "Operations in the store that have not ended",
            metrics.operations_live.clone(),
        );
        registry.register(
            "leftovers",
            "Resources in the registers of leftovers",
            metrics.leftovers.clone(),
        );
        Self {
            registry: Arc::new(registry),
            ..metrics
        }
    }

    /// Counts a request that was answered. The route is its template, if one serves it.
    pub fn answered(&self, route: Option<&str>, method: &str, status: u16, time: Duration) {
        let route = ("route", route.unwrap_or(UNSERVED).to_owned());
        let method = ("method", served(method).to_owned());
        self.request_durations
            .get_or_create(&[route.clone(), method.clone()])
            .observe(time.as_secs_f64());
        let labels = [route, method, ("status", status.to_string())];
        self.requests.get_or_create(&labels).inc();
    }

    /// Counts an operation, if it has ended.
    pub fn progressed(&self, operation: &Operation) {
        if operation.is_terminal() {
            let kind = ("kind", operation.work.kind().to_owned());
            let status = ("status", operation.status().to_owned());
            self.operations_ended.get_or_create(&[kind, status]).inc();
        }
    }

    /// Counts credentials that are not valid.
    pub fn login_failed(&self) {
        self.logins_failed.inc();
    }

    /// Counts what was refused before it reached a route.
    pub fn unserved(&self, reason: &'static str) {
        let labels = [("reason", reason.to_owned())];
        self.unserved.get_or_create(&labels).inc();
    }

    /// Sets how many lines the audit log has lost since the start.
    pub fn audit_lines_lost(&self, count: u64) {
        let lost = self.audit_lines_lost.inner();
        lost.store(count, Ordering::Relaxed);
    }

    fn called(&self, call: &str, outcome: &str, time: Duration) {
        let labels = [("call", call.to_owned())];
        self.call_durations
            .get_or_create(&labels)
            .observe(time.as_secs_f64());
        let [call] = labels;
        let labels = [call, ("outcome", outcome.to_owned())];
        self.calls.get_or_create(&labels).inc();
    }

    /// Returns all metrics in the text format of OpenMetrics. Without `stored`, the store's are those of the last time.
    pub fn text(&self, stored: Option<Stored>) -> String {
        if let Some(stored) = stored {
            let gauge = |count: usize| i64::try_from(count).unwrap_or(i64::MAX);
            self.operations_live.set(gauge(stored.operations_live));
            self.leftovers.set(gauge(stored.leftovers));
        }
        let mut text = String::new();
        // Writing to a string does not fail.
        let _ = encode(&mut text, &self.registry);
        text
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_counted_is_in_the_text() {
        let metrics = Metrics::new("0.1.0", "abc");
        let time = Duration::from_millis(20);
        metrics.answered(Some("/planes"), "GET", 200, time);
        metrics.answered(Some("/planes"), "GET", 200, time);
        metrics.called("GetResource", "ok", time);
        metrics.login_failed();
        metrics.unserved("not_tls");
        metrics.audit_lines_lost(5);
        let text = metrics.text(Some(Stored {
            operations_live: 3,
            leftovers: 4,
        }));
        for line in [
            r#"ucp_build_info{version="0.1.0",commit="abc"} 1"#,
            r#"ucp_http_requests_total{route="/planes",method="GET",status="200"} 2"#,
            r#"ucp_http_request_duration_seconds_bucket{le="0.025",route="/planes",method="GET"} 2"#,
            r#"ucp_http_request_duration_seconds_bucket{le="0.01",route="/planes",method="GET"} 0"#,
            r#"ucp_aws_calls_total{call="GetResource",outcome="ok"} 1"#,
            "ucp_logins_failed_total 1",
            r#"ucp_unserved_total{reason="not_tls"} 1"#,
            "ucp_audit_lines_lost_total 5",
            "ucp_operations_live 3",
            "ucp_leftovers 4",
            "# EOF",
        ] {
            assert!(text.lines().any(|it| it == line), "{line} in\n{text}");
        }
        let later = metrics.text(None);
        assert!(later.contains("ucp_leftovers 4"), "{later}");
    }
}
