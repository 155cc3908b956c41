import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { setTimeout as sleep } from 'node:timers/promises';
import { fromPublicId, toPublicId } from '../../../src/common/ids/public-id.js';
import { signatureOf } from '../../../src/webhooks/webhook-signature.js';
import { DubbingHarness } from '../../support/dubbing-harness.js';
import { ADMIN_TOKEN } from '../../support/gateway.js';
import { type Answer, postJson, send } from '../../support/http-answer.js';

const SECRET = 'a secret of the caller';
const SOON = '[[sandbox:task-ms=0]]';
const FAILS = '[[sandbox:task-ms=0]][[sandbox:task-fails]]';
const UNKNOWN = '[[sandbox:lost-answer]]';
const NEVER = '[[sandbox:task-ms=3600000]]';
const FIVE_MINUTES_S = 300;
const DELAY_MS = 200;

interface DeliveryObject {
  readonly id: string;
  readonly task_id: string;
  readonly url: string;
  readonly status: string;
  readonly attempts: readonly { readonly status_code: number | null }[];
  readonly next_attempt_at: number | null;
}

let harness: DubbingHarness;

beforeAll(async () => {
  harness = await DubbingHarness.open({ WEBHOOK_RETRY_DELAYS_MS: `${DELAY_MS},${DELAY_MS}` });
});
afterAll(() => harness.close());
beforeEach(() => harness.clear());

const hook = () => ({ webhook: harness.receiver.url, webhook_secret: SECRET });
const dataOf = (answer: Answer) => (answer.json as { data: DeliveryObject[] }).data;
const deliveries = async (id: string) => dataOf(await harness.get(`${id}/deliveries`));

/** The deliveries of a task, after none is due any more. */
async function settled(id: string): Promise<DeliveryObject[]> {
  for (;;) {
    const all = await deliveries(id);
    if (all.length > 0 && all.every(({ status }) => status !== 'pending')) return all;
    await sleep(20);
  }
}

async function resolveAsFailed(id: string): Promise<void> {
  const url = `${harness.gateway.url}/admin/tasks/${id}/resolve`;
  const headers = { authorization: `Bearer ${ADMIN_TOKEN}` };
  expect((await postJson(url, headers, { outcome: 'failed' })).status).toBe(200);
}

function post(path: string, headers: Record<string, string>): Promise<Answer> {
  return send(`${harness.gateway.url}${path}`, { method: 'POST', headers });
}

