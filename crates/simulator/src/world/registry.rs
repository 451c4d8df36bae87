//! DescribeType and ListTypes of the CloudFormation registry.

use ucp_model::{Timestamp, TypeName};
use ucp_schema::{ResourceSchema, SchemaError};

use super::lists::{page_size, page_start};
use super::moment::Moment;
use super::state::World;
use crate::exception::{Exception, ExceptionCode};
use crate::request::{Caller, DescribeType, ListTypes, Reply, TypeDescription};

/// When every type last changed: 2024-01-01.
const LAST_UPDATED: Timestamp = Timestamp::from_millis(1_704_067_200_000);

impl World {
    /// Registers a type, or a new version of one, in every account and region. A new version applies to existing
    /// resources immediately.
    pub fn register_type(&mut self, schema: &str) -> Result<TypeName, SchemaError> {
        let name = self.types.register(schema)?;
        if let Ok(registered) = self.types.get(name.as_str()) {
            let regions = self.regions.values_mut();
            let resources = regions.flat_map(|region| region.resources.values_mut());
            for resource in
                resources.filter(|resource| resource.resource_type.name() == name.as_str())
            {
                resource.resource_type = registered.clone();
            }
        }
        Ok(name)
    }

    pub(super) fn describe_type(
        &mut self,
        input: &DescribeType,
        moment: &Moment<'_>,
    ) -> Result<Reply, Exception> {
        if input.kind.as_deref().is_some_and(|kind| kind != "RESOURCE") {
            return Err(type_not_found());
        }
        let by_arn = || input.arn.as_deref().and_then(type_of_arn);
        let Some(name) = input.type_name.clone().or_else(by_arn) else {
            return Err(Exception::new(
                ExceptionCode::Validation,
                "Either TypeName and Type, or Arn must be specified",
            ));
        };
        let resource_type = self.types.get(&name).map_err(|_| type_not_found())?;
        Ok(Reply::Type {
            description: described(&resource_type.schema, moment.caller),
            schema: resource_type.schema.document().to_string(),
        })
    }

    pub(super) fn list_types(
        &mut self,
        input: &ListTypes,
        moment: &Moment<'_>,
    ) -> Result<Reply, Exception> {
        let size = page_size(input.max_results, 100)?;
        let after = page_start(input.next_token.as_deref())?.unwrap_or_default();
        let is_public = input.visibility.as_deref() == Some("PUBLIC")
            || input.category.as_deref() == Some("AWS_TYPES");
        let is_simulated = input.kind.as_deref().is_none_or(|kind| kind == "RESOURCE")
            && input
                .category
                .as_deref()
                .is_none_or(|category| category == "AWS_TYPES")
            && input.deprecated_status.as_deref() != Some("DEPRECATED");
        let prefix = input.type_name_prefix.as_deref().unwrap_or_default();
        let mut names: Vec<String> = self
            .types
            .names()
            .map(|name| name.as_str().to_owned())
            .filter(|name| is_public && is_simulated && *name > after && name.starts_with(prefix))
            .collect();
        names.sort();
        let mut types = Vec::new();
        for name in names {
            let Ok(resource_type) = self.types.get(&name) else {
                continue;
            };
            let provisioning_type = provisioning_type(&resource_type.schema);
            if input
                .provisioning_type
                .as_deref()
                .is_some_and(|wanted| wanted != provisioning_type)
            {
                continue;
            }
            types.push(described(&resource_type.schema, moment.caller));
            if types.len() > size {
                break;
            }
        }
        let has_more = types.len() > size;
        types.truncate(size);
        let last = types.last().filter(|_| has_more);
        Ok(Reply::Types {
            next_token: last.map(|last| hex::encode(&last.type_name)),
            types,
        })
    }
}

fn type_not_found() -> Exception {
    Exception::new(
        ExceptionCode::TypeNotFound,
        "The specified type does not exist",
    )
}

/// Returns the name of the type with an ARN such as `…:type/resource/AWS-EC2-VPC`.
fn type_of_arn(arn: &str) -> Option<String> {
    let (_, name) = arn.split_once(":type/resource/")?;
    let name = name.split('/').next().unwrap_or(name);
    Some(name.replace('-', "::"))
}

fn provisioning_type(schema: &ResourceSchema) -> &'static str {
    match (schema.is_provisionable(), schema.handlers().update) {
        (false, _) => "NON_PROVISIONABLE",
        (true, false) => "IMMUTABLE",
        (true, true) => "FULLY_MUTABLE",
    }
}

fn described(schema: &ResourceSchema, caller: &Caller) -> TypeDescription {
    let text = |keyword| schema.document().get(keyword)?.as_str().map(str::to_owned);
    let type_name = schema.type_name().as_str().to_owned();
    TypeDescription {
        // The account is empty, as for AWS's own types.
        arn: format!(
            "arn:aws:cloudformation:{}::type/resource/{}",
            caller.region,
            type_name.replace("::", "-")
        ),
        description: text("description"),
        provisioning_type: provisioning_type(schema),
        documentation_url: text("documentationUrl"),
        source_url: text("sourceUrl"),
        last_updated: LAST_UPDATED,
        type_name,
    }
}
