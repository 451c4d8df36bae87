//! Questions of several callers that one statement asks: a statement costs more than a row does.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tokio::sync::oneshot;
use tokio::time::sleep;
use ucp_store::Error;

/// Who has waited so long asks alone: the statement before may be on a connection that is lost. Others end sooner, also when
/// the database has much to do.
const PATIENCE: Duration = Duration::from_millis(250);

/// Questions that wait for the statement before theirs. One statement is under way at a time, and the next one asks what has
/// come meanwhile: who is alone does not wait, and nobody gets an answer from before their question.
pub(crate) struct Gathering<Q, A> {
    /// How many questions one statement asks at most.
    at_once: usize,
    queue: Mutex<Queue<Q, A>>,
    turn: tokio::sync::Mutex<()>,
}

struct Queue<Q, A> {
    /// The number of the next question.
    next: u64,
    /// By their numbers. Who leaves takes their question along.
    waiting: BTreeMap<u64, Waiting<Q, A>>,
}

struct Waiting<Q, A> {
    question: Q,
    /// Dropped if the question has to be asked alone.
    answer: oneshot::Sender<Result<A, Error>>,
}

/// A place in the queue, until it is dropped.
struct Place<'a, Q, A> {
    gathering: &'a Gathering<Q, A>,
    number: u64,
}

impl<Q, A> Drop for Place<'_, Q, A> {
    fn drop(&mut self) {
        self.gathering.queue().waiting.remove(&self.number);
    }
}

impl<Q, A> fmt::Debug for Gathering<Q, A> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Gathering").finish_non_exhaustive()
    }
}

impl<Q, A> Gathering<Q, A> {
    pub(crate) fn new(at_once: usize) -> Self {
        Self {
            at_once,
            queue: Mutex::new(Queue {
                next: 0,
                waiting: BTreeMap::new(),
            }),
            turn: tokio::sync::Mutex::default(),
        }
    }

