import { describe, expect, it } from '@jest/globals';
import { runProgram } from '../support/process.js';

describe('bad settings', () => {
  const BAD = {
    PORT: 'eighty',
    ADMIN_TOKEN: 'hunter2',
    DATABASE_URL: 'mysql://root:hunter2@db/shim',
    SANDBOX: 'maybe',
    WORKERS: '-1',
    LOG_LEVEL: 'loud',
  };

  it.each([
    ['node dist/main.js', ['node', 'dist/main.js']],
    ['npm run start:built', ['npm', 'run', '--silent', 'start:built']],
    ['node dist/cli.js', ['node', 'dist/cli.js', 'audit']],
  ] as const)('end %s with 1, each of them named and no secret told', async (_title, command) => {
    const program = runProgram(command, BAD);
    expect(await program.exited).toEqual({ code: 1, signal: null });
    for (const name of Object.keys(BAD)) expect(program.stderr()).toContain(`  ${name}: `);
    expect(program.stdout() + program.stderr()).not.toContain('hunter2');
  });
});
