/// A page of a list.
#[derive(Clone, Debug)]
pub struct Listed<T> {
    /// The items of the page.
    pub items: Vec<T>,
    /// Whether there are more after the last one.
    pub has_more: bool,
}

impl<T> Listed<T> {
    /// Returns the page of the first `top` of `items`, of which the store was asked for one more.
    pub(crate) fn of(mut items: Vec<T>, top: usize) -> Self {
        let has_more = items.len() > top;
        items.truncate(top);
        Self { items, has_more }
    }

    /// Returns the item after which the next page starts; `None` on the last page.
    pub fn last_of_more(&self) -> Option<&T> {
        self.items.last().filter(|_| self.has_more)
    }
}
