//! The judgement of puts by their schemas, with what they refer to as unknown values: of all that one change has.

use std::collections::BTreeMap;
use std::sync::Arc;

use serde_json::Value;
use ucp_model::operation::Options;
use ucp_model::{Failure, Identifier, ResourceGroup, Scope};
use ucp_schema::{Declaration, Known, ResourceSchema, Violation};
use ucp_set::with_unknown;

use crate::Room;
use crate::declaring::{LastApplied, NOT_VALID, create_judge, judge_for_type, known, names_it};
use crate::{ChangeCases, PutResource, Rejection};

/// The checks of all members of a change.
pub(crate) const SET_CHECKS_MAX: u64 = 2_000_000;

impl ChangeCases {
    /// Judges a put by its schema, with what it refers to as unknown values, within what is `left` for its change. `last` is what its
    /// alias tells, if it has a reference. Returns the identifier that it declares.
    pub(crate) fn judged_draft(
        &self,
        put: &PutResource,
        schema: &Arc<ResourceSchema>,
        group: &ResourceGroup,
        last: Option<&LastApplied<'_>>,
        left: &mut Left,
    ) -> Result<Option<Identifier>, Rejection> {
        judge_for_type(&put.properties, &put.tags, schema)?;
        let draft = DraftPut {
            properties: with_unknown(&Value::Object(put.properties.clone())),
            schema: Arc::clone(schema),
            default_tags: self.types.default_tags(put, Some(group)),
            scope: put.scope.clone(),
            options: put.options,
        };
        draft.judge_within(last, left)
    }
}

/// What a change may still take while it is judged.
pub(crate) struct Left {
    checks: u64,
    /// What the largest judgement has taken. One after the other is made.
    bytes: usize,
    taken: Option<Room>,
    room: Room,
}

impl Left {
    pub(crate) fn of(room: &Room) -> Self {
        Self {
            checks: SET_CHECKS_MAX,
            bytes: 0,
            taken: None,
            room: room.clone(),
        }
    }

    fn take_room(&mut self, bytes: usize) -> Result<(), Rejection> {
        if bytes > self.bytes {
            // What the one before has taken is given back first.
            self.taken = None;
            self.taken = Some(self.room.aside(bytes)?);
            self.bytes = bytes;
        }
        Ok(())
    }
}

/// A put that is not judged yet.
struct DraftPut {
    /// With unknown values.
    properties: Value,
    schema: Arc<ResourceSchema>,
    default_tags: BTreeMap<String, String>,
    scope: Scope,
    options: Options,
}

impl DraftPut {
    fn judge_within(
        self,
        last: Option<&LastApplied<'_>>,
        left: &mut Left,
    ) -> Result<Option<Identifier>, Rejection> {
        let checks = self.schema.checks_of(&self.properties);
        left.take_room(checks.bytes())?;
        left.checks = left.checks.checked_sub(checks.all).ok_or_else(|| {
            let message = format!(
                "With this resource, more than {SET_CHECKS_MAX} checks would be made. Declare less, or fewer resources at once."
            );
            Rejection::Invalid(Failure::new("TooMany", message))
        })?;
        self.judge(last)
    }

    /// Returns the identifier that it declares.
    fn judge(self, last: Option<&LastApplied<'_>>) -> Result<Option<Identifier>, Rejection> {
        let Self {
            properties,
            schema,
            default_tags,
            scope,
            options,
        } = self;
        let Value::Object(properties) = properties else {
            return Err(Rejection::Internal("properties are not an object".into()));
        };
        let (declaration, violations) =
            Declaration::draft(properties, &schema, &default_tags, None);
        let identifier = names_it(&declaration, &schema);
        let known = known(last, None, identifier.as_ref());
        let violations = schema.all_wrong(&declaration, known, violations);
        if !violations.is_empty() {
            return Err(Rejection::Invalid(Violation::refusal(
                NOT_VALID, violations,
            )));
        }
        if let Known::Absent = known {
            create_judge(&declaration, &schema, &scope, options)()?;
        }
        Ok(identifier)
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;
    use ucp_model::TypeName;
    use ucp_schema::Catalogue;

    use super::*;

    fn draft() -> DraftPut {
        let type_name = TypeName::from_cloudformation("AWS::EC2::VPC").unwrap();
        DraftPut {
            properties: json!({"CidrBlock": "10.0.0.0/16"}),
            schema: Catalogue::embedded().get(&type_name).unwrap(),
            default_tags: BTreeMap::new(),
            scope: Scope::new("aws", "1", "us-west-2").unwrap(),
            options: Options::default(),
        }
    }

    #[test]
    fn a_change_takes_only_so_many_checks() {
        let with = |checks| Left {
            checks,
            ..Left::of(&Room::default())
        };
        let mut left = Left::of(&Room::default());
        assert!(draft().judge_within(None, &mut left).is_ok());
        let all = SET_CHECKS_MAX - left.checks;
        assert!(all > 0);
        let mut just_enough = with(all);
        assert!(draft().judge_within(None, &mut just_enough).is_ok());
        assert_eq!(just_enough.checks, 0);
        let mut one_less = with(all - 1);
        let refused = draft().judge_within(None, &mut one_less);
        let is_told = |failure: &Failure| failure.code.as_str() == "TooMany";
        assert!(matches!(refused, Err(Rejection::Invalid(failure)) if is_told(&failure)));
    }
}
