import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from '@jest/globals';
import { declarationOf, optionsOf } from '../src/commands/command-declarations.js';
import { benchPage } from '../scripts/bench-table.js';

const ROOT = fileURLToPath(new URL('..', import.meta.url));
/** A command of the command line, and what follows it on its line. */
const COMMAND = /(?:npm run cli --|npx shim) (?!--|help)([a-z][a-z:-]*)([^\n`]*)/g;
/** A metric, but not the first part of a longer name. */
const METRIC = /\bgateway_[a-z_]+(?=\b[^.\w])/g;
/** Texts of the runbook that are no lines of the log. */
const NO_LOG_LINE =
  /^(npm|npx|node|docker|psql|df|du|ls|redis-cli|SELECT|abs|increase|rate|max_over_time|min_over_time|count|gateway_)/;
/** Tables of the database with the same beginning. */
const TABLES = ['gateway_process'];

const read = (path: string): string => readFileSync(join(ROOT, path), 'utf8');
const filesBelow = (folder: string, ending: string): string[] =>
  readdirSync(join(ROOT, folder), { recursive: true, encoding: 'utf8' })
    .filter((file) => file.endsWith(ending) && !file.endsWith('spec.ts'))
    .map((file) => join(folder, file));

/** Whether there is the command, and it takes the options that follow. */
function isTaken(name: string, rest: string): boolean {
  const declaration = declarationOf(name);
  const options = rest.split(' #')[0]?.match(/--[a-z-]+/g) ?? [];
  return (
    declaration !== undefined &&
    options.every((option) => Object.hasOwn(optionsOf(declaration), option.slice(2)))
  );
}

describe('the documents', () => {
  const pages = ['README.md', 'CONTRIBUTING.md', ...filesBelow('docs', '.md')];
  const texts = pages.map(read);
  const code = filesBelow('src', '.ts').map(read).join('\n');

  it('show commands that exist, with options that they take', () => {
    const shown = texts.flatMap((text) => [...text.matchAll(COMMAND)]);
    expect(shown.length).toBeGreaterThan(50);
    const lost = shown.filter(([, name = '', rest = '']) => !isTaken(name, rest));
    expect(lost.map(([line]) => line)).toEqual([]);
  });

  it('decide in at most 40 lines', () => {
    const adrs = filesBelow('docs/architecture/adr', '.md');
    expect(adrs.filter((path) => read(path).split('\n').length - 1 > 40)).toEqual([]);
  });

  it('have the results of the benchmarks as bench/results has them, on one screen', () => {
    const page = read('bench/README.md');
    expect(benchPage(page)).toBe(page);
    expect(page.split('\n').length - 1).toBeLessThanOrEqual(80);
  });

  it('name metrics that exist', () => {
    const named = new Set(texts.flatMap((text) => text.match(METRIC) ?? []));
    expect(named.size).toBeGreaterThan(30);
    const lost = [...named].filter((name) => !TABLES.includes(name) && !code.includes(`'${name}'`));
    expect(lost).toEqual([]);
  });

  it('quote lines of the log that the code writes', () => {
    const prose = read('docs/operate/runbook.md').replace(/```[^]*?```/g, '');
    const quoted = [...prose.matchAll(/`([^`\n]+)`/g)]
      .map(([, text = '']) => text)
      .filter((text) => text.split(' ').length > 2 && !NO_LOG_LINE.test(text));
    const isWritten = (text: string) =>
      text.split('…').every((part) => code.includes(part.trim().replace(/:$/, '')));
    expect(quoted.length).toBeGreaterThan(20);
    expect(quoted.filter((text) => !isWritten(text))).toEqual([]);
  });

  it('explain rules that the audit has', () => {
    const table = read('docs/operate/runbook.md').split('| `rule` |')[1]?.split('\n\n')[0] ?? '';
    const rules = [...table.matchAll(/(?<=^\| .*)`([a-z_]+ [a-z_ ]+)`(?=.* \| )/gm)];
    expect(rules.length).toBeGreaterThan(6);
    expect(rules.map(([, rule]) => rule).filter((rule) => !code.includes(`'${rule}'`))).toEqual([]);
  });
});
