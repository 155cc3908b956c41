import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import {
  ADMIN_TOKEN,
  startTestGateway,
  type TestAccount,
  type TestGateway,
} from '../../support/gateway.js';
import { errorOf, postJson, send } from '../../support/http-answer.js';

const WRONG = 'Rain [[sandbox:stauts=429]]';
const SAID = /wrong_magic_input/;

let gateway: TestGateway;
let account: TestAccount;

beforeAll(async () => {
  gateway = await startTestGateway();
  account = await gateway.account();
});
afterAll(async () => {
  await gateway.expectCleanBooks();
  await gateway.stop();
});

describe('a magic input that the sandbox does not know', () => {
  it.each([
    ['audio/speech', { model: 'aud-v4', input: WRONG, voice: 'Adam' }],
    ['chat/completions', { model: 'gen-5', messages: [{ role: 'user', content: WRONG }] }],
    ['images/generations', { model: 'gen-image-2', prompt: WRONG }],
  ])('refuses %s with a word that says so', async (path, body) => {
    const answer = await postJson(`${gateway.url}/v1/${path}`, account.headers, body);
    expect(answer.status).toBe(400);
    expect(errorOf(answer)).toMatchObject({
      code: 'provider_rejected_request',
      message: expect.stringMatching(SAID),
    });
  });

  it('fails the task of a video with a word that says so', async () => {
    const task = await ended('videos', { model: 'vid-motion', prompt: WRONG, seconds: '5' });
    expect(task).toMatchObject({
      status: 'failed',
      error: { message: expect.stringMatching(SAID) },
    });
  });

  it('fails the task of a song, whose protocol has no code words: the operator reads it', async () => {
    const { id, status } = await ended('music/generations', {
      model: 'song-lyrics',
      prompt: WRONG,
    });
    const headers = { authorization: `Bearer ${ADMIN_TOKEN}` };
    const { json } = await send(`${gateway.url}/admin/tasks/${id}`, { headers });
    expect(status).toBe('failed');
    expect(json).toMatchObject({
      provider_error: { message: expect.stringContaining('Unknown magic input: stauts') },
    });
  });
});

/** The task of a submission, when it has ended. */
async function ended(path: string, body: object): Promise<{ id: string; status: string }> {
  const submitted = await postJson(`${gateway.url}/v1/${path}`, account.headers, body);
  const { id } = submitted.json as { id: string };
  const headers = { ...account.headers, prefer: 'wait=30' };
  const { json } = await send(`${gateway.url}/v1/tasks/${id}`, { headers });
  return json as { id: string; status: string };
}
