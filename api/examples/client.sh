# Functions that the examples share: send a request, and poll an operation until it ends. Needs bash and curl, and a
# running ucp; `cargo run --locked -- dev` starts one. To run an example: api/examples/first-vpc.sh
set -euo pipefail

: "${UCP_URL:=http://127.0.0.1:8787}"
: "${AWS_ACCOUNT:=123456789012}" "${AWS_REGION:=us-west-2}"
# Required for planes, resource groups and credentials; not for AWS resources and operations.
version='api-version=2023-10-01-preview'
# The path of AWS resources in this account and region.
aws=/planes/aws/aws/accounts/$AWS_ACCOUNT/regions/$AWS_REGION/providers
# The path of resource groups.
groups=/planes/radius/local/resourceGroups
polls_max=120

scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT

die() {
    echo "${0##*/}: $*" >&2
    exit 1
}

# call STATUS METHOD URL [BODY [CURL-OPTION…]]: sends a request and expects STATUS. The URL may be a path. Writes the
# reply's body to $scratch/body and its headers to $scratch/headers.
call() {
    local expected=$1
    shift
    send "$@"
    [ "$status" = "$expected" ] || die "$1 $2: expected $expected, got $status"
}

# eventually STATUS METHOD URL [BODY]: like call, but reads again while AWS still shows what was there before a change.
eventually() {
    local expected=$1
    shift
    for ((poll = 0; poll < polls_max; poll++)); do
        send "$@"
        [ "$status" != "$expected" ] || return 0
        sleep 1
    done
    die "$1 $2: expected $expected, got $status"
}

# send METHOD URL [BODY [CURL-OPTION…]]: sends a request. Its status is then in $status.
send() {
    local method=$1 url=$2 body=${3:-}
    shift $(($# < 3 ? $# : 3))
    local arguments=(--silent --show-error --max-time 90 --request "$method"
        --dump-header "$scratch/headers" --output "$scratch/body" --write-out '%{http_code}')
    [ -z "$body" ] || arguments+=(--header 'Content-Type: application/json' --data "$body")
    case $url in /*) url=$UCP_URL$url ;; esac
    : >"$scratch/body"
    echo "> $method ${url#"$UCP_URL"} $body $*"
    status=$(curl "${arguments[@]}" "$@" "$url") || die "cannot reach $url"
    echo "< $status $(cat "$scratch/body")"
}

# header NAME: prints a header of the last reply.
header() { tr -d '\r' <"$scratch/headers" | sed -n "s/^$1: //ip"; }

# field NAME: prints the first string member of that name in the last reply. (With jq: `jq -r .name`.)
field() { grep -o "\"$1\":\"[^\"]*\"" "$scratch/body" | head -n 1 | cut -d '"' -f 4; }

# says TEXT…: expects the last reply to contain each text.
says() {
    local text
    for text in "$@"; do
        grep -qF -- "$text" "$scratch/body" || die "the reply does not contain $text"
    done
}

# silent TEXT: expects the last reply not to contain the text.
silent() { ! grep -qF -- "$1" "$scratch/body" || die "the reply contains $1"; }

# follow [STATE]: polls the operation of the last request until it ends, and expects STATE (by default Succeeded). The
# status is then in $scratch/body.
follow() {
    local expected=${1:-Succeeded} url state
    url=$(header Azure-AsyncOperation)
    [ -n "$url" ] || die 'the last reply has no operation to follow'
    for ((poll = 0; poll < polls_max; poll++)); do
        sleep "$(header Retry-After)"
        call 200 GET "$url"
        state=$(field status)
        case $state in
        "$expected") return 0 ;;
        Succeeded | Failed | Canceled) die "expected $expected, the operation ended $state" ;;
        esac
    done
    die "the operation did not end within $polls_max polls"
}
