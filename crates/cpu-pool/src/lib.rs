//! Work that takes CPU time, on a bounded number of threads of its own. The threads of the async runtime only wait for it,
//! so that whatever it is given to judge, probes are answered and leases are renewed.

mod shares;

use std::any::Any;
use std::sync::Arc;
use std::time::Duration;

use tokio::runtime::{Handle, RuntimeFlavor};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::task::block_in_place;
use tokio::time::timeout;

pub use crate::shares::Shares;

/// How long work waits for its turn.
pub const MAX_WAIT: Duration = Duration::from_secs(5);

/// How long work may take once it has its turn. All that runs here is bounded by what it counts, to two seconds of CPU time
/// at most; this is for a machine that has no CPU time left.
pub const MAX_RUN: Duration = Duration::from_secs(10);

tokio::task_local! {
    /// What work keeps until it ends.
    static KEPT: Arc<dyn Any + Send + Sync>;
    /// Whose work it is, if it is not everybody's.
    static ASKED_BY: Option<Arc<str>>;
}

/// Lets the work of `future` in any pool keep `kept` until it ends, also if `future` is dropped before. So it can hold what it
/// takes of the room of a client, although the client has left.
pub async fn keeping<F: Future>(kept: Arc<dyn Any + Send + Sync>, future: F) -> F::Output {
    KEPT.scope(kept, future).await
}

/// Lets the work of `future` in any pool be that of one caller, who gets half of the threads at most: somebody else's work does
/// not wait until all of theirs is done.
pub async fn asked_by<F: Future>(caller: Arc<str>, future: F) -> F::Output {
    ASKED_BY.scope(Some(caller), future).await
}

/// Lets the work of `future` in any pool be everybody's: others wait for it besides the caller who has asked for it first.
pub async fn for_everybody<F: Future>(future: F) -> F::Output {
    ASKED_BY.scope(None, future).await
}

/// A bounded number of threads for work that takes CPU time. Clones share them.
#[derive(Clone, Debug)]
pub struct CpuPool {
    /// `None` if whoever has work does it themselves.
    turns: Option<Arc<Semaphore>>,
    /// The turns that each caller has at a time.
    shares: Arc<Shares>,
}

/// Does work that may take long, without a turn. The thread leaves what else it has to do to another one meanwhile, if it has one.
pub fn in_place<T>(work: impl FnOnce() -> T) -> T {
    match Handle::current().runtime_flavor() {
        RuntimeFlavor::MultiThread => block_in_place(work),
        _ => work(),
    }
}

/// Why work is not done.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Undone {
    /// It was not begun: all threads were busy. Try again later.
    #[error("all threads that judge declarations were busy for {} seconds", MAX_WAIT.as_secs())]
    Busy,
    /// It took too long, and its result is dropped.
    #[error("it took more than {} seconds", MAX_RUN.as_secs())]
    TooLong,
}

impl CpuPool {
    /// Creates a pool with one thread for each core.
    pub fn new() -> Self {
        Self::with_threads(std::thread::available_parallelism().map_or(1, usize::from))
    }

    /// Creates a pool with this many threads.
    pub fn with_threads(threads: usize) -> Self {
        Self {
            turns: Some(Arc::new(Semaphore::new(threads))),
            shares: Arc::new(Shares::of(threads.div_ceil(2))),
        }
    }

    /// Creates a pool without threads: all work is done at once, on the thread of the caller. For tests whose time does not
    /// pass meanwhile, and which are to happen again as they did.
    pub fn of_the_caller() -> Self {
        Self {
            turns: None,
            shares: Arc::new(Shares::of(1)),
        }
    }

