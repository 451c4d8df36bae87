//! What a watch over the requests in flight of an AWS account and region makes of a list of them. Pure: the
//! [`Watcher`](crate::Watcher) lists, and carries it out.

use std::collections::BTreeMap;
use std::time::Duration;

use ucp_model::operation::Action;
use ucp_model::{OperationId, Progress, Scope, Timestamp, TypeName};
use ucp_store::WaitingOperation;

use crate::forecasts::BULK;

/// The delays between lists.
const SHORTEST: Duration = Duration::from_secs(2);
const LONGEST: Duration = Duration::from_secs(60);
/// The least delay for each page: lists leave AWS's quota to others.
const PER_PAGE: Duration = Duration::from_millis(250);
/// How many pages may be listed for each request that ends.
const PAGES_PER_END: f64 = 0.25;
/// How long a list may not show a request that AWS has accepted.
const LAG: Duration = Duration::from_secs(3);
/// How often the absence of one request from lists is followed. Then the lists lie, and the operation asks by itself.
const FOLLOWED: u32 = 3;
/// An operation that asks by itself so soon is left alone.
const SOON: Duration = Duration::from_secs(1);
/// How long before its next poll an operation is put off, besides the time until the next list, and for how long.
const AHEAD: Duration = Duration::from_secs(30);
const PUT_OFF: Duration = Duration::from_secs(2 * 60);
/// How long lists are given up that are refused, or that show so many requests of others that asking costs less.
const USELESS: Duration = Duration::from_secs(10 * 60);
/// The delays after lists that failed.
const FIRST_RETRY: Duration = Duration::from_secs(2);
const LONGEST_RETRY: Duration = Duration::from_secs(60);
/// How long a watch may be relied on beyond its next list.
const GRACE: Duration = Duration::from_secs(20);

/// A watch, as its process knows it.
#[derive(Debug, Default)]
pub(crate) struct Watching {
    /// Where it lists.
    pub(crate) scope: Option<Scope>,
    /// When it lists next.
    pub(crate) next_at: Timestamp,
    /// Whether its latest list was of use.
    pub(crate) works: bool,
    failures: u32,
    seen: BTreeMap<String, Seen>,
}

/// What is known of a request for which an operation waits.
#[derive(Debug)]
struct Seen {
    first_at: Timestamp,
    is_listed: bool,
    followed: u32,
    followed_at: Timestamp,
}

/// What to do after a list.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Findings {
    /// The operations whose requests are not in flight any more: they ask now.
    pub(crate) gone: Vec<OperationId>,
    /// The operations that need not ask soon, since their requests are in flight.
    pub(crate) put_off: Vec<OperationId>,
    /// Until when they are put off.
    pub(crate) put_off_until: Timestamp,
    /// Until when the watch may be relied on.
    pub(crate) works_until: Timestamp,
}

impl Watching {
    /// Judges a list of requests in flight that took so many pages. Those `waiting` were read before.
    pub(crate) fn judge(
        &mut self,
        waiting: &[WaitingOperation],
        listed: &BTreeMap<String, Progress>,
        pages: u32,
        now: Timestamp,
        usual: impl Fn(&TypeName, Action) -> Option<Duration>,
    ) -> Option<Findings> {
        if pages > 1 && waiting.len() < BULK / 2 * pages as usize {
            self.useless(now);
            return None;
        }
        (self.failures, self.works) = (0, true);
        let mut before = std::mem::take(&mut self.seen);
        let mut findings = Findings::default();
        let (mut may_wait, mut expected) = (Vec::new(), Vec::new());
        for operation in waiting {
            let token = operation.request.as_str();
            let mut seen = before.remove(token).unwrap_or(Seen {
                first_at: now,
                is_listed: false,
                followed: 0,
                followed_at: now,
            });
            let progress = listed.get(token);
            let age = now.since(seen.first_at);
            match progress {
                Some(progress) => {
                    seen.is_listed = true;
                    if progress.retry_after.is_none_or(|at| at <= now) {
                        may_wait.push(operation);
                        let kind = progress.type_name.as_ref().zip(progress.action);
                        let usual = kind.and_then(|(name, action)| usual(name, action));
                        expected.push(usual.unwrap_or_default().max(age));
                    }
                }
                None if operation.due_at > now && seen.is_gone(now) => {
                    seen.followed += 1;
                    seen.followed_at = now;
                    findings.gone.push(operation.id);
                }
                None => expected.push(age),
            }
            self.seen.insert(token.to_owned(), seen);
        }
        let until_next = until_next_list(pages, &expected);
        let next_at = now.after(until_next);
        let soon = now.after(until_next.min(SOON));
        let ahead = next_at.after(AHEAD);
        let may_wait = may_wait.into_iter();
        let put_off = may_wait.filter(|it| it.due_at > soon && it.due_at <= ahead);
        findings.put_off = put_off.map(|it| it.id).collect();
        findings.put_off_until = next_at.after(PUT_OFF);
        findings.works_until = next_at.after(until_next).after(GRACE);
        self.next_at = next_at;
        Some(findings)
    }

