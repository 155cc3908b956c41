import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { mkdir, mkdtemp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ConfigError, loadConfig } from './load-config.js';
import { withSecretKeys } from './secret-key-file.js';

const GIVEN = 'a-given-key-0123456789-0123456789-abc';

let folder: string;
let dataDir: string;
let file: string;

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'secret-key-'));
  dataDir = join(folder, 'deep', 'data');
  file = join(dataDir, 'secret-key');
});
afterEach(() => rm(folder, { recursive: true }));

const keysWith = async (settings: NodeJS.ProcessEnv = {}) =>
  (await withSecretKeys(loadConfig({ DATA_DIR: dataDir, ...settings }))).secretKeys;
const modeOf = async (path: string) => (await stat(path)).mode & 0o777;

describe('the secret key of an embedded database', () => {
  it('is created once, random, readable by its owner only, in a directory that others may enter', async () => {
    const keys = await keysWith();
    expect(keys).toEqual([expect.stringMatching(/^[\w-]{43}$/)]);
    expect(await readFile(file, 'utf8')).toBe(`${keys?.[0]}\n`);
    expect([await modeOf(file), await modeOf(dataDir)]).toEqual([0o600, 0o755]);
    expect(await keysWith()).toEqual(keys);
    expect(await readdir(dataDir)).toEqual(['secret-key']);
  });

  it('is another one in another DATA_DIR', async () => {
    const other = join(folder, 'other');
    expect(await keysWith()).not.toEqual(await keysWith({ DATA_DIR: other }));
  });

  it('is the same for all processes that start at once, and no other file remains', async () => {
    const all = await Promise.all(Array.from({ length: 20 }, () => keysWith()));
    expect(new Set(all.map((keys) => keys?.join())).size).toBe(1);
    expect(await readdir(dataDir)).toEqual(['secret-key']);
  });

  it('may be a list, as in the variable', async () => {
    await keysWith();
    await writeFile(file, `${GIVEN}, ${await readFile(file, 'utf8')}`);
    expect(await keysWith()).toEqual([GIVEN, expect.stringMatching(/^[\w-]{43}$/)]);
  });

  it.each([
    ['empty', ''],
    ['blank', ' \n'],
    ['too short', 'tiny-secret'],
    ['too short beside a good one', `${GIVEN},tiny-secret`],
  ])('is not replaced if the file is %s: the start fails and names both', async (_, text) => {
    await mkdir(dataDir, { recursive: true });
    await writeFile(file, text);
    const error = await keysWith().catch((thrown: unknown) => thrown);
    expect(error).toBeInstanceOf(ConfigError);
    const { problems, message } = error as ConfigError;
    expect(problems).toEqual([expect.stringMatching(/^SECRET_KEY: /)]);
    expect(message).toContain(file);
    expect(message).not.toContain('tiny-secret');
    expect(await readFile(file, 'utf8')).toBe(text);
  });

  it('is not replaced where the file cannot be read', async () => {
    await mkdir(file, { recursive: true });
    await expect(keysWith()).rejects.toThrow(`SECRET_KEY: ${file}: cannot be read (EISDIR)`);
  });

  it('fails the start if the file cannot be created', async () => {
    await writeFile(join(folder, 'deep'), '');
    await expect(keysWith()).rejects.toThrow(
      `DATA_DIR: ${dataDir} is not a folder and cannot be made one (ENOTDIR)`,
    );
  });

  it('is not looked for where SECRET_KEY or DATABASE_URL is set', async () => {
    expect(await keysWith({ SECRET_KEY: GIVEN })).toEqual([GIVEN]);
    const url = 'postgres://u@h/d';
    expect(await keysWith({ SECRET_KEY: GIVEN, DATABASE_URL: url })).toEqual([GIVEN]);
    await expect(stat(dataDir)).rejects.toThrow('ENOENT');
  });
});
