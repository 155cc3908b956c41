import type { JsonObject } from '../../common/json-object.js';
import type { SongCommand } from '../ports/song.port.js';
import type { TtapiEndpoint, TtapiStep } from './ttapi-endpoints.js';

const DEFAULT_VERSION = 'v6';
/** The title for an upstream that requires one, when neither the caller nor the source has one. */
const NO_TITLE = 'Untitled';
const INSTRUMENTAL = 'Instrumental.';

/** The body of the operation itself. `memory` holds the responses of the steps before it. */
export function requestBody(
  endpoint: TtapiEndpoint,
  command: SongCommand,
  memory: JsonObject,
): JsonObject {
  const fields = endpoint.family === 'flowmusic' ? flowFields(command) : songFields(command);
  const sent = Object.entries(fields).filter(
    ([name, value]) =>
      value !== undefined &&
      !endpoint.omits?.includes(name) &&
      !isSentBefore(endpoint, name, memory),
  );
  return {
    ...endpoint.constants,
    ...Object.fromEntries(sent.map(([name, value]) => named(endpoint, name, value))),
    ...trackOf(endpoint, command),
    ...versionOf(endpoint, command),
    ...titleOf(endpoint, command),
    ...(command.personaId !== undefined && { persona_id: command.personaId }),
    ...memory,
  };
}

/** The body of a step before the operation. */
export function stepBody(
  endpoint: TtapiEndpoint,
  step: TtapiStep,
  command: SongCommand,
): JsonObject {
  const taken = step.takes.map((name) => [name, command.fields[name]]);
  return {
    ...step.constants,
    ...(Object.fromEntries(taken) as JsonObject),
    ...trackOf(endpoint, command),
  };
}

/** The first step whose response is not stored yet; undefined if the operation itself comes next. */
export function nextSongStep(
  endpoint: TtapiEndpoint,
  command: SongCommand,
  memory: JsonObject,
): TtapiStep | undefined {
  return endpoint.steps?.find(
    ({ onlyWith, keeps }) =>
      memory[keeps] === undefined &&
      (onlyWith === undefined || command.fields[onlyWith] !== undefined),
  );
}

/** Public fields in the format of the first family: a description has a field of its own, and Max mode is a flag. */
function songFields({ fields }: SongCommand): JsonObject {
  const { custom, prompt, max_mode: isMax, version: _, ...rest } = fields;
  const words = custom === false ? { gen_description: prompt ?? rest.gen_description } : { prompt };
  return { custom, ...rest, ...words, max_mode: isMax === true ? true : undefined };
}

/**
 * Public fields in the format of the second family: seeds are text, and there is no field for a song without singing.
 */
function flowFields({ fields }: SongCommand): JsonObject {
  const { instrumental, prompt, lyrics, seed, ...rest } = fields;
  const isMute = instrumental === true;
  const style = isMute ? [INSTRUMENTAL, prompt].filter(Boolean).join(' ') : prompt;
  return {
    ...rest,
    prompt: style,
    lyrics: isMute ? undefined : lyrics,
    seed: typeof seed === 'number' ? `${seed}` : undefined,
  };
}

function named(endpoint: TtapiEndpoint, name: string, value: unknown): readonly [string, unknown] {
  const values = endpoint.values?.[name];
  const known = typeof value === 'string' && values && Object.hasOwn(values, value);
  return [endpoint.names?.[name] ?? name, known ? values[value] : value];
}

/** A recording that a step has uploaded is not sent again. */
function isSentBefore(endpoint: TtapiEndpoint, name: string, memory: JsonObject): boolean {
  return (
    name === 'audio_url' &&
    (endpoint.steps?.some(({ takes, keeps }) => takes.includes(name) && keeps in memory) ?? false)
  );
}

function trackOf(endpoint: TtapiEndpoint, { trackIds }: SongCommand): JsonObject {
  const [first] = trackIds;
  if (first === undefined) return {};
  return { [endpoint.track]: trackIds.length === 1 ? first : trackIds };
}

function versionOf(endpoint: TtapiEndpoint, { fields, customModelId }: SongCommand): JsonObject {
  if (endpoint.version === undefined) return {};
  if (customModelId !== undefined) return { [endpoint.version]: customModelId };
  const [, value] = named(endpoint, 'version', fields.version ?? DEFAULT_VERSION);
  return { [endpoint.version]: value };
}

function titleOf(endpoint: TtapiEndpoint, { fields, sourceTitle }: SongCommand): JsonObject {
  return endpoint.needsTitle ? { title: fields.title ?? sourceTitle ?? NO_TITLE } : {};
}
