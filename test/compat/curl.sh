#!/bin/sh
# Talks to a gateway with nothing but curl: BASE_URL=http://127.0.0.1:3000 API_KEY=sk-… test/compat/curl.sh
set -eu
: "${BASE_URL:?}" "${API_KEY:?}"

call() {
  path=$1
  shift
  curl -sS --max-time 60 -H "Authorization: Bearer $API_KEY" "$@" "$BASE_URL$path"
}
post() {
  path=$1 body=$2
  shift 2
  call "$path" -H 'Content-Type: application/json' -d "$body" "$@"
}
expect() {
  case $2 in
    *"$3"*) printf 'ok   %s\n' "$1" ;;
    *) printf 'FAIL %s: no %s in %.300s\n' "$1" "$3" "$2" && exit 1 ;;
  esac
}

hello='"messages":[{"role":"user","content":"Say hello"}]'
expect 'models' "$(call /v1/models)" '"object":"list"'
expect 'chat' "$(post /v1/chat/completions "{\"model\":\"gen-5\",$hello}")" '"content":"hello"'
stream=$(post /v1/chat/completions "{\"model\":\"gen-5\",\"stream\":true,$hello}" -N)
expect 'stream' "$stream" '"delta":{"content":"hell"'
expect 'stream ends' "$(printf '%s' "$stream" | tail -n 1)" 'data: [DONE]'
expect 'image' "$(post /v1/images/generations '{"model":"gen-image-2","prompt":"A boat"}')" '"b64_json":"iVBOR'
expect 'speech' "$(post /v1/audio/speech '{"model":"aud-v4","input":"Hello","voice":"Adam"}' -o /dev/null -w '%{http_code} %{content_type}')" '200 audio/mpeg'
expect 'account' "$(call /v1/account)" '"object":"account"'
expect 'refusal' "$(post /v1/chat/completions '{"model":"gen-5","foo":1}')" '"code":"invalid_request"'
expect 'status of a refusal' "$(post /v1/chat/completions '{}' -o /dev/null -w '%{http_code}')" '400'
