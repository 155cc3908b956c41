import { readdirSync } from 'node:fs';
import { connect } from 'node:net';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { EXAMPLE_RECORDING } from '../../src/common/example-media.js';
import { type Breakable, trackStreams } from '../support/stream-tracker.js';
import { startTestGateway, type TestAccount, type TestGateway } from '../support/gateway.js';
import { sampleCalls } from '../support/sample-calls.js';
import { BRISK, VideoHarness } from '../support/video-harness.js';

const PATIENCE_MS = 60_000;
const TEST_TIMEOUT_MS = 400_000;
/** Of the last looks: files that go, holds that are released, connections that end. */
const TEARDOWN_MS = 240_000;
type Kind = keyof ReturnType<typeof sampleCalls>;
/** When a stream breaks, counted from its birth. */
const MOMENTS: Readonly<Record<string, (then: () => void) => unknown>> = {
  'as soon as it is made': (then) => {
    process.nextTick(then);
  },
  'in the next turn': setImmediate,
  'a little later': (then) => setTimeout(then, 5),
  'while it is read or written': (then) => setTimeout(then, 60),
};
/** What requests make, for each kind: shows that the watch still sees them. */
const SEEN: Partial<Record<Kind, readonly string[]>> = {
  events: ['ChatEventStream'],
  audio: ['ResponseBody'],
  upload: ['Transform', 'Multipart', 'FileStream', 'WriteStream', 'ReadStream', 'Readable'],
  'download of a recording': [
    'Socket',
    'ClientRequest',
    'IncomingMessage',
    'Readable',
    'WriteStream',
  ],
  'task with a file': ['Socket', 'ClientRequest', 'IncomingMessage', 'WriteStream', 'ReadStream'],
  download: ['FileReader'],
};

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

/** Sends the request; the stream that was born as the `victim`th breaks at the moment. Returns the names of all. */
async function streamsOf(kind: Kind, victim?: number, moment?: string): Promise<string[]> {
  const id = `${kind}-${victim ?? 'none'}-${moment ?? 'never'}`.replaceAll(' ', '_');
  const names: string[] = [];
  const endWatch = trackStreams(id, (stream: Breakable) => {
    if (names.push(stream.constructor.name) - 1 !== victim) return;
    MOMENTS[moment ?? '']?.(() =>
      stream.destroy(new Error(`broken by the test: ${names[victim]}`)),
    );
  });
  try {
    await answered(id, kinds[kind]);
  } finally {
    endWatch();
  }
  return names;
}

/** Waits until the connection has ended, whatever was answered. */
async function answered(id: string, [method, path, type, body]: (typeof kinds)[Kind]) {
  const { port, hostname } = new URL(gateway.url);
  const socket = connect(Number(port), hostname).on('error', () => undefined);
  const closed = new Promise((resolve) => socket.resume().once('close', resolve));
  const head = [
    `${method} ${path} HTTP/1.1`,
    'Host: shim',
    `Authorization: ${account.headers.authorization}`,
    `Content-Type: ${type}`,
    `Content-Length: ${body.length}`,
    `X-Test: ${id}`,
    'Connection: close',
    '',
    '',
  ];
  socket.write(Buffer.concat([Buffer.from(head.join('\r\n')), body]));
  const timer = new AbortController();
  await Promise.race([closed, sleep(PATIENCE_MS, null, timer).catch(() => undefined)]);
  timer.abort();
  expect(socket.closed ? '' : `${id} has no end`).toBe('');
}

// Jest fails the test in which an error stays without a listener.
it.each(Object.keys(sampleCalls('', '')) as Kind[])(
  'each stream that a request of %s makes may break at each moment: that request ends, and nothing else does',
  async (kind) => {
    const names = await streamsOf(kind);
    expect(names).toEqual(expect.arrayContaining([...(SEEN[kind] ?? [])]));
    for (const moment of Object.keys(MOMENTS)) {
      for (let victim = 0; victim < names.length; victim++) await streamsOf(kind, victim, moment);
      expect((await fetch(`${gateway.url}/health/live`)).status).toBe(200);
    }
  },
  TEST_TIMEOUT_MS,
);

const uploads = () => readdirSync(join(gateway.config.dataDir, 'uploads', String(process.pid)));
async function gauge(name: string): Promise<number> {
  const text = await (await fetch(`${gateway.url}/metrics`)).text();
  return Number(new RegExp(`^${name} (\\d+)$`, 'm').exec(text)?.[1]);
}

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
