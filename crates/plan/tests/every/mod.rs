//! Checks over every embedded type with every seed.

use std::sync::Arc;

use ucp_schema::{Catalogue, ResourceSchema};

/// Runs `check` for every type and seed, and reports all failures. Returns the sum of the counts that `check` returns.
/// `UCP_SEEDS=100` runs more seeds than the default.
pub(crate) fn type_and_seed(
    check: impl Fn(&ResourceSchema, u64) -> Result<u64, String> + Sync,
) -> u64 {
    let seeds = std::env::var("UCP_SEEDS")
        .ok()
        .and_then(|seeds| seeds.parse().ok());
    let seeds: u64 = seeds.unwrap_or(2);
    println!("seeds 1 to {seeds}");
    let catalogue = Catalogue::embedded();
    let names = catalogue.type_names();
    let schemas: Vec<Arc<ResourceSchema>> = names.filter_map(|name| catalogue.get(name)).collect();
    assert_eq!(schemas.len(), 1_854);
    let threads = std::thread::available_parallelism().map_or(1, usize::from);
    let shares: Vec<(u64, Vec<String>)> = std::thread::scope(|scope| {
        let workers: Vec<_> = (0..threads)
            .map(|share| {
                let (schemas, check) = (&schemas, &check);
                scope.spawn(move || {
                    let mut count = 0;
                    let mut problems = Vec::new();
                    for schema in schemas.iter().skip(share).step_by(threads) {
                        for seed in 1..=seeds {
                            match check(schema, seed) {
                                Ok(counted) => count += counted,
                                Err(problem) => problems
                                    .push(format!("{} seed {seed}: {problem}", schema.type_name())),
                            }
                        }
                    }
                    (count, problems)
                })
            })
            .collect();
        workers
            .into_iter()
            .filter_map(|worker| worker.join().ok())
            .collect()
    });
    assert_eq!(shares.len(), threads, "a worker panicked");
    let problems: Vec<&String> = shares.iter().flat_map(|(_, problems)| problems).collect();
    let shown: Vec<&str> = problems
        .iter()
        .take(40)
        .map(|problem| problem.as_str())
        .collect();
    assert!(
        problems.is_empty(),
        "{} problems:\n{}",
        problems.len(),
        shown.join("\n")
    );
    shares.iter().map(|(count, _)| count).sum()
}
