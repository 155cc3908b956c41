import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { ResponseStore } from '../../../src/stored-responses/response-store.js';
import { BackgroundHarness, BEGINS, COMPLETION } from '../../support/background-harness.js';
import { chunk, event } from '../../support/chat-upstream-harness.js';
import { errorOf, send } from '../../support/http-answer.js';
import type { StubUpstream } from '../../support/stub-upstream.js';
import { until } from '../../support/until.js';

const SECRET = 'a-secret-of-webhooks';

let desk: BackgroundHarness;
beforeAll(async () => {
  desk = await BackgroundHarness.start();
});
beforeEach(() => {
  desk.reset();
});
afterAll(() => desk.stop());

type Reply = Parameters<Extract<StubUpstream['reply'], (...given: never[]) => unknown>>[0];

/** The provider answers when the function that is returned is called. */
function held(begin: (reply: Reply) => void, end: (reply: Reply) => void): () => void {
  const replies: Reply[] = [];
  desk.upstream.reply = (reply) => {
    begin(reply);
    replies.push(reply);
  };
  return () => {
    for (const reply of replies) end(reply);
  };
}

const erase = () => desk.gateway.app.get(ResponseStore).erase(desk.account.accountId);
const asked = () => until(() => desk.upstream.seen.length > 0);

describe('a response that is being made when its account is erased', () => {
  it('in the background is charged, and neither stored nor told by its webhook (G-108)', async () => {
    const finish = held(
      (reply) => {
        (BEGINS as (reply: Reply) => void)(reply);
      },
      (reply) => {
        const usage = { prompt_tokens: 12, completion_tokens: 5, total_tokens: 17 };
        const choices = [{ index: 0, delta: {}, finish_reason: 'stop' }];
        reply.end(`${event(chunk('', { choices, usage }))}data: [DONE]\n\n`);
      },
    );
    const { id } = await desk.made({ webhook: desk.hooks.url, webhook_secret: SECRET });
    await asked();
    expect((await desk.read(id)).status).toBe('in_progress');
    await erase();
    // Nothing of it can be read any more, although it is still being made.
    for (const path of [`/${id}`, `/${id}/input_items`]) {
      const read = await send(desk.url(path), { headers: desk.account.headers });
      expect([path, read.status]).toEqual([path, 404]);
    }
    const { headers } = desk.account;
    const deleted = await send(desk.url(`/${id}`), { method: 'DELETE', headers });
    expect([deleted.status, errorOf(deleted).code]).toEqual([404, 'not_found']);
    expect((await desk.taskOf(id)).status).toBe('processing');
    finish();
    await until(async () => (await desk.taskOf(id)).status === 'succeeded');
    expect(await desk.taskOf(id)).toMatchObject({ charged_microusd: '13' });
    const read = await send(desk.url(`/${id}`), { headers: desk.account.headers });
    expect(read.status).toBe(404);
    await until(() => desk.hooks.received.length > 0);
    expect(desk.hooks.received.map(({ body }) => JSON.parse(body.toString()) as object)).toEqual([
      { id, object: 'response.deleted', deleted: true },
    ]);
    expect(await desk.gateway.dataSource.query('SELECT FROM stored_item')).toEqual([]);
  });

  it('in the background can be cancelled, and is unknown all the same', async () => {
    desk.upstream.reply = BEGINS;
    const { id } = await desk.made();
    await asked();
    await erase();
    expect((await desk.cancel(id)).status).toBe(404);
    await desk.upstream.untilAborted();
    await until(async () => (await desk.taskOf(id)).status === 'succeeded');
    const next = await desk.made();
    expect((await desk.read(next.id)).id).toBe(next.id);
    await desk.cancel(next.id);
    await desk.ended(next.id);
  });

  it('is answered with store false, and a later one is stored (G-108)', async () => {
    const finish = held(
      () => undefined,
      (reply) => {
        reply.writeHead(200, { 'content-type': 'application/json' });
        reply.end(JSON.stringify(COMPLETION));
      },
    );
    const answer = desk.post({ background: false });
    await asked();
    await erase();
    finish();
    const { status, json, headers } = await answer;
    expect({ status, json }).toMatchObject({ status: 200, json: { store: false } });
    expect(headers.get('x-gateway-stored')).toBe('false');
    desk.upstream.reply = (reply) => {
      reply.writeHead(200, { 'content-type': 'application/json' });
      reply.end(JSON.stringify(COMPLETION));
    };
    expect((await desk.made({ background: false })).store).toBe(true);
  });
});
