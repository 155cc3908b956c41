import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import { FILE_STORE, type FileStore } from '../../src/platform/storage/file-store.port.js';
import { TaskWorker } from '../../src/tasks/worker/task-worker.js';
import { DubbingHarness } from '../support/dubbing-harness.js';

const DONE = '[[sandbox:task-ms=0]]';
const PRICE = 12_500n;

let harness: DubbingHarness;

beforeAll(async () => {
  harness = await DubbingHarness.open({ UPSTREAM_TIMEOUT_MS: '1500' });
});
afterAll(() => harness.close());
beforeEach(() => harness.clear());

const submissions = async (): Promise<number> =>
  ((await harness.gateway.sandbox?.jobs(1_000)) ?? []).length;
const balance = () => harness.gateway.balance(harness.account.accountId);

describe('a provider that fails during the submission of a dub', () => {
  it.each([
    ['a page', '[[sandbox:html]]'],
    ['an empty answer', '[[sandbox:empty]]'],
    ['JSON of no meaning', '[[sandbox:json]]'],
    ['a bad gateway', '[[sandbox:status=502]]'],
    ['silence', '[[sandbox:hang]]'],
    ['a lost answer', '[[sandbox:lost-answer]]'],
    ['a reset', '[[sandbox:reset]]'],
  ])('with %s is not asked twice; the hold stays for an operator', async (_what, magic) => {
    const before = await submissions();
    const { id } = await harness.submit({ source_url: harness.source(magic) });
    expect(await harness.ended(id)).toMatchObject({
      status: 'reconciliation_required',
      result: null,
      error: null,
      charged_microusd: null,
    });
    expect(await balance()).toMatchObject({ held: PRICE, entries: 1 });
    expect((await submissions()) - before).toBeLessThanOrEqual(1);
  });

  it.each([
    ['500 in its own words', '[[sandbox:status=500]][[sandbox:code=server_error]]'],
    ['422', '[[sandbox:status=422]]'],
  ])('with %s has refused: nothing is charged', async (_what, magic) => {
    const { id } = await harness.submit({ source_url: harness.source(magic) });
    expect(await harness.ended(id)).toMatchObject({
      status: 'failed',
      error: { code: 'provider_task_failed' },
    });
    expect(await balance()).toMatchObject({ held: 0n, entries: 1 });
  });
});

describe('a provider that fails while it dubs', () => {
  it.each(['500', 'html', 'json', 'reset', 'empty'])(
    'is asked on after three answers of the kind %s',
    async (fault) => {
      const magic = `${DONE}[[sandbox:poll=${fault}]][[sandbox:polls=3]]`;
      const { id } = await harness.submit({ source_url: harness.source(magic) });
      expect(await harness.ended(id)).toMatchObject({ status: 'succeeded' });
    },
  );

  it('may report an unknown state, and is polled again', async () => {
    const magic = '[[sandbox:task-ms=300]][[sandbox:task-state=awaiting_review]]';
    const { id } = await harness.submit({ source_url: harness.source(magic) });
    expect(await harness.ended(id)).toMatchObject({ status: 'succeeded', progress: null });
  });
});

describe('a dub that cannot be fetched', () => {
  it.each(['404', '500', 'html', 'break-body', 'reset'])(
    'at first (%s) is fetched again and kept',
    async (fault) => {
      const magic = `${DONE}[[sandbox:file=${fault}]][[sandbox:files=2]]`;
      const { id } = await harness.submit({ source_url: harness.source(magic) });
      expect(await harness.ended(id)).toMatchObject({
        status: 'succeeded',
        charged_microusd: '12500',
      });
      expect((await harness.get(`${id}/content`)).bytes.length).toBeGreaterThan(0);
    },
  );

  it.each(['404', 'empty'])(
    'ever (%s) is for an operator, five tries later; nothing of it is kept',
    async (fault) => {
      const magic = `${DONE}[[sandbox:file=${fault}]]`;
      const { id } = await harness.submit({ source_url: harness.source(magic) });
      expect(await harness.ended(id)).toMatchObject({
        status: 'reconciliation_required',
        result: null,
        charged_microusd: null,
      });
      expect((await harness.get(`${id}/content`)).status).toBe(409);
      expect(await balance()).toMatchObject({ held: PRICE });
      const sql = `SELECT count(*)::int AS count FROM stored_file WHERE account_id = $1`;
      expect(await harness.gateway.dataSource.query(sql, [harness.account.accountId])).toEqual([
        { count: 0 },
      ]);
    },
  );
});

