import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { send } from '../support/http-answer.js';
import { TaskVendors, type TaskVendorKind, VENDOR_REQUEST_ID } from '../support/task-vendors.js';

let harness: TaskVendors;
beforeAll(async () => {
  harness = await TaskVendors.open();
});
afterAll(() => harness.close());
beforeEach(() => harness.clear());

/** What each vendor says about a job that failed, and what callers and operators see of it. */
const FAILURES: readonly [TaskVendorKind, object, string | null, string | null][] = [
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
      harness.polled = answer;
      const task = await harness.ended(await harness.submit(kind));
      expect(task).toMatchObject({
        task_status: 'failed',
        provider_error: { status: 200, code, message },
        provider_request_id: VENDOR_REQUEST_ID,
        error: { code: 'provider_task_failed' },
      });
      expect(task.error?.message).toMatch(
        code === null ? /^[^:]+\.$/ : new RegExp(`: ${code}\\.$`),
      );
      expect(await harness.held()).toBe(0n);
    },
  );

  it.each(['video', 'dub', 'song'] as const)(
    'as a %s was refused with a status has its reason too, and the caller no other word',
    async (kind) => {
      const detail = { code: 'voice_banned', message: 'Vendor words for jane@acme.example.' };
      harness.submission = {
        status: 422,
        body:
          kind === 'dub'
            ? { detail }
            : kind === 'song'
              ? { status: 'FAILED', message: detail.message }
              : { error: detail },
      };
      const task = await harness.ended(await harness.submit(kind));
      expect(task).toMatchObject({
        task_status: 'failed',
        provider_error: { status: 422, message: 'Vendor words for [redacted].' },
        provider_request_id: VENDOR_REQUEST_ID,
      });
      expect(task.error?.message).toMatch(/^The provider refused the task(: [a-z_]+)?\.$/);
      expect(task.error?.message).not.toMatch(/Vendor/);
    },
  );
});

describe('our own key', () => {
  const KEY = 'stub-provider-key';

  it.each(['video', 'dub', 'song'] as const)(
    'is not in the record of a failed %s whose provider quotes it',
    async (kind) => {
      const words = { code: `bad_${KEY}`, message: `Key ${KEY} is not for this.` };
      harness.polled =
        kind === 'song' ? { status: 'FAILED', ...words } : { status: 'failed', error: words };
      const task = await harness.ended(await harness.submit(kind));
      expect(task.provider_error).toMatchObject({ message: 'Key [redacted] is not for this.' });
      expect(JSON.stringify(task)).not.toContain(KEY);
    },
  );

  it('is not in an unknown word for the state of a job', async () => {
    harness.polled = { status: `asked by ${KEY}` };
    const id = await harness.submit('video');
    await harness.until(id, ({ unknown_state: word }) => word === 'asked by [redacted]');
    harness.polled = { status: 'rejected' };
    await harness.ended(id);
  });
});

describe('a task whose outcome is unknown', () => {
  it('shows operators what the provider answered', async () => {
    harness.submission = {
      status: 502,
      body: { error: { code: 'bad_gateway', message: 'Upstream is gone.' } },
    };
    expect(await harness.ended(await harness.submit('video'))).toMatchObject({
      task_status: 'reconciliation_required',
      provider_error: { status: 502, code: 'bad_gateway', message: 'Upstream is gone.' },
      provider_request_id: VENDOR_REQUEST_ID,
      error: null,
    });
  });
});

describe('an unknown word for the state of a job', () => {
  it.each(['video', 'dub', 'song'] as const)(
    'keeps a %s pending, and is counted and shown until the provider says a known one',
    async (kind) => {
      harness.polled = { status: 'simmering' };
      const id = await harness.submit(kind);
      await harness.until(id, ({ unknown_state: word }) => word === 'simmering');
      const metrics = (await send(`${harness.gateway.url}/metrics`)).bytes.toString();
      const operation = { video: 'video', dub: 'dubbing', song: 'song' }[kind];
      expect(metrics).toMatch(
        new RegExp(
          `^gateway_unknown_states_total\\{[^}]*operation="${operation}"[^}]*\\} [1-9]`,
          'm',
        ),
      );
      harness.polled = { status: 'queued' };
      await harness.until(id, ({ unknown_state: word }) => word === null);
      harness.polled = { status: 'rejected' };
      expect(await harness.ended(id)).toMatchObject({ task_status: 'failed' });
    },
  );
});
