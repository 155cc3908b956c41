import { readFileSync } from 'node:fs';
import type { GatewayError } from '../common/errors/gateway-error.js';
import { isJsonObject } from '../common/json-object.js';
import { validatorOf } from '../common/validation/compiled-validator.js';
import { everyFault } from '../common/validation/every-fault.js';
import { ConfigError } from '../platform/config/load-config.js';
import { isGatewayVariable } from '../platform/config/environment-variables.js';
import { costsOfVendors, modelsOfVendors } from '../providers/providers.js';
import { VENDOR_COST } from '../providers/http/figures.js';
import type { ModelRow } from './model-row.js';
import { BUILT_IN_MODELS } from './models/built-in.models.js';
import {
  CatalogOverlay,
  isOfKnownProvider,
  type OverlayKeyLimits,
  OverlayModel,
  type OverlayProvider,
  type OverlayReportedCost,
} from './overlay.dto.js';
import { overlaidRow } from './overlay-rows.js';
import { RowFaults } from './overlay-terms.js';
import type { CostFigure, ReportedCost } from './reported-cost.js';

const UPSTREAM_CALLS_ARE_GONE =
  'upstream_calls is no longer read: how each song operation is sent is a table in the code, src/providers/ttapi/ttapi-endpoints.ts. Remove the key';

/** The models and the extra providers, after the overlay was applied. */
export interface LoadedCatalog {
  readonly rows: readonly ModelRow[];
  readonly providers: readonly OverlayProvider[];
  /** What the keys of providers may be used for, by the ids of the providers. */
  readonly keyLimits?: ReadonlyMap<string, OverlayKeyLimits>;
  /** Voices by the further names that callers may use. */
  readonly voiceAliases?: Readonly<Record<string, string>>;
}

/**
 * The built-in rows with the overlay file applied; without a path, the built-in rows alone. Throws {@link ConfigError}
 * for an unreadable file, and for everything that is wrong in it.
 * @param vendorsDir the folder of the operator's vendors: a model that one offers needs only a price
 */
export function loadCatalog(path: string | undefined, vendorsDir?: string): LoadedCatalog {
  if (path === undefined) return { rows: BUILT_IN_MODELS, providers: [] };
  return overlaidCatalog(readOverlay(path), vendorsDir);
}

/**
 * The ids of the models of a vendor to which an overlay file gives a price: by a row without routes, or with one to the vendor.
 * Throws {@link ConfigError} where it cannot be read.
 */
export function pricedModels(path: string | undefined, vendor: unknown): ReadonlySet<unknown> {
  if (path === undefined) return new Set();
  const entries = listOf(readOverlay(path), 'models').filter(isJsonObject);
  const priced = entries.filter(({ price, routes }) => {
    const isOwn =
      Array.isArray(routes) &&
      !routes.some((route) => isJsonObject(route) && route.provider === vendor);
    return isJsonObject(price) && !isOwn;
  });
  return new Set(priced.map(({ id }) => id));
}

/** The built-in rows with an overlay applied. Throws {@link ConfigError} for everything that is wrong in it. */
export function overlaidCatalog(json: unknown, vendorsDir?: string): LoadedCatalog {
  if (isJsonObject(json) && 'upstream_calls' in json) throw problem(UPSTREAM_CALLS_ARE_GONE);
  const faults = everyFault(CatalogOverlay, json);
  const problems = faults.map((fault) => described(fault, json));
  const rows = new Map(BUILT_IN_MODELS.map((row) => [row.id, row]));
  const offered = modelsOfVendors(vendorsDir);
  for (const [index, entry] of listOf(json, 'models').entries()) {
    if (everyFault(OverlayModel, entry).length > 0) continue;
    const model = validatorOf(OverlayModel).parse(entry);
    const base = rows.get(model.id) ?? completedBy(model, offered.get(model.id));
    try {
      rows.set(model.id, overlaidRow(model, base));
    } catch (error) {
      if (!(error instanceof RowFaults)) throw error;
      const named = base ? model.id : `${model.id}${ownRowOf(offered.get(model.id))}`;
      problems.push(...error.faults.map((fault) => `models.${index}: ${fault} (model ${named})`));
    }
  }
  problems.push(...aliasProblems([...rows.values()]), ...keyProblems(listOf(json, 'providers')));
  if (problems.length > 0) throw problem(...problems);
  const { providers = [], ...overlay } = validatorOf(CatalogOverlay).parse(json);
  return {
    rows: withReportedCosts([...rows.values()], providers, vendorsDir),
    providers: providers.filter((entry) => !isOfKnownProvider({ ...entry })),
    keyLimits: new Map(providers.flatMap(({ id, key_limits: own }) => (own ? [[id, own]] : []))),
    voiceAliases: overlay.voice_aliases ?? {},
  };
}

