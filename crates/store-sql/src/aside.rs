//! The reading of rows that are long, by a thread that keeps nobody else waiting.

use std::any::Any;
use std::panic::resume_unwind;
use std::sync::LazyLock;
use std::thread::available_parallelism;

use tokio::sync::Semaphore;
use ucp_store::Error;

use crate::database::Row;

/// What is shorter is read at once.
const QUICK_BYTES: usize = 64 << 10;

/// The turns of those who read longer ones, one for each core. Who waits for one has taken room for what is read, so that few do.
static TURNS: LazyLock<Semaphore> =
    LazyLock::new(|| Semaphore::new(available_parallelism().map_or(1, usize::from)));

/// Reads rows. These `columns` have what may be long.
pub(crate) async fn read_aside<T: Send + 'static>(
    rows: Vec<Row>,
    columns: &[&str],
    read: fn(&Row) -> Result<T, Error>,
) -> Result<Vec<T>, Error> {
    if !are_long(&rows, columns) {
        return rows.iter().map(read).collect();
    }
    let turn = TURNS.acquire().await;
    read_apart(rows, read, turn).await
}

/// The same in a transaction, which waits for nobody who holds no lock.
pub(crate) async fn read_aside_at_once<T: Send + 'static>(
    rows: Vec<Row>,
    columns: &[&str],
    read: fn(&Row) -> Result<T, Error>,
) -> Result<Vec<T>, Error> {
    if are_long(&rows, columns) {
        read_apart(rows, read, ()).await
    } else {
        rows.iter().map(read).collect()
    }
}

fn are_long(rows: &[Row], columns: &[&str]) -> bool {
    let length = |row: &Row| {
        let texts = columns.iter().map(|column| row.get::<Option<&str>>(column));
        texts.flatten().flatten().map(str::len).sum::<usize>()
    };
    rows.iter().map(length).sum::<usize>() > QUICK_BYTES
}

/// Reads rows on a thread of their own, which keeps `turn` until it ends, also if nobody waits for it any more.
async fn read_apart<T: Send + 'static>(
    rows: Vec<Row>,
    read: fn(&Row) -> Result<T, Error>,
    turn: impl Any + Send,
) -> Result<Vec<T>, Error> {
    let reading = tokio::task::spawn_blocking(move || {
        let _until_the_end = turn;
        rows.iter().map(read).collect()
    });
    match reading.await {
        Ok(read) => read,
        Err(error) => match error.try_into_panic() {
            Ok(panic) => resume_unwind(panic),
            Err(_) => Err(Error::Unavailable("the process is ending".into())),
        },
    }
}
