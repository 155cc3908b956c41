import { describe, expect, it } from '@jest/globals';
import { VideoStudio } from './video-studio.js';

const REQUEST = { prompt: 'Dunes', width: 64, height: 48, seconds: 1 };

describe('a studio', () => {
  it('draws equal requests once, at the same time and later', async () => {
    const studio = new VideoStudio();
    const [one, two] = await Promise.all([studio.draw(REQUEST), studio.draw({ ...REQUEST })]);
    expect(two).toBe(one);
    expect(await studio.draw(REQUEST)).toBe(one);
    expect(await studio.draw({ ...REQUEST, seconds: 2 })).not.toBe(one);
  });

  it('goes on after a request that cannot be drawn', async () => {
    const studio = new VideoStudio();
    const broken = studio.draw({ ...REQUEST, width: -1 });
    const next = studio.draw(REQUEST);
    await expect(broken).rejects.toThrow();
    expect((await next).length).toBeGreaterThan(1_000);
  });
});
