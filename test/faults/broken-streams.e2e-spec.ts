import { once } from 'node:events';
import { readdirSync } from 'node:fs';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { connect, type Socket } from 'node:net';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { EXAMPLE_RECORDING } from '../../src/common/example-media.js';
import { startTestGateway, type TestAccount, type TestGateway } from '../support/gateway.js';
import { sampleCalls } from '../support/sample-calls.js';
import { BRISK, VideoHarness } from '../support/video-harness.js';

const PATIENCE_MS = 60_000;
/** Of the last looks: files that go, holds that are released, connections that end. */
const TEARDOWN_MS = 240_000;
/** Late enough for a call to be held, early enough for its provider not to have answered. */
const HELD_MS = 100;

type Exchange = readonly [IncomingMessage, ServerResponse];
const VICTIMS = {
  socket: ([request]: Exchange) => request.socket,
  request: ([request]: Exchange) => request,
  response: ([, response]: Exchange) => response,
} as const;
type Victim = keyof typeof VICTIMS;
const PHASES = [
  'before the body',
  'in the body',
  'after the last byte',
  'while held',
  'while it is answered',
  'after the answer',
] as const;
type Phase = (typeof PHASES)[number];
type Kind = keyof ReturnType<typeof sampleCalls>;

let gateway: TestGateway;
let account: TestAccount;
let kinds: ReturnType<typeof sampleCalls>;

beforeAll(async () => {
  gateway = await startTestGateway({
    ...BRISK,
    MAX_UPLOADS_PER_ACCOUNT: '100',
    // Calls that never ended in the count would make the end of the gateway wait for all of this.
    DRAIN_TIMEOUT_MS: '3600000',
  });
  account = await gateway.account();
  const { id } = await new VideoHarness(gateway, account).made();
  kinds = sampleCalls(id, `${gateway.url}/sandbox/media/${EXAMPLE_RECORDING}`);
});

/** Sends the request up to the phase, breaks the connection there, and waits until it is closed. */
async function broken(kind: Kind, phase: Phase, victim: Victim): Promise<void> {
  const [method, path, type, body] = kinds[kind];
  const { port, hostname } = new URL(gateway.url);
  const socket = connect(Number(port), hostname).on('error', () => undefined);
  const id = `${kind}-${phase}-${victim}`.replaceAll(' ', '_');
  const arrived = arrival(id);
  const head = [
    `${method} ${path} HTTP/1.1`,
    'Host: shim',
    `Authorization: ${account.headers.authorization}`,
    `Content-Type: ${type}`,
    `Content-Length: ${body.length}`,
    `X-Test: ${id}`,
    '',
    '',
  ];
  socket.write(head.join('\r\n'));
  const exchange = await arrived;
  await reached(phase, socket, exchange, body);
  VICTIMS[victim](exchange).destroy(new Error('broken by the test'));
  if (!socket.closed) {
    socket.resume().end();
    await Promise.race([closeOf(socket), sleep(PATIENCE_MS)]);
  }
  expect(socket.closed).toBe(true);
}

/** A reset before the request is complete ends it too. */
const closeOf = (stream: Socket | ServerResponse) =>
  new Promise((resolve) => stream.once('close', resolve));

async function arrival(id: string): Promise<Exchange> {
  const server = gateway.app.getHttpServer();
  for (;;) {
    const exchange = (await once(server, 'request')) as unknown as Exchange;
    if (exchange[0].headers['x-test'] === id) return exchange;
  }
}

async function reached(
  phase: Phase,
  socket: Socket,
  [request, response]: Exchange,
  body: Buffer,
): Promise<void> {
  if (phase === 'before the body') return;
  if (phase === 'in the body') {
    socket.write(body.subarray(0, body.length >> 1));
    await sleep(20);
    return;
  }
  const answered = new Promise((resolve) => socket.once('data', resolve));
  const finished = closeOf(response);
  socket.write(body);
  while (!request.complete) await sleep(1);
  if (phase === 'while held') await sleep(HELD_MS);
  if (phase === 'while it is answered') await answered;
  if (phase === 'after the answer') await finished;
}

const uploads = () => readdirSync(join(gateway.config.dataDir, 'uploads', String(process.pid)));
async function gauge(name: string): Promise<number> {
  const text = await (await fetch(`${gateway.url}/metrics`)).text();
  return Number(new RegExp(`^${name} (\\d+)$`, 'm').exec(text)?.[1]);
}

describe('a stream of a request or answer that breaks', () => {
  const cases = (Object.keys(sampleCalls('', '')) as Kind[]).flatMap((kind) =>
    PHASES.map((phase) => [kind, phase] as const),
  );

  it.each(cases)('of %s %s ends that request and nothing else', async (kind, phase) => {
    const victims = Object.keys(VICTIMS) as Victim[];
    for (const victim of victims) await broken(kind, phase, victim);
    expect((await fetch(`${gateway.url}/health/live`)).status).toBe(200);
  });
});

// Last, because it would find everything that the tests above have left.
afterAll(async () => {
  for (let waitedMs = 0; uploads().length > 0 && waitedMs < PATIENCE_MS; waitedMs += 50)
    await sleep(50);
  expect(uploads()).toEqual([]);
  await gateway.expectCleanBooks();
  expect(await gauge('gateway_spool_bytes')).toBe(0);
  expect(await gauge('gateway_spool_transfers')).toBe(0);
  await gateway.stop();
}, TEARDOWN_MS);
