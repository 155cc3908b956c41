import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { text } from 'node:stream/consumers';
import { fromPublicId } from '../../../src/common/ids/public-id.js';
import { StoredFiles } from '../../../src/platform/storage/stored-files.js';
import { DubbingHarness, silentWav } from '../../support/dubbing-harness.js';
import { ADMIN_TOKEN } from '../../support/gateway.js';
import { type Answer, errorOf, postJson, send } from '../../support/http-answer.js';

const ASYNC = { prefer: 'respond-async' };
const SPEECH = '/v1/audio/speech';
const HELLO = { model: 'aud-v4', input: 'Hello', voice: 'Adam' };
const SECRET = 'a secret of sixteen';
const UNUSABLE = 'The provider gave no answer that can be used.';

let harness: DubbingHarness;
beforeAll(async () => {
  harness = await DubbingHarness.open();
});
afterAll(async () => {
  await harness.gateway.expectCleanBooks();
  await harness.close();
});
beforeEach(() => harness.clear());

function post(path: string, body: object, headers: object = ASYNC): Promise<Answer> {
  const { gateway, account } = harness;
  return postJson(gateway.url + path, { ...account.headers, ...headers }, body);
}

const idOf = (answer: Answer): string => (answer.json as { id: string }).id;

describe('the record of a call as a task', () => {
  it("has what was counted and the provider's id of the request, by which bills are compared", async () => {
    const answer = await post(SPEECH, HELLO);
    await harness.ended(idOf(answer));
    const url = `${harness.gateway.url}/admin/tasks/${idOf(answer)}`;
    const seen = await send(url, { headers: { authorization: `Bearer ${ADMIN_TOKEN}` } });
    expect(seen.json).toMatchObject({
      unit: 'code_point',
      quantity: 5,
      provider_job_id: expect.stringMatching(/./),
    });
    const [usage] = await harness.gateway.dataSource.query<{ quantity: string }[]>(
      'SELECT quantity FROM usage_call WHERE account_id = $1',
      [harness.account.accountId],
    );
    expect(Number(usage?.quantity)).toBe(5);
  });

  it('has words that lie encrypted in the storage, and are read whole or in a range', async () => {
    harness.serve(silentWav(2));
    const { gateway, host } = harness;
    const words = 'Zanzibar marmalade';
    const body = { model: 'aud-forced-alignment', text: words, audio_url: `${host.url}/a.wav` };
    const id = idOf(await post('/v1/audio/alignment', body));
    await harness.ended(id);
    const whole = await harness.get(`${id}/content`);
    expect(whole.bytes.toString()).toContain('Zanzibar');
    expect(whole.headers.get('content-length')).toBe(String(whole.bytes.length));
    const part = await harness.get(`${id}/content`, { range: 'bytes=3-9' });
    expect([part.status, part.bytes.toString()]).toEqual([
      206,
      whole.bytes.toString().slice(3, 10),
    ]);
    const [file] = await gateway.dataSource.query<{ id: string; account_id: string }[]>(
      `SELECT id, account_id FROM stored_file WHERE owner_id = $1`,
      [fromPublicId('task', id)],
    );
    const stored = await gateway.app.get(StoredFiles).kept(file?.account_id ?? '', file?.id ?? '');
    const bytes = await text(await stored.open());
    expect(bytes).toMatch(/^v1[.]/);
    expect(bytes).not.toContain('Zanzibar');
  });

  it('is bought by a quote of the call, with a webhook beside it', async () => {
    const { gateway, account } = harness;
    const asked = { method: 'POST', path: SPEECH, body: HELLO };
    const quote = await postJson(`${gateway.url}/v1/quotes`, account.headers, asked);
    const { id } = quote.json as { id: string };
    const hook = { webhook: harness.receiver.url, webhook_secret: SECRET };
    const answer = await post(SPEECH, { ...HELLO, ...hook }, { ...ASYNC, 'x-gateway-quote': id });
    expect(answer.status === 202 ? '' : answer.bytes.toString()).toBe('');
    await harness.ended(idOf(answer));
  });

  it('is a call where the preference is only in a quoted text', async () => {
    const prefer = 'note="please, respond-async, thanks"';
    expect((await post(SPEECH, HELLO, { prefer })).status).toBe(200);
  });

  it('is refused with the code of dubs for a webhook on the own host', async () => {
    const hook = { webhook: 'https://localhost/x', webhook_secret: SECRET };
    const answer = await post(SPEECH, { ...HELLO, ...hook });
    expect([answer.status, errorOf(answer).code]).toEqual([400, 'invalid_task_command']);
  });
});

describe('a call as a task that fails', () => {
  it('is free, and says what the provider refused', async () => {
    const answer = await post(SPEECH, { ...HELLO, input: '[[sandbox:status=400]]' });
    const task = await harness.ended(idOf(answer));
    expect(task).toMatchObject({
      status: 'failed',
      charged_microusd: null,
      error: { code: 'provider_task_failed' },
    });
    const content = await harness.get(`${idOf(answer)}/content`);
    expect([content.status, errorOf(content).code]).toEqual([409, 'task_not_ready']);
    expect(await harness.gateway.balance(harness.account.accountId)).toMatchObject({ held: 0n });
  });

  it.each([
    ['breaks off', '[[sandbox:break-body]]', 'The provider broke off its answer.'],
    ['answers with a page', '[[sandbox:html]]', UNUSABLE],
    ['loses its answer', '[[sandbox:lost-answer]]', UNUSABLE],
  ])('is free and is not sent again where the provider %s', async (_what, input, message) => {
    const answer = await post(SPEECH, { ...HELLO, input });
    const task = await harness.ended(idOf(answer));
    expect(task).toMatchObject({ status: 'failed', charged_microusd: null, error: { message } });
    expect(await harness.gateway.balance(harness.account.accountId)).toMatchObject({
      entries: 1,
      held: 0n,
    });
    const rows = await harness.gateway.dataSource.query<object[]>(
      'SELECT FROM stored_file WHERE account_id = $1 AND expires_at > now()',
      [harness.account.accountId],
    );
    expect(rows).toHaveLength(0);
  });

  it('for want of money is refused as the call is', async () => {
    await harness.clear(100n);
    const answer = await post(SPEECH, HELLO);
    expect([answer.status, errorOf(answer).code]).toEqual([402, 'insufficient_funds']);
  });
});
