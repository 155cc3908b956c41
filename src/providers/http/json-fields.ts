import { isJsonObject, type JsonObject } from '../../common/json-object.js';

/** Ids of jobs have this format because they become part of a path. No `..` leads out of it. */
const JOB_ID = /^\w[\w.:-]{0,199}$/;

/** An id of a request, as records keep it. */
const REQUEST_ID = /^[\w.:-]{1,200}$/;

/** A value of the provider as the id of a request; null where it is none: it may be of any length, and have any character. */
export function asRequestId(value: unknown): string | null {
  return typeof value === 'string' && REQUEST_ID.test(value) ? value : null;
}

/** A text field of a provider's response; null when it is missing or no text. */
export function textAt(object: JsonObject, key: string): string | null {
  const value = object[key];
  return typeof value === 'string' ? value : null;
}

/** A finite number in a provider's response; null when it is missing or no number. */
export function numberAt(object: JsonObject, key: string): number | null {
  const value = object[key];
  return typeof value === 'number' && Number.isFinite(value) ? value : null;
}

/** The objects of a list in a provider's response; null when there is no list. */
export function listAt(object: JsonObject, key: string): JsonObject[] | null {
  const value = object[key];
  return Array.isArray(value) ? value.filter(isJsonObject) : null;
}

/** The id of a job that a provider began; undefined when it is missing or cannot stand in a path. */
export function jobIdAt(object: JsonObject, key: string): string | undefined {
  const id = textAt(object, key) ?? '';
  return JOB_ID.test(id) ? id : undefined;
}
