import { describe, expect, it } from '@jest/globals';
import { once } from 'node:events';
import { createServer } from 'node:net';
import { startFault } from './start-fault.js';

/** An address for documentation, which no machine has. */
const FOREIGN = '203.0.113.1';

describe('startFault', () => {
  it('names HOST where its address is none of this machine', async () => {
    const refusal = await once(createServer().listen(0, FOREIGN), 'listening').catch(
      (error: unknown) => error,
    );
    // Node's own error is of another realm than the code under test.
    expect(startFault(Object.assign(new Error('listen'), refusal))).toBe(
      `The gateway could not start: HOST: ${FOREIGN} is no address of this machine.`,
    );
  });
});
