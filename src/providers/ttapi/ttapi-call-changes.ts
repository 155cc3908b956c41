import { ConfigError } from '../../config/load-config.js';
import type { CallChange } from '../http/call-change.js';
import type { TtapiCall, TtapiCalls } from './ttapi-calls.js';

/** The table with the operator's changes laid over it. Throws ConfigError for a call that neither it nor `like` knows. */
export function changedCalls(calls: TtapiCalls, changes: readonly CallChange[]): TtapiCalls {
  const changed: Record<string, TtapiCall> = { ...calls };
  for (const { call, like = call, path, names, values } of changes) {
    const base = Object.hasOwn(changed, like) ? changed[like] : undefined;
    if (!base) throw new ConfigError([`CATALOG_FILE: upstream_calls: no call is named ${like}`]);
    // The track and the version are no fields of the request, so their names stand apart.
    const { [base.track]: track = base.track, ...rest } = names;
    const { [base.version ?? '']: version = base.version, ...others } = rest;
    changed[call] = {
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
  known: NonNullable<TtapiCall['values']>,
  added: CallChange['values'],
): NonNullable<TtapiCall['values']> {
  const fields = Object.entries(added).map(([field, values]) => [
    field,
    { ...known[field], ...values },
  ]);
  return { ...known, ...(Object.fromEntries(fields) as NonNullable<TtapiCall['values']>) };
}
