import { expect, it } from '@jest/globals';
import { mkdirSync, writeFileSync } from 'node:fs';
import { appendFile, mkdir, rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { freshFolder } from '../../test/support/test-ledger.js';
import { ReversalJournal } from '../billing/recovery/reversal-journal.js';
import { ArchiveWriter } from './archive-writer.js';
import { ReversalJournalCopies } from './reversal-journal-copies.js';
import { unpack } from './unpack.js';

const NEVER = new AbortController().signal;
const lineOf = (taskId: string): string => `${JSON.stringify({ taskId, accountId: 'account' })}\n`;

/** What a gateway finds owed, by the process that owes it, when `fill` was restored. */
async function restored(fill: (owed: ReversalJournalCopies, journal: string) => Promise<void>) {
  const [dataDir, place] = [freshFolder(), freshFolder()];
  const journal = join(dataDir, 'owed');
  mkdirSync(journal);
  writeFileSync(join(journal, 'first.jsonl'), lineOf('a'));
  const file = join(freshFolder(), 'backup');
  await ArchiveWriter.write(file, NEVER, async (writer) => {
    writer.addText('shim-backup.json', '{"format":2}');
    writer.addFolder('postgres');
    await fill(new ReversalJournalCopies(dataDir, writer), journal);
    writer.addText('shim-backup-end', '');
  });
  expect(await unpack(file, place, NEVER)).toContain('owed');
  const reader = new ReversalJournal(place, 'reader');
  const lines = (await reader.files()).map(async ({ name, processId }) => {
    return (await reader.read(name)).reversals.map((owed) => [
      processId,
      'taskId' in owed && owed.taskId,
    ]);
  });
  return (await Promise.all(lines)).flat().sort();
}

it('keeps a reversal that is made and dropped, or moved to another process, after it was copied', async () => {
  const found = await restored(async (owed, journal) => {
    await owed.add();
    await writeFile(join(journal, 'first.jsonl'), lineOf('b'));
    await owed.add();
    await rename(join(journal, 'first.jsonl'), join(journal, 'payer.x.jsonl'));
    await owed.add();
    await rm(journal, { recursive: true });
    await owed.add();
  });
  expect(found).toEqual([
    ['first', 'a'],
    ['first', 'b'],
    ['payer', 'b'],
  ]);
});

it('keeps whole lines of a journal that grows, is cleared and is renamed while it is copied', async () => {
  const paths = (journal: string) => [join(journal, 'busy.jsonl'), join(journal, 'taken.y.jsonl')];
  const found = await restored(async (owed, journal) => {
    const [busy = '', taken = ''] = paths(journal);
    const work = { isOver: false };
    const gateway = (async () => {
      for (let id = 0; !work.isOver; id += 1) {
        await mkdir(journal, { recursive: true });
        await appendFile(busy, lineOf(String(id)));
        if (id % 3 === 1) await writeFile(busy, '');
        if (id % 3 === 2) await rename(busy, taken);
        if (id % 5 === 4) await rm(taken, { force: true });
      }
    })();
    for (let look = 0; look < 50; look += 1) await owed.add();
    work.isOver = true;
    await gateway;
  });
  expect(found.filter(([, id]) => id === 'a')).toHaveLength(50);
  expect(found.every(([, id]) => id === 'a' || /^\d+$/.test(String(id)))).toBe(true);
});
