import { mkdtempSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from '@jest/globals';
import { checkCatalog } from '../src/commands/catalog-check.js';

const FOLDER = 'docs/guides/vendors';
const PAGES = readdirSync(FOLDER).filter((name) => name.endsWith('.md'));
const folder = mkdtempSync(join(tmpdir(), 'shim-vendors-'));

/** Every overlay file of a page. */
function overlaysOf(page: string): string[] {
  const text = readFileSync(join(FOLDER, page), 'utf8');
  return [...text.matchAll(/^```json\n(.*?)^```/gms)].map(([, json = '']) => json);
}

describe('the pages of vendors', () => {
  it.each(PAGES)('hold overlay files that can be used as they stand: %s', (page) => {
    const overlays = overlaysOf(page);
    expect(overlays.length).toBeGreaterThan(0);
    for (const [index, overlay] of overlays.entries()) {
      const file = join(folder, `${index}-${page}.json`);
      writeFileSync(file, overlay);
      const found = checkCatalog(file) as { added: string[] };
      expect(found).toMatchObject({ ok: true, faults: [] });
      expect(found.added.length).toBeGreaterThan(0);
    }
  });

  it.each(PAGES)('date their prices, and send the reader to those of the vendor: %s', (page) => {
    const text = readFileSync(join(FOLDER, page), 'utf8');
    expect(text).toMatch(/\b20\d\d-\d\d-\d\d\b/);
    expect(text).toMatch(/check the prices on the vendor's page/i);
  });
});
