//! The acts of a story, each followed by the checks of what always holds.

use std::time::Duration;

use super::alias::{LOG_GROUP, RENAMED, ROLE, below, role};
use super::offered::CALLED_OTHERWISE;
use super::plant::Plant;
use super::play::{FIRST_PAUSE, Play, TICKS_MAX};
use super::story::{Act, Way, Wish};

impl Play<'_> {
    /// Carries out an act, and checks what always holds.
    pub(super) async fn carry_out(&mut self, act: &Act) {
        self.tell(|| format!("{act:?}"));
        match act {
            Act::Ask { what, by, way } => self.ask(what, self.process(*by), *way).await,
            Act::Change(place) => self.change(*place).await,
            Act::Vanish(place) => self.vanish(*place),
            Act::Pass(millis) => self.world().clock.advance(Duration::from_millis(*millis)),
            Act::Step(of) => {
                self.claim(self.process(*of)).await;
                self.go_on().await;
            }
            Act::Offer { of, otherwise } => {
                let edits: &[_] = if *otherwise { &CALLED_OTHERWISE } else { &[] };
                self.processes[self.process(*of)].world.offer(edits);
            }
            Act::Keep(of) => self.keep(self.process(*of)).await,
            Act::Watch(of) => {
                self.watch(self.process(*of)).await;
                self.go_on().await;
            }
            Act::Settle => self.settle().await,
            Act::Crash { of, after } => self.processes[self.process(*of)].fate.crash(*after),
            Act::Stall { of, after } => self.processes[self.process(*of)].fate.stall(*after),
            Act::Resume => {
                self.release();
                self.go_on().await;
            }
        }
        self.world().check_turns();
        self.check_references().await;
        self.check_standing().await;
        self.tell_references().await;
    }

    async fn ask(&mut self, what: &Wish, by: usize, way: Way) {
        if self.decides_by_force(what).await {
            return;
        }
        let since = self.moment().await;
        let Some((request, plan)) = self.prepared(what, by).await else {
            return;
        };
        if self.plant == Some(Plant::DeletedWithItsInstance)
            && let Wish::Deprovision { of, .. } = *what
        {
            for request in self.deletes_of(of).await {
                self.send(what, by, &request, false).await;
            }
        }
        if self.plant == Some(Plant::DeletedWithItsAlias)
            && matches!(what, Wish::Rename { complete: true, .. })
        {
            let request = ("DELETE", below(LOG_GROUP, RENAMED), String::new());
            self.send(what, by, &request, false).await;
        }
        if self.plant == Some(Plant::DeletedInOneRegion)
            && let Wish::DropRole { elsewhere } = *what
        {
            let name = role(elsewhere).mark.unwrap_or_default();
            let request = ("DELETE", below(ROLE, name), String::new());
            self.send(what, by, &request, false).await;
        }
        // What a person decides by force must see what is decided meanwhile.
        let may_overlap = !matches!(
            what,
            Wish::Delete(_)
                | Wish::Forget(_)
                | Wish::DropRole { .. }
                | Wish::Release
                | Wish::DeleteGroup
                | Wish::Deprovision { .. }
        );
        match way {
            Way::Meanwhile if may_overlap => {
                self.send(what, by, &request, false).await;
                self.go_on().await;
            }
            Way::Waiting | Way::Meanwhile => {
                let asked = self.send(what, by, &request, false).await;
                self.until_answered(&[asked]).await;
            }
            Way::ToTheEnd => {
                let asked = self.send(what, by, &request, false).await;
                self.until_answered(&[asked]).await;
                self.settle().await;
                if let (Some(plan), Some(since)) = (plan, since) {
                    self.check_plan(&plan, since, asked).await;
                }
                if let (Some(of), Some(reply)) = (what.ordered(), self.asked[asked].reply.clone()) {
                    self.polled(of, what, &reply).await;
                }
            }
            Way::NotWaiting => {
                let asked = self.send(what, by, &request, true).await;
                let mut pause = FIRST_PAUSE;
                for _ in 0..TICKS_MAX {
                    if self.asked[asked].reply.is_some() {
                        return;
                    }
                    self.tick(&mut pause).await;
                }
                self.is_not_answered(&[asked]);
            }
            Way::Twice => {
                let other = self.process(by + 1);
                let both = [
                    self.send(what, by, &request, false).await,
                    self.send(what, other, &request, false).await,
                ];
                self.until_answered(&both).await;
            }
        }
    }
}
