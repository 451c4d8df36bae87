/// How many things are looked up one by one for a page.
const LOOKED_UP: usize = 50;

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
