#!/usr/bin/env bash
# Planes: two are there from the beginning; others can be made beside them.
. "$(dirname "$0")/client.sh"

echo '== Those that are there'
call 200 GET "/planes?$version"
says '"/planes/radius/local"' '"/planes/aws/aws"'
call 200 GET "/planes/aws?$version"

echo '== Another one'
call 200 PUT "/planes/radius/example?$version" '{"location":"global","properties":{"resourceProviders":{}}}'
call 200 GET "/planes/radius/example?$version"
call 200 GET "/planes/radius/example/providers?$version"
says '{"value":[]}'

echo '== What is refused says where it is wrong'
call 400 PUT "/planes/radius/example?$version" '{"properties":{}}'
says '$.location' '$.properties.resourceProviders'
call 400 GET /planes
says InvalidApiVersionParameter

echo '== Gone'
call 200 DELETE "/planes/radius/example?$version"
call 204 DELETE "/planes/radius/example?$version"
call 404 GET "/planes/radius/example?$version"
