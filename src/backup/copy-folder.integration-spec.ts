import { mkdir, mkdtemp, readdir, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { beforeEach, describe, expect, it } from '@jest/globals';
import { LOCK_FILE } from '../platform/database/embedded/data-dir-lock.js';
import { CopyFolder, removeLeftCopies } from './copy-folder.js';

let folder: string;
let archive: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'copies-'));
  archive = join(folder, 'shim.tar.gz');
});

/** What a backup leaves that is killed. */
async function leave(name: string): Promise<void> {
  await mkdir(join(folder, name, 'data', 'postgres', 'base'), { recursive: true });
  await writeFile(join(folder, name, LOCK_FILE), '1');
  await writeFile(join(folder, name, 'data', 'postgres', 'base', '1'), 'what was said');
}

describe('the folder for a copy of the database', () => {
  it('is removed by the next backup beside it if its own one was killed', async () => {
    await leave('.shim-backup-abc123');
    await leave('.shim-backup-XYZ789');
    await removeLeftCopies(archive);
    expect(await readdir(folder)).toEqual([]);
  });

  it('stays while its backup runs, and goes with it', async () => {
    const copy = await CopyFolder.beside(archive);
    await writeFile(join(copy.dataDir, 'page'), '');
    await removeLeftCopies(archive);
    expect(await readdir(copy.dataDir)).toEqual(['page']);
    await copy.remove();
    expect(await readdir(folder)).toEqual([]);
  });

  it('stays if it is not one of a backup: another name, a link, nothing that was locked', async () => {
    const elsewhere = await mkdtemp(join(tmpdir(), 'elsewhere-'));
    await writeFile(join(elsewhere, LOCK_FILE), '1');
    await symlink(elsewhere, join(folder, '.shim-backup-linked'));
    await leave('.shim-backup-of-mine');
    await mkdir(join(folder, '.shim-backup-abcdef'));
    await removeLeftCopies(archive);
    expect((await readdir(folder)).sort()).toEqual([
      '.shim-backup-abcdef',
      '.shim-backup-linked',
      '.shim-backup-of-mine',
    ]);
    expect(await readdir(elsewhere)).toEqual([LOCK_FILE]);
  });

  it('is looked for where no folder is, too', async () => {
    await expect(removeLeftCopies(join(folder, 'none', 'shim.tar.gz'))).resolves.toBeUndefined();
  });
});
