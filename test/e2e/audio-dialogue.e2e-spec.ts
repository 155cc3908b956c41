import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { AudioDesk } from '../support/audio-desk.js';
import { DIALOGUE } from '../support/audio-operations.js';

let desk: AudioDesk;

beforeAll(async () => {
  desk = await AudioDesk.open();
});
beforeEach(() => desk.clear());
afterAll(() => desk.close());

describe('POST /v1/audio/dialogue', () => {
  it('speaks the lines in the order sent (DLG-21)', async () => {
    const inputs = ['One', 'Two', 'Three'].map((text) => ({ text, voice: 'Adam' }));
    const { seen } = await desk.charges(DIALOGUE, () => desk.call(DIALOGUE, { inputs }));
    const { inputs: told } = JSON.parse(seen.body.toString()) as { inputs: { text: string }[] };
    expect(told.map(({ text }) => text)).toEqual(['One', 'Two', 'Three']);
  });
});
