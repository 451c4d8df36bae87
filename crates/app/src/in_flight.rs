//! The memory that requests work with, as it is estimated from what they send and what they read. No caller takes all of it.
//!
//! A request takes its estimate before it begins, and waits a while for it. What it takes later, since it reads more than was
//! estimated, it gets at once or not at all: requests that hold some of it do not wait for each other. One request at a time may read
//! more than its caller may have, up to a bound.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use serde_json::Value;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::time::timeout;
use ucp_cpu_pool::Shares;
use ucp_model::{ErrorCode, Failure, Reference, json};

use crate::{BeyondRate, Rejection};

/// What the requests of one caller work with at a time.
pub const CALLER_MAX_BYTES: usize = 48 << 20;
/// What all requests work with at a time.
pub const ALL_MAX_BYTES: usize = 192 << 20;
/// What of that is kept for what small requests begin with.
pub const SMALL_MAX_BYTES: usize = 32 << 20;
/// The part of what is kept for small ones that one caller has.
const CALLERS_SMALL: usize = 4;
/// With how much a small request begins at most, and what a small body has.
const SMALL: usize = 2 << 20;
/// What one request may have besides all that its caller has. One at a time has any of it.
pub const BEYOND_MAX_BYTES: usize = 192 << 20;
/// The bodies of one caller that are in memory and not read yet.
pub const CALLER_BODIES_MAX_BYTES: usize = 16 << 20;
/// The same of all callers.
pub const ALL_BODIES_MAX_BYTES: usize = 64 << 20;
/// What of that is kept for small bodies.
const SMALL_BODIES_MAX_BYTES: usize = 16 << 20;
/// What each value of a body takes besides its bytes.
pub const VALUE_BYTES: usize = 100;
/// How often a body is in memory that makes several resources, as it is read, judged and planned.
pub const SET_COPIES: usize = 10;
/// How long a request waits for it.
const MAX_WAIT: Duration = Duration::from_secs(2);
/// When it is worth trying again, in seconds.
const RETRY_AFTER: u64 = 1;
/// What is counted as one.
const UNIT: usize = 1 << 10;

/// Returns what a JSON text of so many bytes and values takes once it is read.
pub fn tree_bytes(bytes: usize, values: usize) -> usize {
    bytes.saturating_add(values.saturating_mul(VALUE_BYTES))
}

/// Returns what a value takes.
pub(crate) fn taken_by(value: &Value) -> usize {
    let (bytes, values) = json::extent(value);
    tree_bytes(bytes, values)
}

/// Returns what the last declaration of a reference and its observed properties take.
pub(crate) fn recorded_by(reference: &Reference) -> usize {
    let declared = reference.baseline.as_ref().map(|last| &last.declared);
    let known = [declared, reference.observed.as_ref()];
    known.into_iter().flatten().map(taken_by).sum()
}

/// What the requests under way have taken.
#[derive(Debug)]
pub struct InFlight {
    most_of_all: usize,
    most_of_caller: usize,
    all: Arc<Semaphore>,
    /// What small ones have if nothing of `all` is left, so that they do not wait behind the large ones.
    small: Arc<Semaphore>,
    callers: Shares,
    /// What each caller has of `small`.
    callers_small: Shares,
    /// For the one request that has more than its caller has.
    beyond: Arc<Semaphore>,
}

impl InFlight {
    /// The memory that requests work with.
    pub fn work() -> Arc<Self> {
        Self::of(CALLER_MAX_BYTES, ALL_MAX_BYTES, SMALL_MAX_BYTES)
    }

    /// The bodies that are in memory until they are read.
    pub fn bodies() -> Arc<Self> {
        Self::of(
            CALLER_BODIES_MAX_BYTES,
            ALL_BODIES_MAX_BYTES,
            SMALL_BODIES_MAX_BYTES,
        )
    }

    fn of(most_of_caller: usize, most_of_all: usize, small: usize) -> Arc<Self> {
        Arc::new(Self {
            most_of_all,
            most_of_caller,
            all: Arc::new(Semaphore::new((most_of_all - small) / UNIT)),
            small: Arc::new(Semaphore::new(small / UNIT)),
            callers: Shares::of(most_of_caller / UNIT),
            callers_small: Shares::of(small / CALLERS_SMALL / UNIT),
            beyond: Arc::new(Semaphore::new(1)),
        })
    }

