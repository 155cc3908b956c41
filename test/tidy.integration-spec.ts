import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from '@jest/globals';

const ROOT = fileURLToPath(new URL('..', import.meta.url));
const MAX_LINES = 300;
/** Files of fewer lines are small; at most this share of the sources may be. A part with one user stands beside it. */
const SMALL_LINES = 25;
const MOST_SMALL = 0.08;
/** Written so that this file is not one of them. */
const OPEN_ENDS = /\bTO[D]O\b|\bFIX[M]E\b/;
/** Names of those that were in use, and any member whose name begins as theirs do, but what a stream itself has to have. */
const PRIVATE_FIELDS =
  /[\w)\]]\??\._(?!write\b|request_id\b)[a-z]|\b(_handle|_dumped|_httpMessage|_header|kOutHeaders|getOwnPropertySymbols)\b|socket\.parser/;
/** Rows of data and of SQL may be long. */
const LONG_ALLOWED = /\/migrations\/|\/models\//;
/** `file`: `name`. */
const NAMED_CODE = /`((?:src|test)\/[\w./-]+)`: `([^`]+)`/g;
/** A list may become shorter; to make one longer takes a reason. */
const FILES_OF_FLOWS = {
  'A paid speech call': 12,
  'A chat stream': 12,
  'The submission of a task': 8,
  'The end of a task': 6,
  'A webhook': 6,
  'The start': 10,
};

const read = (path: string): string => readFileSync(join(ROOT, path), 'utf8');
const sources = (folder: string): string[] =>
  readdirSync(join(ROOT, folder), { recursive: true, encoding: 'utf8' })
    .filter((file) => file.endsWith('.ts') && !file.includes('node_modules'))
    .map((file) => join(folder, file));
const withMatch = (files: readonly string[], pattern: RegExp): string[] =>
  files.filter((file) => pattern.test(read(file)));

describe('the repository', () => {
  const all = ['src', 'test', 'bench', 'scripts'].flatMap(sources);
  const src = sources('src').filter((file) => !file.endsWith('spec.ts'));

  it('has no reminders of unfinished work in its comments', () => {
    expect(withMatch(all, OPEN_ENDS)).toEqual([]);
  });

  it('needs no Jest for the programs that npm runs without it', () => {
    const imported = (file: string): string[] =>
      [...read(file).matchAll(/^(?:import|export)(?! type\b)[^;]*? from '(\.[^']*)\.js'/gm)]
        .map(([, path = '']) => `${join(dirname(file), path)}.ts`)
        .filter((path) => existsSync(join(ROOT, path)));
    const programs = [
      'test/faults/fuzz/fuzz-requests.ts',
      'test/faults/fuzz/fuzz-vendors.ts',
      'test/crash/crash.ts',
      'test/conformance/list.ts',
    ];
    const reached = new Set([...programs, ...sources('bench'), ...sources('scripts')]);
    // A set that grows while it is walked.
    for (const file of reached) for (const other of imported(file)) reached.add(other);
    expect(withMatch([...reached], /from '@jest\/globals'/)).toEqual([]);
  });

  it('logs through its logger only', () => {
    // Samples of callers' programs, which print what they get.
    const samples = 'src/bootstrap/openapi/code-samples.ts';
    expect(
      withMatch(src, /\bconsole\.(?:log|debug|info|warn|error|trace|table|dir)\b/).filter(
        (path) => path !== samples,
      ),
    ).toEqual([]);
  });

  it('uses no private field of Node, Express or another library', () => {
    const others = all.filter((file) => !file.startsWith('test/tidy.'));
    expect(withMatch(others, PRIVATE_FIELDS)).toEqual([]);
  });

  it('gives every export a name of its own', () => {
    const declared =
      /^export (?:abstract |async |const )*(?:class |interface |type |enum |const |let |function[ *]+)(\w+)/gm;
    const owners = new Map<string, string[]>();
    for (const file of all) {
      const names = new Set([...read(file).matchAll(declared)].map(([, name = '']) => name));
      // Each benchmark exports `run`; bench/run.ts takes them all.
      if (file.startsWith('bench')) names.delete('run');
      for (const name of names) owners.set(name, [...(owners.get(name) ?? []), file]);
    }
    expect([...owners].filter(([, files]) => files.length > 1)).toEqual([]);
  });

  it('ships every package that it imports', () => {
    const { dependencies, optionalDependencies } = JSON.parse(read('package.json')) as Record<
      string,
      Record<string, string>
    >;
    const shipped = new Set(Object.keys({ ...dependencies, ...optionalDependencies }));
    const imported = src.flatMap((file) =>
      [...read(file).matchAll(/^(?:import|export)(?! type\b)[^;]*? from '([^.'][^']*)'/gm)]
        .map(([, name = '']) => name)
        .filter((name) => !name.startsWith('node:'))
        .map((name) =>
          name
            .split('/')
            .slice(0, name.startsWith('@') ? 2 : 1)
            .join('/'),
        ),
    );
    expect([...new Set(imported)].filter((name) => !shipped.has(name))).toEqual([]);
  });

  it('gives a reason where a lint rule is switched off', () => {
    expect(withMatch(all, /eslint-disable(?!.* -- \S).*$/m)).toEqual([]);
  });

  it('has the folders and the direction of ADR 0001, and rules for each', () => {
    const adr = read('docs/architecture/adr/0001-layout-and-direction.md');
    const rules = read('.dependency-cruiser.cjs');
    const rows = adr.match(/^\| `[a-z-]+\/`.*? \|/gm) ?? [];
    const told = rows.flatMap((cell) =>
      [...cell.matchAll(/`([a-z-]+)\/`/g)].map(([, name]) => name),
    );
    const folders = readdirSync(join(ROOT, 'src'), { withFileTypes: true })
      .filter((entry) => entry.isDirectory())
      .map(({ name }) => name);
    expect(told.sort()).toEqual(folders.sort());
    expect(folders.filter((name) => !new RegExp(`[|/('"]${name}[|/)'"]`).test(rules))).toEqual([]);
    const direction = /^`(main, cli, commands, bootstrap → .*)`$/m.exec(adr)?.[1] ?? 'none';
    expect(rules).toContain(`: ${direction}. */`);
    const features = /const features =\s+'(.*)';/.exec(rules)?.[1]?.split('|').sort();
    const apart = [
      ...[
        'account-moves',
        'admission',
        'auth',
        'backup',
        'billing',
        'catalog',
        'commands',
        'common',
        'bootstrap',
      ],
      ...['media', 'platform', 'providers', 'sandbox', 'sealed', 'stored-responses', 'tasks'],
      ...['text', 'webhooks'],
    ];
    expect(features).toEqual(folders.filter((name) => !apart.includes(name)).sort());
  });

  it('repeats nothing but on the scheduler and where ADR 0015 says so', () => {
    const adr = read('docs/architecture/adr/0015-one-ticker.md');
    const repeating = withMatch(src, /\bsetInterval\(/).filter(
      (file) => !file.includes('/sandbox/'),
    );
    expect(repeating.filter((file) => !adr.includes(`\`${file.slice('src/'.length)}\``))).toEqual(
      [],
    );
  });

  it('names no row by its place alone, which is also that of a row in each other part of a table', () => {
    const folder = 'src/platform/database/schema';
    const lines = readdirSync(join(ROOT, folder)).flatMap((file) =>
      read(join(folder, file)).split('\n'),
    );
    const places = lines.filter((line) => /\bctid\b/.test(line));
    expect(places.length).toBeGreaterThan(3);
    expect(
      places.filter((line) => !/\bctid AS place\b|\bctid = .*\bid = .*IS TRUE/.test(line)),
    ).toEqual([]);
  });

  it('has no file over 300 lines', () => {
    const files = ['src', 'test', 'bench'].flatMap(sources);
    const isLong = (file: string) => read(file).split('\n').length - 1 > MAX_LINES;
    expect(files.filter((file) => !LONG_ALLOWED.test(file) && isLong(file))).toEqual([]);
  });

  it('has few small source files', () => {
    const small = src.filter((file) => read(file).split('\n').length - 1 < SMALL_LINES);
    expect(small.length / src.length).toBeLessThanOrEqual(MOST_SMALL);
  });

  it('names files and names that exist in the pages about where code is', () => {
    const pages = ['docs/architecture/flows.md', 'docs/architecture/where.md'];
    const named = pages.flatMap((page) => [...read(page).matchAll(NAMED_CODE)]);
    const isLost = (file: string, name: string): boolean =>
      !existsSync(join(ROOT, file)) || !read(file).includes(name);
    expect(named.length).toBeGreaterThan(70);
    expect(named.filter(([, file = '', name = '']) => isLost(file, name))).toEqual([]);
  });

  it('has few files in each flow', () => {
    const sections = read('docs/architecture/flows.md').split('\n## ').slice(1);
    const counts = sections.map((section) => [
      section.slice(0, section.indexOf('\n')),
      (section.match(/^\d+\. `src\//gm) ?? []).length,
    ]);
    expect(Object.fromEntries(counts)).toEqual(FILES_OF_FLOWS);
  });

  it('names tests that exist for every control of the OWASP table', () => {
    const table = read('docs/operate/security.md').split('\n## OWASP')[1]?.split('\n## ')[0] ?? '';
    const controls = table.split('\n').filter((line) => line.startsWith('| API'));
    const proofsOf = (line: string) => line.match(/(?<=`)[\w./-]+spec\.ts(?=`)/g) ?? [];
    expect(controls).toHaveLength(10);
    expect(controls.filter((line) => proofsOf(line).length === 0)).toEqual([]);
    const named = proofsOf(read('docs/operate/security.md'));
    expect(named.filter((path) => !existsSync(join(ROOT, path)))).toEqual([]);
  });

  it('names tests that exist for every fault and promise of the books', () => {
    const texts = new Map(all.map((file) => [file.slice(file.lastIndexOf('/') + 1), file]));
    const named = [...read('docs/architecture/money.md').matchAll(/`([\w.-]+spec)`: ([^|]+) \|/g)];
    const proofs = named.flatMap(([, spec = '', titles = '']) =>
      titles.split('; ').map((title) => ({ file: texts.get(`${spec}.ts`), title })),
    );
    expect(proofs.length).toBeGreaterThan(35);
    expect(proofs.filter(({ file, title }) => !file || !read(file).includes(title))).toEqual([]);
  });

  it('names a test that exists for every quirk of a provider', () => {
    const quirks =
      read('docs/reference/provider-quirks.md').match(/^\| (?!Symptom|-).* \|$/gm) ?? [];
    const isProven = (line: string): boolean => {
      const [, file = '', title = ''] = /\| `([\w./-]+spec\.ts)`: ([^|]+) \|$/.exec(line) ?? [];
      return existsSync(join(ROOT, file)) && title !== '' && read(file).includes(title);
    };
    expect(quirks.length).toBeGreaterThan(40);
    expect(quirks.filter((line) => !isProven(line))).toEqual([]);
  });
});
