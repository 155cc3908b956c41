import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { createHmac } from 'node:crypto';
import { once } from 'node:events';
import { get, type IncomingMessage } from 'node:http';
import { SANDBOX_API_KEY, TWIN_HEADER } from '../http/protocol.js';
import { SandboxServer } from '../sandbox-server.js';
import type { TwinFile } from './twin-file.js';

const server = new SandboxServer();
let base = '';
let count = 0;
beforeAll(async () => {
  base = `http://127.0.0.1:${await server.listen()}`;
});
afterAll(() => server.close());

type Json = Record<string, unknown>;
const DONE = '[[sandbox:task-ms=0]]';
const read = {
  path: '/jobs/{id}',
  state: 'state',
  states: { processing: ['busy'], succeeded: ['ready'] },
};
const submit = { path: '/make', body: { text: '{{prompt}}', length: '{{seconds}}' }, id: 'id' };

/** A vendor of its own, in a version of its file. */
function fileOf(parts: Partial<TwinFile>, version = '1', id = `odd-${(count += 1)}`): TwinFile {
  return {
    ...{ id, base_url: `${base}/vendors/${id}`, headers: { [TWIN_HEADER]: version } },
    ...{ auth: { in: 'bearer' }, submit, read, result: { url: ['url'] } },
    ...{ cost: { path: 'cost', unit: 'unit' }, ...parts },
  };
}

/** Asks a vendor, in a version of its file or in none. */
function askerOf({ base_url: url }: TwinFile, version?: string) {
  const headers = {
    authorization: `Bearer ${SANDBOX_API_KEY}`,
    ...(version !== undefined && { [TWIN_HEADER]: version }),
  };
  const ask = async (path: string, init: RequestInit = {}) => {
    const answer = await fetch(`${url}${path}`, { headers, ...init });
    return { status: answer.status, json: (await answer.json()) as Json };
  };
  const made = async (path: string, body: object): Promise<string> => {
    const { status, json } = await ask(path, { method: 'POST', body: JSON.stringify(body) });
    expect(status).toBe(200);
    return json.id as string;
  };
  return { ask, made };
}

function played(parts: Partial<TwinFile>) {
  const file = fileOf(parts);
  server.playVendors([file]);
  return askerOf(file);
}

describe('a way of submission for some models', () => {
  it('is taken where neither its path nor its body says the model', async () => {
    const variants = [{ models: ['fast'], path: '/fast', body: { text: '{{prompt}}' } }];
    const { made } = played({ submit: { ...submit, variants } });
    expect(await made('/fast', { text: DONE })).toMatch(/./);
  });

  it('is told from the others by the keys of the body', async () => {
    const variants = [{ models: ['fast'], body: { ask: '{{prompt}}', span: '{{seconds}}' } }];
    const { ask, made } = played({ submit: { ...submit, variants } });
    const costs = [
      { text: DONE, length: '7' },
      { ask: DONE, span: '8' },
    ].map(async (body) => (await ask(`/jobs/${await made('/make', body)}`)).json.cost);
    expect(await Promise.all(costs)).toEqual([7, 8]);
  });
});

describe('a path of a file', () => {
  it('is that with more fixed characters, where two fit', async () => {
    const { ask, made } = played({
      read: { ...read, path: '/v1/{model}/{id}' },
      result: { request: { path: '/v1/{model}/{id}/content' }, url: ['file'] },
    });
    const id = await made('/make', { text: DONE });
    expect((await ask(`/v1/a/b/${id}`)).json).toMatchObject({ state: 'ready' });
    expect((await ask(`/v1/a/b/${id}/content`)).json.file).toMatch(/^http/);
  });

  it('may have quotes and brackets in its query', async () => {
    const path = `/job?as='"<of>&id=`;
    const { ask, made } = played({ read: { ...read, path: `${path}{id}` } });
    const { status } = await ask(path + (await made('/make', { text: DONE })));
    expect(status).toBe(200);
  });
});

describe('a model in the query of a submission', () => {
  it('ends where the key begins', async () => {
    const path = '/make?of={model}';
    const variants = [{ models: ['fast'], body: { ask: '{{prompt}}', span: '{{seconds}}' } }];
    const file = fileOf({
      auth: { in: 'query', name: 'key' },
      submit: { ...submit, path, variants },
    });
    server.playVendors([file]);
    const { ask, made } = askerOf(file);
    const key = `key=${SANDBOX_API_KEY}`;
    const id = await made(`/make?of=fast&${key}`, { ask: DONE, span: '8' });
    expect((await ask(`/jobs/${id}?${key}`)).json.cost).toBe(8);
  });
});

describe('an answer about a job', () => {
  it('tells its state also where the vendor tells errors of requests', async () => {
    const { ask, made } = played({
      errors: { in_body: [{ path: 'state', ok: ['busy', 'ready'] }] },
    });
    const { json } = await ask(`/jobs/${await made('/make', { text: DONE })}`);
    expect(json.state).toBe('ready');
  });

  it.each<[sign: string, code: string[], message: string[], error: unknown]>([
    ['error.why', [], ['error'], { why: true }],
    ['error', [], ['error'], 'The video could not be generated.'],
    ['error', ['error.code'], ['why'], { code: 'generation_failed' }],
    ['error.why', ['error'], ['error.why'], { why: 'The video could not be generated.' }],
  ])('has the sign %s of a failure, whose code is at %j and message at %j', async (...told) => {
    const [sign, codes, messages, error] = told;
    const reasons = { failure_code: codes, failure_message: messages };
    const { ask, made } = played({ read: { ...read, failed_if: sign, ...reasons } });
    const id = await made('/make', { text: `${DONE} [[sandbox:task-fails]]` });
    expect((await ask(`/jobs/${id}`)).json.error).toEqual(error);
  });
});

