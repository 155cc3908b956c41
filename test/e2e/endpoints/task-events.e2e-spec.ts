import { afterAll, beforeAll, beforeEach, describe, expect, it, jest } from '@jest/globals';
import { DataSource } from 'typeorm';
import { toPublicId } from '../../../src/common/ids/public-id.js';
import { MAX_EVENT_STREAMS_PER_ACCOUNT, TaskEvents } from '../../../src/tasks/reads/task-events.js';
import { LongPoll } from '../../../src/tasks/reads/long-poll.js';
import type { Task } from '../../../src/tasks/task.js';
import { ConsoleBrowser, OWN_PAGE } from '../../support/console-browser.js';
import { endTask } from '../../support/end-task.js';
import type { TestAccount } from '../../support/gateway.js';
import { SentEvents } from '../../support/task-events.js';
import { startTaskHarness, type TaskHarness } from '../../support/task-harness.js';
import { until } from '../../support/until.js';

let harness: TaskHarness;
let account: TestAccount;

beforeAll(async () => {
  harness = await startTaskHarness();
});
afterAll(() => harness.stop());
beforeEach(async () => {
  account = await harness.gateway.account();
  harness.provider.state = { status: 'done', progress: 100, result: { url: 'x' } };
});

const open = (task: Pick<Task, 'id'>, headers: Record<string, string> = {}, of = account) =>
  SentEvents.open(`${harness.gateway.url}/v1/tasks/${toPublicId('task', task.id)}/events`, {
    ...of.headers,
    ...headers,
  });
const state = (status: string, progress: number | null) =>
  expect.objectContaining({ object: 'task_state', status, progress });

