import { afterAll, describe, expect, it } from '@jest/globals';
import { HttpTransport } from './http-transport.js';
import { UPSTREAM_TIMEOUTS, type UpstreamTimeoutName } from './upstream-timeouts.js';

const TOLERATED_IMAGE_MS = 120_000;
/** A transcription may be silent for this long, and nothing longer. */
const LONGEST_MS = 1_200_000;

describe('the silence a provider may keep', () => {
  const transport = new HttpTransport();
  const hurried = new HttpTransport(500);
  afterAll(() => Promise.all([transport.close(), hurried.close()]));

  it('is longer than 120 s for an image, before the head and inside the body (LIMIT-16)', () => {
    const { headMs, idleMs } = transport.timeoutOf('image');
    expect(Math.min(headMs, idleMs)).toBeGreaterThan(TOLERATED_IMAGE_MS);
  });

  it.each(Object.keys(UPSTREAM_TIMEOUTS) as UpstreamTimeoutName[])(
    'is bounded for %s, before the head and inside the body',
    (name) => {
      // For undici 0 is no bound.
      for (const ms of Object.values(transport.timeoutOf(name))) {
        expect(ms).toBeGreaterThan(0);
        expect(ms).toBeLessThanOrEqual(LONGEST_MS);
      }
    },
  );

  it('is the same for every kind of request where the operator set it', () => {
    expect(hurried.timeoutOf('image')).toEqual({ headMs: 500, idleMs: 500 });
    expect(hurried.timeoutOf('chat')).toEqual(hurried.timeoutOf('composition'));
  });
});
