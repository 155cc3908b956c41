import { ConfigError } from '../../config/load-config.js';
import type { EndpointChange } from '../http/endpoint-change.js';
import type { TtapiEndpoint, TtapiEndpoints } from './ttapi-endpoints.js';

/**
 * The table with the operator's changes applied. Throws ConfigError when it has neither the name of a change nor the
 * name in its `like`.
 */
export function changedEndpoints(
  endpoints: TtapiEndpoints,
  changes: readonly EndpointChange[],
): TtapiEndpoints {
  const changed: Record<string, TtapiEndpoint> = { ...endpoints };
  for (const { name, like = name, path, names, values } of changes) {
    const base = Object.hasOwn(changed, like) ? changed[like] : undefined;
    if (!base) throw new ConfigError([`CATALOG_FILE: upstream_calls: no call is named ${like}`]);
    // The track and the version are not fields of the request, so their names are kept apart.
    const { [base.track]: track = base.track, ...rest } = names;
    const { [base.version ?? '']: version = base.version, ...others } = rest;
    changed[name] = {
      ...base,
      path: path ?? base.path,
      track,
      names: { ...base.names, ...others },
      values: mergedValues(base.values ?? {}, values),
      ...(version !== undefined && { version }),
    };
  }
  return changed;
}

function mergedValues(
  known: NonNullable<TtapiEndpoint['values']>,
  added: EndpointChange['values'],
): NonNullable<TtapiEndpoint['values']> {
  const fields = Object.entries(added).map(([field, values]) => [
    field,
    { ...known[field], ...values },
  ]);
  return { ...known, ...(Object.fromEntries(fields) as NonNullable<TtapiEndpoint['values']>) };
}
