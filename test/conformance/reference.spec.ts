import { describe, expect, it } from '@jest/globals';
import { decisionGaps } from './decisions.js';

describe('docs/reference/decisions.md', () => {
  it('has every decision that is named, each with a test or the reason why there is none', async () => {
    expect(await decisionGaps()).toMatchObject({ unproven: [], unknown: [] });
  });
});