    /// Returns the room of a request of this caller, which has taken nothing yet.
    pub fn room(self: &Arc<Self>, caller: &Arc<str>) -> Room {
        Room(Some(Arc::new(Held {
            in_flight: Arc::clone(self),
            caller: Arc::clone(caller),
            taken: Mutex::default(),
        })))
    }
}

/// What one request takes, until the last clone is dropped. That of whoever is not counted is unlimited.
#[derive(Clone, Debug, Default)]
pub struct Room(Option<Arc<Held>>);

#[derive(Debug)]
struct Held {
    in_flight: Arc<InFlight>,
    caller: Arc<str>,
    taken: Mutex<Option<Taken>>,
}

#[derive(Debug)]
struct Taken {
    of_caller: OwnedSemaphorePermit,
    of: Of,
    beyond: Option<Beyond>,
}

/// Where that is taken from.
#[derive(Debug, Default)]
struct Of {
    /// What the caller has of what is kept for small requests, and that.
    small: [Option<OwnedSemaphorePermit>; 2],
    all: Option<OwnedSemaphorePermit>,
}

impl Of {
    fn all(all: OwnedSemaphorePermit) -> Self {
        Self {
            all: Some(all),
            ..Self::default()
        }
    }

    fn and(&mut self, more: Self) {
        let Self { small, all } = more;
        let own = self.small.iter_mut().chain([&mut self.all]);
        for (own, more) in own.zip(small.into_iter().chain([all])) {
            match (own.as_mut(), more) {
                (Some(own), Some(more)) => own.merge(more),
                (None, more) => *own = more,
                (Some(_), None) => {}
            }
        }
    }

    /// Gives back so many units, first those that are kept for small requests.
    fn give_back(&mut self, units: usize) {
        let mut left = units;
        for permits in [&mut self.small[..], std::slice::from_mut(&mut self.all)] {
            let mut some = 0;
            for own in permits.iter_mut().flatten() {
                some = left.min(own.num_permits());
                drop(own.split(some));
            }
            left -= some;
        }
    }
}

/// What a request has besides all that its caller has.
#[derive(Debug)]
struct Beyond {
    units: usize,
    _place: OwnedSemaphorePermit,
}

/// Why a request cannot take more.
enum NotTaken {
    /// Others have it.
    Full,
    /// Another request has more than its caller.
    Behind,
    /// No request may have so much.
    TooMuch,
}

impl Taken {
    fn units(&self) -> usize {
        self.of_caller.num_permits()
    }

    fn and(&mut self, more: Self) {
        self.of_caller.merge(more.of_caller);
        self.of.and(more.of);
        self.beyond = self.beyond.take().or(more.beyond);
    }

    /// Gives back what is more than so many units.
    fn keep(&mut self, units: usize) {
        let more = self.units().saturating_sub(units);
        drop(self.of_caller.split(more));
        self.of.give_back(more);
        let left = units.saturating_sub(self.units());
        self.beyond = self
            .beyond
            .take()
            .filter(|_| left > 0)
            .map(|beyond| Beyond {
                units: beyond.units.min(left),
                ..beyond
            });
    }
}

impl Room {
    /// Waits until a request that has taken nothing yet can take so many bytes.
    pub async fn enter(&self, bytes: usize) -> Result<(), Rejection> {
        let Self(Some(held)) = self else {
            return Ok(());
        };
        let units = held.permits(bytes);
        let acquired = timeout(MAX_WAIT, async {
            let of_caller = held.of_caller().acquire_many_owned(units);
            let of_caller = of_caller.await.ok()?;
            Some(Taken {
                of_caller,
                of: held.waited_for(units, bytes <= SMALL).await?,
                beyond: None,
            })
        });
        match acquired.await {
            Ok(Some(taken)) => {
                held.add(taken);
                Ok(())
            }
            Ok(None) | Err(_) => Err(held.full(bytes)),
        }
    }

    /// Waits until there is room for so many bytes that are to be read. A request that has taken some gets them at once or not at
    /// all.
    pub async fn before_read(&self, bytes: usize) -> Result<(), Rejection> {
        if self.has_taken() {
            self.take(bytes)
        } else {
            self.enter(bytes).await
        }
    }

