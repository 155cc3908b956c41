import { ConfigError } from '../../config/load-config.js';
import type { EndpointChange } from '../http/endpoint-change.js';
import type { TtapiEndpoint, TtapiEndpoints } from './ttapi-endpoints.js';
import { ANSWER_FIELDS, SONG_FIELDS } from './ttapi-fields.js';

/**
 * The table with the operator's changes applied. Throws ConfigError when it has neither the name of a change nor the
 * name in its `like`, and for a field that no song has or no answer is read for.
 */
export function changedEndpoints(
  endpoints: TtapiEndpoints,
  changes: readonly EndpointChange[],
): TtapiEndpoints {
  const changed: Record<string, TtapiEndpoint> = { ...endpoints };
  for (const change of changes) {
    const { name, like = name } = change;
    const base = Object.hasOwn(changed, like) ? changed[like] : undefined;
    if (!base) throw new ConfigError([`CATALOG_FILE: upstream_calls: no call is named ${like}`]);
    checkFields(base, change);
    changed[name] = changedEndpoint(base, change);
  }
  return changed;
}

function changedEndpoint(base: TtapiEndpoint, change: EndpointChange): TtapiEndpoint {
  const { name: _, like: __, names = {}, values = {}, constants, answerNames, ...rest } = change;
  // The track and the version are not fields of the request, so their names are kept apart.
  const { [base.track]: track = base.track, ...others } = names;
  const { [base.version ?? '']: version = base.version, ...renamed } = others;
  return {
    ...base,
    ...given({ ...rest, version }),
    track,
    names: { ...base.names, ...renamed },
    values: mergedValues(base.values ?? {}, values),
    constants: given({ ...base.constants, ...constants }),
    answerNames: { ...base.answerNames, ...answerNames },
  };
}

/** The entries that have a value. */
function given<T extends object>(entries: T): { [K in keyof T]?: Exclude<T[K], undefined> } {
  return Object.fromEntries(Object.entries(entries).filter(([, value]) => value !== undefined)) as {
    [K in keyof T]?: Exclude<T[K], undefined>;
  };
}

function mergedValues(
  known: NonNullable<TtapiEndpoint['values']>,
  added: NonNullable<EndpointChange['values']>,
): NonNullable<TtapiEndpoint['values']> {
  const fields = Object.entries(added).map(([field, values]) => [
    field,
    { ...known[field], ...values },
  ]);
  return { ...known, ...(Object.fromEntries(fields) as NonNullable<TtapiEndpoint['values']>) };
}

/** A misspelt field would change nothing, and nobody would notice. */
function checkFields(base: TtapiEndpoint, change: EndpointChange): void {
  const { names = {}, values = {}, omits = [], steps = [], answerNames = {} } = change;
  const named = new Set([...SONG_FIELDS, base.track, base.version]);
  const taken = steps.flatMap(({ takes, onlyWith = 'prompt' }) => [...takes, onlyWith]);
  for (const [list, fields, known] of [
    ['names', Object.keys(names), named],
    ['values', Object.keys(values), SONG_FIELDS],
    ['omits', omits, SONG_FIELDS],
    ['steps', taken, SONG_FIELDS],
    ['answer_names', Object.keys(answerNames), ANSWER_FIELDS],
  ] as const) {
    const unknown = fields.find((field) => !known.has(field));
    if (unknown === undefined) continue;
    const what = list === 'answer_names' ? 'is read from no answer' : 'is no field of a song';
    throw new ConfigError([
      `CATALOG_FILE: upstream_calls: ${change.name}: ${list}: ${unknown} ${what}`,
    ]);
  }
}
