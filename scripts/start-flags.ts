import { readFileSync } from 'node:fs';

const { scripts } = JSON.parse(
  readFileSync(new URL('../package.json', import.meta.url), 'utf8'),
) as { scripts: Record<string, string> };

/** The options of `node` with which `npm run start:built` and the image start the gateway. */
export const START_FLAGS: readonly string[] = (scripts['start:built'] ?? '')
  .split(' ')
  .slice(2, -1);
