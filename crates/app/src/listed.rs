use serde::Serialize;
use serde_json::Value;
use ucp_cpu_pool::in_place;
use ucp_model::{ArmResource, json};
use ucp_store::Limit;

use crate::{Rejection, Room};

/// How many things are looked up one by one for a page.
const LOOKED_UP: usize = 50;
/// What is shorter is measured at once.
const QUICK_BYTES: usize = 64 << 10;

/// A page of a list.
#[derive(Clone, Debug)]
pub struct Listed<T> {
    /// The items of the page.
    pub items: Vec<T>,
    /// Whether there are more after the last one.
    pub has_more: bool,
    /// Where the next page starts, if not after the last item.
    pub resumes_after: Option<String>,
}

impl<T> Listed<T> {
    /// Returns the page of the first `top` of `items`, of which the store was asked for one more.
    pub(crate) fn of(mut items: Vec<T>, top: usize) -> Self {
        let has_more = items.len() > top;
        items.truncate(top);
        Self {
            items,
            has_more,
            resumes_after: None,
        }
    }

    /// Returns the item after which the next page starts; `None` on the last page.
    pub fn last_of_more(&self) -> Option<&T> {
        self.items.last().filter(|_| self.has_more)
    }
}

/// How many bytes the items of a page have as JSON, unless the first alone has more.
pub(crate) const PAGE_MAX_BYTES: usize = 4 << 20;
/// How many times as many are read next as a page has.
const GROWTH: usize = 4;
/// How often an item is in memory: as it is stored, as it is shown, and as JSON.
const COPIES: usize = 5;

/// What is known of the items of a list before one of them is read.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Expected {
    /// How many are read first.
    items: usize,
    /// What each has, in bytes.
    bytes: usize,
}

/// References and operations.
pub(crate) const USUAL: Expected = Expected {
    items: 32,
    bytes: 8 << 10,
};
/// Planes and resource groups: with all tags that they may have, each takes some 200 KB.
pub(crate) const TAGGED: Expected = Expected {
    items: 10,
    bytes: 8 << 10,
};
/// The records of refactors, of which one may tell of thousands of resources.
pub(crate) const LARGE: Expected = Expected {
    items: 2,
    bytes: 1 << 20,
};

/// A page in the making, which ends after so many items or so many bytes, whichever is less, or when there is no room for more
/// in memory.
#[derive(Debug)]
pub(crate) struct Filling<T> {
    top: usize,
    items: Vec<T>,
    bytes: usize,
    has_more: bool,
    room: Room,
    expected: Expected,
}

impl<T> Filling<T> {
    pub(crate) fn up_to(top: usize, expected: Expected, room: &Room) -> Self {
        Self {
            expected,
            top,
            items: Vec::new(),
            bytes: 0,
            has_more: false,
            room: room.clone(),
        }
    }

    /// Waits until there is room for what is read first.
    pub(crate) async fn enter(&self) -> Result<(), Rejection> {
        let expected = self.to_read() * self.expected.bytes;
        self.room.enter(expected * COPIES).await
    }

    /// Returns how many items are to be read next: as many as the page has room for, if they are like those that it has, and one
    /// more.
    pub(crate) fn to_read(&self) -> usize {
        let has = self.items.len();
        let left = (self.top + 1).saturating_sub(has);
        let room = match self.bytes / has.max(1) {
            0 => self.expected.items,
            bytes_each => PAGE_MAX_BYTES.saturating_sub(self.bytes) / bytes_each,
        };
        // Those that follow may be larger.
        let first = self.expected.items;
        left.min(room.clamp(first, first.max(GROWTH * has)))
    }

    /// Returns how much is to be read next of a list whose store counts bytes: as many items as are left, and one more. Those that the
    /// page has no room for are read again for the next one.
    pub(crate) fn left(&self) -> Limit {
        Limit {
            items: (self.top + 1).saturating_sub(self.items.len()),
            bytes: PAGE_MAX_BYTES,
        }
    }

    /// Adds an item of so many bytes. Returns whether there was room for it.
    pub(crate) fn add(&mut self, item: T, bytes: usize) -> bool {
        let total = self.bytes + bytes;
        let is_first = self.items.is_empty();
        // What was read is in memory until the page ends, so nothing is given back before.
        let has_room = || self.room.reach(total * COPIES).is_ok();
        let is_full = self.items.len() >= self.top
            || !is_first && total > PAGE_MAX_BYTES
            || !has_room() && !is_first;
        if is_full {
            self.has_more = true;
            return false;
        }
        self.bytes = total;
        self.items.push(item);
        true
    }

