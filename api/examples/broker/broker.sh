#!/usr/bin/env bash
# The Open Service Broker API: an instance of a bucket is ordered, bound, rotated, updated to another plan, and deleted.
# It needs a server with the offerings beside it: `ucp dev --config api/examples/broker/ucp.toml`
. "$(dirname "$0")/../client.sh"

password=$(head -n 1 "$(dirname "$0")/cf.password")
person=$(printf '{"user_id":"683ea748-3092-4ff4-b656-39cacc4d5360"}' | base64 | tr -d '\n')

# osb STATUS METHOD PATH [BODY]: sends a request as the platform, and expects STATUS.
osb() {
    call "$1" "$2" "$UCP_URL/v2$3" "${4:-}" --user "cf:$password" --header 'X-Broker-API-Version: 2.17' \
        --header "X-Broker-API-Originating-Identity: cloudfoundry $person"
}

# polled PATH: polls the operation of the last request until it ends, and expects it to succeed.
polled() {
    local operation state
    operation=$(field operation)
    for ((poll = 0; poll < polls_max; poll++)); do
        osb 200 GET "$1/last_operation?operation=$operation"
        state=$(field state)
        case $state in
        succeeded) return 0 ;;
        failed) die 'the operation failed' ;;
        esac
        sleep "$(header Retry-After)"
    done
    die "the operation did not end within $polls_max polls"
}

service=5d0f6a1e-93a5-4c2c-8a52-0c5b6c1f0a01
dev=5d0f6a1e-93a5-4c2c-8a52-0c5b6c1f0a02
gold=5d0f6a1e-93a5-4c2c-8a52-0c5b6c1f0a03
instance=/service_instances/example-$$
async=accepts_incomplete=true

echo '== What is on offer?'
osb 200 GET /catalog
says '"name":"bucket"' '"plan_updateable":true' '"binding_rotatable":true'

echo '== A bucket with its policy. It takes a while, so the platform has to poll'
order='{"service_id":"'$service'","plan_id":"'$dev'","organization_guid":"org","space_guid":"space",
    "context":{"platform":"cloudfoundry","instance_name":"files"}}'
osb 422 PUT "$instance" "$order"
says '"error":"AsyncRequired"'
osb 202 PUT "$instance?$async" "$order"
polled "$instance"

echo '== The same order again is the same instance'
osb 200 PUT "$instance?$async" "$order"
osb 200 GET "$instance"
says '"parameters":{"versioning":"Suspended"}' '"maintenance_info":{"version":"1.0.0"}'

echo '== A binding has a role of its own, which expires'
osb 202 PUT "$instance/service_bindings/app?$async" '{"service_id":"'$service'","plan_id":"'$dev'",
    "parameters":{"principal":"arn:aws:iam::123456789012:root"}}'
polled "$instance/service_bindings/app"
osb 200 GET "$instance/service_bindings/app"
says '"bucket":"osb-example-'$$'"' '"role":"arn:aws:iam::' '"salt":"' '"ports":["443"]' '"expires_at":"' '"renew_before":"'

echo '== It is rotated: its successor has the same parameters'
osb 202 PUT "$instance/service_bindings/app-2?$async" '{"predecessor_binding_id":"app"}'
polled "$instance/service_bindings/app-2"
osb 202 DELETE "$instance/service_bindings/app?service_id=$service&plan_id=$dev&$async"
polled "$instance/service_bindings/app"
osb 410 DELETE "$instance/service_bindings/app?service_id=$service&plan_id=$dev&$async"

echo '== The plan is changed in place, and not back'
osb 202 PATCH "$instance?$async" '{"service_id":"'$service'","plan_id":"'$gold'"}'
polled "$instance"
osb 422 PATCH "$instance?$async" '{"service_id":"'$service'","plan_id":"'$dev'"}'
says '"error":"PlanChangeNotSupported"' '"update_repeatable":false'

echo '== In ARM it is references in the group of the space'
call 200 GET "$groups/cf-space?$version"
says "example-$$:bucket" "example-$$:policy" "example-$$:app-2:role"

echo '== It is deleted, with its binding'
osb 202 DELETE "$instance?service_id=$service&plan_id=$gold&$async"
polled "$instance"
osb 410 DELETE "$instance?service_id=$service&plan_id=$gold&$async"
osb 404 GET "$instance"
