#!/usr/bin/env bash
# Import: gives existing AWS resources aliases, one at a time or many into a group.
. "$(dirname "$0")/client.sh"

group=$groups/example-import
logs=$aws/AWS.Logs/LogGroup
references=$group/providers/AWS.Logs/LogGroup:reference
call 200 PUT "$group?$version" '{"location":"global"}'
for name in imported-one imported-two; do
    call 201 PUT "$logs/$name" '{"properties":{"RetentionInDays":7}}'
    follow
done

echo '== One resource'
call 201 POST "$logs/:import" '{"trackedBy":"'$references/one'","primaryIdentifier":"imported-one"}'
says '"ownedResource":false'
call 409 POST "$logs/:import" '{"trackedBy":"'$references/one'","primaryIdentifier":"imported-one"}'
call 404 POST "$logs/:import" '{"trackedBy":"'$references/none'","primaryIdentifier":"not-there"}'

echo '== Now a put under the alias is an update'
call 201 POST "$logs/:put" '{"trackedBy":"'$references/one'","properties":{"LogGroupName":"imported-one","RetentionInDays":14}}'
follow

echo '== Many resources: the result lists each'
call 202 POST "$group/:import" '{"resources":[
    {"alias":"one","type":"AWS.Logs/LogGroup","scope":"'${aws%/providers}'","primaryIdentifier":"imported-one"},
    {"alias":"two","type":"AWS.Logs/LogGroup","scope":"'${aws%/providers}'","primaryIdentifier":"imported-two","ownedResource":true},
    {"alias":"none","type":"AWS.Logs/LogGroup","scope":"'${aws%/providers}'","primaryIdentifier":"not-there"}]}'
result=$(header Location)
follow
call 200 GET "$result"
says '"imported":[{"index":1' '"missing":[{"index":2' '"alreadyTracked":[{"index":0'

echo '== References: read, list, change the ownership'
call 200 GET "$references"
call 200 GET "$references/one"
says '"ownedResource":false'
call 200 PATCH "$references/one" '{"ownedResource":true,"tags":{"team":"net"}}'
says '"ownedResource":true'

echo '== An owned resource is deleted with its reference'
call 202 DELETE "$references/one"
follow
call 404 GET "$logs/imported-one"
call 200 DELETE "$group?$version"
call 404 GET "$logs/imported-two"
