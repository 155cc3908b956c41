import { readFile } from 'node:fs/promises';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { EXAMPLE_MEDIA_URL, EXAMPLE_TRACKS } from '../../../src/common/example-media.js';
import { startTestGateway, type TestAccount, type TestGateway } from '../../support/gateway.js';

const PATIENCE_MS = 120_000;
/** An example with such an id needs an earlier task. */
const TASK_ID = 'task_';
const RECORDING_PATHS = ['transcriptions', 'alignment', 'voice-changer', 'isolation'];

interface Document {
  readonly paths: Readonly<Record<string, { readonly post?: Operation }>>;
}
interface Operation {
  readonly requestBody?: {
    readonly content: Readonly<Record<string, { readonly examples?: Examples }>>;
  };
}
type Examples = Readonly<Record<string, { readonly value: object }>>;

let gateway: TestGateway;
let account: TestAccount;
let text: string;

beforeAll(async () => {
  gateway = await startTestGateway();
  account = await gateway.account();
  text = await (await fetch(`${gateway.url}/openapi.json`)).text();
}, PATIENCE_MS);
afterAll(() => gateway.stop());

/** The example bodies of an endpoint, from the served document, without those that name an earlier task. */
function examplesOf(path: string): object[] {
  const { paths } = JSON.parse(text) as Document;
  const { 'application/json': json, 'multipart/form-data': form } =
    paths[path]?.post?.requestBody?.content ?? {};
  const examples = (json ?? form)?.examples ?? {};
  return Object.values(examples)
    .map(({ value }) => value)
    .filter((body) => !JSON.stringify(body).includes(TASK_ID));
}

async function post(path: string, body: object): Promise<number> {
  const headers = { ...account.headers, 'content-type': 'application/json' };
  return statusOf(path, { headers, body: JSON.stringify(body) });
}

async function postForm(path: string, fields: object): Promise<number> {
  const body = new FormData();
  for (const [name, value] of Object.entries(fields)) body.append(name, String(value));
  return statusOf(path, { headers: account.headers, body });
}

async function statusOf(path: string, request: RequestInit): Promise<number> {
  const answer = await fetch(`${gateway.url}${path}`, { method: 'POST', ...request });
  await answer.arrayBuffer();
  return answer.status;
}

describe('the examples of the served OpenAPI document', () => {
  it('name media on this gateway; the committed document names a host that does not exist', async () => {
    expect(text).not.toContain(EXAMPLE_MEDIA_URL);
    expect(text).toContain(`${gateway.url}/sandbox/media/recording.mp3`);
    const page = await fetch(`${gateway.url}/docs/swagger-ui-init.js`);
    expect(await page.text()).toContain(`${gateway.url}/sandbox/media/recording.mp3`);
    const committed = await readFile(new URL('../../../openapi.json', import.meta.url), 'utf8');
    expect(committed).toContain(`${EXAMPLE_MEDIA_URL}/recording.mp3`);
  });

  it('keep that host where no sandbox serves media', async () => {
    const bare = await startTestGateway({ SANDBOX: 'off' });
    const answer = await fetch(`${bare.url}/openapi.json`);
    expect(await answer.text()).toContain(`${EXAMPLE_MEDIA_URL}/recording.mp3`);
    await bare.stop();
  });

  it.each(['recording.mp3', ...EXAMPLE_TRACKS])('%s is an MP3 file', async (name) => {
    const answer = await fetch(`${gateway.url}/sandbox/media/${name}`);
    expect([answer.status, answer.headers.get('content-type')]).toEqual([200, 'audio/mpeg']);
    expect((await answer.arrayBuffer()).byteLength).toBeGreaterThan(100_000);
  });

  it('for dubbing are accepted as they stand, with the required fields alone', async () => {
    const examples = examplesOf('/v1/audio/dubbing');
    expect(examples.map((body) => Object.keys(body))).toEqual([
      ['model', 'source_url', 'target_language'],
    ]);
    for (const body of examples) expect(await post('/v1/audio/dubbing', body)).toBe(202);
  });

  it.each(RECORDING_PATHS)(
    'for audio/%s succeed as they stand, as a form and in JSON',
    async (name) => {
      const path = `/v1/audio/${name}`;
      const examples = examplesOf(path);
      expect(examples).toHaveLength(1);
      for (const body of examples) {
        expect([await postForm(path, body), await post(path, body)]).toEqual([200, 200]);
      }
    },
  );

  it(
    'for songs and videos are accepted as they stand where they need no earlier task',
    async () => {
      const songs = examplesOf('/v1/music/generations');
      expect(songs.filter((body) => 'audio_url' in body || 'audio_urls' in body)).toHaveLength(7);
      for (const body of songs)
        expect([body, await post('/v1/music/generations', body)]).toEqual([body, 202]);
      const videos = examplesOf('/v1/videos');
      expect(videos).toHaveLength(2);
      for (const body of videos)
        expect([body, await post('/v1/videos', body)]).toEqual([body, 200]);
    },
    PATIENCE_MS,
  );
});
