use serde::Serialize;
use serde_json::{Map, Value};
use ucp_access::{Grant, Invalid, SCOPES_MAX, Scope, Subject, judge_name};
use ucp_app::RoleAssignment;
use utoipa::ToSchema;

use crate::members::kind;
use crate::validation::Violations;

const PROPERTIES: &str = "$.properties";

/// The body of a PUT of a role assignment.
#[derive(Debug, ToSchema)]
pub(crate) struct PutRoleAssignmentRequest {
    /// What is given, and to whom.
    #[schema(value_type = RoleAssignmentProperties)]
    properties: Grant,
}

/// What is given, and to whom: either `user` or `group`.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct RoleAssignmentProperties {
    /// The name of the user, as it is in the audit, such as `oidc:bob` or `token:ci`.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(example = "oidc:bob", min_length = 1, max_length = 256)]
    user: Option<String>,
    /// The name of the group whose members have the role.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(min_length = 1, max_length = 256)]
    group: Option<String>,
    /// The role: `reader`, `contributor`, `approver`, `credentialsAdmin` or `owner`.
    #[schema(example = "contributor")]
    role: String,
    /// What the role is over: paths, each with everything below it.
    #[schema(min_items = 1, max_items = 20,
        example = json!(["/planes/radius/local/resourcegroups/demo", "/planes/aws/aws/accounts/123456789012"]))]
    scopes: Vec<String>,
}

/// A role assignment.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct RoleAssignmentBody {
    /// The id.
    #[schema(example = "/planes/radius/local/providers/System.Resources/roleAssignments/bob-demo")]
    id: String,
    /// The name, in the letter case of the first PUT.
    #[schema(example = "bob-demo")]
    name: String,
    /// The type of all role assignments.
    #[schema(example = "System.Resources/roleAssignments")]
    r#type: &'static str,
    /// Who has given it, and when.
    system_data: SystemData,
    /// What is given, and to whom.
    properties: RoleAssignmentProperties,
}

/// Who has written a resource, and when.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
struct SystemData {
    /// The caller who created it.
    #[schema(example = "oidc:alice")]
    created_by: String,
    /// When it was created.
    #[schema(format = DateTime, example = "2026-01-02T03:04:05Z")]
    created_at: String,
    /// The caller who changed it last.
    #[schema(example = "oidc:alice")]
    last_modified_by: String,
    /// When it was changed last.
    #[schema(format = DateTime, example = "2026-01-02T03:04:05Z")]
    last_modified_at: String,
}

impl PutRoleAssignmentRequest {
    pub(crate) fn read(body: &Map<String, Value>, violations: &mut Violations) -> Option<Self> {
        violations.members(body, &["properties"]);
        if body.get("properties").is_none_or(Value::is_null) {
            violations.property(PROPERTIES, "is required");
        }
        let properties = violations.object(PROPERTIES, body.get("properties"))?;
        let known = ["user", "group", "role", "scopes", "provisioningState"];
        violations.members_of(PROPERTIES, properties, &known);
        let who = subject(properties, violations);
        let role = member("role", properties.get("role"), violations, str::parse);
        let scopes = scopes(properties.get("scopes"), violations);
        let (who, role) = (who?, role?);
        let properties = Grant { who, role, scopes };
        Some(Self { properties })
    }

    /// Returns what is to be given.
    pub(crate) fn grant(self) -> Grant {
        self.properties
    }
}

fn subject(properties: &Map<String, Value>, violations: &mut Violations) -> Option<Subject> {
    let (user, group) = (properties.get("user"), properties.get("group"));
    let name = |text: &str| judge_name(text).map(|()| text.to_owned());
    match (user, group) {
        (Some(_), None) => member("user", user, violations, name).map(Subject::User),
        (None, Some(_)) => member("group", group, violations, name).map(Subject::Group),
        (None, None) | (Some(_), Some(_)) => {
            violations.property(
                PROPERTIES,
                "must have a user or a group: give one of the two",
            );
            None
        }
    }
}

fn scopes(value: Option<&Value>, violations: &mut Violations) -> Vec<Scope> {
    let path = format!("{PROPERTIES}.scopes");
    let items = match value {
        Some(Value::Array(items)) if (1..=SCOPES_MAX).contains(&items.len()) => items,
        Some(Value::Array(items)) => {
            let what = format!("must have 1 to {SCOPES_MAX} scopes, not {}", items.len());
            violations.property(&path, &what);
            return Vec::new();
        }
        Some(other) => {
            violations.property(&path, &format!("must be an array, not {}", kind(other)));
            return Vec::new();
        }
        None => {
            violations.property(&path, "is required");
            return Vec::new();
        }
    };
    let mut scopes: Vec<Scope> = Vec::new();
    for (index, item) in items.iter().enumerate() {
        let place = format!("scopes[{index}]");
        let Some(scope) = member(&place, Some(item), violations, str::parse) else {
            continue;
        };
        if scopes.contains(&scope) {
            violations.property(&format!("{PROPERTIES}.{place}"), "is there twice");
        }
        scopes.push(scope);
    }
    scopes
}

/// Reads a required text at a place of the properties.
fn member<T>(
    place: &str,
    value: Option<&Value>,
    violations: &mut Violations,
    parse: impl FnOnce(&str) -> Result<T, Invalid>,
) -> Option<T> {
    let path = format!("{PROPERTIES}.{place}");
    let text = violations.text(&path, value)?;
    let parsed = parse(&text);
    parsed
        .map_err(|invalid| violations.property(&path, &format!("is not valid: {invalid}")))
        .ok()
}

impl From<RoleAssignment> for RoleAssignmentBody {
    fn from(assignment: RoleAssignment) -> Self {
        let RoleAssignment {
            id,
            body,
            created_at,
            updated_at,
            ..
        } = assignment;
        Self {
            id: id.to_string(),
            name: id.name,
            r#type: "System.Resources/roleAssignments",
            system_data: SystemData {
                created_by: body.created_by,
                created_at: created_at.to_string(),
                last_modified_by: body.modified_by,
                last_modified_at: updated_at.to_string(),
            },
            properties: body.grant.into(),
        }
    }
}

impl From<Grant> for RoleAssignmentProperties {
    fn from(grant: Grant) -> Self {
        let (user, group) = match grant.who {
            Subject::User(name) => (Some(name), None),
            Subject::Group(name) => (None, Some(name)),
        };
        Self {
            user,
            group,
            role: grant.role.as_str().to_owned(),
            scopes: grant.scopes.iter().map(Scope::to_string).collect(),
        }
    }
}
