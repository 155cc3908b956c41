/** A call that anybody with a key can make. */
export const FIRST_CALL = `curl -X POST $GATEWAY/v1/audio/speech -H "Authorization: Bearer $KEY" -H 'Content-Type: application/json' \\
  -d '{"model":"aud-v4","voice":"Adam","input":"Hello."}' -o hello.mp3`;
