import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from '@jest/globals';
import { TRANSITIONS } from '../src/tasks/task-state-machine.js';

const ROOT = fileURLToPath(new URL('..', import.meta.url));
const read = (path: string): string => readFileSync(join(ROOT, path), 'utf8');
const pictures = [...read('docs/architecture/overview.md').matchAll(/```mermaid\n([^]*?)```/g)].map(
  ([, text = '']) => text,
);
const picture = (kind: string): string => pictures.find((text) => text.startsWith(kind)) ?? '';

describe('the pictures of docs/architecture/overview.md', () => {
  it('are five', () => {
    expect(pictures.map((text) => text.split(/\s/)[0])).toEqual([
      'flowchart',
      'sequenceDiagram',
      'stateDiagram-v2',
      'sequenceDiagram',
      'erDiagram',
    ]);
  });

  it('name classes that exist', () => {
    const code = readdirSync(join(ROOT, 'src'), { recursive: true, encoding: 'utf8' })
      .filter((file) => file.endsWith('.ts'))
      .map((file) => read(join('src', file)))
      .join('\n');
    const named = [...pictures.join('').matchAll(/participant \w+ as ([A-Z][a-z]+[A-Z]\w+)$/gm)]
      .map(([, name = '']) => name)
      .filter((name) => name !== 'PostgreSQL');
    expect(named.length).toBeGreaterThan(4);
    expect(named.filter((name) => !new RegExp(`export class ${name}[ <]`).test(code))).toEqual([]);
  });

  it('have every way of a task from one state to another, and no other', () => {
    const drawn = [...picture('stateDiagram').matchAll(/^ {2}(\w+) --> (\w+):/gm)].map(
      ([, from = '', to = '']) => `${from} ${to}`,
    );
    const ways = Object.entries(TRANSITIONS)
      // The page tells this one in words.
      .filter(([event]) => event !== 'undone')
      .flatMap(([, { from, to }]) => from.map((state) => `${state} ${to}`));
    expect([...new Set(drawn)].sort()).toEqual([...new Set(ways)].sort());
  });

  it('have tables and columns that the database has', () => {
    const schema = read('src/platform/database/schema.sql').replaceAll('"', '');
    const tables = [...picture('erDiagram').matchAll(/^ {2}(\w+) \{\n([^]*?)\n {2}\}/gm)];
    expect(tables).toHaveLength(9);
    const lost = tables.flatMap(([, table = '', body = '']) => {
      const made = schema.split(`\nCREATE TABLE ${table} (\n`)[1]?.split('\n)')[0] ?? '';
      return body
        .split('\n')
        .map((line) => line.trim().split(' ')[1] ?? '')
        .filter((column) => !made.includes(`  ${column} `))
        .map((column) => `${table}.${column}`);
    });
    expect(lost).toEqual([]);
  });
});
