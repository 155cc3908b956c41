import { isJsonObject, type JsonObject } from '../../common/json-object.js';
import type { PartFault } from '../../common/validation/fields.js';
import { faultAt } from '../../common/validation/clean-json.js';
import { cacheFault } from './tool-shapes.js';

/** Most characters of an unknown block as JSON. */
const MAX_CHARS = 1024 * 1024;
const TYPE = /^[a-z][a-z0-9_]{0,63}$/;
const TEXT_SOURCES: readonly unknown[] = ['text', 'content'];

/** Whether the type of a block may be one that a vendor of this protocol has added. */
export function isUnknownType(type: unknown): type is string {
  return typeof type === 'string' && TYPE.test(type);
}

/**
 * A block of an earlier answer that is not known here. Its vendor gets it back as it is, so all in it has to be text, whose
 * price the length of the JSON bounds.
 */
export function unknownBlockFault(block: JsonObject): PartFault | undefined {
  if (JSON.stringify(block).length > MAX_CHARS) {
    return faultAt('', `must be at most ${MAX_CHARS} characters as JSON`);
  }
  const says = faultIn(block);
  return says === undefined ? undefined : faultAt('', says);
}

function faultIn(value: unknown): string | undefined {
  if (typeof value !== 'object' || value === null) return undefined;
  if (isJsonObject(value)) {
    if (holdsMedia(value)) return 'must not hold images or files: nobody knows what they cost';
    const fault = cacheFault(value.cache_control);
    if (fault) return `has a cache_control${fault.at}, which ${fault.says}`;
  }
  for (const inner of Object.values(value)) {
    const says = faultIn(inner);
    if (says !== undefined) return says;
  }
  return undefined;
}

function holdsMedia({ type, source, file_id: file }: JsonObject): boolean {
  const isFile = file !== undefined && file !== null;
  return (
    isFile || type === 'image' || (isJsonObject(source) && !TEXT_SOURCES.includes(source.type))
  );
}
