import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { mp4Duration } from '../../../src/media/duration/container/mp4-duration.js';
import { ADMIN } from '../../support/admin-harness.js';
import type { TestGateway } from '../../support/gateway.js';
import { postJson, send } from '../../support/http-answer.js';
import { SHIPPED_IDS, startTwinGateway, TWIN_PRICE, twinRow } from '../../support/twin-gateway.js';
import { until } from '../../support/until.js';
import { VideoHarness } from '../../support/video-harness.js';

const FUNDS = 5_000_000n;

let gateway: TestGateway;
const folder = mkdtempSync(join(tmpdir(), 'shim-vendors-'));

beforeAll(async () => {
  gateway = await startTwinGateway({ VENDORS_DIR: folder });
});
afterAll(async () => {
  await gateway.expectCleanBooks();
  await gateway.stop();
});

const open = () => VideoHarness.open(gateway, FUNDS);
const jobsOf = async (label: string) =>
  ((await gateway.sandbox?.jobs()) ?? []).filter((job) => job.label === label);

/** A whole video of two seconds, charged once, that was ordered once. */
async function expectVideo(videos: VideoHarness, fields: { model: string; prompt: string }) {
  const { id } = await videos.submitted({ seconds: '2', ...fields });
  expect(await videos.ended(id)).toMatchObject({ status: 'completed', seconds: '2' });
  const { bytes, headers } = await videos.content(id);
  expect(headers.get('content-type')).toBe('video/mp4');
  expect(headers.get('x-gateway-sandbox')).toBe('true');
  expect(bytes.toString('latin1', 4, 8)).toBe('ftyp');
  expect(mp4Duration(bytes).videoMicros).toBe(2_000_000n);
  expect(await videos.balance()).toMatchObject({ available: FUNDS - TWIN_PRICE, held: 0n });
  expect(await jobsOf(fields.prompt)).toEqual([expect.objectContaining({ submissions: 1 })]);
}

describe.each(SHIPPED_IDS)('the shipped vendor %s without its key', (id) => {
  it('makes a video of the length that was asked for, at its price', async () => {
    const prompt = `A boat "of"\n${id} {{prompt}} [[sandbox:task-ms=100]]`;
    await expectVideo(await open(), { model: `vid-${id}`, prompt });
  });

  it('fails under a word that is none, which the error of the task tells', async () => {
    const videos = await open();
    const model = `vid-${id}`;
    const { status, error } = await videos.made({
      model,
      prompt: '[[sandbox:hangs]]',
      seconds: '2',
    });
    expect(status).toBe('failed');
    expect(error?.message).toContain('wrong_magic_input');
  });

  it('is told as one that the sandbox replaces', async () => {
    const { json } = await send(`${gateway.url}/admin/providers`, { headers: ADMIN });
    const { data } = json as { data: { id: string }[] };
    expect(data.find((each) => each.id === id)).toMatchObject({ served_by: 'sandbox' });
  });

  it('refuses another key in the form of its errors', async () => {
    const base = `${gateway.sandbox?.url ?? ''}/vendors/${id}`;
    const headers = { authorization: 'Bearer another-key' };
    const answer = await postJson(`${base}/anything`, headers, {});
    expect(answer.status).toBe(401);
    const forms: Record<string, object> = {
      fal: { detail: [{ type: 'status_401', msg: 'Invalid API key' }] },
      kling: { code: '1000', message: 'Invalid API key' },
      'minimax-video': {
        base_resp: { status_code: '1004', status_msg: 'Invalid API key' },
        error: { type: '1004', http_code: 401 },
      },
      replicate: { code: 'status_401', detail: 'Invalid API key' },
      runway: { code: 'status_401', error: 'Invalid API key' },
      'xai-video': { code: 'status_401', error: 'Invalid API key' },
    };
    const usual = { error: { code: 'status_401', message: 'Invalid API key' } };
    expect(answer.json).toEqual(forms[id] ?? usual);
  });
});

