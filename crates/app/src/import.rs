use serde_json::{Map, Value};
use ucp_model::operation::{Kind, Options, Verdict};
use ucp_model::{Identifier, Operation, OperationId, Reference, Scope, TypeName, json};
use ucp_schema::{Classes, IdentifierOutcome, ResourceSchema};

use crate::intake::{Intake, verdict_of};
use crate::put::unsupported;
use crate::{App, Caller, Rejection};

/// An import of one resource.
#[derive(Clone)]
pub struct ImportResource {
    /// Where.
    pub scope: Scope,
    /// The type, as the caller spelled it.
    pub type_name: TypeName,
    /// The reference id.
    pub tracked_by: Option<String>,
    /// AWS's name of the resource.
    pub primary_identifier: Option<String>,
    /// The identifier's parts, in its place; others are ignored.
    pub properties: Map<String, Value>,
    /// Whether the reference is to own the resource.
    pub owned: bool,
}

/// What an import came to, as far as it is known.
#[derive(Debug)]
pub enum ImportOutcome {
    /// The alias stands for the resource.
    Imported(Box<Reference>, Vec<Warning>),
    /// It is under way, or has ended without success.
    Accepted(Box<Operation>),
}

/// What an import could not find out.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Warning {
    /// A code, for programs.
    pub code: &'static str,
    /// The JSON Pointer of the property.
    pub target: String,
    /// What the caller has to know.
    pub message: String,
}

impl App {
    /// Puts an existing resource under an alias, and waits for the verdict.
    pub async fn import_resource(
        &self,
        import: ImportResource,
        caller: &Caller,
    ) -> Result<ImportOutcome, Rejection> {
        let schema = self.schema(&import.scope, &import.type_name).await?;
        let Some(tracked_by) = &import.tracked_by else {
            return Err(Rejection::bad_request(
                "/trackedBy: an import needs the id of the reference that is to stand for the resource.",
            ));
        };
        let reference = self.reference_id(tracked_by, &schema)?;
        let identifier = identifier(
            &schema,
            import.primary_identifier.as_deref(),
            import.properties,
        )?;
        if !schema.handlers().read {
            return Err(unsupported(&schema, "imported"));
        }
        let intake = Intake {
            id: OperationId(self.parts.entropy.uuid("operation")),
            kind: Kind::Import,
            scope: import.scope,
            reference: Some(reference),
            identifier: Some(identifier),
            options: Options {
                take_ownership: import.owned,
                ..Options::default()
            },
            desired: None,
        };
        let Some((operation, _)) = self.accept(intake, &schema, caller).await? else {
            return Err(Rejection::Internal(
                "an import was taken for a delete".into(),
            ));
        };
        let operation = self.verdict(operation, caller).await?;
        match self.imported(&operation).await? {
            Some(reference) => Ok(ImportOutcome::Imported(
                Box::new(reference),
                not_known(&schema),
            )),
            None => Ok(ImportOutcome::Accepted(Box::new(operation))),
        }
    }

    /// The reference that an import made, once it has ended well and unless it has gone since.
    pub async fn imported(&self, operation: &Operation) -> Result<Option<Reference>, Rejection> {
        match operation.work.reference() {
            Some(id) if verdict_of(operation) == Verdict::NothingToDo => {
                Ok(self.parts.store.get_reference(id).await?)
            }
            Some(_) | None => Ok(None),
        }
    }
}

/// The identifier that is given as a whole, in parts, or both ways.
pub(crate) fn identifier(
    schema: &ResourceSchema,
    whole: Option<&str>,
    properties: Map<String, Value>,
) -> Result<Identifier, Rejection> {
    let mut properties = Value::Object(properties);
    json::drop_nulls(&mut properties);
    let Some(whole) = whole else {
        return match schema.identifier(&properties) {
            IdentifierOutcome::Known(identifier) => Ok(Identifier::parse(identifier.as_str())?),
            IdentifierOutcome::AssignedByAws | IdentifierOutcome::Missing(_) => {
                Err(Rejection::bad_request(format!(
                    "/primaryIdentifier: an {} is named by {}. Give it as primaryIdentifier, or its parts as properties.",
                    schema.type_name().arm(),
                    parts(schema)
                )))
            }
        };
    };
    let identifier = Identifier::parse(whole)?;
    let Some(named) = schema.properties_of_identifier(&identifier) else {
        return Err(Rejection::bad_request(format!(
            "/primaryIdentifier: '{identifier}' does not name an {}, which is named by {}.",
            schema.type_name().arm(),
            parts(schema)
        )));
    };
    let contradicted = schema.primary_identifier().iter().find(|part| {
        let (given, named) = (part.get(&properties), part.get(&named));
        given.is_some() && given != named
    });
    match contradicted {
        None => Ok(identifier),
        Some(part) => Err(Rejection::bad_request(format!(
            "/properties{}: contradicts the primaryIdentifier '{identifier}'. Give one of the two.",
            part.pointer()
        ))),
    }
}

fn parts(schema: &ResourceSchema) -> String {
    let parts = schema.primary_identifier().iter();
    let parts: Vec<String> = parts
        .map(|part| format!("/properties{}", part.pointer()))
        .collect();
    match &parts[..] {
        [only] => only.clone(),
        several => format!("{}, joined by '|'", several.join(" and ")),
    }
}

/// AWS never tells write-only properties again.
fn not_known(schema: &ResourceSchema) -> Vec<Warning> {
    let warning = |pointer: String| {
        Warning {
        code: "WriteOnlyProperty",
        message: "AWS does not tell this property, so what it was declared as is not known. A put that declares it sends it.".to_owned(),
        target: format!("/properties{pointer}"),
    }
    };
    let paths = schema.listed(Classes::WRITE_ONLY);
    paths.map(|path| warning(path.pointer())).collect()
}
