import { readdirSync, readFileSync } from 'node:fs';
import { describe, expect, it } from '@jest/globals';

const read = (path: string): string => readFileSync(new URL(path, import.meta.url), 'utf8');

describe('docs/guides/clients.md', () => {
  it('has a row for every client that npm run test:clients tries', () => {
    const names = readdirSync(new URL('clients/', import.meta.url)).flatMap(
      (file) => /^ {2}name: '([^']+)',$/m.exec(read(`clients/${file}`))?.[1] ?? [],
    );
    const rows = read('../../docs/guides/clients.md').split('\n');
    expect(names).toHaveLength(9);
    expect(names.filter((name) => !rows.some((row) => row.startsWith(`| ${name} |`)))).toEqual([]);
  });
});
