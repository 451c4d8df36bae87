//! `ucp serve` and `ucp migrate`.

use std::sync::Arc;

use anyhow::{Context, bail};
use ucp_api::AllowedHosts;
use ucp_app::Roles;
use ucp_cloud_aws::{Accounts, SigningCredentials};
use ucp_store_sql::Sql;

use crate::accounts::CREDENTIAL_MAX_AGE;
use crate::cli::{Role, Serve};
use crate::config::Config;
use crate::node::{self, Node};
use crate::{access, broker, core_dumps, keys, rights, shutdown, types};

pub(crate) async fn run(arguments: Box<Serve>) -> anyhow::Result<()> {
    core_dumps::prevent();
    let shutdown = shutdown::on_signal()?;
    let config = Config::read(arguments.config.as_deref())?;
    let sealing = keys::given(&arguments.keys)?;
    let catalogue = types::catalogue(&arguments.types)?;
    let broker = broker::started(config.broker, arguments.config.as_deref(), &catalogue)?;
    let aws = ucp_cloud_aws::Settings {
        endpoint_url: arguments.aws_endpoint_url.filter(|url| !url.is_empty()),
        credentials: SigningCredentials::PerAccount(Accounts {
            by_id: config.accounts,
            verify: arguments.verify_account,
        }),
        web_identity_token_file: arguments.web_identity_token_file,
        credential_max_age: CREDENTIAL_MAX_AGE,
        call_timeout: arguments.work.call_timeout,
    };
    let tls = access::tls(&arguments.access)?;
    let granted = arguments.rights.with(config.grants, config.denied);
    let mut authentication = arguments.access.authentication(arguments.listen);
    // Nobody could be told from anybody else.
    authentication.required |= !granted.grants.is_empty();
    let listen_url = arguments.database_listen_url.filter(|url| !url.is_empty());
    let opening = open(&arguments.database_url, listen_url.as_deref());
    let store = tokio::select! {
        store = opening => store?.sealed_with(keys::cipher(&sealing)),
        () = shutdown::requested(shutdown.clone()) => return Ok(()),
    };
    rights::warn(&granted);
    let serves = arguments.roles.contains(&Role::Api);
    let api_address = Some(arguments.listen).filter(|_| serves && authentication.required);
    let broker_address = arguments.broker_listen.or(Some(arguments.listen));
    let broker_address = broker_address.filter(|_| serves && broker.is_some());
    let in_clear = arguments.access.is_in_clear(&[api_address, broker_address]);
    if arguments.work.quota_caller_plans.is_some() {
        tracing::warn!(
            "--quota-caller-plans has no effect any more: use --quota-caller-plan-bytes and --quota-group-plan-bytes"
        );
    }
    if in_clear {
        tracing::warn!(
            "tokens and passwords travel in clear to this server: give it a certificate with --tls-cert, or say with --tls-at-proxy that a proxy in front of it speaks TLS"
        );
    }
    let listener = if arguments.roles.contains(&Role::Api) {
        access::warn(&authentication, arguments.listen);
        let listener = node::listen(arguments.listen, "--listen").await?;
        tracing::info!(listen.address = %listener.local_addr()?, "listening");
        Some(listener)
    } else {
        tracing::info!("working without an API");
        None
    };
    let store = Arc::new(store);
    let probe_listener = match arguments.probe_listen {
        Some(address) => {
            let listener = node::listen(address, "--probe-listen").await?;
            tracing::info!(probe.address = %listener.local_addr()?, "listening for probes");
            Some(listener)
        }
        None => None,
    };
    let broker_listen = arguments.broker_listen;
    let broker_listener = match broker_listen.filter(|_| serves && broker.is_some()) {
        Some(address) => {
            let listener = node::listen(address, "--broker-listen").await?;
            tracing::info!(broker.address = %listener.local_addr()?, "listening for platforms");
            Some(listener)
        }
        None => None,
    };
    let node = Node {
        store: store.clone(),
        aws,
        default_tags: config.default_tags,
        pacing: config.pacing,
        roles: Roles::of(&arguments.allowed_roles),
        access: granted,
        broker,
        catalogue,
        schema_source: arguments.schema_source.into(),
        sealing,
        clients: arguments.clients,
        audit: arguments.audit,
        work: arguments.work,
        retry_after: arguments.retry_after,
        authentication,
        oidc: arguments.access.oidc.settings(),
        allowed_hosts: AllowedHosts::loopback_and(arguments.allowed_hosts),
        path_base: arguments.path_base,
        listener,
        tls,
        in_clear,
        broker_listener,
        probe_listener,
        works: arguments.roles.contains(&Role::Worker),
    };
    let outcome = node.run(shutdown).await;
    shutdown::close(&store).await;
    outcome
}

pub(crate) async fn migrate(database_url: &str) -> anyhow::Result<()> {
    open(database_url, None).await?;
    ucp_cli::print("The database is up to date.\n")?;
    Ok(())
}

/// Opens the store and applies migrations.
async fn open(url: &str, listen_url: Option<&str>) -> anyhow::Result<Sql> {
    match Location::of(url)? {
        Location::Sqlite(path) => {
            if listen_url.is_some() {
                bail!("--database-listen-url is for Postgres");
            }
            Sql::open_sqlite(path)
                .await
                .with_context(|| format!("cannot open the database {path}"))
        }
        Location::Postgres(url) => connect(url, listen_url).await,
    }
}

/// Opens a store that running servers may be using.
pub(crate) async fn join(url: &str) -> anyhow::Result<Sql> {
    match Location::of(url)? {
        Location::Sqlite(path) => Sql::join_sqlite(path)
            .await
            .with_context(|| format!("cannot open the database {path}")),
        Location::Postgres(url) => connect(url, None).await,
    }
}

async fn connect(url: &str, listen_url: Option<&str>) -> anyhow::Result<Sql> {
    Sql::connect_postgres_and_listen(url, listen_url)
        .await
        .context("cannot open the Postgres database")
}

/// The database that a URL names.
enum Location<'a> {
    Sqlite(&'a str),
    Postgres(&'a str),
}

impl<'a> Location<'a> {
    fn of(url: &'a str) -> anyhow::Result<Self> {
        if let Some(path) = url.strip_prefix("sqlite://") {
            return Ok(Location::Sqlite(path));
        }
        if url.starts_with("postgres://") || url.starts_with("postgresql://") {
            return Ok(Location::Postgres(url));
        }
        bail!("--database-url must start with postgres:// or sqlite://")
    }
}