describe('a webhook', () => {
  it('reports the final state once, signed, with the same body as GET (HOOK-01, HOOK-05, HOOK-09, HOOK-10, HOOK-35)', async () => {
    const seen: { raw: Buffer; task: unknown; signature: unknown; type: unknown }[] = [];
    harness.receiver.react((response, { body, headers }) => {
      // What GET answers while the receiver has not answered yet.
      const { id } = JSON.parse(body.toString()) as { id: string };
      void harness.get(id).then((answer) => {
        seen.push({
          raw: body,
          task: answer.json,
          signature: headers['x-shim-signature'],
          type: headers['content-type'],
        });
        response.writeHead(200).end();
      });
    });
    const { id } = await harness.submit({ source_url: harness.source(SOON), ...hook() });
    await settled(id);
    expect(harness.receiver.received).toHaveLength(1);
    const [{ raw, task, signature, type } = { raw: Buffer.alloc(0) }] = seen;
    expect(JSON.parse(raw.toString())).toEqual(task);
    expect(task).toMatchObject({ id, status: 'succeeded', charged_microusd: '12500' });
    expect(type).toBe('application/json');
    const [, t = ''] = /^t=(\d+),v1=[0-9a-f]{64}$/.exec(String(signature)) ?? [];
    expect(Math.abs(Number(t) - Date.now() / 1000)).toBeLessThan(FIVE_MINUTES_S);
    expect(signature).toBe(signatureOf(SECRET, Number(t), raw));
  });

  it('reports a failure, after the hold was released (HOOK-07)', async () => {
    const { id } = await harness.submit({ source_url: harness.source(FAILS), ...hook() });
    await settled(id);
    expect(JSON.parse(harness.receiver.received[0]?.body.toString() ?? '')).toMatchObject({
      id,
      status: 'failed',
      result: null,
      error: { code: 'provider_task_failed', message: expect.stringMatching(/./) },
    });
    expect(await harness.gateway.balance(harness.account.accountId)).toMatchObject({ held: 0n });
  });

  it('reports an unknown outcome, and again the decision of an operator (HOOK-02, G-55)', async () => {
    const { id } = await harness.submit({ source_url: harness.source(UNKNOWN), ...hook() });
    await settled(id);
    await resolveAsFailed(id);
    await harness.receiver.until(2);
    expect(await settled(id)).toHaveLength(2);
    const told = harness.receiver.received.map(
      ({ body }) => JSON.parse(body.toString()) as unknown,
    );
    expect(told).toMatchObject([
      { id, status: 'reconciliation_required' },
      { id, status: 'failed' },
    ]);
  });

  it('of an unknown outcome is not tried again once an operator has decided (HOOK-02)', async () => {
    harness.receiver.react(500);
    const { id } = await harness.submit({ source_url: harness.source(UNKNOWN), ...hook() });
    await settled(id);
    // As between two attempts of the real schedule, whose last wait takes two hours.
    const own = `owner_id = '${fromPublicId('task', id) ?? ''}'`;
    await harness.gateway.dataSource.query(
      `UPDATE webhook_delivery SET status = 'pending', retry = 0, due_at = now() + interval '2 hours' WHERE ${own}`,
    );
    harness.receiver.react(204);
    await resolveAsFailed(id);
    const [first, second] = await settled(id);
    expect([first?.status, second?.status].sort()).toEqual(['delivered', 'failed']);
    const told = harness.receiver.received.map(
      ({ body }) => JSON.parse(body.toString()) as unknown,
    );
    expect(told.at(-1)).toMatchObject({ id, status: 'failed' });
  });

  it('is not sent before the end, nor for a task without a webhook (HOOK-03, HOOK-04)', async () => {
    const open = await harness.submit({ source_url: harness.source(NEVER), ...hook() });
    const quiet = await harness.submit({ source_url: harness.source(SOON) });
    await harness.ended(quiet.id);
    while ((await harness.task(open.id)).status !== 'processing') await sleep(20);
    expect(await deliveries(open.id)).toEqual([]);
    expect(await deliveries(quiet.id)).toEqual([]);
    expect(harness.receiver.received).toHaveLength(0);
  });

  it('that no receiver accepts changes neither task nor charge (HOOK-23, TASK-27)', async () => {
    harness.receiver.react(500);
    const { id } = await harness.submit({ source_url: harness.source(SOON), ...hook() });
    const [delivery] = await settled(id);
    expect(delivery).toMatchObject({ status: 'failed', next_attempt_at: null });
    expect(delivery?.attempts.map((attempt) => attempt.status_code)).toEqual([500, 500, 500]);
    const bodies = new Set(harness.receiver.received.map(({ body }) => body.toString()));
    expect(bodies.size).toBe(1);
    expect(await harness.task(id)).toMatchObject({
      status: 'succeeded',
      charged_microusd: '12500',
    });
  });

  it('never shows its secret (HOOK-34)', async () => {
    const { id } = await harness.submit({ source_url: harness.source(SOON), ...hook() });
    await settled(id);
    const admin = { authorization: `Bearer ${ADMIN_TOKEN}` };
    const answers = await Promise.all([
      harness.get(id),
      harness.get(`${id}/deliveries`),
      harness.get(''),
      send(`${harness.gateway.url}/admin/tasks/${id}`, { headers: admin }),
      send(`${harness.gateway.url}/admin/webhook-deliveries?task_id=${id}`, { headers: admin }),
    ]);
    for (const answer of answers) {
      expect(answer.status).toBe(200);
      expect(answer.bytes.toString()).not.toContain(SECRET);
    }
    const tables = await harness.gateway.dataSource.query<{ row: string }[]>(
      `SELECT d::text || convert_from(d.body, 'UTF8') AS row FROM webhook_delivery d
        UNION ALL SELECT t::text FROM task t`,
    );
    for (const { row } of tables) expect(row).not.toContain(SECRET);
  });
});

