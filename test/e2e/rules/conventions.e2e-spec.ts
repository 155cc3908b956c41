import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import {
  ADMIN_TOKEN,
  startTestGateway,
  type TestAccount,
  type TestGateway,
} from '../../support/gateway.js';
import { type Answer, errorOf, postJson, send } from '../../support/http-answer.js';
import {
  HELLO,
  PAID_ENDPOINTS,
  READ_PATHS,
  TASK_READS,
  TASK_SUBMISSIONS,
} from '../../support/paid-endpoints.js';
import { expectRefused } from '../../support/refusal.js';
import { type RecordingServer, startRecordingServer } from '../../support/recording-server.js';

/** Names of vendors and of their models, which no caller may see. */
const VENDOR = /eleven|openai|gpt-|ttapi|suno|scribe_/i;
/** Images in base64 are random letters, which may spell a name by chance. */
const PICTURE = /"b64_json":"[^"]*"/;
const NOW_SECONDS = /^[1-9]\d{9}$/;

/** Every endpoint that does work. */
const POSTS = [...PAID_ENDPOINTS, ...TASK_SUBMISSIONS];

let recordings: RecordingServer;
/** Without it, responses leave unknown fields out (decision G-107). */
const STRICT = { 'x-gateway-strict': 'true' };

let gateway: TestGateway;
let account: TestAccount;

beforeAll(async () => {
  recordings = await startRecordingServer();
  gateway = await startTestGateway(recordings.settings);
  account = await gateway.account();
});
afterAll(async () => {
  await gateway.expectCleanBooks();
  await gateway.stop();
  await recordings.stop();
});

const post = (path: string, body: unknown, headers: Record<string, string> = {}) =>
  postJson(gateway.url + path, { ...account.headers, ...headers }, body);
const get = (path: string, headers: Record<string, string> = account.headers) =>
  send(gateway.url + path, { headers });

describe('a path', () => {
  it.each([...POSTS.map((row) => row.path), ...READ_PATHS, ...TASK_READS])(
    '%s without its prefix is not served (CONV-02)',
    async (path) => {
      for (const method of ['GET', 'POST']) {
        const init = { method, headers: account.headers };
        const answer = await send(gateway.url + path.replace('/v1', ''), init);
        expect({ status: answer.status, code: errorOf(answer).code }).toEqual({
          status: 404,
          code: 'not_found',
        });
      }
    },
  );

  it('in another case is unknown', async () => {
    for (const path of ['/V1/audio/speech', '/v1/Audio/speech', '/v1/audio/SPEECH']) {
      const answer = await post(path, HELLO);
      expect([path, answer.status, errorOf(answer).code]).toEqual([path, 404, 'not_found']);
    }
  });

  it('with a slash at its end is recorded without it', async () => {
    const answer = await post('/v1/audio/speech/', HELLO);
    expect(answer.status).toBe(200);
    const id = answer.headers.get('x-gateway-execution-id');
    const execution = (await get(`/v1/executions/${id}`)).json;
    expect(execution).toMatchObject({ endpoint: '/v1/audio/speech', status: 'succeeded' });
  });

  it.each(['/v1/nothing', '/v1', '/v1/audio', '/v1/audio/speech/x', '/nothing', '/v1/%ff'])(
    '%s that is unknown is told in the envelope (CONV-15, G-12)',
    async (path) => {
      for (const method of ['GET', 'POST', 'DELETE']) {
        const answer = await send(gateway.url + path, { method, headers: account.headers });
        expect([answer.status, errorOf(answer).code]).toEqual([404, 'not_found']);
      }
    },
  );

  it.each(POSTS)(
    '$path accepts POST and no other method (CONV-09, CONV-15, G-12)',
    async ({ path }) => {
      for (const method of ['GET', 'PUT', 'DELETE', 'PATCH']) {
        const answer = await send(gateway.url + path, { method, headers: account.headers });
        expect({ status: answer.status, ...errorOf(answer) }).toMatchObject({
          status: 405,
          code: 'method_not_allowed',
        });
        expect(answer.headers.get('allow')).toBe('POST');
      }
    },
  );

  it.each(TASK_READS)(
    '%s exists, and tells only that nobody has the task (CONV-09)',
    async (path) => {
      const answer = await get(path);
      expect([answer.status, errorOf(answer)]).toMatchObject([
        404,
        { code: 'task_not_found', param: 'id', message: 'No such task.' },
      ]);
    },
  );

  it.each([...READ_PATHS, ...TASK_READS])(
    '%s takes GET and nothing else (CONV-15)',
    async (path) => {
      const answer = await post(path, {});
      expect(answer.status).toBe(405);
      expect(answer.headers.get('allow')).toMatch(/\bGET\b/);
    },
  );

  it.each(PAID_ENDPOINTS)('POST $path exists (CONV-09)', async ({ path, body }) => {
    const answer = await post(path, { ...body(recordings.url), foo: 1 }, STRICT);
    expect(answer.status).toBe(400);
  });
});

