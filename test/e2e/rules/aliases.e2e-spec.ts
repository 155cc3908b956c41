import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { loadCatalog } from '../../../src/catalog/catalog-file.js';
import { DubbingHarness } from '../../support/dubbing-harness.js';
import { ADMIN_TOKEN, startTestGateway, type TestGateway } from '../../support/gateway.js';
import { errorOf, postJson, send } from '../../support/http-answer.js';

const file = join(mkdtempSync(join(tmpdir(), 'aliases-')), 'catalog.json');
const OVERLAY = {
  models: [
    { id: 'gen-5-mini', aliases: ['gpt-4o-mini', 'gpt-3.5-turbo'] },
    { id: 'aud-flash-v2.5', aliases: ['tts-1'] },
    { id: 'vid-motion', aliases: ['sora-2'] },
    { id: 'song-lyrics', aliases: ['lyrics-1'] },
    { id: 'aud-dubbing-v1', aliases: ['dub-1'] },
  ],
  voice_aliases: { alloy: 'Sarah' },
};

let gateway: TestGateway;
beforeAll(async () => {
  writeFileSync(file, JSON.stringify(OVERLAY));
  gateway = await startTestGateway({ CATALOG_FILE: file });
});
afterAll(() => gateway.stop());

const chat = (headers: Record<string, string>, model: string, more = {}) =>
  postJson(`${gateway.url}/v1/chat/completions`, headers, {
    model,
    messages: [{ role: 'user', content: 'Hello' }],
    ...more,
  });

describe('an alias', () => {
  it('is sold like its model, is echoed, and the record names the model', async () => {
    const { headers } = await gateway.account();
    const [own, alias] = [await chat(headers, 'gen-5-mini'), await chat(headers, 'gpt-4o-mini')];
    expect(own.json).toMatchObject({ model: 'gen-5-mini' });
    expect(alias.json).toMatchObject({ model: 'gpt-4o-mini' });
    const streamed = await chat(headers, 'gpt-3.5-turbo', { stream: true });
    expect(streamed.bytes.toString()).toContain('"model":"gpt-3.5-turbo"');
    const id = alias.headers.get('x-gateway-execution-id') ?? '';
    const url = `${gateway.url}/admin/executions/${id}`;
    const { json } = await send(url, { headers: { authorization: `Bearer ${ADMIN_TOKEN}` } });
    expect(json).toMatchObject({ model: 'gen-5-mini' });
  });

  it('of a model and of a voice speaks', async () => {
    const { headers } = await gateway.account();
    const body = { model: 'tts-1', input: '[[sandbox:instant]]Hello', voice: 'Alloy' };
    const answer = await postJson(`${gateway.url}/v1/audio/speech`, headers, body);
    expect(answer.status).toBe(200);
  });

  it('is listed and read like a model', async () => {
    const { headers } = await gateway.account();
    const list = await send(`${gateway.url}/v1/models`, { headers });
    const ids = (list.json as { data: { id: string }[] }).data.map(({ id }) => id);
    expect(ids).toEqual(expect.arrayContaining(['gpt-4o-mini', 'gpt-3.5-turbo', 'tts-1']));
    const one = await send(`${gateway.url}/v1/models/gpt-4o-mini`, { headers });
    expect(one.json).toMatchObject({ id: 'gpt-4o-mini', endpoint: '/v1/chat/completions' });
  });

  it('passes where the allowlist has the id of its model', async () => {
    const { accountId } = await gateway.account();
    const key = await gateway.keyOf(accountId, { allowedModels: ['gen-5-mini', 'tts-1'] });
    const headers = { authorization: `Bearer ${key}` };
    expect((await chat(headers, 'gpt-4o-mini')).status).toBe(200);
    const list = await send(`${gateway.url}/v1/models`, { headers });
    const ids = (list.json as { data: { id: string }[] }).data.map(({ id }) => id);
    expect(ids).toEqual(['gen-5-mini', 'gpt-4o-mini', 'gpt-3.5-turbo']);
    const url = `${gateway.url}/v1/audio/speech`;
    const speech = await postJson(url, headers, { model: 'tts-1', input: 'Hi', voice: 'Adam' });
    expect([speech.status, errorOf(speech).code]).toEqual([403, 'api_key_model_not_allowed']);
  });

  it.each([
    ['/v1/videos', 'sora-2', 'vid-motion', { prompt: 'The sea', seconds: '5' }],
    ['/v1/music/generations', 'lyrics-1', 'song-lyrics', { prompt: 'boats' }],
  ])('that ordered a task of %s is the model of all its views', async (path, alias, id, body) => {
    const { headers } = await gateway.account();
    const ordered = await postJson(gateway.url + path, headers, { ...body, model: alias });
    expect(ordered.json).toMatchObject({ model: alias });
    const { id: taskId } = ordered.json as { id: string };
    const read = await send(`${gateway.url}/v1/tasks/${taskId}`, { headers });
    expect(read.json).toMatchObject({ model: alias });
    const operator = { authorization: `Bearer ${ADMIN_TOKEN}` };
    const record = await send(`${gateway.url}/admin/tasks/${taskId}`, { headers: operator });
    expect(record.json).toMatchObject({ model: id });
    if (path !== '/v1/videos') return;
    for (const model of [alias, id]) {
      const video = await send(`${gateway.url}${path}/${taskId}?model=${model}`, { headers });
      expect(video.json).toMatchObject({ object: 'video', model: alias });
    }
  });

  it('that ordered a dub is the model of its task', async () => {
    const harness = await DubbingHarness.open({ CATALOG_FILE: file });
    const ordered = await harness.submit({ model: 'dub-1' });
    expect(await harness.task(ordered.id)).toMatchObject({ model: 'dub-1' });
    await harness.close();
  });

  it.each([
    [{ models: [{ id: 'gen-5', aliases: ['gen-4-mini'] }] }, 'model gen-5: aliases: gen-4-mini'],
    [
      { models: ['gen-5', 'gen-5-mini'].map((id) => ({ id, aliases: ['x'] })) },
      'model gen-5-mini: aliases: x',
    ],
    [{ voice_aliases: { Adam: 'Sarah' } }, 'voice_aliases'],
    [{ voice_aliases: { alloy: 'Nobody' } }, 'voice_aliases'],
  ])('is refused at load where it is not one name of one thing: %j', (overlay, says) => {
    const other = join(mkdtempSync(join(tmpdir(), 'aliases-')), 'catalog.json');
    writeFileSync(other, JSON.stringify(overlay));
    expect(() => loadCatalog(other)).toThrow(says);
  });
});
