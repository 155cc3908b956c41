import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { DubbingDesk } from '../../support/dubbing-desk.js';
import { send } from '../../support/http-answer.js';

const NEVER = '[[sandbox:task-ms=3600000]]';

let desk: DubbingDesk;

beforeAll(async () => {
  desk = await DubbingDesk.open();
});
afterAll(() => desk.close());
beforeEach(() => desk.clear());

describe('GET /v1/tasks/{id}/content of a dub', () => {
  it('gives ranges whose pieces join to the file (CONTENT-04, CONTENT-05)', async () => {
    const { id } = await desk.submit();
    await desk.ended(id);
    const whole = (await desk.get(`${id}/content`)).bytes;
    const size = whole.length;
    const range = async (bytes: string) => {
      const answer = await desk.get(`${id}/content`, { range: `bytes=${bytes}` });
      return [answer.status, answer.headers.get('content-range'), answer.bytes] as const;
    };
    expect(await range('0-99')).toEqual([206, `bytes 0-99/${size}`, whole.subarray(0, 100)]);
    expect(await range('100-')).toEqual([
      206,
      `bytes 100-${size - 1}/${size}`,
      whole.subarray(100),
    ]);
    expect(await range('-50')).toEqual([
      206,
      `bytes ${size - 50}-${size - 1}/${size}`,
      whole.subarray(-50),
    ]);
    const [status, contentRange] = await range(`${size}-`);
    expect([status, contentRange]).toEqual([416, `bytes */${size}`]);
  });

  it('is not there before success, for others, or without a key (CONTENT-06, CONTENT-07, CONTENT-09, CONTENT-10)', async () => {
    const { id } = await desk.submit({ source_url: desk.source(NEVER) });
    const early = await desk.get(`${id}/content`);
    expect([early.status, early.json]).toMatchObject([409, { error: { code: 'task_not_ready' } }]);
    const failing = desk.source('[[sandbox:task-ms=0]][[sandbox:task-fails]]');
    const failed = await desk.submit({ source_url: failing });
    await desk.ended(failed.id);
    expect((await desk.get(`${failed.id}/content`)).status).toBe(409);
    const open = await send(`${desk.gateway.url}/v1/tasks/${id}/content`);
    expect([open.status, open.json]).toMatchObject([401, { error: { code: 'invalid_token' } }]);
    const other = await desk.gateway.account();
    const foreign = await desk.get(`${id}/content`, other.headers);
    expect([foreign.status, foreign.json]).toMatchObject([
      404,
      { error: { code: 'task_not_found' } },
    ]);
  });

  it('costs nothing (CONTENT-12)', async () => {
    const { id } = await desk.submit();
    await desk.ended(id);
    const before = await desk.gateway.balance(desk.account.accountId);
    for (let time = 0; time < 3; time += 1) await desk.get(`${id}/content`);
    expect(await desk.gateway.balance(desk.account.accountId)).toEqual(before);
  });
});
