#!/usr/bin/env bash
# Resource groups: create, read, list, update with an ETag, delete.
. "$(dirname "$0")/client.sh"

group=$groups/example-group

echo '== Create a group; the same request would replace it'
call 200 PUT "$group?$version" '{"location":"global","tags":{"team":"net"}}'
call 200 GET "$group?$version"
etag=$(header ETag)
call 200 GET "$groups?$version"
says '"name":"example-group"'

echo '== Conditional writes'
call 200 PUT "$group?$version" '{"location":"global","tags":{"team":"ops"}}' --header "If-Match: $etag"
call 412 PUT "$group?$version" '{"location":"global","tags":{"team":"web"}}' --header "If-Match: $etag"
call 412 PUT "$group?$version" '{"location":"global"}' --header 'If-None-Match: *'
call 200 GET "$group?$version"
says '"team":"ops"'

echo '== Its resources: none yet'
call 200 GET "$group/resources?$version"
says '{"value":[]}'

echo '== Delete'
call 200 DELETE "$group?$version"
call 204 DELETE "$group?$version"
call 404 GET "$group?$version"
