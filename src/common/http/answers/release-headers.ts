import type { ServerResponse } from 'node:http';

/**
 * Frees the table of headers, 2 kB, of an answer whose head was sent. `getHeader` finds nothing from then on. The key of the
 * table is not part of Node's public interface; where there is none, nothing is freed.
 */
export function releaseHeaders(response: ServerResponse): void {
  const key = Object.getOwnPropertySymbols(response).find(
    ({ description }) => description === 'kOutHeaders',
  );
  if (key && response.headersSent) Reflect.set(response, key, null);
}
