// The page at /docs, in a browser without network: each GET can be executed there.

import assert from "node:assert/strict";
import { test } from "node:test";

import { chromium } from "playwright-core";

const url = process.env.UCP_URL;

/** The values of the document for parameters that the page leaves empty. */
function examples(operation) {
    const value = (parameter) => parameter.example ?? parameter.schema.examples?.[0];
    return new Map((operation.parameters ?? []).map((parameter) => [parameter.name, value(parameter)]));
}

/** Presses "Execute" at an operation, and returns the status that the page shows. */
async function execute(block, operation) {
    await block.locator(".opblock-summary-control").click();
    await block.locator(".try-out__btn").click();
    for (const row of await block.locator("tr[data-param-name]:has(.required)").all()) {
        const input = row.locator("input, select").first();
        if ((await input.inputValue()) === "") {
            await input.fill(examples(operation).get(await row.getAttribute("data-param-name")));
        }
    }
    await block.locator(".execute").click();
    const shown = block.locator(".live-responses-table tbody .response-col_status").first();
    const status = parseInt(await shown.innerText(), 10);
    // A page full of open operations is slow.
    await block.locator(".opblock-summary-control").click();
    return status;
}

test("each GET can be executed", async () => {
    const browser = await chromium.launch({
        executablePath: "/usr/bin/chromium-headless-shell",
        // The browser knows no other host.
        args: ["--no-sandbox", "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1"],
    });
    try {
        const page = await browser.newPage({ reducedMotion: "reduce" });
        page.setDefaultTimeout(20_000);
        const elsewhere = [];
        page.on("request", (request) => {
            if (!request.url().startsWith(`${url}/`) && !request.url().startsWith("data:")) {
                elsewhere.push(request.url());
            }
        });
        await page.goto(`${url}/docs/`);
        await page.locator(".opblock-get").first().waitFor();
        const document = await (await fetch(`${url}/openapi.json`)).json();
        const blocks = await page.locator(".opblock-get").all();
        const described = Object.values(document.paths).filter((path) => path.get);
        assert.equal(blocks.length, described.length);
        for (const block of blocks) {
            const path = await block.locator(".opblock-summary-path").getAttribute("data-path");
            const { get } = document.paths[path.replaceAll("\u200b", "")];
            const status = await execute(block, get);
            // Not every example names something that exists.
            assert([200, 404].includes(status), `${path}: ${status}`);
            assert(status in get.responses, `${path} does not describe ${status}`);
        }
        assert.deepEqual(elsewhere, []);
    } finally {
        await browser.close();
    }
});
