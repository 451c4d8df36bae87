#!/usr/bin/env bash
# A refactor: a group is split, and what moves gets other aliases. AWS notices nothing, and all of it can be undone. The
# story is that of AWS CDK's RFC 162.
. "$(dirname "$0")/client.sh"

stack=$groups/example-refactor
web=$groups/example-refactor-web
plane=${groups%/resourceGroups}
scope=${aws%/providers}
call 200 PUT "$stack?$version" '{"location":"global"}'

echo '== A topic, a queue without a name, and its subscription'
topic='{"alias":"topic","type":"AWS.SNS/Topic","properties":{"TopicName":"example-refactor"}}'
call 202 POST "$stack/:apply" '{"scope":"'$scope'","resources":['"$topic"',
    {"alias":"queue","type":"AWS.SQS/Queue","properties":{"DelaySeconds":5}},
    {"alias":"subscriber","type":"AWS.SNS/Subscription","properties":{"Protocol":"sqs",
        "TopicArn":{"$reference":"topic"},"Endpoint":{"$reference":"queue#/Arn"}}}]}'
follow
call 200 GET "$stack/providers/AWS.SQS/Queue:reference/queue"
queue=$(field primaryIdentifier)
arn=$(field Arn)
call 200 GET "$stack/providers/AWS.SNS/Topic:reference/topic"
topic_arn=$(field primaryIdentifier)

echo '== Queue and subscription shall be in a group of their own, as orders and orders-of-topic. What would move?'
# split MODE [MEMBERS]: the body, with all that both groups shall hold.
split() {
    echo '{"mode":"'$1'","scope":"'$scope'","groups":[
    {"name":"example-refactor","resources":['"$topic"']},
    {"name":"example-refactor-web","resources":[
        {"alias":"orders","type":"AWS.SQS/Queue","properties":{"DelaySeconds":5}},
        {"alias":"orders-of-topic","type":"AWS.SNS/Subscription","properties":{"Protocol":"sqs",
            "TopicArn":{"$reference":"example-refactor/AWS.SNS/Topic/topic"},
            "Endpoint":{"$reference":"AWS.SQS/Queue/orders#/Arn"}}}]}]'"${2:-}"'}'
}
call 200 POST "$plane/:refactor" "$(split plan)"
says '"status":"Planned"' '"reason":"Digest"' '"ambiguities":[]' '"refused":[]' \
    '"changes":{"create":[],"update":[],"undeclared":[]}' \
    'example-refactor/providers/AWS.SQS/Queue:reference/queue","to"' \
    'example-refactor-web/providers/AWS.SQS/Queue:reference/orders","type"' \
    'example-refactor/providers/AWS.SNS/Subscription:reference/subscriber","to"' \
    'example-refactor-web/providers/AWS.SNS/Subscription:reference/orders-of-topic","type"'
plan=$(field id)
fingerprint=$(field fingerprint)
call 200 GET "$stack/providers/AWS.SQS/Queue:reference/queue"
call 404 GET "$web?$version"

echo '== Exactly that moves, at once'
call 412 POST "$plan/:apply" '{"fingerprint":"another one"}'
call 200 POST "$plan/:apply" '{"fingerprint":"'"$fingerprint"'"}'
says '"status":"Applied"'
call 409 POST "$plan/:apply" '{"fingerprint":"'"$fingerprint"'"}'
call 404 GET "$stack/providers/AWS.SQS/Queue:reference/queue"
call 200 GET "$web/providers/AWS.SQS/Queue:reference/orders"
says '"primaryIdentifier":"'"$queue"'"' '"ownedResource":true'

echo '== Puts find everything as it is declared: there is nothing to do'
call 200 POST "$aws/AWS.SQS/Queue/:put" '{"alias":"orders","trackedBy":"'"$web"'","properties":{"DelaySeconds":5}}'
call 200 POST "$aws/AWS.SNS/Subscription/:put" '{"alias":"orders-of-topic","trackedBy":"'"$web"'","properties":{
    "Protocol":"sqs","TopicArn":"'"$topic_arn"'","Endpoint":"'"$arn"'"}}'

echo '== The same again: it is done already'
call 200 POST "$plane/:refactor" "$(split apply)"
says '"moves":[]'

echo '== And back: the group that was made is removed'
call 200 POST "$plan/:undo" '{}'
says '"reason":"Undo"' '"undoes":"'"$plan"'"'
call 404 GET "$web?$version"
call 200 GET "$stack/providers/AWS.SQS/Queue:reference/queue"
says '"primaryIdentifier":"'"$queue"'"'

echo '== Two queues that are the same: nothing tells which is which'
call 202 POST "$stack/:apply" '{"scope":"'$scope'","resources":[
    {"alias":"twin","type":"AWS.SQS/Queue","properties":{"DelaySeconds":5}},
    {"alias":"subscriber","type":"AWS.SNS/Subscription","delete":true}]}'
follow
# both [MEMBERS]: the two under other aliases.
both() {
    echo '{"mode":"apply","scope":"'$scope'","resources":['"$topic"',
    {"alias":"orders","type":"AWS.SQS/Queue","properties":{"DelaySeconds":5}},
    {"alias":"returns","type":"AWS.SQS/Queue","properties":{"DelaySeconds":5}}]'"${1:-}"'}'
}
call 409 POST "$stack/:refactor" "$(both)"
says '"code":"RefactorAmbiguous"' '"code":"Identical"'
call 200 POST "$stack/:refactor" "$(both ',"moves":[{"from":"AWS.SQS/Queue/queue","to":"AWS.SQS/Queue/orders"}]')"
says '"reason":"Mapping"' '"reason":"Digest"'
call 200 GET "$stack/providers/AWS.SQS/Queue:reference/orders"
says '"primaryIdentifier":"'"$queue"'"'

call 202 DELETE "$stack?$version" '' --header 'Prefer: respond-async'
follow
