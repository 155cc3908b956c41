import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { Logger } from '@nestjs/common';
import { chmod, mkdtemp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { pack } from 'tar-stream';
import { buffer } from 'node:stream/consumers';
import { query } from '../../test/support/embedded-gateways.js';
import { Clock, SystemClock } from '../common/time/clock.js';
import { loadOperatorConfig } from '../platform/config/load-config.js';
import { Database } from '../platform/database/database.js';
import { EmbeddedPostgres } from '../platform/database/embedded/embedded-postgres.js';
import { SchemaTooNewError } from '../platform/database/schema-version.js';
import { backUp } from './backup.js';
import { BackupError } from './backup-parts.js';
import { restore } from './restore.js';

/** The entry that every archive begins with. */
const FIRST = ['shim-backup.json', '{"format":1}'];
const NEVER = new AbortController().signal;
const ACCOUNT = '00000000-0000-4000-8000-000000000001';

/** The clock is read after the database was copied and before the files are. */
class StoppingClock extends Clock {
  constructor(private readonly stop: () => void) {
    super();
  }

  nowMs(): number {
    this.stop();
    return 0;
  }
}

let folder: string;
let dataDir: string;
let whole: string;

const configOf = (DATA_DIR: string, more: NodeJS.ProcessEnv = {}) =>
  loadOperatorConfig({ DATA_DIR, ...more });
const back = (file: string) => backUp(configOf(dataDir), file, new SystemClock(), NEVER);
const restoreTo = (place: string, file: string) => restore(configOf(place), file, NEVER);

async function change(sql: string): Promise<void> {
  const server = await EmbeddedPostgres.start({ dataDir });
  await query(server.url, sql).finally(() => server.stop());
}

beforeAll(async () => {
  Logger.overrideLogger(false);
  folder = await mkdtemp(join(tmpdir(), 'shim-backup-'));
  await chmod(folder, 0o755);
  dataDir = join(folder, 'data');
  const database = new Database({ databaseUrl: undefined, dataDir });
  const dataSource = await database.open();
  await dataSource.query(`INSERT INTO account (id, name, created_at) VALUES ($1, 'kept', now())`, [
    ACCOUNT,
  ]);
  await database.close();
  whole = join(folder, 'whole.tar.gz');
  await back(whole);
});
afterAll(() => rm(folder, { recursive: true, force: true }));

/** Proves that nothing is restored from the file and that the attempt leaves nothing. */
async function expectRefused(file: string, reason: RegExp): Promise<void> {
  const before = await readdir(folder);
  const trying = restoreTo(join(folder, 'new', 'place'), file);
  await expect(trying).rejects.toBeInstanceOf(BackupError);
  await expect(trying).rejects.toThrow(reason);
  expect(await readdir(folder)).toEqual(before);
}

describe('backUp', () => {
  it('writes a file that only its owner can read, and does not overwrite an existing one', async () => {
    expect((await stat(whole)).mode & 0o777).toBe(0o600);
    const bytes = await readFile(whole);
    await expect(back(whole)).rejects.toThrow('exists already');
    const begun = join(folder, 'begun');
    await writeFile(`${begun}.unfinished`, 'x');
    await expect(back(begun)).rejects.toThrow('is what a backup that was killed left');
    await rm(`${begun}.unfinished`);
    expect((await readFile(whole)).equals(bytes)).toBe(true);
  });

  it('leaves nothing when it is stopped or cannot write', async () => {
    const before = await readdir(folder);
    for (const isBegun of [true, false]) {
      const stopper = new AbortController();
      const stop = () => {
        stopper.abort(new BackupError('Stopped.'));
      };
      if (!isBegun) stop();
      const stopping = backUp(
        configOf(dataDir),
        join(folder, 'stopped'),
        new StoppingClock(stop),
        stopper.signal,
      );
      await expect(stopping).rejects.toThrow('Stopped.');
    }
    await expect(back(join(folder, 'no', 'such', 'folder'))).rejects.toThrow('ENOENT');
    expect(await readdir(folder)).toEqual(before);
  });

  it('refuses a folder without a database, and an external database', async () => {
    const empty = backUp(configOf(join(folder, 'none')), 'x', new SystemClock(), NEVER);
    await expect(empty).rejects.toThrow('There is no database in');
    const external = configOf(dataDir, { DATABASE_URL: 'postgresql://somewhere/db' });
    const reason = 'docs/operate/operations.md';
    await expect(backUp(external, 'x', new SystemClock(), NEVER)).rejects.toThrow(reason);
    await expect(restore(external, whole, NEVER)).rejects.toThrow(reason);
  });
});

describe('restore', () => {
  it('creates a data folder with the content of the backup', async () => {
    const place = join(folder, 'restored');
    const { contains, audit } = await restoreTo(place, whole);
    expect({ contains, ok: audit.ok }).toEqual({ contains: ['postgres', 'files'], ok: true });
    expect((await readdir(place)).sort()).toEqual(['files', 'postgres', 'postgres.lock']);
    const server = await EmbeddedPostgres.start({ dataDir: place });
    const rows = await query(server.url, 'SELECT name FROM account').finally(() => server.stop());
    expect(rows).toEqual([{ name: 'kept' }]);
    // A copy of the programs follows where the server's user may not run the installed ones.
    await expect(restoreTo(place, whole)).rejects.toThrow(/is not empty \(files, postgres[,)]/);
  });

  it('leaves nothing when it is stopped', async () => {
    const place = join(folder, 'stopped');
    const stopping = restore(
      configOf(place),
      whole,
      AbortSignal.abort(new BackupError('Stopped.')),
    );
    await expect(stopping).rejects.toThrow('Stopped.');
    expect(await readdir(folder)).not.toContain('stopped');
  });

  it('refuses the folder of a running gateway', async () => {
    const server = await EmbeddedPostgres.start({ dataDir });
    const trying = restoreTo(dataDir, whole);
    await expect(trying)
      .rejects.toThrow(`in use by process ${process.pid}`)
      .finally(() => server.stop());
  });

  it('refuses a file that is truncated, wherever it is cut', async () => {
    const bytes = await readFile(whole);
    const torn = join(folder, 'torn');
    for (const length of [0, 1, 20, bytes.length >> 1, bytes.length - 8, bytes.length - 1]) {
      await writeFile(torn, bytes.subarray(0, length));
      await expectRefused(torn, /torn or damaged|not whole/);
    }
  });

  it('refuses a file in which one byte was changed', async () => {
    const bytes = await readFile(whole);
    bytes.writeUInt8(bytes.readUInt8(bytes.length >> 1) ^ 1, bytes.length >> 1);
    const damaged = join(folder, 'damaged');
    await writeFile(damaged, bytes);
    await expectRefused(damaged, /torn or damaged/);
  });

  it.each([
    ['no file', undefined, /There is no file/],
    ['another archive', [['readme', 'x']], /no backup of a gateway/],
    ['a newer format', [['shim-backup.json', '{"format":3}']], /newer version/],
    ['no end', [FIRST, ['secret-key', 'x']], /not whole/],
    ['no database', [FIRST, ['shim-backup-end', '']], /not whole/],
    ['a way out', [FIRST, ['files/../../x', '']], /unknown part/],
    ['an absolute path', [FIRST, ['/etc/passwd', '']], /unknown part/],
    [
      'a database that recovers by a command',
      [FIRST, ['postgres/recovery.signal', '']],
      /unknown part/,
    ],
    [
      'a database with folders elsewhere',
      [FIRST, ['postgres/tablespace_map', '1 /etc']],
      /unknown part/,
    ],
    ['another part', [FIRST, ['etc/passwd', '']], /unknown part/],
  ])('refuses %s', async (_title, entries, reason) => {
    const file = join(folder, 'made');
    await rm(file, { force: true });
    if (entries !== undefined) {
      const archive = pack();
      for (const [name = '', text = ''] of entries) archive.entry({ name }, text);
      archive.finalize();
      await writeFile(file, gzipSync(await buffer(archive)));
    }
    await expectRefused(file, reason);
  });

  it.each(['symlink', 'link', 'character-device', 'block-device', 'fifo'] as const)(
    'refuses an archive with an entry of the type %s',
    async (type) => {
      const file = join(folder, `made-${type}`);
      const archive = pack();
      archive.entry({ name: 'shim-backup.json' }, '{"format":2}');
      archive.entry({ name: 'owed/x', type, linkname: '/etc/passwd' });
      archive.finalize();
      await writeFile(file, gzipSync(await buffer(archive)));
      await expectRefused(file, /unknown part/);
    },
  );

  it('refuses books with errors, and a schema that is newer than this version', async () => {
    const file = join(folder, 'wrong');
    await change(`UPDATE account SET posted = 5 WHERE id = '${ACCOUNT}'`);
    await back(file);
    await expectRefused(file, /books in the backup are not right: posted is the sum of entries/);
    await change(`UPDATE account SET posted = 0 WHERE id = '${ACCOUNT}';
      INSERT INTO migration (timestamp, name) VALUES (9700000000001, 'Later9700000000001')`);
    await rm(file);
    await back(file);
    await expect(restoreTo(join(folder, 'new'), file)).rejects.toBeInstanceOf(SchemaTooNewError);
    expect(await readdir(folder)).not.toContain('new');
  });
});
