import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { ALL_FORMATS, BufferSource, Input } from 'mediabunny';
import { SANDBOX_API_KEY, SandboxServer } from '../sandbox-server.js';

const server = new SandboxServer();
let base = '';
beforeAll(async () => {
  base = `http://127.0.0.1:${await server.listen()}/elevenlabs/v1`;
});
afterAll(() => server.close());

const headers = { 'xi-api-key': SANDBOX_API_KEY };

async function speech(text: string): Promise<Buffer> {
  const answer = await fetch(`${base}/text-to-speech/pNInz6obpgDQGcFmaJgB`, {
    method: 'POST',
    headers,
    body: JSON.stringify({ text }),
  });
  return Buffer.from(await answer.arrayBuffer());
}

function dub(file: Buffer, fields: Record<string, string>): Promise<Response> {
  const form = new FormData();
  for (const [name, value] of Object.entries(fields)) form.append(name, value);
  form.append('file', new Blob([new Uint8Array(file)], { type: 'audio/mpeg' }), 'source.mp3');
  return fetch(`${base}/dubbing`, { method: 'POST', headers, body: form });
}

async function idOf(answer: Response): Promise<string> {
  expect(answer.status).toBe(200);
  return ((await answer.json()) as { dubbing_id: string }).dubbing_id;
}

async function finished(id: string): Promise<Record<string, unknown>> {
  for (;;) {
    const answer = await fetch(`${base}/dubbing/${id}`, { headers });
    const project = (await answer.json()) as Record<string, unknown>;
    if (project.status !== 'dubbing') return project;
    await sleep(20);
  }
}

describe('/v1/dubbing', () => {
  it('dubs a recording into a file of the same length', async () => {
    const source = await speech('The words of the source.');
    const name = 'one [[sandbox:task-ms=50]]';
    const id = await idOf(await dub(source, { target_lang: 'de', name }));
    expect(await finished(id)).toMatchObject({
      status: 'dubbed',
      source_language: 'en',
      target_languages: ['de'],
    });
    const answer = await fetch(`${base}/dubbing/${id}/audio/de`, { headers });
    const file = Buffer.from(await answer.arrayBuffer());
    const secondsOf = (media: Buffer) =>
      new Input({ source: new BufferSource(media), formats: ALL_FORMATS }).computeDuration();
    expect(Math.abs((await secondsOf(file)) - (await secondsOf(source)))).toBeLessThan(0.1);
    expect((await fetch(`${base}/dubbing/${id}`, { method: 'DELETE', headers })).status).toBe(200);
    expect((await fetch(`${base}/dubbing/${id}`, { headers })).status).toBe(404);
  });

  it('answers 425 before the dub is done, and fails when told to', async () => {
    const source = await speech('Again.');
    const slow = await idOf(
      await dub(source, { target_lang: 'fr', name: '[[sandbox:task-ms=60000]]' }),
    );
    expect((await fetch(`${base}/dubbing/${slow}/audio/fr`, { headers })).status).toBe(425);
    const name = '[[sandbox:task-ms=0]] [[sandbox:task-fails]]';
    const failing = await idOf(await dub(source, { target_lang: 'fr', name }));
    expect(await finished(failing)).toMatchObject({ status: 'failed' });
  });

  it('refuses a language it does not speak', async () => {
    expect((await dub(await speech('Hello'), { target_lang: 'xx' })).status).toBe(400);
  });
});
