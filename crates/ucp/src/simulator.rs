//! `ucp simulator`, and the simulated AWS inside `ucp dev`.

use std::sync::Arc;

use anyhow::Context;
use ucp_api::AllowedHosts;
use ucp_model::{Entropy, SeededEntropy};
use ucp_schema::Catalogue;
use ucp_simulator::faults::Fault;

use crate::ambient::{OsEntropy, SystemClock};
use crate::cli::{SimulatedAws, Simulator};
use crate::node::listen;
use crate::{shutdown, types};

pub(crate) async fn run(arguments: Simulator) -> anyhow::Result<()> {
    let allowed_hosts = AllowedHosts::loopback_and(arguments.allowed_hosts);
    let catalogue = types::catalogue(&arguments.types)?;
    let simulator = new(catalogue, &arguments.aws, allowed_hosts)?;
    let listener = listen(arguments.listen, "--listen").await?;
    ucp_cli::print(&format!(
        "The simulated AWS listens on http://{}\n",
        listener.local_addr()?
    ))?;
    simulator
        .serve(listener, shutdown::requested(shutdown::on_signal()?))
        .await;
    Ok(())
}

/// Builds a simulated AWS from the arguments.
pub(crate) fn new(
    catalogue: Catalogue,
    aws: &SimulatedAws,
    allowed_hosts: AllowedHosts,
) -> anyhow::Result<ucp_simulator::Simulator> {
    let profile = ucp_simulator::Profile::from(aws.profile);
    let usual = profile.settings().latency;
    let least = aws.simulator_latency_min.unwrap_or_else(|| *usual.start());
    let most = aws.simulator_latency_max.unwrap_or_else(|| *usual.end());
    anyhow::ensure!(
        least <= most,
        "--simulator-latency-min is longer than --simulator-latency-max"
    );
    let settings = ucp_simulator::Settings {
        latency: least..=most,
        allowed_hosts,
    };
    let entropy: Arc<dyn Entropy> = match aws.simulator_seed {
        Some(seed) => Arc::new(SeededEntropy::new(seed)),
        None => Arc::new(OsEntropy),
    };
    let simulator =
        ucp_simulator::Simulator::new(catalogue, settings, Arc::new(SystemClock), entropy);
    for fault in &aws.simulator_faults {
        let fault: Fault = serde_json::from_str(fault).context("--simulator-fault")?;
        simulator.add_fault(fault);
    }
    // A call is affected by the first fault of a kind.
    for fault in profile.faults() {
        simulator.add_fault(fault);
    }
    Ok(simulator)
}