describe('the log of deliveries', () => {
  it('shows every attempt, to the account and to the operator', async () => {
    harness.receiver.react(404);
    const { id } = await harness.submit({ source_url: harness.source(SOON), ...hook() });
    const [delivery] = await settled(id);
    expect(delivery).toEqual({
      id: expect.stringMatching(/^whd_[0-9a-f]{32}$/),
      object: 'webhook_delivery',
      task_id: id,
      endpoint_id: null,
      event: null,
      url: harness.receiver.url,
      status: 'failed',
      attempts: [
        {
          at: expect.any(Number),
          status_code: 404,
          error: null,
          duration_ms: expect.any(Number),
        },
      ],
      next_attempt_at: null,
      created_at: expect.any(Number),
    });
    const headers = { authorization: `Bearer ${ADMIN_TOKEN}` };
    const list = `${harness.gateway.url}/admin/webhook-deliveries`;
    const asked = await send(`${list}?task_id=${id}&status=failed`, { headers });
    // Operators also see whose it is.
    const { accountId } = harness.account;
    expect(dataOf(asked)).toEqual([
      { ...(delivery as object), account_id: toPublicId('acct', accountId) },
    ]);
    expect(dataOf(await send(`${list}?task_id=${id}&status=delivered`, { headers }))).toEqual([]);
  });

  it('lets the key holder and the operator deliver again', async () => {
    harness.receiver.react(410);
    const { id } = await harness.submit({ source_url: harness.source(SOON), ...hook() });
    const [delivery] = await settled(id);
    harness.receiver.react(204);
    const own = `/v1/tasks/${id}/deliveries/${delivery?.id ?? ''}/redeliver`;
    const again = await post(own, harness.account.headers);
    expect([again.status, again.json]).toMatchObject([202, { id: delivery?.id }]);
    await harness.receiver.until(2);
    expect(await settled(id)).toMatchObject([
      { status: 'delivered', attempts: [{ status_code: 410 }, { status_code: 204 }] },
    ]);
    const operators = `/admin/webhook-deliveries/${delivery?.id ?? ''}/redeliver`;
    const byOperator = await post(operators, { authorization: `Bearer ${ADMIN_TOKEN}` });
    expect(byOperator.status).toBe(202);
    await harness.receiver.until(3);
    expect((await settled(id))[0]?.attempts).toHaveLength(3);
  });

  it('is not readable by other accounts', async () => {
    const { id } = await harness.submit({ source_url: harness.source(SOON), ...hook() });
    const [delivery] = await settled(id);
    const other = await harness.gateway.account();
    const list = await harness.get(`${id}/deliveries`, other.headers);
    expect([list.status, list.json]).toMatchObject([404, { error: { code: 'task_not_found' } }]);
    const path = `/v1/tasks/${id}/deliveries/${delivery?.id ?? ''}/redeliver`;
    expect((await post(path, other.headers)).status).toBe(404);
    expect((await send(`${harness.gateway.url}/v1/tasks/${id}/deliveries`)).status).toBe(401);
    const unknown = `/v1/tasks/${id}/deliveries/whd_${'0'.repeat(32)}/redeliver`;
    const answer = await post(unknown, harness.account.headers);
    expect([answer.status, answer.json]).toMatchObject([404, { error: { code: 'not_found' } }]);
    const admin = { authorization: `Bearer ${ADMIN_TOKEN}` };
    expect((await post('/admin/webhook-deliveries/whd_1/redeliver', admin)).status).toBe(404);
    const bad = await send(`${harness.gateway.url}/admin/webhook-deliveries?task_id=5`, {
      headers: admin,
    });
    expect([bad.status, bad.json]).toMatchObject([400, { error: { param: 'task_id' } }]);
    expect(harness.receiver.received).toHaveLength(1);
  });
});
