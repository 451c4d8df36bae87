//! What a failed SDK call means. An SDK error prints only its outermost layer, so the whole chain is put together here.

use std::error::Error;
use std::io::{self, ErrorKind};

use aws_credential_types::provider::error::CredentialsError;
use aws_sdk_cloudcontrol::config::http::HttpResponse;
use aws_sdk_cloudcontrol::error::{ProvideErrorMetadata, SdkError};
use ucp_cloud::{Call, Fault, fault_of};

pub(crate) fn of<E>(call: Call, error: SdkError<E, HttpResponse>) -> Fault
where
    E: Error + ProvideErrorMetadata + Send + Sync + 'static,
{
    match error {
        SdkError::ServiceError(context) => {
            let status = context.raw().status().as_u16();
            let meta = context.err().meta();
            let code = meta.code().unwrap_or(if status >= 500 {
                "InternalFailure"
            } else {
                "InvalidRequest"
            });
            let message = meta
                .message()
                .map_or_else(|| chain(context.err()), str::to_owned);
            fault_of(call, code, &message, status)
        }
        SdkError::ConstructionFailure(_) => Fault::Rejected {
            code: "InvalidRequest".to_owned(),
            message: chain(&error),
        },
        SdkError::DispatchFailure(_) if lacks_credentials(&error) => Fault::Denied {
            code: "InvalidCredentials".to_owned(),
            message: chain(&error),
        },
        SdkError::DispatchFailure(_) if found_nobody(&error) => Fault::Transient {
            code: "NetworkFailure".to_owned(),
            message: chain(&error),
        },
        _ => incomplete(call, &chain(&error)),
    }
}

/// No reply, or not a whole one.
pub(crate) fn incomplete(call: Call, message: &str) -> Fault {
    match call {
        Call::Read => Fault::Transient {
            code: "NetworkFailure".to_owned(),
            message: message.to_owned(),
        },
        Call::Mutation => Fault::OutcomeUnknown {
            message: message.to_owned(),
        },
    }
}

/// Whether the call was never sent for want of credentials.
fn lacks_credentials(error: &(dyn Error + 'static)) -> bool {
    causes(error).any(|cause| cause.is::<CredentialsError>())
}

/// Whether the call was never sent because there was no connection to send it on.
fn found_nobody(error: &(dyn Error + 'static)) -> bool {
    let mut kinds =
        causes(error).filter_map(|cause| Some(cause.downcast_ref::<io::Error>()?.kind()));
    kinds.any(|kind| {
        matches!(
            kind,
            ErrorKind::ConnectionRefused
                | ErrorKind::HostUnreachable
                | ErrorKind::NetworkUnreachable
        )
    })
}

fn causes<'a>(error: &'a (dyn Error + 'static)) -> impl Iterator<Item = &'a (dyn Error + 'static)> {
    std::iter::successors(Some(error), |error: &&'a (dyn Error + 'static)| {
        (*error).source()
    })
}

fn chain(error: &dyn Error) -> String {
    let mut text = error.to_string();
    let mut source = error.source();
    while let Some(cause) = source {
        text.push_str(": ");
        text.push_str(&cause.to_string());
        source = cause.source();
    }
    text
}