    /// Does quick work at once, on the thread of the caller, since it takes less time than to wake another thread and wait
    /// for it. Other work is [run](Self::run).
    pub async fn run_unless_quick<T: Send + 'static>(
        &self,
        is_quick: bool,
        work: impl FnOnce() -> T + Send + 'static,
    ) -> Result<T, Undone> {
        if is_quick {
            Ok(work())
        } else {
            self.run(work).await
        }
    }

    /// Runs `work` when it is its turn. A thread cannot be stopped, so work that takes too long, or that nobody waits for any
    /// more, keeps its turn until it ends, and what it is to [keep](keeping).
    pub async fn run<T: Send + 'static>(
        &self,
        work: impl FnOnce() -> T + Send + 'static,
    ) -> Result<T, Undone> {
        let Some(turns) = &self.turns else {
            return Ok(work());
        };
        let turn = self.turn(turns).await?;
        let kept = KEPT.try_with(Arc::clone).ok();
        let running = tokio::task::spawn_blocking(move || {
            let _until_the_end = (kept, turn);
            work()
        });
        match timeout(MAX_RUN, running).await {
            Ok(Ok(done)) => Ok(done),
            Ok(Err(error)) => match error.try_into_panic() {
                Ok(panic) => std::panic::resume_unwind(panic),
                // The runtime is being shut down.
                Err(_) => Err(Undone::Busy),
            },
            Err(_) => Err(Undone::TooLong),
        }
    }

    /// Does work on what is borrowed, when it is its turn unless it is quick. The thread that asks for it does it, and leaves what
    /// else it has to do to another one meanwhile.
    pub async fn run_here<T>(&self, is_quick: bool, work: impl FnOnce() -> T) -> Result<T, Undone> {
        let Some(turns) = self.turns.as_ref().filter(|_| !is_quick) else {
            return Ok(work());
        };
        let _turn = self.turn(turns).await?;
        Ok(in_place(work))
    }

    /// Waits for a turn. The caller's own comes first, so that what waits for it is in nobody's way.
    async fn turn(&self, turns: &Arc<Semaphore>) -> Result<Turn, Undone> {
        let share = ASKED_BY.try_with(|caller| {
            let caller = caller.as_ref()?;
            Some(self.shares.of_caller(caller))
        });
        let share = share.ok().flatten();
        let turn = async {
            let own = match share {
                Some(share) => Some(share.acquire_owned().await.ok()?),
                None => None,
            };
            let of_all = Arc::clone(turns).acquire_owned().await.ok()?;
            Some(Turn {
                _own: own,
                _of_all: of_all,
            })
        };
        match timeout(MAX_WAIT, turn).await {
            Ok(Some(turn)) => Ok(turn),
            Ok(None) | Err(_) => Err(Undone::Busy),
        }
    }
}

/// The turn of some work, until it is dropped.
struct Turn {
    _own: Option<OwnedSemaphorePermit>,
    _of_all: OwnedSemaphorePermit,
}

impl Default for CpuPool {
    fn default() -> Self {
        Self::new()
    }
}

#[cfg(test)]
mod tests {
    use std::sync::{Mutex, mpsc};

    use tokio::time::Instant;

    use super::*;

    fn turns(pool: &CpuPool) -> Arc<Semaphore> {
        pool.turns.clone().unwrap()
    }

    #[tokio::test]
    async fn a_pool_without_threads_leaves_the_work_to_the_caller() {
        let here = std::thread::current().id();
        let pool = CpuPool::of_the_caller();
        let there = pool.run(|| std::thread::current().id()).await;
        assert_eq!(there, Ok(here));
    }

    #[tokio::test]
    async fn work_is_not_done_on_the_thread_that_waits_for_it() {
        let pool = CpuPool::with_threads(1);
        let here = std::thread::current().id();
        let there = pool.run(|| std::thread::current().id()).await.unwrap();
        assert_ne!(there, here);
    }

    /// The time is the test's own: it passes when nothing else is left to do.
    #[tokio::test(start_paused = true)]
    async fn who_waits_in_vain_for_a_turn_is_told() {
        let pool = CpuPool::with_threads(1);
        let turn = turns(&pool).acquire_owned().await.unwrap();
        let before = Instant::now();
        assert_eq!(pool.run(|| ()).await, Err(Undone::Busy));
        assert_eq!(before.elapsed(), MAX_WAIT);
        drop(turn);
        assert_eq!(pool.run(|| 7).await, Ok(7));
    }

    /// Work that is given up keeps its thread, so that no more than so many ever run.
    #[tokio::test(start_paused = true)]
    async fn work_that_takes_too_long_is_given_up_and_keeps_its_turn() {
        let pool = CpuPool::with_threads(1);
        let (end, ended) = mpsc::channel::<()>();
        let stuck = pool.run(move || ended.recv().unwrap());
        tokio::pin!(stuck);
        let begun = tokio::select! {
            biased;
            _ = &mut stuck => false,
            () = tokio::task::yield_now() => true,
        };
        assert!(begun);
        tokio::time::advance(MAX_RUN).await;
        assert_eq!(stuck.await, Err(Undone::TooLong));
        assert_eq!(turns(&pool).available_permits(), 0);
        end.send(()).unwrap();
        let turn = turns(&pool).acquire_owned().await;
        assert!(turn.is_ok());
    }