describe('the twin of a vendor', () => {
  it('takes a first frame by the variant for it', async () => {
    const url = await gateway.sandbox?.putMedia(Buffer.from('a picture'), 'image/png', 'png');
    const videos = await open();
    const prompt = 'A boat that leaves [[sandbox:task-ms=100]]';
    const { id } = await videos.submitted({
      ...{ model: 'vid-kling', prompt, seconds: '2', first_frame_url: url },
    });
    expect(await videos.ended(id)).toMatchObject({ status: 'completed' });
    const paths = (await gateway.upstreamRequests()).map(({ path }) => path);
    expect(paths).toContain('/vendors/kling/v1/videos/image2video');
  });

  it('takes a token that was signed with the key of the sandbox, and no other', async () => {
    const read = `${gateway.sandbox?.url ?? ''}/vendors/kling/v1/videos/text2video/1`;
    const [sent] = (await gateway.upstreamRequests()).filter(({ path }) => path.includes('kling'));
    const { authorization = '' } = sent?.headers ?? {};
    expect((await send(read, { headers: { authorization } })).status).toBe(404);
    const other = { authorization: `${authorization.slice(0, -3)}AAA` };
    expect((await send(read, { headers: other })).status).toBe(401);
  });

  it.each([
    ['byteplus-video', '/contents/generations/tasks', 'DELETE', 'Bearer '],
    ['fal', '/acme/films', 'PUT', 'Key '],
    ['replicate', '/models/acme/films/predictions', 'POST', 'Bearer '],
    ['runway', '/v1/text_to_video', 'DELETE', 'Bearer '],
  ])('stops a job of %s where its file says', async (id, path, method, scheme) => {
    const base = `${gateway.sandbox?.url ?? ''}/vendors/${id}`;
    const headers = { authorization: `${scheme}sandbox-key` };
    const prompt = `A boat that stops ${id} [[sandbox:task-ms=60000]]`;
    const bodies: Record<string, object> = {
      'byteplus-video': { content: [{ type: 'text', text: prompt }] },
      replicate: { input: { prompt } },
      runway: { promptText: prompt },
    };
    const { json } = await postJson(`${base}${path}`, headers, bodies[id] ?? { prompt });
    const { id: job, status_url: url } = json as Record<string, string>;
    const paths: Record<string, [read: string, stop?: string]> = {
      'byteplus-video': [`/contents/generations/tasks/${job}`],
      replicate: [`/predictions/${job}`, `/predictions/${job}/cancel`],
      runway: [`/v1/tasks/${job}`],
    };
    const [read = '', stop = read] = paths[id] ?? [url?.slice(base.length)];
    const told = (await send(`${base}${read}`, { headers })).json as { cancel_url?: string };
    const stopped = await send(told.cancel_url ?? `${base}${stop}`, { method, headers });
    expect(stopped.status).toBe(200);
    expect(await jobsOf(prompt)).toEqual([expect.objectContaining({ isRemoved: true })]);
    expect((await send(`${base}${read}`, { headers })).status).toBe(404);
  });

  it('deletes a video once it is stored, where the file says how', async () => {
    const videos = await open();
    const prompt = 'A boat that is gone [[sandbox:task-ms=100]]';
    await videos.made({ model: 'vid-luma', prompt, seconds: '2' });
    await until(async () => (await jobsOf(prompt))[0]?.isRemoved === true);
  });

  it('does not make a model sold that has no price', async () => {
    const videos = await open();
    expect((await videos.submit({ model: 'vid-xai-imagine' })).status).toBe(404);
  });
});

/** A vendor whose answers and paths are in all the other forms. */
const odd = (path: string) => ({
  ...{ id: 'odd', protocol: 'async-json', key_env: 'ODD_TWIN_KEY' },
  ...{ base_url: 'https://odd.example/v2', origins: ['https://cdn.odd.example'] },
  auth: { in: 'query', name: 'key' },
  submit: {
    path,
    body: {
      text: 'Film: {{prompt}} --length {{seconds}}',
      model: '{{model}}',
      own: '{{reference}}',
    },
    variants: [{ models: ['long*'], body: { ask: [{ $field: 'prompt' }], own: '{{reference}}' } }],
    id: 'jobs.0.id',
  },
  lookup: {
    ...{ path: '/jobs?own={reference}', items: 'jobs', id: 'id', reference: 'own' },
    ...{ absent: [], absent_when_missing: true, more: 'next' },
  },
  read: {
    path: '/jobs?id={id}',
    state: 'jobs.0.state',
    states: { succeeded: ['2'], failed: ['3'] },
    waiting_statuses: [202],
    failure_message: ['why'],
  },
  result: {
    request: { path: '/files?job={id}&file={value}', value: 'jobs.0.file' },
    url: ['file.url'],
  },
  errors: { in_body: [{ path: 'ok', ok: ['yes'] }], message: ['why'] },
  cost: { path: 'usd', unit: 'usd' },
});

describe('a vendor of a folder that SIGHUP reads', () => {
  it('gets a twin, which follows the changes of its file', async () => {
    const { catalogFile = '' } = gateway.config;
    for (const path of ['/make/{model}', '/make?as=film']) {
      writeFileSync(join(folder, 'odd.json'), JSON.stringify(odd(path)));
      writeFileSync(catalogFile, JSON.stringify({ models: [twinRow('odd', 'm/1')] }));
      await gateway.reload();
      const videos = await open();
      const prompt = `A boat by ${path} [[sandbox:task-ms=200]]`;
      await expectVideo(videos, { model: 'vid-odd', prompt });
      const paths = (await gateway.upstreamRequests()).map((seen) => seen.path);
      expect(paths).toContain(`/vendors/odd${path.replace('{model}', 'm/1').split('?')[0]}`);
    }
  });

  it('goes on with a job that it had before its file was changed', async () => {
    const videos = await open();
    const prompt = 'A boat that stays [[sandbox:task-ms=1500]]';
    const { id } = await videos.submitted({ model: 'vid-odd', seconds: '2', prompt });
    await until(async () => (await jobsOf(prompt)).length === 1);
    const { read, ...file } = odd('/make?as=film');
    const changed = { ...file, read: { ...read, states: { ...read.states, failed: ['4'] } } };
    writeFileSync(join(folder, 'odd.json'), JSON.stringify(changed));
    await gateway.reload();
    expect(await videos.ended(id)).toMatchObject({ status: 'completed' });
  });

  it('finds a job whose answer was lost, in a list', async () => {
    const prompt = 'A boat that was lost [[sandbox:lost-answer]] [[sandbox:task-ms=200]]';
    await expectVideo(await open(), { model: 'vid-odd', prompt });
  });

  it('tells what the job cost', async () => {
    const videos = await open();
    const { id } = await videos.submitted({
      ...{ model: 'vid-odd', seconds: '3', prompt: 'A boat [[sandbox:task-ms=100]]' },
    });
    await videos.ended(id);
    const { json } = await send(`${gateway.url}/admin/tasks/${id}`, { headers: ADMIN });
    expect(json).toMatchObject({ cost_microusd: '150000' });
  });
});
