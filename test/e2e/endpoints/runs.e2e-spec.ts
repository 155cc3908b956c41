import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { ADMIN_TOKEN, startTestGateway, type TestGateway } from '../../support/gateway.js';
import { type Answer, errorOf, postJson, send } from '../../support/http-answer.js';
import { HELLO } from '../../support/paid-endpoints.js';
import { until } from '../../support/until.js';

/** The price of a spoken `Hello`. */
const PRICE = 600;
const CHAT = { model: 'gen-5', messages: [{ role: 'user', content: 'hi' }] };
const SONG = { model: 'tune-music', prompt: 'a song', lyrics: 'la la la' };
const VIDEO = { model: 'vid-omni', prompt: 'a cat', seconds: '10', size: '1280x720' };
const IMAGE = { model: 'gen-image-2', prompt: 'a cat' };

let gateway: TestGateway;
beforeAll(async () => {
  gateway = await startTestGateway({
    RUN_HEADERS: 'Session_Id, x-claude-code-session-id',
    TASK_TICK_MS: '50',
    TASK_POLL_INTERVAL_MS: '50',
  });
});
afterAll(async () => {
  await gateway.expectCleanBooks();
  await gateway.stop();
});

type Headers = Readonly<Record<string, string>>;
const speak = (headers: Headers, run: Headers): Promise<Answer> =>
  postJson(`${gateway.url}/v1/audio/speech`, { ...headers, ...run }, HELLO);
const read = (headers: Headers, path: string): Promise<Answer> =>
  send(`${gateway.url}${path}`, { headers });
const ofRun = (run: string, limit?: number): Headers => ({
  'x-gateway-run': run,
  ...(limit !== undefined && { 'x-gateway-run-limit-microusd': String(limit) }),
});

describe('a run', () => {
  it('counts the calls that name it, with every key of the account, and no others', async () => {
    const { accountId, headers } = await gateway.account();
    const other = { authorization: `Bearer ${await gateway.keyOf(accountId)}` };
    for (const by of [headers, other]) expect((await speak(by, ofRun('job 1'))).status).toBe(200);
    await speak(headers, {});
    await speak(headers, ofRun('job 2'));
    expect((await read(headers, '/v1/runs/job%201')).json).toEqual({
      object: 'run',
      id: 'job 1',
      limit_microusd: null,
      spent_microusd: String(2 * PRICE),
      held_microusd: '0',
      calls: 2,
      created_at: expect.any(Number),
      last_used_at: expect.any(Number),
    });
    const { json } = await read(headers, '/v1/runs?limit=1');
    expect(json).toMatchObject({ object: 'list', data: [{ id: 'job 2' }], has_more: true });
    const { next_cursor: cursor } = json as { next_cursor: string };
    expect((await read(headers, `/v1/runs?cursor=${cursor}`)).json).toMatchObject({
      data: [{ id: 'job 1' }],
      has_more: false,
      next_cursor: null,
    });
  });

  it('groups usage, beside the calls of no run', async () => {
    const { headers } = await gateway.account();
    for (const run of [ofRun('one'), ofRun('one'), ofRun('two'), {}]) await speak(headers, run);
    const { json } = await read(headers, '/v1/usage?group_by=run,model');
    expect((json as { data: unknown }).data).toMatchObject([
      { run: null, model: HELLO.model, calls: 1, charged_microusd: String(PRICE) },
      { run: 'one', model: HELLO.model, calls: 2, charged_microusd: String(2 * PRICE) },
      { run: 'two', model: HELLO.model, calls: 1, charged_microusd: String(PRICE) },
    ]);
    const csv = (await read(headers, '/v1/usage?group_by=run&format=csv')).bytes.toString();
    expect(csv.split('\n')[0]).toMatch(/^run,calls,/);
  });

  it('is named by the record of its call', async () => {
    const { headers } = await gateway.account();
    const answer = await speak(headers, ofRun('named'));
    const id = answer.headers.get('x-gateway-execution-id') ?? '';
    expect((await read(headers, `/v1/executions/${id}`)).json).toMatchObject({ run: 'named' });
    const plain = (await speak(headers, {})).headers.get('x-gateway-execution-id') ?? '';
    expect((await read(headers, `/v1/executions/${plain}`)).json).toMatchObject({ run: null });
  });

  it('lets exactly three of 40 calls at once through where three fit, and 402 names it', async () => {
    const { headers } = await gateway.account();
    const run = ofRun('tight', 3 * PRICE + 1);
    const answers = await Promise.all(Array.from({ length: 40 }, () => speak(headers, run)));
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(3);
    const refused = await speak(headers, ofRun('tight'));
    expect(refused.status).toBe(402);
    expect(errorOf(refused)).toMatchObject({
      code: 'insufficient_funds',
      param: 'x-gateway-run',
      needed_microusd: '600',
      available_microusd: '1',
      message:
        'This request may cost 600 micro-USD, and 1 micro-USD are available. That is what is left of the limit of run "tight".',
    });
    expect((await speak(headers, {})).status).toBe(200);
  });

  it('keeps the limit of its first call: another is 409', async () => {
    const { headers } = await gateway.account();
    await speak(headers, ofRun('first', 5_000));
    const refused = await speak(headers, ofRun('first', 5_001));
    expect(refused.status).toBe(409);
    expect(errorOf(refused)).toMatchObject({
      code: 'conflict',
      param: 'x-gateway-run-limit-microusd',
      message:
        'Run "first" has a limit of 5000 micro-USD, which its first call set. Send that or none.',
    });
    await speak(headers, ofRun('open'));
    expect(errorOf(await speak(headers, ofRun('open', 1))).message).toContain('has no limit');
    const { json } = await read(headers, '/v1/runs/first');
    expect(json).toMatchObject({ limit_microusd: '5000', calls: 1 });
  });

  it('bounds the output cap that is chosen for a chat', async () => {
    const { headers } = await gateway.account();
    const url = `${gateway.url}/v1/chat/completions`;
    const answer = await postJson(url, { ...headers, ...ofRun('agent', 1_000_000) }, CHAT);
    expect(answer.headers.get('x-gateway-output-cap')).toBe('12500');
    expect(answer.headers.get('x-gateway-output-cap-reason')).toBe('run');
  });

  it.each([
    ['/v1/music/generations', SONG],
    ['/v1/videos', VIDEO],
    ['/v1/images/generations', IMAGE],
  ])('counts what %s sells', async (path, body) => {
    const { headers, accountId } = await gateway.account();
    const answer = await postJson(`${gateway.url}${path}`, { ...headers, ...ofRun('r') }, body);
    expect(answer.status).toBeLessThan(300);
    await until(async () => (await gateway.balance(accountId)).held === 0n);
    const { json } = await read(headers, '/v1/runs/r');
    expect(json).toMatchObject({ calls: 1, held_microusd: '0' });
    expect((json as { spent_microusd: string }).spent_microusd).not.toBe('0');
    const small = { ...headers, ...ofRun('small', 1) };
    const refused = await postJson(`${gateway.url}${path}`, small, body);
    expect([refused.status, errorOf(refused).param]).toEqual([402, 'x-gateway-run']);
  });

  it("is in the operator's view of its task", async () => {
    const { headers } = await gateway.account();
    const url = `${gateway.url}/v1/music/generations`;
    const { json } = await postJson(url, { ...headers, ...ofRun('task') }, SONG);
    const tasks = await send(`${gateway.url}/admin/tasks?limit=100`, {
      headers: { authorization: `Bearer ${ADMIN_TOKEN}` },
    });
    const { data } = tasks.json as { data: { id: string; run: string | null }[] };
    expect(data.find(({ id }) => id === (json as { id: string }).id)?.run).toBe('task');
  });

  it('is 404 for another account', async () => {
    const [own, foreign] = [await gateway.account(), await gateway.account()];
    await speak(own.headers, ofRun('mine'));
    const answer = await read(foreign.headers, '/v1/runs/mine');
    expect([answer.status, errorOf(answer).code]).toEqual([404, 'run_not_found']);
  });
});

