import { Agent, request } from 'node:http';
import { makeKey } from '../../src/auth/api-key-format.js';

/** Sends unknown keys to the gateway on the second port, so many a second, until it is killed. */
const [, target, perSecond] = process.argv.slice(2).map(Number);
const TICK_MS = 10;
const agent = new Agent({ keepAlive: true, maxSockets: 64 });
let owed = 0;
let answered = 0;

setInterval(() => {
  for (owed += ((perSecond ?? 0) * TICK_MS) / 1_000; owed >= 1; owed -= 1) guess();
}, TICK_MS);
process.on('SIGTERM', () => {
  process.send?.(answered);
});
process.send?.('ready');

function guess(): void {
  const sent = request(
    {
      port: target,
      path: '/v1/audio/speech',
      method: 'POST',
      agent,
      headers: { authorization: `Bearer ${makeKey()}`, 'content-type': 'application/json' },
    },
    (answer) => {
      answered += 1;
      answer.resume();
    },
  );
  sent.on('error', () => undefined).end('{}');
}
