import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { errorOf } from '../support/http-answer.js';
import { REST_MS, RouteHarness } from '../support/route-harness.js';
import { MP3_HEAD } from '../support/stub-speech.js';

/** So many failures in a row open a breaker. */
const FAILURES = 10;

let harness: RouteHarness;
beforeAll(async () => {
  harness = await RouteHarness.start();
});
afterAll(() => harness.stop());

describe('a route that keeps failing', () => {
  const failInARow = async () => {
    harness.fails(harness.first, 500);
    for (let call = 0; call < FAILURES; call++) {
      expect(errorOf(await harness.speak({ model: 'aud-v3' })).code).toBe('provider_http_error');
    }
  };

  it('is taken out of use, tried again after a rest, and comes back (SPEECH-13)', async () => {
    harness.works(harness.first);
    harness.advance(2 * REST_MS);
    await harness.speak({ model: 'aud-v3' });
    await failInARow();
    const open = await harness.spending(() => harness.speak({ model: 'aud-v3' }));
    expect({ status: open.result.status, code: errorOf(open.result).code }).toEqual({
      status: 503,
      code: 'provider_unavailable',
    });
    expect({ calls: open.calls, spent: open.spent }).toEqual({ calls: [0, 0], spent: 0n });

    harness.advance(REST_MS);
    const failedProbe = await harness.spending(() => harness.speak({ model: 'aud-v3' }));
    expect(failedProbe.calls).toEqual([1, 0]);
    expect((await harness.spending(() => harness.speak({ model: 'aud-v3' }))).calls).toEqual([
      0, 0,
    ]);

    harness.works(harness.first);
    expect((await harness.spending(() => harness.speak({ model: 'aud-v3' }))).calls).toEqual([
      0, 0,
    ]);
    harness.advance(REST_MS);
    for (let call = 0; call < 3; call++) {
      const back = await harness.spending(() => harness.speak({ model: 'aud-v3' }));
      expect(back.result.status).toBe(200);
      expect({ calls: back.calls, spent: back.spent }).toEqual({ calls: [1, 0], spent: 600n });
    }
  });

  it('is passed over at once while another route works', async () => {
    harness.works(harness.backup);
    await failInARow();
    const { result, calls, spent } = await harness.spending(() => harness.speak());
    expect(result.status).toBe(200);
    expect({ calls, spent }).toEqual({ calls: [0, 1], spent: 600n });
  });

  it('is tried by one call alone after its rest', async () => {
    harness.advance(REST_MS);
    harness.works(harness.first);
    const { result, calls } = await harness.spending(() => {
      harness.first.reply = (response) => {
        setTimeout(() => response.end(MP3_HEAD), 100);
      };
      return Promise.all(Array.from({ length: 5 }, () => harness.speak({ model: 'aud-v3' })));
    });
    expect(calls).toEqual([1, 0]);
    expect(result.map((answer) => answer.status).sort()).toEqual([200, 503, 503, 503, 503]);
  });

  it('is not one that refuses requests or limits the rate', async () => {
    harness.works(harness.first);
    harness.advance(REST_MS);
    await harness.speak({ model: 'aud-v3' });
    for (const status of [400, 422, 429]) {
      harness.fails(harness.first, status);
      for (let call = 0; call < FAILURES + 1; call++) await harness.speak({ model: 'aud-v3' });
    }
    harness.works(harness.first);
    expect((await harness.speak({ model: 'aud-v3' })).status).toBe(200);
  });
});
