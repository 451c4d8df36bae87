use async_trait::async_trait;
use ucp_model::{KeptPlan, Operation, PlanId, PlanUse, Review, Timestamp};

use super::Memory;
use super::tables::Tables;
use crate::rules::Claimant;
use crate::{Error, KeptPlans, PlansOf, Reviewed, StoredPlan, rules};

#[async_trait]
impl KeptPlans for Memory {
    async fn keep_plan(&self, plan: StoredPlan) -> Result<(), Error> {
        self.tables().plans.entry(plan.plan.id).or_insert(plan);
        Ok(())
    }

    async fn get_plan(&self, id: PlanId) -> Result<Option<StoredPlan>, Error> {
        Ok(self.tables().plans.get(&id).cloned())
    }

    async fn review_plan(&self, id: PlanId, review: &Review) -> Result<Reviewed, Error> {
        let mut tables = self.tables();
        let Some(stored) = tables.plans.get(&id) else {
            return Ok(Reviewed::Absent);
        };
        let reviewed = match stored.plan.clone().reviewed(review) {
            Ok(reviewed) => reviewed,
            Err(refused) => return Ok(Reviewed::Refused(refused)),
        };
        tables.write_plan(reviewed.clone(), review.approval.at);
        Ok(Reviewed::Done(Box::new(reviewed)))
    }

    async fn count_plans(&self, of: PlansOf<'_>, limit: usize) -> Result<usize, Error> {
        let tables = self.tables();
        let those = tables.plans.values().filter(|row| of.has(&row.plan));
        Ok(those.map(|row| row.units).sum::<usize>().min(limit))
    }

    async fn remove_plans_of(
        &self,
        of: PlansOf<'_>,
        until: Timestamp,
        most: usize,
    ) -> Result<u64, Error> {
        let mut tables = self.tables();
        let those = tables.plans.values().filter(|row| of.has(&row.plan));
        let mut newest: Vec<&StoredPlan> = those.collect();
        newest.sort_unstable_by_key(|row| std::cmp::Reverse((row.plan.created_at, row.plan.id)));
        let mut kept = 0;
        let beyond = newest.into_iter().filter(|row| {
            kept += row.units;
            kept > most && row.plan.expires_at <= until
        });
        let beyond: Vec<PlanId> = beyond.map(|row| row.plan.id).collect();
        for id in &beyond {
            tables.plans.remove(id);
        }
        Ok(u64::try_from(beyond.len()).unwrap_or(u64::MAX))
    }

    async fn erase_expired_plans(&self, now: Timestamp, limit: usize) -> Result<u64, Error> {
        let mut tables = self.tables();
        let expired = tables
            .plans
            .values_mut()
            .filter(|stored| stored.declared.is_some() && stored.plan.expires_at <= now);
        Ok(expired.take(limit).fold(0, |erased, stored| {
            stored.declared = None;
            erased + 1
        }))
    }

    async fn remove_plans(&self, before: Timestamp, limit: usize) -> Result<u64, Error> {
        let mut tables = self.tables();
        let over = tables.plans.values().filter_map(|stored| {
            let over_at = stored.plan.over_at().filter(|over_at| *over_at < before);
            Some((over_at?, stored.plan.id))
        });
        let mut over: Vec<(Timestamp, PlanId)> = over.collect();
        over.sort_unstable();
        over.truncate(limit);
        Ok(over.into_iter().fold(0, |removed, (_, id)| {
            tables.plans.remove(&id);
            removed + 1
        }))
    }
}

impl Tables {
    /// Writes what has become of a plan.
    fn write_plan(&mut self, plan: KeptPlan, now: Timestamp) {
        if let Some(stored) = self.plans.get_mut(&plan.id) {
            if !plan.is_open(now) {
                stored.declared = None;
            }
            stored.plan = plan;
        }
    }

    /// Returns the plan that a new operation carries out, as it is then. The plan of a child is that of its parent.
    pub(super) fn used_plan(
        &self,
        operation: &Operation,
        by: Claimant,
    ) -> Result<Option<KeptPlan>, Error> {
        let wanted = operation.work.plan().filter(|_| by == Claimant::Anyone);
        let Some(PlanUse { plan, member, .. }) = wanted else {
            return Ok(None);
        };
        let plan = self.plans.get(&plan).map(|stored| stored.plan.clone());
        let header = &operation.header;
        rules::used_plan(plan, member, header.id, header.accepted_at).map(Some)
    }

    /// Writes that an operation carries out a plan, if it does.
    pub(super) fn write_used(&mut self, plan: Option<KeptPlan>, now: Timestamp) {
        if let Some(plan) = plan {
            self.write_plan(plan, now);
        }
    }

    /// Writes what came of the plan that an operation has carried out.
    pub(super) fn end_plan(&mut self, operation: &Operation) {
        let Some(used) = operation.work.plan() else {
            return;
        };
        let plan = self.plans.get(&used.plan).map(|stored| stored.plan.clone());
        let now = rules::ended_at(&operation.header);
        if let Some(plan) = plan.and_then(|plan| rules::ended_plan(plan, operation)) {
            self.write_plan(plan, now);
        }
    }
}
