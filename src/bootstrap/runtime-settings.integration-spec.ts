import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { describe, expect, it } from '@jest/globals';

const BUILT = new URL('../../dist/', import.meta.url).href;

/** Prints the trace of an error that the build throws. */
const PROGRAM = `
await import('${BUILT}bootstrap/runtime-settings.js');
const { loadConfig } = await import('${BUILT}platform/config/load-config.js');
try { loadConfig({ PORT: 'x' }); } catch (error) { console.log(error.stack); }
`;

describe('the trace of an error', () => {
  it('has the lines of the TypeScript sources', async () => {
    const options = ['--input-type=module', '-e', PROGRAM];
    const { stdout } = await promisify(execFile)(process.execPath, options, {
      cwd: new URL('../..', import.meta.url),
    });
    expect(stdout).toMatch(/\/src\/platform\/config\/load-config\.ts:\d+:\d+/);
    expect(stdout).not.toContain('/dist/');
  });
});
