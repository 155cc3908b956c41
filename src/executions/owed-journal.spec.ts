import { beforeEach, describe, expect, it } from '@jest/globals';
import { freshFolder } from '../../test/support/test-ledger.js';
import type { OwedCall } from './execution-steps.js';
import { OwedJournal } from './owed-journal.js';

const WRITER = 'writer';

const owed = (executionId: string): OwedCall => ({
  executionId,
  accountId: 'account',
  apiKeyId: null,
  model: 'aud-v4',
  endpoint: '/v1/audio/speech',
  errorCode: 'service_unavailable',
  provider: null,
  providerRequestId: null,
});

describe('OwedJournal', () => {
  let journal: OwedJournal;
  let reader: OwedJournal;

  beforeEach(() => {
    const folder = freshFolder();
    journal = new OwedJournal(folder, WRITER);
    reader = new OwedJournal(folder, 'reader');
  });

  const written = async () => (await reader.read(WRITER)).map((call) => call.executionId);

  it('writes to a new file when another process removed the one it had open', async () => {
    await journal.write(owed('a'));
    await reader.forget(WRITER);
    await Promise.all([journal.write(owed('b')), journal.write(owed('c'))]);
    expect(await reader.others()).toEqual([WRITER]);
    expect(await written()).toEqual(['b', 'c']);
    await journal.close(false);
  });

  it('keeps what is written while it forgets what was written before', async () => {
    await journal.write(owed('a'));
    await Promise.all([journal.clear(), journal.write(owed('b'))]);
    expect(await written()).toEqual(['b']);
    await journal.write(owed('c'));
    await Promise.all([journal.write(owed('d')), journal.clear()]);
    expect(await written()).toEqual([]);
    await journal.close(true);
    expect(await reader.others()).toEqual([]);
  });
});
