import * as module from 'node:module';
import { fileURLToPath } from 'node:url';

const COMPILED = fileURLToPath(new URL('../node_modules/.cache/compiled', import.meta.url));

/** Node.js 22 and later keep what they compile, for this process, its workers and later ones. */
export function keepCompiled() {
  module.enableCompileCache?.(COMPILED);
  process.env.NODE_COMPILE_CACHE ??= COMPILED;
}