describe('a JSON body', () => {
  it.each(PAID_ENDPOINTS)('of $path may name its charset (CONV-03)', async ({ path, body }) => {
    const type = { 'content-type': 'application/json; charset=utf-8' };
    const answer = await post(path, body(recordings.url), type);
    expect(answer.status === 200 ? '' : answer.bytes.toString()).toBe('');
  });

  it.each([
    'application/json;charset=UTF-8',
    'APPLICATION/JSON',
    'application/json; charset="utf-8"',
  ])('is taken as %s (CONV-03)', async (type) => {
    expect((await post('/v1/audio/speech', HELLO, { 'content-type': type })).status).toBe(200);
  });

  it.each(PAID_ENDPOINTS)(
    'with a field too many is refused by $path (CONV-01, CONV-07)',
    async (row) => {
      const call = () => post(row.path, { ...row.body(recordings.url), foo: 1 }, STRICT);
      await expectRefused(gateway, account.accountId, call, {
        status: 400,
        code: 'invalid_request',
        param: 'foo',
      });
    },
  );

  it.each(PAID_ENDPOINTS)('that is no object is refused by $path (CONV-12, G-03)', async (row) => {
    const texts = ['{', '', ' ', '[]', '"text"', '5', 'null', 'true', '{"model":}', "{'a':1}"];
    for (const text of texts) {
      const call = () => post(row.path, text);
      const refusal = { status: 400, code: 'invalid_request', param: null };
      await expectRefused(gateway, account.accountId, call, refusal);
    }
  });

  it.each(TASK_SUBMISSIONS)(
    'that is no JSON object, or has a field too many, is refused by $path (CONV-07, CONV-08, CONV-12)',
    async ({ path, model, invalid }) => {
      const bodies: readonly (readonly [unknown, string | null])[] = [
        ...['{', '', ' ', '[]', '"text"', '5', 'null', 'true'].map((text) => [text, null] as const),
        [{ model: null }, 'model'],
        [{ model, foo: 1 }, 'foo'],
      ];
      for (const [body, param] of bodies) {
        const refusal = { status: 400, code: invalid, param };
        await expectRefused(gateway, account.accountId, () => post(path, body), refusal);
      }
    },
  );

  it.each(PAID_ENDPOINTS)('with a null model has none for $path (CONV-13, G-03)', async (row) => {
    const call = () => post(row.path, { ...row.body(recordings.url), model: null });
    await expectRefused(gateway, account.accountId, call, {
      status: 400,
      code: 'invalid_request',
      param: 'model',
    });
  });
});

describe('an answer', () => {
  const answers: Answer[] = [];

  it.each(PAID_ENDPOINTS)('of $path is the result itself (CONV-10)', async ({ path, body }) => {
    const answer = await post(path, body(recordings.url));
    expect(answer.status === 200 ? '' : answer.bytes.toString()).toBe('');
    expect(answer.headers.get('location')).toBeNull();
    expect(answer.headers.get('x-gateway-task-id')).toBeNull();
    answers.push(answer);
  });

  it.each(PAID_ENDPOINTS)('of $path has its own execution id (AUD-02, AUD-04, G-47)', (row) => {
    const ids = answers.map((answer) => answer.headers.get('x-gateway-execution-id'));
    expect(ids[PAID_ENDPOINTS.indexOf(row)]).toMatch(/^exec_[0-9a-f]{32}$/);
    expect(new Set(ids).size).toBe(PAID_ENDPOINTS.length);
  });

  it('names no vendor and no upstream model (CONV-06)', async () => {
    const executions = answers.map((answer) =>
      get(`/v1/executions/${answer.headers.get('x-gateway-execution-id') ?? ''}`),
    );
    const reads = [...READ_PATHS, '/v1/nothing', '/v1/models/nothing'].map((path) => get(path));
    for (const answer of [...answers, ...(await Promise.all([...executions, ...reads]))]) {
      const isText = answer.headers.get('content-type')?.startsWith('application/json') ?? false;
      const headers = JSON.stringify([...answer.headers]);
      const body = isText ? answer.bytes.toString().replace(PICTURE, '') : '';
      expect(headers + body).not.toMatch(VENDOR);
    }
  });

  it('writes times as whole epoch seconds and money as digits (CONV-04, CONV-05)', async () => {
    const id = answers[0]?.headers.get('x-gateway-execution-id') ?? '';
    const execution = (await get(`/v1/executions/${id}`)).json as Record<string, unknown>;
    const { data } = (await get('/v1/models')).json as { data: { created: unknown }[] };
    const times = [execution.created_at, execution.completed_at, data[0]?.created];
    for (const time of times) {
      expect(typeof time).toBe('number');
      expect(String(time)).toMatch(NOW_SECONDS);
    }
    const balance = (await get('/v1/account')).json as Record<string, unknown>;
    const amounts = [
      execution.charged_microusd,
      balance.available_microusd,
      balance.held_microusd,
      answers[0]?.headers.get('x-gateway-charge-microusd'),
    ];
    for (const amount of amounts) expect(amount).toMatch(/^(0|[1-9]\d*)$/);
  });

  it('carries no banner, no ETag, and may not be framed or sniffed', async () => {
    const { headers } = await get('/v1/models');
    expect(headers.get('x-powered-by')).toBeNull();
    expect(headers.get('server')).toBeNull();
    expect(headers.get('x-content-type-options')).toBe('nosniff');
  });

  it('of the health endpoints needs no key, and the metrics count the calls', async () => {
    expect((await send(`${gateway.url}/health/live`)).status).toBe(200);
    expect((await send(`${gateway.url}/health/ready`)).status).toBe(200);
    const metrics = (await send(`${gateway.url}/metrics`)).bytes.toString();
    expect(metrics).toMatch(/elevenlabs|speech/);
    expect(metrics).not.toContain(account.key);
    expect(metrics).not.toContain(ADMIN_TOKEN);
  });
});
