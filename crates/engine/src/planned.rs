//! The plan that an operation carries out.

use std::sync::Arc;

use serde_json::value::RawValue;
use tracing::error;
use ucp_look::PlannedMember;
use ucp_model::PlanUse;
use ucp_seal::AssociatedData;

use crate::abandoned::Abandoned;
use crate::engine::OTHER_KEY_PAUSE;
use crate::known_plans::Known;
use crate::stepper::Stepper;

/// What is shorter is read at once.
const QUICK_BYTES: usize = 64 << 10;

impl Stepper<'_> {
    /// Returns the member of a plan that the operation carries out; none if it is gone or cannot be read.
    pub(crate) async fn planned_member(
        &mut self,
        used: PlanUse,
    ) -> Result<Option<PlannedMember>, Abandoned> {
        let members = self.planned_members(used).await?;
        let index = used.member.unwrap_or_default();
        let Some(text) = members.get(index).map(|member| member.get()) else {
            return Ok(None);
        };
        if text.len() <= QUICK_BYTES {
            return Ok(serde_json::from_str(text).ok());
        }
        let members = Arc::clone(&members);
        let read = move || serde_json::from_str(members[index].get()).ok();
        self.turn.arm(&mut self.claimed.lease).await?;
        Ok(self.engine.parts().pool.run(read).await?)
    }

    async fn planned_members(&mut self, used: PlanUse) -> Result<Arc<[Box<RawValue>]>, Abandoned> {
        let engine = self.engine;
        if let Some(members) = engine.plans.known(used.plan, engine.now()) {
            return Ok(members);
        }
        // To open a large plan is long work. Whoever may have to wait for it is armed before, so that nobody who opens a plan
        // waits for the turn of those who wait for them.
        self.turn.arm(&mut self.claimed.lease).await?;
        let load = async || {
            let Some(stored) = engine.store().get_plan(used.plan).await? else {
                return Ok(Known::default());
            };
            let is_quick = stored.opened_bytes() <= QUICK_BYTES;
            let keys = Arc::clone(&engine.parts().keys);
            let read = move || {
                let place = AssociatedData::PlanContent(used.plan);
                let opened = keys.sealing.open(place, &stored.content.0);
                opened.map(|packed| match ucp_look::unpack(packed) {
                    Ok(text) => Known::new(ucp_look::planned_members(&text)),
                    Err(error) => {
                        error!(plan.id = %used.plan, %error, "a stored plan cannot be read");
                        Known::default()
                    }
                })
            };
            match engine.parts().pool.run_unless_quick(is_quick, read).await? {
                Ok(known) => Ok(known),
                Err(error @ ucp_seal::Error::OtherKey { .. }) => {
                    // For a process that has the key.
                    engine.postpone(&self.claimed.lease, OTHER_KEY_PAUSE).await;
                    Err(Abandoned::Keys(error))
                }
                Err(_) => Ok(Known::default()),
            }
        };
        engine.plans.members(used.plan, engine.now(), load).await
    }
}
