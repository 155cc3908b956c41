#!/bin/sh
# Makes a song, takes it apart and downloads it with nothing but curl and sed:
# BASE_URL=http://127.0.0.1:3000 API_KEY=sk-… test/compat/curl-songs.sh
set -eu
: "${BASE_URL:?}" "${API_KEY:?}"

call() {
  path=$1
  shift
  curl -sS --fail-with-body --max-time 60 -H "Authorization: Bearer $API_KEY" "$@" "$BASE_URL$path"
}
text_of() { sed -n "s/.*\"$1\":\"\([^\"]*\)\".*/\1/p"; }

# Submits a body, waits for its end, leaves the finished task in $task and its id in $id.
make() {
  id=$(call /v1/music/generations -H 'Content-Type: application/json' -H "Idempotency-Key: $3" -d "$2" | text_of id)
  for _ in 1 2 3 4 5 6; do
    task=$(call "/v1/tasks/$id" -H 'Prefer: wait=30')
    case $task in *'"status":"succeeded"'*) break ;; *'"error":{'*) break ;; esac
  done
  case $task in
    *'"status":"succeeded"'*) printf 'ok   %s %s\n' "$1" "$(printf '%s' "$task" | text_of charged_microusd)" ;;
    *) printf 'FAIL %s: %.400s\n' "$1" "$task" && exit 1 ;;
  esac
}

run=$(date +%s)-$$
words=${WORDS:-}
make song-music "{\"model\":\"song-music\",\"prompt\":\"A song about rain $words\"}" "$run-music"
make song-stems-all "{\"model\":\"song-stems-all\",\"source_task_id\":\"$id\",\"source_index\":2}" "$run-stems"
make song-download "{\"model\":\"song-download\",\"source_task_id\":\"$id\",\"formats\":[\"mp3\",\"wav\"]}" "$run-files"
url=$(printf '%s' "$task" | sed -n 's/.*"urls":\["\([^"]*\)".*/\1/p')
curl -sS --fail --max-time 60 -o "${OUTPUT:-/dev/null}" -w 'ok   file %{http_code} %{content_type} %{size_download}\n' "$url"
