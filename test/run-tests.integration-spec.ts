import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
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
const HEAD = '# Tests that may fail once\n\n| File | Reason | Since |\n| - | - | - |\n';
const dayBefore = (days: number): string =>
  new Date(Date.now() - days * 86_400_000).toISOString().slice(0, 10);
const FAILS_WITH_IT = 'and passed when run once more, alone (the failure is above)';
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

  async function nameFlaky(...rows: string[]) {
    await mkdir(join(folder, 'test'));
    await writeFile(join(folder, 'test', 'FLAKY.md'), `${HEAD}${rows.join('\n')}\n`);
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
    expect(output).toContain('does not name it:\n  c.spec.js\n    ● fails once\n');
    expect(code).toBe(1);
  });

  it('passes where a test fails once only that FLAKY.md names, with its failure left above', async () => {
    await nameFlaky(`| \`a.spec.js\` | waits for a port | ${dayBefore(13)} |`);
    const { code, output } = await run({ a: FAILS_ONCE, b: PASSES });
    const [before, after] = output.split(AGAIN);
    expect(before).toContain('only now');
    expect(after).not.toContain('b.spec.js');
    expect(after).toContain(`WARNING: failed, ${FAILS_WITH_IT}, as test/FLAKY.md says:`);
    expect(after).toContain('  a.spec.js\n    ● fails once\n');
    expect(code).toBe(0);
  });

  it('fails where a test fails once only that FLAKY.md does not name', async () => {
    await nameFlaky(`| \`b.spec.js\` | waits for a port | ${dayBefore(0)} |`);
    const { code, output } = await run({ a: FAILS_ONCE, b: PASSES });
    expect(output).toContain('test/FLAKY.md does not name it:\n  a.spec.js\n    ● fails once\n');
    expect(output).not.toContain('WARNING');
    expect(code).toBe(1);
  });

  it.each([
    ['is older than 14 days', `| \`a.spec.js\` | waits | ${dayBefore(15)} |`],
    ['has no reason', `| \`a.spec.js\` | | ${dayBefore(1)} |`],
    ['has no day', '| `a.spec.js` | waits | soon |'],
    ['has a day that does not exist', '| `a.spec.js` | waits | 2026-13-40 |'],
    ['has a day to come', `| \`a.spec.js\` | waits | ${dayBefore(-3)} |`],
  ])('fails at once where a row of FLAKY.md %s', async (_what, row) => {
    await nameFlaky(row);
    const { code, output } = await run({ a: PASSES });
    expect(output).toContain('test/FLAKY.md has rows that must go:');
    expect(output).toContain(row);
    expect(code).toBe(1);
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
    expect((await run(five)).output).toContain(AGAIN);
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
