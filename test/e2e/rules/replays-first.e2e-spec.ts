import { mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { ADMIN_TOKEN, startTestGateway, type TestGateway } from '../../support/gateway.js';
import { DubbingHarness } from '../../support/dubbing-harness.js';
import { type Answer, errorOf, postJson, send } from '../../support/http-answer.js';
import { VIDEO } from '../../support/video-harness.js';

const SONG = { model: 'song-music', prompt: 'The sea' };
const RESPONSE = { model: 'gen-4-mini', input: 'Hi', background: true, max_output_tokens: 16 };
const MODELS = ['vid-motion', 'song-music', 'aud-dubbing-v1', 'gen-4-mini'];

let harness: DubbingHarness;
/** On the same database. It sells none of the models any more. */
let later: TestGateway;

beforeAll(async () => {
  harness = await DubbingHarness.open();
  const file = join(mkdtempSync(join(tmpdir(), 'shim-catalog-')), 'catalog.json');
  writeFileSync(file, JSON.stringify({ models: MODELS.map((id) => ({ id, enabled: false })) }));
  later = await startTestGateway({
    DATABASE_URL: harness.gateway.config.databaseUrl,
    CATALOG_FILE: file,
    TASK_TICK_MS: '86400000',
  });
});
afterAll(async () => {
  await later.stop();
  await harness.close();
});
beforeEach(() => harness.clear());

const dub = () => ({
  model: 'aud-dubbing-v1',
  source_url: harness.source(),
  target_language: 'fr',
});
type Post = (at: TestGateway, change?: object) => Promise<Answer>;
const json =
  (path: string, body: () => object): Post =>
  (at, change = {}) =>
    postJson(
      `${at.url}${path}`,
      { ...harness.account.headers, 'idempotency-key': 'again' },
      { ...body(), ...change },
    );
const form: Post = (at, change = {}) => {
  const body = new FormData();
  for (const [name, value] of Object.entries({ ...VIDEO, ...change })) body.set(name, value);
  const headers = { ...harness.account.headers, 'idempotency-key': 'again' };
  return send(`${at.url}/v1/videos`, { method: 'POST', headers, body });
};
const ENDPOINTS: readonly [string, Post][] = [
  ['a video', json('/v1/videos', () => VIDEO)],
  ['a video in a form', form],
  ['a song', json('/v1/music/generations', () => SONG)],
  ['a dub', json('/v1/audio/dubbing', dub)],
  ['a response in the background', json('/v1/responses', () => RESPONSE)],
];

describe('the replay of an accepted submission', () => {
  it.each(ENDPOINTS)('of %s comes before the checks of its model (G-86)', async (_name, post) => {
    const first = await post(harness.gateway);
    expect(first.status < 300 ? '' : first.bytes.toString()).toBe('');
    const id = (first.json as { id: string }).id;
    const again = await post(later);
    expect(again).toMatchObject({ status: first.status, json: { id } });
    expect(again.headers.get('location')).toBe(first.headers.get('location'));
    expect(again.headers.get('x-gateway-task-id')).toBe(id.replace('resp_', 'task_'));
    const { held } = await harness.gateway.balance(harness.account.accountId);
    expect(held > 0n || (await post(later)).status < 300).toBe(true);
    // Another body is another request, and its model is not sold.
    const other = await post(later, { webhook: 'https://example.com/hook' });
    expect(other.status).toBeGreaterThanOrEqual(400);
  });

  it.each(ENDPOINTS)('of %s comes before the allowlist of its key', async (_name, post) => {
    const first = await post(harness.gateway);
    const id = (first.json as { id: string }).id;
    const [row] = await harness.gateway.dataSource.query<[{ id: string }]>(
      `SELECT id FROM api_key WHERE account_id = $1`,
      [harness.account.accountId],
    );
    const change = await fetch(
      `${harness.gateway.url}/admin/keys/key_${row.id.replaceAll('-', '')}`,
      {
        method: 'PATCH',
        headers: { authorization: `Bearer ${ADMIN_TOKEN}`, 'content-type': 'application/json' },
        body: JSON.stringify({ allowed_models: ['aud-v3'] }),
      },
    );
    expect(change.status).toBe(200);
    // It takes effect within 2 s.
    let other: Answer;
    do other = await post(harness.gateway, { seed: 'other' });
    while (other.status !== 403);
    expect(errorOf(other).code).toBe('api_key_model_not_allowed');
    expect(await post(harness.gateway)).toMatchObject({ status: first.status, json: { id } });
  });
});
