//! The table of the routes: each with each role over each scope, and without credentials.

use std::collections::BTreeMap;

use serde_json::Value;
use ucp_access::{Grant, Right, Role, Scope};
use ucp_testkit::{Reply, World};

use super::grant;

const GROUP: &str = "/planes/radius/local/resourcegroups/rg";
const TYPE: &str = "/planes/aws/aws/accounts/123456789012/regions/us-west-2/providers/AWS.EC2/VPC";

/// What stands for nothing in the paths of requests.
pub(super) const IDENTIFIER: &str = "vpc-00000000000000000";
pub(super) const ALIAS: &str = "nobody";
pub(super) const ASSIGNMENT: &str = "nothing";
pub(crate) const ID: &str = "00000000-0000-4000-8000-000000000000";

/// Scopes above and below what the requests name, and beside it.
const SCOPES: &[&str] = &[
    "/",
    "/planes/radius/local",
    GROUP,
    "/planes/radius/local/resourcegroups/rg2",
    "/planes/radius/other",
    "/planes/aws/aws",
    "/planes/aws/aws/accounts/123456789012",
    "/planes/aws/aws/accounts/123456789012/regions/us-west-2",
    "/planes/aws/aws/accounts/123456789012/regions/us-west-2/providers/AWS.EC2",
    TYPE,
    "/planes/aws/aws/accounts/123456789012/regions/us-west-2/providers/AWS.EC2/Subnet",
    "/planes/aws/aws/accounts/123456789012/regions/eu-central-1",
    "/planes/aws/aws/accounts/222222222222",
    "/planes/aws/other",
];

/// The name of the caller who has a role over a scope.
fn caller(role: Role, scope: &str) -> String {
    format!("{role} of {scope}")
}

fn everybody() -> Vec<Grant> {
    let grants = Role::ALL.into_iter().flat_map(|role| {
        let of = move |scope: &&str| grant(&caller(role, scope), role, &[scope]);
        SCOPES.iter().map(of)
    });
    grants.collect()
}

/// A request of the API's description.
pub(crate) struct Request {
    pub(crate) method: String,
    pub(crate) route: String,
    pub(crate) path: String,
    parameters: Vec<String>,
}

impl Request {
    /// Whether its description has this parameter.
    pub(crate) fn takes(&self, parameter: &str) -> bool {
        self.parameters.iter().any(|name| name == parameter)
    }
}

fn parameters(operation: &Value) -> Vec<String> {
    let parameters = operation["parameters"].as_array().into_iter().flatten();
    let names = parameters.filter_map(|parameter| parameter["name"].as_str());
    names.map(str::to_owned).collect()
}

/// All requests that the API describes, about things that do not exist where they would be changed.
pub(crate) fn requests() -> Vec<Request> {
    let document: Value =
        serde_json::from_str(include_str!("../../../api/openapi.json")).expect("JSON");
    let paths = document["paths"].as_object().expect("paths");
    let requests = paths.iter().flat_map(|(route, operations)| {
        let methods = operations.as_object().expect("operations").keys();
        let methods = methods.filter(|word| *word != "parameters");
        methods.map(|method| Request {
            path: path(route),
            method: method.to_uppercase(),
            route: route.clone(),
            parameters: parameters(&operations[method]),
        })
    });
    requests.collect()
}

fn path(route: &str) -> String {
    let reference = route.contains("resourcegroups");
    let plane = match route {
        "/planes/{type}" | "/planes/{type}/{plane}" => {
            return route
                .replace("{type}", "radius")
                .replace("{plane}", "local");
        }
        aws if aws.starts_with("/planes/aws") => "aws",
        _ => "local",
    };
    let path = route
        .replace("{plane}", plane)
        .replace("{group}", "rg")
        .replace("{account}", "123456789012")
        .replace("{region}", "us-west-2")
        .replace("{namespace}", "AWS.EC2")
        .replace("{type}", if reference { "VPC:reference" } else { "VPC" })
        .replace("{alias}", ALIAS)
        .replace("{identifier}", IDENTIFIER)
        .replace("{credential}", "default")
        .replace("{assignment}", ASSIGNMENT)
        .replace("{code}", "NotFound")
        .replace("{plan}", ID)
        .replace("{refactor}", ID)
        .replace("{id}", ID);
    assert!(!path.contains('{'), "{path}: what stands for that?");
    path
}

/// What a request needs.
enum Needs {
    Nothing,
    /// That the caller is known.
    Caller,
    Somewhere(Right),
    Over(Right, Scope),
}

