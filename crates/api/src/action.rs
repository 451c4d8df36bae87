//! What a request asks for, by its route.

use axum::http::Method;

/// What a request asks for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Action {
    /// The name, such as `System.Resources/resourceGroups/write`.
    pub(crate) name: String,
    /// What it does.
    pub(crate) effect: Effect,
}

/// What an action does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Effect {
    /// It reads what `ucp` knows.
    Read,
    /// It reads from AWS, or judges what would be put there.
    AwsRead,
    /// It changes something.
    Write,
}

/// Returns the action of a request with this canonical path, which the route with the template `matched` serves.
pub(crate) fn action(method: &Method, matched: &str, path: &str) -> Action {
    let last = matched.rsplit('/').next().unwrap_or_default();
    let verb = match (last.strip_prefix(':'), method.as_str()) {
        (Some("put"), _) | (None, "PUT" | "PATCH") => "write",
        (Some("delete"), _) | (None, "DELETE") => "delete",
        (Some("get"), _) | (None, "GET" | "HEAD") => "read",
        (Some(other), _) => &format!("{other}/action"),
        (None, _) => "action",
    };
    let is_read = matches!(verb, "read" | "validate/action" | "whatIf/action");
    let is_of_aws = matched.starts_with("/planes/aws/")
        && (matched.ends_with("/providers/{namespace}/{type}")
            || matched.ends_with("/providers/{namespace}/{type}/:get")
            || matched.ends_with("/providers/{namespace}/resourceTypes/{type}")
            || matched.ends_with("/providers/{namespace}/{type}/{identifier}"));
    Action {
        name: format!("{}/{verb}", type_of(matched, path)),
        effect: match is_read {
            true if is_of_aws || matches!(last, ":whatIf" | ":validate") => Effect::AwsRead,
            true => Effect::Read,
            false => Effect::Write,
        },
    }
}

/// Returns the id that a path names: without the action at its end.
pub(crate) fn id(path: &str) -> &str {
    match path.rsplit_once("/:") {
        Some((id, _)) => id,
        None => path,
    }
}

/// Returns the type of what a path names.
fn type_of(matched: &str, path: &str) -> String {
    if let Some((_, below)) = path.split_once("/providers/") {
        let mut segments = id(below).split('/');
        let namespace = segments.next().unwrap_or_default();
        // Types and names take turns.
        return segments
            .step_by(2)
            .fold(namespace.to_owned(), |name, kind| format!("{name}/{kind}"));
    }
    let mut above = path.split('/').skip(2);
    let namespace = match above.next() {
        Some("aws") => "System.AWS",
        Some("azure") => "System.Azure",
        Some("radius") => "System.Resources",
        Some(_) | None => return "ucp".to_owned(),
    };
    let is_on = |kind: &&str| matched.split('/').any(|segment| segment == *kind);
    let mut kinds = ["leftovers", "operations", "providers", "resourcegroups"].into_iter();
    match kinds.find(is_on) {
        Some("resourcegroups") => format!("{namespace}/resourceGroups"),
        Some(kind) => format!("{namespace}/{kind}"),
        None if namespace == "System.Resources" => "System.Radius/planes".to_owned(),
        None => format!("{namespace}/planes"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn actions_are_named_by_type_and_verb() {
        let groups = "/planes/radius/{plane}/resourcegroups/{group}";
        let types =
            "/planes/aws/{plane}/accounts/{account}/regions/{region}/providers/{namespace}/{type}";
        let vpcs = "/planes/aws/aws/accounts/1/regions/us-west-2/providers/AWS.EC2/VPC";
        let statuses = "/planes/radius/{plane}/providers/System.Resources/locations/global/operationStatuses/{id}";
        for (method, template, path, name, effect) in [
            (
                "PUT",
                groups.to_owned(),
                "/planes/radius/local/resourcegroups/providers".to_owned(),
                "System.Resources/resourceGroups/write",
                Effect::Write,
            ),
            (
                "HEAD",
                groups.to_owned(),
                "/planes/radius/local/resourcegroups/rg".to_owned(),
                "System.Resources/resourceGroups/read",
                Effect::Read,
            ),
            (
                "POST",
                format!("{groups}/:import"),
                "/planes/radius/local/resourcegroups/rg/:import".to_owned(),
                "System.Resources/resourceGroups/import/action",
                Effect::Write,
            ),
            (
                "DELETE",
                format!("{groups}/leftovers/{{id}}"),
                "/planes/radius/local/resourcegroups/rg/leftovers/1".to_owned(),
                "System.Resources/leftovers/delete",
                Effect::Write,
            ),
            (
                "POST",
                format!("{types}/:put"),
                format!("{vpcs}/:put"),
                "AWS.EC2/VPC/write",
                Effect::Write,
            ),
            (
                "POST",
                format!("{types}/:get"),
                format!("{vpcs}/:get"),
                "AWS.EC2/VPC/read",
                Effect::AwsRead,
            ),
            (
                "POST",
                format!("{types}/:validate"),
                format!("{vpcs}/:validate"),
                "AWS.EC2/VPC/validate/action",
                Effect::AwsRead,
            ),
            (
                "GET",
                types.to_owned(),
                vpcs.to_owned(),
                "AWS.EC2/VPC/read",
                Effect::AwsRead,
            ),
            (
                "GET",
                types.replace("{type}", "resourceTypes/{type}"),
                vpcs.replace("VPC", "resourceTypes/VPC"),
                "AWS.EC2/resourceTypes/read",
                Effect::AwsRead,
            ),
            (
                "PATCH",
                format!("{types}/{{identifier}}"),
                format!("{vpcs}/vpc-1"),
                "AWS.EC2/VPC/write",
                Effect::Write,
            ),
            (
                "POST",
                format!("{statuses}/:cancel"),
                statuses.replace("{plane}", "local").replace("{id}", "1") + "/:cancel",
                "System.Resources/locations/operationStatuses/cancel/action",
                Effect::Write,
            ),
            (
                "GET",
                "/planes/{type}".to_owned(),
                "/planes/aws".to_owned(),
                "System.AWS/planes/read",
                Effect::Read,
            ),
            (
                "GET",
                "/version".to_owned(),
                "/version".to_owned(),
                "ucp/read",
                Effect::Read,
            ),
        ] {
            let method = method.parse().unwrap();
            let expected = Action {
                name: name.to_owned(),
                effect,
            };
            assert_eq!(action(&method, &template, &path), expected);
        }
    }
}
