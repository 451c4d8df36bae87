use std::collections::BTreeMap;

use anyhow::{Context, bail};
use clap::Args;
use serde_json::{Value, json};
use ucp_model::{TypeName, pointer};
use ucp_schema::{Catalogue, Property, PropertyPath, ResourceSchema};

use super::place::Place;
use super::types::BUILT_IN;
use crate::outcome::Outcome;
use crate::output::{self, Output};
use crate::render::readable;
use crate::render::table::table;
use crate::server::Server;

/// The arguments of `ucp explain`.
#[derive(Debug, Args)]
pub struct Explain {
    /// The resource type, AWS.EC2/VPC or AWS::EC2::VPC, and the path of a property in it, such as AWS.EC2/VPC/Tags.
    #[arg(value_name = "TYPE[/PATH]", value_parser = Subject::parse)]
    subject: Subject,
    /// Where the type is, as the server knows it. Without them, the type that is built into this ucp.
    #[command(flatten)]
    place: Place,
    #[command(flatten)]
    output: Output,
    #[command(flatten)]
    server: Server,
}

/// What is to be explained.
#[derive(Clone, Debug)]
struct Subject {
    type_name: TypeName,
    /// The names on the way to a property, without the `*` of lists.
    path: Vec<String>,
}

impl Subject {
    fn parse(text: &str) -> Result<Self, String> {
        let (name, path) = if text.contains("::") {
            text.split_once('/').unwrap_or((text, ""))
        } else {
            match text.match_indices('/').nth(1) {
                Some((at, _)) => (&text[..at], &text[at + 1..]),
                None => (text, ""),
            }
        };
        let type_name = TypeName::parse(name).map_err(|error| error.to_string())?;
        let names = path.split('/').filter(|name| !matches!(*name, "" | "*"));
        let path = names.map(pointer::unescape).collect();
        Ok(Self { type_name, path })
    }
}

impl Explain {
    pub(super) async fn run(self) -> anyhow::Result<Outcome> {
        let Subject { type_name, path } = &self.subject;
        let built_in = Catalogue::embedded().get(type_name);
        let mut told = match self.place.scope() {
            // Only the server knows private types, and what AWS has added to others.
            Some(scope) => {
                let (namespace, name) = (type_name.namespace(), type_name.resource());
                let url = format!("{scope}/providers/{namespace}/resourceTypes/{name}");
                self.server.client()?.get(&url).await?.body
            }
            None => {
                output::tell(BUILT_IN);
                let schema = built_in.as_deref().with_context(|| unknown(type_name))?;
                described(schema)
            }
        };
        narrow(&mut told, path, built_in.as_deref())?;
        if self.output.is_json() {
            output::print_json(&told)?
        } else {
            output::print(&rendered(&told, path))?
        }
        Ok(Outcome::Done)
    }
}

fn unknown(type_name: &TypeName) -> String {
    let meant = Catalogue::embedded().suggest(type_name);
    let meant = meant.map_or_else(String::new, |meant| {
        format!(" Did you mean {}?", meant.arm())
    });
    format!("{} is not built into this ucp.{meant}", type_name.arm())
}

/// Describes a type in the words of the server.
fn described(schema: &ResourceSchema) -> Value {
    let identifier = schema.primary_identifier().iter();
    let identifier: Vec<String> = identifier.map(PropertyPath::to_string).collect();
    json!({
        "type": schema.type_name().arm(),
        "typeName": schema.type_name().as_str(),
        "handlers": schema.operations(),
        "primaryIdentifier": identifier,
        "tagProperty": schema.tag_property().map(|path| path.to_string()),
        "properties": schema.outline().map(property).collect::<Vec<Value>>(),
    })
}

fn property(property: Property<'_>) -> Value {
    json!({
        "path": property.path.to_string(),
        "types": property.types,
        "classes": property.classes,
        "required": property.is_required,
    })
}

/// Leaves only what is at a path and below it. The server tells of the properties in others only those that have a class;
/// the rest comes from the built-in schema of the type, if there is one.
fn narrow(
    told: &mut Value,
    path: &[String],
    built_in: Option<&ResourceSchema>,
) -> anyhow::Result<()> {
    if path.is_empty() {
        return Ok(());
    }
    let listed = told["properties"].as_array().cloned().unwrap_or_default();
    let listed = listed
        .into_iter()
        .filter(|property| names(property).starts_with(path));
    let names: Vec<&str> = path.iter().map(String::as_str).collect();
    let members = built_in.and_then(|schema| schema.members_at(&names));
    let members = members.into_iter().flatten().map(property);
    // What the server says of a property counts.
    let all: BTreeMap<String, Value> = members
        .chain(listed)
        .map(|property| (property["path"].to_string(), property))
        .collect();
    if all.is_empty() {
        let (name, path) = (&told["type"], path.join("/"));
        bail!(
            "{} has no property {}; `ucp explain {0}` lists all",
            readable(name.as_str().unwrap_or_default()),
            readable(&path)
        );
    }
    told["properties"] = all.into_values().collect();
    Ok(())
}

/// The names on the way to a property, without the `*` of lists.
fn names(property: &Value) -> Vec<String> {
    let path = property["path"].as_str().unwrap_or_default();
    let path = path.strip_prefix("/properties/").unwrap_or(path);
    let names = path.split('/').filter(|name| *name != "*");
    names.map(pointer::unescape).collect()
}

