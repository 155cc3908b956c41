import { existsSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import type { Clock } from '../common/time/clock.js';
import type { GatewayConfig } from '../platform/config/gateway-config.js';
import { EmbeddedPostgres } from '../platform/database/embedded/embedded-postgres.js';
import { JOURNAL_FOLDER } from '../billing/recovery/reversal-journal.js';
import { GENERATED_KEY_FILE } from '../platform/config/secret-key-file.js';
import { ArchiveWriter } from './archive-writer.js';
import {
  BackupError,
  rejectExternalDatabase,
  CLUSTER,
  END,
  FILES,
  FORMAT,
  HEAD,
} from './backup-parts.js';
import { copyCluster } from './cluster-copy.js';
import { removeLeftCopies } from './copy-folder.js';
import { addWithoutContent } from './emptied-copy.js';
import { filesBelow } from './files-below.js';
import { ReversalJournalCopies } from './reversal-journal-copies.js';

/** Suffix of a stored file while it is being written. */
const UNFINISHED_FILE = '.part';

/** A finished backup. */
export interface BackupReport {
  /** Absolute path. */
  readonly file: string;
  readonly sizeBytes: number;
  /** Parts of the data folder that are in it. */
  readonly contains: readonly string[];
}

/** `withoutContent`: what is stored of conversations is left out (decision G-108). */
interface BackupTerms {
  readonly withoutContent: boolean;
}

/**
 * Writes the embedded database, the stored files of the data folder, its secret key and the reversal journal to a new file,
 * with or without a running gateway (docs/architecture/adr/0017). Throws {@link BackupError} for an external database, a data folder
 * without a database, and a file that exists.
 */
export async function backUp(
  config: GatewayConfig,
  file: string,
  clock: Clock,
  signal: AbortSignal,
  { withoutContent }: BackupTerms = { withoutContent: false },
): Promise<BackupReport> {
  rejectExternalDatabase(config.databaseUrl);
  const dataDir = resolve(config.dataDir);
  const cluster = join(dataDir, CLUSTER);
  if (!existsSync(cluster)) throw new BackupError(`There is no database in ${dataDir}.`);
  const path = resolve(file);
  await removeLeftCopies(path);
  const server = await EmbeddedPostgres.attachOrStart({ dataDir });
  try {
    const contains = [CLUSTER];
    const sizeBytes = await ArchiveWriter.write(path, signal, async (writer) => {
      writer.addText(HEAD, JSON.stringify({ format: FORMAT }));
      const journal = new ReversalJournalCopies(dataDir, writer);
      const atEnd = () => journal.add();
      if (withoutContent) {
        await addWithoutContent(server.url, cluster, { file: path, writer, signal }, atEnd);
      } else await copyCluster(server.url, cluster, writer, CLUSTER, atEnd);
      // Later files have no row in the copy of the database, because a row is written before its file.
      const untilMs = clock.nowMs();
      if (await addStoredFiles(config, dataDir, untilMs, writer)) contains.push(FILES);
      if (await addSecretKey(dataDir, writer)) contains.push(GENERATED_KEY_FILE);
      // The reversal of a charge in the copy may have been added to the journal only now.
      await journal.add();
      if (journal.hasAny) contains.push(JOURNAL_FOLDER);
      writer.addText(END, '');
    });
    return { file: path, sizeBytes, contains };
  } finally {
    await server.stop();
  }
}

/** Whether the stored files are in the data folder. */
async function addStoredFiles(
  { storageUrl }: GatewayConfig,
  dataDir: string,
  untilMs: number,
  writer: ArchiveWriter,
): Promise<boolean> {
  if (storageUrl !== undefined) return false;
  const root = join(dataDir, FILES);
  writer.addFolder(FILES);
  for await (const { name, isFolder } of filesBelow(root)) {
    if (isFolder) writer.addFolder(`${FILES}/${name}`);
    else if (!name.endsWith(UNFINISHED_FILE)) {
      await writer.addFile(`${FILES}/${name}`, join(root, name), untilMs);
    }
  }
  return true;
}

async function addSecretKey(dataDir: string, writer: ArchiveWriter): Promise<boolean> {
  const path = join(dataDir, GENERATED_KEY_FILE);
  if (!existsSync(path)) return false;
  writer.addText(GENERATED_KEY_FILE, await readFile(path, 'utf8'));
  return true;
}