    /// Has so many bytes taken from now on, in place of those that were estimated. What alone has more than a caller may have,
    /// counts as all of that.
    pub fn settle(&self, bytes: usize) -> Result<(), Rejection> {
        let Self(Some(held)) = self else {
            return Ok(());
        };
        self.has_read(bytes.min(held.in_flight.most_of_caller))
    }

    /// Has so many bytes taken from now on, in place of those that were estimated before they were read.
    pub fn has_read(&self, bytes: usize) -> Result<(), Rejection> {
        self.keep(bytes);
        self.reach(bytes)
    }

    /// Has at least so many bytes taken from now on.
    pub fn reach(&self, bytes: usize) -> Result<(), Rejection> {
        let Self(Some(held)) = self else {
            return Ok(());
        };
        if bytes > held.in_flight.most_of_caller {
            return self.take(bytes.saturating_sub(held.all_that_it_has()));
        }
        let more = held.permits(bytes).saturating_sub(held.has());
        let small = || (bytes <= SMALL).then(|| held.acquire_small(more)).flatten();
        let acquired = held.acquire(more).or_else(small);
        held.add(acquired.ok_or_else(|| held.full(bytes))?);
        Ok(())
    }

    /// Takes so many bytes more for what was read. Of all requests that have more than their callers have, one goes on.
    pub fn take(&self, bytes: usize) -> Result<(), Rejection> {
        let Self(Some(held)) = self else {
            return Ok(());
        };
        held.take_more(bytes).map_err(|why| match why {
            NotTaken::Full => held.full(bytes),
            NotTaken::Behind => behind(),
            NotTaken::TooMuch => too_much(),
        })
    }

    /// Gives back what is more than so many bytes.
    pub fn keep(&self, bytes: usize) {
        let Self(Some(held)) = self else {
            return;
        };
        let mut taken = held.taken.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(taken) = taken.as_mut() {
            taken.keep(bytes.div_ceil(UNIT));
        }
    }

    /// The same for the time of one part of the request, until the returned room is dropped.
    pub fn aside(&self, bytes: usize) -> Result<Self, Rejection> {
        let Self(Some(held)) = self else {
            return Ok(Self(None));
        };
        let units = held.permits(bytes).min(held.left());
        let aside = held.in_flight.room(&held.caller);
        let Self(Some(of_part)) = &aside else {
            return Ok(aside);
        };
        match of_part.take(units) {
            Some(()) => Ok(aside),
            None => Err(held.full(bytes)),
        }
    }
}

impl Room {
    /// Returns whether the request has taken anything.
    pub fn has_taken(&self) -> bool {
        let Self(Some(held)) = self else {
            return false;
        };
        let taken = held.taken.lock().unwrap_or_else(PoisonError::into_inner);
        taken.is_some()
    }
}

impl Held {
    fn of_caller(&self) -> Arc<Semaphore> {
        self.in_flight.callers.of_caller(&self.caller)
    }

    /// Waits for so many units, or small ones for those that are kept for them.
    async fn waited_for(&self, units: u32, is_small: bool) -> Option<Of> {
        let InFlight {
            all,
            small,
            callers_small,
            ..
        } = &*self.in_flight;
        if !is_small {
            let all = Arc::clone(all).acquire_many_owned(units);
            return Some(Of::all(all.await.ok()?));
        }
        if let Ok(all) = Arc::clone(all).try_acquire_many_owned(units) {
            return Some(Of::all(all));
        }
        let own = callers_small.of_caller(&self.caller);
        let own = own.acquire_many_owned(units).await.ok()?;
        let small = Arc::clone(small).acquire_many_owned(units).await.ok()?;
        Some(Of {
            small: [Some(own), Some(small)],
            all: None,
        })
    }

    /// Returns what so many bytes count. What alone has more than a caller may have, counts as all of that.
    fn permits(&self, bytes: usize) -> u32 {
        u32::try_from(bytes.min(self.in_flight.most_of_caller).div_ceil(UNIT)).unwrap_or(u32::MAX)
    }

