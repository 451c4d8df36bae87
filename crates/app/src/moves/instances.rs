//! What belongs to a service instance stays where its orders find it.

use std::collections::{BTreeMap, HashMap};

use ucp_model::{Detail, ErrorCode, Failure, InstanceId, RefactorMove, Reference};
use ucp_refactor::{Move, Refactor, RefusalCode, Refused};

use ucp_store::rules::instance_of;

use super::in_words;
use crate::{MoveCases, Rejection};

impl MoveCases {
    /// Refuses moves of what belongs to a service instance that is not gone.
    pub(crate) async fn keep_instances(
        &self,
        refactor: &mut Refactor,
        references: &HashMap<String, Reference>,
    ) -> Result<(), Rejection> {
        let from = |it: &Move| references.get(&it.from.key());
        let moved = refactor.moves.iter().filter_map(from);
        let standing = self.standing(moved).await?;
        if standing.is_empty() {
            return Ok(());
        }
        let (kept, refused) = std::mem::take(&mut refactor.moves)
            .into_iter()
            .partition(|it| !standing.contains_key(&it.from.key()));
        refactor.moves = kept;
        let refused: Vec<Move> = refused;
        for Move { from, to, .. } in refused {
            let Some(reference) = references.get(&from.key()) else {
                continue;
            };
            let environments = &mut refactor.environments;
            if let Some(it) = environments
                .iter_mut()
                .find(|it| it.scope == reference.scope)
            {
                it.moves = it.moves.saturating_sub(1);
                it.refused += 1;
            }
            refactor.refused.push(Refused {
                scope: Some(reference.scope.clone()),
                message: message(&standing[&from.key()]),
                from: vec![from],
                to: vec![to],
                code: RefusalCode::OfAnInstance,
            });
        }
        Ok(())
    }

    /// Refuses to move what belongs to a service instance that is not gone. An earlier version may have planned it.
    pub(crate) async fn judge_instances(&self, moves: &[RefactorMove]) -> Result<(), Rejection> {
        let mut moved = Vec::new();
        for it in moves.iter().filter(|it| it.from.alias.contains(':')) {
            moved.extend(self.ground.store.get_reference(&it.from).await?);
        }
        let standing = self.standing(moved.iter()).await?;
        let Some((_, instance)) = standing.first_key_value() else {
            return Ok(());
        };
        let is_kept = |it: &&RefactorMove| standing.contains_key(&it.from.key());
        let detail = |it: &RefactorMove| Detail {
            code: RefusalCode::OfAnInstance.as_str().to_owned(),
            message: format!(
                "{}: {}",
                in_words(&it.from),
                message(&standing[&it.from.key()])
            ),
            target: Some(it.from.to_string()),
        };
        let details = moves.iter().filter(is_kept).map(detail);
        let failure = Failure::new(ErrorCode::RefactorRefused, message(instance));
        Err(Rejection::Conflict(failure.with_details(details.collect())))
    }

    /// Refuses to move, with a complete set, what belongs to a service instance that is not gone.
    pub(crate) async fn judge_moved(
        &self,
        moved: impl Iterator<Item = &Reference> + Send,
    ) -> Result<(), Rejection> {
        let standing = self.standing(moved).await?;
        match standing.first_key_value() {
            None => Ok(()),
            Some((_, instance)) => {
                let failure = Failure::new(ErrorCode::RefactorRefused, message(instance));
                Err(Rejection::Conflict(failure))
            }
        }
    }

    /// Returns those of the references that belong to instances that are not gone, with these.
    async fn standing<'r>(
        &self,
        references: impl Iterator<Item = &'r Reference>,
    ) -> Result<BTreeMap<String, InstanceId>, Rejection> {
        let mut known: HashMap<String, bool> = HashMap::new();
        let mut standing = BTreeMap::new();
        for Reference { id, tags, .. } in references {
            let Some(instance) = instance_of(id, tags) else {
                continue;
            };
            let stands = match known.get(&instance.key()) {
                Some(stands) => *stands,
                None => {
                    let found = self.ground.store.get_service_instance(&instance).await?;
                    let stands = found.is_some_and(|found| !found.is_gone());
                    known.insert(instance.key(), stands);
                    stands
                }
            };
            if stands {
                standing.insert(id.key(), instance);
            }
        }
        Ok(standing)
    }
}

fn message(instance: &InstanceId) -> String {
    format!(
        "It belongs to the service instance '{}', whose next order would make it anew. Leave it where it is, or deprovision the instance first.",
        instance.instance
    )
}
