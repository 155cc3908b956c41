import { readFileSync } from 'node:fs';

const PACKAGE = new URL('../../package.json', import.meta.url);

/** The version of this gateway, for example `0.1.0`. */
export const GATEWAY_VERSION = (
  JSON.parse(readFileSync(PACKAGE, 'utf8')) as { readonly version: string }
).version;
