import assert from 'node:assert/strict';
import { appendFile } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeEach, describe, expect, it } from '@jest/globals';
import { freshFolder } from '../../../test/support/test-ledger.js';
import { type Reversal, reversalIdOf } from './reversal.js';
import { ReversalJournal } from './reversal-journal.js';

const WRITER = 'writer';

const owed = (executionId: string): Reversal => ({
  executionId,
  accountId: 'account',
  apiKeyId: null,
  model: 'aud-v4',
  endpoint: '/v1/audio/speech',
  errorCode: 'service_unavailable',
  provider: null,
  providerRequestId: null,
});

describe('ReversalJournal', () => {
  let journal: ReversalJournal;
  let payer: ReversalJournal;
  let folder: string;

  beforeEach(() => {
    folder = freshFolder();
    journal = new ReversalJournal(folder, WRITER);
    payer = new ReversalJournal(folder, 'payer');
  });

  /** Takes the only file over, as the sweep does. */
  async function takeOver(): Promise<string> {
    const [file] = await payer.files();
    assert(file);
    const name = await payer.takeOver(file);
    assert(name !== undefined);
    return name;
  }
  const idsIn = async (name: string) => (await payer.read(name)).reversals.map(reversalIdOf);

  it('loses no line that is written between reading and removing the file', async () => {
    await journal.write(owed('a'));
    const name = await takeOver();
    expect(await idsIn(name)).toEqual(['a']);
    await Promise.all([journal.write(owed('b')), journal.write({ taskId: 'c', accountId: 'd' })]);
    await payer.forget(name);
    const next = await takeOver();
    expect(await idsIn(next)).toEqual(['b', 'c']);
    await journal.close(false);
  });

  it('writes to a new file when another process removed the one it had open', async () => {
    await journal.write(owed('a'));
    await payer.forget(await takeOver());
    await journal.write(owed('b'));
    expect(await idsIn(await takeOver())).toEqual(['b']);
    await journal.close(false);
  });

  it('gives a file to one process only, and to the next when that one died', async () => {
    await journal.write(owed('a'));
    const other = new ReversalJournal(folder, 'other');
    const [file] = await payer.files();
    assert(file);
    const taken = await Promise.all([payer.takeOver(file), other.takeOver(file)]);
    expect(taken.filter((name) => name !== undefined)).toHaveLength(1);
    const third = new ReversalJournal(folder, 'third');
    const [left] = await third.files();
    expect(left?.processId).toBe(taken[0] === undefined ? 'other' : 'payer');
    expect(await third.takeOver(left!)).toMatch(/^third\./);
    await journal.close(false);
  });

  it('reads a line after one that a full disk has cut, and reports the cut one', async () => {
    await journal.write(owed('a'));
    await appendFile(join(folder, 'owed', `${WRITER}.jsonl`), '{"executionId":"torn","acc');
    await journal.write(owed('b'));
    const name = await takeOver();
    const { reversals: whole, unreadable } = await payer.read(name);
    expect(whole.map(reversalIdOf)).toEqual(['a', 'b']);
    expect(unreadable).toEqual(['{"executionId":"torn","acc']);
    await journal.close(false);
  });

  it('keeps lines that are written while it clears earlier ones', async () => {
    const read = () => idsIn(`${WRITER}.jsonl`);
    await journal.write(owed('a'));
    await Promise.all([journal.clear(), journal.write(owed('b'))]);
    expect(await read()).toEqual(['b']);
    await journal.write(owed('c'));
    await Promise.all([journal.write(owed('d')), journal.clear()]);
    expect(await read()).toEqual([]);
    await journal.close(true);
    expect(await payer.files()).toEqual([]);
  });
});
