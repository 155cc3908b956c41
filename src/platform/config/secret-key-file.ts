import { randomBytes } from 'node:crypto';
import { link, mkdir, open, readFile, rm, writeFile } from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';
import type { GatewayConfig } from './gateway-config.js';
import { ConfigError } from './load-config.js';
import { secretKeys } from './setting.js';
import { PRIVATE_FILE_MODE } from '../../common/private-files.js';

/** Its name in the data folder. */
export const GENERATED_KEY_FILE = 'secret-key';
const KEY_BYTES = 32;
const DRAFT_BYTES = 8;
/** The system user of PostgreSQL has to reach its own folder below. */
const DIRECTORY_MODE = 0o755;

/**
 * The configuration with its secret keys. With the embedded database and without `SECRET_KEY` they are in
 * `DATA_DIR/secret-key`, in the format of the variable. The first start makes one. Processes that start at the same
 * time use the same one. Throws {@link ConfigError} when that file cannot be used. It is never replaced, because
 * everything it encrypted would be lost.
 */
export async function withSecretKeys(config: GatewayConfig): Promise<GatewayConfig> {
  if (config.secretKeys !== undefined || config.databaseUrl !== undefined) return config;
  const path = resolve(join(config.dataDir, GENERATED_KEY_FILE));
  const reading = secretKeys(((await read(path)) ?? (await create(path))).trim());
  if ('value' in reading) return Object.freeze({ ...config, secretKeys: reading.value });
  throw unusable(path, reading.problem);
}

/** The text of the file; undefined when there is none yet. */
async function read(path: string): Promise<string | undefined> {
  try {
    return await readFile(path, 'utf8');
  } catch (error) {
    if (codeOf(error) === 'ENOENT') return undefined;
    throw faultOf(path, 'read', error);
  }
}

/**
 * Writes the file completely or not at all. If another process was faster, its file is kept. Returns the text of the
 * file in both cases.
 */
async function create(path: string): Promise<string> {
  const draft = `${path}.${randomBytes(DRAFT_BYTES).toString('hex')}`;
  const key = randomBytes(KEY_BYTES).toString('base64url');
  try {
    await mkdir(dirname(path), { recursive: true, mode: DIRECTORY_MODE });
    await writeFile(draft, `${key}\n`, { mode: PRIVATE_FILE_MODE, flag: 'wx', flush: true });
    await link(draft, path).catch((error: unknown) => {
      if (codeOf(error) !== 'EEXIST') throw error;
    });
    await rm(draft);
    await syncDirectory(dirname(path));
  } catch (error) {
    await rm(draft, { force: true }).catch(() => undefined);
    throw faultOf(path, 'created', error);
  }
  return (await read(path)) ?? '';
}

/** If the machine crashed before the key was durable, secrets encrypted with it would be lost. */
async function syncDirectory(path: string): Promise<void> {
  const directory = await open(path);
  try {
    await directory.sync();
  } finally {
    await directory.close();
  }
}

function codeOf(error: unknown): string {
  return (error as NodeJS.ErrnoException).code ?? 'unknown';
}

function faultOf(path: string, wish: 'read' | 'created', error: unknown): ConfigError {
  const code = codeOf(error);
  if (code !== 'ENOTDIR') return unusable(path, `cannot be ${wish} (${code})`);
  return new ConfigError([
    `DATA_DIR: ${dirname(path)} is not a folder and cannot be made one (${code})`,
  ]);
}

function unusable(path: string, problem: string): ConfigError {
  return new ConfigError([`SECRET_KEY: ${path}: ${problem}; repair the file or set SECRET_KEY`]);
}
