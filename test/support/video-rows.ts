import { mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { loadCatalog } from '../../src/catalog/catalog-file.js';
import { ConfigError } from '../../src/platform/config/load-config.js';
import { checkRoutes } from '../../src/providers/provider-configs.js';

/** The overlay file with the model that was judged last. */
export const judgedOverlay = join(mkdtempSync(join(tmpdir(), 'vendor-rows-')), 'overlay.json');
/** The price of a video of 5 or 10 seconds, as an overlay writes it. */
export const PRICED_BY_LENGTH = {
  unit: 'video',
  by_seconds: [
    { seconds: '5', micro_usd: 100 },
    { seconds: '10', micro_usd: 200 },
  ],
};
/** It, with a price per second for each of these. */
export const pricedBySecond = (...choices: [string, boolean][]) => ({
  ...PRICED_BY_LENGTH,
  per_second: choices.map(([resolution, sound]) => ({
    ...{ resolution, sound },
    micro_usd_per_second: 10,
  })),
});
/** The limits of a model that takes no images. */
export const NO_IMAGE_URLS = { max_image_urls: 0 };

/** What is wrong with a row that has one route to a shipped vendor. */
export function problemsOfVideoRow(
  provider: string,
  row: object,
  vendorsDir?: string,
): readonly string[] {
  const routes = [{ provider, upstream_model: 'a-model' }];
  const model = {
    id: 'vid-x',
    operation: 'video',
    routes,
    price: PRICED_BY_LENGTH,
    limits: NO_IMAGE_URLS,
  };
  return problemsOfVideoModel({ ...model, ...row }, vendorsDir);
}

/** What is wrong with a model of the overlay. */
export function problemsOfVideoModel(model: object, vendorsDir?: string): readonly string[] {
  writeFileSync(judgedOverlay, JSON.stringify({ models: [model] }));
  try {
    checkRoutes({ vendorsDir }, loadCatalog(judgedOverlay, vendorsDir));
  } catch (error) {
    if (error instanceof ConfigError) return error.problems;
    throw error;
  }
  return [];
}
