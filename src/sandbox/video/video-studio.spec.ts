import { describe, expect, it } from '@jest/globals';
import { VideoStudio } from './video-studio.js';

const ORDER = { prompt: 'Dunes', width: 64, height: 48, seconds: 1 };

describe('a studio', () => {
  it('draws equal orders once, at the same time and later', async () => {
    const studio = new VideoStudio();
    const [one, two] = await Promise.all([studio.draw(ORDER), studio.draw({ ...ORDER })]);
    expect(two).toBe(one);
    expect(await studio.draw(ORDER)).toBe(one);
    expect(await studio.draw({ ...ORDER, seconds: 2 })).not.toBe(one);
  });

  it('goes on after an order that cannot be drawn', async () => {
    const studio = new VideoStudio();
    const broken = studio.draw({ ...ORDER, width: -1 });
    const next = studio.draw(ORDER);
    await expect(broken).rejects.toThrow();
    expect((await next).length).toBeGreaterThan(1_000);
  });
});
