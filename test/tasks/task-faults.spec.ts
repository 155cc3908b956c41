import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import {
  ADMIN_TOKEN,
  startTestGateway,
  type TestAccount,
  type TestGateway,
} from '../support/gateway.js';
import { drawVideo } from '../../src/sandbox/video/drawn-video.js';
import { silentWav } from '../support/dubbing-desk.js';
import { postJson, send } from '../support/http-answer.js';
import { StubUpstream } from '../support/stub-upstream.js';
import { BRISK } from '../support/video-desk.js';

const ADMIN = { authorization: `Bearer ${ADMIN_TOKEN}` };
const CREDIT = 10_000_000n;
const REQUEST_ID = 'req-4711';
const JSON_HEAD = { 'content-type': 'application/json', 'x-request-id': REQUEST_ID };

/** One server that is every provider of tasks. */
let stub: StubUpstream;
let gateway: TestGateway;
let account: TestAccount;
/** The answer to every submission but its job, and to every poll. */
let submission: { status?: number; body?: object };
let polled: object;
/** How many submissions have arrived. */
let orders: number;

beforeAll(async () => {
  const video = await drawVideo({ prompt: 'The sea', width: 64, height: 48, seconds: 1 });
  stub = await StubUpstream.start();
  stub.reply = (response, { method, url }) => {
    if (url.endsWith('.wav') || url.includes('/audio/fr')) {
      return response.writeHead(200, { 'content-type': 'audio/wav' }).end(silentWav(5));
    }
    if (url.endsWith('/content')) {
      return response.writeHead(200, { 'content-type': 'video/mp4' }).end(video);
    }
    if (method === 'POST') orders += 1;
    const job = { id: 'job-1', dubbing_id: 'job-1', status: 'SUCCESS', data: { job_id: 'job-1' } };
    const { status = 200, body = method === 'POST' ? job : polled } =
      method === 'POST' ? submission : {};
    return response.writeHead(status, JSON_HEAD).end(JSON.stringify(body));
  };
  gateway = await startTestGateway({
    ...BRISK,
    TTAPI_API_KEY: 'stub-provider-key',
    TTAPI_BASE_URL: stub.url,
    VIDEO_API_KEY: 'stub-provider-key',
    VIDEO_BASE_URL: stub.url,
    ELEVENLABS_API_KEY: 'stub-provider-key',
    ELEVENLABS_BASE_URL: stub.url,
    EGRESS_ALLOW: new URL(stub.url).host,
  });
});
afterAll(async () => {
  await gateway.stop();
  await stub.stop();
});
beforeEach(async () => {
  submission = {};
  polled = {};
  orders = 0;
  account = await gateway.account(CREDIT);
});

type Kind = 'video' | 'dub' | 'song';
const ORDERS = {
  video: () => ['/v1/videos', { model: 'vid-motion', prompt: 'The sea', seconds: '5' }],
  song: () => ['/v1/music/generations', { model: 'song-music', prompt: 'The sea' }],
  dub: () => [
    '/v1/audio/dubbing',
    { model: 'aud-dubbing-v1', source_url: `${stub.url}/a.wav`, target_language: 'fr' },
  ],
} as const satisfies Record<Kind, () => readonly [string, object]>;

interface Shown {
  readonly task_status: string;
  readonly unknown_state: string | null;
  readonly provider_error: object | null;
  readonly provider_request_id: string | null;
  readonly error: { readonly code: string; readonly message: string } | null;
}

async function submit(kind: Kind): Promise<string> {
  const [path, body] = ORDERS[kind]();
  const answer = await postJson(`${gateway.url}${path}`, account.headers, body);
  expect([200, 202].includes(answer.status) ? '' : answer.bytes.toString()).toBe('');
  return (answer.json as { id: string }).id;
}
const shown = async (id: string) =>
  (await send(`${gateway.url}/admin/tasks/${id}`, { headers: ADMIN })).json as Shown;
async function until(id: string, is: (task: Shown) => boolean): Promise<Shown> {
  for (;;) {
    const task = await shown(id);
    if (is(task)) return task;
    await sleep(20);
  }
}
const ended = (id: string) =>
  until(id, ({ task_status: status }) => !['queued', 'processing'].includes(status));
const held = async () => (await gateway.balance(account.accountId)).held;

/** What each vendor says about a job that failed, and what callers and operators see of it. */
const FAILURES: readonly [Kind, object, string | null, string | null][] = [
  [
    'video',
    {
      status: 'failed',
      error: { code: 'moderation_blocked', message: 'sk-abcdefghijklmnopqrst said no' },
    },
    'moderation_blocked',
    'sk-[redacted] said no',
  ],
  ['video', { status: 'content_filtered' }, 'content_filtered', null],
  ['video', { status: 'REJECTED', error: 'Not in our house.' }, 'rejected', 'Not in our house.'],
  ['video', { status: 'timeout', error: null }, 'timeout', null],
  ['video', { status: 'cancelled' }, 'cancelled', null],
  [
    'dub',
    { status: 'failed', error: 'The speech cannot be separated.' },
    null,
    'The speech cannot be separated.',
  ],
  ['dub', { status: 'rejected', error: null }, 'rejected', null],
  ['song', { status: 'FAILED', message: 'Sensitive words.' }, null, 'Sensitive words.'],
  ['song', { status: 'ERROR', data: { errorCode: 'no_singer' } }, 'no_singer', null],
];

