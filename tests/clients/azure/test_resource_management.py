"""azure-mgmt-resource, unmodified: resource groups, and resources by id."""

import os

import pytest
from azure.core.exceptions import ResourceNotFoundError
from azure.core.pipeline.policies import SansIOHTTPPolicy
from azure.mgmt.resource.resources import ResourceManagementClient

from conftest import SCOPE, VERSION, authentication

VERSION = VERSION["api-version"]


class GroupsOfPlane(SansIOHTTPPolicy):
    """Maps subscriptions to radius planes of the same name, like a proxy in front of ucp."""

    def on_request(self, request):
        url = request.http_request.url
        request.http_request.url = url.replace("/subscriptions/", "/planes/radius/", 1)


@pytest.fixture(scope="module")
def sdk():
    return ResourceManagementClient(
        credential=object(),
        subscription_id="local",
        base_url=os.environ["UCP_URL"],
        api_version=VERSION,
        authentication_policy=authentication(),
        per_call_policies=[GroupsOfPlane()],
        polling_interval=0,
        retry_total=0,
    )


def test_resource_groups(sdk):
    groups = sdk.resource_groups
    created = groups.create_or_update("sdk", {"location": "global", "tags": {"team": "net"}})
    assert created.id == "/planes/radius/local/resourcegroups/sdk"
    assert groups.get("sdk").tags == {"team": "net"}
    assert "sdk" in [group.name for group in groups.list()]
    assert groups.create_or_update("sdk", {"location": "global"}).tags == {}
    assert groups.update("sdk", {"tags": {"stage": "test"}}).tags == {"stage": "test"}
    assert groups.check_existence("sdk")
    groups.begin_delete("sdk").result()
    assert not groups.check_existence("sdk")
    with pytest.raises(ResourceNotFoundError):
        groups.get("sdk")


def test_resources_by_id(sdk):
    resources, id = sdk.resources, f"{SCOPE}/providers/AWS.Logs/LogGroup/sdk"
    version = {"api_version": VERSION}

    def put(days):
        declared = {"properties": {"RetentionInDays": days}}
        return resources.begin_create_or_update_by_id(id, declared, **version).result()

    assert not resources.check_existence_by_id(id, **version)
    assert put(7).id == id
    assert put(7).properties["RetentionInDays"] == 7
    assert put(14).properties["RetentionInDays"] == 14
    assert resources.get_by_id(id, **version).properties["RetentionInDays"] == 14
    updated = resources.begin_update_by_id(id, {"properties": {"RetentionInDays": 30}}, **version)
    assert updated.result().properties["RetentionInDays"] == 30
    assert resources.check_existence_by_id(id, **version)
    resources.begin_delete_by_id(id, **version).result()
    assert not resources.check_existence_by_id(id, **version)
    with pytest.raises(ResourceNotFoundError):
        resources.get_by_id(id, **version)