describe('the events of a task', () => {
  it('are its present state, each change, and at its end the whole task', async () => {
    const task = await harness.submit(account);
    const events = await open(task);
    expect(events.answer.headers.get('content-type')).toBe('text/event-stream');
    const queued = { id: 'queued', name: 'status', data: state('queued', null) };
    expect(await events.next()).toEqual(queued);
    await harness.run();
    const accepted = { id: 'processing', name: 'status', data: state('processing', null) };
    expect(await events.next()).toEqual(accepted);
    harness.provider.state = { status: 'working', progress: 40 };
    await harness.run();
    const half = { id: 'processing-40', name: 'progress', data: state('processing', 40) };
    expect(await events.next()).toEqual(half);
    harness.provider.state = { status: 'done', progress: 100, result: { url: 'x' } };
    await harness.run();
    const whole: unknown = await (await harness.get(account, task)).json();
    expect(await events.next()).toEqual({ id: 'succeeded-100', name: 'end', data: whole });
    expect(whole).toMatchObject({ status: 'succeeded', charged_microusd: '12500' });
    expect(await events.next()).toBeUndefined();
  });

  it('tell what another process did', async () => {
    const task = await harness.submit(account);
    const events = await open(task);
    await events.next();
    await endTask(harness.gateway.dataSource, task.accountId, task.id, 'expired');
    expect(await events.next()).toMatchObject({ id: 'expired', name: 'end' });
    expect(await events.next()).toBeUndefined();
  });

  it('of a task that has ended are its end, and nothing for a client that knows it', async () => {
    const task = await harness.submit(account);
    await harness.run(2);
    const events = await open(task);
    const end = await events.next();
    expect(end).toMatchObject({ name: 'end', data: { status: 'succeeded' } });
    expect(await events.next()).toBeUndefined();
    const again = await open(task, { 'last-event-id': end?.id ?? '' });
    expect(again.answer.status).toBe(204);
    const other = await open(task, { 'last-event-id': 'processing-40' });
    expect(await other.next()).toEqual(end);
  });

  it('of another account are not found', async () => {
    const task = await harness.submit(account);
    const { answer } = await open(task, {}, await harness.gateway.account());
    expect(answer.status).toBe(404);
  });

  it('end after their deadline, and the client comes again', async () => {
    const service = harness.gateway.app.get(TaskEvents);
    const usual = service.deadlineMs;
    service.deadlineMs = 300;
    try {
      const task = await harness.submit(account);
      const events = await open(task);
      expect(await events.next()).toMatchObject({ name: 'status' });
      expect(await events.next()).toBeUndefined();
      const again = await open(task, { 'last-event-id': 'queued' });
      expect(await again.next()).toMatchObject({ id: 'queued', name: 'status' });
      expect(await again.next()).toBeUndefined();
    } finally {
      service.deadlineMs = usual;
    }
  });

  it.each([
    ['is revoked', 'UPDATE api_key SET revoked_at = now() WHERE account_id = $1'],
    [
      'expires',
      `UPDATE api_key SET expires_at = now() + interval '1 second' WHERE account_id = $1`,
    ],
    ['has lost the scope', `UPDATE api_key SET scopes = '{read}' WHERE account_id = $1`],
    ['has a disabled account', 'UPDATE account SET disabled = true WHERE id = $1'],
  ])('end when their key %s, and no others do', async (_what, statement) => {
    const others = await harness.gateway.account();
    const streams = await Promise.all([
      open(await harness.submit(account)),
      open(await harness.submit(others), {}, others),
    ]);
    const [ending, lasting] = streams;
    for (const events of streams) expect(await events.next()).toMatchObject({ name: 'status' });
    await harness.gateway.dataSource.query(statement, [account.accountId]);
    expect(await ending.next()).toBeUndefined();
    const left = lasting.next().then(() => 'ended');
    const pause = new Promise((resolve) => setTimeout(resolve, 1_500, 'open'));
    expect(await Promise.race([left, pause])).toBe('open');
    lasting.leave();
    await left.catch(() => undefined);
  });

  it('end when the session of the console in which they came is signed out', async () => {
    const browser = new ConsoleBrowser(harness.gateway.url);
    expect((await browser.signIn({ api_key: account.key })).status).toBe(201);
    const task = toPublicId('task', (await harness.submit(account)).id);
    const url = `${harness.gateway.url}/console/api/v1/tasks/${task}/events`;
    const events = await SentEvents.open(url, { ...OWN_PAGE, cookie: browser.cookieHeader });
    expect(await events.next()).toMatchObject({ name: 'status' });
    await browser.signOut();
    expect(await events.next()).toBeUndefined();
  });

  it('are for so many clients of an account at once, and a place is free when one leaves', async () => {
    const task = await harness.submit(account);
    const streams = await Promise.all(
      Array.from({ length: MAX_EVENT_STREAMS_PER_ACCOUNT }, () => open(task)),
    );
    await Promise.all(streams.map((events) => events.next()));
    expect((await open(task)).answer.status).toBe(429);
    const others = await harness.gateway.account();
    const own = await open(await harness.submit(others), {}, others);
    expect(own.answer.status).toBe(200);
    own.leave();
    for (const events of streams) events.leave();
    await until(async () => {
      const events = await open(task);
      events.leave();
      return events.answer.status === 200;
    });
  });

  it('of many clients cost one read of the database at a time', async () => {
    const tasks = await Promise.all(Array.from({ length: 20 }, () => harness.submit(account)));
    const streams = await Promise.all(tasks.map((task) => open(task)));
    await Promise.all(streams.map((events) => events.next()));
    const query = jest.spyOn(harness.gateway.app.get(DataSource), 'query');
    const looks = () =>
      query.mock.calls.filter(([sql]) => sql.includes('t.status, t.progress')) as unknown[][];
    await until(() => Promise.resolve(looks().length >= 2));
    const [, parameters] = looks()[0] as [string, [string[], string[]]];
    query.mockRestore();
    expect(parameters.map((column) => column.length)).toEqual([20, 20]);
    await harness.run(2);
    for (const events of streams) {
      let event = await events.next();
      while (event?.name === 'status' || event?.name === 'progress') event = await events.next();
      expect(event).toMatchObject({ name: 'end', data: { status: 'succeeded' } });
    }
  });

  it('end when the gateway stops', async () => {
    const task = await harness.submit(account);
    const events = await open(task);
    await events.next();
    harness.gateway.app.get(LongPoll).close();
    expect(await events.next()).toBeUndefined();
    const late = await open(task);
    expect(await late.next()).toMatchObject({ name: 'status' });
    expect(await late.next()).toBeUndefined();
  });
});
