/** Receivers that check the signature of what comes: those of docs/guides/webhooks.md. */
export const RECEIVERS: readonly {
  readonly name: string;
  readonly file: string;
  readonly run: string;
  readonly code: string;
}[] = [
  {
    name: 'Node',
    file: 'receiver.mjs',
    run: 'WEBHOOK_SECRET=… PORT=9100 node receiver.mjs',
    code: `import { createHmac, timingSafeEqual } from 'node:crypto';
import { createServer } from 'node:http';

const MAX_AGE_SECONDS = 300;
const secret = process.env.WEBHOOK_SECRET;
const seen = new Set(); // in production a table with a unique key

function isAuthentic(header, rawBody) {
  const { t = '', v1 = '' } = Object.fromEntries(
    (header ?? '').split(',').map((part) => part.split('=')),
  );
  const age = Math.abs(Date.now() / 1000 - Number(t));
  if (!/^\\d+$/.test(t) || age > MAX_AGE_SECONDS) return false;
  const expected = createHmac('sha256', secret).update(\`\${t}.\`).update(rawBody).digest();
  const given = Buffer.from(v1, 'hex');
  return given.length === expected.length && timingSafeEqual(given, expected);
}

const server = createServer(async (request, response) => {
  const chunks = [];
  for await (const chunk of request) chunks.push(chunk);
  const rawBody = Buffer.concat(chunks);
  if (!isAuthentic(request.headers['x-shim-signature'], rawBody)) {
    response.writeHead(400).end();
    return;
  }
  response.writeHead(204).end(); // answer first, work after
  const told = JSON.parse(rawBody.toString()); // a task, or an event of the account
  const event = \`\${told.id} \${told.object === 'event' ? told.type : told.status}\`;
  if (seen.has(event)) return;
  seen.add(event);
  console.log(event);
});
server.listen(process.env.PORT, () => console.log('listening'));`,
  },
  {
    name: 'Python',
    file: 'receiver.py',
    run: 'WEBHOOK_SECRET=… PORT=9100 python3 receiver.py',
    code: `import hashlib
import hmac
import json
import os
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

MAX_AGE_SECONDS = 300
SECRET = os.environ["WEBHOOK_SECRET"].encode()
seen = set()  # in production a table with a unique key


def is_authentic(header, raw_body):
    fields = dict(part.split("=", 1) for part in header.split(",") if "=" in part)
    t = fields.get("t", "")
    if not t.isdigit() or abs(time.time() - int(t)) > MAX_AGE_SECONDS:
        return False
    message = t.encode() + b"." + raw_body
    expected = hmac.new(SECRET, message, hashlib.sha256).hexdigest()
    return hmac.compare_digest(expected.encode(), fields.get("v1", "").encode())


class Receiver(BaseHTTPRequestHandler):
    def do_POST(self):
        raw_body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
        if not is_authentic(self.headers.get("X-Shim-Signature", ""), raw_body):
            self.send_response(400)
            self.end_headers()
            return
        self.send_response(204)  # answer first, work after
        self.end_headers()
        told = json.loads(raw_body)  # a task, or an event of the account
        what = told["type"] if told.get("object") == "event" else told["status"]
        event = f"{told['id']} {what}"
        if event not in seen:
            seen.add(event)
            print(event, flush=True)

    def log_message(self, *_):
        pass


server = ThreadingHTTPServer(("127.0.0.1", int(os.environ["PORT"])), Receiver)
print("listening", flush=True)
server.serve_forever()`,
  },
];
