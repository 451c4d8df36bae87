//! Every kind of change, at every crash point, with the first reply of each kind of call lost or none: a process dies
//! there and another continues, and a worker stalls there while another takes over and ends the operation. The change
//! is made once, nothing is doubled or left behind, and the reference is right.

use std::time::Duration;

use serde_json::{Value, json};
use ucp_simulator::faults::{Effect, fail, fault, refuse};
use ucp_simulator::{Action, ExceptionCode, HandlerErrorCode};
use ucp_testkit::{
    ACCOUNT, GROUP, REGION, StoreKind, World, apply, disturb_everywhere, on_every_store, tracked_by,
};

const VPC: &str = "AWS.EC2/VPC";
const LOG_GROUP: &str = "AWS.Logs/LogGroup";
const LOGS: &str = "logs";

/// A change to make.
#[derive(Clone, Copy, Debug)]
enum Change {
    /// A put of a type whose identifier AWS assigns.
    CreateAssigned,
    /// A put of a type whose identifier is declared.
    CreateNamed,
    CreateByName,
    Update,
    UpdateByName,
    /// A put that updates a resource that the alias does not stand for yet.
    Adopt,
    /// A put after the resource was deleted outside.
    Recreate,
    CreateBeforeDelete,
    DeleteBeforeCreate,
    /// A replacement whose old resource cannot be deleted at first.
    LeaveOld,
    DeleteByAlias,
    DeleteByName,
    DeleteReference,
    DeleteGroup,
    ImportIntoGroup,
    /// What came of a create of unknown outcome is found out: something, or nothing. No request asks for it.
    ResolveMade,
    ResolveNothing,
}

