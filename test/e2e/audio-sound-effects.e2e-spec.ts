import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { AudioDesk } from '../support/audio-desk.js';
import { SOUND_EFFECTS } from '../support/audio-operations.js';

let desk: AudioDesk;

beforeAll(async () => {
  desk = await AudioDesk.open();
});
beforeEach(() => desk.clear());
afterAll(() => desk.close());

describe('POST /v1/audio/sound-effects', () => {
  it('asks for 5 s and bills them unless told otherwise (SFX-21)', async () => {
    const { charged, seen } = await desk.charges(SOUND_EFFECTS, () => desk.call(SOUND_EFFECTS));
    expect(charged).toBe(15_000n);
    expect(JSON.parse(seen.body.toString())).toMatchObject({ duration_seconds: 5 });
  });
});