describe('the headers of a run', () => {
  it.each<[Headers, string]>([
    [{ 'x-gateway-run': '' }, 'x-gateway-run'],
    [{ 'x-gateway-run': 'x'.repeat(129) }, 'x-gateway-run'],
    [{ 'x-gateway-run': 'caf\u00e9' }, 'x-gateway-run'],
    [{ 'x-gateway-run': 'a\tb' }, 'x-gateway-run'],
    [{ 'x-gateway-run-limit-microusd': '5' }, 'x-gateway-run-limit-microusd'],
    ...['', '-1', '1.5', '1e3', '0x1', '10000000000000000', 'all'].map(
      (limit): [Headers, string] => [
        { 'x-gateway-run': 'r', 'x-gateway-run-limit-microusd': limit },
        'x-gateway-run-limit-microusd',
      ],
    ),
    [{ session_id: 'x'.repeat(129) }, 'session_id'],
  ])('are refused before anything is held: %j', async (bad, param) => {
    const { headers } = await gateway.account();
    for (const [path, body, code] of [
      ['/v1/audio/speech', HELLO, 'invalid_request'],
      ['/v1/chat/completions', CHAT, 'invalid_request'],
      ['/v1/music/generations', SONG, 'invalid_music_request'],
    ] as const) {
      const answer = await postJson(`${gateway.url}${path}`, { ...headers, ...bad }, body);
      expect(answer.status).toBe(400);
      expect(errorOf(answer)).toMatchObject({ code, param });
    }
    expect((await read(headers, '/v1/runs')).json).toMatchObject({ data: [] });
  });

  it('may be those of RUN_HEADERS, of which x-gateway-run comes first', async () => {
    const { headers } = await gateway.account();
    await speak(headers, { session_id: 'session', 'x-claude-code-session-id': 'other' });
    await speak(headers, { session_id: 'session', ...ofRun('named') });
    const { json } = await read(headers, '/v1/runs');
    const { data } = json as { data: { id: string; calls: number }[] };
    expect(data.map(({ id, calls }) => [id, calls])).toEqual([
      ['named', 1],
      ['session', 1],
    ]);
  });
});
