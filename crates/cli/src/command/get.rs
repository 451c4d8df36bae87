use clap::Args;
use serde_json::Value;
use ucp_client::{API_VERSION, Client};

use crate::id::{self, Group, ResourceId};
use crate::outcome::Outcome;
use crate::output::{self, Output};
use crate::render::table::table;
use crate::server::Server;

/// How many items of a list are asked for at once, the most that the server allows.
const PAGE: &str = "top=1000";
/// The groups of the plane in which groups without a plane are.
const GROUPS: &str = "/planes/radius/local/resourceGroups";

/// The arguments of `ucp get`.
#[derive(Debug, Args)]
pub struct Get {
    /// The id of a reference, which is its trackedBy, of a resource, or of a list of them. By default the resources of
    /// --group; without that, the resource groups.
    #[arg(conflicts_with = "group")]
    id: Option<ResourceId>,
    /// The resource group: a name, or an id.
    #[arg(short, long)]
    group: Option<Group>,
    #[command(flatten)]
    output: Output,
    #[command(flatten)]
    server: Server,
}

impl Get {
    pub(super) async fn run(self) -> anyhow::Result<Outcome> {
        let client = self.server.client()?;
        let found = match (&self.id, &self.group) {
            (Some(id), _) => one_or_list(&id.to_string(), id.is_group(), &client).await?,
            (None, Some(group)) => one_or_list(&group.to_string(), true, &client).await?,
            (None, None) => {
                let path = format!("{GROUPS}?{API_VERSION}&{PAGE}");
                Value::Array(client.list(&path).await?)
            }
        };
        if self.output.is_json() {
            output::print_json(&found)?
        } else {
            output::print(&rendered(&found))?
        }
        Ok(Outcome::Done)
    }
}

/// Reads what an id stands for: the resources of a group, all pages of a list, or a resource.
async fn one_or_list(id: &str, is_group: bool, client: &Client) -> anyhow::Result<Value> {
    if is_group {
        let path = format!("{id}/resources?{API_VERSION}&{PAGE}");
        return Ok(Value::Array(client.list(&path).await?));
    }
    let found = client.get(id).await?.body;
    if found["value"].is_array() {
        Ok(Value::Array(client.list_from(found).await?))
    } else {
        Ok(found)
    }
}

/// The table of a resource, or of several.
pub(super) fn rendered(found: &Value) -> String {
    let items = match found {
        Value::Array(items) => &items[..],
        one => std::slice::from_ref(one),
    };
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let are_references = items.iter().any(|item| item["mapsTo"].is_object());
    let row = |item: &Value| {
        let kind = text(&item["type"]);
        let kind = kind.trim_end_matches(":reference").to_owned();
        if are_references {
            vec![
                text(&item["name"]),
                kind,
                text(&item["mapsTo"]["primaryIdentifier"]),
                text(&item["provisioningState"]),
                if item["ownedResource"] == true {
                    "yes".to_owned()
                } else {
                    "no".to_owned()
                },
            ]
        } else {
            let id = text(&item["id"]);
            let name = item["name"].as_str();
            vec![name.unwrap_or_else(|| id::last(&id)).to_owned(), kind, id]
        }
    };
    let rows: Vec<Vec<String>> = items.iter().map(row).collect();
    if are_references {
        table(&["NAME", "TYPE", "IDENTIFIER", "STATE", "OWNED"], &rows)
    } else {
        table(&["NAME", "TYPE", "ID"], &rows)
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn references_show_what_they_stand_for() {
        let reference = json!({"name": "net", "type": "AWS.EC2/VPC:reference", "ownedResource": true,
            "mapsTo": {"scope": "/s", "primaryIdentifier": "vpc-1"}, "provisioningState": "Succeeded"});
        assert_eq!(
            rendered(&reference),
            "NAME  TYPE         IDENTIFIER  STATE      OWNED\nnet   AWS.EC2/VPC  vpc-1       Succeeded  yes\n"
        );
    }

    #[test]
    fn resources_show_their_ids() {
        let resource = json!([{"name": "a", "type": "AWS.Logs/LogGroup", "id": "/planes/x/a"}]);
        assert_eq!(
            rendered(&resource),
            "NAME  TYPE               ID\na     AWS.Logs/LogGroup  /planes/x/a\n"
        );
        assert_eq!(rendered(&json!([])), "NAME  TYPE  ID\n");
    }
}
