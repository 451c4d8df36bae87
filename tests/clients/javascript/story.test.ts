// A client of api/openapi.json, with the types that openapi-typescript generates, tells one whole story.

import assert from "node:assert/strict";
import { test } from "node:test";
import { setTimeout } from "node:timers/promises";

import createClient from "openapi-fetch";

import type { components, paths } from "./generated/ucp.js";

const version = "2023-10-01-preview";
const group = { plane: "local", group: "typescript" };
const vpcs = { plane: "aws", account: "123456789012", region: "us-west-2", namespace: "AWS.EC2", type: "VPC" };
const actions = "/planes/aws/{plane}/accounts/{account}/regions/{region}/providers/{namespace}/{type}";
const client = createClient<paths>({ baseUrl: process.env.UCP_URL });

/** The body of an action on the VPC. */
function declared(properties: Record<string, unknown>): components["schemas"]["ActionRequest"] {
    const trackedBy = "/planes/radius/local/resourceGroups/typescript/providers/AWS.EC2/VPC:reference/main";
    return { alias: "main", trackedBy, properties };
}

const put = (properties: Record<string, unknown>) =>
    client.POST(`${actions}/:put`, { params: { path: vpcs }, body: declared(properties) });

/** Polls what a reply began until it has ended. */
async function follow(reply: Response) {
    const status = "/planes/aws/{plane}/accounts/{account}/regions/{region}/providers/{namespace}/locations/global/operationStatuses/{id}";
    const { type, ...scope } = vpcs;
    const id = reply.headers.get("Azure-AsyncOperation")?.split("/").at(-1);
    assert(id, "the reply names an operation");
    for (let poll = 0; poll < 120; poll++) {
        const { data, error, response } = await client.GET(status, { params: { path: { ...scope, id } } });
        assert(data, JSON.stringify(error));
        if (["Succeeded", "Failed", "Canceled"].includes(data.status)) {
            return data;
        }
        await setTimeout(Number(response.headers.get("Retry-After")) * 1000);
    }
    throw new Error("the operation did not end");
}

test("a group, a put, the same put again, a read and a delete", async () => {
    const query = { "api-version": version };
    const made = await client.PUT("/planes/radius/{plane}/resourcegroups/{group}", {
        params: { path: group, query },
        body: { location: "global" },
    });
    assert.equal(made.data?.id, "/planes/radius/local/resourcegroups/typescript");

    const created = await put({ CidrBlock: "10.0.0.0/16" });
    assert.equal(created.response.status, 201, JSON.stringify(created.error));
    const ended = await follow(created.response);
    assert.equal(ended.status, "Succeeded");
    const vpc = ended.resourceId?.split("/").at(-1);
    assert(vpc);

    const again = await put({ CidrBlock: "10.0.0.0/16" });
    assert.equal(again.response.status, 200);
    assert.equal(again.data?.name, vpc);

    const named = { params: { path: { ...vpcs, identifier: vpc } } };
    const shown = await client.GET(`${actions}/{identifier}`, named);
    assert.deepEqual(shown.data?.properties?.CidrBlock, "10.0.0.0/16");

    const refused = await put({ Nothing: 1 });
    assert.equal(refused.response.status, 400);
    assert.equal(refused.error?.error.code, "InvalidRequest");

    const deleted = await client.POST(`${actions}/:delete`, { params: { path: vpcs }, body: declared({}) });
    assert.equal(deleted.response.status, 202);
    assert.equal((await follow(deleted.response)).status, "Succeeded");
    assert.equal((await client.GET(`${actions}/{identifier}`, named)).response.status, 404);
    const removed = await client.DELETE("/planes/radius/{plane}/resourcegroups/{group}", {
        params: { path: group, query },
    });
    assert.equal(removed.response.status, 200);
});
