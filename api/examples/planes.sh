#!/usr/bin/env bash
# Planes: two exist from the start; others can be created.
. "$(dirname "$0")/client.sh"

echo '== The existing planes'
call 200 GET "/planes?$version"
says '"/planes/radius/local"' '"/planes/aws/aws"'
call 200 GET "/planes/aws?$version"

echo '== Another plane'
call 200 PUT "/planes/radius/example?$version" '{"location":"global","properties":{"resourceProviders":{}}}'
call 200 GET "/planes/radius/example?$version"
call 200 GET "/planes/radius/example/providers?$version"
says '{"value":[]}'

echo '== An error names each invalid place'
call 400 PUT "/planes/radius/example?$version" '{"properties":{}}'
says '$.location' '$.properties.resourceProviders'
call 400 GET /planes
says InvalidApiVersionParameter

echo '== Delete'
call 200 DELETE "/planes/radius/example?$version"
call 204 DELETE "/planes/radius/example?$version"
call 404 GET "/planes/radius/example?$version"
