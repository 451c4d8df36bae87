//! The reading of rows that are long, by a thread that keeps nobody else waiting.

use std::sync::LazyLock;
use std::thread::available_parallelism;

use tokio::sync::Semaphore;
use ucp_store::Error;

use crate::database::Row;
use crate::json::corrupt;

/// What is shorter is read at once.
const QUICK_BYTES: usize = 64 << 10;

/// The turns of those who read longer ones, one for each core.
static TURNS: LazyLock<Semaphore> =
    LazyLock::new(|| Semaphore::new(available_parallelism().map_or(1, usize::from)));

/// Reads rows. These `columns` have what may be long.
pub(crate) async fn read_aside<T: Send + 'static>(
    rows: Vec<Row>,
    columns: &[&str],
    read: fn(&Row) -> Result<T, Error>,
) -> Result<Vec<T>, Error> {
    let length = |row: &Row| {
        let texts = columns.iter().map(|column| row.get::<Option<&str>>(column));
        texts.flatten().flatten().map(str::len).sum::<usize>()
    };
    if rows.iter().map(length).sum::<usize>() <= QUICK_BYTES {
        return rows.iter().map(read).collect();
    }
    let turn = TURNS.acquire().await;
    let reading = tokio::task::spawn_blocking(move || {
        let _until_the_end = turn;
        rows.iter().map(read).collect()
    });
    match reading.await {
        Ok(read) => read,
        Err(error) => corrupt(format!("a row cannot be read: {error}")),
    }
}
