import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { TaskWorker } from '../../../src/tasks/worker/task-worker.js';
import {
  LOST_SONG,
  MiniMaxDesk,
  SECRET_OF_URL,
  SONG_COST,
  SONG_CREDIT,
  SONG_PRICE,
} from '../../support/minimax-desk.js';
import { until } from '../../support/until.js';

let desk: MiniMaxDesk;
beforeAll(async () => {
  desk = await MiniMaxDesk.open();
});
afterAll(() => desk.close());
beforeEach(() => desk.clear());

async function submitted(): Promise<string> {
  const answer = await desk.compose({}, { prefer: 'respond-async' });
  expect(answer.status).toBe(202);
  return (answer.json as { id: string }).id;
}
async function ended(id: string): Promise<object> {
  const read = async () => (await desk.get(`/v1/tasks/${id}`)).json as { status: string };
  await until(async () => !['queued', 'processing'].includes((await read()).status));
  return read();
}
/** The task is free, and its record has what the song costs. */
async function expectLost(id: string, message: string): Promise<void> {
  const failed = { status: 'failed', charged_microusd: null, error: { message } };
  expect(await ended(id)).toMatchObject(failed);
  const record = await desk.admin.get(`/tasks/${id}`);
  expect(record.json).toMatchObject(LOST_SONG);
  expect(record.bytes.toString()).not.toMatch(SECRET_OF_URL);
  expect(await desk.balance()).toMatchObject({ available: SONG_CREDIT, held: 0n });
  expect(desk.minimax.seen).toHaveLength(1);
}

describe('a song as a task', () => {
  it('is delivered by its content, for the price of one', async () => {
    const id = await submitted();
    expect(await ended(id)).toMatchObject({ status: 'succeeded', charged_microusd: SONG_PRICE });
    const content = await desk.get(`/v1/tasks/${id}/content`);
    expect([content.headers.get('content-type'), content.bytes.equals(desk.mp3)]).toEqual([
      'audio/mpeg',
      true,
    ]);
    expect((await desk.admin.get(`/tasks/${id}`)).json).toMatchObject({
      cost_microusd: SONG_COST,
      uncharged: null,
    });
  });

  it('is free where its file is none, and its record has what it costs (G-115)', async () => {
    desk.files.reply = (response) => response.end('<html><body>Expired</body></html>');
    await expectLost(await submitted(), 'The provider gave no answer that can be used.');
  });

  it('is free where its file breaks off, and its record has what it costs', async () => {
    desk.files.reply = (response) => {
      desk.begin(response);
      setTimeout(() => response.destroy(), 50);
    };
    await expectLost(await submitted(), 'The provider broke off its answer.');
  });

  it('costs nothing where it was refused', async () => {
    const refusal = '{"base_resp":{"status_code":1026,"status_msg":"x"}}';
    desk.minimax.reply = (response) => response.end(refusal);
    const id = await submitted();
    expect(await ended(id)).toMatchObject({ status: 'failed', charged_microusd: null });
    expect((await desk.admin.get(`/tasks/${id}`)).json).toMatchObject({
      cost_microusd: null,
      uncharged: null,
    });
  });

  it('says so where its content was refused behind a proxy, after which it is not sent again', async () => {
    const refusal = '{"error":{"code":"content_policy_violation"}}';
    desk.minimax.reply = (response) => response.writeHead(502).end(refusal);
    const message = 'The provider refused the task: content_policy_violation.';
    const refused = { status: 'failed', charged_microusd: null, error: { message } };
    expect(await ended(await submitted())).toMatchObject(refused);
    expect(desk.minimax.seen).toHaveLength(1);
  });

  // The last one: the worker takes no further work.
  it('is free where its process ends while its file arrives, and its record has what it costs', async () => {
    desk.files.reply = (response) => {
      desk.begin(response);
    };
    const id = await submitted();
    await until(() => desk.files.seen.length === 1);
    await desk.gateway.app.get(TaskWorker, { strict: false }).drain(0);
    await desk.files.untilAborted();
    await expectLost(id, 'The work was lost before its end.');
  });
});