/// A request: method, path and body.
type Request = (&'static str, String, Value);

impl Change {
    /// Makes what the change needs.
    async fn prepare(self, world: &World) {
        match self {
            Change::CreateAssigned | Change::CreateNamed | Change::CreateByName => {}
            Change::Update | Change::CreateBeforeDelete | Change::DeleteBeforeCreate => {
                put_vpc(world).await;
            }
            Change::LeaveOld => {
                put_vpc(world).await;
                let kept = fail(HandlerErrorCode::InvalidRequest).saying("Not now.");
                let kept = fault(kept).on(Action::DeleteResource);
                world.aws.add_fault(kept.times(1));
            }
            Change::Recreate => {
                put_vpc(world).await;
                let vpc = world.live("AWS::EC2::VPC").remove(0);
                world.vanish("AWS::EC2::VPC", &vpc);
            }
            Change::UpdateByName | Change::Adopt | Change::DeleteByName => stray(world).await,
            Change::ImportIntoGroup => stray(world).await,
            Change::ResolveMade => lose_track(world, true).await,
            Change::ResolveNothing => lose_track(world, false).await,
            Change::DeleteByAlias | Change::DeleteReference => put_logs(world).await,
            Change::DeleteGroup => {
                put_vpc(world).await;
                put_logs(world).await;
            }
        }
    }

    /// The request; `None` for what `ucp` does by itself.
    fn request(self) -> Option<Request> {
        let vpc = |body: Value| ("POST", action(VPC, "put"), body);
        let reference = tracked_by(VPC, "main");
        let logs = tracked_by(LOG_GROUP, LOGS);
        let retention = json!({"RetentionInDays": 30});
        Some(match self {
            Change::ResolveMade | Change::ResolveNothing => return None,
            Change::CreateAssigned | Change::Recreate => {
                vpc(json!({"trackedBy": reference, "properties": {"CidrBlock": "10.0.0.0/16"}}))
            }
            Change::Update => vpc(json!({"trackedBy": reference,
                "properties": {"CidrBlock": "10.0.0.0/16", "EnableDnsSupport": false}})),
            Change::CreateBeforeDelete | Change::LeaveOld => vpc(json!({"trackedBy": reference,
                "replacementPolicy": "createBeforeDelete", "properties": {"CidrBlock": "10.1.0.0/16"}})),
            Change::DeleteBeforeCreate => vpc(json!({"trackedBy": reference,
                "replacementPolicy": "deleteBeforeCreate", "properties": {"CidrBlock": "10.1.0.0/16"}})),
            Change::CreateNamed | Change::Adopt => {
                let properties = json!({"LogGroupName": LOGS, "RetentionInDays": 30});
                let body = json!({"trackedBy": logs, "properties": properties});
                ("POST", action(LOG_GROUP, "put"), body)
            }
            Change::CreateByName | Change::UpdateByName => {
                ("PUT", by_name(), json!({"properties": retention}))
            }
            Change::DeleteByAlias => (
                "POST",
                action(LOG_GROUP, "delete"),
                json!({"trackedBy": logs}),
            ),
            Change::DeleteByName => ("DELETE", by_name(), Value::Null),
            Change::DeleteReference => ("DELETE", logs, Value::Null),
            Change::DeleteGroup => ("DELETE", group(), Value::Null),
            Change::ImportIntoGroup => {
                let item = json!({"alias": LOGS, "type": LOG_GROUP, "scope": scope(),
                    "primaryIdentifier": LOGS});
                (
                    "POST",
                    format!("{GROUP}/:import"),
                    json!({"resources": [item]}),
                )
            }
        })
    }

    /// Expects the result of the change.
    async fn check(self, world: &World) {
        let (vpcs, logs) = (
            world.live("AWS::EC2::VPC"),
            world.live("AWS::Logs::LogGroup"),
        );
        match self {
            Change::CreateAssigned
            | Change::Update
            | Change::Recreate
            | Change::CreateBeforeDelete
            | Change::DeleteBeforeCreate => {
                assert_eq!(vpcs.len(), 1, "{vpcs:?}");
                let [reference] = &world.references().await[..] else {
                    panic!("expected one reference")
                };
                assert_eq!(reference["mapsTo"]["primaryIdentifier"], vpcs[0].as_str());
                assert_eq!(reference["ownedResource"], true);
                assert_eq!(reference["provisioningState"], "Succeeded");
            }
            // The register has the old one.
            Change::LeaveOld => {
                let [reference] = &world.references().await[..] else {
                    panic!("expected one reference")
                };
                let new = reference["mapsTo"]["primaryIdentifier"].as_str();
                let new = new.expect("an identifier").to_owned();
                assert!(vpcs.contains(&new), "{vpcs:?}");
                assert_eq!(vpcs.len(), 2, "{vpcs:?}");
            }
            Change::CreateNamed | Change::Adopt | Change::ImportIntoGroup => {
                assert_eq!(logs, [LOGS]);
                let [reference] = &world.references().await[..] else {
                    panic!("expected one reference")
                };
                assert_eq!(reference["mapsTo"]["primaryIdentifier"], LOGS);
                let is_ours = matches!(self, Change::CreateNamed);
                assert_eq!(reference["ownedResource"], is_ours);
                assert_eq!(reference["provisioningState"], "Succeeded");
            }
            Change::CreateByName | Change::UpdateByName => {
                assert_eq!(logs, [LOGS]);
                assert!(world.references().await.is_empty());
            }
            Change::DeleteByAlias | Change::DeleteByName | Change::DeleteReference => {
                assert!(logs.is_empty(), "{logs:?}");
                assert!(world.references().await.is_empty());
            }
            Change::ResolveMade => {
                assert_eq!(vpcs.len(), 1, "{vpcs:?}");
                let [reference] = &world.references().await[..] else {
                    panic!("expected one reference")
                };
                assert_eq!(reference["mapsTo"]["primaryIdentifier"], vpcs[0].as_str());
                assert_eq!(reference["ownedResource"], true);
                assert_eq!(reference["provisioningState"], "Failed");
            }
            Change::ResolveNothing => {
                assert!(vpcs.is_empty(), "{vpcs:?}");
                assert!(world.references().await.is_empty());
            }
            Change::DeleteGroup => {
                assert!(vpcs.is_empty() && logs.is_empty(), "{vpcs:?} {logs:?}");
                world.get(&group()).await.expect(404);
            }
        }
        assert_eq!(world.creates(), self.creates());
    }

    /// The calls that its workers make.
    fn calls(self) -> &'static [Action] {
        use Action::{
            CreateResource as Create, DeleteResource as Delete, GetResource as Get,
            GetResourceRequestStatus as Poll, ListResources as List, UpdateResource as Update,
        };
        match self {
            Change::CreateAssigned
            | Change::CreateNamed
            | Change::CreateByName
            | Change::Recreate => &[Get, Create, Poll],
            Change::Update | Change::UpdateByName | Change::Adopt => &[Get, Update, Poll],
            Change::CreateBeforeDelete | Change::DeleteBeforeCreate | Change::LeaveOld => {
                &[Get, Create, Delete, Poll]
            }
            Change::DeleteByAlias
            | Change::DeleteByName
            | Change::DeleteReference
            | Change::DeleteGroup => &[Get, Delete, Poll],
            Change::ImportIntoGroup => &[Get],
            Change::ResolveMade => &[List, Get],
            Change::ResolveNothing => &[List],
        }
    }

    /// The number of resources that are created, those of the preparation included.
    fn creates(self) -> usize {
        match self {
            Change::CreateAssigned
            | Change::CreateNamed
            | Change::CreateByName
            | Change::Update
            | Change::UpdateByName
            | Change::Adopt
            | Change::DeleteByAlias
            | Change::DeleteByName
            | Change::DeleteReference
            | Change::ImportIntoGroup
            | Change::ResolveMade
            | Change::ResolveNothing => 1,
            Change::Recreate
            | Change::CreateBeforeDelete
            | Change::DeleteBeforeCreate
            | Change::LeaveOld
            | Change::DeleteGroup => 2,
        }
    }
}

