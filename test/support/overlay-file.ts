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

/** All that is wrong with the overlay as one text; `none` if it can be loaded. */
export const problemOf = (content: unknown): string => problemsOf(content).join() || 'none';

/** A price by tokens as an overlay writes it. */
export const TOKEN_PRICE = {
  unit: 'token',
  input_micro_usd_per_million: 1,
  output_micro_usd_per_million: 2,
};

/** A provider `local` at this URL that needs no key. */
export const providerAt = (baseUrl: string) => ({
  id: 'local',
  protocol: 'openai',
  base_url: baseUrl,
  api_key_env: '',
});