    /// Returns how many units more the request may take, if no other one has any.
    fn left(&self) -> u32 {
        let most = self.in_flight.most_of_caller / UNIT;
        u32::try_from(most).map_or(u32::MAX, |most| most.saturating_sub(self.has()))
    }

    /// Returns how many units the request has taken.
    fn has(&self) -> u32 {
        let taken = self.taken.lock().unwrap_or_else(PoisonError::into_inner);
        let has = taken.as_ref().map_or(0, Taken::units);
        u32::try_from(has).unwrap_or(u32::MAX)
    }

    /// Returns how many bytes the request has taken, with those beyond.
    fn all_that_it_has(&self) -> usize {
        let taken = self.taken.lock().unwrap_or_else(PoisonError::into_inner);
        let units = taken.as_ref().map_or(0, |taken| {
            taken.units() + taken.beyond.as_ref().map_or(0, |beyond| beyond.units)
        });
        units * UNIT
    }

    /// Takes so many bytes more: of what the request may have, and then beyond. Several parts of it may do so at once.
    fn take_more(&self, bytes: usize) -> Result<(), NotTaken> {
        let mut taken = self.taken.lock().unwrap_or_else(PoisonError::into_inner);
        let has = taken.as_ref().map_or(0, Taken::units);
        let left = (self.in_flight.most_of_caller / UNIT).saturating_sub(has);
        let units = bytes.div_ceil(UNIT);
        let beyond = units.saturating_sub(left);
        let of_caller = u32::try_from(units - beyond).unwrap_or(u32::MAX);
        let before = taken.as_ref().and_then(|taken| taken.beyond.as_ref());
        let is_too_much = |units: usize| units > BEYOND_MAX_BYTES / UNIT;
        let more = match (beyond, before) {
            (0, _) => None,
            (_, Some(before)) if is_too_much(before.units + beyond) => {
                return Err(NotTaken::TooMuch);
            }
            (_, None) if is_too_much(beyond) => return Err(NotTaken::TooMuch),
            (_, Some(_)) => None,
            (_, None) => {
                let place = Arc::clone(&self.in_flight.beyond).try_acquire_owned();
                Some(Beyond {
                    units: beyond,
                    _place: place.map_err(|_| NotTaken::Behind)?,
                })
            }
        };
        let acquired = self.acquire(of_caller).ok_or(NotTaken::Full)?;
        if let Some(before) = taken.as_mut().and_then(|taken| taken.beyond.as_mut()) {
            before.units += beyond;
        }
        let more = Taken {
            beyond: more,
            ..acquired
        };
        match taken.as_mut() {
            Some(taken) => taken.and(more),
            None => *taken = Some(more),
        }
        Ok(())
    }

    fn acquire(&self, units: u32) -> Option<Taken> {
        let of_caller = self.of_caller().try_acquire_many_owned(units);
        let of_all = Arc::clone(&self.in_flight.all).try_acquire_many_owned(units);
        Some(Taken {
            of_caller: of_caller.ok()?,
            of: Of::all(of_all.ok()?),
            beyond: None,
        })
    }

    /// The same of what is kept for small requests.
    fn acquire_small(&self, units: u32) -> Option<Taken> {
        let InFlight {
            small,
            callers_small,
            ..
        } = &*self.in_flight;
        let of_caller = self.of_caller().try_acquire_many_owned(units);
        let own = callers_small.of_caller(&self.caller);
        let own = own.try_acquire_many_owned(units);
        let small = Arc::clone(small).try_acquire_many_owned(units);
        Some(Taken {
            of_caller: of_caller.ok()?,
            of: Of {
                small: [Some(own.ok()?), Some(small.ok()?)],
                all: None,
            },
            beyond: None,
        })
    }

    fn take(&self, units: u32) -> Option<()> {
        self.add(self.acquire(units)?);
        Some(())
    }

    fn add(&self, more: Taken) {
        let mut taken = self.taken.lock().unwrap_or_else(PoisonError::into_inner);
        match taken.as_mut() {
            Some(taken) => taken.and(more),
            None => *taken = Some(more),
        }
    }

