//! `ucp dev`: API, workers, SQLite and a simulated AWS in one process.

use std::io;
use std::net::SocketAddr;
use std::os::unix::fs::{DirBuilderExt, PermissionsExt};
use std::path::PathBuf;
use std::sync::Arc;

use anyhow::Context;
use tokio::sync::watch;
use ucp_api::AllowedHosts;
use ucp_app::Roles;
use ucp_cloud_aws::SigningCredentials;
use ucp_store_sql::Sql;

use crate::accounts::CREDENTIAL_MAX_AGE;
use crate::ambient::OsEntropy;
use crate::cli::Dev;
use crate::config::Config;
use crate::node::{Node, listen};
use crate::rights::Rights;
use crate::{access, broker, core_dumps, demo, dev_token, keys, shutdown, simulator, types};

pub(crate) async fn run(arguments: Box<Dev>) -> anyhow::Result<()> {
    core_dumps::prevent();
    let signalled = shutdown::on_signal()?;
    let data_dir = &arguments.data_dir;
    std::fs::DirBuilder::new()
        .recursive(true)
        .mode(0o700)
        .create(data_dir)
        .with_context(|| format!("cannot create {}", data_dir.display()))?;
    let permissions = std::fs::metadata(data_dir)?.permissions();
    if permissions.mode() & 0o077 != 0 {
        tracing::warn!(
            file.path = %data_dir.display(),
            "other users can list the data directory; chmod 700 keeps them out"
        );
    }
    let config = Config::read(arguments.config.as_deref())?;
    let rights = Rights::default().with(config.grants, config.denied);
    let has_grants = !rights.grants.is_empty();
    let sealing = keys::of_data_dir(data_dir, &OsEntropy)?;
    let catalogue = types::catalogue(&arguments.types)?;
    let broker = broker::started(config.broker, arguments.config.as_deref(), &catalogue)?;
    let store = Sql::open_sqlite(data_dir.join("ucp.db")).await;
    let store =
        store.with_context(|| format!("cannot open the database in {}", data_dir.display()))?;
    let store = store.sealed_with(keys::cipher(&sealing));
    let token = dev_token::of_data_dir(data_dir, &store).await?;
    let listener = listen(arguments.listen, "--listen").await?;
    let broker_listener = match arguments.broker_listen {
        Some(address) => Some(listen(address, "--broker-listen").await?),
        None => None,
    };
    let aws_listener = listen(arguments.simulator_listen, "--simulator-listen").await?;
    let (address, aws_address) = (listener.local_addr()?, aws_listener.local_addr()?);

    let _noted = dev_token::note_server(data_dir, address)?;
    let url = format!("http://{address}{}", arguments.path_base);

    let simulated = simulator::new(
        catalogue.clone(),
        &arguments.aws,
        AllowedHosts::loopback_and([]),
    )?;
    let (stop, stopped) = watch::channel(false);
    let simulating =
        tokio::spawn(simulated.serve(aws_listener, shutdown::requested(stopped.clone())));
    let aws = ucp_cloud_aws::Settings {
        endpoint_url: Some(format!("http://{aws_address}")),
        credentials: SigningCredentials::AccountAsAccessKey,
        web_identity_token_file: PathBuf::new(),
        credential_max_age: CREDENTIAL_MAX_AGE,
        call_timeout: arguments.work.call_timeout,
    };
    let store = Arc::new(store);
    let node = Node {
        store: store.clone(),
        aws,
        default_tags: config.default_tags,
        pacing: config.pacing,
        // Nothing is signed with them.
        roles: Roles::of(&["*".to_owned()]),
        access: rights,
        broker,
        catalogue,
        schema_source: arguments.schema_source.into(),
        sealing,
        clients: arguments.clients,
        audit: arguments.audit,
        work: arguments.work,
        retry_after: arguments.retry_after,
        authentication: ucp_authentication::Settings {
            required: !access::is_loopback(arguments.listen) || has_grants,
            ..Default::default()
        },
        oidc: None,
        allowed_hosts: AllowedHosts::loopback_and([]),
        path_base: arguments.path_base,
        listener: Some(listener),
        tls: None,
        in_clear: !access::is_loopback(arguments.listen),
        broker_listener,
        probe_listener: None,
        works: true,
    };
    introduce(address, &url, aws_address)?;
    let running = tokio::spawn(node.run(stopped));
    let told = async {
        if arguments.demo {
            demo::run(url, &token).await
        } else {
            std::future::pending().await
        }
    };
    let outcome = tokio::select! {
        () = shutdown::requested(signalled) => Ok(()),
        told = told => told,
    };
    stop.send_replace(true);
    let ran = running.await?;
    shutdown::close(&store).await;
    ran?;
    simulating.await?;
    outcome
}

fn introduce(address: SocketAddr, url: &str, aws_address: SocketAddr) -> io::Result<()> {
    ucp_cli::print(&format!(
        r#"ucp listens on http://{address} (described at http://{address}/docs)
a simulated AWS listens on http://{aws_address}

Create a resource group, put a VPC into it under an alias, and list the group:

  curl -X PUT -H 'Content-Type: application/json' -d '{{"location":"global"}}' '{url}/planes/radius/local/resourceGroups/demo?api-version=2023-10-01-preview'
  curl -i -d '{{"alias":"my-vpc","trackedBy":"/planes/radius/local/resourceGroups/demo/providers/AWS.EC2/VPC:reference/my-vpc","properties":{{"CidrBlock":"10.0.0.0/16"}}}}' '{url}/planes/aws/aws/accounts/123456789012/regions/us-west-2/providers/AWS.EC2/VPC/:put'
  curl '{url}/planes/radius/local/resourceGroups/demo?api-version=2023-10-01-preview'

Run the second command again: there is still only one VPC. Press Ctrl-C to stop.

"#
    ))
}
