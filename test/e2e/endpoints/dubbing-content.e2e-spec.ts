import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { setTimeout as sleep } from 'node:timers/promises';
import { fromPublicId } from '../../../src/common/ids/public-id.js';
import { DubbingHarness } from '../../support/dubbing-harness.js';
import { send } from '../../support/http-answer.js';

const NEVER = '[[sandbox:task-ms=3600000]]';

let harness: DubbingHarness;

beforeAll(async () => {
  harness = await DubbingHarness.open();
});
afterAll(() => harness.close());
beforeEach(() => harness.clear());

async function expectNotReady(id: string): Promise<void> {
  const answer = await harness.get(`${id}/content`);
  expect([answer.status, answer.json]).toMatchObject([409, { error: { code: 'task_not_ready' } }]);
}

describe('GET /v1/tasks/{id}/content of a dub', () => {
  it('gives ranges whose pieces join to the file (CONTENT-04, CONTENT-05, G-63)', async () => {
    const { id } = await harness.submit();
    await harness.ended(id);
    const whole = (await harness.get(`${id}/content`)).bytes;
    const size = whole.length;
    const range = async (bytes: string) => {
      const answer = await harness.get(`${id}/content`, { range: `bytes=${bytes}` });
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

  it('is not there while the task is queued and while it is processing (CONTENT-06)', async () => {
    const queued = await harness.submit({ source_url: harness.source('[[sandbox:status=503]]') });
    const taken = await harness.submit({ source_url: harness.source(NEVER) });
    while ((await harness.task(taken.id)).status === 'queued') await sleep(20);
    expect((await harness.task(queued.id)).status).toBe('queued');
    await expectNotReady(queued.id);
    expect((await harness.task(taken.id)).status).toBe('processing');
    await expectNotReady(taken.id);
  });

  it('is not there after a failure, after expiry, or while the outcome is unknown (CONTENT-07, G-63)', async () => {
    const failing = await harness.submit({
      source_url: harness.source('[[sandbox:task-ms=0]][[sandbox:task-fails]]'),
    });
    const unknown = await harness.submit({ source_url: harness.source('[[sandbox:html]]') });
    const late = await harness.submit({ source_url: harness.source(NEVER) });
    await harness.gateway.dataSource.query(
      `UPDATE task SET created_at = created_at - interval '1 day' WHERE id = $1`,
      [fromPublicId('task', late.id)],
    );
    const ends = [
      [failing.id, 'failed'],
      [unknown.id, 'reconciliation_required'],
      [late.id, 'expired'],
    ] as const;
    for (const [id, status] of ends) {
      expect((await harness.ended(id)).status).toBe(status);
      await expectNotReady(id);
    }
  });

  it('is not there for others, or without a key (CONTENT-09, CONTENT-10)', async () => {
    const { id } = await harness.submit();
    await harness.ended(id);
    const open = await send(`${harness.gateway.url}/v1/tasks/${id}/content`);
    expect([open.status, open.json]).toMatchObject([401, { error: { code: 'invalid_token' } }]);
    const other = await harness.gateway.account();
    const foreign = await harness.get(`${id}/content`, other.headers);
    expect([foreign.status, foreign.json]).toMatchObject([
      404,
      { error: { code: 'task_not_found' } },
    ]);
    const unknown = await harness.get(`task_${'0'.repeat(32)}/content`);
    expect([unknown.status, unknown.json]).toEqual([404, foreign.json]);
  });

  it('costs nothing (CONTENT-12)', async () => {
    const { id } = await harness.submit();
    await harness.ended(id);
    const before = await harness.gateway.balance(harness.account.accountId);
    for (let time = 0; time < 3; time += 1) await harness.get(`${id}/content`);
    expect(await harness.gateway.balance(harness.account.accountId)).toEqual(before);
  });
});
