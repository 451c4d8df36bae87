"""A client like those of Azure's generated SDKs: the pipeline of azure-mgmt-core, and its pollers."""

import os
import time

import pytest
from azure.core.credentials import AccessToken
from azure.core.pipeline.policies import (
    HeadersPolicy,
    RedirectPolicy,
    RequestIdPolicy,
    SansIOHTTPPolicy,
    UserAgentPolicy,
)
from azure.core.polling import LROPoller
from azure.core.rest import HttpRequest
from azure.mgmt.core import ARMPipelineClient
from azure.mgmt.core.policies import ARMChallengeAuthenticationPolicy
from azure.mgmt.core.polling.arm_polling import ARMPolling

VERSION = {"api-version": "2023-10-01-preview"}
SCOPE = "/planes/aws/aws/accounts/123456789012/regions/us-west-2"


class Given:
    """A credential with a token that somebody has made."""

    def __init__(self, token):
        self.token = token

    def get_token(self, *scopes, **options):
        return AccessToken(self.token, int(time.time()) + 3600)


def authentication():
    """The policy of generated SDKs, which takes no server without TLS; without a token, one that sends nothing."""
    token = os.environ.get("UCP_TOKEN")
    return ARMChallengeAuthenticationPolicy(Given(token), "ucp/.default") if token else SansIOHTTPPolicy()


class Ucp:
    def __init__(self, url):
        # The policies of generated SDKs, without retries, which would hide the server's replies.
        policies = [RequestIdPolicy(), HeadersPolicy(), UserAgentPolicy("ucp"), RedirectPolicy(), authentication()]
        self.client = ARMPipelineClient(base_url=url, policies=policies)

    def send(self, method, url, body=None, version=False, headers=None):
        """Returns the reply, and raises on an error status."""
        request = HttpRequest(
            method, self.client.format_url(url), json=body, params=VERSION if version else {}, headers=headers or {}
        )
        response = self.client.send_request(request)
        response.raise_for_status()
        return response

    def begin(self, method, url, body=None, final_state_via=None, version=False, headers=None):
        """Returns a poller, started like in generated SDKs."""
        request = HttpRequest(
            method, self.client.format_url(url), json=body, params=VERSION if version else {}, headers=headers or {}
        )
        initial = self.client._pipeline.run(request, stream=False)
        initial.http_response.raise_for_status()
        options = {"final-state-via": final_state_via} if final_state_via else None
        polling = ARMPolling(0, lro_options=options)
        return LROPoller(self.client, initial, lambda done: done.http_response, polling)


@pytest.fixture(scope="session")
def ucp():
    return Ucp(os.environ["UCP_URL"])


@pytest.fixture
def group(ucp, request):
    """A resource group for one test."""
    name = request.node.name.replace("_", "-").replace("[", "-").replace("]", "")[:63].strip("-")
    path = f"/planes/radius/local/resourceGroups/{name}"
    ucp.send("PUT", path, {"location": "global"}, version=True)
    return path
