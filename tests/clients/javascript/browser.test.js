// The page at /docs, in a browser without network: each GET can be executed there.

import assert from "node:assert/strict";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";

import { chromium } from "playwright-core";

const url = process.env.UCP_URL;

/** What nothing can exist for: made-up operations, leftovers, plans and refactors, and collections that are empty in ucp. */
const ABSENT = [
    /\/operation(Results|Statuses)\/\{id\}$/,
    /\/leftovers\/\{id\}$/,
    /\/plans\/\{plan\}$/,
    /\/refactors\/\{refactor\}$/,
    /^\/planes\/azure\/\{plane\}\/providers\/System\.Azure\/credentials\/\{credential\}$/,
    /^\/planes\/radius\/\{plane\}\/providers\/\{namespace\}$/,
];

/** Sends an operation of the document as its examples have it. */
async function send(document, method, id) {
    const [path, operation] = Object.entries(document.paths)
        .map(([path, operations]) => [path, operations[method]])
        .find(([, operation]) => operation?.operationId === id);
    const examples = Object.fromEntries(operation.parameters.map(({ name, example }) => [name, example]));
    const query = new URLSearchParams({ "api-version": examples["api-version"] ?? "2023-10-01-preview" });
    const filled = path.replaceAll(/\{(\w+)\}/g, (_, name) => encodeURIComponent(examples[name]));
    const content = operation.requestBody.content["application/json"];
    const reply = await fetch(`${url}${filled}?${query}`, {
        method: method.toUpperCase(),
        headers: { "Content-Type": "application/json" },
        body: JSON.stringify(content.example),
    });
    assert(reply.ok, `${id}: ${reply.status} ${await reply.text()}`);
    // The resource stands when the operation has ended.
    const poll = reply.headers.get("Azure-AsyncOperation");
    while (poll && (await (await fetch(poll)).json()).endTime === undefined) {
        await new Promise((next) => setTimeout(next, 50));
    }
}

/** Presses "Execute" at an operation, and returns the status that the page shows. */
async function execute(block) {
    await block.locator(".opblock-summary-control").click();
    await block.locator(".try-out__btn").click();
    await block.locator(".execute").click();
    const shown = block.locator(".live-responses-table tbody .response-col_status").first();
    const status = parseInt(await shown.innerText(), 10);
    // A page full of open operations is slow.
    await block.locator(".opblock-summary-control").click();
    return status;
}

test("each GET can be executed", async () => {
    const document = await (await fetch(`${url}/openapi.json`)).json();
    for (const id of ["put_resource_group", "put_named_aws_resource", "put_credential", "put_role_assignment"]) {
        await send(document, "put", id);
    }
    await send(document, "post", "put_aws_resource");
    const browser = await chromium.launch({
        executablePath: "/usr/bin/chromium-headless-shell",
        // The browser knows no other host.
        args: ["--no-sandbox", "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1"],
    });
    const page = await browser.newPage({ reducedMotion: "reduce" });
    try {
        page.setDefaultTimeout(20_000);
        const elsewhere = [];
        const others = [];
        page.on("request", (request) => {
            if (!request.url().startsWith(`${url}/`) && !request.url().startsWith("data:")) {
                elsewhere.push(request.url());
            }
        });
        await page.goto(`${url}/docs/`);
        await page.locator(".opblock-get").first().waitFor();
        const blocks = await page.locator(".opblock-get").all();
        const described = Object.values(document.paths).filter((path) => path.get);
        assert.equal(blocks.length, described.length);
        for (const block of blocks) {
            const path = await block.locator(".opblock-summary-path").getAttribute("data-path");
            const { get } = document.paths[path.replaceAll("\u200b", "")];
            const status = await execute(block);
            assert(status in get.responses, `${path} does not describe ${status}`);
            if (status !== 200) {
                others.push([path.replaceAll("\u200b", ""), status]);
            }
        }
        const expected = (path) => ABSENT.some((absent) => absent.test(path));
        assert.deepEqual(others.filter(([path, status]) => status !== 404 || !expected(path)), []);
        assert.deepEqual(elsewhere, []);
    } catch (error) {
        const path = join(tmpdir(), "ucp-docs.png");
        await page.screenshot({ path, fullPage: true });
        error.message += ` (see ${path})`;
        throw error;
    } finally {
        await browser.close();
    }
});
