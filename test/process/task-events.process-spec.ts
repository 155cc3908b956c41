import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { type Sandbox, startSandbox } from '../../src/sandbox/sandbox.js';
import { postJson } from '../support/http-answer.js';
import {
  cleanUp,
  freePort,
  PROCESS_TEST_TIMEOUT_MS,
  startGatewayProgram,
} from '../support/process.js';
import { SentEvents } from '../support/task-events.js';
import { createTestDatabase, type TestDatabase } from '../support/test-database.js';

let database: TestDatabase;
let sandbox: Sandbox;

beforeAll(async () => {
  database = await createTestDatabase();
  sandbox = await startSandbox();
}, PROCESS_TEST_TIMEOUT_MS);
afterAll(async () => {
  await cleanUp();
  await sandbox.close();
  await database.drop();
}, PROCESS_TEST_TIMEOUT_MS);

describe('the events of a task whose gateway is killed', () => {
  it(
    'break off without an end, and go on at the next gateway',
    async () => {
      const settings = {
        DATABASE_URL: database.url,
        PORT: String(await freePort()),
        TTAPI_API_KEY: sandbox.apiKey,
        TTAPI_BASE_URL: `${sandbox.url}/ttapi`,
        TASK_TICK_MS: '50',
        TASK_POLL_INTERVAL_MS: '200',
      };
      const first = await startGatewayProgram(settings);
      const { headers } = await first.account();
      const prompt = 'rain [[sandbox:task-ms=15000]]';
      const song = { model: 'song-music', prompt, instrumental: false };
      const { json } = await postJson(`${first.url}/v1/music/generations`, headers, song);
      const { id } = json as { id: string };
      const events = await SentEvents.open(`${first.url}/v1/tasks/${id}/events`, headers);
      let last = await events.next();
      while (last?.id === 'queued') last = await events.next();
      expect(last).toMatchObject({ data: { status: 'processing' } });
      const rest = (async () => {
        while (await events.next());
      })();
      const broken = expect(rest).rejects.toThrow();
      await first.end('SIGKILL');
      await broken;
      const second = await startGatewayProgram(settings);
      const later = await SentEvents.open(`${second.url}/v1/tasks/${id}/events`, {
        ...headers,
        'last-event-id': last?.id ?? '',
      });
      let event = await later.next();
      while (event && event.name !== 'end') event = await later.next();
      expect(event).toMatchObject({ name: 'end', data: { id, status: 'succeeded' } });
      expect(await later.next()).toBeUndefined();
    },
    PROCESS_TEST_TIMEOUT_MS,
  );
});
