import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import { randomBytes } from 'node:crypto';
import { mkdir, readdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { KeptAnswers } from '../../../src/admission/kept/kept-answers.js';
import { fromPublicId } from '../../../src/common/ids/public-id.js';
import { StoredFileSweeper } from '../../../src/platform/storage/stored-file-sweeper.js';
import { ResponseStore } from '../../../src/stored-responses/response-store.js';
import { startTestGateway, type TestAccount, type TestGateway } from '../../support/gateway.js';
import { type Answer, errorOf, postJson, send } from '../../support/http-answer.js';
import { HELLO } from '../../support/paid-endpoints.js';
import { MP3_HEAD, servedBy, startStubSpeech } from '../../support/stub-speech.js';
import type { StubUpstream } from '../../support/stub-upstream.js';
import { until } from '../../support/until.js';

const SPEECH = '/v1/audio/speech';
const KEEP = { prefer: 'keep' };
const MEGABYTE = 1_000_000;
const CREDIT = 1_000_000n;
/** Half of it is one account's. */
const SPOOL_BYTES = 64 * 1024 * 1024;
const LONG = Buffer.concat([MP3_HEAD, randomBytes(30 * MEGABYTE)]);
const SHORTER = LONG.subarray(0, MEGABYTE);

let stub: StubUpstream;
let gateway: TestGateway;
let who: TestAccount;

beforeAll(async () => {
  stub = await startStubSpeech();
  const settings = { ...servedBy(stub), SPOOL_MAX_BYTES: String(SPOOL_BYTES) };
  gateway = await startTestGateway(settings);
});
afterAll(async () => {
  await gateway.expectCleanBooks();
  await gateway.stop();
  await stub.stop();
});
afterEach(async () => {
  await until(async () => (await uploads()).length === 0);
});

const query = <T>(sql: string, values: unknown[] = []) =>
  gateway.dataSource.query<T[]>(sql, values);
const executionOf = ({ headers }: Answer) => headers.get('x-gateway-execution-id') ?? '';
const content = (id: string, init: RequestInit = {}) =>
  send(`${gateway.url}/v1/executions/${id}/content`, { headers: who.headers, ...init });

/** Speech of these bytes for a new account. */
async function speak(bytes: Buffer, headers: object = KEEP): Promise<Answer> {
  who = await gateway.account(CREDIT);
  stub.reply = (response) => response.end(bytes);
  return speakAgain(headers);
}
const speakAgain = (headers: object = KEEP) =>
  postJson(gateway.url + SPEECH, { ...who.headers, ...headers }, HELLO);

async function uploads(): Promise<string[]> {
  const names = await readdir(join(gateway.config.dataDir, 'uploads'), { recursive: true });
  return names.filter((name) => name.includes('/'));
}
const folder = () => join(gateway.config.dataDir, 'files');
/** Paths of the files of the account in the storage. */
async function storedFiles(): Promise<string[]> {
  const own = join(folder(), who.accountId);
  return (await readdir(own).catch(() => [])).map((name) => join(own, name));
}

/** What is kept for the account. */
async function kept() {
  const [row] = await query<{ answers: number; files: number; bytes: string | null }>(
    `SELECT (SELECT count(*)::int FROM kept_answer WHERE account_id = $1) AS answers,
            (SELECT count(*)::int FROM stored_file WHERE account_id = $1 AND expires_at > now() + interval '23 h') AS files,
            (SELECT kept_bytes FROM stored_content WHERE account_id = $1) AS bytes`,
    [who.accountId],
  );
  return { ...row, bytes: Number(row?.bytes) };
}

async function expectNothing(id: string): Promise<void> {
  const answer = await content(id);
  expect([answer.status, errorOf(answer)]).toMatchObject([404, { code: 'content_not_available' }]);
  expect(await kept()).toMatchObject({ answers: 0, files: 0 });
  expect(await storedFiles()).toEqual([]);
}

describe('audio that is kept', () => {
  it('of 30 MB is given again byte for byte, encrypted meanwhile, counted and free', async () => {
    const first = await speak(LONG);
    expect(first.bytes.equals(LONG)).toBe(true);
    const { available } = await gateway.balance(who.accountId);
    expect(await kept()).toEqual({ answers: 1, files: 1, bytes: LONG.length });
    const again = await content(executionOf(first));
    expect(again.status).toBe(200);
    expect(again.headers.get('content-type')).toBe('audio/mpeg');
    expect(again.headers.get('content-length')).toBe(String(LONG.length));
    expect(again.bytes.equals(LONG)).toBe(true);
    const head = await content(executionOf(first), { method: 'HEAD' });
    expect([head.status, head.headers.get('content-length')]).toEqual([200, String(LONG.length)]);
    expect((await gateway.balance(who.accountId)).available).toBe(available);
    const [path = ''] = await storedFiles();
    const stored = await readFile(path);
    expect(stored.length).toBeGreaterThan(LONG.length);
    for (const at of [0, LONG.length / 2, LONG.length - 100])
      expect(stored.includes(LONG.subarray(at, at + 24))).toBe(false);
  });

  it.each([
    ['short, in a row', 100_000, 0],
    ['of a few hundred kilobytes, in a file', 300_000, 1],
  ])('is given again where it is %s', async (_name, bytes, files) => {
    const audio = LONG.subarray(0, bytes);
    const first = await speak(audio);
    expect(await kept()).toEqual({ answers: 1, files, bytes });
    expect((await content(executionOf(first))).bytes.equals(audio)).toBe(true);
  });

  it('is not in any file where nobody asked for it', async () => {
    const first = await speak(LONG, {});
    expect(first.bytes.equals(LONG)).toBe(true);
    await expectNothing(executionOf(first));
    expect(await query('SELECT FROM stored_file WHERE account_id = $1', [who.accountId])).toEqual(
      [],
    );
  });

  it('is not kept beyond 1 GB of the account', async () => {
    const id = executionOf(await speak(SHORTER));
    const fill = 'UPDATE stored_content SET kept_bytes = $2 WHERE account_id = $1';
    await query(fill, [who.accountId, 1_000 * MEGABYTE - SHORTER.length + 1]);
    const second = await speakAgain();
    expect(second.bytes.equals(SHORTER)).toBe(true);
    expect((await content(executionOf(second))).status).toBe(404);
    expect(await storedFiles()).toHaveLength(1);
    await query(fill, [who.accountId, 1_000 * MEGABYTE - SHORTER.length]);
    expect((await content(executionOf(await speakAgain()))).status).toBe(200);
    expect((await content(id)).status).toBe(200);
    await query(fill, [who.accountId, 2 * SHORTER.length]);
  });

  it('is not kept where the spool takes no more, and reaches its caller whole', async () => {
    const audio = Buffer.concat([LONG, LONG.subarray(0, 5 * MEGABYTE)]);
    expect(audio.length).toBeGreaterThan(SPOOL_BYTES / 2);
    const first = await speak(audio);
    expect(first.bytes.equals(audio)).toBe(true);
    await expectNothing(executionOf(first));
  });

  it('is not kept where the storage fails, and reaches its caller whole', async () => {
    await mkdir(folder(), { recursive: true });
    await rename(folder(), `${folder()}-away`);
    await writeFile(folder(), '');
    try {
      const first = await speak(SHORTER);
      expect(first.bytes.equals(SHORTER)).toBe(true);
      await expectNothing(executionOf(first));
    } finally {
      await rm(folder());
      await rename(`${folder()}-away`, folder());
    }
  });

  it('is not kept where the provider breaks off', async () => {
    who = await gateway.account(CREDIT);
    stub.reply = (response) => {
      response.writeHead(200, { 'content-length': LONG.length });
      response.write(SHORTER, () => setTimeout(() => response.destroy(), 200));
    };
    await expect(speakAgain()).rejects.toThrow();
    await until(async () => (await gateway.balance(who.accountId)).held === 0n);
    expect(await kept()).toMatchObject({ answers: 0, files: 0 });
    expect(await storedFiles()).toEqual([]);
  });

  it('is not kept where its charge cannot be written', async () => {
    await query(`CREATE FUNCTION refuse_charge() RETURNS trigger LANGUAGE plpgsql AS
      $$ BEGIN RAISE EXCEPTION 'no charge' USING ERRCODE = 'check_violation'; END $$`);
    await query(`CREATE TRIGGER refused BEFORE INSERT ON ledger_entry FOR EACH ROW
      WHEN (NEW.kind = 'charge') EXECUTE FUNCTION refuse_charge()`);
    try {
      await expect(speak(SHORTER)).rejects.toThrow();
    } finally {
      await query('DROP FUNCTION refuse_charge CASCADE');
    }
    await until(async () => (await gateway.balance(who.accountId)).held === 0n);
    expect(await kept()).toMatchObject({ answers: 0, files: 0 });
    expect(await storedFiles()).toEqual([]);
  });

  it.each([
    ['kept whole for a client that asked for it and left, which pays it whole', KEEP, 1],
    ['not kept for a client that left and did not ask', {}, 0],
  ])('is %s', async (_name, headers, answers) => {
    who = await gateway.account(CREDIT);
    let goOn = (): void => undefined;
    stub.reply = (response) => {
      response.write(SHORTER);
      goOn = () => {
        response.end(SHORTER);
      };
    };
    const leaving = new AbortController();
    const answer = await fetch(gateway.url + SPEECH, {
      method: 'POST',
      headers: { ...who.headers, ...headers, 'content-type': 'application/json' },
      body: JSON.stringify(HELLO),
      signal: leaving.signal,
    });
    leaving.abort();
    goOn();
    const id = answer.headers.get('x-gateway-execution-id') ?? '';
    await until(async () => (await gateway.balance(who.accountId)).held === 0n);
    if (answers === 0) {
      await expectNothing(id);
      return;
    }
    await until(async () => (await kept()).answers === answers);
    expect((await content(id)).bytes.length).toBe(2 * SHORTER.length);
  });

  it('is forgotten after a day: first the answer, then its file', async () => {
    const id = executionOf(await speak(SHORTER));
    await query(`UPDATE kept_answer SET expires_at = now() - interval '1 s' WHERE id = $1`, [
      fromPublicId('exec', id),
    ]);
    expect((await content(id)).status).toBe(404);
    await gateway.app.get(KeptAnswers).sweep();
    expect(await kept()).toMatchObject({ answers: 0, bytes: 0 });
    await query(
      `UPDATE stored_file SET expires_at = now() - interval '61 min' WHERE account_id = $1`,
      [who.accountId],
    );
    await gateway.app.get(StoredFileSweeper).sweep();
    await expectNothing(id);
  });

  it('is erased at once, with its key, and its file at the next sweep', async () => {
    const id = executionOf(await speak(SHORTER));
    await gateway.app.get(ResponseStore).erase(who.accountId);
    expect((await content(id)).status).toBe(404);
    expect(await kept()).toEqual({ answers: 0, files: 0, bytes: 0 });
    await gateway.app.get(StoredFileSweeper).sweep();
    await expectNothing(id);
  });

  it('is not kept where all of the account was erased while it was sent, and leaves no file', async () => {
    who = await gateway.account(CREDIT);
    stub.reply = (response) => {
      response.write(SHORTER);
      const erased = gateway.app.get(ResponseStore).erase(who.accountId);
      void erased.then(() => response.end(SHORTER));
    };
    const first = await speakAgain();
    expect(first.bytes.length).toBe(2 * SHORTER.length);
    await expectNothing(executionOf(first));
    expect(await query('SELECT FROM stored_file WHERE account_id = $1', [who.accountId])).toEqual(
      [],
    );
  });

  it('breaks off where its file was changed', async () => {
    const id = executionOf(await speak(LONG.subarray(0, 3 * MEGABYTE)));
    const [path = ''] = await storedFiles();
    const stored = await readFile(path);
    stored[2 * MEGABYTE] = (stored[2 * MEGABYTE] ?? 0) + 1;
    await writeFile(path, stored);
    await expect(content(id)).rejects.toThrow();
  });
});
