import { readFileSync } from 'node:fs';

const { scripts } = JSON.parse(
  readFileSync(new URL('../package.json', import.meta.url), 'utf8'),
) as { scripts: Record<string, string> };

/**
 * The options of `node` with which `npm run start:built` and the image start the gateway. `--max-semi-space-size=16` bounds the
 * memory of young objects as Node.js 22 does; Node.js 24 gives them twice as much, and a call costs as much CPU with either
 * (bench/README.md, "Memory of young objects").
 */
export const START_FLAGS: readonly string[] = (scripts['start:built'] ?? '')
  .split(' ')
  .slice(2, -1);