    fn full(&self, bytes: usize) -> Rejection {
        let bytes = bytes.min(self.in_flight.most_of_caller);
        let (whose, most) = if self.of_caller().available_permits() < bytes.div_ceil(UNIT) {
            ("your requests", self.in_flight.most_of_caller)
        } else {
            ("all requests", self.in_flight.most_of_all)
        };
        let message = format!(
            "The request needs {bytes} bytes of memory, as estimated, and {whose} under way have too much of the {most} that they may have at a time. Nothing was done. Send fewer at once, or try again in {RETRY_AFTER} s."
        );
        again_later(message)
    }
}

fn behind() -> Rejection {
    let message = format!(
        "The request reads more than its caller may have in memory, and only one such request is served at a time. Nothing was done. Name fewer resources or groups, or try again in {RETRY_AFTER} s."
    );
    again_later(message)
}

fn again_later(message: String) -> Rejection {
    Rejection::BeyondRate(BeyondRate {
        failure: Box::new(Failure::new(ErrorCode::TooManyRequests, message)),
        retry_after: RETRY_AFTER,
    })
}

/// No other request is in the way.
fn too_much() -> Rejection {
    let most = CALLER_MAX_BYTES + BEYOND_MAX_BYTES;
    let message = format!(
        "What the request reads takes more than the {most} bytes of memory that a request may have, as estimated. Nothing was done. Name fewer resources or groups."
    );
    Rejection::TooLarge(Failure::new(ErrorCode::RequestEntityTooLarge, message))
}

#[cfg(test)]
mod tests {
    use super::*;

    const MIB: usize = 1 << 20;

    fn caller(name: &str) -> Arc<str> {
        Arc::from(name)
    }

    /// Returns how many units nobody has.
    fn free_of(in_flight: &InFlight) -> usize {
        in_flight.all.available_permits() + in_flight.small.available_permits()
    }

    /// Takes all but what is kept for small requests.
    async fn all_but_small(in_flight: &Arc<InFlight>) -> [Room; 4] {
        let large = ["ann", "bob", "carol", "dave"].map(|name| in_flight.room(&caller(name)));
        for (large, part) in large.iter().zip([48, 48, 48, 16]) {
            large.enter(part * MIB).await.unwrap();
        }
        large
    }

    #[tokio::test(start_paused = true)]
    async fn a_caller_has_a_part_and_all_have_the_whole() {
        let in_flight = InFlight::work();
        let ann = caller("ann");
        let first = in_flight.room(&ann);
        first.enter(44 * MIB).await.unwrap();
        let second = in_flight.room(&ann);
        second.enter(4 * MIB).await.unwrap();
        assert!(matches!(second.take(1), Err(Rejection::BeyondRate(_))));
        let third = in_flight.room(&ann);
        assert!(third.enter(1).await.is_err());
        let others: Vec<Room> = ["bob", "carol", "dave"]
            .iter()
            .map(|name| in_flight.room(&caller(name)))
            .collect();
        for (other, part) in others.iter().zip([48, 48, 16]) {
            other.enter(part * MIB).await.unwrap();
        }
        let last = in_flight.room(&caller("eve"));
        assert!(last.enter(SMALL + 1).await.is_err());
        drop(first);
        last.enter(44 * MIB).await.unwrap();
        last.take(1).unwrap_err();
    }

    /// However many large requests there are, small ones do not wait for them.
    #[tokio::test(start_paused = true)]
    async fn small_requests_have_a_lane_of_their_own() {
        let in_flight = InFlight::work();
        let large = all_but_small(&in_flight).await;
        let small = Vec::from_iter((0..SMALL_MAX_BYTES / SMALL).map(|number| {
            let caller = caller(&number.to_string());
            in_flight.room(&caller)
        }));
        for small in &small {
            small.enter(SMALL).await.unwrap();
        }
        // What they take later is not kept for them.
        small[0].take(1).unwrap_err();
        let next = in_flight.room(&caller("next"));
        next.enter(1).await.unwrap_err();
        small[1].keep(SMALL / 2);
        next.enter(SMALL / 2).await.unwrap();
        drop((large, small, next));
        assert_eq!(free_of(&in_flight), ALL_MAX_BYTES / UNIT);
    }

