import { mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { loadCatalog } from '../../src/catalog/catalog-file.js';
import { ConfigError } from '../../src/platform/config/load-config.js';

const folder = mkdtempSync(join(tmpdir(), 'overlay-'));
let files = 0;

/** Writes an overlay file, as JSON or as the text given; returns its path. */
export function overlay(content: unknown): string {
  const path = join(folder, `${files++}.json`);
  writeFileSync(path, typeof content === 'string' ? content : JSON.stringify(content));
  return path;
}

/** What is wrong with the overlay; empty if it can be loaded. */
export function problemsOf(content: unknown): readonly string[] {
  try {
    loadCatalog(overlay(content));
  } catch (error) {
    if (error instanceof ConfigError) return error.problems;
    throw error;
  }
  return [];
}
