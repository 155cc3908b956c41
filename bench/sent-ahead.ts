import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { type BenchResult, round } from './result.js';
import { fundedKey, residentMb, startBuiltGateway } from './servers/start.js';

const SOCKETS = 1_000;
const MAX_STALL_MS = 250;
const SPEECH = JSON.stringify({ model: 'aud-v4', input: 'Hello', voice: 'Adam' });

/** How long 1,000 connections hold up the gateway's event loop that send many requests at once and are reset. */
export async function run(): Promise<BenchResult> {
  const gateway = await startBuiltGateway({
    RATE_LIMIT_RPM: '0',
    MAX_CONNECTIONS_PER_ADDRESS: '0',
    LOG_LEVEL: 'warn',
  });
  try {
    const { port } = gateway;
    const authorization = `Authorization: Bearer ${await fundedKey(port)}`;
    const head = (line: string, ...headers: readonly string[]) =>
      [line, 'Host: shim', ...headers, '', ''].join('\r\n');
    const models = head('GET /v1/models HTTP/1.1', authorization);
    const length = `Content-Length: ${SPEECH.length}`;
    const speech = head(
      'POST /v1/audio/speech HTTP/1.1',
      authorization,
      'Content-Type: application/json',
      length,
    );
    const attacks: Readonly<Record<string, string>> = {
      '1 request': models,
      '5 requests': models.repeat(5),
      '100 requests': models.repeat(100),
      '5 paid calls': (speech + SPEECH).repeat(5),
      '3,000 heads of 18 bytes': 'GET / HTTP/1.1\r\n\r\n'.repeat(3_000),
    };
    await stallsOf(port, models);
    const stalls: Record<string, number> = {};
    const mb = await residentMb(gateway.process.pid ?? 0);
    for (const [what, bytes] of Object.entries(attacks)) stalls[what] = await stallsOf(port, bytes);
    const grownMb = (await residentMb(gateway.process.pid ?? 0)) - mb;
    const figures = Object.fromEntries(
      Object.entries(stalls).map(([what, ms]) => [`${what} each: worst stall, ms`, round(ms, 0)]),
    );
    const worstMs = Math.max(...Object.values(stalls));
    return {
      name: `Requests sent ahead on ${SOCKETS} connections, then reset`,
      figures: {
        ...figures,
        'worst stall, ms': round(worstMs, 0),
        'memory kept, MB': round(grownMb, 0),
      },
      targets: { 'worst stall, ms': `at most ${MAX_STALL_MS}` },
      passed: worstMs <= MAX_STALL_MS,
    };
  } finally {
    await gateway.stop();
  }
}

/** The longest that the event loop of the gateway stood still, ms, from the first byte to well after the reset. */
async function stallsOf(port: number, bytes: string): Promise<number> {
  const sockets = await opened(port);
  await sleep(500);
  await longestStallMs(port);
  for (const socket of sockets) socket.write(bytes);
  await sleep(300);
  for (const socket of sockets) socket.resetAndDestroy();
  await sleep(2_000);
  return longestStallMs(port);
}

async function opened(port: number): Promise<readonly Socket[]> {
  const sockets = Array.from({ length: SOCKETS }, () =>
    connect(port, '127.0.0.1').on('error', () => undefined),
  );
  await Promise.all(sockets.map((socket) => once(socket, 'connect')));
  return sockets;
}

/** Since it was asked last. */
async function longestStallMs(port: number): Promise<number> {
  const text = await (await fetch(`http://127.0.0.1:${port}/metrics`)).text();
  return Number(/^nodejs_eventloop_lag_max_seconds (\S+)$/m.exec(text)?.[1]) * 1_000;
}
