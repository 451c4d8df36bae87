#!/usr/bin/env bash
# Resource groups: make, read, list, write only what one has read, delete.
. "$(dirname "$0")/client.sh"

group=$groups/example-group

echo '== A group, made and replaced by the same request'
call 200 PUT "$group?$version" '{"location":"global","tags":{"team":"net"}}'
call 200 GET "$group?$version"
etag=$(header ETag)
call 200 GET "$groups?$version"
says '"name":"example-group"'

echo '== Only what one has read'
call 200 PUT "$group?$version" '{"location":"global","tags":{"team":"ops"}}' --header "If-Match: $etag"
call 412 PUT "$group?$version" '{"location":"global","tags":{"team":"web"}}' --header "If-Match: $etag"
call 412 PUT "$group?$version" '{"location":"global"}' --header 'If-None-Match: *'
call 200 GET "$group?$version"
says '"team":"ops"'

echo '== What it tracks: nothing yet'
call 200 GET "$group/resources?$version"
says '{"value":[]}'

echo '== Gone'
call 200 DELETE "$group?$version"
call 204 DELETE "$group?$version"
call 404 GET "$group?$version"
