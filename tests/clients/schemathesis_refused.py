"""A check for schemathesis: without credentials, every route refuses, except for those that are open to everybody."""

import schemathesis

OPEN = ("/healthz", "/readyz", "/docs/")


@schemathesis.check
def refused_without_credentials(_context, response, case):
    if case.operation.path.startswith(OPEN):
        return
    assert response.status_code in (400, 401), response.status_code
    error = response.json()["error"]
    assert error["message"], error
    if response.status_code == 400:
        # No request has such a URL. That is judged first, and says nothing about what there is.
        assert error["code"] in ("BadRequest", "InvalidApiVersionParameter"), error
        return
    assert error["code"] == "AuthenticationFailed", error
    challenges = response.headers.get("www-authenticate")
    assert challenges == ['Bearer realm="ucp"'], challenges
