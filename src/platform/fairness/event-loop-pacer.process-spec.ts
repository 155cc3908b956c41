import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { expect, it } from '@jest/globals';

/** The built file, because an uncaught error would end the test itself. */
const PACER = new URL('../../../dist/platform/fairness/event-loop-pacer.js', import.meta.url).href;
const PROGRAM = `
  import { EventLoopPacer } from '${PACER}';
  process.on('uncaughtException', ({ message }) => console.log('uncaught ' + message));
  const pacer = new EventLoopPacer(4);
  for (const name of ['one', 'two', 'three', 'four', 'five']) {
    pacer.wait('a', () => {
      if (name === 'two' || name === 'three') throw new Error(name);
      console.log(name);
    });
  }
`;

it('calls every callback once, although some throw', async () => {
  const { stdout } = await promisify(execFile)(
    process.execPath,
    ['--input-type=module', '--eval', PROGRAM],
    { timeout: 60_000 },
  );
  expect(stdout.trim().split('\n').sort()).toEqual(
    ['one', 'uncaught two', 'uncaught three', 'four', 'five'].sort(),
  );
});
