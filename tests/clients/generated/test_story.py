"""Runs a client that openapi-python-client generates from `api/openapi.json` through a whole scenario."""

import importlib
import os
import subprocess
import sys
import time
from http import HTTPStatus
from pathlib import Path
from uuid import UUID

import pytest

HERE = Path(__file__).parent
DOCUMENT = HERE.parents[2] / "api" / "openapi.json"
VERSION = "2023-10-01-preview"
VPCS = {"plane": "aws", "account": "123456789012", "region": "us-west-2", "namespace": "AWS.EC2", "type_": "VPC"}
GROUP = {"plane": "local", "group": "generated"}


@pytest.fixture(scope="module")
def generated(tmp_path_factory):
    """Imports modules of the generated client. A warning of the generator fails the test."""
    package = tmp_path_factory.mktemp("generated") / "ucp_client"
    command = [sys.executable, "-m", "openapi_python_client", "generate", "--meta", "none", "--fail-on-warning"]
    subprocess.run(
        [*command, "--path", DOCUMENT, "--output-path", package, "--config", HERE / "config.yml"], check=True
    )
    sys.path.insert(0, str(package.parent))
    yield lambda module: importlib.import_module(f"ucp_client.{module}")
    sys.path.remove(str(package.parent))


@pytest.fixture
def call(generated):
    """Calls an operation by its id, and expects a status."""
    client = generated("client").Client(base_url=os.environ["UCP_URL"])

    def call(tag, operation, expected, **arguments):
        answer = generated(f"api.{tag}.{operation}").sync_detailed(client=client, **arguments)
        assert answer.status_code == expected, answer.content
        return answer

    return call


def follow(call, answer):
    """Polls the operation of `answer` until it ends."""
    scope = {name: VPCS[name] for name in ("plane", "account", "region", "namespace")}
    operation = UUID(answer.headers["Azure-AsyncOperation"].rsplit("/", 1)[1])
    for _ in range(120):
        status = call("operations", "get_operation_status", HTTPStatus.OK, id=operation, **scope)
        if status.parsed.status in ("Succeeded", "Failed", "Canceled"):
            return status.parsed
        time.sleep(int(status.headers["Retry-After"]))
    raise AssertionError("the operation did not end")


def test_story(generated, call):
    models = generated("models")
    group = models.PutResourceGroupRequest(location="global")
    call("resource_groups", "put_resource_group", HTTPStatus.OK, **GROUP, api_version=VERSION, body=group)

    def declared(**properties):
        return models.ActionRequest.from_dict(
            {
                "alias": "main",
                "trackedBy": "/planes/radius/local/resourceGroups/generated/providers/AWS.EC2/VPC:reference/main",
                "properties": properties,
            }
        )

    made = call("aws_resources", "put_aws_resource", HTTPStatus.CREATED, **VPCS, body=declared(CidrBlock="10.0.0.0/16"))
    assert made.parsed.properties["provisioningState"] == "Provisioning"
    ended = follow(call, made)
    assert ended.status == "Succeeded"
    vpc = ended.resource_id.rsplit("/", 1)[1]

    again = call("aws_resources", "put_aws_resource", HTTPStatus.OK, **VPCS, body=declared(CidrBlock="10.0.0.0/16"))
    assert again.parsed.name == vpc

    shown = call("aws_resources", "get_named_aws_resource", HTTPStatus.OK, **VPCS, identifier=vpc)
    assert shown.parsed.properties["CidrBlock"] == "10.0.0.0/16"
    listed = call("aws_resources", "list_aws_resources", HTTPStatus.OK, **VPCS)
    assert vpc in [resource.name for resource in listed.parsed.value]
    tracked = call("resource_groups", "get_resource_group", HTTPStatus.OK, **GROUP, api_version=VERSION)
    assert [each.maps_to.primary_identifier for each in tracked.parsed.resources] == [vpc]

    refused = call("aws_resources", "put_aws_resource", HTTPStatus.BAD_REQUEST, **VPCS, body=declared(Nothing=1))
    assert refused.parsed.error.code == "InvalidRequest"

    deleted = call("aws_resources", "delete_aws_resource", HTTPStatus.ACCEPTED, **VPCS, body=declared())
    assert follow(call, deleted).status == "Succeeded"
    call("aws_resources", "get_named_aws_resource", HTTPStatus.NOT_FOUND, **VPCS, identifier=vpc)
    call("resource_groups", "delete_resource_group", HTTPStatus.OK, **GROUP, api_version=VERSION)
    call("resource_groups", "get_resource_group", HTTPStatus.NOT_FOUND, **GROUP, api_version=VERSION)
