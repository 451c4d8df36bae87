//! Taking back what a refactor has moved, since a put of its deployment has failed.

use ucp_model::operation::GroupWork;
use ucp_model::operation::group::Refusal;
use ucp_model::{ErrorCode, Failure, Refactor, RefactorId, RefactorStatus};
use ucp_store::{ApplyRefactor, Error};

use crate::abandoned::Abandoned;
use crate::engine::Parts;
use crate::stepper::Stepper;

impl Stepper<'_> {
    /// Moves everything back that the operation has moved. What was moved back before a crash is moved back.
    pub(crate) async fn take_back(&self) -> Result<Result<(), Refusal>, Abandoned> {
        let Parts {
            store,
            clock,
            entropy,
            keys,
            ..
        } = self.engine.parts();
        let operation = &self.claimed.operation;
        let header = &operation.header;
        let deployment = operation.work.group().and_then(GroupWork::deployment);
        let Some(deployment) = deployment else {
            return Ok(Err(stays("the operation deploys no refactor")));
        };
        let Some(applied) = store.get_refactor(deployment.refactor).await? else {
            return Ok(Err(stays("the record of the refactor is gone")));
        };
        let mut content = applied.inverse();
        content.deployment = Some(header.id);
        let now = clock.now();
        let taken_back = store.apply_refactor(ApplyRefactor {
            record: Refactor {
                id: RefactorId(entropy.uuid("refactor")),
                plane: applied.plane,
                created_by: header.caller.clone(),
                created_at: now,
                status: RefactorStatus::Applied,
                changed_at: now,
                fingerprint: keys.digest.fingerprint(&content.essence()),
                content,
            },
            is_planned: false,
            // Everything becomes as it was, the policies too.
            keeps_plan_policy: false,
            history: None,
            deploy: None,
            taken_back_by: Some(self.claimed.lease.clone()),
            caller: header.caller.clone(),
            correlation_id: header.correlation_id.clone(),
        });
        Ok(match taken_back.await {
            Ok(record) => {
                tracing::info!(
                    refactor.id = %deployment.refactor,
                    moves = record.content.moves.len(),
                    "a put has failed, so what has moved was taken back"
                );
                Ok(())
            }
            Err(Error::RefactorStatus(RefactorStatus::Undone)) => Ok(()),
            Err(Error::Busy(_) | Error::GroupDeleting(_)) => Err(Refusal::Busy),
            Err(Error::PreconditionFailed) => {
                Err(stays("an old alias stands for something else by now"))
            }
            Err(Error::NoSuchGroup) => Err(stays("an old group does not exist any more")),
            Err(Error::OutcomeUnknown) => Err(stays(
                "the outcome of a create is unknown, so nothing tells whether the resource exists",
            )),
            Err(error) => return Err(error.into()),
        })
    }
}

fn stays(why: &str) -> Refusal {
    let message = format!("What has moved could not be taken back: {why}. It stays.");
    Refusal::Lasting(Failure::new(ErrorCode::Conflict, message))
}
