#!/usr/bin/env bash
# Cancel: an operation under way is asked to stop. It ends Canceled only when AWS confirms.
. "$(dirname "$0")/client.sh"

group=$groups/example-cancel
gateways=$aws/AWS.EC2/InternetGateway
alias=$group/providers/AWS.EC2/InternetGateway:reference/main
call 200 PUT "$group?$version" '{"location":"global"}'

echo '== Begun, and taken back'
call 201 POST "$gateways/:put" '{"trackedBy":"'$alias'"}'
operation=$(header Azure-AsyncOperation)
call 202 POST "$operation/:cancel"
follow Canceled

echo '== An end does not change'
call 409 POST "$operation/:cancel"

echo '== Nothing is left, and the group tells of what was tried'
call 404 POST "$gateways/:get" '{"trackedBy":"'$alias'"}'
call 200 GET "$group/operations?$version&status=Canceled"
says "${operation##*/}"
call 200 DELETE "$group?$version"
