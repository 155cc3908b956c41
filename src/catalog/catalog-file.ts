import { readFileSync } from 'node:fs';
import { GatewayError } from '../common/errors/gateway-error.js';
import { isJsonObject } from '../common/json-object.js';
import { validatorOf } from '../common/validation/compiled-validator.js';
import { ConfigError } from '../platform/config/load-config.js';
import { isGatewayVariable } from '../platform/config/environment-variables.js';
import type { ModelRow } from './model-row.js';
import { BUILT_IN_MODELS } from './models/built-in.models.js';
import { CatalogOverlay, type OverlayProvider } from './overlay.dto.js';
import { overlaidRow } from './overlay-rows.js';

const UPSTREAM_CALLS_ARE_GONE =
  'upstream_calls is no longer read: how each song operation is sent is a table in the code, src/providers/ttapi/ttapi-endpoints.ts. Remove the key';

/** The models and the extra providers, after the overlay was applied. */
export interface LoadedCatalog {
  readonly rows: readonly ModelRow[];
  readonly providers: readonly OverlayProvider[];
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
  problems.push(...aliasProblems([...rows.values()]), ...keyProblems(overlay.providers));
  if (problems.length > 0) throw problem(...problems);
  return {
    rows: [...rows.values()],
    providers: overlay.providers ?? [],
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

/** The key of a provider is sent to an address of the file: no other secret of the gateway may be. */
function keyProblems(providers: readonly OverlayProvider[] = []): string[] {
  return providers.flatMap(({ id, api_key_env: variable }, index) =>
    isGatewayVariable(variable)
      ? [
          `providers.${index}: api_key_env: ${variable} is a setting of the gateway, and no key of a provider (provider ${id})`,
        ]
      : [],
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
    const json = JSON.parse(text) as unknown;
    if (isJsonObject(json) && 'upstream_calls' in json) throw problem(UPSTREAM_CALLS_ARE_GONE);
    return validatorOf(CatalogOverlay).parse(json);
  } catch (error) {
    if (error instanceof ConfigError) throw error;
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
