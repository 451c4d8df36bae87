use clap::Args;
use serde_json::json;
use ucp_client::Client;
use ucp_model::TypeName;
use ucp_schema::Catalogue;

use super::place::Place;
use crate::outcome::Outcome;
use crate::output::{self, Output};
use crate::server::Server;

/// What is said where nobody knows the account.
pub(super) const BUILT_IN: &str = "This is built into this ucp. With --account and --region, the server tells what there is in them, private types \
     too.";

/// The arguments of `ucp types`.
#[derive(Debug, Args)]
pub struct Types {
    /// Only types whose names contain this, in any letter case.
    word: Option<String>,
    /// Where the types are, as the server knows them. Without them, the types that are built into this ucp.
    #[command(flatten)]
    place: Place,
    #[command(flatten)]
    output: Output,
    #[command(flatten)]
    server: Server,
}

impl Types {
    pub(super) async fn run(self) -> anyhow::Result<Outcome> {
        let names = match self.place.scope() {
            Some(scope) => of_server(&scope, &self.server.client()?).await?,
            None => {
                output::tell(BUILT_IN);
                let catalogue = Catalogue::embedded();
                catalogue.type_names().map(TypeName::arm).collect()
            }
        };
        let found: Vec<String> = names
            .into_iter()
            .filter(|name| is_meant(name, self.word.as_deref()))
            .collect();
        if self.output.is_json() {
            output::print_json(&json!(found))?
        } else {
            let lines = found.iter().map(|name| format!("{name}\n"));
            output::print(&lines.collect::<String>())?;
        }
        Ok(Outcome::Done)
    }
}

/// The types that the server knows in an account and region.
async fn of_server(scope: &str, client: &Client) -> anyhow::Result<Vec<String>> {
    let providers = client.list(&format!("{scope}/providers?top=1000")).await?;
    let types = providers.iter().flat_map(|provider| {
        let namespace = provider["name"].as_str().unwrap_or_default();
        let names = provider["resourceTypes"].as_object();
        let names = names.into_iter().flat_map(|types| types.keys());
        names.map(move |name| format!("{namespace}/{name}"))
    });
    Ok(types.collect())
}

/// Whether the name of a type contains a word, in either spelling.
fn is_meant(name: &str, word: Option<&str>) -> bool {
    let folded = |text: &str| {
        text.to_ascii_lowercase()
            .replace("::", ".")
            .replace('/', ".")
    };
    word.is_none_or(|word| folded(name).contains(&folded(word)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_word_is_found_in_any_spelling() {
        for word in ["vpc", "EC2/V", "aws::ec2::vpc", "AWS.EC2"] {
            assert!(is_meant("AWS.EC2/VPC", Some(word)), "{word}");
        }
        assert!(!is_meant("AWS.EC2/VPC", Some("subnet")));
        assert!(is_meant("AWS.EC2/VPC", None));
    }
}
