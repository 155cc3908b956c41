import { describe, expect, it } from '@jest/globals';
import { runProgram } from '../support/process.js';

/** Makes a process believe that an older Node.js runs it. */
const AS_NODE_18 = [
  "--import=data:text/javascript,Object.defineProperty(process,'versions',",
  "{value:{...process.versions,node:'18.20.8'}})",
].join('');

describe('an older Node.js', () => {
  it.each([
    ['node dist/main.js', ['node', 'dist/main.js']],
    ['node dist/cli.js', ['node', 'dist/cli.js', 'accounts']],
    ['npm run start:built', ['npm', 'run', '--silent', 'start:built']],
    ['node scripts/start.js', ['node', 'scripts/start.js']],
    ['npx shim', ['node', 'scripts/cli.js', 'accounts']],
  ] as const)(
    'ends %s with one sentence, before the settings are read',
    async (_title, command) => {
      const program = runProgram(command, { NODE_OPTIONS: AS_NODE_18, PORT: 'eighty' });
      expect(await program.exited).toEqual({ code: 1, signal: null });
      expect(program.stderr()).toBe(
        'Shim needs one of Node.js 20.19, 22.13, 24.11, or a later version; this is 18.20.8. Get one from https://nodejs.org, or with: nvm install 24\n',
      );
    },
  );
});
