import { readFileSync } from 'node:fs';
import { GatewayError } from '../common/errors/gateway-error.js';
import { validatorOf } from '../common/validation/compiled-validator.js';
import { ConfigError } from '../config/load-config.js';
import type { ModelRow } from './model-row.js';
import { BUILT_IN_MODELS } from './models/built-in.models.js';
import type { OverlayCall } from './overlay-call.dto.js';
import { CatalogOverlay, type OverlayProvider } from './overlay.dto.js';
import { overlaidRow } from './overlay-rows.js';

/** The models and the extra providers, after the overlay was applied. */
export interface LoadedCatalog {
  readonly rows: readonly ModelRow[];
  readonly providers: readonly OverlayProvider[];
  /** How operators' upstreams differ from the adapters' tables. */
  readonly upstreamCalls?: readonly OverlayCall[];
  /** Voices by the further names that callers may use. */
  readonly voiceAliases?: Readonly<Record<string, string>>;
}

/**
 * The built-in rows with the overlay file applied; without a path, the built-in rows alone. Throws {@link ConfigError}
 * for an unreadable file, the first unknown key, and all invalid rows.
 */
export function loadCatalog(path: string | undefined): LoadedCatalog {
  if (path === undefined) return { rows: BUILT_IN_MODELS, providers: [] };
  const overlay = readOverlay(path);
  const rows = new Map(BUILT_IN_MODELS.map((row) => [row.id, row]));
  const problems: string[] = [];
  for (const [index, entry] of (overlay.models ?? []).entries()) {
    try {
      rows.set(entry.id, overlaidRow(entry, rows.get(entry.id)));
    } catch (error) {
      problems.push(`models.${index}: ${(error as Error).message} (model ${entry.id})`);
    }
  }
  problems.push(...aliasProblems([...rows.values()]));
  if (problems.length > 0) throw problem(...problems);
  return {
    rows: [...rows.values()],
    providers: overlay.providers ?? [],
    upstreamCalls: overlay.upstream_calls ?? [],
    voiceAliases: overlay.voice_aliases ?? {},
  };
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

function readOverlay(path: string): CatalogOverlay {
  let text: string;
  try {
    text = readFileSync(path, 'utf8');
  } catch (error) {
    throw problem(`${path} cannot be read (${(error as NodeJS.ErrnoException).code ?? 'unknown'})`);
  }
  try {
    return validatorOf(CatalogOverlay).parse(JSON.parse(text) as unknown);
  } catch (error) {
    throw problem(
      error instanceof GatewayError
        ? (error.param === null ? '' : `${error.param}: `) + error.message
        : 'is no valid JSON',
    );
  }
}

function problem(...texts: string[]): ConfigError {
  return new ConfigError(texts.map((text) => `CATALOG_FILE: ${text}`));
}
