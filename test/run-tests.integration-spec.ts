import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';

const SCRIPT = fileURLToPath(new URL('../scripts/run-tests.js', import.meta.url));
const PASSES = "test('passes', () => {});";
const FAILS = "test('fails', () => { throw new Error('always'); });";
/** Leaves a file beside it, and passes where it finds one. */
const FAILS_ONCE = `
  const mark = __filename + '.mark';
  test('fails once', () => {
    if (require('node:fs').existsSync(mark)) return;
    require('node:fs').writeFileSync(mark, '');
    throw new Error('only now');
  });`;
const AGAIN = 'Failed, now run once more, alone:';

describe('npm test', () => {
  let folder: string;

  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'shim-fixture-'));
  });

  afterEach(async () => {
    await rm(folder, { recursive: true, force: true });
  });

  /** Runs the script in a project of these test files; the configuration sees none but these. */
  async function run(files: Record<string, string>, args: string[] = [], settings = {}) {
    const config = { transform: {}, testMatch: ['**/*.spec.js'], maxWorkers: 2 };
    await writeFile(join(folder, 'jest.config.json'), JSON.stringify(config));
    for (const [name, source] of Object.entries(files)) {
      await writeFile(join(folder, `${name}.spec.js`), source);
    }
    const child = spawn(process.execPath, [SCRIPT, ...args], {
      cwd: folder,
      env: { ...process.env, ...settings },
      stdio: ['ignore', 'ignore', 'pipe'],
    });
    const [output, [code]] = await Promise.all([text(child.stderr), once(child, 'exit')]);
    return { output, code: code as number | null };
  }

  it('passes where every file passes', async () => {
    const { code, output } = await run({ a: PASSES, b: PASSES });
    expect(output).not.toContain(AGAIN);
    expect(code).toBe(0);
  });

  it('fails where Jest ends with success before its first test file', async () => {
    const files = { setup: 'module.exports = () => process.exit(0);', a: PASSES };
    const { code } = await run(files, ['--globalSetup=./setup.spec.js']);
    expect(code).toBe(1);
  });

  it('fails where a test fails twice, and names it', async () => {
    const { code, output } = await run({ a: FAILS, b: PASSES, c: FAILS_ONCE });
    expect(output).toContain('Failed twice:\n  a.spec.js\n    ● fails\n');
    expect(output).toContain('the failure is above):\n  c.spec.js\n    ● fails once\n');
    expect(code).toBe(1);
  });

  it('passes where a test fails once only, and names it with its failure left above', async () => {
    const { code, output } = await run({ a: FAILS_ONCE, b: PASSES });
    const [before, after] = output.split(AGAIN);
    expect(before).toContain('only now');
    expect(after).not.toContain('b.spec.js');
    expect(after).toContain('WARNING: failed, and passed when run once more, alone');
    expect(after).toContain('  a.spec.js\n    ● fails once\n');
    expect(code).toBe(0);
  });

  it.each([
    ['cannot be loaded', 'Could not be loaded, or crashed:\n  a.spec.js', "require('./nowhere');"],
    [
      'crashes',
      'Could not be loaded, or crashed:\n  a.spec.js',
      "test('dies', () => process.kill(process.pid, 'SIGKILL'));",
    ],
    ['leaves Jest', 'a.spec.js', "test('exits', () => process.exit(0));"],
  ])('does not run a file again that %s', async (_what, reason, source) => {
    const { code, output } = await run({ a: `${source}\n${FAILS_ONCE}`, b: PASSES, c: FAILS_ONCE });
    expect(output).toContain(reason);
    expect(output).not.toContain(AGAIN);
    expect(code).toBe(1);
  });

  it('fails where a test ends the only process with success', async () => {
    const { code, output } = await run({ a: "test('exits', () => process.exit(0));", b: PASSES }, [
      '--runInBand',
    ]);
    expect(output).toContain('Jest ended before every test file had run.');
    expect(code).toBe(1);
  });

  it('runs five failed files again, and not six', async () => {
    const five = Object.fromEntries([...'abcde'].map((name) => [name, FAILS_ONCE]));
    expect((await run(five)).code).toBe(0);
    const six = Object.fromEntries([...'uvwxyz'].map((name) => [name, FAILS_ONCE]));
    const { code, output } = await run(six);
    expect(output).toContain('More than 5 test files failed; none is run again.');
    expect(output).not.toContain(AGAIN);
    expect(code).toBe(1);
  });

  it('does not forgive where files were left out after the first failure', async () => {
    const { code, output } = await run({ a: FAILS_ONCE, b: FAILS_ONCE, c: PASSES }, [
      '--bail',
      '--runInBand',
    ]);
    expect(output).toContain('Jest ended before every test file had run.');
    expect(code).toBe(1);
  });

  it('hands its arguments to Jest', async () => {
    const { code, output } = await run({ a: FAILS, b: PASSES }, ['b.spec.js', '-t', 'passes']);
    expect(output).not.toContain('a.spec.js');
    expect(output).toContain('Tests:       1 passed, 1 total');
    expect(code).toBe(0);
  });

  it('kills a run that does not end', async () => {
    const hangs = "test('spins', () => { for (;;); });";
    const { code, output } = await run({ a: hangs }, [], { TEST_DEADLINE_MINUTES: '0.05' });
    expect(output).toContain('Jest did not end within 0.05 minutes and was killed.');
    expect(code).toBe(1);
  });

  it('names the files that had not finished', async () => {
    // The parent of a test in band is the script.
    const stops = "test('stops', () => { process.kill(process.ppid, 'SIGTERM'); for (;;); });";
    const { code, output } = await run({ a: stops }, ['--runInBand']);
    expect(output).toContain('Not finished:\n  a.spec.js\n');
    expect(code).toBe(1);
  });
});