    /// Lists again after a delay that grows, or that AWS asks for.
    pub(crate) fn failed(&mut self, asked: Option<Duration>, now: Timestamp) {
        let doubled = FIRST_RETRY.saturating_mul(1 << self.failures.min(16));
        let asked = asked.unwrap_or_default();
        self.next_at = now.after(doubled.max(asked).min(LONGEST_RETRY));
        self.failures = self.failures.saturating_add(1);
        self.works = false;
    }

    /// Gives lists up for a while.
    pub(crate) fn useless(&mut self, now: Timestamp) {
        self.next_at = now.after(USELESS);
        self.works = false;
    }
}

impl Seen {
    /// Whether a request that is not listed is to be taken for one that has ended.
    fn is_gone(&self, now: Timestamp) -> bool {
        match self.followed {
            0 => self.is_listed || now.since(self.first_at) >= LAG,
            FOLLOWED.. => false,
            times => now.since(self.followed_at) >= LAG.saturating_mul(1 << times),
        }
    }
}

/// Returns the delay until the next list of so many pages, given how long each request is expected to take. The expected ends
/// pay for the pages; and where few end, an end is not seen later than one that is asked after alone.
fn until_next_list(pages: u32, expected: &[Duration]) -> Duration {
    let shortest = SHORTEST.max(PER_PAGE.saturating_mul(pages)).min(LONGEST);
    let least = Duration::from_secs(1);
    let rates = expected
        .iter()
        .map(|it| 1.0 / (*it).max(least).as_secs_f64());
    let ends_per_second: f64 = rates.sum();
    if expected.is_empty() {
        return LONGEST;
    }
    let count = u32::try_from(expected.len()).unwrap_or(u32::MAX);
    let paid = f64::from(pages) / (PAGES_PER_END * ends_per_second);
    let usual = f64::from(count) / ends_per_second;
    Duration::from_secs_f64(paid.min(usual / 8.0)).clamp(shortest, LONGEST)
}

#[cfg(test)]
mod tests {
    use ucp_model::{ProgressStatus, RequestToken};

    use super::*;

    const NOW: Timestamp = Timestamp::from_millis(1_000_000_000);

    fn after(seconds: u64) -> Timestamp {
        NOW.after(Duration::from_secs(seconds))
    }

    fn id(number: u64) -> OperationId {
        format!("{number:032x}").parse().unwrap()
    }

    fn waiting(numbers: impl IntoIterator<Item = u64>, due_at: Timestamp) -> Vec<WaitingOperation> {
        let numbers = numbers.into_iter();
        let waiting = numbers.map(|number| WaitingOperation {
            id: id(number),
            request: RequestToken::new(number.to_string()),
            due_at,
        });
        waiting.collect()
    }

    fn listed(
        numbers: impl IntoIterator<Item = u64>,
        retry_after: Option<Timestamp>,
    ) -> BTreeMap<String, Progress> {
        let numbers = numbers.into_iter();
        let listed = numbers.map(|number| {
            let progress = Progress {
                request_token: RequestToken::new(number.to_string()),
                status: ProgressStatus::Running,
                type_name: None,
                action: None,
                identifier: None,
                retry_after,
            };
            (number.to_string(), progress)
        });
        listed.collect()
    }

    fn judge(
        watching: &mut Watching,
        waiting: &[WaitingOperation],
        listed: &BTreeMap<String, Progress>,
        now: Timestamp,
    ) -> Findings {
        watching
            .judge(waiting, listed, 1, now, |_, _| None)
            .unwrap()
    }