impl Needs {
    /// Says it once more, independently of the server: by the method and by what the path names.
    fn of(request: &Request) -> Self {
        let Request {
            method,
            route,
            path,
            ..
        } = request;
        if route == "/metrics" {
            return Needs::Over(Right::Read, Scope::everything());
        }
        if !route.starts_with("/planes") && route != "/version" {
            return Needs::Nothing;
        }
        let lists = [
            "/version",
            "/planes",
            "/planes/{type}",
            "/planes/radius/{plane}/resourcegroups",
        ];
        if route.contains("roleAssignments") {
            return match method.as_str() {
                "GET" => Needs::Caller,
                _ => Needs::Somewhere(Right::ManageAccess),
            };
        }
        if route.contains("plans/{plan}") {
            return match method.as_str() {
                "GET" => Needs::Caller,
                _ => Needs::Somewhere(Right::Approve),
            };
        }
        if route.contains("System.Resources/refactors") {
            return match method.as_str() {
                "GET" => Needs::Caller,
                _ => Needs::Somewhere(Right::Write),
            };
        }
        // What moves where is told by the body.
        if route == "/planes/radius/{plane}/:refactor" {
            return Needs::Somewhere(Right::Read);
        }
        let by_id = ["operationStatuses", "operationResults", "System.Azure"];
        if lists.contains(&route.as_str()) || by_id.iter().any(|word| route.contains(word)) {
            return Needs::Caller;
        }
        let reads = [":get", ":refactor", ":validate", ":whatIf"];
        let reads = method == "GET" || reads.iter().any(|action| route.ends_with(action));
        let right = match (reads, route.contains("System.AWS/credentials")) {
            _ if route.contains("auditEvents") => Right::ManageAccess,
            // Roles that were given under it end.
            _ if route == "/planes/{type}/{plane}" && method == "DELETE" => Right::ManageAccess,
            (true, _) => Right::Read,
            (false, true) => Right::ManageCredentials,
            (false, false) => Right::Write,
        };
        let segments: Vec<&str> = path.split('/').collect();
        let count = match () {
            () if route.contains("{group}") => 6,
            () if route.contains("/resourceTypes/") => 0,
            () if route.contains("{account}") && route.contains("{type}") => 11,
            () if route.contains("{account}") && route.contains("{namespace}") => 10,
            () if route.contains("{account}") => 8,
            () => 4,
        };
        let scope = match count {
            0 => TYPE.to_owned(),
            count => segments[..count].join("/"),
        };
        Needs::Over(right, scope.parse().expect("a scope"))
    }

    fn is_met_by(&self, role: Role, scope: &str) -> bool {
        let has: Scope = scope.parse().expect("a scope");
        match self {
            Needs::Nothing | Needs::Caller => true,
            Needs::Somewhere(right) => is_in(*right, role),
            Needs::Over(right, over) => is_in(*right, role) && has.covers(over),
        }
    }
}

fn is_in(right: Right, role: Role) -> bool {
    match right {
        Right::Read => true,
        Right::Write => matches!(role, Role::Contributor | Role::Owner),
        Right::Approve => matches!(role, Role::Approver | Role::Owner),
        Right::ManageCredentials => matches!(role, Role::CredentialsAdmin | Role::Owner),
        Right::ManageAccess => role == Role::Owner,
    }
}

/// Whether the reply is that to somebody who may not do it.
fn is_refused(reply: &Reply) -> bool {
    let body = &reply.body["error"];
    let says = |text: &str| {
        body["message"]
            .as_str()
            .is_some_and(|said| said.contains(text))
    };
    match reply.status {
        401 => true,
        403 => says("does not have authorization"),
        404 => says("may not read it"),
        _ => false,
    }
}

async fn send(world: &World, caller: Option<&str>, request: &Request) -> Reply {
    let token = caller.map(|caller| format!("Bearer {caller}"));
    let mut headers = vec![("if-match", "\"none\"")];
    headers.extend(token.as_deref().map(|token| ("authorization", token)));
    let path = format!("{}?api-version=2023-10-01-preview", request.path);
    let body = match request.method.as_str() {
        "PUT" | "PATCH" | "POST" => "[",
        _ => "",
    };
    world
        .send_with(&headers, &request.method, &path, body)
        .await
}

#[tokio::test]
async fn each_route_takes_its_right_and_no_other() {
    let world = World::builder().granting(everybody()).build().await;
    let mut counted = [0_u32; 2];
    for request in requests() {
        let needs = Needs::of(&request);
        let nobody = send(&world, None, &request).await;
        let open = matches!(needs, Needs::Nothing);
        assert_eq!(
            nobody.status == 401,
            !open,
            "nobody: {} {}: {}",
            request.method,
            request.path,
            nobody.text
        );
        for role in Role::ALL {
            for scope in SCOPES {
                let caller = caller(role, scope);
                let reply = send(&world, Some(&caller), &request).await;
                let expected = needs.is_met_by(role, scope);
                assert_eq!(
                    !is_refused(&reply),
                    expected,
                    "{caller}: {} {}: {} {}",
                    request.method,
                    request.route,
                    reply.status,
                    reply.text
                );
                if let (Needs::Over(right, _) | Needs::Somewhere(right), false) = (&needs, expected)
                {
                    let status = if *right == Right::Read { 404 } else { 403 };
                    assert_eq!(reply.status, status, "{}", reply.text);
                }
                counted[usize::from(expected)] += 1;
            }
        }
    }
    assert!(counted.iter().all(|count| *count > 500), "{counted:?}");
}

/// Nothing is looked up for what the caller may not read, so how long that takes says nothing either.
#[tokio::test]
async fn what_may_not_be_read_is_not_looked_up() {
    let world = World::builder()
        .granting(vec![grant("bob", Role::Owner, &["/planes/radius/other"])])
        .build()
        .await;
    let before = world.asked_of_store();
    for request in requests() {
        let Needs::Over(..) = Needs::of(&request) else {
            continue;
        };
        let there = send(&world, Some("bob"), &request).await;
        assert!(matches!(there.status, 403 | 404), "{}", there.text);
        let absent = Request {
            path: request
                .path
                .replace("/rg", "/xy")
                .replace("123456789012", "999999999999"),
            ..request
        };
        let absent = send(&world, Some("bob"), &absent).await;
        assert_eq!(there.status, absent.status);
        let text = absent
            .text
            .replace("/xy", "/rg")
            .replace("999999999999", "123456789012");
        assert_eq!(there.text, text);
    }
    let mut after = world.asked_of_store();
    // Each refusal is recorded.
    let recorded = |asked: &mut BTreeMap<&'static str, usize>| asked.remove("append_audit_events");
    let mut before = before;
    assert!(recorded(&mut before) < recorded(&mut after));
    assert_eq!(after, before);
}
