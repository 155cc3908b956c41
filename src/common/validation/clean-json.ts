/// <reference lib="es2024.string" />

import type { PartFault } from './fields.js';

/** The path in an error message is cut at this length, because it may consist of the client's own words. */
const MAX_PATH_LENGTH = 128;

/** Whether every text and key in a JSON value is well-formed Unicode without U+0000 (decision G-03). */
export function isCleanJson(value: unknown): boolean {
  if (typeof value === 'string') return textFault(value) === undefined;
  if (typeof value !== 'object' || value === null) return true;
  if (Array.isArray(value)) return value.every(isCleanJson);
  return Object.entries(value).every(([key, inner]) => isCleanJson(key) && isCleanJson(inner));
}

/** The first text or key that is not well-formed; undefined if all are. */
export function uncleanPart(value: unknown, at = ''): PartFault | undefined {
  if (isCleanJson(value)) return undefined;
  if (typeof value === 'string') {
    return { at: at.slice(0, MAX_PATH_LENGTH), says: textFault(value) ?? '' };
  }
  for (const [key, inner] of Object.entries(value as object)) {
    const says = textFault(key);
    if (says !== undefined) return { at, says: `has a name that ${says}` };
    const fault = uncleanPart(inner, `${at}.${key}`);
    if (fault) return fault;
  }
  return undefined;
}

function textFault(text: string): string | undefined {
  if (!text.isWellFormed()) return 'must be well-formed Unicode';
  return text.includes('\0') ? 'must not contain U+0000' : undefined;
}

/** A fault of the part at this path; see {@link PartFault}. */
export const faultAt = (at: string, says: string): PartFault => ({ at, says });

/** The fault of an inner part, as one of the value that has it at this path. */
export const within = (at: string, fault: PartFault | undefined): PartFault | undefined =>
  fault && faultAt(at + fault.at, fault.says);
