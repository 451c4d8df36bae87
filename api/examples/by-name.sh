#!/usr/bin/env bash
# AWS resources by name: put, read, list in pages, delete.
. "$(dirname "$0")/client.sh"

logs=$aws/AWS.Logs/LogGroup

echo '== Two log groups; a slash in a name is %2F in a URL'
call 201 PUT "$logs/by-name" '{"properties":{"RetentionInDays":7}}'
follow
call 201 PUT "$logs/by%2Fname" '{"properties":{"RetentionInDays":7}}'
follow

echo '== The same put again: nothing to do. A different value: an update'
call 200 PUT "$logs/by-name" '{"properties":{"RetentionInDays":7}}'
call 201 PUT "$logs/by-name" '{"properties":{"RetentionInDays":14}}'
follow
call 200 GET "$logs/by-name"
says '"RetentionInDays":14'
call 200 GET "$logs/by%2Fname"
says '"name":"by/name"' '/by%2Fname"'

echo '== All log groups in AWS, page by page'
page=$logs found=0
while [ -n "$page" ]; do
    call 200 GET "$page"
    found=$((found + $(grep -oE '"name":"by[-/]name"' "$scratch/body" | wc -l)))
    page=$(field nextLink || true)
done
[ "$found" = 2 ] || die "expected both log groups on the pages, found $found"

echo '== Delete'
call 202 DELETE "$logs/by-name"
follow
call 204 DELETE "$logs/by-name"
call 404 GET "$logs/by-name"
call 202 DELETE "$logs/by%2Fname"
follow