    /// Adds what was read, of which so many items were asked for. Returns whether the page ends with it.
    pub(crate) fn ends_with(
        &mut self,
        read: Vec<T>,
        asked: usize,
        bytes: impl Fn(&T) -> usize,
    ) -> bool {
        let is_end = read.len() < asked;
        for item in read {
            let bytes = bytes(&item);
            if !self.add(item, bytes) {
                return true;
            }
        }
        is_end
    }

    pub(crate) fn last(&self) -> Option<&T> {
        self.items.last()
    }

    pub(crate) fn listed(self) -> Listed<T> {
        self.room.keep(self.bytes * COPIES);
        Listed {
            items: self.items,
            has_more: self.has_more,
            resumes_after: None,
        }
    }
}

/// Returns how many bytes an item has as JSON, by a thread that keeps nobody else waiting if that `may_be_long` of it is.
pub(crate) fn measured(item: &impl Serialize, may_be_long: Option<&Value>) -> usize {
    if may_be_long.is_some_and(|value| json::extent(value).0 > QUICK_BYTES) {
        in_place(|| json::length(item))
    } else {
        json::length(item)
    }
}

/// Returns what a plane or a group has as JSON.
pub(crate) fn tagged_bytes<Id, Body: Serialize>(item: &ArmResource<Id, Body>) -> usize {
    json::length(&item.tags) + json::length(&item.body)
}

/// Ids of a page, to be looked up one by one. Not all of them need to exist.
pub(crate) struct Named<Id> {
    pub(crate) ids: Vec<Id>,
    has_more: bool,
}

impl<Id: ToString> Named<Id> {
    /// Returns the first `top` of `ids`, or fewer.
    pub(crate) fn of(ids: impl IntoIterator<Item = Id>, top: usize) -> Self {
        let mut rest = ids.into_iter();
        Self {
            ids: rest.by_ref().take(top.min(LOOKED_UP)).collect(),
            has_more: rest.next().is_some(),
        }
    }

    /// Returns the page with those that exist. It may be short, or empty, and more follow all the same.
    pub(crate) fn listed<T>(self, items: Vec<T>) -> Listed<T> {
        let last = self.ids.last().filter(|_| self.has_more);
        Listed {
            items,
            has_more: self.has_more,
            resumes_after: last.map(Id::to_string),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Reads a list of items with so many bytes each as a store gives it, and returns the lengths of the pages and of the reads.
    fn pages(sizes: &[usize], top: usize) -> (Vec<usize>, Vec<usize>) {
        let (mut pages, mut reads, mut at) = (Vec::new(), Vec::new(), 0);
        loop {
            let mut page = Filling::up_to(top, USUAL, &Room::default());
            'page: loop {
                let asked = page.to_read();
                let from = at + page.items.len();
                let read = &sizes[from..sizes.len().min(from + asked)];
                reads.push(read.len());
                for bytes in read {
                    if !page.add(*bytes, *bytes) {
                        break 'page;
                    }
                }
                if read.len() < asked {
                    break;
                }
            }
            let listed = page.listed();
            at += listed.items.len();
            pages.push(listed.items.len());
            if !listed.has_more {
                return (pages, reads);
            }
        }
    }

    #[test]
    fn a_page_ends_after_so_many_items_or_bytes() {
        assert_eq!(pages(&[], 10), (vec![0], vec![0]));
        assert_eq!(pages(&[100; 10], 10), (vec![10], vec![10]));
        assert_eq!(pages(&[100; 11], 10), (vec![10, 1], vec![11, 1]));
        // Small ones are read at once, as soon as their size is known.
        assert_eq!(pages(&[100; 300], 300), (vec![300], vec![32, 128, 140]));
        let quarter = PAGE_MAX_BYTES / 4;
        assert_eq!(pages(&[quarter; 6], 100), (vec![4, 2], vec![6, 2]));
        assert_eq!(pages(&[quarter; 4], 100), (vec![4], vec![4]));
        // One at least.
        let larger = PAGE_MAX_BYTES + 1;
        assert_eq!(pages(&[larger, larger, 1], 100).0, [1, 1, 1]);
    }

    #[test]
    fn every_item_is_on_one_page() {
        let sizes: Vec<usize> = (0..200).map(|at| at * at * 37 % 300_000).collect();
        for top in [1, 7, 100] {
            let (pages, _) = pages(&sizes, top);
            assert_eq!(pages.iter().sum::<usize>(), sizes.len());
            assert!(pages.iter().all(|length| (1..=top).contains(length)));
        }
    }
}