describe('a source that is gone from the storage', () => {
  it('fails the task without a charge and without a word to the provider', async () => {
    const before = await submissions();
    await harness.gateway.dataSource.query(
      `CREATE FUNCTION expire_at_once() RETURNS trigger LANGUAGE plpgsql AS $$
         BEGIN
           UPDATE stored_file SET expires_at = now() WHERE account_id = NEW.account_id;
           RETURN NEW;
         END $$;
       CREATE TRIGGER expire_at_once AFTER INSERT ON task FOR EACH ROW EXECUTE FUNCTION expire_at_once();`,
    );
    try {
      const { id } = await harness.submit();
      expect(await harness.ended(id)).toMatchObject({
        status: 'failed',
        error: { code: 'provider_task_failed', message: 'The source is no longer kept.' },
      });
      expect(await balance()).toMatchObject({ held: 0n, entries: 1 });
      expect(await submissions()).toBe(before);
    } finally {
      await harness.gateway.dataSource.query('DROP FUNCTION expire_at_once CASCADE');
    }
  });
});

describe('a source that the storage gives only in part', () => {
  it('is not sent, and the task continues once the storage returns all of it', async () => {
    const before = await submissions();
    const store = harness.gateway.app.get<FileStore>(FILE_STORE);
    const read = store.read.bind(store);
    let parts = 0;
    store.read = async (key) => {
      parts += 1;
      const whole = await buffer(await read(key));
      return Readable.from([parts > 1 ? whole : whole.subarray(0, whole.length / 2)]);
    };
    try {
      const { id } = await harness.submit();
      expect(await harness.ended(id)).toMatchObject({ status: 'succeeded' });
      expect([parts, (await submissions()) - before]).toEqual([2, 1]);
    } finally {
      store.read = read;
    }
  });
});

describe.each(['at all', 'to its end'])('a source that the storage does not give %s', (how) => {
  it('lets the next worker continue the task when the gateway stops', async () => {
    const other = await DubbingHarness.open();
    const { app, dataSource } = other.gateway;
    let bytes: Readable | undefined;
    const opened = new Promise<void>((resolve) => {
      app.get<FileStore>(FILE_STORE).read = () => {
        resolve();
        if (how === 'at all') return new Promise(() => undefined);
        bytes = new Readable({ read: () => undefined });
        return Promise.resolve(bytes);
      };
    });
    await other.submit();
    await opened;
    await app.get(TaskWorker).drain(0);
    const sql = 'SELECT phase FROM task_work WHERE account_id = $1';
    expect(await dataSource.query(sql, [other.account.accountId])).toEqual([{ phase: 'waiting' }]);
    expect(bytes?.destroyed).toBe(how === 'at all' ? undefined : true);
    await other.close();
  });
});

describe('a source that the provider has', () => {
  it('is removed after the job of the provider is stored', async () => {
    const store = harness.gateway.app.get<FileStore>(FILE_STORE);
    const remove = store.remove.bind(store);
    const known: (string | null)[] = [];
    store.remove = async (key) => {
      const sql = `SELECT provider_job_id AS job FROM task WHERE account_id = $1`;
      const [row] = await harness.gateway.dataSource.query<{ job: string | null }[]>(sql, [
        harness.account.accountId,
      ]);
      known.push(row?.job ?? null);
      await remove(key);
    };
    const { id } = await harness.submit();
    await harness.ended(id);
    store.remove = remove;
    expect(known).toEqual([expect.any(String)]);
  });
});
