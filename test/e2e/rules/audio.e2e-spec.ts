import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { type AudioOperation, AUDIO_OPERATIONS, call } from '../../support/audio-operations.js';
import { ADMIN_TOKEN, startTestGateway, type TestGateway } from '../../support/gateway.js';
import { postJson, send } from '../../support/http-answer.js';
import { HELLO } from '../../support/paid-endpoints.js';
import { expectRefused, upstreamCalls } from '../../support/refusal.js';

const folder = mkdtempSync(join(tmpdir(), 'shim-catalog-'));

let gateway: TestGateway;
/** The model of every operation is disabled. */
let withoutModels: TestGateway;

beforeAll(async () => {
  const disabled = [HELLO, ...AUDIO_OPERATIONS.map(({ body }) => body)];
  const models = disabled.map(({ model }) => ({ id: model, enabled: false }));
  const file = join(folder, 'overlay.json');
  writeFileSync(file, JSON.stringify({ models }));
  [gateway, withoutModels] = await Promise.all([
    startTestGateway(),
    startTestGateway({ CATALOG_FILE: file }),
  ]);
});
afterAll(async () => {
  for (const each of [gateway, withoutModels]) {
    await each.expectCleanBooks();
    await each.stop();
  }
  rmSync(folder, { recursive: true });
});

/** A test of every operation. `rows` are in the order of AUDIO_OPERATIONS. */
const rule = (...rows: string[]) =>
  it.each(AUDIO_OPERATIONS.map((operation, at) => [operation.path, rows[at], operation] as const));

/** Sends a whole request without a recording, if the operation accepts JSON. */
const sendJson = (operation: AudioOperation, headers: Record<string, string>, fields: object) =>
  postJson(`${gateway.url}${operation.path}`, headers, {
    ...operation.body,
    ...(operation.takesRecording && { audio_url: 'https://media.example.com/a.wav' }),
    ...fields,
  });

