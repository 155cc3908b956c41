import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { readProviderKey } from './environment-variables.js';
import { ConfigError, loadConfig } from './load-config.js';
import { type Setting } from './setting.js';
import { SETTINGS } from './settings.js';

const SECRET = 'hunter2-hunter2-hunter2-hunter2-hunter2';
const secrets = Object.entries<Setting>(SETTINGS).filter(([, { secret }]) => secret === true);

/** A value of the form that the setting has. */
function valueOf(name: string): string {
  if (name.endsWith('URL')) return `${name === 'REDIS_URL' ? 'redis' : 'postgres'}://u:p@h/1`;
  return name.endsWith('HEADERS') ? `authorization=${SECRET}` : SECRET;
}

function problemsOf(environment: NodeJS.ProcessEnv): readonly string[] {
  try {
    loadConfig(environment);
    return [];
  } catch (error) {
    if (error instanceof ConfigError) return error.problems;
    throw error;
  }
}

describe('a secret in a file', () => {
  let folder: string;
  const file = async (name: string, text: string | Buffer): Promise<string> => {
    const path = join(folder, name);
    await writeFile(path, text);
    return path;
  };

  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'shim-secrets-'));
  });
  afterAll(() => rm(folder, { recursive: true, force: true }));

  it('is read like the variable, for every setting that is a secret', async () => {
    expect(secrets.length).toBeGreaterThanOrEqual(12);
    for (const [name, { field }] of secrets) {
      const value = valueOf(name);
      const others = { SECRET_KEY: SECRET, VIDEO_BASE_URL: 'https://video.example/v1' };
      const oidc =
        name === 'OIDC_CLIENT_SECRET'
          ? { OIDC_ISSUER: 'https://login.example', OIDC_CLIENT_ID: 'a', OIDC_ROLES: 'a=b:viewer' }
          : {};
      const environment = { ...others, ...oidc, [name]: '' };
      const path = await file(name, `\n ${value}\r\n`);
      const read = loadConfig({ ...environment, [`${name}_FILE`]: path });
      expect(read[field]).toEqual(loadConfig({ ...environment, [name]: value })[field]);
      expect(read[field]).toBeDefined();
    }
  });

  it('counts where a setting is required', async () => {
    const DATABASE_URL_FILE = await file('database', 'postgres://u:p@h/d');
    expect(problemsOf({ DATABASE_URL_FILE })).toEqual([
      expect.stringMatching(/^SECRET_KEY: is required/),
    ]);
    const SECRET_KEY_FILE = await file('key', SECRET);
    expect(problemsOf({ DATABASE_URL_FILE, SECRET_KEY_FILE, ROLE: 'api' })).toEqual([]);
  });

  it('is refused beside the variable, and where it is absent, empty, too large or no file, without its text', async () => {
    const good = await file('good', SECRET);
    const refused = (path: string, why: RegExp, ADMIN_TOKEN = '') => {
      const problems = problemsOf({ ADMIN_TOKEN_FILE: path, ADMIN_TOKEN });
      expect(problems).toEqual([expect.stringMatching(why)]);
      expect(problems.join()).not.toContain('hunter2');
    };
    refused(good, /^ADMIN_TOKEN: is set beside ADMIN_TOKEN_FILE/, SECRET);
    refused(join(folder, 'none'), /^ADMIN_TOKEN_FILE: .*none cannot be read \(ENOENT\)/);
    refused(folder, /^ADMIN_TOKEN_FILE: .* is no file/);
    refused(await file('empty', ' \n'), /^ADMIN_TOKEN_FILE: .*empty is empty/);
    refused(await file('large', Buffer.alloc(65_537, 'a')), /has more than 65536 bytes/);
    refused(await file('short', 'hunter2'), /^ADMIN_TOKEN: must have at least 16 characters/);
  });

  it('holds the key of a provider that only the overlay names', async () => {
    process.env.SOME_VENDOR_KEY_FILE = await file('vendor', `${SECRET}\n`);
    try {
      expect(readProviderKey('SOME_VENDOR_KEY')).toBe(SECRET);
      process.env.SOME_VENDOR_KEY_FILE = join(folder, 'none');
      expect(() => readProviderKey('SOME_VENDOR_KEY')).toThrow(/SOME_VENDOR_KEY_FILE: .*ENOENT/);
    } finally {
      delete process.env.SOME_VENDOR_KEY_FILE;
    }
  });
});
