#!/usr/bin/env bash
# Credentials: ucp signs its AWS calls with the one named default. Secrets are never returned.
. "$(dirname "$0")/client.sh"

credentials=/planes/aws/aws/providers/System.AWS/credentials

echo '== An access key, and a role that the service account assumes'
call 200 PUT "$credentials/example?$version" \
    '{"location":"global","properties":{"kind":"AccessKey","accessKeyId":"AKIAIOSFODNN7EXAMPLE","secretAccessKey":"a-secret","storage":{"kind":"Internal"}}}'
says AKIAIOSFODNN7EXAMPLE
silent a-secret
call 200 PUT "$credentials/example-role?$version" \
    '{"location":"global","properties":{"kind":"IRSA","roleARN":"arn:aws:iam::123456789012:role/ucp","storage":{"kind":"Internal"}}}'
call 200 GET "$credentials/example?$version"
silent a-secret
call 400 PUT "$credentials/example?$version" '{"location":"global","properties":{"kind":"Password"}}'

echo '== The list is paged; each page links to the next'
for number in 1 2 3 4; do
    call 200 PUT "$credentials/example-$number?$version" \
        '{"location":"global","properties":{"kind":"IRSA","roleARN":"arn:aws:iam::123456789012:role/ucp","storage":{"kind":"Internal"}}}'
done
call 200 GET "$credentials?$version&top=5"
call 200 GET "$(field nextLink)"
silent nextLink

echo '== Delete the credentials and their secrets'
for name in example example-role example-1 example-2 example-3 example-4; do
    call 200 DELETE "$credentials/$name?$version"
done
call 204 DELETE "$credentials/example?$version"
