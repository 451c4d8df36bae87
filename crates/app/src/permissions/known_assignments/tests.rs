use std::sync::atomic::{AtomicBool, AtomicI64, AtomicUsize, Ordering};

use async_trait::async_trait;
use ucp_access::{Assignment, Grant, Principal, Role, Scope, Source};
use ucp_model::{NewPlane, PlaneId, ResourceGroup, RoleAssignmentId};
use ucp_store::{Memory, NewRoleAssignment, Precondition, RoleAssignment};

use super::*;

/// A clock that is moved by hand.
#[derive(Default)]
struct Hand(AtomicI64);

impl Hand {
    fn advance(&self, duration: Duration) {
        let millis = i64::try_from(duration.as_millis()).unwrap();
        self.0.fetch_add(millis, Ordering::SeqCst);
    }
}

impl Clock for Hand {
    fn now(&self) -> Timestamp {
        Timestamp::from_millis(1_767_225_600_000 + self.0.load(Ordering::SeqCst))
    }
}

/// Counts what is read, lets others go on meanwhile, and can be out of reach.
#[derive(Default)]
struct Counting {
    memory: Arc<Memory>,
    reads: AtomicUsize,
    is_away: AtomicBool,
}

#[async_trait]
impl RoleAssignments for Counting {
    async fn put_role_assignment(
        &self,
        new: NewRoleAssignment,
        judged: Option<&RoleAssignment>,
        groups: &[ResourceGroup],
        now: Timestamp,
    ) -> Result<RoleAssignment, Error> {
        self.memory
            .put_role_assignment(new, judged, groups, now)
            .await
    }

    async fn get_role_assignment(
        &self,
        id: &RoleAssignmentId,
    ) -> Result<Option<RoleAssignment>, Error> {
        self.memory.get_role_assignment(id).await
    }

    async fn list_role_assignments(
        &self,
        plane: Option<&str>,
        after: Option<&RoleAssignmentId>,
        limit: usize,
    ) -> Result<Vec<RoleAssignment>, Error> {
        self.reads.fetch_add(1, Ordering::SeqCst);
        let listed = self.memory.list_role_assignments(plane, after, limit).await;
        tokio::task::yield_now().await;
        if self.is_away.load(Ordering::SeqCst) {
            Err(Error::Unavailable("away".into()))
        } else {
            listed
        }
    }

    async fn delete_role_assignment(&self, judged: &RoleAssignment) -> Result<bool, Error> {
        self.memory.delete_role_assignment(judged).await
    }
}

struct Fixture {
    store: Arc<Counting>,
    clock: Arc<Hand>,
    known: KnownAssignments,
}

async fn fixture() -> Fixture {
    let (store, clock) = (Arc::new(Counting::default()), Arc::new(Hand::default()));
    let known = KnownAssignments::new(store.memory.clone(), store.clone(), clock.clone());
    let fixture = Fixture {
        store,
        clock,
        known,
    };
    fixture.put_plane("local").await;
    fixture
}

fn plane(name: &str) -> PlaneId {
    let (kind, name) = (PlaneKind::Radius, name.to_owned());
    PlaneId { kind, name }
}

fn bob() -> Principal {
    Principal {
        name: "bob".to_owned(),
        groups: Vec::new(),
        source: Source::Certificate,
        grants: Vec::new(),
    }
}

impl Fixture {
    async fn put_plane(&self, name: &str) {
        let new = NewPlane {
            id: plane(name),
            location: "global".to_owned(),
            tags: std::collections::BTreeMap::new(),
            body: serde_json::Map::new(),
        };
        let (memory, now) = (&self.store.memory, self.clock.now());
        let put = memory.put_plane(new, &Precondition::NONE, now);
        put.await.unwrap();
    }

    async fn give(&self, name: &str) -> RoleAssignment {
        self.give_under("local", name).await
    }

    async fn give_under(&self, plane: &str, name: &str) -> RoleAssignment {
        let everything = vec![Scope::everything()];
        let new = NewRoleAssignment {
            id: RoleAssignmentId::new(plane, name).unwrap(),
            location: "global".to_owned(),
            tags: std::collections::BTreeMap::new(),
            body: Assignment {
                grant: Grant::new("bob".parse().unwrap(), Role::Reader, everything).unwrap(),
                created_by: "alice".to_owned(),
                modified_by: "alice".to_owned(),
            },
        };
        let put = self
            .store
            .put_role_assignment(new, None, &[], self.clock.now());
        put.await.unwrap()
    }