describe('a job whose content was refused', () => {
  const refused = { text: `${DONE} [[sandbox:task-fails]] [[sandbox:refuse]]` };

  it("fails with the vendor's code for it", async () => {
    const { ask, made } = played({
      read: { ...read, failed_if: 'error', failure_code: ['error.code'] },
      errors: { codes: { rejected: ['bad'], refused_content: ['UNSAFE.*'] } },
    });
    const { json } = await ask(`/jobs/${await made('/make', refused)}`);
    expect(json).toMatchObject({ state: 'ready', error: { code: 'UNSAFE.' } });
  });

  it('is finished without its video where the file says where the vendor tells it', async () => {
    const { ask, made } = played({ read: { ...read, refused_unless: 'safe' } });
    const told = async (body: object) => (await ask(`/jobs/${await made('/make', body)}`)).json;
    const [shown, hidden] = [await told({ text: DONE }), await told(refused)];
    expect(shown).toMatchObject({
      state: 'ready',
      safe: true,
      url: expect.stringMatching(/^http/),
    });
    expect(hidden).toMatchObject({ state: 'ready', safe: false });
    expect(hidden).not.toHaveProperty('url');
  });
});

describe('a signed token', () => {
  const now = Math.floor(Date.now() / 1_000);
  const tokenOf = (claims: object): string => {
    const signed = [{ alg: 'HS256' }, claims]
      .map((part) => Buffer.from(JSON.stringify(part)).toString('base64url'))
      .join('.');
    const signature = createHmac('sha256', SANDBOX_API_KEY).update(signed).digest('base64url');
    return `${signed}.${signature}`;
  };

  it.each([
    ['is valid now', {}, 404],
    ['has expired', { exp: now - 60 }, 401],
    ['is not valid yet', { nbf: now + 600 }, 401],
    ['never expires', { exp: undefined }, 401],
    ['says not since when', { nbf: undefined }, 401],
    ['is of another key', { iss: 'other' }, 401],
  ])('that %s gets its answer', async (_what, claims, status) => {
    const { ask } = played({ auth: { in: 'jwt' } });
    const all = { iss: SANDBOX_API_KEY, exp: now + 600, nbf: now - 60, ...claims };
    const headers = { authorization: `Bearer ${tokenOf(all)}` };
    expect((await ask('/jobs/1', { headers })).status).toBe(status);
  });
});

describe('two versions of a file', () => {
  it('are played side by side, each for the process that has it, with the same jobs', async () => {
    const first = fileOf({}, 'first');
    const words = { ...read, states: { succeeded: ['finished'] } };
    const second = fileOf({ read: words }, 'second', first.id);
    server.playVendors([first]);
    server.playVendors([second]);
    const id = await askerOf(first, 'first').made('/make', { text: DONE });
    const stateBy = async (version?: string) =>
      (await askerOf(first, version).ask(`/jobs/${id}`)).json.state;
    expect(await stateBy('first')).toBe('ready');
    expect(await stateBy('second')).toBe('finished');
    expect(await stateBy()).toBe('finished');
    expect(await stateBy('unknown')).toBe('finished');
    server.playVendors([]);
    expect(await stateBy('first')).toBe('ready');
    expect((await fetch(`${first.base_url}/jobs/${id}`)).status).toBe(404);
  });
});

/** The head of an answer, the beginning of its body, its length, and whether it came to its end. */
async function received(url: string) {
  const headers = { authorization: `Bearer ${SANDBOX_API_KEY}` };
  const [answer] = (await once(get(url, { headers }), 'response')) as [IncomingMessage];
  let bytes = 0;
  let begin = '';
  const closed = new Promise((resolve) => answer.once('close', resolve));
  answer.on('error', () => undefined);
  answer.on('data', (piece: Buffer) => {
    begin ||= piece.toString('latin1', 4, 8);
    bytes += piece.length;
  });
  await closed;
  return { bytes, begin, length: answer.headers['content-length'], isWhole: answer.complete };
}

describe('an answer that is too large', () => {
  const SENT = 64 * 1024 * 1024;

  it('of a file announces 4 GB, begins as a video does, and is cut after 64 MB', async () => {
    const { ask, made } = played({});
    const id = await made('/make', { text: `${DONE} [[sandbox:file=huge]]` });
    const { json } = await ask(`/jobs/${id}`);
    const found = await received(json.url as string);
    expect(found).toMatchObject({ begin: 'ftyp', length: '4294967296', isWhole: false });
    expect(found.bytes).toBeLessThanOrEqual(SENT + 100);
  });

  it('about a job announces nothing, and is cut after 64 MB', async () => {
    const file = fileOf({});
    server.playVendors([file]);
    const id = await askerOf(file).made('/make', { text: `${DONE} [[sandbox:poll=huge]]` });
    const found = await received(`${file.base_url}/jobs/${id}`);
    expect(found).toMatchObject({ length: undefined, isWhole: false });
    expect(found.bytes).toBeLessThanOrEqual(SENT + 100);
  });
});
