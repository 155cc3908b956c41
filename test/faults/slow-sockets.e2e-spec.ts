import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { startTestGateway, type TestAccount, type TestGateway } from '../support/gateway.js';
import { postJson } from '../support/http-answer.js';
import { HELLO } from '../support/paid-endpoints.js';
import { type SlowKind, SlowSockets, startLongProvider } from './slow-sockets.js';

const COUNT = 25;
const TIMEOUT_MS = 240_000;
/** The limits themselves, plus the time that a busy machine may need. */
const LIMIT_MS = 150_000;
const PATIENCE_MS = 60_000;

let provider: Awaited<ReturnType<typeof startLongProvider>>;
let gateway: TestGateway;
let slow: TestAccount;
let other: TestAccount;

beforeAll(async () => {
  provider = await startLongProvider();
  gateway = await startTestGateway({
    ELEVENLABS_API_KEY: 'stub-provider-key',
    ELEVENLABS_BASE_URL: provider.url,
    OPENAI_API_KEY: 'stub-provider-key',
    OPENAI_BASE_URL: provider.url,
    MAX_UPLOADS_PER_ACCOUNT: String(COUNT),
  });
  slow = await gateway.account();
  other = await gateway.account();
  // Waits of the server that a test can shorten. Those of readers are fixed.
  const server = gateway.app.getHttpServer();
  server.headersTimeout = 2_000;
  server.requestTimeout = 5_000;
});
afterAll(async () => {
  await gateway.stop();
  provider.stop();
});

const connections = () =>
  new Promise<number>((resolve, reject) => {
    gateway.app.getHttpServer().getConnections((error, count) => {
      if (error) reject(error);
      else resolve(count);
    });
  });
const uploads = () => readdirSync(join(gateway.config.dataDir, 'uploads', String(process.pid)));
const speak = () => postJson(`${gateway.url}/v1/audio/speech`, other.headers, HELLO);

describe('slow sockets', () => {
  it.each<[string, readonly SlowKind[]]>([
    ['that send a head, a body or an upload byte by byte', ['headers', 'body', 'upload']],
    [
      'that do not read audio, events or anything else, be it long or short',
      ['audio', 'sse', 'any', 'answered'],
    ],
  ])(
    '%s are cut off, leave nothing behind, and delay no other caller',
    async (_what, kinds) => {
      const port = Number(new URL(gateway.url).port);
      const target = { port, keys: [slow.key] };
      const opened = await Promise.all(kinds.map((kind) => SlowSockets.open(kind, COUNT, target)));
      const ended = Promise.all(opened.map((sockets) => sockets.ended(LIMIT_MS)));
      const watch = { isOver: false };
      const watched = ended.finally(() => (watch.isOver = true));
      while (!watch.isOver) {
        expect((await speak()).status).toBe(200);
        await sleep(500);
      }
      await watched;
      for (let waitedMs = 0; waitedMs < PATIENCE_MS; waitedMs += 100) {
        // A connection that is served may be kept alive.
        if ((await connections()) <= 2 && uploads().length === 0) break;
        await sleep(100);
      }
      expect(await connections()).toBeLessThanOrEqual(2);
      expect(uploads()).toEqual([]);
    },
    TIMEOUT_MS,
  );
});
