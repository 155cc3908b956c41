import { execFileSync } from 'node:child_process';
import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it } from '@jest/globals';
import { lacksHistory } from './build-former-version.js';

const AUTHOR = ['-c', 'user.name=test', '-c', 'user.email=test@example.com'];

it('the history of a shallow clone is known to be a part, and that of a whole clone to be whole', () => {
  const folder = mkdtempSync(join(tmpdir(), 'history-'));
  const git = (...args: string[]) => execFileSync('git', args, { cwd: folder, stdio: 'pipe' });
  const origin = join(folder, 'origin');
  git('init', '--quiet', origin);
  for (const message of ['one', 'two']) {
    git('-C', origin, ...AUTHOR, 'commit', '--quiet', '--allow-empty', '-m', message);
  }
  git('clone', '--quiet', `file://${origin}`, 'whole');
  git('clone', '--quiet', '--depth', '1', `file://${origin}`, 'shallow');
  const lacking = ['whole', 'shallow', '.'].map((name) => lacksHistory(join(folder, name)));
  expect(lacking).toEqual([false, true, true]);
});