describe('every synchronous audio endpoint', () => {
  const ids: string[] = [];

  rule(
    'DLG-01',
    'SFX-01',
    'MUSIC-01',
    'STT-01',
    'ALIGN-01',
    'VC-01',
    'ISO-01',
  )(
    '%s answers the smallest request, charged once, under an id of its own (%s, AUD-01, AUD-02, AUD-03, AUD-04)',
    async (path, _row, operation) => {
      const { accountId, headers } = await gateway.account(operation.price * 2n);
      const callsBefore = await upstreamCalls(gateway);
      const answer = await call(operation, gateway.url, headers);
      expect(answer.status === 200 ? '' : answer.bytes.toString()).toBe('');
      expect(await gateway.balance(accountId)).toEqual({
        available: operation.price,
        held: 0n,
        entries: 2,
      });
      expect((await upstreamCalls(gateway)) - callsBefore).toBe(1);
      expect(answer.headers.get('x-gateway-charge-microusd')).toBe(operation.price.toString());
      const type = operation.answersJson ? 'application/json; charset=utf-8' : 'audio/mpeg';
      expect(answer.headers.get('content-type')).toBe(type);
      if (!operation.answersJson) expect(answer.headers.get('cache-control')).toBe('no-store');
      const id = answer.headers.get('x-gateway-execution-id') ?? '';
      expect(ids).not.toContain(id);
      ids.push(id);
      const record = await send(`${gateway.url}/admin/executions/${id}`, {
        headers: { authorization: `Bearer ${ADMIN_TOKEN}` },
      });
      expect(record.json).toMatchObject({
        id,
        endpoint: path,
        status: 'succeeded',
        charged_microusd: operation.price.toString(),
      });
    },
  );

  rule(
    'DLG-02',
    'SFX-02',
    'MUSIC-02',
    'STT-02',
    'ALIGN-02',
    'VC-02',
    'ISO-02',
  )(
    '%s refuses an Idempotency-Key before it looks at the body (%s, IDEM-14)',
    async (path, _row, _operation) => {
      const { accountId, headers } = await gateway.account();
      const refusal = { status: 400, code: 'idempotency_not_supported', param: 'Idempotency-Key' };
      const url = `${gateway.url}${path}`;
      const broken = () => postJson(url, { ...headers, 'idempotency-key': 'abc' }, '{broken');
      await expectRefused(gateway, accountId, broken, refusal);
    },
  );

  rule(
    'DLG-03',
    'SFX-03',
    'MUSIC-03',
    'STT-03',
    'ALIGN-03',
    'VC-03',
    'ISO-03',
  )('%s refuses unlisted fields by name (%s, AUD-53)', async (_path, _row, operation) => {
    const { accountId, headers } = await gateway.account();
    for (const param of ['foo', 'webhook', 'declared_duration', 'input']) {
      const refusal = { status: 400, code: 'invalid_request', param };
      await expectRefused(
        gateway,
        accountId,
        () => call(operation, gateway.url, headers, { [param]: '1' }),
        refusal,
      );
      await expectRefused(
        gateway,
        accountId,
        () => sendJson(operation, headers, { [param]: 1 }),
        refusal,
      );
    }
  });

  rule(
    'DLG-04',
    'SFX-04',
    'MUSIC-04',
    'STT-04',
    'ALIGN-04',
    'VC-04',
    'ISO-04',
  )('%s refuses a request without a model (%s)', async (_path, _row, operation) => {
    const { accountId, headers } = await gateway.account();
    for (const model of [undefined, '', 5, null]) {
      await expectRefused(gateway, accountId, () => sendJson(operation, headers, { model }), {
        status: 400,
        code: 'invalid_request',
        param: 'model',
      });
    }
  });

  rule(
    'DLG-05',
    'SFX-05',
    'MUSIC-05',
    'STT-05',
    'ALIGN-05',
    'VC-05',
    'ISO-05',
  )('%s knows neither other models nor disabled ones (%s)', async (_path, _row, operation) => {
    const refusal = { status: 404, code: 'model_not_available', param: 'model' };
    for (const [where, fields] of [
      [gateway, { model: 'aud-v9' }],
      [withoutModels, {}],
    ] as const) {
      const { accountId, headers } = await where.account();
      const send = () => call(operation, where.url, headers, fields);
      await expectRefused(where, accountId, send, refusal);
    }
  });

  rule(
    'DLG-06',
    'SFX-06',
    'MUSIC-06',
    'STT-06',
    'ALIGN-06',
    'VC-06',
    'ISO-06',
  )(
    '%s refuses a model of another endpoint, telling SDKs not to retry (%s)',
    async (_path, _row, operation) => {
      const { accountId, headers } = await gateway.account();
      const { answer } = await expectRefused(
        gateway,
        accountId,
        () => call(operation, gateway.url, headers, { model: operation.wrongModel }),
        { status: 503, code: 'no_eligible_route', param: 'model' },
      );
      expect(answer.headers.get('x-should-retry')).toBe('false');
    },
  );

  rule(
    'DLG-07',
    'SFX-07',
    'MUSIC-07',
    'STT-07',
    'ALIGN-07',
    'VC-07',
    'ISO-07',
  )(
    '%s refuses a model that the allowlist of the key leaves out (%s)',
    async (_path, _row, operation) => {
      const { accountId, headers } = await gateway.account(1_000_000n, {
        allowedModels: ['aud-v4', operation.wrongModel],
      });
      await expectRefused(gateway, accountId, () => call(operation, gateway.url, headers), {
        status: 403,
        code: 'api_key_model_not_allowed',
        param: 'model',
      });
    },
  );

  rule(
    'DLG-08',
    'SFX-08',
    'MUSIC-08',
    'STT-08',
    'ALIGN-08',
    'VC-08',
    'ISO-08',
  )(
    '%s takes the balance to zero and refuses one micro-USD less (%s)',
    async (_path, _row, operation) => {
      const poor = await gateway.account(operation.price - 1n);
      await expectRefused(
        gateway,
        poor.accountId,
        () => call(operation, gateway.url, poor.headers),
        { status: 402, code: 'insufficient_funds' },
      );
      const exact = await gateway.account(operation.price);
      expect((await call(operation, gateway.url, exact.headers)).status).toBe(200);
      expect(await gateway.balance(exact.accountId)).toMatchObject({ available: 0n, held: 0n });
    },
  );
});

it('speech does not know a disabled model (SPEECH-05)', async () => {
  const { accountId, headers } = await withoutModels.account();
  const speak = () => postJson(`${withoutModels.url}/v1/audio/speech`, headers, HELLO);
  const refusal = { status: 404, code: 'model_not_available', param: 'model' };
  await expectRefused(withoutModels, accountId, speak, refusal);
});
