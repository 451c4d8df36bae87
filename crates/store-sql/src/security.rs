//! Whether TLS is spoken with Postgres, and whom it must prove that it is.

use std::env;
use std::net::IpAddr;

use sqlx::postgres::{PgConnectOptions, PgSslMode};

/// Which parameters of TLS are given, by the URL of the database or by the environment. The driver has their values.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Said {
    mode: bool,
    roots: bool,
}

impl Said {
    /// What the environment says, as libpq and the driver read it.
    pub(crate) fn in_environment() -> Self {
        let mode = env::var("PGSSLMODE").is_ok_and(|mode| mode.parse::<PgSslMode>().is_ok());
        let roots = env::var("PGSSLROOTCERT").is_ok();
        Self { mode, roots }
    }

    /// Notes a parameter of the URL.
    pub(crate) fn note(&mut self, parameter: &str) {
        match parameter {
            "sslmode" | "ssl-mode" => self.mode = true,
            "sslrootcert" | "ssl-root-cert" | "ssl-ca" => self.roots = true,
            _ => {}
        }
    }

    /// Completes what is not said: who listens on the way to another machine must not read along.
    pub(crate) fn applied_to(self, server: PgConnectOptions) -> PgConnectOptions {
        let Self { mode, roots } = self;
        let given = server.get_ssl_mode();
        let mode = match (mode, roots, reach(&server)) {
            // As with libpq. The server would refuse, after a round trip.
            (_, _, Reach::Socket) => PgSslMode::Disable,
            // As with libpq. The driver would not look at the certificate.
            (true, true, _) if matches!(given, PgSslMode::Require) => PgSslMode::VerifyCa,
            (true, _, _) => given,
            (false, true, _) => PgSslMode::VerifyFull,
            (false, false, Reach::Loopback) => PgSslMode::Prefer,
            (false, false, Reach::Network) => PgSslMode::Require,
        };
        server.ssl_mode(mode)
    }
}

/// The way to a server.
enum Reach {
    Socket,
    Loopback,
    Network,
}

fn reach(server: &PgConnectOptions) -> Reach {
    let host = server.get_host();
    let is_loopback = host.eq_ignore_ascii_case("localhost")
        || host
            .parse()
            .is_ok_and(|address: IpAddr| address.is_loopback());
    match server.get_socket().is_some() || host.starts_with('/') {
        true => Reach::Socket,
        false if is_loopback => Reach::Loopback,
        false => Reach::Network,
    }
}

#[cfg(test)]
mod tests {
    use crate::addresses::Addresses;

    fn modes(url: &str) -> Vec<String> {
        let addresses: Addresses = url.parse().unwrap();
        let modes = addresses.servers.iter().map(|server| server.get_ssl_mode());
        modes.map(|mode| format!("{mode:?}")).collect()
    }

    #[test]
    fn tls_is_required_off_loopback_unless_the_url_says_otherwise() {
        for (url, expected) in [
            ("postgres://u@db/ucp", &["Require"][..]),
            ("postgres://u@10.0.0.1:5432/ucp", &["Require"]),
            ("postgres://u@0.0.0.0/ucp", &["Require"]),
            ("postgres://u@[fd00::1]/ucp", &["Require"]),
            ("postgres://u@127.0.0.1.example.com/ucp", &["Require"]),
            ("postgres://u@localhost/ucp", &["Prefer"]),
            ("postgres://u@127.0.0.2/ucp", &["Prefer"]),
            ("postgres://u@[::1]/ucp", &["Prefer"]),
            ("postgres://u@%2Ftmp/ucp", &["Disable"]),
            ("postgres://u@localhost/ucp?host=/tmp", &["Disable"]),
            (
                "postgres://u@localhost/ucp?host=/tmp&sslmode=require",
                &["Disable"],
            ),
            ("postgres://u@localhost,db/ucp", &["Prefer", "Require"]),
            (
                "postgres://u@localhost/ucp?host=/tmp,db",
                &["Disable", "Require"],
            ),
            ("postgres://u@db/ucp?sslmode=disable", &["Disable"]),
            ("postgres://u@db/ucp?sslmode=prefer", &["Prefer"]),
            ("postgres://u@localhost/ucp?sslmode=require", &["Require"]),
            ("postgres://u@db/ucp?sslmode=verify-ca", &["VerifyCa"]),
            ("postgres://u@db/ucp?sslmode=verify-full", &["VerifyFull"]),
            ("postgres://u@db/ucp?sslrootcert=/ca.pem", &["VerifyFull"]),
            (
                "postgres://u@localhost/ucp?sslrootcert=/ca.pem",
                &["VerifyFull"],
            ),
            (
                "postgres://u@db/ucp?sslrootcert=/ca.pem&sslmode=require",
                &["VerifyCa"],
            ),
            (
                "postgres://u@db/ucp?sslrootcert=/ca.pem&sslmode=disable",
                &["Disable"],
            ),
        ] {
            assert_eq!(modes(url), expected, "{url}");
        }
    }

    #[test]
    fn a_mode_that_does_not_exist_is_refused() {
        let error = "postgres://u@db/ucp?sslmode=yes".parse::<Addresses>();
        let error = error.unwrap_err().to_string();
        assert!(error.contains("ssl_mode"), "{error}");
    }
}
