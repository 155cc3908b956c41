import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { AudioDesk } from '../support/audio-desk.js';
import { MUSIC } from '../support/audio-operations.js';

let desk: AudioDesk;

beforeAll(async () => {
  desk = await AudioDesk.open();
});
beforeEach(() => desk.clear());
afterAll(() => desk.close());

describe('POST /v1/audio/music', () => {
  it('asks for 30 s and bills them unless told otherwise (MUSIC-19)', async () => {
    const { charged, seen } = await desk.charges(MUSIC, () => desk.call(MUSIC));
    expect(charged).toBe(112_500n);
    expect(JSON.parse(seen.body.toString())).toMatchObject({ music_length_ms: 30_000 });
  });
});
