import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from '@jest/globals';

const ROOT = fileURLToPath(new URL('..', import.meta.url));
/** From the smallest to the largest, with the end of a file's name. */
const SIZES = ['spec', 'integration-spec', 'db-spec', 'e2e-spec', 'process-spec'] as const;
type Size = (typeof SIZES)[number];

/** What makes a test of a size: the largest that it reaches counts. */
const REASONS: readonly (readonly [Size, RegExp])[] = [
  [
    'process-spec',
    /^test\/support\/(process|embedded-gateways|worker-processes|stock-postgres)\.ts$/,
  ],
  ['e2e-spec', /^src\/bootstrap\/start-gateway\.ts$/],
  ['db-spec', /^test\/support\/test-database\.ts$/],
];
/** Servers, programs and threads of its own. Types alone start nothing. */
const STARTS =
  /^import (?!type )(?!\{( type \w+,?)+ \}).* from 'node:(http|https|http2|net|tls|dgram|cluster|child_process|worker_threads)'/m;
const IMPORTED =
  /^(?:import|export)(?! type\b)[^;]*? from '(\.[^']*)\.js'|import\('(\.[^']*)\.js'\)/gm;

const read = (path: string): string => readFileSync(join(ROOT, path), 'utf8');
const imports = new Map<string, string[]>();

/** The files of the project that a file imports. */
function importsOf(file: string): string[] {
  let found = imports.get(file);
  if (!found) {
    found = [...read(file).matchAll(IMPORTED)]
      .map(([, direct, later]) => `${join(dirname(file), direct ?? later ?? '')}.ts`)
      .filter((path) => existsSync(join(ROOT, path)));
    imports.set(file, found);
  }
  return found;
}

/** The files that a file reaches through its imports; a set that grows while it is walked. */
function reached(file: string): ReadonlySet<string> {
  const files = new Set([file]);
  for (const path of files) for (const other of importsOf(path)) files.add(other);
  return files;
}

/** The smallest size that a test may have. */
function leastSize(file: string): Size {
  const files = [...reached(file)];
  for (const [size, reason] of REASONS) if (files.some((path) => reason.test(path))) return size;
  const ofTests = files.filter((path) => path === file || path.startsWith('test/'));
  return ofTests.some((path) => STARTS.test(read(path))) ? 'integration-spec' : 'spec';
}

describe('the name of a test file', () => {
  const files = ['src', 'test'].flatMap((folder) =>
    readdirSync(join(ROOT, folder), { recursive: true, encoding: 'utf8' })
      .filter((name) => name.endsWith('spec.ts'))
      .map((name) => join(folder, name)),
  );
  const sizeOf = (file: string): string => file.split('.').at(-2) ?? '';

  it('ends with a size, so that it is in a project', () => {
    const sizes: readonly string[] = SIZES;
    expect(files.filter((file) => !sizes.includes(sizeOf(file)))).toEqual([]);
  });

  it('is large enough for what the test starts', () => {
    const tooSmall = files
      .map((file) => ({ file, least: leastSize(file) }))
      .filter(({ file, least }) => SIZES.indexOf(least) > SIZES.indexOf(sizeOf(file) as Size))
      .map(({ file, least }) => `${file} has to end in .${least}.ts`);
    expect(tooSmall).toEqual([]);
  });
});
