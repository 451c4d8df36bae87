"""The OpenAPI document is valid OpenAPI 3.1."""

import json
from pathlib import Path

from openapi_spec_validator import OpenAPIV31SpecValidator

DOCUMENT = Path(__file__).parents[3] / "api" / "openapi.json"


def test_the_document_is_valid():
    document = json.loads(DOCUMENT.read_text())
    errors = [error.message for error in OpenAPIV31SpecValidator(document).iter_errors()]
    assert errors == []
