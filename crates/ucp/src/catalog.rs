//! `ucp catalog`: what a service broker with these offerings would offer.

use crate::broker::read_offerings;
use crate::cli::Catalog;
use crate::types;

/// Returns the catalog of all offerings, as a platform is shown it.
pub(crate) fn shown(arguments: &Catalog) -> anyhow::Result<String> {
    let catalogue = types::catalogue(&arguments.types)?;
    let offerings = read_offerings(&arguments.folder, &catalogue)?;
    let catalog = offerings.catalog(|_| true);
    Ok(format!("{}\n", serde_json::to_string_pretty(&catalog)?))
}