/// Makes the change with every mishap. Over a database, replies are lost only if `UCP_MATRIX=all`: it takes minutes, and
/// what follows a lost reply does not depend on the store.
async fn survives(kind: StoreKind, change: Change) {
    let calls = match kind {
        StoreKind::Memory => change.calls(),
        StoreKind::Sqlite | StoreKind::Postgres if ucp_choice::is_matrix_whole() => change.calls(),
        StoreKind::Sqlite | StoreKind::Postgres => &[],
    };
    let lost = calls.iter().copied().map(Some);
    for lost in std::iter::once(None).chain(lost) {
        let scenario = async |world: &World| {
            change.prepare(world).await;
            world.may_crash();
            if let Some(action) = lost {
                // Workers report it.
                world.tolerate_log("the call did not succeed");
                world
                    .aws
                    .add_fault(fault(Effect::DropReply {}).on(action).times(1));
            }
            if let Some((method, path, body)) = change.request() {
                let body = match body {
                    Value::Null => String::new(),
                    body => body.to_string(),
                };
                let ended = world.see_through(method, &path, &body).await;
                if let Some(ended) = ended {
                    let fails = matches!(change, Change::LeaveOld);
                    let end = if fails { "Failed" } else { "Succeeded" };
                    // After a crash, the request is repeated, and finds the new one.
                    let is_repeated =
                        fails && world.has_crashed() && ended["status"] == "Succeeded";
                    assert!(is_repeated || ended["status"] == end, "{lost:?}: {ended}");
                }
            } else {
                keep(world).await;
            }
            let faults = world.aws.faults();
            // After a mishap the call may be needless.
            assert!(
                faults.is_empty() || world.is_disturbed(),
                "no reply was lost: {faults:?}"
            );
            change.check(world).await;
        };
        println!("{change:?} with the reply to {lost:?} lost");
        disturb_everywhere(kind, scenario).await;
    }
}

/// One test per change and store.
macro_rules! survivors {
    ($($name:ident: $change:ident,)*) => {
        $(
            #[apply(on_every_store)]
            async fn $name(kind: StoreKind) {
                survives(kind, Change::$change).await;
            }
        )*
    };
}

survivors! {
    a_create: CreateAssigned,
    a_create_of_a_declared_name: CreateNamed,
    a_create_by_name: CreateByName,
    an_update: Update,
    an_update_by_name: UpdateByName,
    an_adoption: Adopt,
    a_create_of_what_was_deleted_outside: Recreate,
    a_replacement_that_creates_first: CreateBeforeDelete,
    a_replacement_that_deletes_first: DeleteBeforeCreate,
    a_replacement_that_leaves_the_old_one: LeaveOld,
    a_delete: DeleteByAlias,
    a_delete_by_name: DeleteByName,
    the_delete_of_a_reference: DeleteReference,
    the_deletion_of_a_group: DeleteGroup,
    an_import_into_a_group: ImportIntoGroup,
    a_resolve_that_finds_something: ResolveMade,
    a_resolve_that_finds_nothing: ResolveNothing,
}

async fn put_vpc(world: &World) {
    let ended = world
        .put_and_settle(VPC, "main", json!({"CidrBlock": "10.0.0.0/16"}))
        .await;
    assert_eq!(ended["status"], "Succeeded", "{ended}");
}

async fn put_logs(world: &World) {
    let ended = world
        .put_and_settle(LOG_GROUP, LOGS, json!({"LogGroupName": LOGS}))
        .await;
    assert_eq!(ended["status"], "Succeeded", "{ended}");
}

/// Creates the log group outside every group.
async fn stray(world: &World) {
    let body = json!({"properties": {"LogGroupName": LOGS}});
    world.post(LOG_GROUP, "put", &body).await.expect(201);
    world.settle().await;
}

/// A create of which AWS does not say what came of it.
async fn lose_track(world: &World, made: bool) {
    let late = fail(HandlerErrorCode::ServiceTimeout).hidden();
    let late = if made { late.made() } else { late };
    let late = fault(late).on(Action::CreateResource);
    world.aws.add_fault(late.times(1));
    // The operation itself may not find it.
    let unlisted = refuse(ExceptionCode::AccessDenied).saying("no");
    let unlisted = fault(unlisted).on(Action::ListResources);
    world.aws.add_fault(unlisted);
    let ended = world
        .put_and_settle(VPC, "main", json!({"CidrBlock": "10.0.0.0/16"}))
        .await;
    world.aws.clear_faults();
    assert_eq!(ended["error"]["code"], "OutcomeUnknown", "{ended}");
    world.clock.advance(Duration::from_secs(2 * 3600));
}

/// Lets the keeper do what is due, for a day.
async fn keep(world: &World) {
    for _ in 0..4 {
        world.keep().await;
        world.settle().await;
        world.clock.advance(Duration::from_secs(6 * 3600));
    }
}

fn scope() -> String {
    format!("/planes/aws/aws/accounts/{ACCOUNT}/regions/{REGION}")
}

fn action(resource_type: &str, name: &str) -> String {
    format!("{}/providers/{resource_type}/:{name}", scope())
}

fn group() -> String {
    format!("{GROUP}?api-version=2023-10-01-preview")
}

fn by_name() -> String {
    format!("{}/providers/{LOG_GROUP}/{LOGS}", scope())
}
