import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, expect, it } from '@jest/globals';
import {
  ADMIN_TOKEN,
  startTestGateway,
  type TestAccount,
  type TestGateway,
} from '../../support/gateway.js';
import { postJson } from '../../support/http-answer.js';
import { type RecordingServer, startRecordingServer } from '../../support/recording-server.js';
import { type Body, LEAST_BODIES } from '../../support/song-models.js';
import { repeatableRandom } from '../../media/fuzz.js';
import { DamagingProvider } from './damaging-provider.js';

const SEED = 5;
/** Each submits a dub, a video and a song of every model. */
const ROUNDS = 2;
const TIMEOUT_MS = 300_000;
const LOOK_MS = 200;
const SONGS = '/v1/music/generations';
/** Within every track that the sandbox makes. */
const PLACE_SECONDS = 10;

let provider: DamagingProvider;
let recordings: RecordingServer;
let gateway: TestGateway;
let account: TestAccount;
beforeAll(async () => {
  [provider, recordings] = await Promise.all([DamagingProvider.start(), startRecordingServer(5)]);
  gateway = await startTestGateway({
    ...provider.settings,
    ...recordings.settings,
    UPSTREAM_TIMEOUT_MS: '5000',
    TASK_TICK_MS: '50',
    TASK_POLL_INTERVAL_MS: '100',
    TASK_DEADLINE_MS: '20000',
  });
  account = await gateway.account();
});
afterAll(async () => {
  await gateway.stop();
  await Promise.all([provider.stop(), recordings.stop()]);
});

async function submitted(path: string, body: object): Promise<string> {
  const { status, bytes, json } = await postJson(gateway.url + path, account.headers, body);
  expect(status < 300 ? '' : `${JSON.stringify(body)}: ${bytes.toString()}`).toBe('');
  return (json as { id: string }).id;
}

/** The body with a source that its model takes. */
function withSource(body: Body, source: string): object {
  const placed = { ...body, ...('continue_at' in body && { continue_at: PLACE_SECONDS }) };
  return JSON.parse(JSON.stringify(placed).replaceAll(/task_[0-9a-f]{32}/g, source)) as object;
}

/** States of all tasks, once none is open. */
async function endedStates(): Promise<string[]> {
  for (;;) {
    const rows = await gateway.dataSource.query<{ status: string }[]>('SELECT status FROM task');
    const states = rows.map(({ status }) => status);
    if (!states.includes('queued') && !states.includes('processing')) return states;
    await sleep(LOOK_MS);
  }
}

/** As an operator does with tasks whose outcome is unknown. */
async function refuseUnknown(): Promise<void> {
  const unknown = await gateway.dataSource.query<{ id: string }[]>(
    "SELECT id FROM task WHERE status = 'reconciliation_required'",
  );
  for (const { id } of unknown) {
    const url = `${gateway.url}/admin/tasks/task_${id.replaceAll('-', '')}/resolve`;
    const headers = { authorization: `Bearer ${ADMIN_TOKEN}` };
    // 409: its provider has decided it meanwhile.
    expect([200, 409]).toContain((await postJson(url, headers, { outcome: 'failed' })).status);
  }
}

it(
  'damaged answers of providers end tasks or leave them to an operator, with exact books',
  async () => {
    const song = await submitted(SONGS, { model: 'song-music', prompt: 'Rain' });
    const tune = await submitted(SONGS, { model: 'tune-music', prompt: 'Rain' });
    expect(await endedStates()).toEqual(['succeeded', 'succeeded']);
    const extension = withSource(LEAST_BODIES.get('song-extend') ?? {}, song);
    const extended = await submitted(SONGS, extension);
    expect(await endedStates()).toEqual(['succeeded', 'succeeded', 'succeeded']);
    provider.random = repeatableRandom(SEED);
    for (let round = 0; round < ROUNDS; round += 1) {
      for (const [model, body] of LEAST_BODIES) {
        const source = model === 'song-concat' ? extended : song;
        await submitted(SONGS, withSource(body, model.startsWith('tune') ? tune : source));
      }
      const dub = { source_url: recordings.url, target_language: 'fr' };
      await submitted('/v1/audio/dubbing', { model: 'aud-dubbing-v1', ...dub });
      const video = { model: 'vid-motion', prompt: 'The sea', seconds: '5' };
      await submitted('/v1/videos', video);
    }
    const states = await endedStates();
    expect(states).toHaveLength(3 + ROUNDS * (LEAST_BODIES.size + 2));
    expect(states).toContain('reconciliation_required');
    await refuseUnknown();
    await gateway.expectCleanBooks();
  },
  TIMEOUT_MS,
);
