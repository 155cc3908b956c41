import type { Response } from 'express';

/** Header that names the fields of a request that were left out (decision G-92). */
export const IGNORED_FIELDS_HEADER = 'x-gateway-ignored-fields';

/** Sets the header, unless no field was ignored. */
export function setIgnoredFieldsHeader(response: Response, ignored: readonly string[]): void {
  if (ignored.length > 0) response.setHeader(IGNORED_FIELDS_HEADER, ignored.join(', '));
}