/**
 * The model of a vendor's file that the row completes: the row has no routes, or one to that vendor. Undefined for a row of its own,
 * which takes nothing from the file but has the same id.
 */
function completedBy<M extends Pick<ModelRow, 'routes'>>(
  { routes }: Pick<OverlayModel, 'routes'>,
  model: M | undefined,
): M | undefined {
  const vendors = model?.routes.map(({ provider }) => provider);
  const isCompleted = routes?.some(({ provider }) => vendors?.includes(provider)) ?? true;
  return isCompleted ? model : undefined;
}

/** Says why a row has to be whole, where it has the id of a model that a file offers. */
function ownRowOf(model: Pick<ModelRow, 'routes'> | undefined): string {
  const [route] = model?.routes ?? [];
  return route ? `, a row of its own: it has no route to ${route.provider}` : '';
}

/** The rows whose routes say how the figures of their providers are read. */
function withReportedCosts(
  rows: readonly ModelRow[],
  providers: readonly OverlayProvider[],
  vendorsDir: string | undefined,
): readonly ModelRow[] {
  const costs = new Map([
    ...[...costsOfVendors(vendorsDir)].map(
      ([id, cost]) => [id, reportedCost({ ...cost, figure: VENDOR_COST })] as const,
    ),
    ...providers.flatMap(({ id, reported_cost: cost }) =>
      cost ? [[id, reportedCost(cost)] as const] : [],
    ),
  ]);
  return rows.map((row) => {
    if (!row.routes.some(({ provider }) => costs.has(provider))) return row;
    const routes = row.routes.map((route) => ({
      ...route,
      reportedCost: costs.get(route.provider),
    }));
    return { ...row, routes };
  });
}

function reportedCost({
  figure,
  micro_usd_per_million_units: perMillion,
}: Pick<OverlayReportedCost, 'micro_usd_per_million_units'> & {
  readonly figure: CostFigure;
}): ReportedCost {
  return perMillion === undefined
    ? { figure }
    : { figure, microUsdPerMillionUnits: BigInt(perMillion) };
}

/** The fault, with the id of the model or provider in whose entry it is. */
function described({ param, message }: GatewayError, json: unknown): string {
  const [list = '', index = ''] = param?.split('.') ?? [];
  const noun = NOUN_OF_LIST.get(list);
  const entry = listOf(json, list)[Number(index)];
  const id = isJsonObject(entry) ? entry.id : undefined;
  const named = noun !== undefined && typeof id === 'string' ? ` (${noun} ${id})` : '';
  return `${message.replace(/\.$/, '')}${named}`;
}

const NOUN_OF_LIST: ReadonlyMap<string, string> = new Map([
  ['models', 'model'],
  ['providers', 'provider'],
]);

/** The entries of a list of the file; empty where it is none. */
function listOf(json: unknown, name: string): readonly unknown[] {
  const list = isJsonObject(json) ? json[name] : undefined;
  return Array.isArray(list) ? list : [];
}

/** A name has to mean one model. */
function aliasProblems(rows: readonly ModelRow[]): string[] {
  const taken = new Set(rows.map(({ id }) => id));
  return rows.flatMap(({ id, aliases = [] }) =>
    aliases.flatMap((alias) => {
      if (taken.has(alias)) return [`model ${id}: aliases: ${alias} names another model, or twice`];
      taken.add(alias);
      return [];
    }),
  );
}

/** The key of a provider is sent to an address of the file: no other secret of the gateway may be. */
function keyProblems(providers: readonly unknown[]): string[] {
  return providers.flatMap((entry, index) => {
    const { id, api_key_env: variable } = isJsonObject(entry) ? entry : {};
    if (typeof variable !== 'string' || !isGatewayVariable(variable)) return [];
    return [
      `providers.${index}: api_key_env: ${variable} is a setting of the gateway, and no key of a provider (provider ${String(id)})`,
    ];
  });
}

function readOverlay(path: string): unknown {
  let text: string;
  try {
    text = readFileSync(path, 'utf8');
  } catch (error) {
    throw problem(`${path} cannot be read (${(error as NodeJS.ErrnoException).code ?? 'unknown'})`);
  }
  try {
    return JSON.parse(text) as unknown;
  } catch {
    throw problem('is no valid JSON');
  }
}

function problem(...texts: string[]): ConfigError {
  return new ConfigError(texts.map((text) => `CATALOG_FILE: ${text}`));
}