    fn queue(&self) -> MutexGuard<'_, Queue<Q, A>> {
        self.queue.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl<Q: Clone, A> Gathering<Q, A> {
    /// Asks a question, with those of others. `ask` answers all in their order, or none. If the database refuses a statement, or
    /// it is abandoned, each of its questions is asked alone, so that only the caller of a bad one hears of it.
    pub(crate) async fn ask<F>(&self, question: Q, ask: impl Fn(Vec<Q>) -> F) -> Result<A, Error>
    where
        F: Future<Output = Result<Vec<A>, Error>>,
    {
        let (place, mut answered) = self.line_up(question.clone());
        let mut patience = std::pin::pin!(sleep(PATIENCE));
        loop {
            let _turn = tokio::select! {
                biased;
                answered = &mut answered => match answered {
                    Ok(answer) => return answer,
                    Err(_) => break,
                },
                turn = self.turn.lock() => turn,
                () = &mut patience => break,
            };
            // If there are none, somebody had this one in their turn, and has answered by now.
            let (questions, callers) = self.take();
            if questions.is_empty() {
                continue;
            }
            let answers = match ask(questions).await {
                Ok(answers) => answers.into_iter().map(Ok).collect(),
                Err(error) if is_refused(&error) => Vec::new(),
                Err(error) => callers.iter().map(|_| Err(again(&error))).collect(),
            };
            for (caller, answer) in callers.into_iter().zip(answers) {
                let _gone = caller.send(answer);
            }
        }
        drop(place);
        let answers = ask(vec![question]).await?;
        let answer = answers.into_iter().next();
        answer.ok_or_else(|| Error::Corrupt("a statement has no answer".to_owned()))
    }

    /// Puts a question at the end of the queue.
    fn line_up(&self, question: Q) -> (Place<'_, Q, A>, oneshot::Receiver<Result<A, Error>>) {
        let (answer, answered) = oneshot::channel();
        let mut queue = self.queue();
        let number = queue.next;
        queue.next += 1;
        queue.waiting.insert(number, Waiting { question, answer });
        let place = Place {
            gathering: self,
            number,
        };
        (place, answered)
    }

    /// Takes the questions of the next statement, with their callers.
    fn take(&self) -> (Vec<Q>, Vec<oneshot::Sender<Result<A, Error>>>) {
        let mut queue = self.queue();
        let first = std::iter::from_fn(|| queue.waiting.pop_first());
        first
            .take(self.at_once)
            .map(|(_, Waiting { question, answer })| (question, answer))
            .unzip()
    }
}

/// Returns whether the database has answered, but not with rows: that may be about one question.
fn is_refused(error: &Error) -> bool {
    match error {
        Error::Unavailable(cause) => {
            let cause = cause.downcast_ref::<sqlx::Error>();
            cause.is_some_and(|cause| cause.as_database_error().is_some())
        }
        _ => true,
    }
}

/// Tells another caller that the database cannot be asked.
fn again(error: &Error) -> Error {
    Error::Unavailable(ucp_model::chain(error).into())
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use futures_util::future::{FutureExt as _, join_all};
    use tokio::sync::Semaphore;

    use super::*;

    const AT_ONCE: usize = 64;

    /// Waits for what must end soon. The time of a test goes on only while nothing else does.
    async fn in_time<F: Future>(work: F) -> F::Output {
        tokio::time::timeout(Duration::from_secs(60), work)
            .await
            .unwrap()
    }

    /// A table that takes statements one by one, when a test lets it.
    struct Table {
        may_write: Semaphore,
        statements: Mutex<Vec<Vec<usize>>>,
        /// Rows that it refuses.
        bad: BTreeSet<usize>,
        is_away: bool,
    }

    impl Table {
        fn new(bad: impl IntoIterator<Item = usize>) -> Self {
            Self {
                may_write: Semaphore::new(0),
                statements: Mutex::default(),
                bad: bad.into_iter().collect(),
                is_away: false,
            }
        }

        async fn insert(&self, rows: Vec<usize>) -> Result<Vec<usize>, Error> {
            self.may_write.acquire().await.unwrap().forget();
            if rows.iter().any(|row| self.bad.contains(row)) {
                return Err(Error::Corrupt("a bad row".to_owned()));
            }
            if self.is_away {
                return Err(Error::Unavailable("away".into()));
            }
            self.statements.lock().unwrap().push(rows.clone());
            Ok(rows)
        }

        fn statements(&self) -> Vec<Vec<usize>> {
            self.statements.lock().unwrap().clone()
        }
    }

    #[tokio::test(start_paused = true)]
    async fn what_comes_during_a_statement_is_asked_by_the_next() {
        let (table, gathering) = (Table::new([]), Gathering::new(AT_ONCE));
        let write = |row| gathering.ask(row, |rows| table.insert(rows));
        let mut all = Box::pin(join_all((0..AT_ONCE + 10).map(write)));
        assert!((&mut all).now_or_never().is_none());
        table.may_write.add_permits(3);
        for (row, written) in in_time(all).await.into_iter().enumerate() {
            assert_eq!(written.unwrap(), row);
        }
        let rest: Vec<_> = (1..AT_ONCE + 10).collect();
        let (second, third) = rest.split_at(AT_ONCE);
        assert_eq!(
            table.statements(),
            [vec![0], second.to_vec(), third.to_vec()]
        );
    }

    #[tokio::test(start_paused = true)]
    async fn only_the_caller_of_a_bad_row_hears_of_it() {
        let (table, gathering) = (Table::new([2]), Gathering::new(AT_ONCE));
        let write = |row| gathering.ask(row, |rows| table.insert(rows));
        let mut all = Box::pin(join_all((0..4).map(write)));
        assert!((&mut all).now_or_never().is_none());
        table.may_write.add_permits(100);
        let written = in_time(all).await;
        let written: Vec<_> = written.iter().map(Result::is_ok).collect();
        assert_eq!(written, [true, true, false, true]);
        assert_eq!(table.statements(), [[0], [1], [3]]);
    }

    /// Those who wait do not wait for it once more.
    #[tokio::test(start_paused = true)]
    async fn a_database_that_is_away_is_asked_once() {
        let table = Table {
            is_away: true,
            ..Table::new([])
        };
        let gathering = Gathering::new(AT_ONCE);
        let write = |row| gathering.ask(row, |rows| table.insert(rows));
        let mut all = Box::pin(join_all((0..4).map(write)));
        assert!((&mut all).now_or_never().is_none());
        table.may_write.add_permits(2);
        for written in in_time(all).await {
            assert!(matches!(written, Err(Error::Unavailable(_))));
        }
    }

    #[tokio::test(start_paused = true)]
    async fn nobody_waits_long_for_the_statement_before() {
        let (table, gathering) = (Table::new([]), Gathering::new(AT_ONCE));
        let mut lost = Box::pin(gathering.ask(0, |_| std::future::pending()));
        assert!((&mut lost).now_or_never().is_none());
        table.may_write.add_permits(2);
        let write = |row| gathering.ask(row, |rows| table.insert(rows));
        for written in in_time(join_all([1, 2].map(write))).await {
            written.unwrap();
        }
        assert_eq!(table.statements(), [[1], [2]]);
        assert!(gathering.queue().waiting.is_empty());
    }

    #[tokio::test(start_paused = true)]
    async fn who_leaves_takes_his_own_row_along_and_no_other() {
        let (table, gathering) = (Table::new([]), Gathering::new(AT_ONCE));
        let write = |row| Box::pin(gathering.ask(row, |rows| table.insert(rows)));
        let mut first = write(0);
        assert!((&mut first).now_or_never().is_none());
        let (mut second, mut third, mut gone) = (write(1), write(2), write(3));
        for waiting in [&mut second, &mut third, &mut gone] {
            assert!(waiting.now_or_never().is_none());
        }
        table.may_write.add_permits(1);
        assert!(matches!((&mut first).now_or_never(), Some(Ok(0))));
        drop(gone);
        assert_eq!(gathering.queue().waiting.len(), 2);
        // The turn of the second begins, with the row of the third.
        assert!((&mut second).now_or_never().is_none());
        drop(second);
        table.may_write.add_permits(1);
        in_time(third).await.unwrap();
        assert_eq!(table.statements(), [[0], [2]]);
    }
}
