import type { ApiFamily } from '../common/errors/api-family.js';
import { OPERATIONS } from './operations.js';

/** Families by the beginning of a path: of the operations' own paths, and below those of the folders that they share. */
const BEGINNINGS = beginnings();

/**
 * The API family of a request path. A path below that of an operation has the family of the operation, and one beside
 * it that of the first operation there; all others are general.
 */
export function apiFamilyOf(path: string): ApiFamily {
  return BEGINNINGS.find(([beginning]) => path.startsWith(beginning))?.[1] ?? 'general';
}

function beginnings(): [beginning: string, family: ApiFamily][] {
  const rows = Object.values(OPERATIONS);
  const folders = new Map<string, ApiFamily>();
  for (const { path, family } of rows) {
    const folder = path.slice(0, path.lastIndexOf('/') + 1);
    if (folder !== '/v1/' && !folders.has(folder)) folders.set(folder, family);
  }
  return [...rows.map(({ path, family }): [string, ApiFamily] => [path, family]), ...folders];
}