    /// However many small requests one caller has, those of others have room.
    #[tokio::test(start_paused = true)]
    async fn a_caller_has_a_part_of_what_is_kept_for_small_requests() {
        let in_flight = InFlight::work();
        let _large = all_but_small(&in_flight).await;
        let most = SMALL_MAX_BYTES / CALLERS_SMALL / SMALL;
        let eve = Vec::from_iter((0..=most).map(|_| in_flight.room(&caller("eve"))));
        for small in &eve[..most] {
            small.enter(SMALL).await.unwrap();
        }
        eve[most].enter(1).await.unwrap_err();
        let other = in_flight.room(&caller("frank"));
        other.enter(SMALL).await.unwrap();
        eve[0].keep(1);
        eve[most].enter(SMALL / 2).await.unwrap();
    }

    /// However many large bodies wait for their place, small ones come.
    #[tokio::test]
    async fn small_bodies_come_beside_large_ones() {
        let bodies = InFlight::bodies();
        let large = ["ann", "bob", "carol"].map(|name| bodies.room(&caller(name)));
        for large in &large {
            large.settle(CALLER_BODIES_MAX_BYTES).unwrap();
        }
        let body = bodies.room(&caller("eve"));
        for bytes in [MIB / 2, SMALL, 0, SMALL] {
            body.settle(bytes).unwrap();
        }
        body.settle(SMALL + 1).unwrap_err();
        drop((large, body));
        assert_eq!(free_of(&bodies), ALL_BODIES_MAX_BYTES / UNIT);
    }

    /// One request is served, however large it is: others of the caller wait for it.
    #[tokio::test(start_paused = true)]
    async fn a_request_counts_as_all_of_its_caller_at_most() {
        let in_flight = InFlight::work();
        let ann = caller("ann");
        let room = in_flight.room(&ann);
        room.enter(1_000 * MIB).await.unwrap();
        let other = in_flight.room(&ann);
        let (waits, ends) = tokio::join!(other.enter(1), async {
            tokio::time::sleep(MAX_WAIT / 2).await;
            drop(room);
        });
        assert!(waits.is_ok());
        let () = ends;
    }

    /// What was read is counted, however much was estimated.
    #[tokio::test]
    async fn one_request_at_a_time_has_more_than_its_caller() {
        let in_flight = InFlight::work();
        let first = in_flight.room(&caller("ann"));
        first.enter(1_000 * MIB).await.unwrap();
        first.take(BEYOND_MAX_BYTES - MIB).unwrap();
        let second = in_flight.room(&caller("bob"));
        second.take(CALLER_MAX_BYTES).unwrap();
        assert!(matches!(second.take(1), Err(Rejection::BeyondRate(_))));
        first.take(MIB).unwrap();
        assert!(matches!(first.take(1), Err(Rejection::TooLarge(_))));
        // It still has more than its caller.
        first.has_read(CALLER_MAX_BYTES + MIB).unwrap();
        assert!(matches!(second.take(1), Err(Rejection::BeyondRate(_))));
        let all = CALLER_MAX_BYTES + BEYOND_MAX_BYTES;
        first.has_read(all).unwrap();
        assert!(matches!(first.take(1), Err(Rejection::TooLarge(_))));
        first.keep(MIB);
        second.take(1).unwrap();
        drop((first, second));
        assert_eq!(free_of(&in_flight), ALL_MAX_BYTES / UNIT);
        assert_eq!(in_flight.beyond.available_permits(), 1);
    }

    #[tokio::test]
    async fn what_was_estimated_too_high_is_given_back() {
        let in_flight = InFlight::work();
        let ann = caller("ann");
        let room = in_flight.room(&ann);
        room.enter(44 * MIB).await.unwrap();
        room.settle(10 * MIB).unwrap();
        let other = in_flight.room(&ann);
        other.enter(34 * MIB).await.unwrap();
        room.settle(20 * MIB).unwrap_err();
        room.settle(14 * MIB).unwrap();
        other.take(1).unwrap_err();
        drop((room, other));
        assert_eq!(free_of(&in_flight), ALL_MAX_BYTES / UNIT);
    }

    #[tokio::test]
    async fn whoever_is_not_counted_has_room() {
        let room = Room::default();
        room.enter(usize::MAX).await.unwrap();
        room.take(usize::MAX).unwrap();
        room.settle(usize::MAX).unwrap();
    }
}
