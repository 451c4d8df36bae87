//! `ucp catalog`: what a service broker with these offerings would offer.

use std::process::ExitCode;

use crate::broker::read_offerings;
use crate::cli::Catalog;
use crate::types;

/// Prints the catalog of all offerings, as a platform is shown it, or what is wrong with them. What is good to know goes to
/// stderr, so that stdout is JSON.
pub(crate) fn run(arguments: &Catalog) -> anyhow::Result<ExitCode> {
    let catalogue = types::catalogue(&arguments.types)?;
    match read_offerings(&arguments.folder, &catalogue)? {
        Ok(offerings) => {
            for note in offerings.notes() {
                ucp_cli::tell(note);
            }
            let catalog = offerings.catalog(|_| true);
            let catalog = serde_json::to_string_pretty(&catalog)?;
            ucp_cli::print(&format!("{catalog}\n"))?;
            Ok(ExitCode::SUCCESS)
        }
        Err(problems) => {
            for problem in problems {
                ucp_cli::tell(problem);
            }
            Ok(ExitCode::FAILURE)
        }
    }
}
