//! What a caller may not read answers as what is not there, and after the same calls of the store, so that the time of the reply
//! tells nothing.

use serde_json::json;
use ucp_access::Role;
use ucp_testkit::{Reply, StoreKind, World, apply, on_every_store, tracked_by};

use super::every_route::{ALIAS, ASSIGNMENT, ID, IDENTIFIER, Request, requests};
use super::grant;

const VERSION: &str = "api-version=2023-10-01-preview";
const VPCS: &str = "/planes/aws/aws/accounts/123456789012/regions/us-west-2/providers/AWS.EC2/VPC";
/// What bob may read, and nothing of what the others have.
const ELSEWHERE: &str = "/planes/radius/other";

/// One of everything that has an id.
struct Things {
    identifier: String,
    put: String,
    deletion: String,
    plan: String,
    refactor: String,
}

impl Things {
    async fn make(world: &World) -> Self {
        let body = |has_names: bool| {
            let properties = json!({"CidrBlock": "10.0.0.0/16", "EnableDnsHostnames": has_names});
            let tracked_by = tracked_by("AWS.EC2/VPC", "main");
            json!({"trackedBy": tracked_by, "properties": properties}).to_string()
        };
        let (first, other) = (body(false), body(true));
        let put = format!("{VPCS}/:put");
        let reply = world.call_as("root", "POST", &put, &first);
        let put = operation(&reply.await.expect(201));
        world.settle().await;
        let identifier = world.live("AWS::EC2::VPC").remove(0);
        let what_if = format!("{VPCS}/:whatIf");
        let planned = world.call_as("root", "POST", &what_if, &other);
        let planned = planned.await.expect(200);
        let plan = planned.body["properties"]["planId"].as_str();
        let plan = plan.expect("a plan").to_owned();
        let refactor = json!({"mode": "plan", "groups": [{"name": "rg", "resources": []}]});
        let refactor = refactor.to_string();
        let planned = world.call_as("root", "POST", "/planes/radius/local/:refactor", &refactor);
        let planned = planned.await.expect(200);
        let refactor = planned.body["name"].as_str();
        let refactor = refactor.expect("a refactor").to_owned();
        let assignment = format!(
            "/planes/radius/local/providers/System.Resources/roleAssignments/of-carol?{VERSION}"
        );
        let scopes = ["/planes/radius/local"];
        let role = json!({"properties": {"user": "carol", "role": "reader", "scopes": scopes}});
        let role = role.to_string();
        let given = world.call_as("root", "PUT", &assignment, &role);
        given.await.expect(201);
        world.put_group("gone").await;
        let logs = VPCS.replace("AWS.EC2/VPC", "AWS.Logs/LogGroup/:put");
        let body = json!({"alias": "logs", "trackedBy": "/planes/radius/local/resourcegroups/gone",
            "properties": {"LogGroupName": "logs"}});
        let body = body.to_string();
        let made = world.call_as("root", "POST", &logs, &body);
        made.await.expect(201);
        world.settle().await;
        let group = format!("/planes/radius/local/resourcegroups/gone?{VERSION}");
        let later = [
            ("authorization", "Bearer root"),
            ("prefer", "respond-async"),
        ];
        let reply = world.send_with(&later, "DELETE", &group, "").await;
        let deletion = operation(&reply.expect(202));
        world.settle().await;
        Self {
            identifier,
            put,
            deletion,
            plan,
            refactor,
        }
    }

    /// Returns the path of the same request about what is there.
    fn path(&self, Request { route, path, .. }: &Request) -> String {
        let operation = if route.starts_with("/planes/aws") {
            &self.put
        } else {
            &self.deletion
        };
        let id = match route {
            _ if route.contains("{plan}") => &self.plan,
            _ if route.contains("{refactor}") => &self.refactor,
            _ => operation,
        };
        path.replace(&format!("/{ALIAS}"), "/main")
            .replace(ASSIGNMENT, "of-carol")
            .replace(IDENTIFIER, &self.identifier)
            .replace(ID, id)
    }
}

fn operation(reply: &Reply) -> String {
    let url = reply.header("azure-asyncoperation").expect("an operation");
    let path = url.split('?').next().unwrap_or_default();
    path.rsplit('/').next().unwrap_or_default().to_owned()
}

/// Returns the path about what is not there: in a group, an account and a plane that are not there either.
fn absent(Request { path, .. }: &Request) -> String {
    path.replace("/rg", "/no-group")
        .replace("123456789012", "999999999999")
        .replace("/default", "/no-credential")
}

/// Reads as somebody. Returns the calls of the store, too, but not those that record the refusal.
async fn read(world: &World, who: &str, path: &str) -> (Reply, Vec<&'static str>) {
    let before = world.asked_of_store_in_order().len();
    let token = format!("Bearer {who}");
    let headers = [("authorization", token.as_str())];
    let path = format!("{path}?{VERSION}");
    let reply = world.send_with(&headers, "GET", &path, "").await;
    let mut asked = world.asked_of_store_in_order().split_off(before);
    asked.retain(|method| *method != "append_audit_events");
    (reply, asked)
}

/// Returns a text about `absent` as it would be about `there`.
fn as_if_there(text: &str, absent: &str, there: &str) -> String {
    let segments = absent.split('/').zip(there.split('/'));
    let others = segments.filter(|(absent, there)| absent != there);
    others.fold(text.to_owned(), |text, (absent, there)| {
        text.replace(absent, there)
    })
}

#[apply(on_every_store)]
async fn what_may_not_be_read_costs_what_is_not_there(kind: StoreKind) {
    let Some(builder) = World::builder().on(kind).await else {
        return;
    };
    let grants = vec![grant("bob", Role::Owner, &[ELSEWHERE])];
    let world = builder.granting(grants).build().await;
    let things = Things::make(&world).await;
    // What was given to whom is read once, and then remembered for as long as the clock stands.
    read(&world, "bob", "/planes").await;
    let mut looked_up = Vec::new();
    for request in requests() {
        let route = &request.route;
        let is_list = ["/planes/{type}", "/planes/radius/{plane}/resourcegroups"]
            .contains(&&**route)
            || route.ends_with("/refactors")
            || route.ends_with("/roleAssignments")
            || route.contains("System.Azure");
        if request.method != "GET" || is_list || !route.starts_with("/planes/") {
            continue;
        }
        let [there, absent] = [things.path(&request), absent(&request)];
        let (hidden, asked) = read(&world, "bob", &there).await;
        let (missing, asked_in_vain) = read(&world, "bob", &absent).await;
        assert!(
            matches!(hidden.status, 403 | 404),
            "{there}: {}",
            hidden.text
        );
        assert_eq!(hidden.status, missing.status, "{there} and {absent}");
        let missing = as_if_there(&missing.text, &absent, &there);
        assert_eq!(hidden.text, missing);
        assert_eq!(asked, asked_in_vain, "{there} and {absent}");
        if !asked.is_empty() {
            // It is there, so that there is something to be hidden.
            let (shown, _) = read(&world, "root", &there).await;
            assert!(matches!(shown.status, 200 | 204), "{there}: {}", shown.text);
            let (shown, _) = read(&world, "root", &absent).await;
            shown.expect(404);
            looked_up.push(route.rsplit('/').nth(1).expect("a name").to_owned());
        }
    }
    // Everything else is not even looked up.
    looked_up.sort();
    let by_their_scopes = [
        "operationResults",
        "operationResults",
        "operationStatuses",
        "operationStatuses",
        "plans",
        "refactors",
        "roleAssignments",
    ];
    assert_eq!(looked_up, by_their_scopes);
    world.finish().await;
}
