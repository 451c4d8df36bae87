// An OpenID Connect issuer over TLS, for tests.
//
// Usage: node issuer.js CERTIFICATE KEY PORT
//
// Prints its URL, and then a line for each line of its input, which is a JSON object:
//
// {"key": "ES256"}                    makes a key, with which tokens are signed from then on; prints its id
// {"claims": {…}}                     prints a token with these claims
// {"claims": {…}, "forged": "none"}   prints one without a signature
// {"claims": {…}, "forged": "HS256"}  prints one whose shared secret is the public key

import { createHmac } from "node:crypto";
import { createInterface } from "node:readline";

import { OAuth2Server } from "oauth2-mock-server";

const [certificate, key, port] = process.argv.slice(2);
const server = new OAuth2Server(key, certificate);
const { issuer } = server;
let kid = (await issuer.keys.generate("RS256")).kid;
await server.start(Number(port), "127.0.0.1");
console.log(issuer.url);

function forge(alg, payload) {
    const part = (value) => Buffer.from(JSON.stringify(value)).toString("base64url");
    const signed = `${part({ alg, kid })}.${part(payload)}`;
    const secret = JSON.stringify(issuer.keys.toJSON().find((key) => key.kid === kid));
    return `${signed}.${alg === "none" ? "" : createHmac("sha256", secret).update(signed).digest("base64url")}`;
}

async function answer({ key, claims, forged }) {
    if (key) {
        kid = (await issuer.keys.generate(key)).kid;
        return kid;
    }
    if (forged) {
        const now = Math.floor(Date.now() / 1000);
        return forge(forged, { iss: issuer.url, iat: now, exp: now + 3600, ...claims });
    }
    return issuer.buildToken({ kid, scopesOrTransform: (_, payload) => Object.assign(payload, claims) });
}

for await (const line of createInterface({ input: process.stdin })) {
    console.log(await answer(JSON.parse(line)));
}
process.exit(0);
