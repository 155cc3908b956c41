import { describe, expect, it } from '@jest/globals';
import './runtime-settings.js';

const READ_BYTES = 65_536;
const READS = 8_192;
/** Twice the bound, because the next buffers may gather while the dropped ones are being freed. */
const MOST_BYTES = 64 * 1_048_576;

describe('buffers that nothing holds any more', () => {
  it('take a bounded memory', () => {
    const before = process.memoryUsage().arrayBuffers;
    let most = 0;
    for (let read = 0; read < READS; read += 1) {
      Buffer.allocUnsafeSlow(READ_BYTES);
      most = Math.max(most, process.memoryUsage().arrayBuffers - before);
    }
    expect(most).toBeLessThan(MOST_BYTES);
  });
});
