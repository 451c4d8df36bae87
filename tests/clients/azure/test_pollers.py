"""Azure's pollers, unmodified (sections 4, 5 and 11 of the contract, D1 to D6, D14)."""

import pytest
from azure.core.exceptions import HttpResponseError

from conftest import SCOPE

VPCS = f"{SCOPE}/providers/AWS.EC2/VPC"
LOGS = f"{SCOPE}/providers/AWS.Logs/LogGroup"
# The options that generated SDKs set for the final state, and the default without any.
FINAL_STATES = [None, "azure-async-operation", "location", "original-uri"]
# The same for a POST, which has no URI to read again.
FINAL_STATES_OF_ACTIONS = [None, "azure-async-operation", "location"]


def tracked(group, resource_type, properties):
    return {"trackedBy": f"{group}/providers/{resource_type}:reference/main", "properties": properties}


@pytest.mark.parametrize("final_state_via", FINAL_STATES)
def test_put_by_name_creates_updates_and_finds_nothing_to_do(ucp, final_state_via):
    url = f"{LOGS}/azure-{final_state_via}"

    created = ucp.begin("PUT", url, {"properties": {"RetentionInDays": 7}}, final_state_via)
    # A PUT always ends with the resource, regardless of the final-state option.
    result = created.result().json()
    assert created.status() == "Succeeded"
    assert result["properties"]["RetentionInDays"] == 7
    assert result["id"] == url

    updated = ucp.begin("PUT", url, {"properties": {"RetentionInDays": 14}}, final_state_via)
    assert updated.result().json()["properties"]["RetentionInDays"] == 14

    again = ucp.begin("PUT", url, {"properties": {"RetentionInDays": 14}}, final_state_via)
    assert again.done()
    assert again.result().status_code == 200

    deleted = ucp.begin("DELETE", url, None, final_state_via)
    deleted.result()
    assert deleted.status() == "Succeeded"
    gone = ucp.begin("DELETE", url, None, final_state_via)
    assert gone.done()
    assert gone.result() is None


@pytest.mark.parametrize("final_state_via", FINAL_STATES_OF_ACTIONS)
def test_put_by_alias(ucp, group, final_state_via):
    body = tracked(group, "AWS.EC2/VPC", {"CidrBlock": "10.0.0.0/16"})
    poller = ucp.begin("POST", f"{VPCS}/:put", body, final_state_via)
    result = poller.result().json()
    assert poller.status() == "Succeeded"
    if final_state_via == "azure-async-operation":
        assert result["status"] == "Succeeded"
        vpc = result["resourceId"]
    else:
        vpc = result["id"]
    assert result["properties"]["CidrBlock"] == "10.0.0.0/16"
    assert ucp.send("GET", vpc).json()["id"] == vpc

    again = ucp.begin("POST", f"{VPCS}/:put", body, final_state_via)
    assert again.done()
    assert again.result().json()["id"] == vpc

    deleted = ucp.begin("POST", f"{VPCS}/:delete", tracked(group, "AWS.EC2/VPC", {}), final_state_via)
    deleted.result()
    assert deleted.status() == "Succeeded"


def test_a_create_that_fails_tells_awss_error(ucp, group):
    # The simulator is started with a fault for this type.
    queues = f"{SCOPE}/providers/AWS.SQS/Queue"
    poller = ucp.begin("POST", f"{queues}/:put", tracked(group, "AWS.SQS/Queue", {"QueueName": "fails"}))
    with pytest.raises(HttpResponseError) as raised:
        poller.result()
    assert raised.value.error.code == "ServiceLimitExceeded"
    assert "no more queues" in raised.value.message
    assert poller.status() == "Failed"


def test_a_refusal_is_an_error_with_its_details(ucp, group):
    with pytest.raises(HttpResponseError) as raised:
        ucp.begin("POST", f"{VPCS}/:put", tracked(group, "AWS.EC2/VPC", {"CidrBlock": 7, "Nothing": 1}))
    assert raised.value.status_code == 400


def test_import(ucp, group):
    ucp.begin("PUT", f"{LOGS}/azure-import", {"properties": {"RetentionInDays": 7}}).result()
    item = {
        "alias": "logs",
        "type": "AWS.Logs/LogGroup",
        "scope": SCOPE,
        "primaryIdentifier": "azure-import",
        "ownedResource": True,
    }
    poller = ucp.begin("POST", f"{group}/:import", {"resources": [item]}, "location")
    assert [imported["alias"] for imported in poller.result().json()["imported"]] == ["logs"]


@pytest.mark.parametrize("final_state_via", FINAL_STATES_OF_ACTIONS)
@pytest.mark.parametrize("prefer", [None, "respond-async"])
def test_deletion_of_a_group_with_content(ucp, group, final_state_via, prefer):
    body = tracked(group, "AWS.EC2/VPC", {"CidrBlock": "10.0.0.0/16"})
    vpc = ucp.begin("POST", f"{VPCS}/:put", body).result().json()["id"]
    headers = {"Prefer": prefer} if prefer else {}
    poller = ucp.begin("DELETE", group, None, final_state_via, version=True, headers=headers)
    poller.result()
    assert poller.status() == "Succeeded"
    for gone, version in [(group, True), (vpc, False)]:
        with pytest.raises(HttpResponseError) as raised:
            ucp.send("GET", gone, version=version)
        assert raised.value.status_code == 404
