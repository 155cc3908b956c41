import { describe, expect, it } from '@jest/globals';
import { once } from 'node:events';
import { mkdtempSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { loadConfig } from '../platform/config/load-config.js';
import { startupError } from './startup-error.js';

/** An address for documentation, which no machine has. */
const FOREIGN = '203.0.113.1';

/** What Node says of a listen at this address, as an error of the realm of the code under test. */
async function refusalOf(host: string): Promise<Error> {
  const refusal = await once(createServer().listen(0, host), 'listening').catch(
    (error: unknown) => error,
  );
  return Object.assign(new Error('listen'), refusal);
}

function catalogFile(content: object): string {
  const path = join(mkdtempSync(join(tmpdir(), 'shim-catalog-')), 'catalog.json');
  writeFileSync(path, JSON.stringify(content));
  return path;
}

/** The error of a start with a bad port. */
function badPort(file: string): Error {
  try {
    loadConfig({ PORT: 'eighty', CATALOG_FILE: file });
  } catch (error) {
    return error as Error;
  }
  throw new Error('the port is taken');
}

describe('startupError', () => {
  it('names HOST where its address is none of this machine', async () => {
    expect(startupError(await refusalOf(FOREIGN))).toBe(
      `The gateway could not start: HOST: ${FOREIGN} is no address of this machine.`,
    );
  });

  it('names HOST where it is a name without an address', async () => {
    expect(startupError(await refusalOf('nowhere.invalid'))).toBe(
      'The gateway could not start: HOST: no address is found for nowhere.invalid.',
    );
  });

  it('reports the faults of the catalog file together with those of the settings', () => {
    const file = catalogFile({ models: [{ id: 'x' }, { id: 'aud-v3', operation: 'chat' }] });
    expect(startupError(badPort(file)).split('\n')).toEqual([
      'The configuration is invalid:',
      expect.stringContaining('  PORT: '),
      expect.stringContaining('  CATALOG_FILE: models.0: operation is required'),
      expect.stringContaining('  CATALOG_FILE: models.1: '),
    ]);
  });

  it('reports only the settings if the catalog file is valid or absent', () => {
    const file = catalogFile({ models: [{ id: 'aud-v3', enabled: false }] });
    for (const bad of [badPort(file), badPort('')]) expect(startupError(bad)).toBe(bad.message);
  });
});
