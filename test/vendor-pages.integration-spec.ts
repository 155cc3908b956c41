import { mkdtempSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { describe, expect, it } from '@jest/globals';
import { checkCatalog } from '../src/commands/setup-checks.js';

const FOLDER = 'docs/guides/vendors';
const PAGES = readdirSync(FOLDER).filter((name) => name.endsWith('.md'));
const folder = mkdtempSync(join(tmpdir(), 'shim-vendors-'));

/** Every overlay file of a page. */
function overlaysOf(path: string): string[] {
  const text = readFileSync(path, 'utf8');
  return [...text.matchAll(/^```json\n(.*?)^```/gms)].map(([, json = '']) => json);
}

/** The pages that hold whole overlay files. */
const WITH_OVERLAYS = [...PAGES.map((page) => join(FOLDER, page)), 'docs/guides/claude-code.md'];

describe('the pages of vendors and of Claude Code', () => {
  it.each(WITH_OVERLAYS)('hold overlay files that can be used as they stand: %s', (path) => {
    const overlays = overlaysOf(path);
    expect(overlays.length).toBeGreaterThan(0);
    for (const [index, overlay] of overlays.entries()) {
      const file = join(folder, `${index}-${basename(path)}.json`);
      writeFileSync(file, overlay);
      const found = checkCatalog(file) as { added: string[]; changed: string[] };
      expect(found).toMatchObject({ ok: true, faults: [] });
      expect([...found.added, ...found.changed]).not.toEqual([]);
    }
  });
});

describe('the pages of vendors', () => {
  it.each(PAGES)('date their prices, and send the reader to those of the vendor: %s', (page) => {
    const text = readFileSync(join(FOLDER, page), 'utf8');
    expect(text).toMatch(/\b20\d\d-\d\d-\d\d\b/);
    expect(text).toMatch(/check the prices on the vendor's page/i);
  });
});