describe('a job that its provider ended without success', () => {
  it.each(FAILURES)(
    'as a %s with %j fails at once, with its reason',
    async (kind, answer, code, message) => {
      polled = answer;
      const task = await ended(await submit(kind));
      expect(task).toMatchObject({
        task_status: 'failed',
        provider_error: { status: 200, code, message },
        provider_request_id: REQUEST_ID,
        error: { code: 'provider_task_failed' },
      });
      expect(task.error?.message).toMatch(
        code === null ? /^[^:]+\.$/ : new RegExp(`: ${code}\\.$`),
      );
      expect(await held()).toBe(0n);
    },
  );

  it.each(['video', 'dub', 'song'] as const)(
    'as a %s was refused with a status has its reason too, and the caller no other word',
    async (kind) => {
      const detail = { code: 'voice_banned', message: 'Vendor words for jane@acme.example.' };
      submission = {
        status: 422,
        body:
          kind === 'dub'
            ? { detail }
            : kind === 'song'
              ? { status: 'FAILED', message: detail.message }
              : { error: detail },
      };
      const task = await ended(await submit(kind));
      expect(task).toMatchObject({
        task_status: 'failed',
        provider_error: { status: 422, message: 'Vendor words for [redacted].' },
        provider_request_id: REQUEST_ID,
      });
      expect(task.error?.message).toMatch(/^The provider refused the task(: [a-z_]+)?\.$/);
      expect(task.error?.message).not.toMatch(/Vendor/);
    },
  );
});

describe('a task whose outcome is unknown', () => {
  it('shows operators what the provider answered', async () => {
    submission = {
      status: 502,
      body: { error: { code: 'bad_gateway', message: 'Upstream is gone.' } },
    };
    expect(await ended(await submit('video'))).toMatchObject({
      task_status: 'reconciliation_required',
      provider_error: { status: 502, code: 'bad_gateway', message: 'Upstream is gone.' },
      provider_request_id: REQUEST_ID,
      error: null,
    });
  });
});

describe('a submission that a proxy answers with a word of overload', () => {
  it.each([
    ['video', 502],
    ['video', 504],
    ['video', 524],
    ['song', 502],
    ['dub', 504],
  ] as const)('as a %s with %i may have arrived, and is sent once', async (kind, status) => {
    const message = 'The server is overloaded. Please try again later.';
    submission = { status, body: { error: { code: 'overloaded', message } } };
    expect(await ended(await submit(kind))).toMatchObject({
      task_status: 'reconciliation_required',
      provider_error: { status, message },
      error: null,
    });
    expect([orders, await held()]).toEqual([1, expect.any(BigInt)]);
  });
});

describe('a submission that a provider puts off', () => {
  it.each([429, 499, 503, 529])('with %i is sent again, and accepted then', async (status) => {
    submission = { status, body: { error: { code: 'overloaded', message: 'Try again later.' } } };
    polled = { status: 'failed' };
    const id = await submit('video');
    while (orders === 0) await sleep(20);
    submission = {};
    expect(await ended(id)).toMatchObject({ task_status: 'failed' });
    expect(orders).toBeGreaterThan(1);
  });
});

/** Each with the facts that the kind needs besides the word. */
const FINISHED: Readonly<Record<Kind, (status: string) => object>> = {
  video: (status) => ({ id: 'job-1', status, progress: 100 }),
  dub: (status) => ({ dubbing_id: 'job-1', status, media_metadata: { duration: 5 } }),
  song: (status) => ({
    status,
    data: { musics: [{ musicId: 'm-1', audioUrl: `${stub.url}/a.wav`, duration: '5' }] },
  }),
};

describe('a job whose provider says with a word of its own that it is done', () => {
  const words = ['succeeded', 'success', 'READY', 'done', 'Complete', 'finished', 'Completed'];
  const cases = (['video', 'dub', 'song'] as const).flatMap((kind) =>
    words.map((word) => [kind, word] as const),
  );
  it.each(cases)('as a %s with "%s" has succeeded', async (kind, word) => {
    polled = FINISHED[kind](word);
    expect(await ended(await submit(kind))).toMatchObject({
      task_status: 'succeeded',
      unknown_state: null,
      error: null,
    });
    expect(await held()).toBe(0n);
  });
});

describe('a word for the state of a job that nobody knows', () => {
  it.each(['video', 'dub', 'song'] as const)(
    'keeps a %s pending, and is counted and shown until the provider says a known one',
    async (kind) => {
      polled = { status: 'simmering' };
      const id = await submit(kind);
      await until(id, ({ unknown_state: word }) => word === 'simmering');
      const metrics = (await send(`${gateway.url}/metrics`)).bytes.toString();
      const operation = { video: 'video', dub: 'dubbing', song: 'song' }[kind];
      expect(metrics).toMatch(
        new RegExp(
          `^gateway_unknown_states_total\\{[^}]*operation="${operation}"[^}]*\\} [1-9]`,
          'm',
        ),
      );
      polled = { status: 'queued' };
      await until(id, ({ unknown_state: word }) => word === null);
      polled = { status: 'rejected' };
      expect(await ended(id)).toMatchObject({ task_status: 'failed' });
    },
  );
});
