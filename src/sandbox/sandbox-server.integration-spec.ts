import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { SANDBOX_API_KEY } from './http/protocol.js';
import { SandboxServer } from './sandbox-server.js';

const server = new SandboxServer();
let base = '';
beforeAll(async () => {
  base = `http://127.0.0.1:${await server.listen()}`;
});
afterAll(() => server.close());

function say(text: string, key = SANDBOX_API_KEY): Promise<Response> {
  return fetch(`${base}/elevenlabs/v1/text-to-speech/pNInz6obpgDQGcFmaJgB`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', 'xi-api-key': key },
    body: JSON.stringify({ text, model_id: 'eleven_v3' }),
  });
}

describe('the sandbox server', () => {
  it('answers a wrong key with 401 in the shape of the provider', async () => {
    const answer = await say('hello', 'wrong');
    expect(answer.status).toBe(401);
    expect(await answer.json()).toMatchObject({ detail: { code: 'invalid_api_key' } });
  });

  it('answers an unknown path of a provider with a plain 404 detail', async () => {
    const answer = await fetch(`${base}/elevenlabs/v1/nothing`, {
      headers: { 'xi-api-key': SANDBOX_API_KEY },
    });
    expect([answer.status, await answer.json()]).toEqual([404, { detail: 'Not Found' }]);
  });

  it('remembers requests and forgets them on demand', async () => {
    await fetch(`${base}/__sandbox/requests`, { method: 'DELETE' });
    await (await say('remember me')).arrayBuffer();
    const [request] = (await (
      await fetch(`${base}/__sandbox/requests?limit=5`)
    ).json()) as object[];
    expect(request).toMatchObject({
      operation: 'text_to_speech',
      method: 'POST',
      body: { text: 'remember me', model_id: 'eleven_v3' },
      status: 200,
      isAborted: false,
    });
    expect(server.stats()).toEqual({ requests: { text_to_speech: 1 }, inFlight: 0 });
    server.forgetRequests();
    expect(server.lastRequests()).toEqual([]);
  });

  it('refuses a body over 60 MB', async () => {
    expect((await say('x'.repeat(61 * 1024 * 1024))).status).toBe(413);
  });
});

describe('magic inputs', () => {
  it.each([400, 401, 404, 422, 429, 500, 503])('answer status %i when asked to', async (status) => {
    const answer = await say(`hello [[sandbox:status=${status}]]`);
    expect(answer.status).toBe(status);
    expect(await answer.json()).toHaveProperty('detail');
    expect(answer.headers.get('retry-after')).toBe(status === 429 ? '7' : null);
  });

  it.each([
    'nonsense',
    'status=999',
    'status=200',
    'status',
    'delay=soon',
    'hang=1',
    'poll=slowly',
    'code',
  ])('answer 400 where a word is unknown or its argument wrong: %s', async (word) => {
    const answer = await say(`hello [[sandbox:${word}]]`);
    expect(answer.status).toBe(400);
    expect(await answer.text()).toContain(word.replace(/=.*/, ''));
  });

  it.each(['[[sandbox:Hang]]', '[[Sandbox:hang]]', '[[sandbox hang]]', '[[sandbox:status=429]'])(
    'answer 400 where the form is wrong, beside a word that is right: %s',
    async (mark) => {
      const answer = await say(`hello [[sandbox:instant]] ${mark}`);
      expect(answer.status).toBe(400);
      expect(await answer.text()).toContain(mark.replace(/]+$/, ''));
    },
  );

  it('are combined, and the last argument of a word counts', async () => {
    const answer = await say(
      '[[sandbox:status=503]] hello [[sandbox:retry-after=42]] [[sandbox:status=429]]',
    );
    expect(answer.status).toBe(429);
    expect(answer.headers.get('retry-after')).toBe('42');
  });

  it('set Retry-After', async () => {
    const answer = await say('[[sandbox:status=503]] [[sandbox:retry-after=42]]');
    expect(answer.headers.get('retry-after')).toBe('42');
  });

  it('replace the body by HTML, JSON or nothing', async () => {
    expect(await (await say('[[sandbox:html]]')).text()).toContain('<!doctype html>');
    expect(await (await say('[[sandbox:json]]')).json()).toEqual({ ok: true });
    expect(await (await say('[[sandbox:empty]]')).text()).toBe('');
  });

  it('answer another format than the one asked for', async () => {
    const answer = await say('hello [[sandbox:wrong-format]]');
    const bytes = Buffer.from(await answer.arrayBuffer());
    expect(answer.headers.get('content-type')).toBe('audio/mpeg');
    expect(bytes.toString('latin1', 0, 4)).toBe('RIFF');
  });

  it('cut the connection before or within the answer', async () => {
    await expect(say('hello [[sandbox:reset]]')).rejects.toThrow();
    const answer = await say('hello [[sandbox:break-body]]');
    expect(answer.status).toBe(200);
    await expect(answer.arrayBuffer()).rejects.toThrow();
  });

  it('send a first piece and then nothing, until the client leaves', async () => {
    const leaving = new AbortController();
    const answer = await fetch(`${base}/elevenlabs/v1/text-to-speech/pNInz6obpgDQGcFmaJgB`, {
      method: 'POST',
      headers: { 'xi-api-key': SANDBOX_API_KEY },
      body: JSON.stringify({ text: 'hello [[sandbox:hang-body]]' }),
      signal: leaving.signal,
    });
    const reader = answer.body!.getReader();
    expect((await reader.read()).value!.length).toBeGreaterThan(0);
    expect(server.stats().inFlight).toBe(1);
    leaving.abort();
    while (server.stats().inFlight > 0) await new Promise(setImmediate);
    expect(server.lastRequests(1)[0]).toMatchObject({ isAborted: true });
  });

  it('refuse a word that does not exist', async () => {
    expect((await say('[[sandbox:statsu=500]]')).status).toBe(400);
  });
});
