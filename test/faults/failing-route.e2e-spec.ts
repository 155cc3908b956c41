import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { errorOf } from '../support/http-answer.js';
import { REST_MS, RouteDesk } from '../support/route-desk.js';
import { MP3_HEAD } from '../support/stub-speech.js';

/** So many failures in a row open a breaker. */
const FAILURES = 10;

let desk: RouteDesk;
beforeAll(async () => {
  desk = await RouteDesk.start();
});
afterAll(() => desk.stop());

describe('a route that keeps failing', () => {
  const failInARow = async () => {
    desk.fails(desk.first, 500);
    for (let call = 0; call < FAILURES; call++) {
      expect(errorOf(await desk.speak({ model: 'aud-v3' })).code).toBe('provider_http_error');
    }
  };

  it('is taken out of use, tried again after a rest, and comes back (SPEECH-13)', async () => {
    desk.works(desk.first);
    desk.advance(2 * REST_MS);
    await desk.speak({ model: 'aud-v3' });
    await failInARow();
    const open = await desk.spending(() => desk.speak({ model: 'aud-v3' }));
    expect({ status: open.result.status, code: errorOf(open.result).code }).toEqual({
      status: 503,
      code: 'provider_unavailable',
    });
    expect({ calls: open.calls, spent: open.spent }).toEqual({ calls: [0, 0], spent: 0n });

    desk.advance(REST_MS);
    const failedProbe = await desk.spending(() => desk.speak({ model: 'aud-v3' }));
    expect(failedProbe.calls).toEqual([1, 0]);
    expect((await desk.spending(() => desk.speak({ model: 'aud-v3' }))).calls).toEqual([0, 0]);

    desk.works(desk.first);
    expect((await desk.spending(() => desk.speak({ model: 'aud-v3' }))).calls).toEqual([0, 0]);
    desk.advance(REST_MS);
    for (let call = 0; call < 3; call++) {
      const back = await desk.spending(() => desk.speak({ model: 'aud-v3' }));
      expect(back.result.status).toBe(200);
      expect({ calls: back.calls, spent: back.spent }).toEqual({ calls: [1, 0], spent: 600n });
    }
  });

  it('is passed over at once while another route works', async () => {
    desk.works(desk.backup);
    await failInARow();
    const { result, calls, spent } = await desk.spending(() => desk.speak());
    expect(result.status).toBe(200);
    expect({ calls, spent }).toEqual({ calls: [0, 1], spent: 600n });
  });

  it('is tried by one call alone after its rest', async () => {
    desk.advance(REST_MS);
    desk.works(desk.first);
    const { result, calls } = await desk.spending(() => {
      desk.first.reply = (response) => {
        setTimeout(() => response.end(MP3_HEAD), 100);
      };
      return Promise.all(Array.from({ length: 5 }, () => desk.speak({ model: 'aud-v3' })));
    });
    expect(calls).toEqual([1, 0]);
    expect(result.map((answer) => answer.status).sort()).toEqual([200, 503, 503, 503, 503]);
  });

  it('is not one that refuses requests or limits the rate', async () => {
    desk.works(desk.first);
    desk.advance(REST_MS);
    await desk.speak({ model: 'aud-v3' });
    for (const status of [400, 422, 429]) {
      desk.fails(desk.first, status);
      for (let call = 0; call < FAILURES + 1; call++) await desk.speak({ model: 'aud-v3' });
    }
    desk.works(desk.first);
    expect((await desk.speak({ model: 'aud-v3' })).status).toBe(200);
  });
});
