// @azure/arm-resources, unmodified: resources by id.

import assert from "node:assert/strict";
import { test } from "node:test";

import { ResourceManagementClient } from "@azure/arm-resources";

const version = "2023-10-01-preview";
const id = "/planes/aws/aws/accounts/123456789012/regions/us-west-2/providers/AWS.Logs/LogGroup/arm-resources";
const poll = { updateIntervalInMs: 100 };

test("create, get, update, check_existence and delete by id", async () => {
    const options = { endpoint: process.env.UCP_URL, allowInsecureConnection: true, retryOptions: { maxRetries: 0 } };
    const client = new ResourceManagementClient({ getToken: async () => null }, "local", options);
    // ucp does not authenticate callers.
    client.pipeline.removePolicy({ name: "bearerTokenAuthenticationPolicy" });
    const { resources } = client;
    const put = (days) =>
        resources.beginCreateOrUpdateByIdAndWait(id, version, { properties: { RetentionInDays: days } }, poll);
    const exists = async () => (await resources.checkExistenceById(id, version)).body;

    assert.equal(await exists(), false);
    const created = await put(7);
    assert.equal(created.id, id);
    assert.equal(created.properties.RetentionInDays, 7);
    assert.equal((await put(14)).properties.RetentionInDays, 14);
    assert.equal((await resources.getById(id, version)).properties.RetentionInDays, 14);
    const changed = { properties: { RetentionInDays: 30 } };
    const updated = await resources.beginUpdateByIdAndWait(id, version, changed, poll);
    assert.equal(updated.properties.RetentionInDays, 30);
    assert.equal(await exists(), true);
    await resources.beginDeleteByIdAndWait(id, version, poll);
    assert.equal(await exists(), false);
    await assert.rejects(resources.getById(id, version), { statusCode: 404 });
});
