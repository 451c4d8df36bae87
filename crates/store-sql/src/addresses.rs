//! The URL of a Postgres database, with one or several servers, as libpq takes it.

use std::str::FromStr;

use sqlx::Error;
use sqlx::postgres::PgConnectOptions;

use crate::security::Said;

/// What a URL says.
#[derive(Debug)]
pub(crate) struct Addresses {
    /// How to connect to each server, in the order of the URL. There is at least one.
    pub(crate) servers: Vec<PgConnectOptions>,
    /// Whether a pooler that hands out connections by transaction is in between; `None` if the URL does not say.
    pub(crate) pooler: Option<bool>,
}

impl FromStr for Addresses {
    type Err = Error;

    fn from_str(url: &str) -> Result<Self, Error> {
        let (scheme, rest) = url
            .split_once("://")
            .ok_or_else(|| wrong("It has no ://"))?;
        let (location, query) = rest.split_once('?').unwrap_or((rest, ""));
        let (authority, path) = match location.find('/') {
            Some(at) => location.split_at(at),
            None => (location, ""),
        };
        let (user, hosts) = match authority.rfind('@') {
            Some(at) => authority.split_at(at + 1),
            None => ("", authority),
        };
        let query = Query::read(query)?;

        let hosts: Vec<&str> = hosts.split(',').collect();
        let named = query.hosts.len().max(1);
        if query.ports.len() > 1 && query.ports.len() != named {
            return Err(wrong("It has another number of ports than of hosts"));
        }
        if hosts.len() > 1 && !query.hosts.is_empty() {
            return Err(wrong("It names hosts twice"));
        }
        let servers = hosts.into_iter().flat_map(|host| {
            let query = &query;
            (0..named).map(move |at| {
                let query = query.of_server(at);
                PgConnectOptions::from_str(&format!("{scheme}://{user}{host}{path}?{query}"))
            })
        });
        let servers = servers.map(|server| Ok(query.said.applied_to(without_brackets(server?))));
        Ok(Self {
            servers: servers.collect::<Result<_, Error>>()?,
            pooler: query.pooler,
        })
    }
}

/// The parameters of a URL.
struct Query<'a> {
    hosts: Vec<String>,
    ports: Vec<String>,
    pooler: Option<bool>,
    /// What it says of TLS.
    said: Said,
    /// Those that the driver knows.
    others: Vec<&'a str>,
}

impl<'a> Query<'a> {
    fn read(text: &'a str) -> Result<Self, Error> {
        let mut query = Self {
            hosts: Vec::new(),
            ports: Vec::new(),
            pooler: None,
            said: Said::in_environment(),
            others: Vec::new(),
        };
        for parameter in text.split('&').filter(|parameter| !parameter.is_empty()) {
            let (name, value) = parameter.split_once('=').unwrap_or((parameter, ""));
            match name {
                "host" => query.hosts = list(value),
                "port" => query.ports = list(value),
                "pgbouncer" => {
                    let given = value.parse();
                    query.pooler = Some(given.map_err(|_| wrong("pgbouncer takes true or false"))?);
                }
                "target_session_attrs" => match value {
                    // Only such a server is of use, whatever is asked for.
                    "any" | "read-write" | "primary" => {}
                    _ => {
                        return Err(wrong(
                            "ucp writes, so that target_session_attrs takes read-write, primary or any",
                        ));
                    }
                },
                _ => {
                    query.said.note(name);
                    query.others.push(parameter);
                }
            }
        }
        Ok(query)
    }

    /// Returns the query of the URL of one server.
    fn of_server(&self, at: usize) -> String {
        let host = self.hosts.get(at).map(|host| format!("host={host}"));
        let port = self.ports.get(at).or_else(|| self.ports.first());
        let port = port.map(|port| format!("port={port}"));
        let others = self.others.iter().map(|parameter| (*parameter).to_owned());
        let parameters: Vec<String> = others.chain(host).chain(port).collect();
        parameters.join("&")
    }
}

/// The driver takes the address of a URL with its brackets, and can then neither reach it nor compare a certificate with it.
fn without_brackets(server: PgConnectOptions) -> PgConnectOptions {
    let host = server.get_host();
    let address = host
        .strip_prefix('[')
        .and_then(|host| host.strip_suffix(']'));
    match address.map(str::to_owned) {
        Some(address) => server.host(&address),
        None => server,
    }
}

/// Returns the elements of a list, between commas that may be escaped.
fn list(value: &str) -> Vec<String> {
    let value = value.replace("%2C", ",").replace("%2c", ",");
    value.split(',').map(str::to_owned).collect()
}

fn wrong(what: &str) -> Error {
    Error::Configuration(format!("The URL of the database cannot be used. {what}.").into())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns the servers of a URL, as host or folder and port.
    fn servers(url: &str) -> Vec<String> {
        let addresses: Addresses = url.parse().unwrap();
        let servers = addresses.servers.iter().map(|server| {
            let folder = server
                .get_socket()
                .map(|folder| folder.display().to_string());
            let host = folder.unwrap_or_else(|| server.get_host().to_owned());
            assert_eq!(server.get_database(), Some("db"), "{url}");
            assert_eq!(server.get_username(), "u", "{url}");
            format!("{host}:{}", server.get_port())
        });
        servers.collect()
    }

    #[test]
    fn a_url_names_one_server_or_several() {
        for (url, expected) in [
            ("postgres://u@one/db", &["one:5432"][..]),
            ("postgres://u:p%40@one:1/db?sslmode=disable", &["one:1"]),
            (
                "postgresql://u:p@one:1,two,[::1]:3/db?target_session_attrs=read-write",
                &["one:1", "two:5432", "::1:3"],
            ),
            (
                "postgres://u@%2Ftmp%2Fa:7,%2Ftmp%2Fb:8/db",
                &["/tmp/a:7", "/tmp/b:8"],
            ),
            (
                "postgres://u@/db?host=/tmp/a,/tmp/b&port=7,8",
                &["/tmp/a:7", "/tmp/b:8"],
            ),
            (
                "postgres://u@/db?host=one%2Ctwo&port=7",
                &["one:7", "two:7"],
            ),
        ] {
            let url = url.replace("u@/db?", "u@localhost/db?");
            assert_eq!(servers(&url), expected, "{url}");
        }
    }

    #[test]
    fn a_url_says_whether_there_is_a_pooler() {
        for (query, expected) in [
            ("", None),
            ("?pgbouncer=true", Some(true)),
            ("?sslmode=prefer&pgbouncer=false", Some(false)),
        ] {
            let addresses: Addresses = format!("postgres://u@one/db{query}").parse().unwrap();
            assert_eq!(addresses.pooler, expected, "{query}");
        }
    }

    #[test]
    fn a_url_that_cannot_be_used_says_why() {
        for (url, expected) in [
            ("postgres:one", "no ://"),
            ("postgres://one/db?pgbouncer=yes", "true or false"),
            (
                "postgres://one/db?target_session_attrs=standby",
                "ucp writes",
            ),
            ("postgres://one,two/db?host=three", "names hosts twice"),
            ("postgres://one/db?host=a,b,c&port=1,2", "number of ports"),
        ] {
            let error = url.parse::<Addresses>().unwrap_err().to_string();
            assert!(error.contains(expected), "{url}: {error}");
        }
    }
}
