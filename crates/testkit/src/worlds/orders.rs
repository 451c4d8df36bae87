//! Orders of a platform: an instance is made, its plan changes, and it is deleted.

use super::alias::below;
use super::offered::Offered;
use super::play::{Asks, Play};
use super::story::Wish;
use crate::Reply;

impl Play<'_> {
    /// The platform polls until an order is over. Returns the state that it is told; `None` if nothing was begun, or the process
    /// has died meanwhile.
    pub(super) async fn polled(
        &mut self,
        of: Offered,
        what: &Wish,
        reply: &Reply,
    ) -> Option<String> {
        let operation = reply.body["operation"].as_str()?;
        let path = format!("{}/last_operation?operation={operation}", of.path());
        let reply = self.answer_to(what, 0, &("GET", path, String::new())).await;
        if reply.status >= 500 {
            return None;
        }
        let state = reply.expect(200).body["state"].clone();
        assert!(
            state == "succeeded" || state == "failed",
            "an order does not end: {state}"
        );
        state.as_str().map(str::to_owned)
    }

    /// Deletes by name of all that an instance lists.
    pub(super) async fn deletes_of(&self, of: Offered) -> Vec<Asks> {
        let references = self.references().await;
        let listed = references.iter().filter(|it| of.has(it));
        let deletes = listed.filter_map(|reference| {
            let (type_name, target) = (reference.id.type_name.arm(), reference.target()?);
            let path = below(type_name.as_str(), target.identifier.as_str());
            Some(("DELETE", path, String::new()))
        });
        deletes.collect()
    }

    /// What was ordered can be deleted, and then nothing stands for it. Whatever it has made and is still there has another
    /// reference, or is a leftover: else it is an orphan.
    pub(super) async fn deprovision_once_more(&mut self) {
        for of in Offered::ALL {
            let is_ordered = |what: &Wish| *what == Wish::Provision(of);
            if !self.asked().iter().any(|asked| is_ordered(&asked.what)) {
                continue;
            }
            for changed in [false, true] {
                let deprovision = Wish::Deprovision { of, changed };
                let reply = self.answer(&deprovision).await;
                let is_known = matches!(reply.status, 202 | 400 | 410);
                assert!(is_known, "deprovision once more: {}", reply.text);
                self.settle().await;
                if reply.status == 202 {
                    let state = self.polled(of, &deprovision, &reply).await;
                    assert_eq!(state.as_deref(), Some("succeeded"), "deprovision once more");
                }
            }
            let asked = ("GET", of.path(), String::new());
            let shown = self.answer_to(&Wish::Provision(of), 0, &asked).await;
            assert_eq!(shown.status, 404, "an instance is left: {}", shown.text);
            let references = self.references().await;
            // What is not owned may have been imported since.
            let left = references.iter().find(|it| of.has(it) && it.owned);
            assert!(left.is_none(), "an instance has left {left:?}");
        }
    }
}