/// What a type has, for people.
fn rendered(told: &Value, path: &[String]) -> String {
    let mut out = String::new();
    let mut line = |label: &str, text: &str| {
        if !text.is_empty() {
            out.push_str(&format!("{label}{}\n", readable(text)));
        }
    };
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let list = |value: &Value| {
        let items = value.as_array().into_iter().flatten();
        let items: Vec<String> = items.map(|item| short(&text(item)).to_owned()).collect();
        items.join(", ")
    };
    line("", &text(&told["type"]));
    if path.is_empty() {
        line("", &text(&told["description"]));
        line("Documentation: ", &text(&told["documentationUrl"]));
        line("Handlers: ", &list(&told["handlers"]));
        line("Identifier: ", &list(&told["primaryIdentifier"]));
        line("Tags: ", short(&text(&told["tagProperty"])));
    }
    let properties = told["properties"].as_array();
    let properties = properties.map(Vec::as_slice).unwrap_or_default();
    for property in properties.iter().filter(|property| names(property) == path) {
        line("", &text(&property["description"]));
    }
    let row = |property: &Value| {
        let required = (property["required"] == true).then_some("required");
        let classes = property["classes"].as_array().into_iter().flatten();
        let classes = classes.filter_map(Value::as_str);
        let classes: Vec<&str> = required.into_iter().chain(classes).collect();
        let path = text(&property["path"]);
        vec![
            short(&path).to_owned(),
            list(&property["types"]),
            classes.join(", "),
        ]
    };
    let rows: Vec<Vec<String>> = properties.iter().map(row).collect();
    out.push('\n');
    out + &table(&["PROPERTY", "TYPE", "CLASS"], &rows)
}

/// A path without the `/properties` that all have.
fn short(path: &str) -> &str {
    path.strip_prefix("/properties").unwrap_or(path)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn subject(text: &str) -> (String, Vec<String>) {
        let subject = Subject::parse(text).expect("a type");
        (subject.type_name.to_string(), subject.path)
    }

    fn explained(text: &str) -> String {
        let subject = Subject::parse(text).expect("a type");
        let schema = Catalogue::embedded().get(&subject.type_name);
        let schema = schema.expect("a public type");
        let mut told = described(&schema);
        match narrow(&mut told, &subject.path, Some(&schema)) {
            Ok(()) => rendered(&told, &subject.path),
            Err(error) => error.to_string(),
        }
    }

    #[test]
    fn a_type_and_a_path_are_told_apart() {
        let vpc = || "AWS::EC2::VPC".to_owned();
        for text in ["AWS.EC2/VPC", "AWS::EC2::VPC", "AWS.EC2/VPC/"] {
            assert_eq!(subject(text), (vpc(), Vec::new()), "{text}");
        }
        for text in ["AWS.EC2/VPC/Tags/Key", "AWS::EC2::VPC/Tags/*/Key"] {
            let path = vec!["Tags".to_owned(), "Key".to_owned()];
            assert_eq!(subject(text), (vpc(), path), "{text}");
        }
        assert!(Subject::parse("VPC").is_err());
    }

    #[test]
    fn a_type_shows_its_handlers_and_classes() {
        let told = explained("AWS.EC2/Subnet");
        assert!(
            told.starts_with("AWS.EC2/Subnet\nHandlers: create, read, update, delete, list\nIdentifier: /SubnetId\nTags: /Tags\n\nPROPERTY "),
            "{told}"
        );
        let line = |name: &str| {
            let line = told.lines().find(|line| line.starts_with(name));
            line.map(|line| line.split_whitespace().collect::<Vec<_>>())
        };
        assert_eq!(
            line("/VpcId"),
            Some(vec!["/VpcId", "string", "required,", "createOnly"])
        );
        assert_eq!(
            line("/SubnetId"),
            Some(vec!["/SubnetId", "string", "readOnly,", "createOnly"])
        );
    }

    #[test]
    fn a_property_shows_what_is_in_it() {
        let told = explained("AWS.EC2/VPC/Tags");
        for part in ["/Tags ", "/Tags/*/Key ", "/Tags/*/Value "] {
            assert!(told.contains(part), "no {part} in {told}");
        }
        assert!(!told.contains("/CidrBlock"), "{told}");
        assert_eq!(
            explained("AWS.EC2/VPC/Tagz"),
            "AWS.EC2/VPC has no property Tagz; `ucp explain AWS.EC2/VPC` lists all"
        );
    }

    /// A private type is known to the server alone, which tells no more than it does of others.
    #[test]
    fn what_the_server_says_counts() {
        let mut told = json!({"type": "AWS.EC2/VPC", "properties": [
            {"path": "/properties/New", "types": ["object"], "classes": ["createOnly"], "required": false, "description": "It is new."},
            {"path": "/properties/New/Part", "types": ["string"], "classes": ["writeOnly"], "required": false}]});
        let path = ["New".to_owned()];
        narrow(&mut told, &path, None).expect("a property");
        let shown = rendered(&told, &path);
        assert!(
            shown.starts_with("AWS.EC2/VPC\nIt is new.\n\nPROPERTY"),
            "{shown}"
        );
        assert!(shown.contains("/New/Part  string  writeOnly\n"), "{shown}");
    }
}
