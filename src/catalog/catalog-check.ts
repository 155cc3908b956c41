import { ConfigError } from '../platform/config/load-config.js';
import type { LoadedCatalog } from './catalog-file.js';
import type { ModelRow } from './model-row.js';
import { BUILT_IN_MODELS } from './models/built-in.models.js';
import { SANDBOX_MODELS } from './models/sandbox.models.js';
import {
  catalogDifferences,
  type FieldDifference,
  isCostField,
  type ModelDifference,
  rowDifferences,
} from './row-differences.js';

const BUILT_IN: ReadonlyMap<string, ModelRow> = new Map(
  BUILT_IN_MODELS.map((row) => [row.id, row]),
);
const SETTING = /^CATALOG_FILE: /;
/** Most faults that a check tells, and most characters of each. */
const MAX_FAULTS = 100;
const MAX_FAULT_CHARS = 1_000;
/** Most fields that a check tells, and those of one model. */
const MAX_DIFFERENCES = 1_000;
const MAX_DIFFERENCES_OF_MODEL = 200;

/** Where the row of a model comes from: built in, built in and changed by the overlay, or added by it. */
export const ROW_SOURCES = ['built_in', 'changed', 'added'] as const;
export type RowSource = (typeof ROW_SOURCES)[number];

/** What an overlay would change. */
interface CatalogChangesOfOverlay {
  /** How many models there would be. */
  readonly models: number;
  readonly added: readonly string[];
  readonly changed: readonly string[];
  readonly disabled: readonly string[];
  /** Ids of its providers. */
  readonly providers: readonly string[];
  readonly voiceAliases: number;
  /** What would be other than it is sold now: the first ones. */
  readonly differences: readonly ModelDifference[];
  readonly moreDifferences?: number;
}

/** What an overlay on the catalog would change, or what is wrong with it: without faults a start would take it. */
export interface CatalogCheck {
  /** Undefined where there are faults. */
  readonly changes?: CatalogChangesOfOverlay;
  /** The first ones. */
  readonly faults: readonly string[];
  /** How many there are beside them, if any. */
  readonly moreFaults?: number;
}

/** Where the row comes from. A provider whose reported cost the overlay names changes the rows of its routes. */
export function sourceOf(row: ModelRow): RowSource {
  if (SANDBOX_MODELS.includes(row)) return 'built_in';
  if (!BUILT_IN.has(row.id)) return 'added';
  return BUILT_IN.get(row.id) === row ? 'built_in' : 'changed';
}

/** How the row differs from the built-in one, costs left out: nothing for a built-in row, and for a model that the overlay adds. */
export function differencesOf(row: ModelRow): readonly FieldDifference[] {
  const builtIn = BUILT_IN.get(row.id);
  if (builtIn === undefined || builtIn === row) return [];
  const differences = rowDifferences(builtIn, row).filter((one) => !isCostField(one));
  return differences.slice(0, MAX_DIFFERENCES_OF_MODEL);
}

/**
 * What `load` would change. Nothing uses what it loads.
 * @param sold the models of now, with which its fields are compared
 */
export function checkOverlay(
  load: () => LoadedCatalog,
  sold: readonly ModelRow[] = BUILT_IN_MODELS,
): CatalogCheck {
  try {
    return { changes: changesOf(load(), sold), faults: [] };
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    const faults = error.problems.slice(0, MAX_FAULTS).map(toldFault);
    const more = error.problems.length - faults.length;
    return { faults, ...(more > 0 && { moreFaults: more }) };
  }
}

function toldFault(problem: string): string {
  const fault = problem.replace(SETTING, '');
  return fault.length <= MAX_FAULT_CHARS ? fault : `${fault.slice(0, MAX_FAULT_CHARS - 1)}…`;
}

function changesOf(
  { rows, providers, voiceAliases = {} }: LoadedCatalog,
  sold: readonly ModelRow[],
): CatalogChangesOfOverlay {
  // No file takes the models of the sandbox away.
  const before = sold.filter((row) => !SANDBOX_MODELS.includes(row));
  const differences = catalogDifferences(before, rows);
  const more = differences.length - MAX_DIFFERENCES;
  const idsOf = (chosen: readonly ModelRow[]) => chosen.map(({ id }) => id);
  return {
    models: rows.length,
    added: idsOf(rows.filter((row) => sourceOf(row) === 'added')),
    changed: idsOf(rows.filter((row) => sourceOf(row) === 'changed')),
    disabled: idsOf(rows.filter(({ enabled }) => !enabled)),
    providers: providers.map(({ id }) => id),
    voiceAliases: Object.keys(voiceAliases).length,
    differences: differences.slice(0, MAX_DIFFERENCES),
    ...(more > 0 && { moreDifferences: more }),
  };
}
