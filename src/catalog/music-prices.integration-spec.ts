import { describe, expect, it } from '@jest/globals';
import { problemsOf } from '../../test/support/overlay-file.js';

describe('a price of music in the overlay', () => {
  const music = (price: object, cost: object = price) =>
    problemsOf({
      models: [
        {
          id: 'aud-song',
          operation: 'composition',
          routes: [{ provider: 'elevenlabs', upstream_model: 'm', cost }],
          price,
        },
      ],
    });

  it('is by the second or by the song, and its cost counts the same (G-115)', () => {
    const [second, song] = ['requested_second', 'request'].map((unit) => ({ unit, micro_usd: 5 }));
    expect(music(second!)).toEqual([]);
    expect(music(song!)).toEqual([]);
    const says = /routes\.0\.cost\.unit must be request, as in the price of the model/;
    expect(music(song!, second)).toEqual([expect.stringMatching(says)]);
    expect(music(second!, song)).toEqual([expect.stringContaining('must be requested_second')]);
    expect(music({ ...song, max_mode_micro_usd: 9 })).toEqual([
      expect.stringContaining('price.max_mode_micro_usd does not fit this operation'),
      expect.stringContaining('routes.0.cost.max_mode_micro_usd does not fit this operation'),
    ]);
    expect(music({ unit: 'image', micro_usd: 5 })).not.toEqual([]);
    expect(music({ unit: 'code_point', micro_usd: 5 })[0]).toContain(
      'price.unit must be requested_second or request for this operation',
    );
  });
});
