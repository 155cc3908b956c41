import { loadCatalog, type LoadedCatalog } from '../catalog/catalog-file.js';
import type { ModelRow } from '../catalog/model-row.js';
import { BUILT_IN_MODELS } from '../catalog/models/built-in.models.js';
import { ConfigError } from '../platform/config/load-config.js';

const BUILT_IN: ReadonlyMap<string, ModelRow> = new Map(
  BUILT_IN_MODELS.map((row) => [row.id, row]),
);
const SETTING = /^CATALOG_FILE: /;

/** What an overlay on the catalog would change, or all that is wrong with it. Nothing uses the file. */
export function checkCatalog(file: string): object {
  try {
    return { object: 'catalog_check', ok: true, ...changesOf(loadCatalog(file)), faults: [] };
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    const faults = error.problems.map((problem) => problem.replace(SETTING, ''));
    return { object: 'catalog_check', ok: false, faults };
  }
}

function changesOf({ rows, providers, voiceAliases = {} }: LoadedCatalog) {
  const idsOf = (chosen: readonly ModelRow[]) => chosen.map(({ id }) => id);
  const changed = rows.filter((row) => BUILT_IN.has(row.id) && BUILT_IN.get(row.id) !== row);
  return {
    models: rows.length,
    added: idsOf(rows.filter(({ id }) => !BUILT_IN.has(id))),
    changed: idsOf(changed),
    disabled: idsOf(rows.filter(({ enabled }) => !enabled)),
    providers: providers.map(({ id }) => id),
    voice_aliases: Object.keys(voiceAliases).length,
  };
}