    /// How many grants Bob has.
    async fn known(&self) -> usize {
        let known = self.known.known().await.unwrap();
        known.naming(&bob()).count()
    }

    fn reads(&self) -> usize {
        self.store.reads.load(Ordering::SeqCst)
    }

    fn is_away(&self, is_away: bool) {
        self.store.is_away.store(is_away, Ordering::SeqCst);
    }
}

#[tokio::test]
async fn requests_at_the_same_time_read_once() {
    let fixture = fixture().await;
    fixture.give("a").await;
    let (one, other) = tokio::join!(fixture.known(), fixture.known());
    assert_eq!((one, other, fixture.reads()), (1, 1, 1));
    fixture.clock.advance(FRESH - Duration::from_millis(1));
    assert_eq!((fixture.known().await, fixture.reads()), (1, 1));
    fixture.clock.advance(Duration::from_millis(1));
    assert_eq!((fixture.known().await, fixture.reads()), (1, 2));
}

#[tokio::test]
async fn all_pages_are_read() {
    let fixture = fixture().await;
    for number in 0..=PAGE {
        fixture.give(&format!("a{number}")).await;
    }
    assert_eq!((fixture.known().await, fixture.reads()), (PAGE + 1, 2));
}

/// Also of a reading that was under way when the change ended.
#[tokio::test]
async fn a_change_ends_what_was_read_before() {
    let fixture = fixture().await;
    assert_eq!(fixture.known().await, 0);
    let change = async {
        let _changing = fixture.known.changing();
        fixture.give("a").await;
    };
    change.await;
    assert_eq!(fixture.known().await, 1);

    let read = fixture.known.read();
    let change = async {
        let _changing = fixture.known.changing();
        fixture.give("b").await;
    };
    let (read, ()) = tokio::join!(read, change);
    assert_eq!(read.unwrap().naming(&bob()).count(), 1, "read before");
    assert_eq!(fixture.known().await, 2);
}

#[tokio::test]
async fn what_was_read_is_used_for_a_while_without_a_database() {
    let fixture = fixture().await;
    fixture.give("a").await;
    assert_eq!(fixture.known().await, 1);
    fixture.is_away(true);
    fixture.clock.advance(FRESH);
    assert_eq!((fixture.known().await, fixture.reads()), (1, 2));
    assert_eq!((fixture.known().await, fixture.reads()), (1, 2), "a pause");
    fixture.clock.advance(GRACE - Duration::from_millis(1));
    assert_eq!((fixture.known().await, fixture.reads()), (1, 3));
    fixture.clock.advance(Duration::from_millis(1));
    for _ in 0..2 {
        fixture.known.known().await.unwrap_err();
    }
    assert_eq!(fixture.reads(), 3);
    fixture.is_away(false);
    fixture.clock.advance(PAUSE);
    assert_eq!((fixture.known().await, fixture.reads()), (1, 4));
}

#[tokio::test]
async fn nothing_is_permitted_or_forbidden_before_the_first_reading() {
    let fixture = fixture().await;
    fixture.is_away(true);
    fixture.known.known().await.unwrap_err();
}

/// What a change has taken away is not used again because the database is out of reach.
#[tokio::test]
async fn what_was_changed_is_not_used_without_a_database() {
    let fixture = fixture().await;
    let given = fixture.give("a").await;
    assert_eq!(fixture.known().await, 1);
    let changing = fixture.known.changing();
    assert!(fixture.store.delete_role_assignment(&given).await.unwrap());
    drop(changing);
    fixture.is_away(true);
    fixture.known.known().await.unwrap_err();
}

/// Nobody sees in a list what is under a plane that does not exist.
#[tokio::test]
async fn only_what_is_under_planes_that_exist_counts() {
    let fixture = fixture().await;
    fixture.give("a").await;
    for number in 0..PAGE {
        fixture.put_plane(&format!("p{number}")).await;
    }
    fixture.give_under("P999", "b").await;
    fixture.give_under("gone", "c").await;
    assert_eq!(fixture.known().await, 2);
    let (memory, local) = (&fixture.store.memory, plane("local"));
    let deleted = memory.delete_plane(&local, &Precondition::NONE);
    assert!(deleted.await.unwrap());
    fixture.clock.advance(FRESH);
    assert_eq!(fixture.known().await, 1);
}