    /// Otherwise who leaves again and again could fill all turns.
    #[tokio::test]
    async fn work_that_nobody_waits_for_keeps_what_it_is_to_keep() {
        let pool = CpuPool::with_threads(1);
        let kept = Arc::new(());
        let (end, ended) = mpsc::channel::<()>();
        let work = pool.run(move || ended.recv().unwrap());
        let mut left = Box::pin(keeping(kept.clone(), work));
        tokio::select! {
            biased;
            _ = &mut left => panic!("it waits"),
            () = tokio::task::yield_now() => {}
        }
        drop(left);
        assert_eq!(Arc::strong_count(&kept), 2);
        end.send(()).unwrap();
        // Its turn is over with it.
        let other = keeping(kept.clone(), pool.run(|| ()));
        other.await.unwrap();
        assert_eq!(Arc::strong_count(&kept), 1);
    }

    /// Else nobody's request would be served meanwhile.
    #[tokio::test(flavor = "multi_thread", worker_threads = 1)]
    async fn work_on_what_is_borrowed_leaves_the_runtime_a_thread() {
        let pool = CpuPool::with_threads(1);
        let worker = pool.clone();
        let work = tokio::spawn(async move {
            let (end, ended) = mpsc::channel::<()>();
            let borrowed = Mutex::new(ended);
            // The only thread is to do both.
            tokio::spawn(async move { end.send(()).is_ok() });
            let work = || borrowed.lock().unwrap().recv().is_ok();
            worker.run_here(false, work).await
        });
        assert_eq!(work.await.unwrap(), Ok(true));
        assert_eq!(turns(&pool).available_permits(), 1);
    }

    #[tokio::test(start_paused = true)]
    async fn work_on_what_is_borrowed_waits_for_its_turn() {
        let pool = CpuPool::with_threads(1);
        let turn = turns(&pool).acquire_owned().await.unwrap();
        assert_eq!(pool.run_here(true, || 1).await, Ok(1));
        assert_eq!(pool.run_here(false, || 2).await, Err(Undone::Busy));
        drop(turn);
        assert_eq!(pool.run_here(false, || 3).await, Ok(3));
    }

    #[tokio::test]
    #[should_panic(expected = "a defect")]
    async fn a_panic_is_passed_on() {
        let _ = CpuPool::with_threads(1).run(|| panic!("a defect")).await;
    }

    /// The work of others does not wait for that of one caller, however much that is.
    #[tokio::test]
    async fn a_caller_has_half_of_the_threads() {
        let pool = CpuPool::with_threads(2);
        let (end, ended) = mpsc::channel::<()>();
        let (begin, begun) = mpsc::channel();
        let ended = Arc::new(Mutex::new(ended));
        let work = |ended: Arc<Mutex<mpsc::Receiver<()>>>, begin: mpsc::Sender<()>| {
            move || {
                begin.send(()).unwrap();
                ended.lock().unwrap().recv().unwrap();
            }
        };
        let ann: Arc<str> = Arc::from("ann");
        let theirs: Vec<_> = (0..3)
            .map(|_| {
                let (pool, ann) = (pool.clone(), Arc::clone(&ann));
                let work = work(Arc::clone(&ended), begin.clone());
                tokio::spawn(async move { asked_by(ann, pool.run(work)).await })
            })
            .collect();
        let first = tokio::task::spawn_blocking(move || {
            begun.recv().unwrap();
            // It is listened to until the end.
            begun
        });
        let _begun = first.await.unwrap();
        assert_eq!(asked_by(Arc::from("bob"), pool.run(|| 1)).await, Ok(1));
        assert_eq!(pool.run(|| 2).await, Ok(2));
        for _ in 0..3 {
            end.send(()).unwrap();
        }
        for work in theirs {
            assert_eq!(work.await.unwrap(), Ok(()));
        }
        let bob: Arc<str> = Arc::from("bob");
        let _share = pool.shares.of_caller(&bob);
        assert_eq!(pool.shares.count(), 1, "that of ann is forgotten");
    }
}