    #[test]
    fn the_expected_ends_pay_for_lists() {
        let seconds = |pages, count, each| {
            let expected = vec![Duration::from_secs(each); count];
            until_next_list(pages, &expected).as_secs_f64()
        };
        assert_eq!(seconds(5, 500, 60), 2.4);
        assert_eq!(seconds(1, 100, 60), 2.4);
        // Few ends are seen as soon as those that are asked after alone.
        assert_eq!(seconds(1, 10, 60), 7.5);
        assert_eq!(seconds(1, 10, 3_600), 60.0);
        assert_eq!(seconds(1, 10, 0), 2.0);
        // The pages leave room for other calls.
        assert_eq!(seconds(50, 5_000, 20), 12.5);
        assert_eq!(seconds(1_000, 100_000, 20), 60.0);
        assert_eq!(seconds(1, 0, 0), 60.0);
    }

    #[test]
    fn what_is_not_listed_any_more_is_gone() {
        let mut watching = Watching::default();
        let all = waiting(0..10, after(20));
        let first = judge(&mut watching, &all, &listed(0..10, None), NOW);
        assert_eq!(first.gone, []);
        assert_eq!(first.put_off.len(), 10);
        assert!(watching.next_at > NOW && first.works_until > watching.next_at);
        assert!(first.put_off_until > first.works_until);
        let all = waiting(0..10, first.put_off_until);
        let second = judge(&mut watching, &all, &listed(1..10, None), after(2));
        assert_eq!((second.gone, second.put_off), (vec![id(0)], vec![]));
    }

    /// A list may not show a request yet.
    #[test]
    fn what_was_never_listed_is_given_time() {
        let mut watching = Watching::default();
        let all = waiting(0..10, after(20));
        let none = BTreeMap::new();
        assert_eq!(judge(&mut watching, &all, &none, NOW).gone, []);
        assert_eq!(judge(&mut watching, &all, &none, after(2)).gone, []);
        assert_eq!(judge(&mut watching, &all, &none, after(3)).gone.len(), 10);
    }

    /// The operations found that their requests are still in flight.
    #[test]
    fn lists_that_lie_are_not_followed_for_ever() {
        let mut watching = Watching::default();
        let found = (0..600).map(|second| {
            let all = waiting(0..10, after(second + 20));
            judge(&mut watching, &all, &BTreeMap::new(), after(second)).gone
        });
        assert_eq!(found.flatten().count(), 10 * FOLLOWED as usize);
    }

    #[test]
    fn what_asks_soon_or_when_told_is_left_alone() {
        let mut watching = Watching::default();
        let in_flight = listed(0..10, None);
        for (due_in, put_off) in [(1, 0), (3, 10), (30, 10), (33, 0)] {
            let all = waiting(0..10, after(due_in));
            let findings = judge(&mut watching, &all, &in_flight, NOW);
            assert_eq!(findings.put_off.len(), put_off, "{due_in}");
        }
        let told = listed(0..10, Some(after(20)));
        let findings = judge(&mut watching, &waiting(0..10, after(20)), &told, NOW);
        assert_eq!(findings.put_off, []);
        assert_eq!(watching.next_at, after(60), "nothing else ends");
        // It is due already: asked after at this moment.
        let findings = judge(
            &mut watching,
            &waiting(0..10, NOW),
            &BTreeMap::new(),
            after(9),
        );
        assert_eq!(findings.gone, []);
    }

    #[test]
    fn lists_of_others_requests_are_given_up() {
        let mut watching = Watching::default();
        let all = waiting(0..10, after(20));
        let judged = watching.judge(&all, &listed(0..10, None), 3, NOW, |_, _| None);
        assert_eq!((judged, watching.works), (None, false));
        assert_eq!(watching.next_at, NOW.after(USELESS));
    }

    #[test]
    fn lists_that_fail_are_repeated_later_and_later() {
        let mut watching = Watching::default();
        let mut next = |asked: Option<u64>| {
            watching.failed(asked.map(Duration::from_secs), NOW);
            watching.next_at.since(NOW).as_secs()
        };
        assert_eq!(
            [next(None), next(None), next(Some(9)), next(None)],
            [2, 4, 9, 16]
        );
        assert_eq!([next(None), next(None), next(Some(90))], [32, 60, 60]);
    }
}
